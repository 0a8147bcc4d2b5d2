"""Stereotype profiles: where groups of words stand on stereotype dimensions, in each layer.

Reference: Schuster et al. 2024, "Profiling Bias in LLMs: Stereotype Dimensions in Contextual Word
Embeddings", section 3.3. The coordinates of a word (`axes`) are standardised over the words of all
compared groups (mean 0, standard deviation 1 with n), layer by layer and for the mean of the raw
coordinates over layers; groups are compared with Student's t test.
Measures: `profile_mean`, a mean per group, in standard deviations, neutral 0; `profile_raw`, the
same before standardisation; and `profile_difference` of two groups, neutral 0, close to −2…2.
Higher is nearer the high pole (warm, competent); which group that favours is for the reader to say.
Methods: of means ``student``; of differences ``published`` (Student's t test, equal variances),
``welch`` (the interval), ``permutation`` (which group a word is of, shuffled) and ``placebo``
(which pole a word of the dictionary is of, shuffled; see `placebos`). A claim about a dimension
rests on the last: the others say that groups differ, which they do on axes without meaning too.

Beyond the source: intervals of means and of differences, Holm and Benjamini–Hochberg over the
dimensions of a space and the pairs of groups in a layer, a test that shuffles which group a word is
of, any number of groups, and words that stand for themselves: they are measured in the groups'
units, with an interval over their contexts. Such an interval says how much the wording of a context
moves the word. In a causal model "X is here" and "X is there" give X one state, so it is a
little narrow there.

Where all words have one coordinate, or those of both groups do not vary, numbers are null and a
note says so. A note also tells where some states are more than 10 times as long as most. Causal
models hold such states at the first token of a text (Xiao et al. 2024, ICLR, "attention sinks"),
which is the word's own where its context begins with it and the tokenizer sets no mark before it.
They dominate every mean, and groups then differ by how many tokens their words have: leave such
contexts out (`in_templates` with `leading` false), for poles as for words.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from clinometer.errors import InputError
from clinometer.results import as_estimates, check
from clinometer.statistics.clustered import adjusted, benjamini_hochberg, check_confidence, holm
from clinometer.statistics.placebos import place
from clinometer_measures.states.axes import Axes, build_axes
from clinometer_measures.states.contexts import average_contexts, rows_of
from clinometer_measures.states.dictionary import Dictionary
from clinometer_measures.states.measures import MEASURES
from clinometer_measures.states.placebos import shuffle_poles
from clinometer_measures.states.readers.states import HiddenStates
from clinometer_measures.states.tables import PROFILE_TERMS
from clinometer_measures.states.two_groups import ROUNDING, compare_groups, margin, permute_groups
from clinometer_measures.states.words import Words

__all__ = ["Profile", "ProfileSetting", "measure_profile"]

Array = NDArray[np.float64]

#: With fewer placebos p cannot be small with certainty.
FEWEST = 199

_CONSTANT = "all words have one coordinate"
_STILL = "no variance within groups"
_LONG = "some states are over 10 times as long as most: terms that begin a context"


@dataclass(frozen=True)
class ProfileSetting:
    """How sure, and how many shuffles.

    Parameters
    ----------
    confidence
        Of all intervals, 0…1.
    draws
        Shuffles of the permutation test, where not all are tried (up to 100,000 are).
    seed
        For drawing them.
    placebos
        Shuffles of the labels of each dimension's poles (see `placebos`); 0 for none.
    """

    confidence: float = 0.95
    draws: int = 10_000
    seed: int = 0
    placebos: int = 999

    def __post_init__(self) -> None:
        """Refuse values that mean nothing."""
        check_confidence(self.confidence)
        if self.draws < 1:
            raise InputError(f"draws {self.draws}: at least 1; 10000 is usual")
        if self.placebos and self.placebos < FEWEST:
            raise InputError(f"placebos {self.placebos}: at least {FEWEST}, or 0 for none")


class Profile(NamedTuple):
    """Columns of `results.ESTIMATES`, and of PROFILE_TERMS, the words behind them."""

    estimates: pl.DataFrame
    terms: pl.DataFrame


def measure_profile(
    poles: HiddenStates,
    dictionary: Dictionary,
    states: HiddenStates,
    words: Words,
    *,
    of: Mapping[str, object],
    setting: ProfileSetting | None = None,
) -> Profile:
    """Measure the profiles of groups of words, and compare them.

    Parameters
    ----------
    poles
        States of the dictionary's senses.
    dictionary
        The poles of the dimensions.
    states
        States of the words, apart by context (``Mary|3``, see `contexts.in_templates`) or not.
    words
        Groups that are compared, and individuals.
    of
        `model`, `contexts` and `removed`, which stand in every row.
    setting
        Confidence, shuffles, seed.

    Returns
    -------
    Profile

    Raises
    ------
    InputError
        If a word has no state, a pole none either, or the two kinds of states do not fit.
    """
    setting = setting or ProfileSetting()
    axes = build_axes(poles, dictionary)
    coordinates = _Coordinates.project(axes, states, words)
    # Per layer, and so the same for all dimensions of one.
    uneven = np.repeat(_uneven_layers(poles, states), len(axes.labels))
    index = _index_rows(axes, {**of, "words": words.name})
    terms = check(_word_rows(coordinates, words, setting, index), PROFILE_TERMS, "profile")
    index = index.with_columns(subject=pl.lit(of["model"]), instrument=pl.lit("profile"))
    means = _table_of_parts(_group_parts(coordinates, words, setting), index)
    placebos = None
    if setting.placebos:
        placebos = _placebo_means(poles, dictionary, states, words, setting)
    parts = _difference_parts(coordinates, placebos, uneven, words, setting)
    differences = _adjust(_table_of_parts(parts, index))
    estimates = pl.concat([means, differences], how="diagonal")
    return Profile(as_estimates(estimates, MEASURES, "states"), terms)


@dataclass(frozen=True, eq=False)
class _Coordinates:
    """Coordinates of words; a row per layer and dimension, a column per word."""

    raw: Array
    value: Array  # standardised over the compared words; nan where these do not vary
    spread: Array  # of value over contexts
    scale: Array  # standard deviation of the compared words, shape (layers × dimensions, 1)
    n_rows: NDArray[np.int64]  # contexts with a row of their own, per word
    n_contexts: NDArray[np.int64]  # per word

    @classmethod
    def project(cls, axes: Axes, states: HiddenStates, words: Words) -> _Coordinates:
        """Project the states of words and average their contexts."""
        rows, word_of_row = rows_of(states, words.all)
        projected = axes.coordinates(states, rows)
        projected = projected.reshape(-1, len(rows))  # (layers × dimensions, rows)
        counts = states.counts[rows]
        size = len(words.all)
        # A product with this matrix, (rows, words), sums the rows of each word.
        member = np.zeros((len(rows), size))
        member[np.arange(len(rows)), word_of_row] = 1.0
        n_contexts = np.bincount(word_of_row, weights=counts, minlength=size)
        n_rows = np.bincount(word_of_row, minlength=size)
        # A row may be the mean of several contexts: it weighs as many.
        raw = (projected * counts) @ member / n_contexts
        row_mean = projected @ member / n_rows
        squares = (projected - row_mean[:, word_of_row]) ** 2 @ member
        sd = np.sqrt(squares / np.maximum(n_rows - 1, 1))
        # Equal contexts differ by rounding; a spread that small is none.
        sd = np.where(sd > ROUNDING * np.abs(row_mean), sd, 0.0)
        compared = raw[:, : len(words.compared)]
        scale = compared.std(axis=1, keepdims=True)
        scale[scale <= ROUNDING * np.abs(compared).max(axis=1, keepdims=True)] = np.nan
        return cls(
            raw=raw,
            value=(raw - compared.mean(axis=1, keepdims=True)) / scale,
            spread=sd / scale,
            scale=scale,
            n_rows=n_rows.astype(np.int64),
            n_contexts=n_contexts.astype(np.int64),
        )


#: Column → its value in all rows of an estimate, or one for each layer and dimension.
_Part = dict[str, object]


def _group_parts(
    coordinates: _Coordinates, words: Words, setting: ProfileSetting
) -> Iterator[_Part]:
    """Give the means of each group, standardised and raw."""
    for group, members in _members(words).items():
        value = coordinates.value[:, members]
        n = value.shape[1]
        mean = value.mean(axis=1)
        half = margin(value.std(axis=1, ddof=1), n, confidence=setting.confidence)
        part: _Part = {"level": "group", "group": group, "n": n}
        interval = {"ci_low": mean - half, "ci_high": mean + half, "confidence": setting.confidence}
        student = {"measure": "profile_mean", "method": "student", "estimate": mean}
        # The interval takes the spread with n − 1; `sd` is in the unit of the coordinates, with n.
        yield {**part, **student, **interval, "sd": value.std(axis=1)}
        raw = coordinates.raw[:, members].mean(axis=1)
        yield {**part, "measure": "profile_raw", "method": "descriptive", "estimate": raw}


def _placebo_means(
    poles: HiddenStates,
    dictionary: Dictionary,
    states: HiddenStates,
    words: Words,
    setting: ProfileSetting,
) -> dict[str, Array]:
    """Give the raw mean of each group on shuffled axes, shape (layers × dimensions, draws)."""
    averaged = average_contexts(states, words.compared)
    # Projection is linear: the mean of a group's states has the mean of their coordinates.
    means = np.stack([averaged.of(group).mean(axis=0) for group in words.groups.values()])
    shuffled = shuffle_poles(poles, dictionary, means, draws=setting.placebos, seed=setting.seed)
    # (layers, dimensions, groups, draws) → (groups, layers × dimensions, draws).
    by_group = shuffled.reshape(-1, *shuffled.shape[2:]).swapaxes(0, 1)
    return dict(zip(words.groups, by_group, strict=True))


def _difference_parts(
    coordinates: _Coordinates,
    placebos: Mapping[str, Array] | None,
    uneven: NDArray[np.bool_],
    words: Words,
    setting: ProfileSetting,
) -> Iterator[_Part]:
    """Compare each pair of groups, with a part for each method."""
    members = _members(words)
    confidence = setting.confidence
    for first, second in itertools.combinations(members, 2):
        a, b = coordinates.value[:, members[first]], coordinates.value[:, members[second]]
        t_test = compare_groups(a, b, confidence=confidence)
        permutations = permute_groups(a, b, draws=setting.draws, seed=setting.seed)
        notes = [
            _note(value, p, is_uneven)
            for value, p, is_uneven in zip(a[:, 0], t_test.p, uneven, strict=True)
        ]
        part: _Part = {"measure": "profile_difference", "level": "groups", "first": first}
        part |= {"second": second, "estimate": t_test.difference, "n": a.shape[1] + b.shape[1]}
        part |= {"note": pl.Series(notes, dtype=pl.String)}
        two_sided = {**part, "alternative": "two-sided"}
        student = {"statistic": t_test.t, "df": t_test.df, "p": t_test.p, "effect_size": t_test.d}
        yield {**two_sided, "method": "published", "test": "t", **student}
        interval = {"ci_low": t_test.ci_low, "ci_high": t_test.ci_high, "confidence": confidence}
        yield {**part, "method": "welch", **interval}
        test = {"test": "exact" if permutations.exact else "drawn", "p": permutations.p}
        n_resamples = permutations.n_permutations
        yield {**two_sided, "method": "permutation", **test, "n_resamples": n_resamples}
        if placebos is not None:
            # In the unit of the axes as labelled, see `placebos`.
            placebo_differences = (placebos[first] - placebos[second]) / coordinates.scale
            p, mean, low, high = place(
                t_test.difference, placebo_differences, confidence=confidence
            )
            rank: _Part = {"p": p, "placebo_mean": mean, "placebo_low": low, "placebo_high": high}
            rank |= {"confidence": confidence, "n_resamples": setting.placebos}
            yield {**two_sided, "method": "placebo", **rank}


def _note(value: float, p: float, is_uneven: bool) -> str | None:
    """Say why a difference has no number, or of what states it is; None if there is no more to say.

    `value` is any coordinate there: all are nan where the compared words do not vary.
    """
    if np.isnan(value):
        return _CONSTANT
    if np.isnan(p):
        return _STILL
    return _LONG if is_uneven else None


def _adjust(rows: pl.DataFrame) -> pl.DataFrame:
    """Adjust p, as published and of placebos, over dimensions and pairs, within a layer."""
    if rows.is_empty():  # a single group
        return rows
    family = ("layer", "space", "method")
    columns = {
        "p_holm": adjusted(holm, *family),
        "p_bh": adjusted(benjamini_hochberg, *family),
        "adjusted_over": pl.lit("dimensions of the space and pairs of groups in the layer"),
    }
    adjusts = pl.when(pl.col("method").is_in(("published", "placebo")))
    return rows.with_columns(adjusts.then(value).alias(name) for name, value in columns.items())


def _uneven_layers(poles: HiddenStates, states: HiddenStates) -> NDArray[np.bool_]:
    """Say in which layers, and in the mean over them, some states are far longer than most.

    Shape (layers + 1,).
    """
    # Squared lengths, (keys, layers): 10 times as long is 100 times as large here.
    pole_squares = np.einsum("klw,klw->kl", poles.values, poles.values)
    word_squares = np.einsum("klw,klw->kl", states.values, states.values)
    squares = np.concatenate([pole_squares, word_squares])
    layers = squares.max(axis=0) > 100.0 * np.median(squares, axis=0)
    return np.append(layers, layers.any())


def _word_rows(
    coordinates: _Coordinates, words: Words, setting: ProfileSetting, index: pl.DataFrame
) -> pl.DataFrame:
    """Set out the coordinates of each word at each row of `index`, which is as of `_index_rows`."""
    value = coordinates.value
    half = margin(coordinates.spread, coordinates.n_rows, confidence=setting.confidence)
    numbers = {"coordinate": value, "ci_low": value - half, "ci_high": value + half}
    numbers["raw"] = coordinates.raw
    group_by_term = {term: group for group, terms in words.groups.items() for term in terms}
    pairs = [(group_by_term.get(term), term) for term in words.all]
    schema = dict.fromkeys(("group", "term"), pl.String)
    terms = pl.DataFrame(pairs, schema=schema, orient="row")
    terms = terms.with_columns(n_contexts=coordinates.n_contexts)
    # The order of the cross join is that of the raveled arrays: word by word within an index row.
    return index.join(terms, how="cross", maintain_order="left_right").with_columns(
        *(pl.Series(name, array.ravel(), nan_to_null=True) for name, array in numbers.items()),
        confidence=pl.lit(setting.confidence),
    )


def _members(words: Words) -> dict[str, slice]:
    """Return the columns of each group's words."""
    members = {}
    start = 0
    for group, group_words in words.groups.items():
        members[group] = slice(start, start + len(group_words))
        start += len(group_words)
    return members


def _index_rows(axes: Axes, columns: Mapping[str, object]) -> pl.DataFrame:
    """List the layers and the dimensions of each, as the coordinates have them.

    `columns` have the same value in all rows.
    """
    rows = []
    for layer in [*axes.layers, "mean"]:
        rows += [(layer, space, dimension) for space, dimension in axes.labels]
    frame = pl.DataFrame(rows, schema=["layer", "space", "dimension"], orient="row")
    return frame.with_columns(pl.lit(value).alias(name) for name, value in columns.items())


def _table_of_parts(parts: Iterable[_Part], index: pl.DataFrame) -> pl.DataFrame:
    """Make one table of parts, each of which has a number for each row of `index`."""
    numbered = index.with_row_index("index_row")
    tables = []
    for part in parts:
        columns: list[pl.Series | pl.Expr] = []
        for name, value in part.items():
            if isinstance(value, np.ndarray | pl.Series):
                columns.append(pl.Series(name, value))
            else:
                columns.append(pl.lit(value).alias(name))
        tables.append(numbered.with_columns(columns))
    # The empty table first: it gives the columns where there are no parts.
    table = pl.concat([numbered.clear(), *tables], how="diagonal_relaxed")
    # Row by row of the index, the parts of one together and in their order.
    table = table.sort("index_row", maintain_order=True).drop("index_row")
    return table.with_columns(pl.selectors.float().fill_nan(None))
