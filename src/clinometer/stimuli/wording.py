"""Wordings: shared by all stereotypes of a study, or of one stereotype's decisions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Annotated, Any, ClassVar, Generic, Literal, TypeVar

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from clinometer.stimuli.words import Name, Override, Strict, Word, WordList, word_key
from clinometer.stimuli.yaml_text import validate

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
    texts = list(_split_template(template))
    # Texts are at even places, names of placeholders at odd ones.
    for index in range(1, len(texts), 2):
        name = texts[index]
        texts[index] = values[name] if name in values else _with_article(name, values)
    return "".join(texts)


def unfill(template: str, text: str) -> dict[str, str] | None:
    """Return the values that `fill` put into a template; None if the text is not made of it.

    Values are as short as possible. A placeholder that stands twice has one value.

    Examples
    --------
    >>> unfill("{a_group0} and {a_group1} student", "an Asian and a White student")
    {'group0': 'Asian', 'group1': 'White'}
    """
    match = _unfill_pattern(template).fullmatch(text)
    return match.groupdict() if match else None


@lru_cache(maxsize=1024)
def _unfill_pattern(template: str) -> re.Pattern[str]:
    pattern = ""
    names = set[str]()
    for index, part in enumerate(_split_template(template)):
        name = part.removeprefix("a_")
        if index % 2 == 0:
            pattern += re.escape(part)
        else:
            pattern += "an? " if name != part else ""
            # A second place of the same name must have the value of the first.
            pattern += f"(?P={name})" if name in names else f"(?P<{name}>.+?)"
            names.add(name)
    return re.compile(pattern, re.DOTALL)


@lru_cache(maxsize=256)
def _split_template(template: str) -> tuple[str, ...]:
    """Return the texts of a template, and the names of placeholders between them."""
    return tuple(re.split(r"\{(\w+)\}", template))


def _with_article(name: str, values: Mapping[str, str]) -> str:
    """Return the value of a_NAME; other placeholders stay."""
    word = values.get(name.removeprefix("a_"))
    if word is None:
        return f"{{{name}}}"
    return f"{'an' if word[:1].lower() in 'aeiou' else 'a'} {word}"


PAIR = ("attribute0", "attribute1")
#: Placeholders of decisions that may stand with an article, as {a_group0}.
WITH_ARTICLE = {"group0", "group1", *PAIR, "group", "attribute"}


def holds(needed: str, optional: str = "", *, decision: bool = False) -> AfterValidator:
    """Validate the placeholders of a wording; a decision may be empty, and may have articles."""
    required = set(needed.split())
    allowed = required | set(optional.split())
    articles = {f"a_{name}": name for name in allowed & WITH_ARTICLE if decision}

    def check(text: str) -> str:
        """Return the wording if it has the placeholders that are needed, and no strange ones."""
        slots = set(re.findall(r"\{([^{}]*)\}", text))
        if strange := slots - allowed - articles.keys():
            raise ValueError(f"placeholder {_in_braces(strange)} is none of {_in_braces(allowed)}")
        missing = required - {articles.get(slot, slot) for slot in slots}
        if missing and (text or not decision):
            raise ValueError(f"must hold {_in_braces(missing)}")
        return text

    return AfterValidator(check)


def _in_braces(names: set[str]) -> str:
    return ", ".join(f"{{{name}}}" for name in sorted(names))


Wording = Annotated[str, holds("group0 group1 attributes", "pair_format")]
ForcedWording = Annotated[str, holds("group0 group1 attribute")]
Description = Annotated[str, holds("group object")]
Attribution = Annotated[str, holds("outcome0 outcome1", "object")]
RelativeWording = Annotated[str, holds("group0 group1", "attribute0 attribute1", decision=True)]
FollowUp = Annotated[str, holds("response1", "group0 group1 attribute0 attribute1", decision=True)]
AbsoluteWording = Annotated[str, holds("group attribute", "association", decision=True)]
ChainedWording = Annotated[
    str, holds("group0 group1 attribute0 attribute1 association", decision=True)
]


def _ends_in(place: str) -> AfterValidator:
    """Validate that a sentence ends in the word whose probability is read, after a space."""

    def check(text: str) -> str:
        """Return the sentence if it ends in the placeholder."""
        if not text.endswith(f" {{{place}}}") or text.count(f"{{{place}}}") > 1:
            raise ValueError(f"must end in a space and {{{place}}}, and hold it nowhere else")
        return text

    return AfterValidator(check)


Sentence = Annotated[str, holds("group attribute"), _ends_in("attribute")]
Outcome = Annotated[str, holds("group object outcome"), _ends_in("outcome")]
Clause = Annotated[str, holds("group attribute"), _ends_in("attribute")]
Framed = Annotated[str, holds("decision"), _ends_in("decision")]
Judgement = Annotated[str, holds("decision answer"), _ends_in("answer")]


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
    rotates: ClassVar[bool] = False
    """Whether pairs of group words can go round the wordings."""
    draws: Literal["own", "shared", "rotated"] = "own"
    """own: each wording draws words of its own; shared: all show the same, as MIST does; rotated:
    pairs of group words go round the wordings, so that each shows others."""
    default_variations: list[Name] = Field(min_length=1)
    variations: dict[Name, V] = Field(min_length=1)
    sentences: dict[Name, str] = {}
    """What the `likelihood` mode asks: sentences that name one group, beside the variations."""

    @model_validator(mode="after")
    def _check_draws(self) -> Wordings[V]:
        if self.draws == "rotated" and not self.rotates:
            raise ValueError("draws: rotated is of word_association; allowed are own, shared")
        return self

    @model_validator(mode="after")
    def _check_sentence_names(self) -> Wordings[V]:
        if shared := self.sentences.keys() & self.variations.keys():
            raise ValueError(f"sentences: {', '.join(sorted(shared))} is the name of a variation")
        return self

    @model_validator(mode="after")
    def _check_defaults(self) -> Wordings[V]:
        for name in self.default_variations:
            if name not in self.variations:
                raise ValueError(f"default_variations names {name!r}, which is not a variation")
        return self


class WordAssociation(Wordings[Variation]):
    """The wordings of the word association."""

    rotates: ClassVar[bool] = True
    answer_format: str = ""
    """Closing sentence of the `free` mode; the other modes leave it out."""
    pair_format: str = ""
    """What stands at {pair_format} of a wording in `free` mode; the other modes leave it out."""
    label_format: str = "Answer with A or B."
    """Closing sentence of the `forced` mode where options have labels."""
    sentences: dict[Name, Sentence] = {}
    words_per_set: Annotated[int, Field(ge=1)] | None = None
    """How many tied and counter words a draw shows; None for all."""


class AffectiveAttribution(Wordings[AttributionVariation]):
    """The wordings of the affective attribution, and what its two outcomes are called."""

    needs: ClassVar[str] = "objects"
    comedy: WordList
    """The first is shown; all are read."""
    tragedy: WordList
    sentences: dict[Name, Outcome] = {}

    @model_validator(mode="after")
    def _check_outcomes(self) -> AffectiveAttribution:
        comedy = {word_key(word) for word in self.comedy}
        for word in self.tragedy:
            if word_key(word) in comedy:
                raise ValueError(f"word {word!r} stands in both comedy and tragedy")
        return self


class RawPart(dict[str, Any]):
    """The part of a study file for an instrument that Clinometer does not ship, unchecked."""

    source: str = ""
    root: yaml.Node | None = None
    checked: BaseModel | None = None
    """What `Instruments.read` made of it last; scoring reads it for each answer."""


class Instruments(BaseModel):
    """The wordings that stereotypes share, by instrument; see `RawPart` for those of others."""

    model_config = ConfigDict(extra="allow", frozen=True)

    word_association: WordAssociation
    affective_attribution: AffectiveAttribution

    def parts(self) -> dict[str, Any]:
        """Return every part by the name of its instrument."""
        return {name: getattr(self, name) for name in (*type(self).model_fields, *self.raw())}

    def raw(self) -> dict[str, Any]:
        """Return the parts of instruments that Clinometer does not ship."""
        return self.model_extra or {}

    def read(self, name: str, model: type[M]) -> M | None:
        """Check a part of an instrument that Clinometer does not ship.

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
        checked = getattr(raw, "checked", None)
        if type(checked) is model:
            return checked
        # A study that was built in Python holds plain dicts, which know no file.
        source = getattr(raw, "source", "study")
        root = getattr(raw, "root", None)
        checked = validate(model, raw, root, source, "instruments", name)
        if isinstance(raw, RawPart):
            raw.checked = checked
        return checked


class DecisionWording(Strict):
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
    def _check_wording_source(self) -> DecisionWording:
        if self.wording and self.wording_of:
            raise ValueError("wording and wording_of: give one of them")
        return self


class RelativeDecision(DecisionWording):
    """Who gets which of two tasks; without a wording it only serves to read recorded answers."""

    wording: RelativeWording = ""
    followup: FollowUp | None = None
    """A second prompt, with the first answer pasted in at {response1}."""

    @model_validator(mode="after")
    def _check_tasks(self) -> RelativeDecision:
        if not self.wording or self.source_defect:
            return self
        prompts = self.wording + (self.followup or "")  # a task may come in the second turn
        for slot in PAIR:
            if f"{{{slot}}}" not in prompts and f"{{a_{slot}}}" not in prompts:
                raise ValueError(
                    f"must hold {{{slot}}}; where a source lost it, say so in source_defect"
                )
        return self


class AbsoluteDecision(DecisionWording):
    """Yes or no to one group and one task."""

    wording: AbsoluteWording = ""


class ChainedTask(DecisionWording):
    """Word association (at {association}), profiles and decision in one prompt."""

    wording: ChainedWording = ""


class DecisionSentences(Strict):
    """What the `likelihood` mode asks of decisions: sentences around the `clause` of each."""

    relative_decision: dict[Name, Framed] = {}
    absolute_decision: dict[Name, Judgement] = {}
    yes_no: tuple[Word, Word] = ("yes", "no")
    """What may stand at {answer}."""


class Decisions(Strict):
    """The decisions of a stereotype: word lists by name, and instrument → variation → wording.

    Their wordings belong to a stereotype, since each puts its own decision.
    """

    words: dict[Name, Override] = {}
    clause: Clause | None = None
    """What is decided, of one group and one task, about the words of the first relative decision;
    for `DecisionSentences`."""
    relative_decision: dict[Name, RelativeDecision] = {}
    absolute_decision: dict[Name, AbsoluteDecision] = {}
    chained_task: dict[Name, ChainedTask] = {}

    def by_instrument(self) -> dict[str, dict[str, DecisionWording]]:
        """Return the wordings: instrument → variation → wording."""
        fields = type(self).model_fields
        instruments = [name for name in fields if name not in ("words", "clause")]
        return {name: getattr(self, name) for name in instruments}

    @model_validator(mode="after")
    def _check_wording_sources(self) -> Decisions:
        for instrument, decisions in self.by_instrument().items():
            for name, decision in decisions.items():
                source = decision.wording_of
                if source is not None and not (source in decisions and decisions[source].wording):
                    raise ValueError(
                        f"{instrument}.{name} takes the wording of {source!r}, which has none"
                    )
        return self
