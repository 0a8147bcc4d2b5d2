"""Ask models, within a budget, so that a killed run continues.

inspect does the asking: clients, retries, rate limits, concurrency, logs. This module decides
what is still to be asked, keeps the journal and the budget, and stops early when going on would
be pointless (disk full, a mode the model cannot do, nothing but errors).
"""

from __future__ import annotations

import contextlib
import errno
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from tiltmeter.asking.budget import Budget, price
from tiltmeter.asking.journal import Journal
from tiltmeter.errors import InputError, ModelError, PlanError, TiltmeterError

__all__ = ["Outcome", "ask_models", "only_process"]

#: Errors in a row, with no answer before them, after which a model is given up.
HOPELESS = 20


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


class _Session:
    """What one model's solver may do, and what it has done."""

    def __init__(self, journal: Journal, budget: Budget, rates: tuple[float, float] | None) -> None:
        self.journal = journal
        self.budget = budget
        self.rates = rates
        self.fatal: TiltmeterError | None = None
        self.limit: str | None = None
        self.answers = 0
        self.errors = 0

    def may_call(self, calls: int) -> bool:
        if self.fatal is not None or self.limit is not None:
            return False
        self.limit = self.budget.exhausted(calls)
        return self.budget.take(calls)

    def record(self, answer: dict[str, Any]) -> None:
        try:
            self.journal.append(answer)
        except OSError as error:
            full = error.errno in (errno.ENOSPC, errno.EDQUOT)
            what = "disk full" if full else error.strerror
            self.fatal = InputError(
                f"{self.journal.path}: {what}; make room and repeat the command to continue"
            )
            raise self.fatal from None
        if answer.get("error") is None:
            self.answers += 1
            self.budget.spend(answer, self.rates)
        else:
            self.errors += 1
            kind, _, text = answer["error"].partition(": ")
            if kind == ModelError.__name__:
                self.fatal = ModelError(text)
            elif not self.answers and self.errors >= HOPELESS:
                self.fatal = ModelError(
                    f"{self.journal.model}: the first {self.errors} trials all failed: "
                    f"{answer['error']}"
                )


def ask_models(
    trials: pl.DataFrame,
    models: Mapping[str, Any],
    directory: Path,
    budget: Budget,
    *,
    on_progress: Callable[[str, dict[str, Any]], None] = lambda model, answer: None,
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
        sessions = {
            name: _Session(Journal(directory, name), budget, price(name, prices)) for name in models
        }
        tasks = []
        for name, session in sessions.items():
            done = _count_done(session)
            on_progress(name, {"trials": len(done), "calls": 0})
            left = trials.filter(~pl.col("trial_id").is_in(done))
            if left.height:
                tasks.append(_task(left, models[name], session, on_progress))
        interrupted, error = _evaluate(tasks, directory) if tasks else (False, None)
    for session in sessions.values():
        if session.fatal is not None:
            raise session.fatal
    outcome = _outcome(trials, sessions, interrupted)
    return replace(outcome, last_error=error or outcome.last_error)


def _count_done(session: _Session) -> set[str]:
    """Ids with an answer; their calls and tokens count against the budget."""
    done = set()
    for answer in session.journal:
        if answer.get("error") is None:
            done.add(answer["trial_id"])
            session.budget.calls += answer.get("calls", 1)
            session.budget.spend(answer, session.rates)
    return done


def _task(
    trials: pl.DataFrame,
    model: Any,
    session: _Session,
    on_progress: Callable[[str, dict[str, Any]], None],
) -> Any:
    """Build the inspect task of one model."""
    from tiltmeter.asking.trials import ask, trials_task

    def on_answer(answer: dict[str, Any]) -> None:
        session.record(answer)
        on_progress(session.journal.model, answer)

    return trials_task(trials, ask(on_answer, session.may_call), model=model, name="tiltmeter")


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


def _outcome(trials: pl.DataFrame, sessions: dict[str, _Session], interrupted: bool) -> Outcome:
    answers = [a.get("error") for session in sessions.values() for a in session.journal]
    errors = [error for error in answers if error is not None]
    limits = [s.limit for s in sessions.values() if s.limit]
    return Outcome(
        trials=trials.height * len(sessions),
        answered=len(answers) - len(errors),
        errors=len(errors),
        last_error=errors[-1] if errors else None,
        stopped_by="interrupted" if interrupted else limits[0] if limits else None,
    )


@contextlib.contextmanager
def only_process(directory: Path) -> Iterator[None]:
    """Hold the directory's lock; the system releases it when the process ends, however it ends."""
    try:
        import fcntl
    except ImportError:  # not on Windows: there the second process is not noticed
        yield
        return
    with (directory / ".lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise PlanError(f"{directory}: another process is running this plan") from None
        yield
