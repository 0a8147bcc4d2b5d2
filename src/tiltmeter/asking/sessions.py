"""Ask trials as samples of inspect's evaluations, within a budget, so that a killed run continues.

inspect does the asking: clients, retries, rate limits, concurrency, logs. This module decides
what is still to be asked; the `Ledger` keeps the answers and says when to stop.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from tiltmeter.asking.budget import Budget, Ledger, price
from tiltmeter.asking.claim import only_process
from tiltmeter.asking.generating import OnProgress
from tiltmeter.errors import ModelError
from tiltmeter.results.records import Journal

__all__ = ["Outcome", "ask_models"]


@dataclass
class Outcome:
    """How far a run came."""

    trials: int
    answered: int
    errors: int
    last_error: str | None = None
    stopped_by: str | None = None
    """The limit that ended the run early, or ``"interrupted"``."""

    @property
    def complete(self) -> bool:
        """Whether every trial of every model has an answer."""
        return self.answered == self.trials


def ask_models(
    trials: pl.DataFrame,
    models: Mapping[str, Any],
    directory: Path,
    budget: Budget,
    *,
    on_progress: OnProgress = lambda model, answer: None,
    prices: Path | None = None,
) -> Outcome:
    """Ask every trial that has no answer yet.

    Parameters
    ----------
    trials
        What to ask: columns of `frames.TRIALS`.
    models
        From `open_models`.
    directory
        Where answers are kept; a results directory, claimed by its plan.
    budget
        Limits; what earlier sessions used is added to it first.
    on_progress
        Called with the model and each answer or error; first with `trials`, the number that
        have an answer from before.
    prices
        See `budget.price`.

    Returns
    -------
    Outcome

    Raises
    ------
    ModelError
        If a model answers nothing but errors, or cannot do a response mode; answers are kept.
    InputError
        If an answer cannot be written.
    PlanError
        If another process is asking in this directory.
    """
    with only_process(directory):
        ledgers = {
            name: Ledger(Journal(directory, name), budget, price(name, prices)) for name in models
        }
        tasks = []
        for name, ledger in ledgers.items():
            done = _replay(ledger)
            on_progress(name, {"trials": len(done), "calls": 0})
            left = trials.filter(~pl.col("trial_id").is_in(done))
            if left.height:
                tasks.append(_task(left, models[name], ledger, on_progress))
        try:
            interrupted, error = _evaluate(tasks, directory) if tasks else (False, None)
        finally:
            for ledger in ledgers.values():
                ledger.journal.close()
    for ledger in ledgers.values():
        if ledger.fatal is not None:
            raise ledger.fatal
    outcome = _outcome(trials, ledgers, interrupted)
    return replace(outcome, last_error=error or outcome.last_error)


def _replay(ledger: Ledger) -> set[str]:
    """Return the ids with an answer; their calls and tokens count against the budget."""
    done = set()
    for answer in ledger.journal:
        if answer.get("error") is None:
            done.add(answer["trial_id"])
            ledger.replay(answer)
    return done


def _task(trials: pl.DataFrame, model: Any, ledger: Ledger, on_progress: OnProgress) -> Any:
    """Build the inspect task of one model."""
    from tiltmeter.asking.trials import ask, trials_task

    def on_answer(answer: dict[str, Any]) -> None:
        ledger.record(answer)
        kind, _, text = (answer.get("error") or "").partition(": ")
        if kind == ModelError.__name__:  # it cannot do the response mode
            ledger.fatal = ledger.fatal or ModelError(text)
        on_progress(ledger.journal.model, answer)

    return trials_task(trials, ask(on_answer, ledger.may_call), model=model, name="tiltmeter")


def _evaluate(tasks: list[Any], directory: Path) -> tuple[bool, str | None]:
    """Run the tasks; whether the user stopped them, and what broke a whole task."""
    from inspect_ai import eval as inspect_eval

    try:
        logs = inspect_eval(
            tasks,
            display="none",
            log_dir=str(directory / "logs"),
            log_level="error",
            log_realtime=False,
            score=False,
            fail_on_error=False,
            max_tasks=len(tasks),
        )
    except KeyboardInterrupt:
        return True, None
    errors = [log.error.message for log in logs if log.error is not None]
    interrupted = len(logs) < len(tasks) or any(log.status == "cancelled" for log in logs)
    return interrupted, " ".join(errors[0].split()) if errors else None


def _outcome(trials: pl.DataFrame, ledgers: dict[str, Ledger], interrupted: bool) -> Outcome:
    answers = [a.get("error") for ledger in ledgers.values() for a in ledger.journal]
    errors = [error for error in answers if error is not None]
    limits = [ledger.stopped_by for ledger in ledgers.values() if ledger.stopped_by]
    return Outcome(
        trials=trials.height * len(ledgers),
        answered=len(answers) - len(errors),
        errors=len(errors),
        last_error=errors[-1] if errors else None,
        stopped_by="interrupted" if interrupted else limits[0] if limits else None,
    )
