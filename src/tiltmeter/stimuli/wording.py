"""Wordings: shared by all stereotypes of a study, or of one stereotype's decisions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Generic, TypeVar

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from tiltmeter.stimuli.words import Name, Override, Strict, WordList, word_key
from tiltmeter.stimuli.yaml_text import validate

__all__ = [
    "AbsoluteDecision",
    "AffectiveAttribution",
    "AttributionVariation",
    "ChainedTask",
    "Decision",
    "Decisions",
    "Instruments",
    "RawPart",
    "RelativeDecision",
    "Variation",
    "WordAssociation",
    "Wordings",
    "fill",
]

V = TypeVar("V")
M = TypeVar("M", bound=BaseModel)


def fill(template: str, values: Mapping[str, str]) -> str:
    """Replace placeholders by values; {a_NAME} adds an indefinite article.

    Inserted text is not searched again, so braces in a word or an answer remain braces.

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
    """Validate the placeholders of a wording."""
    needed = {f"{{{name}}}" for name in wanted}
    allowed = {f"{{{optional}}}"} if optional else set()

    def check(text: str) -> str:
        slots = set(re.findall(r"\{[^{}]*\}", text))
        if slots - allowed != needed:
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
    """The part of a study file for an instrument that Tiltmeter does not ship, unchecked."""

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
        source, root = getattr(raw, "source", "study"), getattr(raw, "root", None)
        return validate(model, raw, root, source, "instruments", name)


def _check_slots(text: str, needed: set[str], allowed: set[str]) -> str:
    """Check a decision's placeholders; {a_group0} is {group0} with its indefinite article."""
    if not text:
        return text
    slots = set(re.findall(r"\{([^{}]*)\}", text))
    missing = needed - {name.removeprefix("a_") for name in slots}
    if missing:
        raise ValueError(f"must hold {', '.join(f'{{{name}}}' for name in sorted(missing))}")
    unknown = slots - allowed - {f"a_{name}" for name in allowed & (GROUPS | PAIR | SINGLE)}
    if unknown:
        known = ", ".join(f"{{{name}}}" for name in sorted(allowed))
        raise ValueError(f"placeholder {{{sorted(unknown)[0]}}} is none of {known}")
    return text


GROUPS = {"group0", "group1"}
PAIR = {"attribute0", "attribute1"}
SINGLE = {"group", "attribute"}
CHAINED = GROUPS | PAIR | {"association"}
RelativeWording = Annotated[str, AfterValidator(lambda t: _check_slots(t, GROUPS, GROUPS | PAIR))]
FollowUp = Annotated[
    str, AfterValidator(lambda t: _check_slots(t, {"response1"}, GROUPS | PAIR | {"response1"}))
]
AbsoluteWording = Annotated[
    str, AfterValidator(lambda t: _check_slots(t, SINGLE, SINGLE | {"association"}))
]
ChainedWording = Annotated[str, AfterValidator(lambda t: _check_slots(t, CHAINED, CHAINED))]


class Decision(Strict):
    """A variation of a decision: its wording, and which words it draws from."""

    wording: str = ""
    wording_of: Name | None = None
    """Another variation of the same instrument, whose wording this one takes."""
    words_of: Name | None = None
    """A list of `Decisions.words`, or a variation of the word association."""
    by_default: bool = True
    source_defect: str | None = None
    note: str = ""

    @model_validator(mode="after")
    def _one_wording(self) -> Decision:
        if self.wording and self.wording_of:
            raise ValueError("wording and wording_of: give one of them")
        return self


class RelativeDecision(Decision):
    """Who gets which of two tasks; without a wording it only serves to read recorded answers."""

    wording: RelativeWording = ""
    followup: FollowUp | None = None
    """A second prompt, with the first answer pasted in at {response1}."""

    @model_validator(mode="after")
    def _both_tasks(self) -> RelativeDecision:
        asked = self.wording + (self.followup or "")
        if not self.wording or self.source_defect:
            return self
        for slot in sorted(PAIR):
            if f"{{{slot}}}" not in asked and f"{{a_{slot}}}" not in asked:
                raise ValueError(
                    f"must hold {{{slot}}}; where a source lost it, say so in source_defect"
                )
        return self


class AbsoluteDecision(Decision):
    """Yes or no to one group and one task."""

    wording: AbsoluteWording = ""


class ChainedTask(Decision):
    """Word association (at {association}), profiles and decision in one prompt."""

    wording: ChainedWording = ""


class Decisions(Strict):
    """The decisions of a stereotype: word lists by name, and instrument → variation → wording.

    Their wordings belong to a stereotype, since each puts its own decision.
    """

    words: dict[Name, Override] = {}
    relative_decision: dict[Name, RelativeDecision] = {}
    absolute_decision: dict[Name, AbsoluteDecision] = {}
    chained_task: dict[Name, ChainedTask] = {}

    def by_instrument(self) -> dict[str, dict[str, Decision]]:
        """Return the wordings: instrument → variation → wording."""
        return {name: getattr(self, name) for name in type(self).model_fields if name != "words"}

    @model_validator(mode="after")
    def _wordings_exist(self) -> Decisions:
        for instrument, known in self.by_instrument().items():
            for name, decision in known.items():
                other = decision.wording_of
                if other is not None and not (other in known and known[other].wording):
                    raise ValueError(
                        f"{instrument}.{name} takes the wording of {other!r}, which has none"
                    )
        return self
