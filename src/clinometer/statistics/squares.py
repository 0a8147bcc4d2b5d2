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

__all__ = ["MOST_LEVELS", "Codes", "StratumSquares", "moments", "stratum_squares", "split"]

Codes = NDArray[np.intp]

#: Factors with more levels are counted as responses in degrees of freedom, where they matter least.
MOST_LEVELS = 150

#: Moments by a hash of weights and levels, and how many of them are kept at most.
_MOMENTS: dict[bytes, Array] = {}
_MOST_MOMENTS = 1000


@dataclass(frozen=True)
class StratumSquares:
    """The sums of squares of one stereotype's scores, and what they are made of.

    A stratum may also be one wording of a stereotype. Factors stand in the order of `totals`, with
    the single response last.
    """

    mean: float
    size: int  # units, such as mirrored pairs
    answers: float  # answers behind them
    levels: tuple[int, ...]  # of each factor; of the last, the response, the units
    observed: Array  # (k,), sums of squared totals of deviations
    expected: Array  # (k, k), E[squares] = expected @ components
    shares: Array  # (k,), variance of the mean = shares @ components
    weights: Array  # (units,), answers by their mean
    members: tuple[Codes, ...]  # of each factor (units,), the levels from 0 on; −1: none
    totals: Mapping[str, tuple[Codes, Array, Array]]  # level, mean deviation, share of answers


class _Levels:
    """The levels of one factor within stereotypes, those of the first stereotype first.

    A unit with a negative code has no level of the factor, as a person of one group has no word of
    the other.
    """

    def __init__(self, codes: Codes, strata: Codes, deviations: Array, weights: Array) -> None:
        n = codes.max() + 1
        has = codes >= 0
        # A number for each stereotype with a level, which sorts by the stereotype first.
        cells, member = np.unique(strata[has] * n + codes[has], return_inverse=True)
        self.strata, self.codes = np.divmod(cells, n)  # (levels,)
        self.sums = np.bincount(member, deviations[has])
        self.counts = np.bincount(member, weights[has])
        self.sizes = np.bincount(self.strata)  # (stereotypes,)
        self.starts = np.cumsum(self.sizes) - self.sizes
        self.member = np.full(len(codes), -1)
        self.member[has] = member

    def within(self, strata: Codes) -> Codes:
        """Return the level of each unit, numbered within its stereotype; −1 if it has none."""
        return np.where(self.member < 0, -1, self.member - self.starts[strata])

    def totals(self, sizes: Codes) -> list[tuple[Codes, Array, Array]]:
        """Return level, mean deviation and share of the answers of each stereotype."""
        n = sizes[self.strata]
        columns = self.codes, self.sums / n, self.counts / n
        return list(zip(*(split(column, self.sizes) for column in columns), strict=True))


def split(values: NDArray[Any], sizes: Codes) -> list[NDArray[Any]]:
    """Split values into parts of some sizes."""
    ends = np.cumsum(sizes).tolist()
    return [values[i:j] for i, j in pairwise([0, *ends])]


def stratum_squares(
    values: Array, weights: Array, factors: Mapping[str, Codes], strata: Codes | None = None
) -> list[StratumSquares]:
    """Return the sums of squares of `values`, shape (units,), by stereotype and factor.

    `weights` are the numbers of answers behind the values, `factors` their levels, as integers from
    0 on, or −1 for units without one, and `strata` their stereotypes, numbered in order from 0 on;
    by default one.
    """
    strata = np.zeros(len(values), np.intp) if strata is None else strata
    sizes, answers = np.bincount(strata), np.bincount(strata, weights)
    relative = weights * (sizes / answers)[strata]
    means = np.bincount(strata, weights * values) / answers
    deviations = relative * (values - means[strata])
    crossed = [_Levels(codes, strata, deviations, relative) for codes in factors.values()]
    # Each unit is a level of its own of the response, the last factor.
    factor_levels = [*crossed, _Levels(np.arange(len(strata)), strata, deviations, relative)]
    observed = np.array([np.bincount(f.strata, f.sums**2) for f in factor_levels]).T
    counts = np.array([np.bincount(f.strata, f.counts**2) for f in factor_levels]).T
    expected = _expected(factor_levels, counts, relative, sizes)
    shares = counts / sizes[:, None] ** 2
    unit_weights = split(relative, sizes)
    # Both are transposed: by factor and stereotype as computed, by stereotype and factor as kept.
    members = list(zip(*(split(f.within(strata), sizes) for f in crossed), strict=True))
    totals = list(zip(*(f.totals(sizes) for f in crossed), strict=True))
    levels = np.array([f.sizes for f in factor_levels]).T.tolist()
    squares = []
    for s in range(len(sizes)):
        of_stratum = StratumSquares(
            mean=float(means[s]),
            size=int(sizes[s]),
            answers=float(answers[s]),
            levels=tuple(levels[s]),
            observed=observed[s],
            expected=expected[s],
            shares=shares[s],
            weights=unit_weights[s],
            members=members[s] if crossed else (),
            totals=dict(zip(factors, totals[s], strict=True)) if crossed else {},
        )
        squares.append(of_stratum)
    return squares


def _expected(levels: Sequence[_Levels], counts: Array, weights: Array, sizes: Codes) -> Array:
    """Return the coefficients of components in expected sums of squares, (stereotypes, k, k)."""
    expected = counts[:, :, None] * counts[:, None] / sizes[:, None, None] ** 2
    # The levels of all factors are numbered on from those of the factors before.
    n_levels = np.array([len(factor.strata) for factor in levels])
    starts = np.cumsum(n_levels) - n_levels
    members = np.array([factor.member for factor in levels])
    numbered = np.where(members < 0, -1, members + starts[:, None])
    level_counts = np.concatenate([factor.counts for factor in levels])
    factor_of = np.repeat(np.arange(len(levels)), n_levels)
    n = len(factor_of)
    for f, first in enumerate(levels):
        both = (members[f] >= 0) & (members[: f + 1] >= 0)
        pairs = (members[f] * n + numbered[: f + 1])[both]
        cells, member = np.unique(pairs, return_inverse=True)
        rows, columns = np.divmod(cells, n)
        joint = np.bincount(member, np.broadcast_to(weights, both.shape)[both])
        strata = first.strata[rows]
        # Σ (joint − independent / 2)²: the squares of the second term, over all pairs of
        # levels, are in `expected` already, and only pairs with answers add to them.
        independent = 2.0 * first.counts[rows] * level_counts[columns] / sizes[strata]
        places = strata * (f + 1) + factor_of[columns]
        added = np.bincount(places, joint * (joint - independent), len(sizes) * (f + 1))
        expected[:, f, : f + 1] += added.reshape(-1, f + 1)
        expected[:, : f + 1, f] = expected[:, f, : f + 1]
    return expected


def _centred_products(stratum: StratumSquares, factors: Sequence[int]) -> Array:
    """Return Z'CZ of the levels Z of some factors, with C = W − ww'/n; (levels, levels)."""
    sizes = np.array([stratum.levels[f] for f in factors], np.intp)
    starts = np.cumsum(sizes) - sizes
    n = int(sizes.sum())
    k = len(factors)
    members = np.array([stratum.members[f] for f in factors], np.intp)
    members = members.reshape(k, stratum.size)  # the shape also for k = 0
    places = members + starts[:, None]
    both = (members[:, None] >= 0) & (members >= 0)
    weights = np.broadcast_to(stratum.weights, both.shape)[both]
    joint = np.bincount((places[:, None] * n + places)[both], weights, n * n).reshape(n, n)
    counts = joint.diagonal()
    return np.asarray(joint - np.outer(counts, counts) / stratum.size)


def moments(stratum: StratumSquares) -> Array:
    """Return K, shape (k, k, k, k): the sums of squares of normal effects have covariance c'Kc.

    `c` are the components. Factors of more than `MOST_LEVELS` levels count as responses, but for
    the variances of their own sums of squares. It depends on weights and levels alone, which scores
    share with their effects of order and their compliance, and all draws of a simulation.
    """
    design = sha256(repr(stratum.levels).encode())
    for array in (stratum.weights, *stratum.members):
        design.update(array.tobytes())
    if (covariances := _MOMENTS.get(design.digest())) is None:
        if len(_MOMENTS) >= _MOST_MOMENTS:
            _MOMENTS.clear()
        covariances = _MOMENTS[design.digest()] = _moments(stratum)
    return covariances


def _moments(stratum: StratumSquares) -> Array:
    k = len(stratum.levels)
    large = [f for f, n in enumerate(stratum.levels[:-1]) if n > MOST_LEVELS]
    small = [f for f in range(k - 1) if f not in large]
    # Which small factor each level is of, shape (levels, small factors).
    block = np.repeat(np.eye(len(small)), [stratum.levels[f] for f in small], axis=0)
    direct = _centred_products(stratum, small)
    # Z'CUU'CZ for each small factor with the levels U; for the response, whose U is I, Z'CZ.
    paths = [direct[:, level_mask] @ direct[level_mask] for level_mask in block.T.astype(bool)]
    paths.append(direct)
    crossed = np.zeros((len(paths), len(paths), len(small), len(small)))
    for i, p in enumerate(paths):
        for j, q in enumerate(paths):
            crossed[i, j] = block.T @ (p * q) @ block
    traces = np.array([np.diag(p) @ block for p in paths])
    covariances = np.zeros((k, k, len(paths), len(paths)))
    covariances[np.ix_(small, small)] = crossed.transpose(2, 3, 0, 1)
    for place, f in enumerate(small):
        covariances[f, -1, -1] = covariances[-1, f, -1] = traces[:, place]
        covariances[f, -1, :-1] = covariances[-1, f, :-1] = crossed[:, -1, place].T
        covariances[-1, -1, place] = traces[:, place]
        covariances[-1, -1, place, -1] += traces[-1, place]
    covariances[-1, -1, -1, -1] = stratum.size - 1
    # From small factors and the response to all: large ones count as what they add to responses.
    merged = np.zeros((len(paths), k))
    merged[range(len(small)), small] = 1.0
    merged[-1, [*large, -1]] = stratum.shares[[*large, -1]] / stratum.shares[-1]
    covariances = merged.T @ covariances @ merged
    for f in large:
        expected = stratum.expected[f]
        covariances[f, f] = np.outer(expected, expected) / (stratum.levels[f] - 1)
    return np.asarray(2.0 * covariances)
