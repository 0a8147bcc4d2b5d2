"""Measures of the hidden states of a model: profiles, directions, association tests, relations.

A model is read once; all numbers of removed components use the same states.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from clinometer.results import ESTIMATES
from clinometer.results.schemas import Tables
from clinometer_measures.states.association import TestSetting, test_associations
from clinometer_measures.states.axes import remove_components
from clinometer_measures.states.context_properties import describe_contexts
from clinometer_measures.states.contexts import (
    InContext,
    alone,
    average_contexts,
    digest,
    in_templates,
)
from clinometer_measures.states.dictionary import Dictionary
from clinometer_measures.states.directions import predict_directions
from clinometer_measures.states.profiles import ProfileSetting, measure_profile
from clinometer_measures.states.readers.states import HiddenStates, Reader
from clinometer_measures.states.relation import MISSING, relate, trial_effects
from clinometer_measures.states.storing import read_states
from clinometer_measures.states.word_tests import WordTest
from clinometer_measures.states.words import Words

__all__ = [
    "Profiling",
    "ScoredAnswers",
    "Testing",
    "join_tables",
    "measure_states",
    "model_label",
    "stereotype_name",
]

#: A reader of contexts: a model, with or without a store.
TermReader = Callable[[pl.DataFrame], HiddenStates]


@dataclass(frozen=True)
class Profiling:
    """The profiles to measure along the dimensions of a dictionary."""

    dictionary: Dictionary
    poles: Sequence[InContext]
    """The senses of the dictionary in contexts, each kind with a measurement of its own."""
    words: Sequence[Words]
    """Sets of groups to compare, in the neutral templates."""
    extended: pl.DataFrame | None = None
    """Terms whose directions are predicted (`read_extended`)."""
    extended_contexts: Sequence[InContext] = ()
    """The extended terms in contexts, one for each kind of `poles`; empty: without context."""
    setting: ProfileSetting = field(default_factory=ProfileSetting)

    def measure(
        self, model: str, removed: Sequence[int], term_reader: TermReader
    ) -> Iterator[Tables]:
        """Measure profiles and directions in each kind of contexts, with components removed."""
        # The compared words stand in the templates, whatever the contexts of the poles.
        word_states = []
        for words in self.words:
            word_states.append(term_reader(in_templates(words.all, article=words.article)))
        for poles, term_contexts in zip(self.poles, self._contexts_per_kind(), strict=True):
            yield Tables(pl.DataFrame(schema=ESTIMATES), self._properties(poles, term_contexts))
            pole_states = term_reader(poles.frame)
            extended = term_reader(term_contexts.frame) if term_contexts else None
            for k in removed:
                source = {"model": model, "contexts": poles.kind, "removed": k}
                for words, states in zip(self.words, word_states, strict=True):
                    yield self._profile(pole_states, states, words, source)
                if self.extended is not None and extended is not None:
                    yield self._directions(pole_states, extended, self.extended, source)

    def _contexts_per_kind(self) -> Sequence[InContext | None]:
        """Give the contexts of the extended terms for each kind of contexts of the poles."""
        if self.extended is None:
            return [None] * len(self.poles)
        terms = self.extended["term"].unique(maintain_order=True)
        return self.extended_contexts or [InContext("none", alone(terms))] * len(self.poles)

    def _properties(
        self, poles: InContext, term_contexts: InContext | None
    ) -> dict[str, pl.DataFrame]:
        """Describe the contexts that were read."""
        senses = self.dictionary.senses["key"].n_unique()
        tables = [describe_contexts(poles.frame, poles.kind, "poles", senses)]
        if self.extended is not None and term_contexts is not None:
            terms = self.extended["term"].n_unique()
            tables.append(describe_contexts(term_contexts.frame, poles.kind, "held-out", terms))
        return {"state_contexts": pl.concat(tables)}

    def _profile(
        self, poles: HiddenStates, states: HiddenStates, words: Words, source: dict[str, Any]
    ) -> Tables:
        """Measure the profiles of a set of words; `source` is `of` of `measure_profile`."""
        k = source["removed"]
        averaged = average_contexts(states, words.all) if k else states
        poles, states = _remove_jointly(k, poles, states, averaged)
        profile = measure_profile(
            poles, self.dictionary, states, words, of=source, setting=self.setting
        )
        return Tables(profile.estimates, {"state_terms": profile.terms})

    def _directions(
        self,
        poles: HiddenStates,
        states: HiddenStates,
        terms: pl.DataFrame,
        source: dict[str, Any],
    ) -> Tables:
        """Predict the directions of held-out terms; `source` is `of` of `predict_directions`."""
        poles, states = _remove_jointly(source["removed"], poles, states, states)
        confidence = self.setting.confidence
        predicted = predict_directions(
            poles, self.dictionary, states, terms, of=source, confidence=confidence
        )
        return Tables(predicted.estimates, {"state_directions": predicted.terms})

    def describe(self) -> dict[str, Any]:
        """Describe what is measured, for the record; paths without their folders."""
        dictionary = self.dictionary
        facts: dict[str, Any] = {
            "dictionary": {
                "name": Path(dictionary.name).name,
                "senses": dictionary.senses["key"].n_unique(),
                "terms": dictionary.senses["term"].n_unique(),
                "dimensions": list(dictionary.dimensions),
                "sha256": digest(dictionary.senses),
            },
            "contexts": [poles.describe() for poles in self.poles],
            "words": [_describe_words(words) for words in self.words],
            "setting": asdict(self.setting),
        }
        if self.extended is not None:
            contexts = [terms.describe() for terms in self.extended_contexts]
            facts["extended"] = {
                "terms": self.extended["term"].n_unique(),
                "sha256": digest(self.extended),
                "contexts": contexts or [{"kind": "none"}],
            }
        return facts


def _describe_words(words: Words) -> dict[str, Any]:
    """Name a set of words and count those of its groups, for the record."""
    sizes = {group: len(members) for group, members in words.groups.items()}
    return {"name": words.name, "groups": sizes, "individuals": list(words.individuals)}


def _remove_jointly(
    k: int, poles: HiddenStates, states: HiddenStates, averaged: HiddenStates
) -> tuple[HiddenStates, HiddenStates]:
    """Remove components from the poles and from other states.

    The components are computed from the poles and `averaged` together, the same states with a row
    for each word: so it has the same weight, however many contexts it has.
    """
    if not k:
        return poles, states
    # A compared word may be a word of a pole as well, and keys have to differ.
    keys = (*(f"pole {key}" for key in poles.keys), *averaged.keys)
    values = np.concatenate([poles.values, averaged.values])
    counts = np.concatenate([poles.counts, averaged.counts])
    source = HiddenStates(keys, poles.layers, values, counts)
    return remove_components(poles, k, of=source), remove_components(states, k, of=source)


@dataclass(frozen=True, eq=False)
class ScoredAnswers:
    """Scored answers of models.

    `scores` has `model`, `stereotype`, `trial`, `score` and `decision`; a stereotype is named with
    its study and dimension, as in ``mist2025/African.competence``. `words` has columns TRIAL_WORDS,
    or is None if unknown. `mode` is the response mode of the answers.
    """

    scores: pl.DataFrame
    words: pl.DataFrame | None
    mode: str

    @property
    def studies(self) -> tuple[str, ...]:
        """The studies of the stereotypes."""
        studies = self.scores["stereotype"].str.split("/").list.first()
        return tuple(studies.unique(maintain_order=True))

    @property
    def missing_as(self) -> tuple[str, ...]:
        """The treatments of missing scores; only one if no score is missing."""
        return tuple(MISSING) if self.scores["score"].has_nulls() else ("left_out",)

    @property
    def groups(self) -> list[str]:
        """The group words of all trials, without duplicates."""
        return self._words("marginalized", "default")

    @property
    def attributes(self) -> list[str]:
        """The attributes of all trials, without duplicates."""
        return self._words("tied", "counter")

    @property
    def all_words(self) -> list[str]:
        """The words of all trials, without duplicates."""
        return [*dict.fromkeys([*self.groups, *self.attributes])]

    def _words(self, *columns: str) -> list[str]:
        """List the words in some columns of the trials, each once."""
        if self.words is None:
            return []
        exploded = [self.words.select(pl.col(name).explode().alias("word")) for name in columns]
        return pl.concat(exploded)["word"].unique(maintain_order=True).to_list()


def stereotype_name() -> pl.Expr:
    """Name a stereotype with its study and dimension, as in ``mist2025/African.competence``."""
    content = pl.concat_str("stereotype", "dimension", separator=".", ignore_nulls=True)
    return pl.concat_str("study", content, separator="/", ignore_nulls=True).alias("stereotype")


@dataclass(frozen=True)
class Testing:
    """The associations to test, with methods of `test_associations`."""

    __test__ = False  # the name looks like a test of pytest's

    tests: Sequence[WordTest]
    words: InContext
    """The words of the tests in contexts; for ``ceat`` each context has its own key."""
    methods: Sequence[str] = ("weat",)
    answers: ScoredAnswers | None = None
    """Scored answers to relate to the effects; `words` include the words of their trials."""
    setting: TestSetting = field(default_factory=TestSetting)

    def measure(
        self, model: str, removed: Sequence[int], term_reader: TermReader
    ) -> Iterator[Tables]:
        """Test associations and relate answers to them, for each number of removed components."""
        in_contexts = term_reader(self.words.frame)
        terms = self.words.frame["term"].unique(maintain_order=True).to_list()
        averaged = average_contexts(in_contexts, terms)
        effects = []
        for k in removed:
            source = {"model": model, "contexts": self.words.kind, "removed": k}
            reduced = remove_components(averaged, k)
            estimates: list[pl.DataFrame] = []
            for method in self.methods:
                states = reduced
                if method == "ceat":  # needs each context; the components are those of the words
                    states = remove_components(in_contexts, k, of=averaged)
                tested = test_associations(
                    states, self.tests, of=source, method=method, setting=self.setting
                )
                yield Tables(tested.estimates, {"state_tests": tested.tests})
                estimates.append(tested.estimates)
            if self.answers is not None:
                effects.append(_answer_effects(self.answers, reduced, k, estimates[0]))
        if self.answers is not None:
            yield from _relate(self.answers, pl.concat(effects), model, self.setting.confidence)

    def describe(self) -> dict[str, Any]:
        """Describe what is tested, for the record; paths without their folders."""
        counts = Counter(test.study for test in self.tests)
        setting, answers = self.setting, self.answers
        facts: dict[str, Any] = {
            "tests": [{"study": study, "tests": count} for study, count in counts.items()],
            "words_of_tests": self.words.describe(),
            "setting": {
                "methods": list(self.methods),
                "confidence": setting.confidence,
                "test_draws": setting.draws,
                "most_partitions": setting.most_partitions,
                "drawn_partitions": setting.drawn_partitions,
                "test_seed": setting.seed,
                "test_placebos": setting.placebos,
            },
        }
        if answers is not None:
            facts["relations"] = {
                "scores": answers.scores.height,
                "trials": None if answers.words is None else answers.words.height,
                "mode": answers.mode,
            }
        return facts


def _relate(
    answers: ScoredAnswers, effects: pl.DataFrame, reader: str, confidence: float
) -> Iterator[Tables]:
    """Relate the answers of the model that was read to its states; else those of every model.

    Bai et al. (2025), SI sections J and O, relate the answers of GPT-4 to the embeddings of other
    models, as GPT-4 has none that can be read. In such rows `model` names both.
    """
    models = answers.scores["model"].unique(maintain_order=True)
    for name in [reader] if reader in models else models:
        related = relate(
            answers.scores.filter(model=name),
            effects,
            missing_as=answers.missing_as,
            confidence=confidence,
        )
        model = pl.lit(name if name == reader else f"{name}, in the states of {reader}")
        fits = related.fits.with_columns(model=model)
        yield Tables(related.estimates.with_columns(model=model), {"state_fits": fits})


def _answer_effects(
    answers: ScoredAnswers, states: HiddenStates, k: int, estimates: pl.DataFrame
) -> pl.DataFrame:
    """Compute effects in the states: per prompt if its words are known, else per test.

    `estimates` are those of the first method.
    """
    if answers.words is not None:
        return trial_effects(states, answers.words, k)
    weat = estimates.filter(pl.col("measure").is_in(["weat", "seat"]), alternative="greater")
    return weat.select(stereotype_name(), "layer", "removed", "estimate")


def measure_states(
    reader: Reader,
    measurements: Iterable[Profiling | Testing],
    *,
    removed: Sequence[int] = (0,),
    store: Path | None = None,
) -> Tables:
    """Read a model and measure its profiles or associations.

    `removed` are numbers of leading components to remove; 0 leaves the states unchanged. States are
    cached in the folder `store`, if given.
    """
    term_reader = partial(read_states, reader, store=store)
    tables: list[Tables] = []
    for measurement in measurements:
        tables += measurement.measure(model_label(reader.name), removed, term_reader)
    return join_tables(tables)


def model_label(model: str) -> str:
    """Return the name of a model in tables; for a folder or a file, only its last part."""
    path = Path(model).expanduser()
    return path.resolve().name if path.exists() else model


def join_tables(parts: Iterable[Tables]) -> Tables:
    """Concatenate tables of several models or numbers of removed components.

    Rows that stand in several, as those about contexts do, are kept once.
    """
    # The empty table gives the columns where there are no parts.
    estimates = [pl.DataFrame(schema=ESTIMATES)]
    tables_by_name: dict[str, list[pl.DataFrame]] = {}
    for part in parts:
        estimates.append(part.estimates)
        for name, table in part.details.items():
            if not table.is_empty():
                tables_by_name.setdefault(name, []).append(table)
    details = {}
    for name, tables in tables_by_name.items():
        details[name] = pl.concat(tables).unique(maintain_order=True)
    return Tables(pl.concat(estimates), details)
