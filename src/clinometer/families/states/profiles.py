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
from clinometer.families.states.axes import Axes, build_axes
from clinometer.families.states.contexts import average_contexts, rows_of
from clinometer.families.states.dictionary import Dictionary
from clinometer.families.states.measures import MEASURES
from clinometer.families.states.placebos import shuffle_poles
from clinometer.families.states.readers.states import HiddenStates
from clinometer.families.states.tables import PROFILE_TERMS
from clinometer.families.states.words import Words
from clinometer.results import as_estimates, check
from clinometer.statistics.clustered import adjusted, benjamini_hochberg, check_confidence, holm
from clinometer.statistics.placebos import place
from clinometer.statistics.two_samples import ROUNDING, compare_groups, margin, permute_groups

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
    how = setting or ProfileSetting()
    axes = build_axes(poles, dictionary)
    coordinates = _Coordinates.of(axes, states, words)
    uneven = np.repeat(_uneven(poles, states), len(axes.labels))
    index = _index(axes, {**of, "words": words.name})
    terms = check(_terms(coordinates, words, how, index), PROFILE_TERMS, "profile")
    named = index.with_columns(subject=pl.lit(of["model"]), instrument=pl.lit("profile"))
    means = _spread(_groups(coordinates, words, how), named)
    placebos = _placebos(poles, dictionary, states, words, how) if how.placebos else None
    differences = _spread(_differences(coordinates, placebos, uneven, words, how), named)
    estimates = pl.concat([means, _adjust(differences)], how="diagonal")
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
    def of(cls, axes: Axes, states: HiddenStates, words: Words) -> _Coordinates:
        """Project the states of words and average their contexts."""
        rows, word = rows_of(states, words.all)
        projected = axes.coordinates(states, rows)
        projected = projected.reshape(-1, len(rows))
        counts = states.counts[rows]
        size = len(words.all)
        # A row may be the mean of several contexts: it weighs as many.
        member = np.zeros((len(rows), size))
        member[np.arange(len(rows)), word] = 1.0
        n_contexts = np.bincount(word, weights=counts, minlength=size)
        n_rows = np.bincount(word, minlength=size)
        raw = (projected * counts) @ member / n_contexts
        own = projected @ member / n_rows
        squares = (projected - own[:, word]) ** 2 @ member
        sd = np.sqrt(squares / np.maximum(n_rows - 1, 1))
        sd = np.where(sd > ROUNDING * np.abs(own), sd, 0.0)
        compared = raw[:, : len(words.compared)]
        scale = compared.std(axis=1, keepdims=True)
        scale[scale <= ROUNDING * np.abs(compared).max(axis=1, keepdims=True)] = np.nan
        value = (raw - compared.mean(axis=1, keepdims=True)) / scale
        n_of = (n_rows.astype(np.int64), n_contexts.astype(np.int64))
        return cls(raw, value, sd / scale, scale, *n_of)


_Part = dict[str, object]


def _groups(coordinates: _Coordinates, words: Words, how: ProfileSetting) -> Iterator[_Part]:
    for group, at in _members(words).items():
        value = coordinates.value[:, at]
        n, mean = value.shape[1], value.mean(axis=1)
        half = margin(value.std(axis=1, ddof=1), n, confidence=how.confidence)
        interval = {"ci_low": mean - half, "ci_high": mean + half, "confidence": how.confidence}
        about: _Part = {"level": "group", "group": group, "n": n}
        student = {"measure": "profile_mean", "method": "student", "estimate": mean}
        yield {**about, **student, **interval, "sd": value.std(axis=1)}
        raw = coordinates.raw[:, at].mean(axis=1)
        yield {**about, "measure": "profile_raw", "method": "descriptive", "estimate": raw}


def _placebos(
    poles: HiddenStates,
    dictionary: Dictionary,
    states: HiddenStates,
    words: Words,
    how: ProfileSetting,
) -> dict[str, Array]:
    """Give the raw mean of each group on shuffled axes, shape (layers × dimensions, draws)."""
    averaged = average_contexts(states, words.compared)
    means = np.stack([averaged.of(group).mean(axis=0) for group in words.groups.values()])
    shuffled = shuffle_poles(poles, dictionary, means, draws=how.placebos, seed=how.seed)
    of_groups = shuffled.reshape(-1, *shuffled.shape[2:]).swapaxes(0, 1)
    return dict(zip(words.groups, of_groups, strict=True))


def _differences(
    coordinates: _Coordinates,
    placebos: Mapping[str, Array] | None,
    uneven: NDArray[np.bool_],
    words: Words,
    how: ProfileSetting,
) -> Iterator[_Part]:
    members = _members(words)
    for first, second in itertools.combinations(members, 2):
        a, b = coordinates.value[:, members[first]], coordinates.value[:, members[second]]
        tested = compare_groups(a, b, confidence=how.confidence)
        shuffled = permute_groups(a, b, draws=how.draws, seed=how.seed)
        notes = [
            _CONSTANT if np.isnan(value) else _STILL if np.isnan(p) else _LONG if long else None
            for value, p, long in zip(a[:, 0], tested.p, uneven, strict=True)
        ]
        about: _Part = {"measure": "profile_difference", "level": "groups", "first": first}
        about |= {"second": second, "estimate": tested.difference, "n": a.shape[1] + b.shape[1]}
        about |= {"note": pl.Series(notes, dtype=pl.String)}
        two_sided = {**about, "alternative": "two-sided"}
        student = {"statistic": tested.t, "df": tested.df, "p": tested.p, "effect_size": tested.d}
        yield {**two_sided, "method": "published", "test": "t", **student}
        interval = {"ci_low": tested.ci_low, "ci_high": tested.ci_high}
        yield {**about, "method": "welch", **interval, "confidence": how.confidence}
        drawn = {"test": "exact" if shuffled.exact else "drawn", "p": shuffled.p}
        n_resamples = shuffled.n_permutations
        yield {**two_sided, "method": "permutation", **drawn, "n_resamples": n_resamples}
        if placebos is not None:
            drawn_differences = (placebos[first] - placebos[second]) / coordinates.scale
            placed = place(tested.difference, drawn_differences, confidence=how.confidence)
            p, mean, low, high = placed
            ends = {"placebo_mean": mean, "placebo_low": low, "placebo_high": high}
            shown = {"p": p, **ends, "confidence": how.confidence, "n_resamples": how.placebos}
            yield {**two_sided, "method": "placebo", **shown}


def _adjust(rows: pl.DataFrame) -> pl.DataFrame:
    """Adjust p, as published and of placebos, over dimensions and pairs, within a layer."""
    if rows.is_empty():  # a single group
        return rows
    family = ("layer", "space", "method")
    over = pl.lit("dimensions of the space and pairs of groups in the layer")
    p_holm, p_bh = adjusted(holm, *family), adjusted(benjamini_hochberg, *family)
    adjusts = pl.when(pl.col("method").is_in(("published", "placebo")))
    columns = {"p_holm": p_holm, "p_bh": p_bh, "adjusted_over": over}
    return rows.with_columns(adjusts.then(of).alias(name) for name, of in columns.items())


def _uneven(*of: HiddenStates) -> NDArray[np.bool_]:
    """Say in which layers, and in the mean over them, some states are far longer than most."""
    squares = np.concatenate([np.einsum("klw,klw->kl", s.values, s.values) for s in of])
    layers = squares.max(axis=0) > 100.0 * np.median(squares, axis=0)
    return np.append(layers, layers.any())


def _terms(
    coordinates: _Coordinates, words: Words, how: ProfileSetting, index: pl.DataFrame
) -> pl.DataFrame:
    """Set out the coordinates of each word at each place of `index`, which is as of `_index`."""
    value = coordinates.value
    half = margin(coordinates.spread, coordinates.n_rows, confidence=how.confidence)
    numbers = {"coordinate": value, "ci_low": value - half, "ci_high": value + half}
    numbers["raw"] = coordinates.raw
    group_of = {term: group for group, terms in words.groups.items() for term in terms}
    of_words = [(group_of.get(term), term) for term in words.all]
    named = pl.DataFrame(of_words, schema=dict.fromkeys(("group", "term"), pl.String), orient="row")
    named = named.with_columns(n_contexts=coordinates.n_contexts)
    return index.join(named, how="cross", maintain_order="left_right").with_columns(
        *(pl.Series(name, of.ravel(), nan_to_null=True) for name, of in numbers.items()),
        confidence=pl.lit(how.confidence),
    )


def _members(words: Words) -> dict[str, slice]:
    """Return where the words of each group stand."""
    ends = list(itertools.accumulate(map(len, words.groups.values()), initial=0))
    return {g: slice(*span) for g, span in zip(words.groups, itertools.pairwise(ends), strict=True)}


def _index(axes: Axes, stated: Mapping[str, object]) -> pl.DataFrame:
    """List the layers and the dimensions of each, as the coordinates have them."""
    places = [(at, *label) for at, label in itertools.product([*axes.layers, "mean"], axes.labels)]
    frame = pl.DataFrame(places, schema=["layer", "space", "dimension"], orient="row")
    return frame.with_columns(pl.lit(value).alias(name) for name, value in stated.items())


def _spread(parts: Iterable[_Part], index: pl.DataFrame) -> pl.DataFrame:
    """Set the parts, each with a number at each place of `index`, into one table."""
    places = index.with_row_index("at")
    tables = [
        places.with_columns(
            pl.Series(c, v) if isinstance(v, np.ndarray | pl.Series) else pl.lit(v).alias(c)
            for c, v in part.items()
        )
        for part in parts
    ]
    whole = pl.concat([places.clear(), *tables], how="diagonal_relaxed")
    whole = whole.sort("at", maintain_order=True).drop("at")
    return whole.with_columns(pl.selectors.float().fill_nan(None))
