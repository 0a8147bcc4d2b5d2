"""What asking through Clinometer costs on top of inspect, and inspect on top of a client.

Question
    Does Clinometer add less than 10 % to inspect, in wall time and in CPU per call?
Peers
    `openai.AsyncOpenAI` alone with 100 requests in flight, and `inspect_ai.eval` alone: the same
    samples, connections and log settings, its own `generate()` solver.
Ours
    `ask_models`: draws trials, journals each answer, keeps the budget, moves the bar.
How
    600 word association prompts to a loopback server in a process of its own, which answers
    after 0 or 50 ms; see `asking`. Models are opened and plans bound to a directory before the time
    is taken. The warm-up is 40 calls.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.asking import Ways, compare, take_turns
from benchmarks.measuring import Result

if TYPE_CHECKING:
    from clinometer.asking.plan import Plan

MODEL = "openai-api/loop/m"
CONNECTIONS = 100
CALLS = 600
WARM_UP = 40
WAYS = Ways(
    "benchmarks.elicitation",
    f"Asking {CALLS:,} prompts over {CONNECTIONS} connections",
    {"client": "AsyncOpenAI alone", "inspect": "inspect alone", "ours": "clinometer"},
    CALLS,
)


def run() -> Result:
    """Ask the same prompts in each way."""
    return compare(WAYS)


def plan_of(calls: int) -> Plan:
    """Return a plan of so many trials, of one model."""
    from clinometer.asking.plan import Plan, Selection
    from clinometer.stimuli import load_study

    study = load_study("bai2025")
    stereotypes, variations = list(study.stereotypes)[:20], ["replication", "instruction1"]
    iterations = calls // (len(stereotypes) * len(variations))
    return Plan([Selection(study, stereotypes, variations)], [MODEL], iterations=iterations)


def _client(calls: int, folder: Path) -> Callable[[], None]:
    from openai import AsyncOpenAI

    prompts = plan_of(calls).trials()["prompt"].to_list()

    async def ask_all() -> None:
        free = asyncio.Semaphore(CONNECTIONS)
        async with AsyncOpenAI(base_url=os.environ["LOOP_BASE_URL"], api_key="none") as client:

            async def ask(prompt: str) -> None:
                async with free:
                    answer = await client.chat.completions.create(
                        model="m", messages=[{"role": "user", "content": prompt}], max_tokens=1024
                    )
                assert answer.choices[0].message.content

            await asyncio.gather(*map(ask, prompts))

    return lambda: asyncio.run(ask_all())


def _inspect(calls: int, folder: Path) -> Callable[[], None]:
    from inspect_ai import eval as inspect_eval
    from inspect_ai.solver import generate

    from clinometer.asking.trials import trials_task

    plan = plan_of(calls)
    task = trials_task(plan.trials(), generate(), model=_models(plan)[MODEL], name="plain")
    settings: dict[str, Any] = {"display": "none", "log_level": "error", "log_realtime": False}

    def ask() -> None:
        logs = inspect_eval(
            task, log_dir=str(folder), score=False, fail_on_error=False, max_tasks=1, **settings
        )
        assert logs[0].status == "success" and logs[0].results is not None
        assert logs[0].results.completed_samples == calls

    return ask


def _ours(calls: int, folder: Path) -> Callable[[], None]:
    from clinometer.asking.budget import Budget
    from clinometer.asking.claim import claim
    from clinometer.asking.sessions import ask_models
    from clinometer.cli.output import progress_bar

    plan = plan_of(calls)
    claim(folder / "run", plan, "benchmark")
    budget, models = Budget(max_calls=calls, max_tokens=10**9, max_cost=1e9), _models(plan)

    def ask() -> None:
        with progress_bar(calls) as advance:
            outcome = ask_models(plan.pieces, models, folder / "run", budget, on_progress=advance)
        assert outcome.complete and outcome.answered == calls

    return ask


def _models(plan: Plan) -> dict[str, Any]:
    from clinometer.models.opening import Connection, open_models

    return open_models(plan.models, plan.generation, Connection(max_connections=CONNECTIONS))


if __name__ == "__main__":
    take_turns({"client": _client, "inspect": _inspect, "ours": _ours}, WARM_UP, CALLS)
