"""Sums of squares of the scores of stereotypes, by factor, and what they are expected to be.

Reference
    Hartley, Rao & LaMotte (1978), Biometrics 34(2), 233–242.

Measures
    With w the answers behind the scores y of a stereotype, of sum n, and C = diag(w) − ww'/n, the
    sum of squares of a factor with the levels Z is ``‖Z'Cy‖²``. Its expectation is linear in the
    components of variance: that of another factor, with the levels U, has the coefficient
    ``‖Z'CU‖²``. The last factor is the single response. All stereotypes are reckoned at once, since
    a page has many small ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clinometer.statistics.clustered import Array

__all__ = ["MOST_LEVELS", "Codes", "Part", "moments", "parts", "split"]

Codes = NDArray[np.intp]

#: Factors with more levels are counted as responses in degrees of freedom, where they matter least.
MOST_LEVELS = 150

#: Moments by a hash of weights and levels, and how many of them are kept at most.
_KEPT: dict[bytes, Array] = {}
_MOST_KEPT = 1000


@dataclass(frozen=True)
class Part:
    """The sums of squares of one stereotype's scores, and what they are made of."""

    mean: float
    size: int  # units, such as mirrored pairs
    answers: float  # answers behind them
    levels: tuple[int, ...]  # of each factor; of the last, the response, the units
    squares: Array  # (k,), sums of squared totals of deviations
    expected: Array  # (k, k), E[squares] = expected @ components
    shares: Array  # (k,), variance of the mean = shares @ components
    weights: Array  # (units,), answers by their mean
    members: tuple[Codes, ...]  # of each factor (units,), the levels numbered from 0 on
    totals: Mapping[str, tuple[Codes, Array, Array]]  # level, mean deviation, share of answers


class _Levels:
    """The levels of one factor within stereotypes, those of the first stereotype first."""

    def __init__(self, codes: Codes, of: Codes, deviations: Array, weights: Array) -> None:
        n = codes.max() + 1
        cells, self.member = np.unique(of * n + codes, return_inverse=True)
        self.of, self.codes = np.divmod(cells, n)  # (levels,)
        self.sums = np.bincount(self.member, deviations)
        self.counts = np.bincount(self.member, weights)
        self.sizes = np.bincount(self.of)  # (stereotypes,)
        self.starts = np.cumsum(self.sizes) - self.sizes

    def totals(self, sizes: Codes) -> list[tuple[Codes, Array, Array]]:
        """Return level, mean deviation and share of the answers of each stereotype."""
        n = sizes[self.of]
        columns = self.codes, self.sums / n, self.counts / n
        return list(zip(*(split(one, self.sizes) for one in columns), strict=True))


def split(values: NDArray[Any], sizes: Codes) -> list[NDArray[Any]]:
    """Split values into parts of some sizes."""
    ends = np.cumsum(sizes).tolist()
    return [values[i:j] for i, j in pairwise([0, *ends])]


def parts(
    values: Array, weights: Array, factors: Mapping[str, Codes], of: Codes | None = None
) -> list[Part]:
    """Return the sums of squares of `values`, shape (units,), by stereotype and factor.

    `weights` are the numbers of answers behind the values, `factors` their levels, as integers from
    0 on, and `of` their stereotypes, numbered in order from 0 on; by default one.
    """
    of = np.zeros(len(values), np.intp) if of is None else of
    sizes, answers = np.bincount(of), np.bincount(of, weights)
    w = weights * (sizes / answers)[of]
    means = np.bincount(of, weights * values) / answers
    deviations = w * (values - means[of])
    levels = [_Levels(codes, of, deviations, w) for codes in factors.values()]
    every = [*levels, _Levels(np.arange(len(of)), of, deviations, w)]
    squares = np.array([np.bincount(one.of, one.sums**2) for one in every]).T
    counts = np.array([np.bincount(one.of, one.counts**2) for one in every]).T
    expected, shares = _expected(every, counts, w, sizes), counts / sizes[:, None] ** 2
    own_weights = split(w, sizes)
    members = [split(one.member - one.starts[of], sizes) for one in levels]
    totals = [one.totals(sizes) for one in levels]
    return [
        Part(
            mean=float(means[s]),
            size=int(sizes[s]),
            answers=float(answers[s]),
            levels=tuple(int(one.sizes[s]) for one in every),
            squares=squares[s],
            expected=expected[s],
            shares=shares[s],
            weights=own_weights[s],
            members=tuple(one[s] for one in members),
            totals={f: one[s] for f, one in zip(factors, totals, strict=True)},
        )
        for s in range(len(sizes))
    ]


def _expected(levels: Sequence[_Levels], counts: Array, w: Array, sizes: Codes) -> Array:
    """Return the coefficients of the components in the expected sums of squares, (parts, k, k)."""
    expected = counts[:, :, None] * counts[:, None] / sizes[:, None, None] ** 2
    for f, one in enumerate(levels):
        for h, other in enumerate(levels[: f + 1]):
            n = len(other.of)
            cells, member = np.unique(one.member * n + other.member, return_inverse=True)
            rows, columns = np.divmod(cells, n)
            both, of = np.bincount(member, w), one.of[rows]
            apart = 2.0 * one.counts[rows] * other.counts[columns] / sizes[of]
            expected[:, f, h] += np.bincount(of, both * (both - apart))
            expected[:, h, f] = expected[:, f, h]
    return expected


def _products(one: Part, factors: Sequence[int]) -> Array:
    """Return Z'CZ of the levels Z of some factors, with C = W − ww'/n; (levels, levels)."""
    sizes = np.array([one.levels[f] for f in factors], np.intp)
    starts, n, k = np.cumsum(sizes) - sizes, int(sizes.sum()), len(factors)
    members = [one.members[f] + start for f, start in zip(factors, starts, strict=True)]
    places = np.array(members, np.intp).reshape(k, one.size)
    weights = np.broadcast_to(one.weights, (k, k, one.size)).ravel()
    both = np.bincount((places[:, None] * n + places).ravel(), weights, n * n).reshape(n, n)
    counts = both.diagonal()
    return np.asarray(both - np.outer(counts, counts) / one.size)


def moments(one: Part) -> Array:
    """Return K, shape (k, k, k, k): the sums of squares of normal effects have covariance c'Kc.

    `c` are the components. Factors of more than `MOST_LEVELS` levels count as responses, but for
    the variances of their own sums of squares. It depends on weights and levels alone, which scores
    share with their effects of order and their compliance, and all draws of a simulation.
    """
    design = sha256(repr(one.levels).encode())
    for array in (one.weights, *one.members):
        design.update(array.tobytes())
    if (found := _KEPT.get(design.digest())) is None:
        if len(_KEPT) >= _MOST_KEPT:
            _KEPT.clear()
        found = _KEPT[design.digest()] = _moments(one)
    return found


def _moments(one: Part) -> Array:
    k, large = len(one.levels), [f for f, n in enumerate(one.levels[:-1]) if n > MOST_LEVELS]
    small = [f for f in range(k - 1) if f not in large]
    block = np.repeat(np.eye(len(small)), [one.levels[f] for f in small], axis=0)
    direct = _products(one, small)
    paths = [*(direct[:, own] @ direct[own] for own in block.T.astype(bool)), direct]
    crossed = np.array([[block.T @ (p * q) @ block for q in paths] for p in paths])
    traces = np.array([np.diag(p) @ block for p in paths])
    found = np.zeros((k, k, len(paths), len(paths)))
    found[np.ix_(small, small)] = crossed.transpose(2, 3, 0, 1)
    for place, f in enumerate(small):
        found[f, -1, -1] = found[-1, f, -1] = traces[:, place]
        found[f, -1, :-1] = found[-1, f, :-1] = crossed[:, -1, place].T
        found[-1, -1, place] = traces[:, place]
        found[-1, -1, place, -1] += traces[-1, place]
    found[-1, -1, -1, -1] = one.size - 1
    taken = np.zeros((len(paths), k))
    taken[range(len(small)), small] = 1.0
    taken[-1, [*large, -1]] = one.shares[[*large, -1]] / one.shares[-1]
    found = taken.T @ found @ taken
    for f in large:
        found[f, f] = np.outer(one.expected[f], one.expected[f]) / (one.levels[f] - 1)
    return np.asarray(2.0 * found)
