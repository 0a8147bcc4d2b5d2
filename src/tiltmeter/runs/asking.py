"""Ask the models of a plan, within a budget, so that a killed run continues.

inspect does the asking: clients, retries, rate limits, concurrency, logs. This module decides
what is still to be asked, keeps the journal and the budget, and stops early when going on would
be pointless (disk full, a mode the model cannot do, nothing but errors).
"""

from __future__ import annotations

import contextlib
import errno
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from tiltmeter.errors import InputError, ModelError, PlanError, TiltmeterError
from tiltmeter.runs.budget import Budget, price
from tiltmeter.runs.journal import Journal
from tiltmeter.runs.plan import Generation, Plan

__all__ = ["Connection", "Outcome", "ask_models"]

#: Errors in a row, with no answer before them, after which a model is given up.
HOPELESS = 20


@dataclass(frozen=True)
class Connection:
    """How models are reached; none of it changes what is asked."""

    max_connections: int | None = None
    max_retries: int = 5
    timeout_s: int = 600
    base_url: str | None = None
    model_args: dict[str, Any] = field(default_factory=dict)


@dataclass
class Outcome:
    """How far a run came."""

    trials: int
    answered: int
    errors: int
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
    plan: Plan,
    directory: Path,
    budget: Budget,
    connection: Connection,
    *,
    on_progress: Callable[[str, dict[str, Any]], None] = lambda model, answer: None,
    prices: Path | None = None,
) -> Outcome:
    """Ask every trial that has no answer yet.

    Parameters
    ----------
    plan
        What to ask.
    directory
        A results directory claimed by `plan`.
    budget
        Limits; what earlier sessions used is added to it first.
    connection
        How to reach the models.
    on_progress
        Called with the model and each answer or error.
    prices
        See `budget.price`.

    Returns
    -------
    Outcome

    Raises
    ------
    ModelError
        If a model cannot be reached or cannot do a response mode; answers so far are kept.
    InputError
        If an answer cannot be written.
    PlanError
        If another process is asking in this directory.
    """
    trials = plan.trials()
    with _only_process(directory):
        sessions, tasks = {}, []
        for model in plan.models:
            journal = Journal(directory, model)
            session = _Session(journal, budget, price(model, prices))
            sessions[model] = session
            done = _count_done(session)
            left = trials.filter(~pl.col("trial_id").is_in(done))
            if left.height:
                tasks.append(_task(left, model, session, plan, connection, on_progress))
        interrupted = bool(tasks) and _evaluate(tasks, directory, connection)
    for session in sessions.values():
        if session.fatal is not None:
            raise session.fatal
    return _outcome(trials, sessions, interrupted)


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
    model: str,
    session: _Session,
    plan: Plan,
    connection: Connection,
    on_progress: Callable[[str, dict[str, Any]], None],
) -> Any:
    """Build the inspect task of one model."""
    from tiltmeter.elicitation.task import ask, trials_task

    def on_answer(answer: dict[str, Any]) -> None:
        session.record(answer)
        on_progress(model, answer)

    return trials_task(
        trials,
        ask(on_answer, session.may_call),
        model=_model(model, plan.generation, connection),
        name="tiltmeter",
    )


def _model(name: str, generation: Generation, connection: Connection) -> Any:
    """Open a model; every way this fails becomes one line."""
    from inspect_ai.model import GenerateConfig, get_model

    # Anthropic refuses temperature together with top_p; 1.0 is top_p's absence.
    drop_top_p = name.startswith("anthropic/") and generation.top_p == 1.0
    config = GenerateConfig(
        temperature=generation.temperature,
        top_p=None if drop_top_p else generation.top_p,
        max_tokens=generation.max_tokens,
        max_retries=connection.max_retries,
        timeout=connection.timeout_s,
        max_connections=connection.max_connections,
    )
    try:
        return get_model(name, config=config, base_url=connection.base_url, **connection.model_args)
    except TiltmeterError:
        raise
    except Exception as error:  # providers raise what they like
        raise ModelError(f"model {name!r}: {_first_line(error)}") from None


def _evaluate(tasks: list[Any], directory: Path, connection: Connection) -> bool:
    """Run the tasks; True if the user stopped them."""
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
            max_samples=connection.max_connections,
        )
    except KeyboardInterrupt:
        return True
    return any(log.status == "cancelled" for log in logs)


def _outcome(trials: pl.DataFrame, sessions: dict[str, _Session], interrupted: bool) -> Outcome:
    answered = errors = 0
    for session in sessions.values():
        for answer in session.journal:
            answered += answer.get("error") is None
            errors += answer.get("error") is not None
    limits = [s.limit for s in sessions.values() if s.limit]
    stopped_by = "interrupted" if interrupted else limits[0] if limits else None
    return Outcome(trials.height * len(sessions), answered, errors, stopped_by)


@contextlib.contextmanager
def _only_process(directory: Path) -> Iterator[None]:
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


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
