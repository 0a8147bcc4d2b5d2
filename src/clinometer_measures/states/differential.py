"""Differential association: the number that WEAT, RIPA and MAC share, its interval and its test.

Items (as target words) stand beside references (as attribute words); a product, as the cosine,
says how close an item is to a reference. The association of an item is its mean product with the
first references minus that with the second. The effect is the difference of the mean association
of the first and of the second items, divided by the standard deviation (ddof 0) over all items:
−2…2, neutral 0.

Interval
    A BCa bootstrap (Efron & Tibshirani 1993, An Introduction to the Bootstrap, ch. 14) with all
    sets of words resampled, each on its own: it says how the effect would vary with other words
    like these. Few words make it wide. Resampled words are weights, so that all draws and layers
    are one product of matrices.

Test
    Caliskan, Bryson & Narayanan (2017), Science 356, 183–186: p is the share of partitions of the
    items into two sets of the same sizes whose statistic is at least the observed one. The
    observed partition is one of them, and a tie counts; so p is never 0. Up to a number of
    partitions all are enumerated. Words are split in half, and a partition takes a subset of each
    half: the sums of 12,870 partitions are then outer sums of a few subsets, for all layers at
    once. Above that number, M partitions are drawn without replacement: random subsets of the
    first set's size, drawn again until all differ from each other and from the observed one, and
    p = (1 + those at least as large) / (M + 1).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from clinometer.statistics.intervals import bca_interval
from clinometer_measures.states.word_tests import TestSetting

__all__ = ["Differential", "Partitions", "difference", "permute"]

Array = NDArray[np.float64]

#: Associations held at a time while drawing words.
_MOST_ASSOCIATIONS = 4_000_000
#: Sums of partitions held at a time.
_MOST_SUMS = 2_000_000
#: A spread this small beside the largest association is rounding.
_FLAT = 1e-12
#: Sums closer than this are ties, relative to the largest value where that is above 1.
_TIE = 1e-12


@dataclass(frozen=True, eq=False)
class Differential:
    """Products of items with references, shape (layers, items, references).

    `n_items` and `n_references` are of the first set; all references for one set without a
    contrast. The effect is in standard deviations of the items where `standardised`.
    """

    products: Array
    n_items: int
    n_references: int
    standardised: bool = True

    @property
    def associations(self) -> Array:
        """The association of each item, shape (layers, items)."""
        first = self.products[..., : self.n_references].mean(axis=-1)
        if self.n_references == self.products.shape[2]:
            return np.asarray(first)
        return np.asarray(first - self.products[..., self.n_references :].mean(axis=-1))

    def effect(self) -> Array:
        """Give the effect of each layer, shape (layers,); nan where all items are alike."""
        return difference(self.associations, self.n_items, self.standardised)

    def interval(self, confidence: float, draws: int, seed: int) -> Array:
        """Draw words with replacement, `draws` times, for the ends of the BCa interval.

        Shape (2, layers); nan where draws have no effect or do not differ.
        """
        rng = np.random.default_rng(seed)
        # Shape (layers, draws).
        effects = self._weighted_effects([_resample(n, draws, rng) for n in self._sizes()])
        return np.array(bca_interval(effects, self.effect(), self._acceleration(), confidence))

    @property
    def by_reference(self) -> Array:
        """The effect of each reference alone, in the unit of the effect, (layers, references).

        The effect is the mean of these over the first references minus that over the others.
        """
        n = self.n_items
        change = self.products[:, :n].mean(axis=1) - self.products[:, n:].mean(axis=1)
        if not self.standardised:
            return np.asarray(change)
        associations = self.associations
        spread = associations.std(axis=1)
        largest = np.abs(associations).max(axis=1)
        return _divide(change, spread[:, None], largest[:, None])

    def _sizes(self) -> tuple[int, int, int, int]:
        """Give the words of each set: first and second items, first and second references."""
        _, items, references = self.products.shape
        return self.n_items, items - self.n_items, self.n_references, references - self.n_references

    def _weighted_effects(self, weights: list[Array]) -> Array:
        """Give the effect under weights of the words, shape (layers, draws).

        `weights`: of each set of `_sizes`, shape (draws, words of the set).
        """
        layers, items, references = self.products.shape
        flat = self.products.reshape(layers * items, references)
        # One product gives the mean over the first references minus that over the second.
        signed = np.concatenate([weights[2], -weights[3]], axis=1)
        size = max(1, _MOST_ASSOCIATIONS // (layers * items))
        parts = []
        for begin in range(0, len(signed), size):
            draws = slice(begin, begin + size)
            associations = (flat @ signed[draws].T).reshape(layers, items, -1)
            first = weights[0][draws].T
            second = weights[1][draws].T
            # Letters: l layer, i item, d draw.
            first_mean = np.einsum("lid,id->ld", associations[:, : self.n_items], first)
            second_mean = np.einsum("lid,id->ld", associations[:, self.n_items :], second)
            change = first_mean - second_mean
            if not self.standardised:
                parts.append(change)
                continue
            # The spread is over all items: each set weighs by its share of them.
            share = self.n_items / items
            pooled = np.concatenate([share * first, (1 - share) * second])
            centre = share * first_mean + (1 - share) * second_mean
            variance = np.einsum("lid,id->ld", (associations - centre[:, None]) ** 2, pooled)
            parts.append(_divide(change, np.sqrt(variance), np.abs(associations).max(axis=1)))
        return np.concatenate(parts, axis=1)

    def _acceleration(self) -> Array:
        """Give the acceleration of each layer from effects that leave out one word at a time."""
        sizes = self._sizes()
        cubes = squares = np.zeros(len(self.products))
        for index, n in enumerate(sizes):
            if n < 2:  # without its only word a set has no mean
                continue
            # Equal weights for the words of the other sets; an empty set keeps shape (n, 0).
            weights = [np.full((n, max(size, 1)), 1 / max(size, 1))[:, :size] for size in sizes]
            # Row k leaves out word k of this set.
            weights[index] = (1 - np.eye(n)) / (n - 1)
            effects = self._weighted_effects(weights)
            influence = (n - 1) * (effects.mean(axis=1, keepdims=True) - effects) / n
            cubes = cubes + (influence**3).sum(axis=1)
            squares = squares + (influence**2).sum(axis=1)
        return np.divide(cubes, 6 * squares**1.5, out=np.zeros_like(cubes), where=squares > 0)


def _resample(words: int, draws: int, rng: np.random.Generator) -> Array:
    """Draw as many words as there are, with replacement.

    Gives the weights of the words in a mean, shape (draws, words).
    """
    if not words:
        return np.empty((draws, 0))
    return np.asarray(rng.multinomial(words, np.full(words, 1 / words), size=draws) / words)


def difference(associations: Array, n_first: int, standardised: bool = True) -> Array:
    """Give the mean of the first associations minus that of the others, along the last axis.

    In standard deviations over all where `standardised`; nan where they are all alike.
    """
    first, second = associations[..., :n_first], associations[..., n_first:]
    means = np.asarray(first.mean(axis=-1) - second.mean(axis=-1))
    if not standardised:
        return means
    return _divide(means, associations.std(axis=-1), np.abs(associations).max(axis=-1))


def _divide(means: Array, spread: Array, largest: Array) -> Array:
    """Divide by a spread; nan where there is none."""
    varied = np.broadcast_to(spread > _FLAT * largest, means.shape)
    quotients = np.full(means.shape, np.nan)
    np.divide(means, spread, out=quotients, where=varied)
    return quotients


@dataclass(frozen=True, eq=False)
class Partitions:
    """One test per layer: `p` and `p_two_sided` have shape (layers,).

    `exact`: all partitions were enumerated; `n_partitions`: how many were, the observed one
    included.
    """

    p: Array
    p_two_sided: Array
    exact: bool
    n_partitions: int


def permute(values: Array, n_first: int, setting: TestSetting) -> Partitions:
    """Test whether the first values are larger than the others.

    `values` has shape (layers, words), the first `n_first` words are of the first set. Two-sided:
    differences of means as far from 0.

    Examples
    --------
    >>> partitions = permute(np.array([[4.0, 3.0, 1.0, 2.0]]), 2, TestSetting())
    >>> partitions.p.tolist(), partitions.n_partitions
    ([0.16666666666666666], 6)
    """
    total = comb(values.shape[1], n_first)
    # Centred values: a subset's sum is then 0 on average, and two tails are as far from it.
    centred = values - values.mean(axis=1, keepdims=True)
    tie = _TIE * np.maximum(1.0, np.abs(values).max(axis=1))
    observed = centred[:, :n_first].sum(axis=1)
    if total <= setting.most_partitions or total - 1 <= setting.drawn_partitions:
        above, beyond = _count_all(centred, n_first, observed, tie)
        return Partitions(above / total, beyond / total, True, total)
    subsets = _draw_subsets(values.shape[1], n_first, setting.drawn_partitions, setting.seed)
    # From 1, not 0: the observed partition counts as one of them.
    above = np.ones(len(values))
    beyond = np.ones(len(values))
    size = max(1, _MOST_SUMS // values.shape[1])
    for begin in range(0, len(subsets), size):
        sums = centred @ subsets[begin : begin + size].T.astype(np.float64)
        more_above, more_beyond = _count_extreme(sums, observed[:, None], tie[:, None])
        above = above + more_above
        beyond = beyond + more_beyond
    n_partitions = len(subsets) + 1
    return Partitions(above / n_partitions, beyond / n_partitions, False, n_partitions)


def _count_all(centred: Array, n_first: int, observed: Array, tie: Array) -> tuple[Array, Array]:
    """Count the partitions at least as large, and those at least as far out, layer by layer."""
    half = centred.shape[1] // 2
    left_half, right_half = centred[:, :half], centred[:, half:]
    above = np.zeros(len(centred))
    beyond = np.zeros(len(centred))
    # A partition takes some words from the left half, and the rest of the first set from the right.
    for n_left in range(max(0, n_first - right_half.shape[1]), min(half, n_first) + 1):
        left_sums = _subset_sums(left_half, n_left)
        right_sums = _subset_sums(right_half, n_first - n_left)
        size = max(1, _MOST_SUMS // (left_sums.shape[1] * right_sums.shape[1]))
        for begin in range(0, len(centred), size):
            layers = slice(begin, begin + size)
            outer = left_sums[layers, :, None] + right_sums[layers, None, :]
            sums = outer.reshape(len(outer), -1)
            more_above, more_beyond = _count_extreme(
                sums, observed[layers, None], tie[layers, None]
            )
            above[layers] += more_above
            beyond[layers] += more_beyond
    return above, beyond


def _count_extreme(sums: Array, observed: Array, tie: Array) -> tuple[Array, Array]:
    """Count sums at least as large as the observed one, and those at least as far from 0."""
    above = np.count_nonzero(sums >= observed - tie, axis=-1)
    beyond = np.count_nonzero(np.abs(sums) >= np.abs(observed) - tie, axis=-1)
    return above.astype(np.float64), beyond.astype(np.float64)


def _subset_sums(values: Array, size: int) -> Array:
    """Sum all subsets of one size, shape (layers, subsets)."""
    return np.asarray(values[:, _subsets(values.shape[1], size)].sum(axis=-1), dtype=np.float64)


@lru_cache(maxsize=128)
def _subsets(count: int, size: int) -> NDArray[np.intp]:
    """List the subsets of `size` among `count`, shape (subsets, size)."""
    subsets = list(combinations(range(count), size))
    return np.array(subsets, dtype=np.intp).reshape(len(subsets), size)


@lru_cache(maxsize=4)
def _draw_subsets(count: int, size: int, draws: int, seed: int) -> NDArray[np.bool_]:
    """Draw distinct subsets other than the first `size`, shape (draws, count)."""
    rng = np.random.default_rng(seed)
    subsets = np.zeros((1, count), dtype=bool)
    subsets[0, :size] = True
    while len(subsets) <= draws:
        more = np.zeros((draws, count), dtype=bool)
        # The places of the smallest of random numbers are a random subset.
        members = rng.random((draws, count)).argpartition(size - 1, axis=1)[:, :size]
        np.put_along_axis(more, members, True, axis=1)
        subsets = np.concatenate([subsets, more])
        # A subset as one value of a few bytes: np.unique is much slower on rows of bits.
        packed = np.packbits(subsets, axis=1)
        codes = np.ascontiguousarray(packed).view(np.dtype((np.void, packed.shape[1]))).ravel()
        _, first = np.unique(codes, return_index=True)
        # In the order of drawing, not of the codes: sorted subsets would be no random sample.
        subsets = subsets[np.sort(first)]
    return subsets[1 : draws + 1]
