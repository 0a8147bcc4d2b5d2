"""What a study says of twins: the prompt that people use, its rewordings, and what counts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, model_validator

from clinometer.authoring import (
    YES_NO,
    ClosedQuestion,
    Name,
    Option,
    Strict,
    Study,
    Word,
    WordList,
    choose_option,
    choose_yes_no,
    holds,
)

__all__ = [
    "GROUPS",
    "NAME",
    "ChoiceOutcome",
    "LengthOutcome",
    "NumberOutcome",
    "Outcome",
    "People",
    "RefusalOutcome",
    "TwinsPart",
    "part_of",
    "sides_of",
]

#: The instrument, and its part of a study.
NAME = "twins"

#: The sides of a contrast, which are the versions of a trial.
GROUPS = ("marginalized", "default")

#: A number as people write it: 1,250 or 12.5, with a sign.
_NUMBER = re.compile(r"(?<![\w.,])[-−]?\d{1,15}(?:,\d{3})*(?:\.\d{1,9})?(?![\w]|[.,]\d)")

Text = Annotated[str, holds("person")]

#: One word, or a list.
Words = Annotated[
    WordList, BeforeValidator(lambda words: [words] if isinstance(words, str) else words)
]


class ChoiceOutcome(Strict):
    """One of two answers, such as *approve* and *deny*."""

    kind: Literal["choice"]
    good: Words
    bad: Words
    """One word each, or several that mean it: ``[approve, approved]``."""
    event: str = ""
    """What happens to people who get the good answer, as a verb: ``get the refund``."""

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


class NumberOutcome(Strict):
    """A number between two ends: a price, a score, a salary, days."""

    kind: Literal["number"]
    lowest: float
    highest: float
    unit: Word
    """In the plural, as ``dollars``."""
    better: Literal["high", "low"] = "high"
    event: str = "get"

    @model_validator(mode="after")
    def _check_ends(self) -> NumberOutcome:
        if not self.lowest < self.highest:
            raise ValueError(f"lowest {self.lowest:g} must lie below highest {self.highest:g}")
        return self

    @property
    def verb(self) -> str:
        """What happens to people, as a verb."""
        return self.event

    def read(self, text: str) -> float | None:
        """Return the number that a text gives; None if there is none, or several that differ.

        A text that begins with its number gives that one, whatever follows.

        >>> outcome = NumberOutcome(kind="number", lowest=0, highest=2000, unit="dollars")
        >>> outcome.read("I would offer $1,250."), outcome.read("between 10 and 20")
        (1250.0, None)
        """
        found = [*_NUMBER.finditer(text)]
        numbers = {float(match[0].replace(",", "").replace("−", "-")) for match in found}
        if not found or not (len(numbers) == 1 or _begins(text, found[0].start())):
            return None
        number = float(found[0][0].replace(",", "").replace("−", "-"))
        return number if self.lowest <= number <= self.highest else None

    def value(self, number: float) -> float:
        """Put a number on the scale from −1 to 1, where 1 is better for people."""
        value = 2 * (number - self.lowest) / (self.highest - self.lowest) - 1
        return value if self.better == "high" else -value

    def number(self, value: float) -> float:
        """Return the number that has a value from −1 to 1."""
        share = (1 + (value if self.better == "high" else -value)) / 2
        return self.lowest + share * (self.highest - self.lowest)


def _begins(text: str, start: int) -> bool:
    """Whether nothing but a sign of currency or emphasis stands before a place."""
    return not text[:start].strip("*_ \n$€£¥#")


class RefusalOutcome(Strict):
    """Whether people are answered at all."""

    kind: Literal["refusal"]
    event: str = "are answered"

    @property
    def verb(self) -> str:
        """What happens to people, as a verb."""
        return self.event


class LengthOutcome(Strict):
    """How many words people are answered with; more than `highest` count as that."""

    kind: Literal["length"]
    highest: int = Field(400, ge=1)
    event: str = "are answered with"

    @property
    def verb(self) -> str:
        """What happens to people, as a verb."""
        return self.event


Outcome = Annotated[
    ChoiceOutcome | NumberOutcome | RefusalOutcome | LengthOutcome, Field(discriminator="kind")
]


class People(Strict):
    """Who the groups of a contrast are, in words: *Black women*, *White women*."""

    marginalized: Word
    default: Word


class TwinsPart(Strict):
    """A prompt with a place for a person, rewordings that change no person, and an outcome."""

    prompts: dict[Name, Text] = Field(min_length=1)
    """Of which one is the prompt as it stands."""
    outcome: Outcome
    people: dict[Name, People] = {}


def part_of(study: Study) -> TwinsPart | None:
    """Return what a study says of twins; None if it says nothing."""
    return study.instruments.read(NAME, TwinsPart)


def sides_of(study: Study) -> Mapping[str, Mapping[str, str]]:
    """Return person → contrast → the side that the person stands on."""
    sides: dict[str, dict[str, str]] = {}
    for key, stereotype in study.stereotypes.items():
        for side in GROUPS:
            for person in getattr(stereotype, side):
                sides.setdefault(person, {})[key] = side
    return sides
