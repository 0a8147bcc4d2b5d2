"""Asks models for free associations; a killed run continues where it stopped.

A call asks for several answers where the provider supports it. Each round asks every cue once, so
that a run which stops early has about the same number of answers to each cue.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from clinometer.asking.budget import Budget, Ledger, raise_fatal
from clinometer.asking.claim import claim
from clinometer.asking.generating import Line, OnProgress, Prompt, Session, ask_all, draw_seed
from clinometer.asking.questions import CallQuestions
from clinometer.errors import InputError
from clinometer.models.opening import Connection, open_model
from clinometer.models.outputs import tokens_in
from clinometer.models.providers import find_provider
from clinometer.reading.cleaning import final_answer
from clinometer.results.locks import only_process
from clinometer.results.places import anywhere
from clinometer.results.records import Journal
from clinometer.texts import encodable
from clinometer_measures.networks.associates import read_associates
from clinometer_measures.networks.association_plan import CHOICES, AssociationPlan, cue_messages
from clinometer_measures.networks.cues import Call, Rounds, Tally

if TYPE_CHECKING:
    from inspect_ai.model import Model, ModelOutput

__all__ = [
    "Associated",
    "associate",
    "collect_associations",
    "cue_questions",
    "most_choices",
    "open_associating",
]

#: Answers asked of one call of a provider that refuses to give `CHOICES`.
FEWER = (8, 1)


@dataclass(frozen=True)
class Associated:
    """How many associations one model has given, and what stopped the run."""

    model: str
    expected: int
    answered: int
    readable: int
    """Answers that hold at least one associate."""
    associates: int
    calls: int
    """Of this time, without those of earlier ones; so are the errors."""
    errors: int
    choices: int | None
    """Answers that a call gave at the most; None where nothing was answered this time."""
    last_error: str | None = None
    stopped_by: str | None = None
    """The limit that ended the run early, or ``"interrupted"``."""
    failure: str | None = None
    """Why the model was given up."""

    @property
    def complete(self) -> bool:
        """Whether every answer is there."""
        return self.answered == self.expected


def most_choices(model: str, choices: int | None = None) -> int:
    """Return how many answers are asked of a call: one of a provider that gives no more."""
    if choices is not None and choices < 1:
        raise InputError(f"choices {choices}: at least 1")
    return 1 if find_provider(model).choices is False else choices or CHOICES


def open_associating(plan: AssociationPlan, connection: Connection) -> dict[str, Model]:
    """Open the models of a plan, name → model; raises as `open_model`."""
    models = {}
    for name in plan.models:
        models[name] = open_model(name, plan.generation, plan.connection_of(name, connection))
    return models


def associate(
    plan: AssociationPlan,
    models: Mapping[str, Model],
    directory: Path,
    budget: Budget,
    *,
    choices: int | None = None,
    on_progress: OnProgress = lambda model, answer: None,
) -> list[Associated]:
    """Ask for every answer that is not there yet.

    Parameters
    ----------
    plan
        What to ask.
    models
        From `open_associating`; they are closed in the end.
    directory
        Where answers are kept, claimed by the plan.
    budget
        Limits in calls and tokens; what is recorded is added to it first. Calls that are under
        way when a limit is reached are finished.
    choices
        Answers to ask of a call; 20 if None. A provider that gives or takes fewer is asked for
        what it gave.
    on_progress
        As of `Session`; called first with what was there before.

    Returns
    -------
    list of Associated
        One for each model.

    Raises
    ------
    ModelError
        If all models give nothing but errors; answers are kept. Where only some do, their
        outcomes say so.
    InputError
        If `choices` is below 1, or an answer cannot be written.
    PlanError
        If another process is asking in this directory.
    """
    # Before any call: it refuses a wrong number.
    choices_by_model = {name: most_choices(name, choices) for name in models}
    strategies = []
    sessions = []
    with only_process(directory):
        for name, model in models.items():
            ledger, tally = _count_recorded(plan, name, directory, budget)
            on_progress(name, {"trials": tally.answered, "calls": 0})
            strategy = _Cues(plan, name, tally, choices_by_model[name])
            strategies.append(strategy)
            sessions.append(Session(model, strategy, ledger, on_progress))
        ask_all(sessions)
    raise_fatal(session.ledger for session in sessions)
    pairs = zip(strategies, sessions, strict=True)
    return [_outcome(strategy, session) for strategy, session in pairs]


def _count_recorded(
    plan: AssociationPlan, model: str, directory: Path, budget: Budget
) -> tuple[Ledger, Tally]:
    """Count the answers that a model has given already."""
    ledger = Ledger(Journal(directory, model), budget)
    tally = Tally(plan.cues, plan.repetitions)
    for line in ledger.journal.lines():
        if tally.count(line):
            ledger.replay(line)
    return ledger, tally


def cue_questions(
    plan: AssociationPlan, model: str, directory: Path, choices: int | None = None
) -> CallQuestions[Call]:
    """Return what is left to ask one model, as requests; see `shards`.

    `choices` as of `associate`; one where the provider gives no more.
    """
    ledger, tally = _count_recorded(plan, model, directory, Budget())
    answers_per_call = (choices or CHOICES) if find_provider(model).choices else 1
    strategy = _Cues(plan, model, tally, answers_per_call)
    strategy.proven = True  # calls stay as they were written, whatever their answers hold
    return CallQuestions(
        strategy, ledger, plan.generation, lambda: (tally.expected, tally.answered)
    )


@anywhere(directory=True)
def collect_associations(
    plan: AssociationPlan, directory: str | Path, *, choices: int | None = None
) -> list[Associated]:
    """Open the models of a plan and ask for every answer that is not there yet.

    Parameters
    ----------
    plan
        What to ask; the same plan again continues.
    directory
        Where answers are kept; made if absent. `read_associations` reads it.
    choices
        As of `associate`.

    Returns
    -------
    list of Associated
        One for each model.

    Raises
    ------
    ModelError, InputError, PlanError
        As of `open_model` and `associate`; a directory that holds another plan is a PlanError.

    Examples
    --------
    >>> plan = AssociationPlan(("clinometer/smollm2",), ("sea", "bread"), repetitions=2)
    >>> collect_associations(plan, "answers")  # doctest: +SKIP
    """
    models = open_associating(plan, Connection())
    claim(Path(directory), plan)
    return associate(plan, models, Path(directory), Budget(), choices=choices)


class _Cues:
    """Strategy: one model, round by round, with as many answers per call as it was seen to give."""

    def __init__(self, plan: AssociationPlan, model: str, tally: Tally, most: int) -> None:
        self.plan = plan
        self.tally = tally
        self.continues = plan.continues(model)
        self.opened = find_provider(model).opened
        self.rounds = Rounds(tally.done, plan.repetitions)
        self.most = most
        """Answers to ask of a call."""
        self.proven = False
        """Whether a call has shown how many answers it gives."""
        self.choices = 0
        """The most answers that a call has given."""

    def passes(self) -> Iterator[Callable[[], Call | None]]:
        """Yield the only pass; `most` is read anew at each call, as it may fall."""
        yield lambda: self.rounds.take(self.most)

    def name(self, call: Call) -> tuple[str, str]:
        """Return the cue and the repetitions, which identify a call."""
        return self.plan.cues[call.cue], f"{call.first}+{call.count}"

    def prompts(self, call: Call) -> Iterator[Prompt]:
        """Yield the prompt, for fewer answers at once where so many are refused."""
        cue = self.plan.cues[call.cue]
        messages = cue_messages(cue, continuation=self.continues, opened=self.opened)
        settings = {
            # The embedded model draws the answers of a call with the seeds that follow this one:
            # a repetition's answer is the same however the repetitions are shared out.
            # Half of what a seed may be leaves room for the repetitions.
            "seed": (draw_seed(self.plan.seed, cue) >> 1) + call.first,
            "stop_seqs": ["\n"] if self.continues else None,
        }
        fewer = () if self.proven else (count for count in FEWER if count < call.count)
        for count in (call.count, *fewer):
            yield messages, {**settings, "num_choices": count if count > 1 else None}

    def answers(self, call: Call, prompt: Prompt, output: ModelOutput) -> list[Line]:
        """Return a line for each answer of a call; repetitions without one are given back."""
        choices = output.choices[: call.count]  # some providers give more than was asked
        if not choices:
            return []
        self._learn(call, prompt[1]["num_choices"] or 1, len(output.choices))
        self.rounds.give_back(call, range(len(choices), call.count))
        self.choices = max(self.choices, len(choices))
        usage = output.usage
        input_tokens = _shares(tokens_in(usage) if usage else 0, len(choices))
        output_tokens = _shares(usage.output_tokens if usage else 0, len(choices))
        lines = []
        for number, choice in enumerate(choices):
            line = {
                **self._identify(call, number),
                **self._read(choice.message.text, self.plan.cues[call.cue]),
                "stop_reason": choice.stop_reason,
                "input_tokens": input_tokens[number],
                "output_tokens": output_tokens[number],
            }
            lines.append(line)
        return lines

    def failures(self, call: Call, error: str) -> list[Line]:
        """Return an error line for every answer of the call; the next run asks for them again."""
        lines = []
        for number in range(call.count):
            lines.append({**self._identify(call, number), "responses": [], "error": error})
        return lines

    def take(self, call: Call, lines: Sequence[Line]) -> int:
        """Count the lines of a call; return how many of them are answers."""
        for line in lines:
            self.tally.count(line)
        return sum("error" not in line for line in lines)

    def _learn(self, call: Call, requested: int, received: int) -> None:
        """Ask for fewer answers a call where the provider gave or took fewer."""
        if not self.proven and self.most > 1:
            if received < requested or requested < call.count:
                self.most = min(requested, received)
            self.proven = requested > 1 or self.most == 1

    def _identify(self, call: Call, number: int) -> Line:
        return {"cue": self.plan.cues[call.cue], "repetition": call.first + number}

    def _read(self, text: str, cue: str) -> Line:
        raw = encodable(text)
        # Not every provider stops at the end of a continued line.
        line = raw.lstrip().partition("\n")[0] if self.continues else raw
        return {"responses": read_associates(final_answer(line).text, cue=cue), "raw": raw}


def _outcome(strategy: _Cues, session: Session[Call]) -> Associated:
    tally, ledger = strategy.tally, session.ledger
    return Associated(
        model=ledger.journal.model,
        expected=tally.expected,
        answered=tally.answered,
        readable=tally.readable,
        associates=tally.associates,
        calls=ledger.calls,
        errors=ledger.errors,
        choices=strategy.choices or None,
        last_error=ledger.last_error,
        stopped_by=ledger.stopped_by if tally.missing else None,
        failure=None if ledger.fatal is None else str(ledger.fatal),
    )


def _shares(total: int, count: int) -> list[int]:
    """Divide a call's tokens among its answers; the sum is the call's."""
    quotient, remainder = divmod(total, count)
    # The first answers bear what is left over, one token each.
    return [quotient + (number < remainder) for number in range(count)]
