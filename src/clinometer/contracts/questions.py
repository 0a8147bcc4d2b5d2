"""Closed questions: what may be answered, what each answer is worth, and how answers are read.

An instrument that offers a few options declares a `ClosedQuestion` for a trial. It closes the
prompt (`close`), and `closed_readers` makes of it the readers of every kind of answer. The order in
which a prompt shows the options stands beside them and never reaches a score.

Scores
    A text or a structured answer has the value of its option; an abstention has no score, and the
    reason ``neither``. Log-probabilities have the expected value: with two options of the values
    a and b, and log odds l of the first,

        score = (a + b) / 2 + (a − b) / 2 · tanh(l / 2)

    and with more the sum of values under their probabilities. Where an abstention is likelier than
    each other option there is no score (``neither``); else the others are scored as if it were not
    offered.

    Log-probabilities may be listed under two subjects, such as a group and people in general. Then
    l is that of the first subject less that of the second; with more than two options the score is
    half the difference of the expected values.

Missing log-probabilities
    Where they lack one of two subjects the reason is ``low_coverage``, where they lack all
    ``unparsed``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from clinometer.contracts.instrument import Key, Reader, Scored
from clinometer.modes import CHOICES, LIKELIHOODS, LOGITS, TEXT, Mode
from clinometer.modes.structured import read_choices, why_not
from clinometer.reading.options import read_option
from clinometer.reading.plaintext import Choice
from clinometer.reading.refusals import why_unread
from clinometer.reading.scales import read_scale
from clinometer.reading.yes_no import read_yes_no
from clinometer.results.logprobs import read_logits, read_probabilities
from clinometer.stimuli import Study

#: Options of a question that `choose_yes_no` reads.
YES_NO = ("yes", "no")

#: Answer, question, trial, key → the option that a free text chooses, by its text.
TextReader = Callable[[str, "ClosedQuestion", Mapping[str, Any], Key], Choice]

#: Trial, study → the question that it asks.
DeclareQuestion = Callable[[Mapping[str, Any], Study], "ClosedQuestion"]


@dataclass(frozen=True)
class Option:
    """An answer that a question allows."""

    text: str
    value: float | None
    """What it is worth on the scale of the measure; None: it is an abstention."""
    outcome: str | None = None
    """What the column `outcome` says of an answer that chose it."""
    token: str | None = None
    """What log-probabilities list it as, such as a letter; None: its text."""
    label: str = ""
    """Of a step of a scale: its name."""


def choose_option(
    response: str,
    question: ClosedQuestion,
    trial: Mapping[str, Any],
    _: Key,
    *,
    unknown: str | None = None,
) -> Choice:
    """Read which option a text chooses; `unknown` says that the question cannot be answered."""
    return read_option(
        response, question.choices, unknown=unknown, stop_reason=trial.get("stop_reason")
    )


def choose_yes_no(
    response: str,
    _: ClosedQuestion,
    trial: Mapping[str, Any],
    __: Key,
    *,
    prompt: str | None = None,
) -> Choice:
    """Read yes or no; `prompt` stands for that of recorded answers without one."""
    question = trial.get("prompt") or prompt
    return read_yes_no(response, question=question, stop_reason=trial.get("stop_reason"))


def choose_step(
    response: str, question: ClosedQuestion, trial: Mapping[str, Any], key: Key
) -> Choice:
    """Read the step of a scale, whose options are numbers."""
    labels = {int(option.text): option.label for option in question.options}
    stop_reason = trial.get("stop_reason")
    choice = read_scale(response, labels, stop_reason=stop_reason)
    # The reader of scales knows no phrases that decline in the language of the study.
    if choice.outcome is None and (
        why_unread(response, stop_reason, key.study.answers.refusals) == "refused"
    ):
        return choice._replace(reason="refused")
    return choice


@dataclass(frozen=True)
class ClosedQuestion:
    """A question with a few options."""

    options: Sequence[Option]
    """In the order of their log-probabilities."""
    unlisted: Sequence[Option] = ()
    """What answers in words may be besides, and log-probabilities not."""
    offered: Sequence[str] = ()
    """The texts that a prompt offers, in its order; none: those of `options`."""
    field: str = "answer"
    """Where a structured answer has its option."""
    subjects: Sequence[str] = ()
    """What log-probabilities are listed under; none: the `attributes` of the trial."""
    text_reader: TextReader = choose_option
    ordered: bool = False
    """Whether trials show the options in two orders, so that `first_share` is told."""
    averages_subjects: bool = False
    """Whether l is the mean over two subjects, the second with its sign reversed, and not the sum.
    """
    ignores_abstentions: bool = False
    """Whether the other options are scored even where an abstention is likelier than they are."""

    @property
    def choices(self) -> list[str]:
        """The texts that are offered, in the order of the prompt."""
        return [*self.offered] or [option.text for option in self.options]

    def close(self, mode: Mode, opening: str | None = "My answer is") -> dict[str, Any]:
        """Return the columns of a trial that say how it is answered in a mode.

        `opening`: how a forced answer begins on models that continue one.
        """
        tokens = [option.token or option.text for option in self.options]
        return mode.close({self.field: self.choices}, tokens, opening)

    def score_choice(self, text: str | None, reason: str | None) -> Scored:
        """Score the option with a text; without one there is the reason."""
        options = (*self.options, *self.unlisted)
        option = next((option for option in options if option.text == text), None)
        if option is None:
            return Scored(None, reason, 0.0)
        if option.value is None:
            return Scored(None, "neither", 0.0, outcome=option.outcome)
        first_share = self._first_share({option.text: 1.0})
        # The sum makes a 0.0 of a −0.0.
        score = option.value + 0.0
        return Scored(score, None, 1.0, first_share=first_share, outcome=option.outcome)

    def score_logprobs(self, recorded: str, subjects: Sequence[str]) -> Scored:
        """Score log-probabilities of all options, listed under one subject or two."""
        values = [option.value for option in self.options if option.value is not None]
        if len(values) == len(self.options) == 2:
            logits = list(read_logits(recorded, subjects).values())
            if not subjects or len(logits) < len(subjects):
                return score_incomplete(len(logits), len(subjects))
            return self._score_logits(logits, values)
        shares = [read_probabilities(recorded, subject) for subject in subjects]
        complete = [weights for weights in shares if len(weights) == len(self.options)]
        if not subjects or len(complete) < len(subjects):
            return score_incomplete(len(complete), len(subjects))
        return self._score_shares(complete)

    def _score_logits(self, logits: Sequence[float], values: Sequence[float]) -> Scored:
        """Score log odds of the first of two options, for each subject."""
        first, second = self.options
        middle, half = (values[0] + values[1]) / 2, (values[0] - values[1]) / 2
        # Of two subjects the second counts with its sign reversed.
        logit = logits[0] - sum(logits[1:])
        n_averaged = len(logits) if self.averages_subjects else 1
        scored = Scored(
            middle + half * math.tanh(logit / n_averaged / 2),
            None,
            1.0,
            logit=logit if half > 0 else 0.0 - logit,
        )
        if len(logits) > 1:  # a difference chooses no option
            return scored
        share = 1 / (1 + math.exp(-logit))
        return replace(
            scored,
            first_share=self._first_share({first.text: share, second.text: 1 - share}),
            outcome=first.outcome if logit > 0 else second.outcome,
        )

    def _score_shares(self, shares: Sequence[Sequence[float]]) -> Scored:
        """Score the probabilities of all options, for each subject."""
        expected = [self._expected_value(weights) for weights in shares]
        values = [value for value in expected if value is not None]
        if len(values) == 2:  # a difference chooses no option
            return Scored((values[0] - values[1]) / 2, None, 1.0)
        weights = shares[0]
        outcome = self.options[weights.index(max(weights))].outcome if len(shares) == 1 else None
        if len(values) < len(shares):
            return Scored(None, "neither", 0.0, outcome=outcome)
        by_text = {
            option.text: weight for option, weight in zip(self.options, weights, strict=True)
        }
        return Scored(values[0], None, 1.0, first_share=self._first_share(by_text), outcome=outcome)

    def _expected_value(self, weights: Sequence[float]) -> float | None:
        """Return the mean value under the probabilities of the options; None: it abstains."""
        abstentions: list[float] = []
        values: list[float] = []
        decided: list[float] = []
        for option, weight in zip(self.options, weights, strict=True):
            if option.value is None:
                abstentions.append(weight)
            else:
                values.append(option.value)
                decided.append(weight)
        # Without abstentions the probabilities sum to 1, but for rounding.
        total = sum(decided) if abstentions else 1.0
        abstains = max(abstentions, default=0.0) > max(decided) and not self.ignores_abstentions
        if abstains or not total:
            return None
        mean = sum(value * weight for value, weight in zip(values, decided, strict=True)) / total
        # Rounding may lead beyond the ends.
        return max(min(values), min(max(values), mean))

    def _first_share(self, weights: Mapping[str, float]) -> float | None:
        """Return the share of the option shown first, of those that are no abstention.

        Of a scale it is how near an answer is to the first step: 1 there, 0 at the last.
        """
        if not self.ordered:
            return None
        values = {option.text: option.value for option in (*self.options, *self.unlisted)}
        texts = [text for text in self.choices if values[text] is not None]
        decided = [weights.get(text, 0.0) for text in texts]
        last = len(texts) - 1
        total = sum(decided)
        if not total:
            return None
        return sum(w * (last - place) / last for place, w in enumerate(decided)) / total


def closed_readers(question: DeclareQuestion, *, sentences: bool = False) -> dict[str, Reader]:
    """Return the readers of an instrument that asks closed questions.

    Parameters
    ----------
    question
        Trial, study → the question that it asks. A trial of a recorded answer may lack columns.
    sentences
        Whether it asks sentences, too, whose ends have probabilities.

    Returns
    -------
    dict
        Kind of answer → its reader.
    """
    kinds = (TEXT, CHOICES, LOGITS, *([LIKELIHOODS] if sentences else []))
    readers = {TEXT: _read_text, CHOICES: _read_choices}
    return {kind: partial(readers.get(kind, _read_logprobs), question) for kind in kinds}


def _read_text(
    declare: DeclareQuestion, response: str, trial: Mapping[str, Any], key: Key
) -> Scored:
    question = declare(trial, key.study)
    choice = question.text_reader(response, question, trial, key)
    span = response[slice(*choice.span)] if choice.span else None
    scored = question.score_choice(choice.outcome, choice.reason)
    return replace(scored, span=span, read_by="rules")


def _read_choices(
    declare: DeclareQuestion, response: str, trial: Mapping[str, Any], key: Key
) -> Scored:
    question = declare(trial, key.study)
    choice = str(read_choices(response).get(question.field))
    return question.score_choice(
        choice if choice in question.choices else None, why_not(response, trial)
    )


def _read_logprobs(
    declare: DeclareQuestion, response: str, trial: Mapping[str, Any], key: Key
) -> Scored:
    question = declare(trial, key.study)
    return question.score_logprobs(response, question.subjects or trial.get("attributes") or ())


def score_incomplete(n_read: int, n_subjects: int) -> Scored:
    """Return that log-probabilities lack some of their subjects, or all."""
    coverage = n_read / n_subjects if n_subjects else 0.0
    return Scored(None, "low_coverage" if n_read else "unparsed", coverage)
