"""Trials as an inspect task: one sample per trial, one solver for all response modes.

The model client, its retries, rate limits and logs are inspect's. What is asked and read is the
mode's; the solver hands every answer to `on_answer` as soon as it is there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import polars as pl
from inspect_ai import Task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import Model
from inspect_ai.solver import Generate, Solver, TaskState, solver

from tiltmeter.modes import MODES
from tiltmeter.modes.mode import Answer, encodable, opening_messages

__all__ = ["Answer", "ask", "describe_error", "encodable", "samples", "trials_task"]


def samples(trials: pl.DataFrame) -> list[Sample]:
    """Turn trials into inspect samples: the id is the trial's, the trial stands in the metadata."""
    return [
        Sample(id=row["trial_id"], input=opening_messages(row), metadata=row)
        for row in trials.iter_rows(named=True)
    ]


def trials_task(
    trials: pl.DataFrame, solver: Solver, *, model: Model | None = None, **task: Any
) -> Task:
    """Make the inspect task that asks trials; `task` are further arguments of `inspect_ai.Task`."""
    return Task(dataset=MemoryDataset(samples(trials)), solver=solver, model=model, **task)


@solver
def ask(
    on_answer: Callable[[Answer], None] | None = None,
    may_call: Callable[[int], bool] | None = None,
) -> Solver:
    """Ask one trial in its response mode.

    Parameters
    ----------
    on_answer
        Called with the trial's id and calls, and the response, its stop reason and tokens, or
        the error that came instead.
    may_call
        Called with the number of calls a trial needs; where it says no the trial is left
        unasked, so that a budget ends a run without an error.

    Returns
    -------
    Solver
        It raises what the provider raises once its retries are used up, and `ModelError` where
        the provider cannot do what the mode needs.
    """

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        trial = state.metadata
        mode = MODES[trial["mode"]]
        calls = mode.calls(trial)
        if may_call is not None and not may_call(calls):
            state.metadata["unasked"] = True
            return state
        identity = {"trial_id": trial["trial_id"], "calls": calls}
        try:
            answer = await mode.ask(state, trial)
        except Exception as error:  # a provider's, after its retries
            if on_answer is not None:
                on_answer({**identity, "error": describe_error(error)})
            raise
        if on_answer is not None:
            on_answer({**identity, **answer})
        return state

    return solve


def describe_error(error: BaseException) -> str:
    """Name an error in one line; of a retry that gave up, the last attempt's."""
    attempt = getattr(error, "last_attempt", None)
    if attempt is not None and (cause := attempt.exception()) is not None:
        return describe_error(cause)
    return f"{type(error).__name__}: {' '.join(str(error).split())}".removesuffix(": ")
