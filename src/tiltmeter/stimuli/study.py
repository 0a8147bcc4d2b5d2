"""What a study file may hold, and the rules its words must keep.

A study is data: groups, attributes and wordings. Nothing in it is evaluated; placeholders are
replaced as text, so braces in a word stay braces.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

__all__ = ["Citation", "Instrument", "Stereotype", "Study", "Variation", "Words", "word_key"]

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


def _placeholders(text: str, wanted: set[str]) -> str:
    found = set(re.findall(r"\{[^{}]*\}", text))
    if found != wanted:
        raise ValueError(f"must hold {', '.join(sorted(wanted))} and no other placeholder")
    return text


Word = Annotated[str, AfterValidator(_word)]
Words_ = Annotated[list[Word], Field(min_length=1, max_length=500), AfterValidator(_distinct)]
Name = Annotated[str, AfterValidator(_name)]
Wording = Annotated[str, AfterValidator(lambda text: _placeholders(text, PLACEHOLDERS))]
ForcedWording = Annotated[
    str, AfterValidator(lambda text: _placeholders(text, FORCED_PLACEHOLDERS))
]


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


class Stereotype(Words):
    """One contrast: two groups, two attribute sets, a category."""

    label: str = ""
    category: Name = "unsorted"
    source_defect: str | None = None
    variations: dict[Name, Override] = {}

    def words(self, variation: str) -> Words:
        """Return the word lists as `variation` shows them."""
        own = {role: getattr(self, role) for role in Words.model_fields}
        override = self.variations.get(variation, Override())
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
    instruments: dict[Name, Instrument] = Field(min_length=1)
    stereotypes: dict[Name, Stereotype] = Field(min_length=1)

    @model_validator(mode="after")
    def _overrides_exist(self) -> Study:
        known = {v for i in self.instruments.values() for v in i.variations}
        for key, stereotype in self.stereotypes.items():
            for name in stereotype.variations:
                if name not in known:
                    raise ValueError(
                        f"stereotype {key!r} changes {name!r}, which is not a variation"
                    )
        return self
