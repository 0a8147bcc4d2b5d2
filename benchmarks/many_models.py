"""What asking 20 models from one process costs on top of inspect.

Question
    Does Clinometer add less than 10 % where 20 models are asked at the same time, and is every
    model answered?
Peer
    `inspect_ai.eval` alone with 20 tasks at the same time: the same samples, connections and log
    settings, its own `generate()` solver.
Ours
    `ask_models` with 20 models, each with connections and a journal of its own.
How
    40 word association prompts to each model, on one loopback server; see `asking`. The warm-up
    is 20 calls of each.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.asking import Ways, compare, take_turns
from benchmarks.measuring import Result

if TYPE_CHECKING:
    from clinometer.asking.plan import Plan

MODELS = tuple(f"openai-api/loop/m{number}" for number in range(20))
CONNECTIONS = 20
EACH, WARM_UP = 40, 20
WAYS = Ways(
    "benchmarks.many_models",
    f"Asking {len(MODELS)} models {EACH} prompts each over {CONNECTIONS} connections each",
    {"inspect": "inspect alone", "ours": "clinometer"},
    len(MODELS) * EACH,
)


def run() -> Result:
    """Ask the same prompts of all models in each way."""
    return compare(WAYS)


def _plan(each: int) -> Plan:
    from clinometer.asking.plan import Plan, Selection
    from clinometer.stimuli import load_study

    study = load_study("bai2025")
    part = Selection(study, list(study.stereotypes)[:WARM_UP], ["replication"])
    return Plan([part], MODELS, iterations=each // WARM_UP)


def _models(plan: Plan) -> dict[str, Any]:
    from clinometer.models.opening import Connection, open_models

    return open_models(plan.models, plan.generation, Connection(max_connections=CONNECTIONS))


def _inspect(each: int, folder: Path) -> Callable[[], None]:
    from inspect_ai import eval as inspect_eval
    from inspect_ai.solver import generate

    from clinometer.asking.trials import trials_task

    def ask() -> None:
        plan = _plan(each)
        trials = plan.trials()
        tasks = [
            trials_task(trials, generate(), model=model, name="plain")
            for model in _models(plan).values()
        ]
        settings: dict[str, Any] = {"display": "none", "log_level": "error", "log_realtime": False}
        logs = inspect_eval(
            tasks,
            log_dir=str(folder),
            score=False,
            fail_on_error=False,
            max_tasks=len(tasks),
            **settings,
        )
        assert [log.results and log.results.completed_samples for log in logs] == len(tasks) * [
            each
        ]

    return ask


def _ours(each: int, folder: Path) -> Callable[[], None]:
    from clinometer.asking.budget import Budget
    from clinometer.asking.claim import claim
    from clinometer.asking.sessions import ask_models
    from clinometer.cli.output import progress_bar
    from clinometer.results.records import journals

    def ask() -> None:
        plan = _plan(each)
        claim(folder, plan, "benchmark")
        budget = Budget(max_calls=len(MODELS) * each, max_tokens=10**9, max_cost=1e9)
        with progress_bar(len(MODELS) * each) as advance:
            outcome = ask_models(plan.pieces, _models(plan), folder, budget, on_progress=advance)
        assert outcome.complete
        answered = [sum(not line.get("error") for line in one) for one in journals(folder)]
        assert answered == len(MODELS) * [each]

    return ask


if __name__ == "__main__":
    take_turns({"inspect": _inspect, "ours": _ours}, WARM_UP, EACH)
