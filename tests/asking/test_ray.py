"""Shards answered on a Ray cluster of two nodes on this machine; a worker is killed meanwhile."""

from __future__ import annotations

import gc
import importlib.util
import json
import os
import signal
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from clinometer.asking.budget import Budget
from clinometer.asking.claim import claim
from clinometer.asking.cluster import LOOPBACK, Cluster
from clinometer.asking.plan import Plan, Selection
from clinometer.asking.sessions import ask_models
from clinometer.audits.answering import Answering, answer_shards
from clinometer.audits.sharding import shard_plan
from clinometer.audits.tabulating import tabulate
from clinometer.errors import ModelError
from clinometer.models.opening import Connection, open_models
from clinometer.stimuli import load_study
from sharded_plans import SINGLE, asked_in_one_go, plan_of, reply, requests_in
from waiting import HANGS_S, until

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        importlib.util.find_spec("ray") is None, reason="needs Ray: pip install 'clinometer[ray]'"
    ),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:ray"),  # Ray sets what it deprecates
    # of a node that is started again; see `two_nodes`
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(scope="module")
def nodes() -> Iterator[None]:
    """Two nodes with a processor each: processes of their own, as on two machines."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv(*LOOPBACK)
        patch.setenv("RAY_DATA_DISABLE_PROGRESS_BARS", "1")
        patch.setenv("RAY_worker_register_timeout_seconds", str(HANGS_S))
        patch.setenv("LOOP_API_KEY", "none")
        import ray

        started = two_nodes()
        ray.init(started.address, log_to_driver=False, logging_level="ERROR")
        yield
        ray.shutdown()
        started.shutdown()


def two_nodes(tries: int = 10) -> Any:
    """Start two nodes; again where Ray gives one up that was not there in its 30 seconds."""
    from ray.cluster_utils import Cluster as Nodes

    node = {"num_cpus": 1, "object_store_memory": 80 << 20}
    started = Nodes()
    try:
        started.add_node(**node, include_dashboard=False)
        started.add_node(**node)
    except Exception as error:  # Ray has no narrower one
        started.shutdown()
        if tries == 1 or "timed out during startup" not in str(error):
            raise
        del started
        gc.collect()  # what it left running warns when it is collected: here, not in another test
        return two_nodes(tries - 1)
    return started


def kill_one(
    directory: Path, after: int, then: Callable[[], object] = lambda: None
) -> threading.Thread:
    """Kill the process of an engine once so many answers are written; ends after it."""
    from ray._private.state import actors

    def watch() -> None:
        until(lambda: lines(directory, "*.answers.jsonl*") >= after)
        engines = [one for one in actors().values() if "AnswerShard" in one["ActorClassName"]]
        alive = [one["Pid"] for one in engines if one["State"] == "ALIVE"]
        os.kill(alive[0], signal.SIGKILL)
        then()

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    return thread


def lines(directory: Path, name: str) -> int:
    return sum(path.read_bytes().count(b"\n") for path in directory.glob(f"shards/*/*/{name}"))


def same_tables(one: Path, other: Path) -> None:
    for name in ("scores", "estimates", "responses"):
        tables = [pl.read_parquet(folder / f"{name}.parquet") for folder in (one, other)]
        assert_frame_equal(*tables, check_row_order=name != "responses")


def assert_answered_once(directory: Path) -> None:
    answers = requests_in(directory.glob("shards/*/*/*.answers.jsonl"))
    assert set(Counter(one["custom_id"] for one in answers).values()) == {1}


def test_a_killed_worker_loses_its_calls_under_way_alone(
    nodes: None, serve: Callable[..., Any], tmp_path: Path
) -> None:
    plan, one, other = plan_of("forced", 6, SINGLE), tmp_path / "run", tmp_path / "shards"
    asked_in_one_go(plan, serve, one)
    shard_plan(plan, other, 6)
    asked: list[str] = []
    server = serve(lambda body: (asked.append(json.dumps(body)), (200, reply(body)))[1], at_once=20)
    connection = Connection(base_url=server.url, max_connections=4)
    killing = kill_one(other, 20, server.go.set)
    done = answer_shards(other, Answering(connection, Cluster(workers=2)))
    assert done.collected[0].complete and not killing.is_alive()
    assert len(asked) - len(set(asked)) <= 4
    assert_answered_once(other)
    same_tables(one, other)


def test_a_model_in_the_processes_of_the_cluster_gives_the_tables_of_one(
    nodes: None, tmp_path: Path
) -> None:
    part = Selection(load_study("bai2025"), ["power"], ["replication"])
    plan = Plan([part], ["simulated/leaning"], modes=("structured", "forced"), iterations=4)
    claim(tmp_path / "run", plan)
    models = open_models(plan.models, plan.generation, Connection())
    assert ask_models(plan.pieces, models, tmp_path / "run", Budget()).complete
    tabulate(tmp_path / "run")
    shard_plan(plan, tmp_path / "shards", 3)
    done = answer_shards(tmp_path / "shards", Answering(Connection(), Cluster(workers=2)))
    assert done.collected[0].complete
    assert_answered_once(tmp_path / "shards")
    same_tables(tmp_path / "run", tmp_path / "shards")


def test_an_engine_that_gives_up_is_one_line(
    nodes: None, serve: Callable[..., Any], tmp_path: Path
) -> None:
    server = serve(lambda body: (400, {"error": {"message": "no such model"}}))
    shard_plan(plan_of("forced"), tmp_path, 2)
    connection = Connection(max_retries=0, base_url=server.url, max_connections=2)
    with pytest.raises(ModelError, match=r"the first 2\d calls all failed.*no such model"):
        answer_shards(tmp_path, Answering(connection, Cluster()))
