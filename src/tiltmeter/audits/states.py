"""Hidden states of a model measured: profiles, directions, association tests, relations.

A model is read once; each number of removed components is another way to read the same states.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

from tiltmeter.audits.relating import ScoredAnswers, stereotype_name
from tiltmeter.models.readers.states import Reader, States
from tiltmeter.results import ESTIMATES
from tiltmeter.states.association import TestSetting, test_associations
from tiltmeter.states.axes import remove_components
from tiltmeter.states.contexts import InContext, alone, in_templates, rows_of
from tiltmeter.states.dictionary import Dictionary
from tiltmeter.states.directions import predict_directions
from tiltmeter.states.profiles import ProfileSetting, measure_profile
from tiltmeter.states.relation import MISSING, relate, trial_effects
from tiltmeter.states.storing import read_states
from tiltmeter.states.word_tests import WordTest
from tiltmeter.states.words import Words

__all__ = ["Profiling", "StateTables", "Testing", "called", "join_tables", "measure_states"]


class StateTables(NamedTuple):
    """Columns of `results.ESTIMATES`, and details by name in `results.directory.TABLES`."""

    estimates: pl.DataFrame
    details: dict[str, pl.DataFrame]


@dataclass(frozen=True)
class Profiling:
    """Which profiles to measure.

    Parameters
    ----------
    dictionary
        The poles of the dimensions.
    poles
        Its senses in contexts.
    words
        Sets of groups that are compared, each in the neutral templates.
    extended
        Terms whose directions are to be predicted (`read_extended`); None for no prediction.
    extended_in
        Those terms in contexts; None: alone.
    setting
        Confidence, shuffles, seed.
    """

    dictionary: Dictionary
    poles: InContext
    words: Sequence[Words]
    extended: pl.DataFrame | None = None
    extended_in: InContext | None = None
    setting: ProfileSetting = field(default_factory=ProfileSetting)


@dataclass(frozen=True)
class Testing:
    """Which associations to test.

    Parameters
    ----------
    tests
        Of one or more studies.
    words
        Their words in contexts; for ``ceat`` each context has a key of its own.
    methods
        As `test_associations` knows them.
    answers
        Scored answers that are related to the effects; None for nothing. Words of their trials must
        be among `words`.
    setting
        Confidence, partitions, draws, seed.
    """

    __test__ = False

    tests: Sequence[WordTest]
    words: InContext
    methods: Sequence[str] = ("weat",)
    answers: ScoredAnswers | None = None
    setting: TestSetting = field(default_factory=TestSetting)


def measure_states(
    reader: Reader,
    profiling: Profiling | None,
    testing: Testing | None,
    *,
    removed: Sequence[int] = (0,),
    store: Path | None = None,
) -> StateTables:
    """Read a model and measure what was asked for.

    `removed` are numbers of leading components to take out; 0 leaves the states as they are.
    States are kept in the folder `store`, if any.
    """

    def states_of(contexts: pl.DataFrame) -> States:
        return read_states(reader, contexts, store)

    parts: list[StateTables] = []
    if profiling is not None:
        parts += _profiles(called(reader.name), profiling, removed, states_of)
    if testing is not None:
        parts += _associations(called(reader.name), testing, removed, states_of)
    return join_tables(parts)


def called(model: str) -> str:
    """Name a model in what is written and passed on: of a folder only its last part."""
    path = Path(model).expanduser()
    return path.resolve().name if path.is_dir() else model


def _profiles(
    model: str,
    asked: Profiling,
    removed: Sequence[int],
    states_of: Callable[[pl.DataFrame], States],
) -> Iterable[StateTables]:
    poles = states_of(asked.poles.frame)
    read = [states_of(in_templates(words.all, article=words.article)) for words in asked.words]
    extended = None
    if asked.extended is not None:
        inside = asked.extended_in
        extended = states_of(
            alone(asked.extended["term"].unique(maintain_order=True)) if inside is None
            else inside.frame
        )  # fmt: skip
    for k in removed:
        of = {"model": model, "contexts": asked.poles.kind, "removed": k}
        for words, states in zip(asked.words, read, strict=True):
            # The components are those of the words that are placed and of the poles together,
            # each word counted once however many contexts it has.
            of_all = _together(poles, _averaged(states, words.all)) if k else None
            profile = measure_profile(
                remove_components(poles, k, of=of_all),
                asked.dictionary,
                remove_components(states, k, of=of_all),
                words,
                of=of,
                setting=asked.setting,
            )
            yield StateTables(profile.estimates, {"state_terms": profile.terms})
        if extended is not None and asked.extended is not None:
            of_all = _together(poles, extended) if k else None
            predicted = predict_directions(
                remove_components(poles, k, of=of_all),
                asked.dictionary,
                remove_components(extended, k, of=of_all),
                asked.extended,
                of=of,
                confidence=asked.setting.confidence,
            )
            yield StateTables(predicted.estimates, {"state_directions": predicted.terms})


def _associations(
    model: str,
    asked: Testing,
    removed: Sequence[int],
    states_of: Callable[[pl.DataFrame], States],
) -> Iterable[StateTables]:
    apart = states_of(asked.words.frame)
    terms = asked.words.frame["term"].unique(maintain_order=True).to_list()
    whole = _averaged(apart, terms)
    for k in removed:
        of = {"model": model, "contexts": asked.words.kind, "removed": k}
        averaged = remove_components(whole, k)
        tested = [
            test_associations(
                remove_components(apart, k, of=whole) if method == "ceat" else averaged,
                asked.tests,
                of=of,
                method=method,
                setting=asked.setting,
            )
            for method in asked.methods
        ]
        yield from (StateTables(one.estimates, {"state_tests": one.tests}) for one in tested)
        if asked.answers is not None:
            yield _relations(model, k, averaged, tested[0].estimates, asked)


def _relations(
    model: str, k: int, states: States, tested: pl.DataFrame, asked: Testing
) -> StateTables:
    """Relate answers to the states of the same words, prompt by prompt where these are known."""
    answers = asked.answers
    if answers is None:
        return join_tables([])
    if answers.words is not None:
        effects = trial_effects(states, answers.words, k)
    else:
        weat = tested.filter(pl.col("measure").is_in(["weat", "seat"]), alternative="greater")
        effects = weat.select(stereotype_name(), "layer", "removed", "estimate")
    related = relate(
        answers.scores,
        effects.with_columns(model=pl.lit(model)),
        missing_as=[*MISSING] if answers.scores["score"].has_nulls() else ["left_out"],
        confidence=asked.setting.confidence,
    )
    return StateTables(related.estimates, {"state_fits": related.fits})


def _averaged(states: States, terms: Sequence[str]) -> States:
    """Average the contexts of each term."""
    rows, of = rows_of(states, terms)
    counts = np.bincount(of, weights=states.counts[rows], minlength=len(terms)).astype(np.int64)
    values = np.zeros((len(terms), *states.values.shape[1:]), dtype=np.float32)
    for at in range(len(terms)):
        mine = rows[of == at]
        weighed = states.values[mine] * states.counts[mine, None, None]
        values[at] = weighed.sum(axis=0, dtype=np.float64) / counts[at]
    return States(tuple(terms), states.layers, values, counts)


def _together(first: States, second: States) -> States:
    """Set states of different terms under each other."""
    keys = (*(f"pole {key}" for key in first.keys), *second.keys)
    values = np.concatenate([first.values, second.values])
    return States(keys, first.layers, values, np.concatenate([first.counts, second.counts]))


def join_tables(parts: Iterable[StateTables]) -> StateTables:
    """Set the tables of several ways of reading, or models, under each other; none is empty."""
    estimates, details = [pl.DataFrame(schema=ESTIMATES)], dict[str, list[pl.DataFrame]]()
    for part in parts:
        estimates.append(part.estimates)
        for name, table in part.details.items():
            if not table.is_empty():
                details.setdefault(name, []).append(table)
    return StateTables(pl.concat(estimates), {name: pl.concat(of) for name, of in details.items()})
