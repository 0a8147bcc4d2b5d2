"""What an answer costs when models are asked for associates a million times.

Question
    Can 1.2 million answers (12,000 cues × 100 repetitions) be asked in memory that does not grow
    with their number, and what does Clinometer add to each?
Peers
    `inspect_ai.eval` with one sample per answer, its own `generate()` solver, logs as `clinometer
    run` keeps them; and `Model.generate` of inspect alone, in as many tasks at a time.
Ours
    `associate`: hands out what is missing, calls `Model.generate`, reads the associates, appends
    the answers to shards, counts what is done; with 1 and with 20 answers a call.
How
    A provider within the process that answers at once. Each measurement is a fresh process,
    after a warm-up. Memory is the most that ever was held, after the first answers and in the
    end. The time for 1.2 million is that of an answer times their number: no model's time is in
    it.
"""

from __future__ import annotations

import asyncio
import contextvars
import json
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.measuring import Result, Value, fresh, peak_mb

if TYPE_CHECKING:
    from inspect_ai.model import Model

    from clinometer_measures.networks.association_plan import AssociationPlan

MODEL = "instant/m"
ALL = 1_200_000
CONNECTIONS = 100
REPETITIONS = 100
#: Path → its name, answers a call, answers to ask for.
PATHS = {
    "samples": ("inspect, a sample an answer", 1, 500),
    "generate": ("inspect, Model.generate", 1, 2_000),
    "single": ("clinometer, 1 answer a call", 1, 2_000),
    "several": ("clinometer, 20 answers a call", 20, 200_000),
}
#: Memory is taken for steady if all answers after the first ones need no more than this.
STEADY_MB = 20


def run() -> Result:
    columns = ("path", "answers", "µs/answer", "hours for 1.2 million")
    rows: list[Sequence[Value]] = []
    found: dict[str, dict[str, float]] = {}
    for path, (name, _, answers) in PATHS.items():
        found[path] = one = fresh("benchmarks.association", path)
        each = one["wall_s"] / answers
        rows.append([name, answers, 1e6 * each, each * ALL / 3600, one["early_mb"], one["late_mb"]])
    grown = found["several"]["late_mb"] - found["several"]["early_mb"]
    each = {path: one["wall_s"] / PATHS[path][2] for path, one in found.items()}
    claims = {
        f"{PATHS['several'][2]:,} answers need at most {STEADY_MB} MB more than the first": (
            grown <= STEADY_MB
        ),
        "an answer costs less than a fifth of a sample, one a call": (
            each["single"] < each["samples"] / 5
        ),
        "20 answers a call cost less than a fifth each of one a call": (
            each["several"] < each["single"] / 5
        ),
    }
    notes = [
        f"{CONNECTIONS} calls at a time; memory after a tenth of the answers and in the end",
        f"memory of {PATHS['several'][2]:,} answers grew by {grown:.1f} MB",
    ]
    return Result(
        "Overhead of asking for associates",
        (*columns, "MB early", "MB in the end"),
        rows,
        claims,
        notes,
    )


def _instant() -> None:
    """Register a provider that gives as many answers as are asked for, at once."""
    from inspect_ai.model import (
        ChatCompletionChoice,
        ChatMessageAssistant,
        ModelAPI,
        ModelOutput,
        ModelUsage,
        modelapi,
    )

    class Instant(ModelAPI):
        async def generate(
            self, input: Any, tools: Any, tool_choice: Any, config: Any
        ) -> ModelOutput:
            count = config.num_choices or 1
            return ModelOutput(
                model="m",
                choices=[
                    ChatCompletionChoice(message=ChatMessageAssistant(content="water, beach, sun"))
                    for _ in range(count)
                ],
                usage=ModelUsage(input_tokens=90, output_tokens=6 * count),
            )

    modelapi(name="instant")(Instant)


class _Memory:
    """The most memory held, after a tenth of the answers and in the end."""

    def __init__(self, answers: int) -> None:
        self.tenth, self.seen, self.early_mb = answers // 10, 0, 0.0

    def count(self, answers: int) -> None:
        self.seen += answers
        if not self.early_mb and self.seen >= self.tenth:
            self.early_mb = peak_mb()


def _plan(answers: int) -> AssociationPlan:
    from clinometer_measures.networks.association_plan import AssociationPlan

    cues = [f"cue{number}" for number in range(max(1, answers // REPETITIONS))]
    return AssociationPlan([MODEL], cues, min(answers, REPETITIONS))


def _models(plan: AssociationPlan) -> dict[str, Model]:
    from clinometer.models.opening import Connection
    from clinometer_measures.networks.associating import open_associating

    return open_associating(plan, Connection(max_connections=CONNECTIONS))


def _ours(choices: int, answers: int, folder: Path, memory: _Memory) -> None:
    from clinometer.asking.budget import Budget
    from clinometer.asking.claim import claim
    from clinometer_measures.networks.associating import associate

    plan = _plan(answers)
    claim(folder, plan)
    (outcome,) = associate(
        plan,
        _models(plan),
        folder,
        Budget(),
        choices=choices,
        on_progress=lambda model, answer: memory.count(answer.get("trials", 0)),
    )
    assert outcome.complete and outcome.associates == 3 * answers


def _generate(answers: int, memory: _Memory) -> None:
    from clinometer.modes.mode import chat_messages
    from clinometer_measures.networks.association_plan import cue_messages

    plan = _plan(answers)
    (model,) = _models(plan).values()

    def cues() -> Iterator[str]:
        for _ in range(plan.repetitions):
            yield from plan.cues

    left = cues()

    async def work() -> None:
        for cue in left:
            call = model.generate(chat_messages(cue_messages(cue)))
            await asyncio.create_task(call, context=contextvars.Context())
            memory.count(1)

    async def ask_all() -> None:
        await asyncio.gather(*(work() for _ in range(CONNECTIONS)))

    asyncio.run(ask_all())


def _samples(answers: int, folder: Path, memory: _Memory) -> None:
    from inspect_ai import Task
    from inspect_ai import eval as inspect_eval
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.solver import generate

    from clinometer.modes.mode import chat_messages
    from clinometer_measures.networks.association_plan import cue_messages

    plan = _plan(answers)
    samples = [
        Sample(input=chat_messages(cue_messages(cue)), id=f"{cue} {repetition}")
        for repetition in range(plan.repetitions)
        for cue in plan.cues
    ]
    settings: dict[str, Any] = {"display": "none", "log_level": "error", "log_realtime": False}
    task = Task(dataset=MemoryDataset(samples), solver=generate(), model=_models(plan)[MODEL])
    memory.count(answers // 10)
    logs = inspect_eval(task, log_dir=str(folder), score=False, max_tasks=1, **settings)
    assert logs[0].status == "success"


def _ask(path: str, answers: int, folder: Path) -> _Memory:
    memory = _Memory(answers)
    if path == "samples":
        _samples(answers, folder, memory)
    elif path == "generate":
        _generate(answers, memory)
    else:
        _ours(PATHS[path][1], answers, folder, memory)
    return memory


def _worker(path: str) -> None:
    _instant()
    with tempfile.TemporaryDirectory() as folder:
        _ask(path, 40, Path(folder) / "warm")
        start = time.perf_counter()
        memory = _ask(path, PATHS[path][2], Path(folder) / "measured")
        wall = time.perf_counter() - start
    print(json.dumps({"wall_s": wall, "early_mb": memory.early_mb, "late_mb": peak_mb()}))


if __name__ == "__main__":
    _worker(sys.argv[1])
