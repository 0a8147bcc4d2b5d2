"""Other tools, pointed at the simulated models of `stand_truths` by their documented calls.

One server has a model for each tool, truth and run, at an address of its own, so that no tool's
calls change another's answers. The tools run in environments of their own (`rivals`), one at a
time; one that cannot be installed is not run, and said not to be.
"""

from __future__ import annotations

import json
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send

from benchmarks.kept import keep
from benchmarks.rivals.environments import EnvironmentMissing, Tool, ToolFailed, ask, interpreter
from benchmarks.stand_truths import CONTRAST, StandTruth
from clinometer.simulated.provider import SimulatedModel
from clinometer.simulated.truth import Simulation, Truth
from clinometer.stimuli import Study
from clinometer.viewing.serving import listening
from clinometer.viewing.simulated_server import make_simulated_app
from clinometer_measures.twins.part import part_of

__all__ = ["PEERS", "Asking", "ask_peers"]

PEERS = (
    Tool("vfairness", "requirements-stand.txt", "stand"),
    Tool("demoparity", "requirements-stand.txt", "stand"),
    Tool("fairtrace", "requirements-stand.txt", "stand"),
    Tool("cfprompt", "requirements-cfprompt.txt", "stand"),
)

RIVALS = Path(__file__).parent / "rivals"

#: Of each prompt; with six names a side and nine wordings a tool asks about as often as twins.
REPEATS = 2

#: Processes of a tool, which mostly wait for answers.
SHARDS = 4


@dataclass
class Asking:
    """What tools said of runs, and what is to be said of tools."""

    told: Mapping[str, Mapping[str, Sequence[bool]]]
    """Call → truth → whether each run that did not fail has a finding."""
    notes: Sequence[str]


def ask_peers(study: Study, truths: Sequence[StandTruth], runs: int) -> Asking:
    """Let tools ask the model of each truth and run; study: whose prompts and people they use."""
    told: dict[str, dict[str, list[bool]]] = {}
    notes = []
    with serve_truths(truths) as address:
        for tool in PEERS:
            try:
                first, *rows = _ask(tool, truths, _runs(study, truths, runs), address)
            except (EnvironmentMissing, ToolFailed) as reason:
                notes.append(f"{tool.name} was not run: {reason}")
                continue
            notes.append(f"{tool.name} {first['version']}")
            notes += [f"{tool.name}, {kind}: {why}" for kind, why in first["cannot"].items()]
            notes += _add_findings(told, rows)
    return Asking(told, notes)


def _ask(
    tool: Tool, truths: Sequence[StandTruth], runs: Sequence[Mapping[str, Any]], address: str
) -> list[dict[str, Any]]:
    """Return what a tool says of runs, as `rivals/adapter.py` writes it; what was kept is kept."""
    interpreter(tool)  # made where it is missing
    texts = [(RIVALS / tool.folder / f"{tool.name}.py").read_text(encoding="utf-8")]
    texts += [(RIVALS / str(tool.requirements)).read_text(encoding="utf-8"), json.dumps(runs)]

    def put(shard: int) -> list[dict[str, Any]]:
        """Put a share of the runs to the tool."""
        asked = [
            {**run, "url": f"{address}/{tool.name}{run['url']}"}
            for run in runs
            if run["run"] % SHARDS == shard
        ]
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "runs.jsonl"
            path.write_text("\n".join(map(json.dumps, asked)), encoding="utf-8")
            return ask(tool, path, Path(folder))

    def put_all() -> list[dict[str, Any]]:
        """Put all runs to the tool, the shares side by side; each has a version line."""
        with ThreadPoolExecutor(SHARDS) as pool:
            (first, *rows), *parts = pool.map(put, range(SHARDS))
        return [first, *rows, *(row for _, *part in parts for row in part)]

    said: list[dict[str, Any]] = keep("\n".join([*texts, repr([*truths])]), tool.name, put_all)
    return said


def _add_findings(
    told: dict[str, dict[str, list[bool]]], rows: Sequence[Mapping[str, Any]]
) -> Iterator[str]:
    """Add what was found; yield a line for each call that failed, with the first reason."""
    errors = defaultdict(list)
    for row in rows:
        if row["error"] is None:
            by_truth = told.setdefault(row["call"], {})
            by_truth.setdefault(row["scenario"], []).append(row["found"])
        else:
            errors[row["call"]].append(row["error"])
    for call, reasons in errors.items():
        yield f"{call}: failed {len(reasons)} times: {reasons[0]}"
    seconds = defaultdict(list)
    for row in rows:
        seconds[row["call"]].append(row["s"])
    for call, times in seconds.items():
        yield f"{call}: {fmean(times):.2f} s of the processor a run"


def _runs(study: Study, truths: Sequence[StandTruth], runs: int) -> list[dict[str, Any]]:
    """Return the runs that `rivals/adapter.py` puts to a tool, without the address."""
    people, part = study.stereotypes[CONTRAST], part_of(study)
    listed = []
    for number, truth in enumerate(truths):
        for run in range(runs):
            listed.append({
                "scenario": truth.name,
                "run": run,
                "kind": truth.outcome,
                "url": f"/{number}/{run}/v1",
                "templates": part.prompts if part else {},
                "default": list(people.default),
                "marginalized": list(people.marginalized),
                "repeats": REPEATS,
            })  # fmt: skip
    return listed


class TruthServer:
    """Answers as the model of a truth and a run, at TOOL/TRUTH/RUN/v1."""

    def __init__(self, truths: Sequence[StandTruth]) -> None:
        self._truths = truths
        self._apps: dict[tuple[str, str, str], ASGIApp] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand a call to the model that it is for."""
        _, tool, truth, run, rest = scope["path"].split("/", 4)
        key = tool, truth, run
        if key not in self._apps:
            model = SimulatedModel("any")
            planted = Truth(anything=self._truths[int(truth)].planted, seed=int(run))
            model.simulation = Simulation("any", planted, "")
            self._apps[key] = make_simulated_app(model)
        await self._apps[key]({**scope, "path": f"/{rest}"}, receive, send)


@contextmanager
def serve_truths(truths: Sequence[StandTruth]) -> Iterator[str]:
    """Serve all truths on this machine; gives the address."""
    config = uvicorn.Config(
        TruthServer(truths), log_level="critical", access_log=False, lifespan="off", ws="none"
    )
    server = uvicorn.Server(config)
    with listening(0) as listener:
        thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.01)
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()
