"""What a study file may hold, and the rules its words must keep.

A study is data: groups, attributes and wordings. Nothing in it is evaluated; placeholders are
replaced as text, so braces in a word stay braces.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

__all__ = [
    "DECISIONS",
    "Citation",
    "Decision",
    "Decisions",
    "Instrument",
    "Stereotype",
    "Study",
    "Variation",
    "Words",
    "word_key",
]

#: Instruments whose wordings belong to a stereotype, since each puts its own decision.
DECISIONS = ("relative_decision", "absolute_decision", "chained_task")

PLACEHOLDERS = {"{group0}", "{group1}", "{attributes}"}
FORCED_PLACEHOLDERS = {"{group0}", "{group1}", "{attribute}"}


def word_key(word: str) -> str:
    """Fold what does not tell two words apart: case, width, runs of spaces."""
    return " ".join(unicodedata.normalize("NFKC", word).casefold().split())


def _word(word: str) -> str:
    if not word.strip():
        raise ValueError("empty word")
    if len(word) > 80:
        raise ValueError(f"word of {len(word)} characters; at most 80 are allowed")
    if any(unicodedata.category(c).startswith("C") for c in word):
        raise ValueError(f"word {word!r} holds a control character")
    return word.strip()


def _distinct(words: list[str]) -> list[str]:
    seen: set[str] = set()
    for word in words:
        if word_key(word) in seen:
            raise ValueError(f"word {word!r} stands twice")
        seen.add(word_key(word))
    return words


def _name(name: str) -> str:
    if not re.fullmatch(r"[a-z0-9][a-z0-9_]{0,63}", name):
        raise ValueError(
            f"name {name!r}: use lower-case letters, digits and '_', with a letter or digit first"
        )
    return name


def _not_empty(text: str) -> str:
    if not text.strip():
        raise ValueError("empty; a system prompt needs some text")
    return text


def _placeholders(text: str, wanted: set[str]) -> str:
    found = set(re.findall(r"\{[^{}]*\}", text))
    if found != wanted:
        raise ValueError(f"must hold {', '.join(sorted(wanted))} and no other placeholder")
    return text


Word = Annotated[str, AfterValidator(_word)]
Words_ = Annotated[list[Word], Field(min_length=1, max_length=500), AfterValidator(_distinct)]
Name = Annotated[str, AfterValidator(_name)]
Prompt = Annotated[str, AfterValidator(_not_empty)]
Wording = Annotated[str, AfterValidator(lambda text: _placeholders(text, PLACEHOLDERS))]
ForcedWording = Annotated[
    str, AfterValidator(lambda text: _placeholders(text, FORCED_PLACEHOLDERS))
]


def _slots(text: str, needed: set[str], allowed: set[str]) -> str:
    """Check a decision's placeholders; {a_group0} is {group0} with its indefinite article."""
    if not text:
        return text
    found = set(re.findall(r"\{([^{}]*)\}", text))
    missing = needed - {name.removeprefix("a_") for name in found}
    if missing:
        raise ValueError(f"must hold {', '.join(f'{{{name}}}' for name in sorted(missing))}")
    unknown = found - allowed - {f"a_{name}" for name in allowed & (GROUPS | PAIR | SINGLE)}
    if unknown:
        known = ", ".join(f"{{{name}}}" for name in sorted(allowed))
        raise ValueError(f"placeholder {{{sorted(unknown)[0]}}} is none of {known}")
    return text


GROUPS = {"group0", "group1"}
PAIR = {"attribute0", "attribute1"}
SINGLE = {"group", "attribute"}
CHAINED = GROUPS | PAIR | {"association"}
RelativeWording = Annotated[str, AfterValidator(lambda t: _slots(t, GROUPS, GROUPS | PAIR))]
FollowUp = Annotated[
    str, AfterValidator(lambda t: _slots(t, {"response1"}, GROUPS | PAIR | {"response1"}))
]
AbsoluteWording = Annotated[
    str, AfterValidator(lambda t: _slots(t, SINGLE, SINGLE | {"association"}))
]
ChainedWording = Annotated[str, AfterValidator(lambda t: _slots(t, CHAINED, CHAINED))]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Citation(_Strict):
    """How to cite the study."""

    text: str = ""
    bibtex: str = ""
    url: str = ""


class Words(_Strict):
    """The four word lists of a stereotype, under one variation."""

    marginalized: Words_
    default: Words_
    tied: Words_
    counter: Words_
    extra: list[Word] = []
    """Words shown in the prompt that belong to neither set and are never scored."""

    @model_validator(mode="after")
    def _disjoint(self) -> Words:
        roles = ("marginalized", "default", "tied", "counter", "extra")
        seen: dict[str, str] = {}
        for role in roles:
            for word in getattr(self, role):
                other = seen.setdefault(word_key(word), role)
                if other != role:
                    raise ValueError(f"word {word!r} stands in both {other} and {role}")
        return self


class Override(_Strict):
    """What a variation changes in a stereotype's words, and which defects it keeps."""

    marginalized: Words_ | None = None
    default: Words_ | None = None
    tied: Words_ | None = None
    counter: Words_ | None = None
    extra: list[Word] | None = None
    source_defect: str | None = None


class Variation(_Strict):
    """A wording of the instrument; `own_words` marks one that needs a stereotype's override."""

    wording: Wording
    forced: ForcedWording
    """The same question about one attribute, for reading option log-probabilities."""
    opening: str = '"{attribute}" makes me think of'
    """How a forced answer is opened on models that continue one."""
    own_words: bool = False
    note: str = ""


class Instrument(_Strict):
    """The wordings of one instrument."""

    answer_format: str = ""
    """Closing sentence of the `free` mode; the other modes leave it out."""
    variations: dict[Name, Variation] = Field(min_length=1)
    default_variations: list[Name] = Field(min_length=1)

    @model_validator(mode="after")
    def _known(self) -> Instrument:
        for name in self.default_variations:
            if name not in self.variations:
                raise ValueError(f"default_variations names {name!r}, which is not a variation")
        return self


class Decision(_Strict):
    """One way of putting a decision: its wording, and which words it draws from."""

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


class Decisions(_Strict):
    """The decisions of a stereotype: word lists by name, and instrument → variation → wording."""

    words: dict[Name, Override] = {}
    relative_decision: dict[Name, RelativeDecision] = {}
    absolute_decision: dict[Name, AbsoluteDecision] = {}
    chained_task: dict[Name, ChainedTask] = {}

    @model_validator(mode="after")
    def _wordings_exist(self) -> Decisions:
        for instrument in DECISIONS:
            known = getattr(self, instrument)
            for name, decision in known.items():
                other = decision.wording_of
                if other is not None and not (other in known and known[other].wording):
                    raise ValueError(
                        f"{instrument}.{name} takes the wording of {other!r}, which has none"
                    )
        return self


class Stereotype(Words):
    """One contrast: two groups, two attribute sets, a category."""

    label: str = ""
    category: Name = "unsorted"
    also: list[str] = []
    """Other names under which recorded answers know this stereotype."""
    source_defect: str | None = None
    variations: dict[Name, Override] = {}
    decisions: Decisions = Decisions()

    def decision(self, instrument: str, variation: str) -> Decision | None:
        """Return a decision with its wording filled in; None where there is no such variation."""
        known: dict[str, Decision] = getattr(self.decisions, instrument)
        found = known.get(variation)
        if found is None or found.wording_of is None:
            return found
        taken = known[found.wording_of]
        shown = {"wording", "followup"} & type(taken).model_fields.keys()
        return found.model_copy(update={name: getattr(taken, name) for name in shown})

    def decision_words(self, instrument: str, variation: str) -> Words:
        """Return the groups and tasks of a decision: the association's, where it changes none."""
        decision = self.decision(instrument, variation)
        name = decision.words_of if decision is not None else None
        own = self.decisions.words.get(name or "")
        return self.words(name or "") if own is None else self._changed(own)

    def words(self, variation: str) -> Words:
        """Return the word lists as `variation` shows them."""
        return self._changed(self.variations.get(variation, Override()))

    def _changed(self, override: Override) -> Words:
        own = {role: getattr(self, role) for role in Words.model_fields}
        changed = {r: v for r in own if (v := getattr(override, r)) is not None}
        return Words(**{**own, **changed})

    def defect(self, variation: str) -> str | None:
        """Return the defect of the source that `variation` keeps, if any."""
        override = self.variations.get(variation)
        notes = [self.source_defect, override.source_defect if override else None]
        return " ".join(note for note in notes if note) or None

    @model_validator(mode="after")
    def _variations_hold(self) -> Stereotype:
        for name in self.variations:
            self.words(name)
        for instrument in DECISIONS:
            for name, decision in getattr(self.decisions, instrument).items():
                known = {*self.decisions.words, *self.variations}
                if decision.words_of is not None and decision.words_of not in known:
                    raise ValueError(
                        f"{instrument}.{name} takes the words of {decision.words_of!r}; there are "
                        f"{', '.join(sorted(known)) or 'none'}"
                    )
                self.decision_words(instrument, name)
        return self


class Study(_Strict):
    """A published or a user's own set of stimuli and wordings."""

    name: Name
    title: str = ""
    citation: Citation = Citation()
    licence: str = ""
    control: Literal["", "positive", "negative"] = ""
    """For a control study: whether an association is known to be there, or known not to be."""
    deviations: list[str] = []
    interventions: dict[Name, Prompt] = {}
    """System prompts by name, whose effect on the answers can be measured."""
    instruments: dict[Literal["word_association"], Instrument] = Field(min_length=1)
    stereotypes: dict[Name, Stereotype] = Field(min_length=1)

    def variations(self, instrument: str) -> dict[str, bool]:
        """Return the variations of an instrument, and whether each is asked by default."""
        if instrument in self.instruments:
            shared = self.instruments[instrument]
            return {name: name in shared.default_variations for name in shared.variations}
        if instrument not in DECISIONS:
            return {}
        asked: dict[str, bool] = {}
        for stereotype in self.stereotypes.values():
            for name, decision in getattr(stereotype.decisions, instrument).items():
                asked[name] = asked.get(name, False) or decision.by_default
        return asked

    def offers(self) -> list[str]:
        """Return the instruments of which some variation is asked by default."""
        known = ("word_association", *DECISIONS)
        return [name for name in known if any(self.variations(name).values())]

    @model_validator(mode="after")
    def _overrides_exist(self) -> Study:
        if "none" in self.interventions:
            raise ValueError("interventions: 'none' is the name of asking without a system prompt")
        known = {v for i in self.instruments.values() for v in i.variations}
        for key, stereotype in self.stereotypes.items():
            for name in stereotype.variations:
                if name not in known:
                    raise ValueError(
                        f"stereotype {key!r} changes {name!r}, which is not a variation"
                    )
        return self
