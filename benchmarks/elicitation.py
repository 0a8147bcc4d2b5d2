"""What asking through Tiltmeter costs on top of inspect, and inspect on top of a client.

Question
    Does Tiltmeter add less than 10 % to inspect, in wall time and in CPU per call?
Peers
    `openai.AsyncOpenAI` alone with 100 requests in flight, and `inspect_ai.eval` alone: the same
    samples, connections and log settings, its own `generate()` solver.
Ours
    `ask_models`: draws the trials, journals each answer, keeps the budget, moves the bar.
How
    2,000 word association prompts to a loopback server in a process of its own, which answers
    after 0 or 50 ms. Each measurement is a fresh client process, after a warm-up of 40 calls;
    the order rotates over the repetitions. CPU is that of the client process, all threads.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from benchmarks.measuring import Result, Value, fresh, ratio
from benchmarks.server import serving

if TYPE_CHECKING:
    from tiltmeter.asking.plan import Plan

MODEL = "openai-api/loop/m"
CONNECTIONS = 100
REPETITIONS = 3
CALLS = 2_000
WARM_UP = 40
DELAYS_MS = (0, 50)
TARGET = 1.10
PATHS = {"client": "AsyncOpenAI alone", "inspect": "inspect alone", "ours": "tiltmeter"}


def run() -> Result:
    rows: list[Sequence[Value]] = []
    claims: dict[str, bool | None] = {}
    spread: list[str] = []
    for delay_ms in DELAYS_MS:
        found: dict[str, list[dict[str, float]]] = {path: [] for path in PATHS}
        for repetition in range(REPETITIONS):
            order = [*PATHS][repetition:] + [*PATHS][:repetition]
            for path in order:
                found[path].append(_measure(path, delay_ms))
        times = {path: {k: [x[k] for x in xs] for k in xs[0]} for path, xs in found.items()}
        for path, name in PATHS.items():
            own, base = times[path], times["inspect"]
            wall, cpu = ratio(own["wall_s"], base["wall_s"]), ratio(own["cpu_s"], base["cpu_s"])
            rows.append(
                [
                    name,
                    f"{delay_ms} ms",
                    CALLS / median(own["wall_s"]),
                    1e3 * median(own["cpu_s"]) / CALLS,
                    wall,
                    cpu,
                    f"{median(own['server_share']):.0%}",
                ]
            )
            if path == "ours":
                each = [a / b for a, b in zip(own["cpu_s"], base["cpu_s"], strict=True)]
                spread.append(
                    f"CPU of tiltmeter ÷ inspect after {delay_ms} ms, each repetition: "
                    + ", ".join(f"{x:.2f}" for x in sorted(each))
                )
                for what, value in (("wall time", wall), ("CPU", cpu)):
                    claim = f"under 10 % on top of inspect, {what}, answers after {delay_ms} ms"
                    claims[claim] = value < TARGET
    columns = ("path", "answer after", "calls/s", "CPU ms/call", "wall ÷ inspect")
    return Result(
        f"Asking {CALLS:,} prompts over {CONNECTIONS} connections",
        (*columns, "CPU ÷ inspect", "server busy"),
        rows,
        claims,
        [f"medians of {REPETITIONS}; ratios are medians of ratios within a repetition", *spread],
    )


def _measure(path: str, delay_ms: int) -> dict[str, float]:
    with serving(delay_ms / 1e3) as (url, busy):
        # With FORCE_COLOR the bar is drawn although nobody looks on.
        variables = {"LOOP_BASE_URL": url, "LOOP_API_KEY": "none", "FORCE_COLOR": "1"}
        found: dict[str, float] = fresh("benchmarks.elicitation", path, variables=variables)
    return {**found, "server_share": busy[0] / found["wall_s"]}


def _plan(calls: int) -> Plan:
    from tiltmeter.asking.plan import Plan, Selection
    from tiltmeter.stimuli import load_study

    study = load_study("bai2025")
    stereotypes, variations = list(study.stereotypes)[:20], ["replication", "instruction1"]
    iterations = calls // (len(stereotypes) * len(variations))
    return Plan([Selection(study, stereotypes, variations)], [MODEL], iterations=iterations)


def _client(calls: int, folder: Path) -> None:
    from openai import AsyncOpenAI

    prompts = _plan(calls).trials()["prompt"].to_list()

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

    asyncio.run(ask_all())


def _inspect(calls: int, folder: Path) -> None:
    from inspect_ai import eval as inspect_eval
    from inspect_ai.solver import generate

    from tiltmeter.asking.trials import trials_task

    plan = _plan(calls)
    task = trials_task(plan.trials(), generate(), model=_models(plan)[MODEL], name="plain")
    settings: dict[str, Any] = {"display": "none", "log_level": "error", "log_realtime": False}
    logs = inspect_eval(
        task, log_dir=str(folder), score=False, fail_on_error=False, max_tasks=1, **settings
    )
    assert logs[0].status == "success" and logs[0].results is not None
    assert logs[0].results.completed_samples == calls


def _ours(calls: int, folder: Path) -> None:
    from tiltmeter.asking.budget import Budget
    from tiltmeter.asking.claim import claim
    from tiltmeter.asking.sessions import ask_models
    from tiltmeter.cli.output import progress_bar

    plan = _plan(calls)
    claim(folder / "run", plan, "benchmark")
    budget = Budget(max_calls=calls, max_tokens=10**9, max_cost=1e9)
    with progress_bar(calls) as advance:
        outcome = ask_models(
            plan.pieces, _models(plan), folder / "run", budget, on_progress=advance
        )
    assert outcome.complete and outcome.answered == calls


def _models(plan: Plan) -> dict[str, Any]:
    from tiltmeter.models.opening import Connection, open_models

    return open_models(plan.models, plan.generation, Connection(max_connections=CONNECTIONS))


def _worker(path: Callable[[int, Path], None]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path(WARM_UP, Path(folder) / "warm")
        wall, cpu = time.perf_counter(), time.process_time()
        path(CALLS, Path(folder) / "measured")
        spent = {"wall_s": time.perf_counter() - wall, "cpu_s": time.process_time() - cpu}
    print(json.dumps(spent))


if __name__ == "__main__":
    _worker({"client": _client, "inspect": _inspect, "ours": _ours}[sys.argv[1]])
