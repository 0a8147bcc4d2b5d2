"""The wordings that all stereotypes of a study share, and how words are put into them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated

from pydantic import AfterValidator, Field, model_validator

from tiltmeter.stimuli.words import Name, Strict, WordList, word_key

__all__ = [
    "SHARED",
    "AffectiveAttribution",
    "AttributionVariation",
    "Instruments",
    "Variation",
    "WordAssociation",
    "fill",
]

#: Instruments whose wordings all stereotypes of a study share.
SHARED = ("word_association", "affective_attribution")


def fill(template: str, values: Mapping[str, str]) -> str:
    """Put values where their placeholders stand; {a_NAME} puts an indefinite article in front.

    Nothing that is put in is searched again, so braces in a word or an answer stay braces.

    Examples
    --------
    >>> fill("{a_group0} and {a_group1} student", {"group0": "Asian", "group1": "White"})
    'an Asian and a White student'
    """

    def value(match: re.Match[str]) -> str:
        name = match[1]
        if name not in values and name.removeprefix("a_") in values:
            word = values[name.removeprefix("a_")]
            return f"{'an' if word[:1].lower() in 'aeiou' else 'a'} {word}"
        return values.get(name, match[0])

    return re.sub(r"\{(\w+)\}", value, template)


def _checked(*wanted: str, optional: str = "") -> AfterValidator:
    """Hold a wording to its placeholders."""
    needed = {f"{{{name}}}" for name in wanted}
    allowed = {f"{{{optional}}}"} if optional else set()

    def check(text: str) -> str:
        found = set(re.findall(r"\{[^{}]*\}", text))
        if found - allowed != needed:
            raise ValueError(f"must hold {', '.join(sorted(needed))} and no other placeholder")
        return text

    return AfterValidator(check)


Wording = Annotated[str, _checked("group0", "group1", "attributes", optional="pair_format")]
ForcedWording = Annotated[str, _checked("group0", "group1", "attribute")]
Description = Annotated[str, _checked("group", "object")]
Attribution = Annotated[str, _checked("outcome0", "outcome1", optional="object")]


class Variation(Strict):
    """A wording of the word association; `own_words` marks one for stereotypes that override."""

    wording: Wording
    forced: ForcedWording
    """The same question about one attribute, for reading option log-probabilities."""
    opening: str = '"{attribute}" makes me think of'
    """How a forced answer is opened on models that continue one."""
    own_words: bool = False
    note: str = ""


class AttributionVariation(Strict):
    """A wording of the affective attribution: describe an object, then say what it was."""

    wording: Description
    followup: Attribution
    """The second turn of the conversation."""
    opening: str = "{object}:"
    """How a forced answer is opened on models that continue one."""
    note: str = ""


def _known(variations: Mapping[str, object], defaults: list[str]) -> None:
    for name in defaults:
        if name not in variations:
            raise ValueError(f"default_variations names {name!r}, which is not a variation")


class WordAssociation(Strict):
    """The wordings of the word association."""

    answer_format: str = ""
    """Closing sentence of the `free` mode; the other modes leave it out."""
    pair_format: str = ""
    """What stands at {pair_format} of a wording in `free` mode; the other modes leave it out."""
    label_format: str = "Answer with A or B."
    """Closing sentence of the `forced` mode where options have labels."""
    words_per_set: Annotated[int, Field(ge=1)] | None = None
    """How many tied and counter words a draw shows; None for all."""
    shared_draws: bool = False
    """Whether every wording shows the same draws, as MIST does; else each has its own."""
    default_variations: list[Name] = Field(min_length=1)
    variations: dict[Name, Variation] = Field(min_length=1)

    @model_validator(mode="after")
    def _defaults_exist(self) -> WordAssociation:
        _known(self.variations, self.default_variations)
        return self


class AffectiveAttribution(Strict):
    """The wordings of the affective attribution, and what its two outcomes are called."""

    comedy: WordList
    """The first is shown; all are read."""
    tragedy: WordList
    shared_draws: bool = False
    default_variations: list[Name] = Field(min_length=1)
    variations: dict[Name, AttributionVariation] = Field(min_length=1)

    @model_validator(mode="after")
    def _defaults_exist(self) -> AffectiveAttribution:
        _known(self.variations, self.default_variations)
        return self

    @model_validator(mode="after")
    def _apart(self) -> AffectiveAttribution:
        comedy = {word_key(word) for word in self.comedy}
        for word in self.tragedy:
            if word_key(word) in comedy:
                raise ValueError(f"word {word!r} stands in both comedy and tragedy")
        return self


class Instruments(Strict):
    """The wordings that stereotypes share, by instrument."""

    word_association: WordAssociation
    affective_attribution: AffectiveAttribution
