"""The wordings that all stereotypes of a study share, and how words are put into them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Generic, TypeVar

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from tiltmeter.errors import StudyError
from tiltmeter.stimuli.words import Name, Strict, WordList, word_key
from tiltmeter.stimuli.yaml_text import explain

__all__ = [
    "AffectiveAttribution",
    "AttributionVariation",
    "Instruments",
    "RawPart",
    "Variation",
    "WordAssociation",
    "Wordings",
    "fill",
]

V = TypeVar("V")
M = TypeVar("M", bound=BaseModel)


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


class Wordings(Strict, Generic[V]):
    """Wordings that all stereotypes of a study share."""

    needs: ClassVar[str] = ""
    """A field of the study; without it these wordings ask nothing, and do not count in its hash."""
    shared_draws: bool = False
    """Whether every wording shows the same draws, as MIST does; else each has its own."""
    default_variations: list[Name] = Field(min_length=1)
    variations: dict[Name, V] = Field(min_length=1)

    @model_validator(mode="after")
    def _defaults_exist(self) -> Wordings[V]:
        for name in self.default_variations:
            if name not in self.variations:
                raise ValueError(f"default_variations names {name!r}, which is not a variation")
        return self


class WordAssociation(Wordings[Variation]):
    """The wordings of the word association."""

    answer_format: str = ""
    """Closing sentence of the `free` mode; the other modes leave it out."""
    pair_format: str = ""
    """What stands at {pair_format} of a wording in `free` mode; the other modes leave it out."""
    label_format: str = "Answer with A or B."
    """Closing sentence of the `forced` mode where options have labels."""
    words_per_set: Annotated[int, Field(ge=1)] | None = None
    """How many tied and counter words a draw shows; None for all."""


class AffectiveAttribution(Wordings[AttributionVariation]):
    """The wordings of the affective attribution, and what its two outcomes are called."""

    needs: ClassVar[str] = "objects"
    comedy: WordList
    """The first is shown; all are read."""
    tragedy: WordList

    @model_validator(mode="after")
    def _apart(self) -> AffectiveAttribution:
        comedy = {word_key(word) for word in self.comedy}
        for word in self.tragedy:
            if word_key(word) in comedy:
                raise ValueError(f"word {word!r} stands in both comedy and tragedy")
        return self


class RawPart(dict[str, Any]):
    """The part of an instrument that Tiltmeter does not ship, as the study file has it."""

    source: str = ""
    root: yaml.Node | None = None


class Instruments(BaseModel):
    """The wordings that stereotypes share, by instrument; see `RawPart` for those of others."""

    model_config = ConfigDict(extra="allow", frozen=True)

    word_association: WordAssociation
    affective_attribution: AffectiveAttribution

    def parts(self) -> dict[str, Any]:
        """Return every part by the name of its instrument."""
        return {name: getattr(self, name) for name in (*type(self).model_fields, *self.raw())}

    def raw(self) -> dict[str, Any]:
        """Return the parts of instruments that Tiltmeter does not ship."""
        return self.model_extra or {}

    def read(self, name: str, model: type[M]) -> M | None:
        """Check a part of an instrument that Tiltmeter does not ship.

        Parameters
        ----------
        name
            Of the instrument.
        model
            What the part may hold.

        Returns
        -------
        BaseModel or None
            None where the study has no such part.

        Raises
        ------
        StudyError
            One line per problem, each with file, line and field.
        """
        raw = self.raw().get(name)
        if raw is None:
            return None
        try:
            return model.model_validate(raw)
        except ValidationError as error:
            source, root = getattr(raw, "source", "study"), getattr(raw, "root", None)
            lines = [
                explain({**problem, "loc": ("instruments", name, *problem["loc"])}, root, source)
                for problem in error.errors()
            ]
            raise StudyError("\n".join(lines)) from None
