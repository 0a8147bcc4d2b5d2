"""Asks trials as samples of inspect evaluations, within a budget; a killed run continues.

inspect asks: clients, retries, rate limits, concurrency, logs. This module selects the trials
without an answer; the `Ledger` keeps answers and ends the run. A judge is asked in the same way
about decisions that the rules leave open. Its answers have their own journal, so that scoring
again asks nothing.
"""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from clinometer.asking.budget import Budget, Ledger, price, raise_fatal
from clinometer.errors import InputError, ModelError
from clinometer.models.opening import describe_model
from clinometer.models.providers import find_provider
from clinometer.results import TRIALS
from clinometer.results.locks import only_process
from clinometer.results.origins import JUDGE
from clinometer.results.records import Journal, journals
from clinometer.scoring import open_decisions
from clinometer.secrets import redacted
from clinometer.stimuli import Study

if TYPE_CHECKING:
    from clinometer.asking.generating import OnProgress

__all__ = ["JUDGE", "Outcome", "ask_judge", "ask_models", "by_study", "verdicts"]


#: Answers that lack what a mode needs, before the first that has it, after which no more are asked.
UNABLE = 5


@dataclass
class Outcome:
    """How many trials are answered, and what stopped the run."""

    trials: int
    answered: int
    errors: int
    last_error: str | None = None
    stopped_by: str | None = None
    """The limit that ended the run early, or ``"interrupted"``."""
    failed: Mapping[str, str] = field(default_factory=dict)
    """Models that were given up, and why; never all of them."""
    trials_of_failed: int = 0
    """Trials of these models that have no answer."""

    @property
    def complete(self) -> bool:
        """Whether every trial of every model has an answer."""
        return self.answered == self.trials

    @property
    def has_tables(self) -> bool:
        """Whether there is something to make tables of, and the user did not stop the run."""
        return bool(self.answered) and self.stopped_by != "interrupted"

    @property
    def settled(self) -> bool:
        """Whether every trial has an answer but those of models that were given up."""
        return self.answered + self.trials_of_failed == self.trials


def ask_models(  # noqa: PLR0913 - what a run shares with its judge
    pieces: Callable[[], Iterable[pl.DataFrame]],
    models: Mapping[str, Any],
    directory: Path,
    budget: Budget,
    *,
    on_progress: OnProgress = lambda model, answer: None,
    prices: Path | None = None,
    proven: Iterable[str] = (),
) -> Outcome:
    """Ask every trial that has no answer yet, a piece in memory at a time.

    Parameters
    ----------
    pieces
        Gives what to ask, whenever it is called: tables with columns of `results.TRIALS`.
    models
        From `open_models`.
    directory
        Where answers are kept; a results directory, claimed by its plan.
    budget
        Limits; what earlier sessions used is added to it first.
    on_progress
        Called with the model and each answer or error; first in each piece with `trials`, the
        number that have an answer from before.
    prices
        See `budget.price`.
    proven
        Modes in which any answer is one, as `trials.ask` has it.

    Returns
    -------
    Outcome

    Raises
    ------
    ModelError
        If all models answer nothing but errors, or cannot do a response mode; answers are kept.
        Where only some do, the outcome names them.
    InputError
        If an answer cannot be written.
    PlanError
        If another process is asking in this directory.
    """
    with only_process(directory):
        ledgers = {
            name: Ledger(Journal(directory, name), budget, price(name, prices)) for name in models
        }
        runs = [
            _ModelRun(models[name], ledger, on_progress, {*proven})
            for name, ledger in ledgers.items()
        ]
        interrupted = False
        last_error: str | None = None
        try:
            for trials in pieces():
                interrupted, error = _ask_piece(runs, trials, directory)
                last_error = error or last_error
                if interrupted:
                    break
        finally:
            for ledger in ledgers.values():
                ledger.journal.close()
    raise_fatal(ledgers.values())
    outcome = _outcome(pieces, ledgers, interrupted)
    return replace(outcome, last_error=last_error or outcome.last_error)


def _ask_piece(
    runs: list[_ModelRun], trials: pl.DataFrame, directory: Path
) -> tuple[bool, str | None]:
    """Ask every model its trials; return as `_evaluate`."""
    tasks = []
    simulated_work = []
    for run in runs:
        rows = run.unanswered(trials)
        if rows is None:
            continue
        if run.simulated:
            simulated_work.append((run, rows))
        else:
            tasks.append(run.task(rows))
    interrupted, error = _evaluate(tasks, directory) if tasks else (False, None)
    # A list, and no generator in `any`: each is asked, also after one that was stopped.
    stopped = [run.ask_without_logs(rows) for run, rows in simulated_work]
    return interrupted or any(stopped), error


def _replay(ledger: Ledger) -> tuple[set[str], dict[str, list[dict[str, Any]]]]:
    """Return the ids with an answer, and the answers of episodes that are not at their end.

    All calls and tokens so far count against the budget.
    """
    done = set()
    begun = defaultdict[str, list[dict[str, Any]]](list)
    for answer in ledger.journal.lines():
        ledger.replay(answer)
        trial, episode = answer.get("trial_id"), answer.get("episode")
        if isinstance(episode, str) and answer.get("step") == len(begun[episode]):
            begun[episode].append(answer)
        elif answer.get("error") is None and isinstance(trial, str):
            done.add(trial)
            begun.pop(trial, None)
    return done, begun


class _ModelRun:
    """A model that is asked, with its ledger and what is answered already."""

    def __init__(
        self, model: Any, ledger: Ledger, on_progress: OnProgress, proven: set[str]
    ) -> None:
        self.model = model
        self.ledger = ledger
        self.on_progress = on_progress
        self.done, self.begun = _replay(ledger)
        #: Modes that the model is known to be able to do, and how many answers failed in others.
        self.able = proven
        self.unable = Counter[str]()
        # Once a session, with the first answer: a model that gives none is not described.
        self._identify = cache(lambda: ledger.journal.identify(describe_model(model)))

    @property
    def simulated(self) -> bool:
        """Whether nothing is asked but planted leans."""
        return find_provider(self.ledger.journal.model).simulated

    def unanswered(self, trials: pl.DataFrame) -> pl.DataFrame | None:
        """Return the trials without an answer; None if there are none left.

        There are none either where the model is asked no more.
        """
        is_answered = pl.col("trial_id").is_in(self.done)
        answered = trials.filter(is_answered)
        unanswered = trials.filter(~is_answered)
        self.able |= {*answered["mode"]}
        self.on_progress(self.ledger.journal.model, {"trials": answered.height, "calls": 0})
        return None if unanswered.is_empty() or self.ledger.closed else unanswered

    def task(self, trials: pl.DataFrame) -> Any:
        """Build the inspect task of trials."""
        from clinometer.asking.trials import ask, trials_task

        solver = ask(self._recorder(trials), self.ledger, self.able, self.begun)
        return trials_task(trials, solver, model=self.model, name="clinometer")

    def ask_without_logs(self, trials: pl.DataFrame) -> bool:
        """Ask trials one after another, without inspect's logs; return whether it was stopped."""
        from clinometer.asking.trials import ask_sequentially

        on_answer = self._recorder(trials)
        try:
            asyncio.run(
                ask_sequentially(trials, self.model, on_answer, self.ledger, self.able, self.begun)
            )
        except KeyboardInterrupt:
            return True
        return False

    def _recorder(self, trials: pl.DataFrame) -> Callable[[dict[str, Any]], None]:
        """Return the function that keeps the answers to trials."""
        modes = dict(trials.select("trial_id", "mode").iter_rows())
        # Where fewer trials than `UNABLE` are asked in a mode, all of them.
        enough = {mode: min(n, UNABLE) for mode, n in Counter(modes.values()).items()}

        def on_answer(answer: dict[str, Any]) -> None:
            """Keep an answer, or the error that came instead."""
            mode = modes[answer.get("trial_id") or answer["episode"]]
            self.record(answer, mode, enough[mode])

        return on_answer

    def record(self, answer: dict[str, Any], mode: str, enough: int) -> None:
        """Keep an answer; give the model up after `enough` that lack what the mode needs."""
        kind, _, text = (answer.get("error") or "").partition(": ")
        if not kind:
            self._identify()
            self.able.add(mode)
        batch = {"batch": True} if self.model.config.batch else {}
        trial, episode = answer.get("trial_id"), answer.get("episode")
        self.ledger.record({**answer, **batch}, key=trial or episode)
        self.unable[mode] += kind == ModelError.__name__
        if mode not in self.able and self.unable[mode] >= enough:
            self.ledger.fatal = self.ledger.fatal or ModelError(text)
        # Of an episode the last line is an answer; the others are calls.
        self.on_progress(self.ledger.journal.model, answer if trial else {**answer, "trials": 0})


def _evaluate(tasks: list[Any], directory: Path) -> tuple[bool, str | None]:
    """Run the tasks; return whether the user stopped them, and the error of a failed task."""
    from inspect_ai import eval as inspect_eval

    from clinometer.asking.trials import LOG_LEVEL, redact_messages, withhold_in_logs

    folder = directory / "logs"
    withhold_in_logs(folder)  # of a session that was killed
    redact_messages()
    try:
        logs = inspect_eval(
            tasks,
            display="none",
            log_dir=str(folder),
            log_level=LOG_LEVEL,
            log_realtime=False,
            score=False,
            fail_on_error=False,
            max_tasks=len(tasks),
        )
    except KeyboardInterrupt:
        return True, None
    finally:
        withhold_in_logs(folder)
    errors = [log.error.message for log in logs if log.error is not None]
    interrupted = len(logs) < len(tasks) or any(log.status == "cancelled" for log in logs)
    first_error = redacted(" ".join(errors[0].split())) if errors else None
    return interrupted, first_error


def _outcome(
    pieces: Callable[[], Iterable[pl.DataFrame]], ledgers: dict[str, Ledger], interrupted: bool
) -> Outcome:
    """Count the answers and errors of all trials, those of earlier sessions among them."""
    errors_of_models = {name: ledger.journal.errors() for name, ledger in ledgers.items()}
    failed = {name: str(ledger.fatal) for name, ledger in ledgers.items() if ledger.fatal}
    trials = answered = trials_of_failed = 0
    errors: list[str] = []
    for piece in pieces():
        trials += piece.height * len(errors_of_models)
        for name, trial_errors in errors_of_models.items():
            # What was never asked has neither an answer nor an error.
            outcomes = [trial_errors[trial] for trial in piece["trial_id"] if trial in trial_errors]
            answered += outcomes.count(None)
            errors += filter(None, outcomes)
            if name in failed:
                trials_of_failed += piece.height - outcomes.count(None)
    stops = [ledger.stopped_by for ledger in ledgers.values() if ledger.stopped_by]
    if interrupted:
        stops.insert(0, "interrupted")
    return Outcome(
        trials=trials,
        answered=answered,
        errors=len(errors),
        last_error=errors[-1] if errors else None,
        stopped_by=stops[0] if stops else None,
        failed=failed,
        trials_of_failed=trials_of_failed,
    )


def ask_judge(  # noqa: PLR0913 - what a run shares with its judge
    responses: Iterable[pl.DataFrame],
    studies: dict[str, Study],
    grader: tuple[str, Any],
    directory: Path,
    budget: Budget,
    prices: Path | None = None,
    judge_all: bool = False,
) -> Outcome:
    """Ask a judge about every open decision that it has not judged yet.

    Parameters
    ----------
    responses
        Pieces of a table of responses that say their `instrument`.
    studies
        The studies by name. With one study, the table needs no `study` column.
    grader
        The judge's name and model, from `open_models`; its answers are kept in `directory`.
    budget, prices
        Limits, shared with the run; see `budget.price`.
    judge_all
        See `scoring.open_decisions`.
    """
    questions = [pl.DataFrame(schema=TRIALS)]
    for piece in responses:
        for study, part in by_study(piece, studies):
            questions.append(open_decisions(part, study, judge_all=judge_all))
    trials = pl.concat(questions).unique("trial_id", maintain_order=True)
    directory.mkdir(parents=True, exist_ok=True)
    # What a judge says that cannot be read leaves a decision open.
    name, model = grader
    return ask_models(
        lambda: [trials], {name: model}, directory, budget, prices=prices, proven=trials["mode"]
    )


def verdicts(directory: Path) -> dict[str, str]:
    """Read the judges' answers: question id → answer; of several judges the last one's."""
    responses = {}
    for journal in journals(directory):
        for answer in journal:
            if answer.get("error") is None:
                responses[answer["trial_id"]] = answer["response"]
    return responses


def by_study(
    piece: pl.DataFrame, studies: Mapping[str, Study]
) -> Iterator[tuple[Study, pl.DataFrame]]:
    """Yield the part of a table that belongs to each study; with one study, all of it.

    Raises
    ------
    InputError
        If a row names another study.
    """
    if len(studies) == 1 or piece.is_empty():
        yield next(iter(studies.values())), piece
        return
    for (name,), part in piece.group_by("study", maintain_order=True):
        if name not in studies:
            raise InputError(f"responses: study {name!r} is none of {', '.join(studies)}")
        yield studies[str(name)], part
