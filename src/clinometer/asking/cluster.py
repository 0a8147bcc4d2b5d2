"""Answers shards on a Ray cluster: open models as actors, shards as rows of Ray Data.

Reference
    Moritz et al. 2018, Ray: A Distributed Framework for Emerging AI Applications, OSDI.

Ray Data hands a shard to each actor, puts another in the place of one that died, gives it the shard
again, and shows progress. What travels is names of files; requests and answers are on a file system
that every machine of the cluster has under the same path.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from clinometer.asking.answering import Shard, ShardAnswerer
from clinometer.errors import ClinometerError, InputError, ModelError
from clinometer.models.opening import Connection

__all__ = ["Cluster", "answer_on_cluster"]

#: With it Ray listens on the loopback interface alone; it is read when Ray is imported.
LOOPBACK = ("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")


@dataclass(frozen=True)
class Cluster:
    """Where shards are answered."""

    address: str = "auto"
    """Of Ray: ``auto``, the cluster that runs on this machine; ``local``, one that is started here;
    or that of another, as ``ray.init`` has it."""
    workers: int = 1
    """How many times the model is opened, each in a process of its own."""
    gpus: float = 0.0
    """GPUs of each; of several workers that share one, a fraction."""

    def __post_init__(self) -> None:
        """Refuse values that mean nothing."""
        if self.workers < 1:
            raise InputError(f"workers {self.workers}: at least 1")
        if self.gpus < 0:
            raise InputError(f"gpus {self.gpus}: at least 0")


def answer_on_cluster(shards: Sequence[Shard], connection: Connection, cluster: Cluster) -> int:
    """Answer the shards of one model; return how many another process is answering.

    Raises
    ------
    InputError
        If a worker needs more GPUs than a cluster that is started here has.
    ModelError
        If Ray is not installed or not reached, or a worker gives up; answers are kept.
    """
    with _reach(cluster) as ray:
        numbers = [{"shard": number} for number in range(len(shards))]
        # A block per shard: Ray hands out blocks, and would put several rows into one.
        rows = ray.data.from_items(numbers, override_num_blocks=len(shards))
        rows.context.execution_no_progress_timeout_s = -1  # a shard may take hours
        answered = rows.map(
            AnswerShard,
            fn_constructor_args=(list(shards), connection),
            compute=ray.data.ActorPoolStrategy(
                size=min(cluster.workers, len(shards)), max_tasks_in_flight_per_actor=1
            ),
            num_cpus=1,
            num_gpus=cluster.gpus,
        )
        try:
            outcomes = answered.take_all()
        except ray.exceptions.RayError as error:
            raise ModelError(f"Ray: {' '.join(str(error).split())}") from None
    for row in outcomes:
        if row["error"] is not None:
            raise ModelError(row["error"])
    return sum(not row["answered"] for row in outcomes)


class AnswerShard:
    """A worker: the open model in a process of its own; Ray shows the name of this class."""

    def __init__(self, shards: list[Shard], connection: Connection) -> None:
        # Made anew, as that registers its credentials as secrets in this process too.
        connection = replace(connection)
        self.shards = shards
        self.answerer = ShardAnswerer(shards[0].model, connection)
        # One event loop for all shards: the clients of an open model belong to it.
        self.runner = asyncio.Runner()

    def __call__(self, row: dict[str, Any]) -> dict[str, Any]:
        """Answer a shard; an error is returned, so that Ray does not try it again."""
        try:
            answered = self.runner.run(self.answerer.answer(self.shards[row["shard"]]))
            return {"answered": answered, "error": None}
        except ClinometerError as error:
            return {"answered": False, "error": str(error)}


@contextmanager
def _reach(cluster: Cluster) -> Iterator[Any]:
    """Reach a cluster, or start one on this machine, without telemetry and dashboard."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    if local := cluster.address == "local":
        os.environ.update([LOOPBACK])
    try:
        import ray
        import ray.data
    except ImportError:
        raise ModelError("Ray is not installed: pip install 'clinometer[ray]'") from None
    if ray.is_initialized():
        yield ray
        return
    try:
        ray.init(cluster.address, include_dashboard=False if local else None)
    except (ConnectionError, ValueError, RuntimeError) as error:
        raise ModelError(f"Ray at {cluster.address}: {' '.join(str(error).split())}") from None
    try:
        if local and cluster.gpus > ray.cluster_resources().get("GPU", 0):
            raise InputError(f"gpus {cluster.gpus:g}: this machine has fewer")
        yield ray
    finally:
        ray.shutdown()
