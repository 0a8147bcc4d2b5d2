"""Permutation tests over the partitions of words into two sets.

Reference
    Caliskan, Bryson & Narayanan (2017), Science 356, 183–186: p is the share of partitions of
    the targets into two sets of the same sizes whose statistic is at least the one found. The
    partition found is one of them, and a tie counts; so p is never 0.

Under the null it does not matter which set a word belongs to. Up to a number of partitions all
are looked at. Words are split in half, and a partition takes a subset of each half: the sums of
12,870 partitions are then outer sums of a few subsets, for all layers at once.

Above that number, partitions are drawn without replacement: random subsets of the first set's
size, drawn again until all differ from each other and from the one found. With M of them
p = (1 + those at least as large) / (M + 1).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from tiltmeter.states.word_tests import TestSetting

__all__ = ["Partitions", "permute"]

Array = NDArray[np.float64]

#: Sums closer than this are ties, relative to the largest value where that is above 1.
_TIE = 1e-12
#: Sums held at a time.
_AT_ONCE = 2_000_000


@dataclass(frozen=True, eq=False)
class Partitions:
    """One test per layer.

    Parameters
    ----------
    p, p_two_sided
        Shape (layers,).
    exact
        Whether all partitions were looked at.
    n_partitions
        How many were, the one found included.
    """

    p: Array
    p_two_sided: Array
    exact: bool
    n_partitions: int


def permute(values: Array, n_first: int, setting: TestSetting) -> Partitions:
    """Test whether the first values are larger than the others.

    Parameters
    ----------
    values
        Shape (layers, words): a number for each word.
    n_first
        How many of the words are of the first set.
    setting
        How many partitions are looked at, and the seed of drawn ones.

    Returns
    -------
    Partitions
        Two-sided: differences of means as far from 0.

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
    size = max(1, _AT_ONCE // values.shape[1])
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
        size = max(1, _AT_ONCE // (one.shape[1] * other.shape[1]))
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
    found = np.zeros((1, count), dtype=bool)
    found[0, :size] = True
    while len(found) <= wanted:
        more = np.zeros((wanted, count), dtype=bool)
        picked = rng.random((wanted, count)).argpartition(size - 1, axis=1)[:, :size]
        np.put_along_axis(more, picked, True, axis=1)
        found = np.concatenate([found, more])
        # Without sorting: the first of each stays where it was drawn.
        packed = np.packbits(found, axis=1)
        whole = np.ascontiguousarray(packed).view(np.dtype((np.void, packed.shape[1]))).ravel()
        _, first = np.unique(whole, return_index=True)
        found = found[np.sort(first)]
    return found[1 : wanted + 1]
