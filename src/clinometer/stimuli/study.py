"""The schema of study files, and the rules their words must follow.

A study is data: groups, attributes, objects and wordings. Nothing in it is evaluated; placeholders
are replaced as text, so braces in a word remain braces.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Literal

import polars as pl
from pydantic import Field, ValidationError, model_validator

from clinometer.errors import StudyError
from clinometer.stimuli.norms import NORMS, parse_norms
from clinometer.stimuli.wording import Decisions, DecisionSentences, DecisionWording, Instruments
from clinometer.stimuli.words import (
    MaybeWords,
    Name,
    Override,
    Phrases,
    Prompt,
    StereotypeWords,
    Strict,
    Word,
    WordList,
    word_key,
)

#: The control study of words that name no group.
ARBITRARY_WORDS = "control_words"

#: What a study of `Study.with_people` says of its groups.
_PEOPLE_NOTE = "Groups that {} names with one word are named as people (Clinometer's phrases)."

#: The groups of a stereotype, as its lists are called.
SIDES = ("marginalized", "default")


class Citation(Strict):
    """How to cite the study."""

    text: str = ""
    bibtex: str = ""
    url: str = ""


class Dimension(Strict):
    """A dimension of stereotype content: two sets of words that any stereotype is crossed with."""

    label: str = ""
    differs_in: str = ""
    """See `Stereotype`."""
    tied: WordList
    """The pole stereotypically tied to marginalized groups."""
    counter: WordList


class AnswerVocabulary(Strict):
    """How answers in the study's language decline, hedge, negate and name; English is known."""

    refusals: list[Word] = []
    neutral: list[Word] = []
    negations: list[Word] = []
    aliases: dict[Word, list[Word]] = {}
    """Other names of the study's words, by the word: ``koran: [quran]``."""


class Stereotype(StereotypeWords):
    """One contrast: two groups, two attribute sets (or the study's dimensions), a category."""

    label: str = ""
    category: Name = "unsorted"
    also: list[str] = []
    """Other names under which recorded answers know this stereotype."""
    differs_in: str = ""
    """The construct that its attributes differ in, such as pleasantness or danger. Positive
    controls of this construct speak for it; where none is named, all do."""
    control: Literal["", "positive", "negative", "words", "things"] = ""
    """Whether it is a control of the study's own; ``words``: arbitrary words, the null of a
    stereotype that names a group with one word; ``things``: what this word is also said of."""
    taken_from: str = ""
    """The study whose words these are, where a study asks them beside its own stereotypes."""
    control_for: str = ""
    """The stereotype that a control ``words`` or ``things`` is asked for."""
    people: Phrases | None = None
    """Its groups as people, where a group is named with one word; see `Study.with_people`."""
    things: Phrases | None = None
    """Things that its words are also said of; see `Study.with_things`."""
    source_defect: str | None = None
    variations: dict[Name, Override] = {}
    decisions: Decisions = Decisions()

    def decision(self, instrument: str, variation: str) -> DecisionWording | None:
        """Return a decision with its wording filled in; None where there is no such variation."""
        decisions = self.decisions.by_instrument()[instrument]
        decision = decisions.get(variation)
        if decision is None or decision.wording_of is None:
            return decision
        source = decisions[decision.wording_of]
        # Only relative decisions have a second prompt.
        prompts = {"wording", "followup"} & type(source).model_fields.keys()
        return decision.model_copy(update={name: getattr(source, name) for name in prompts})

    def decision_words(self, instrument: str, variation: str) -> StereotypeWords:
        """Return the groups and tasks of a decision: the association's, where it changes none."""
        decision = self.decision(instrument, variation)
        name = decision.words_of if decision is not None else None
        override = self.decisions.words.get(name or "")
        return self.words(name or "") if override is None else self._apply_override(override)

    def lists(self) -> list[StereotypeWords]:
        """Return every word list that has attributes: of its variations, and of its decisions."""
        overrides = [*self.variations.values(), *self.decisions.words.values()]
        lists = [self.words(""), *map(self._apply_override, overrides)]
        return [words for words in lists if words.tied and words.counter]

    def words(self, variation: str) -> StereotypeWords:
        """Return the word lists as `variation` shows them."""
        return self._apply_override(self.variations.get(variation, Override()))

    def _apply_override(self, override: Override) -> StereotypeWords:
        lists = {role: getattr(self, role) for role in StereotypeWords.model_fields}
        changes = {role: getattr(override, role, None) for role in lists}
        changes = {role: words for role, words in changes.items() if words is not None}
        if not changes:
            # They were checked with the stereotype, so that lists can be shared.
            return StereotypeWords.model_construct(**lists)
        return StereotypeWords(**{**lists, **changes})

    def with_groups(self, groups: Mapping[str, Sequence[str]], *, aligned: bool) -> Stereotype:
        """Return it with other groups, by side: the same attributes in all wordings, no tasks."""
        attributes_only = {
            name: override.model_copy(update=dict.fromkeys(SIDES))
            for name, override in self.variations.items()
        }
        changed = {
            **{side: [*groups[side]] for side in SIDES},
            **{"aligned": aligned, "variations": attributes_only, "decisions": Decisions()},
            **{"also": [], "people": None, "things": None},
        }
        return self.model_copy(update=changed)

    def in_phrases(self) -> dict[str, Stereotype]:
        """Return it with `people` and with `things` as its groups, by these names."""
        phrases = {"people": self.people, "things": self.things}
        return {
            name: self.with_groups(dict(groups), aligned=True)
            for name, groups in phrases.items()
            if groups
        }

    def has_one_word(self, variations: Iterable[str]) -> bool:
        """Return whether these variations name a group with one and the same word."""
        lists = [self.words(name) for name in variations]
        words = ({word for words in lists for word in getattr(words, side)} for side in SIDES)
        return any(len(side_words) == 1 for side_words in words)

    def word_keys(self) -> set[str]:
        """Return the normalised words of all its lists."""
        lists = [self.words(""), *self.lists()]
        roles = (*SIDES, "tied", "counter", "extra")
        return {
            word_key(word) for words in lists for role in roles for word in getattr(words, role)
        }

    def defect(self, variation: str) -> str | None:
        """Return the defect of the source that `variation` keeps, if any."""
        override = self.variations.get(variation)
        notes = [self.source_defect, override.source_defect if override else None]
        return " ".join(note for note in notes if note) or None

    @model_validator(mode="after")
    def _check_source(self) -> Stereotype:
        if self.taken_from and not self.control:
            raise ValueError("taken_from is of controls; leave it out, or say which control it is")
        return self

    @model_validator(mode="after")
    def _check_phrases(self) -> Stereotype:
        for field, stereotype in self.in_phrases().items():
            if not self.has_one_word([""]):
                raise ValueError(
                    f"{field}: phrases stand beside groups of one word; here both have several"
                )
            for name in ("", *self.variations):
                with _error_of_words(field):
                    StereotypeWords.model_validate(stereotype.words(name).model_dump())
        return self

    @model_validator(mode="after")
    def _check_variations(self) -> Stereotype:
        for name in self.variations:
            self.words(name)  # is checked as it is built
        for instrument, decisions in self.decisions.by_instrument().items():
            for name, decision in decisions.items():
                word_lists = {*self.decisions.words, *self.variations}
                if decision.words_of is not None and decision.words_of not in word_lists:
                    raise ValueError(
                        f"{instrument}.{name} takes the words of {decision.words_of!r}; there are "
                        f"{', '.join(sorted(word_lists)) or 'none'}"
                    )
                # Building them checks them: an error of the words is one of the stereotype.
                self.decision_words(instrument, name)
        return self


class Study(Strict):
    """A published or a user's own set of stimuli and wordings."""

    name: Name
    title: str = ""
    language: str = "en"
    citation: Citation = Citation()
    licence: str = ""
    control: Literal["", "positive", "negative"] = ""
    """For a control study: whether an association is known to be there, or known not to be."""
    deviations: list[str] = []
    columns: dict[str, str] = {}
    """Other names of columns in recorded answers, and what they are here."""
    interventions: dict[Name, Prompt] = {}
    """System prompts by name, whose effect on the answers can be measured."""
    answers: AnswerVocabulary = AnswerVocabulary()
    dimensions: dict[Name, Dimension] = {}
    """Crossed with every stereotype that has no attributes of its own."""
    objects: MaybeWords = []
    """Neutral objects of the affective attribution."""
    norms: str = ""
    """What people say of the groups: the text of a table (`norms.NORMS`), whose file a study file
    names."""
    word_study: str = ""
    """For a study of `with_people`: the one that names these groups with one word."""
    instruments: Instruments
    decision_sentences: DecisionSentences = DecisionSentences()
    stereotypes: dict[Name, Stereotype] = Field(min_length=1)

    def control_of(self, stereotype: str) -> str | None:
        """Return the kind of control that a stereotype is, its own or the study's."""
        return self.stereotypes[stereotype].control or self.control or None

    def construct_of(self, stereotype: str, dimension: str | None = None) -> str | None:
        """Return the construct of the attributes: of a dimension, or of the stereotype's own."""
        # An instrument may have dimensions that are none of the study's attributes.
        attributes = self.dimensions.get(dimension or "", self.stereotypes[stereotype])
        return attributes.differs_in or None

    def with_control(self, control: Study) -> Study:
        """Return the study with the stereotypes of a control study, for its own wordings.

        They keep their words and decisions. What other stereotypes are asked stays as it is.
        """
        lent_fields = {"variations": {}, "taken_from": control.name}
        added = {
            key: stereotype.model_copy(update={**lent_fields, "control": control.control_of(key)})
            for key, stereotype in control.stereotypes.items()
        }
        return self.model_copy(update={"stereotypes": {**self.stereotypes, **added}})

    def with_people(self) -> Study:
        """Return the study that names as people the groups that this one names with one word.

        It has the wordings of this study, its stereotypes with `people`, under the same keys and
        with the same attributes, and the controls of `with_control`.

        Raises
        ------
        StudyError
            If no stereotype has `people`.
        """
        people = {
            key: stereotype.in_phrases()["people"]
            for key, stereotype in self.stereotypes.items()
            if stereotype.people
        }
        if not people:
            raise StudyError(f"study {self.name!r}: no stereotype has people")
        controls = {
            key: stereotype
            for key, stereotype in self.stereotypes.items()
            if stereotype.taken_from and stereotype.control in ("positive", "negative")
        }
        changed = {
            **{"name": f"{self.name}_people"[:64], "word_study": self.name},
            **{"title": f"{self.title or self.name}: groups named as people"},
            **{"deviations": [*self.deviations, _PEOPLE_NOTE.format(self.name)], "norms": ""},
            **{"stereotypes": {**people, **controls}},
        }
        return self.model_copy(update=changed)

    def with_things(self, keys: Iterable[str]) -> Study:
        """Return the study with a control for each of some stereotypes that have `things`.

        It is the stereotype, asked of these.
        """
        added = {}
        for key in keys:
            stereotype = self.stereotypes[key]
            changed = {
                **{"label": f"Things: {stereotype.label or key}", "category": "control"},
                **{"control": "things", "taken_from": self.name, "control_for": key},
            }
            things = stereotype.in_phrases()["things"]
            added[things_name(key)] = things.model_copy(update=changed)
        return self.model_copy(update={"stereotypes": {**self.stereotypes, **added}})

    def with_arbitrary_words(self, keys: Sequence[str], words: Study, number: int) -> Study:
        """Return the study with a placebo for each of some stereotypes: itself, of no group.

        It has the attributes and wordings of the stereotype, and so many words a side of the only
        stereotype of `words`, which go round. Words that the stereotype has are left out.
        """
        (pool,) = words.stereotypes.values()
        added = {}
        for place, key in enumerate(keys):
            stereotype = self.stereotypes[key]
            used_keys = stereotype.word_keys()
            free = {
                side: [word for word in getattr(pool, side) if word_key(word) not in used_keys]
                for side in SIDES
            }
            groups = {
                side: _go_round(words, place * number, number) for side, words in free.items()
            }
            changed = {
                **{"label": f"{pool.label}: {stereotype.label or key}", "category": pool.category},
                **{"control": "words", "taken_from": words.name, "control_for": key},
            }
            placebo = stereotype.with_groups(groups, aligned=False)
            added[arbitrary_name(key)] = placebo.model_copy(update=changed)
        return self.model_copy(update={"stereotypes": {**self.stereotypes, **added}})

    def own(self) -> Study:
        """Return the study without the controls that it was lent, and without its things."""
        unlent = {key: words for key, words in self.stereotypes.items() if not words.taken_from}
        return self.model_copy(update={"stereotypes": unlent})

    def ratings(self) -> pl.DataFrame:
        """Return the norms: columns `norms.NORMS`, and the `stereotype` that the group is of."""
        names = tuple(_names_of_groups(self.stereotypes).items())
        return _ratings(self.norms, names)

    def __repr__(self) -> str:
        """Return a short description."""
        return f"<Study {self.name!r}: {len(self.stereotypes)} stereotypes>"

    __str__ = __repr__

    def words(
        self, stereotype: str, variation: str = "", dimension: str | None = None
    ) -> StereotypeWords:
        """Return the groups, and the attributes of a dimension or the stereotype's own."""
        words = self.stereotypes[stereotype].words(variation)
        if dimension is None:
            return words
        pole = self.dimensions[dimension]
        # All were checked together when the study was read, which takes long.
        return words.model_copy(update={"tied": pole.tied, "counter": pole.counter})

    def dimensions_of(self, stereotype: str) -> list[str | None]:
        """Return the dimensions a stereotype is crossed with: [None] where it has its own words."""
        return [None] if self.stereotypes[stereotype].tied else [*self.dimensions]

    @model_validator(mode="after")
    def _check_overrides(self) -> Study:
        if "none" in self.interventions:
            raise ValueError("interventions: 'none' is the name of asking without a system prompt")
        variations = self.instruments.word_association.variations
        for key, stereotype in self.stereotypes.items():
            for name in stereotype.variations:
                if name not in variations:
                    raise ValueError(
                        f"stereotype {key!r} changes {name!r}, which is not a variation"
                    )
        return self

    @model_validator(mode="after")
    def _check_norms(self) -> Study:
        if not self.norms:
            return self
        strange = self.ratings().filter(pl.col("stereotype").is_null())["group"]
        if not strange.is_empty():
            raise ValueError(f"norms: no stereotype has the group {strange[0][:80]!r}")
        return self

    @model_validator(mode="after")
    def _check_sentence_names(self) -> Study:
        for stereotype in self.stereotypes.values():
            for instrument, decisions in stereotype.decisions.by_instrument().items():
                sentences = getattr(self.decision_sentences, instrument, {})
                if shared := sentences.keys() & decisions.keys():
                    names = ", ".join(sorted(shared))
                    raise ValueError(f"decision_sentences: {names} is the name of a decision")
        return self

    @model_validator(mode="after")
    def _check_attributes(self) -> Study:
        for key, stereotype in self.stereotypes.items():
            if not (stereotype.tied or self.dimensions or self.objects or self.instruments.raw()):
                raise ValueError(
                    f"stereotype {key!r} has no attributes; give it tied and counter words, or "
                    "the study dimensions, objects or a part of another instrument"
                )
        return self

    @model_validator(mode="after")
    def _check_dimensions(self) -> Study:
        for key, stereotype in self.stereotypes.items():
            for dimension, pole in self.dimensions.items() if not stereotype.tied else ():
                for variation in ("", *stereotype.variations):
                    for form in (stereotype, *stereotype.in_phrases().values()):
                        with _error_of_words(f"{key} on {dimension}"):
                            _check_with_pole(form.words(variation), pole)
        return self

    @model_validator(mode="after")
    def _check_set_sizes(self) -> Study:
        words_per_set = self.instruments.word_association.words_per_set or 0
        # A stereotype without attributes is crossed with the dimensions, which are checked.
        stereotypes = {key: words for key, words in self.stereotypes.items() if words.tied}
        sets: dict[str, Stereotype | Dimension] = {**stereotypes, **self.dimensions}
        for name, poles in sets.items():
            smaller = min(len(poles.tied), len(poles.counter))
            if smaller < words_per_set:
                raise ValueError(
                    f"words_per_set {words_per_set}: {name} has a set of {smaller} words"
                )
        return self


def _check_with_pole(words: StereotypeWords, pole: Dimension) -> None:
    """Check the groups with the attributes of a dimension; raises ValidationError."""
    attributes = {"tied": pole.tied, "counter": pole.counter}
    StereotypeWords.model_validate({**words.model_dump(), **attributes})


@contextmanager
def _error_of_words(name: str) -> Iterator[None]:
    """Give the error of words that break the rules in a line, which begins with `name`."""
    try:
        yield
    except ValidationError as error:
        why = error.errors()[0]["msg"].removeprefix("Value error, ")
        raise ValueError(f"{name}: {why}") from None


def _names_of_groups(stereotypes: Mapping[str, Stereotype]) -> dict[str, str]:
    """Return the stereotypes by all that norms may call their group: key, label, words and `also`.

    Of two that share a name, the first has it.
    """
    names: dict[str, str] = {}
    for key, stereotype in stereotypes.items():
        for name in (key, stereotype.label, *stereotype.marginalized, *stereotype.also):
            names.setdefault(word_key(name), key)
    return names


@lru_cache(maxsize=8)
def _ratings(text: str, names: tuple[tuple[str, str], ...]) -> pl.DataFrame:
    """Find the stereotype of each rating; null where there is none."""
    if not text:
        return pl.DataFrame(schema={**NORMS, "stereotype": pl.String()})
    table = parse_norms(text)
    groups = table["group"].unique()
    keys = dict(names)
    key_by_group = {group: keys.get(word_key(group)) for group in groups}
    stereotype = pl.col("group").replace_strict(key_by_group, return_dtype=pl.String)
    return table.with_columns(stereotype=stereotype)


def arbitrary_name(stereotype: str) -> str:
    """Return the key of the placebo that asks arbitrary words in place of a stereotype's groups."""
    return f"words_{stereotype}"[:64]


def things_name(stereotype: str) -> str:
    """Return the key of the control that asks things in place of a stereotype's groups."""
    return f"things_{stereotype}"[:64]


def _go_round(words: Sequence[str], start: int, number: int) -> list[str]:
    """Return so many of some words from a place on, from the first again after the last."""
    return [words[(start + k) % len(words)] for k in range(min(number, len(words)))]
