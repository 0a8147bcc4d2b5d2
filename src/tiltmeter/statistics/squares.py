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
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tiltmeter.statistics.clustered import Array

__all__ = ["Codes", "Part", "parts", "split"]

Codes = NDArray[np.intp]


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
