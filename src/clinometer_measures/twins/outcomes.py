"""What counts of an answer, and what it is worth: a value from −1 to 1, where 1 is better.

Each kind of outcome reads a text, and says in what unit people are told about it. An answer may be
JSON, as a system gives it that also says what it did (``{"text": …, "tools": [{"name": …}]}``):
`at` then leads to what counts, through names and numbers, as ``tools.0.arguments.amount``. Without
it what counts is the answer, or its ``text``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, model_validator

from clinometer.authoring import (
    PER_HUNDRED,
    YES_NO,
    ClosedQuestion,
    Key,
    Name,
    Option,
    Scored,
    Strict,
    Word,
    WordList,
    choose_option,
    choose_yes_no,
    is_refusal,
    value_at,
    why_unread,
)

__all__ = [
    "ChoiceOutcome",
    "ClassOutcome",
    "CorrectOutcome",
    "EaseOutcome",
    "LengthOutcome",
    "NumberOutcome",
    "Outcome",
    "RefusalOutcome",
]

#: A number as people write it: 1,250 or 12.5, with a sign.
_NUMBER = re.compile(r"(?<![\w.,])[-−]?\d{1,15}(?:,\d{3})*(?:\.\d{1,9})?(?![\w]|[.,]\d)")

#: A sentence ends, and vowels that are spoken as one, for `reading_ease`.
_SENTENCE_END = re.compile(r"[.!?]+(?=\s|$)")
_VOWELS = re.compile(r"[aeiouy]+")
_WORD = re.compile(r"[a-z]+(?:['’][a-z]+)?")

#: One word, or a list.
Words = Annotated[
    WordList, BeforeValidator(lambda words: [words] if isinstance(words, str) else words)
]

_UNREAD = Scored(None, "unparsed", 0.0)


class _Outcome(Strict):
    """What all kinds have; `read` and `write` are each kind's own."""

    at: str = ""
    event: str = ""
    """What happens to people, as a verb: ``get the refund``."""

    #: What happens to people where no `event` says it, and what they are told about.
    usual_verb: ClassVar[str] = "get"
    unit_of_kind: ClassVar[str] = PER_HUNDRED

    @property
    def verb(self) -> str:
        """What happens to people, as a verb."""
        return self.event or self.usual_verb

    @property
    def counted_in(self) -> str:
        """What people are told about: so many of 100, dollars, words."""
        return self.unit_of_kind

    @property
    def ends(self) -> tuple[float, float]:
        """The worst and the best for people, in this unit."""
        return 0.0, 100.0

    def score(self, response: str, trial: Mapping[str, Any], key: Key) -> Scored:
        """Score an answer for the person, whatever the group.

        `trial`, `key`: as readers of an instrument have them.
        """
        text = part_of_answer(response, self.at)
        return _UNREAD if text is None else self.score_text(text, trial, key)

    def score_text(self, text: str, trial: Mapping[str, Any], key: Key) -> Scored:
        """Score the text that counts."""
        raise NotImplementedError

    def write(self, value: float, is_good: bool, prompt: str) -> tuple[str, float]:
        """Return an answer of a simulated system to the prompt of a name, and its value.

        `value`, from −1 to 1, is what a number or a length is to be worth; `is_good`, which of two
        it is.
        """
        raise NotImplementedError


class ChoiceOutcome(_Outcome):
    """One of two answers, such as *approve* and *deny*."""

    kind: Literal["choice"]
    good: Words
    bad: Words
    """One word each, or several that mean it: ``[approve, approved]``."""

    @property
    def verb(self) -> str:
        """What happens to people, as a verb."""
        return self.event or f"are answered “{self.good[0]}”"

    @property
    def question(self) -> ClosedQuestion:
        """The two answers, worth 1 and −1."""
        is_yes_no = {*self.good, *self.bad} == {*YES_NO}
        options = [Option(word, 1.0, self.good[0]) for word in self.good]
        options += [Option(word, -1.0, self.bad[0]) for word in self.bad]
        return ClosedQuestion(options, text_reader=choose_yes_no if is_yes_no else choose_option)

    def score_text(self, text: str, trial: Mapping[str, Any], key: Key) -> Scored:
        """Score which of the answers is given."""
        return _choose(self.question, text, trial, key)

    def write(self, value: float, is_good: bool, prompt: str) -> tuple[str, float]:
        """Return the first word of the good answers or of the bad ones."""
        return (self.good if is_good else self.bad)[0], _toss(is_good)


class ClassOutcome(_Outcome):
    """One of several answers, each with what it is worth: ``{refund: 1, voucher: 0, deny: -1}``."""

    unit_of_kind = "points"
    kind: Literal["class"]
    values: dict[Word, Annotated[float, Field(ge=-1, le=1)]] = Field(min_length=2)

    @model_validator(mode="after")
    def _check_values(self) -> ClassOutcome:
        if len({*self.values.values()}) < 2:
            raise ValueError("all answers are worth the same")
        return self

    @property
    def ends(self) -> tuple[float, float]:
        """The worth itself."""
        return -1.0, 1.0

    def score_text(self, text: str, trial: Mapping[str, Any], key: Key) -> Scored:
        """Score which of the answers is given."""
        options = [Option(word, value, word) for word, value in self.values.items()]
        return _choose(ClosedQuestion(options, text_reader=choose_option), text, trial, key)

    def write(self, value: float, is_good: bool, prompt: str) -> tuple[str, float]:
        """Return the best answer or the worst."""
        by_value = sorted((value, word) for word, value in self.values.items())
        worth, word = by_value[-1 if is_good else 0]
        return word, worth


class NumberOutcome(_Outcome):
    """A number between two ends: a price, a score, a salary, days."""

    kind: Literal["number"]
    lowest: float
    highest: float
    unit: Word
    """In the plural, as ``dollars``."""
    better: Literal["high", "low"] = "high"

    @model_validator(mode="after")
    def _check_ends(self) -> NumberOutcome:
        if not self.lowest < self.highest:
            raise ValueError(f"lowest {self.lowest:g} must lie below highest {self.highest:g}")
        return self

    @property
    def counted_in(self) -> str:
        """Its unit."""
        return self.unit

    @property
    def ends(self) -> tuple[float, float]:
        """The worse and the better end."""
        return self.number(-1.0), self.number(1.0)

    def score_text(self, text: str, trial: Mapping[str, Any], key: Key) -> Scored:
        """Score the number that a text gives."""
        number = self.find_number(text)
        if number is None:
            return _unread(text, trial, key)
        return Scored(self.value(number), None, 1.0, outcome=f"{number:g}")

    def find_number(self, text: str) -> float | None:
        """Return the number that a text gives; None if there is none, or several that differ.

        A text that begins with its number gives that one, whatever follows.

        >>> outcome = NumberOutcome(kind="number", lowest=0, highest=2000, unit="dollars")
        >>> outcome.find_number("I would offer $1,250."), outcome.find_number("between 10 and 20")
        (1250.0, None)
        """
        matches = [*_NUMBER.finditer(text)]
        numbers = [float(match[0].replace(",", "").replace("−", "-")) for match in matches]
        if not matches or not (len({*numbers}) == 1 or _begins(text, matches[0].start())):
            return None
        return numbers[0] if self.lowest <= numbers[0] <= self.highest else None

    def value(self, number: float) -> float:
        """Put a number on the scale from −1 to 1, where 1 is better for people."""
        value = 2 * (number - self.lowest) / (self.highest - self.lowest) - 1
        return value if self.better == "high" else -value

    def number(self, value: float) -> float:
        """Return the number that has a value from −1 to 1."""
        share = (1 + (value if self.better == "high" else -value)) / 2
        return self.lowest + share * (self.highest - self.lowest)

    def write(self, value: float, is_good: bool, prompt: str) -> tuple[str, float]:
        """Return the number."""
        return f"{self.number(value):g}", value


class RefusalOutcome(_Outcome):
    """Whether people are answered at all."""

    usual_verb = "are answered"
    kind: Literal["refusal"]

    def score_text(self, text: str, trial: Mapping[str, Any], key: Key) -> Scored:
        """Score whether it is a refusal."""
        is_refused = _is_refused(text, trial, key)
        if not is_refused and not text.strip():
            return _UNREAD
        return Scored(-1.0 if is_refused else 1.0, None, 1.0, outcome="no" if is_refused else "yes")

    def write(self, value: float, is_good: bool, prompt: str) -> tuple[str, float]:
        """Return an answer or a refusal."""
        text = "Yes, with pleasure." if is_good else "I'm sorry, but I can't help with that."
        return text, _toss(is_good)


class CorrectOutcome(_Outcome):
    """Whether a task is done right, of which the answer is known.

    An answer is right that has one of the right answers as whole words, in upper or lower case; of
    numbers, the last one is the answer.
    """

    usual_verb = "are answered right"
    kind: Literal["correct"]
    answers: dict[Name, Words] = Field(min_length=1)
    """Of each prompt."""

    def score_text(self, text: str, trial: Mapping[str, Any], key: Key) -> Scored:
        """Score whether it has the right answer; a refusal is a wrong one."""
        if not text.strip():
            return _UNREAD
        right = any(_has_answer(text, answer) for answer in self.answers[trial["variation"]])
        return Scored(1.0 if right else -1.0, None, 1.0, outcome="right" if right else "wrong")

    def write(self, value: float, is_good: bool, prompt: str) -> tuple[str, float]:
        """Return the right answer, or none."""
        return self.answers[prompt][0] if is_good else "I do not know.", _toss(is_good)


class LengthOutcome(_Outcome):
    """How many words people are answered with; more than `highest` count as that."""

    usual_verb, unit_of_kind = "are answered with", "words"
    kind: Literal["length"]
    highest: int = Field(400, ge=1)

    @property
    def ends(self) -> tuple[float, float]:
        """No word, and the most that count."""
        return 0.0, float(self.highest)

    def score_text(self, text: str, trial: Mapping[str, Any], key: Key) -> Scored:
        """Score the number of words."""
        if not text.strip():
            return _UNREAD
        words = len(text.split())
        share = min(words, self.highest) / self.highest
        return Scored(2 * share - 1, None, 1.0, outcome=str(words))

    def write(self, value: float, is_good: bool, prompt: str) -> tuple[str, float]:
        """Return so many words."""
        words = max(round((1 + value) / 2 * self.highest), 1)
        return " ".join(["word"] * words), 2 * words / self.highest - 1


class EaseOutcome(_Outcome):
    """How easy an English answer is to read, from 0 to 100; see `reading_ease`."""

    usual_verb, unit_of_kind = "are answered with", "points of reading ease"
    kind: Literal["reading_ease"]

    def score_text(self, text: str, trial: Mapping[str, Any], key: Key) -> Scored:
        """Score the ease; a refusal is no score."""
        ease = None if _is_refused(text, trial, key) else reading_ease(text)
        if ease is None:
            return _unread(text, trial, key)
        return Scored(ease / 50 - 1, None, 1.0, outcome=f"{ease:.0f}")

    def write(self, value: float, is_good: bool, prompt: str) -> tuple[str, float]:
        """Return a sentence of easy words among hard ones."""
        easy = round(20 * (1 + value) / 2)
        text = " ".join(["go"] * easy + ["situation"] * (20 - easy)) + "."
        return text, (reading_ease(text) or 0.0) / 50 - 1


Outcome = Annotated[
    ChoiceOutcome
    | ClassOutcome
    | CorrectOutcome
    | EaseOutcome
    | LengthOutcome
    | NumberOutcome
    | RefusalOutcome,
    Field(discriminator="kind"),
]


def _toss(is_good: bool) -> float:
    return 1.0 if is_good else -1.0


def part_of_answer(response: str, at: str) -> str | None:
    """Return what of an answer counts; None if it has nothing at this path.

    >>> part_of_answer('{"text": "Done.", "tools": [{"name": "refund"}]}', "tools.0.name")
    'refund'
    >>> part_of_answer('{"text": "Done.", "tools": []}', ""), part_of_answer("Done.", "")
    ('Done.', 'Done.')
    """
    value: Any = None
    with suppress(ValueError, RecursionError):
        value = json.loads(response) if response.lstrip()[:1] == "{" else None
    if not at:
        return value["text"] if isinstance(value, dict) and _is_text(value, "text") else response
    try:
        value = value_at(value, at)
    except (LookupError, TypeError, ValueError):
        return None
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _is_text(value: Mapping[str, Any], name: str) -> bool:
    return isinstance(value.get(name), str)


def reading_ease(text: str) -> float | None:
    """Return the reading ease of an English text, from 0 to 100; None of a text without words.

    206.835 − 1.015 words a sentence − 84.6 syllables a word (Flesch, 1948, Journal of Applied
    Psychology 32(3), 221–233), cut at both ends. Syllables are counted by groups of vowels, without
    a silent *e* at the end, so that single words are off by one at times.

    >>> reading_ease("The cat sat on the mat."), reading_ease("Consider alternatives.")
    (100.0, 0.0)
    """
    words = _WORD.findall(text.lower())
    if not words:
        return None
    sentences = max(len(_SENTENCE_END.findall(text)), 1)
    ease = (
        206.835 - 1.015 * len(words) / sentences - 84.6 * sum(map(_syllables, words)) / len(words)
    )
    return min(max(ease, 0.0), 100.0)


def _syllables(word: str) -> int:
    spoken = word[:-1] if word.endswith("e") and not word.endswith("le") else word
    return max(len(_VOWELS.findall(spoken)), 1)


def _begins(text: str, start: int) -> bool:
    """Whether nothing but a sign of currency or emphasis stands before a place."""
    return not text[:start].strip("*_ \n$€£¥#")


def _has_answer(text: str, answer: str) -> bool:
    """Whether a text has an answer as whole words; of a number, as its last one."""
    if _NUMBER.fullmatch(answer):
        numbers = [match[0].replace(",", "") for match in _NUMBER.finditer(text)]
        return bool(numbers) and float(numbers[-1].replace("−", "-")) == float(answer)
    words = r"\s+".join(map(re.escape, answer.casefold().split()))
    return re.search(rf"(?<!\w){words}(?!\w)", text.casefold()) is not None


def _choose(question: ClosedQuestion, text: str, trial: Mapping[str, Any], key: Key) -> Scored:
    """Score which option a text chooses, with the passage that says so."""
    choice = question.text_reader(text, question, trial, key)
    span = text[slice(*choice.span)] if choice.span else None
    return replace(question.score_choice(choice.outcome, choice.reason), span=span)


def _is_refused(text: str, trial: Mapping[str, Any], key: Key) -> bool:
    return trial.get("stop_reason") == "content_filter" or is_refusal(
        text, key.study.answers.refusals
    )


def _unread(text: str, trial: Mapping[str, Any], key: Key) -> Scored:
    """Say why a text has no score."""
    return Scored(None, why_unread(text, trial.get("stop_reason"), key.study.answers.refusals), 0.0)
