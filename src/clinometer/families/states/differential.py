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
from scipy.special import ndtr, ndtri

from clinometer.families.states.word_tests import TestSetting

__all__ = ["Differential", "Partitions", "difference", "permute"]

Array = NDArray[np.float64]

#: Numbers held at a time while drawing words, and sums of partitions.
_AT_ONCE, _SUMS_AT_ONCE = 4_000_000, 2_000_000
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
        drawn = self._weighted([_resample(n, draws, rng) for n in self._sizes()])
        observed, acceleration = self.effect()[:, None], self._acceleration()
        below = (drawn < observed).mean(axis=1) + (drawn == observed).mean(axis=1) / 2
        bias = ndtri(np.clip(below, 0.5 / draws, 1 - 0.5 / draws))
        tails = np.array([[0.5 - confidence / 2], [0.5 + confidence / 2]])
        with np.errstate(invalid="ignore", divide="ignore"):
            shifted = bias + ndtri(tails)
            ends = ndtr(bias + shifted / (1 - acceleration * shifted))
        return np.array([list(map(_quantile, drawn, end)) for end in ends])

    @property
    def by_reference(self) -> Array:
        """The effect of each reference alone, in the unit of the effect, (layers, references).

        The effect is the mean of these over the first references minus that over the others.
        """
        n, values = self.n_items, self.associations
        change = self.products[:, :n].mean(axis=1) - self.products[:, n:].mean(axis=1)
        if not self.standardised:
            return np.asarray(change)
        spread, largest = values.std(axis=1), np.abs(values).max(axis=1)
        return _divide(change, spread[:, None], largest[:, None])

    def _sizes(self) -> tuple[int, int, int, int]:
        _, items, references = self.products.shape
        return self.n_items, items - self.n_items, self.n_references, references - self.n_references

    def _weighted(self, weights: list[Array]) -> Array:
        """Give the effect under weights of each set's words, shape (layers, draws)."""
        layers, items, references = self.products.shape
        flat = self.products.reshape(layers * items, references)
        signed = np.concatenate([weights[2], -weights[3]], axis=1)
        size = max(1, _AT_ONCE // (layers * items))
        parts = []
        for begin in range(0, len(signed), size):
            at = slice(begin, begin + size)
            associations = (flat @ signed[at].T).reshape(layers, items, -1)
            first, second = weights[0][at].T, weights[1][at].T
            one = np.einsum("lid,id->ld", associations[:, : self.n_items], first)
            other = np.einsum("lid,id->ld", associations[:, self.n_items :], second)
            if not self.standardised:
                parts.append(one - other)
                continue
            share = self.n_items / items
            pooled = np.concatenate([share * first, (1 - share) * second])
            middle = share * one + (1 - share) * other
            spread = np.einsum("lid,id->ld", (associations - middle[:, None]) ** 2, pooled)
            parts.append(_divide(one - other, np.sqrt(spread), np.abs(associations).max(axis=1)))
        return np.concatenate(parts, axis=1)

    def _acceleration(self) -> Array:
        """Give the acceleration of each layer from effects that leave out one word at a time."""
        sizes = self._sizes()
        cubes = squares = np.zeros(len(self.products))
        for place, n in enumerate(sizes):
            if n < 2:
                continue
            weights = [np.full((n, max(k, 1)), 1 / max(k, 1))[:, :k] for k in sizes]
            weights[place] = (1 - np.eye(n)) / (n - 1)
            left = self._weighted(weights)
            influence = (n - 1) * (left.mean(axis=1, keepdims=True) - left) / n
            cubes = cubes + (influence**3).sum(axis=1)
            squares = squares + (influence**2).sum(axis=1)
        return np.divide(cubes, 6 * squares**1.5, out=np.zeros_like(cubes), where=squares > 0)


def _resample(words: int, draws: int, rng: np.random.Generator) -> Array:
    """Draw as many words as there are, with replacement: a mean's weights, shape (draws, words)."""
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
    known = np.broadcast_to(spread > _FLAT * largest, means.shape)
    out = np.full(means.shape, np.nan)
    np.divide(means, spread, out=out, where=known)
    return out


def _quantile(drawn: Array, share: float) -> float:
    drawn = drawn[np.isfinite(drawn)]
    if not np.isfinite(share) or not drawn.size or drawn.min() == drawn.max():
        return float("nan")
    return float(np.quantile(drawn, share))


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
    >>> found = permute(np.array([[4.0, 3.0, 1.0, 2.0]]), 2, TestSetting())
    >>> found.p.tolist(), found.n_partitions
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
    drawn = _drawn(values.shape[1], n_first, setting.drawn_partitions, setting.seed)
    above, beyond = np.ones(len(values)), np.ones(len(values))
    size = max(1, _SUMS_AT_ONCE // values.shape[1])
    for begin in range(0, len(drawn), size):
        sums = centred @ drawn[begin : begin + size].T.astype(np.float64)
        more, further = _count(sums, observed[:, None], tie[:, None])
        above, beyond = above + more, beyond + further
    return Partitions(above / (len(drawn) + 1), beyond / (len(drawn) + 1), False, len(drawn) + 1)


def _count_all(centred: Array, n_first: int, observed: Array, tie: Array) -> tuple[Array, Array]:
    """Count the partitions at least as large, and those at least as far out, layer by layer."""
    half = centred.shape[1] // 2
    left, right = centred[:, :half], centred[:, half:]
    above, beyond = np.zeros(len(centred)), np.zeros(len(centred))
    for taken in range(max(0, n_first - right.shape[1]), min(half, n_first) + 1):
        one, other = _sums(left, taken), _sums(right, n_first - taken)
        size = max(1, _SUMS_AT_ONCE // (one.shape[1] * other.shape[1]))
        for begin in range(0, len(centred), size):
            at = slice(begin, begin + size)
            sums = (one[at, :, None] + other[at, None, :]).reshape(len(one[at]), -1)
            more, further = _count(sums, observed[at, None], tie[at, None])
            above[at] += more
            beyond[at] += further
    return above, beyond


def _count(sums: Array, observed: Array, tie: Array) -> tuple[Array, Array]:
    above = np.count_nonzero(sums >= observed - tie, axis=-1)
    beyond = np.count_nonzero(np.abs(sums) >= np.abs(observed) - tie, axis=-1)
    return above.astype(np.float64), beyond.astype(np.float64)


def _sums(values: Array, size: int) -> Array:
    """Sum all subsets of one size, shape (layers, subsets)."""
    return np.asarray(values[:, _subsets(values.shape[1], size)].sum(axis=-1), dtype=np.float64)


@lru_cache(maxsize=128)
def _subsets(count: int, size: int) -> NDArray[np.intp]:
    """List the subsets of `size` among `count`, shape (subsets, size)."""
    subsets = list(combinations(range(count), size))
    return np.array(subsets, dtype=np.intp).reshape(len(subsets), size)


@lru_cache(maxsize=4)
def _drawn(count: int, size: int, wanted: int, seed: int) -> NDArray[np.bool_]:
    """Draw distinct subsets other than the first `size`, shape (wanted, count)."""
    rng = np.random.default_rng(seed)
    subsets = np.zeros((1, count), dtype=bool)
    subsets[0, :size] = True
    while len(subsets) <= wanted:
        more = np.zeros((wanted, count), dtype=bool)
        picked = rng.random((wanted, count)).argpartition(size - 1, axis=1)[:, :size]
        np.put_along_axis(more, picked, True, axis=1)
        subsets = np.concatenate([subsets, more])
        # Without sorting: the first of each stays where it was drawn.
        packed = np.packbits(subsets, axis=1)
        whole = np.ascontiguousarray(packed).view(np.dtype((np.void, packed.shape[1]))).ravel()
        _, first = np.unique(whole, return_index=True)
        subsets = subsets[np.sort(first)]
    return subsets[1 : wanted + 1]
