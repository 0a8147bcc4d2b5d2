"""Tests that scores farther from neutral never weaken.

Measures
    A score far above the others raises a mean, but also its variance, so that t may fall: a lean
    would be less certain because one wording shows more of it. The test that a mean lies above
    neutral is therefore that of the scores, among all that are nowhere above those seen, for which
    p is smallest. A higher score only adds to these. Where no score lies far above the others they
    are the scores themselves. Below neutral, all is mirrored.

Method
    The variance depends on the scores x by their mean and by ``|Lx|²``. Where p is smallest, the
    gradient of ``|Lx|²`` is that of the mean times a multiplier, but for scores at their bound:
    non-negative least squares. The multiplier is iterated (Dinkelbach 1967, Management Science
    13(7), 492–498).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import nnls

from tiltmeter.statistics.clustered import Array, ClusteredMean
from tiltmeter.statistics.squares import Part
from tiltmeter.statistics.strata import Stratum

__all__ = ["Judged", "spread_of", "strongest", "with_strongest"]

#: Gives the mean with its error from the mean and ``|Lx|²``.
Judged = Callable[[float, float], ClusteredMean]

#: A smaller p is told without a stronger case; no test is at a lower level.
_CLEAR = 1e-4

#: With more scores than this, those of a level are lowered together, of factors with few levels.
_MOST_SCORES, _FEW_LEVELS = 300, 50

#: Parts of a step that are tried.
_STEPS = (1.0, 0.25, 0.06, 0.015)

#: How far the mean is drawn, as a multiple of its distance from neutral.
_FAR = 100.0

#: An improvement of log p below this part is none.
_ENOUGH = 1e-9

#: Relative step of numeric derivatives.
_STEP = 1e-5


def with_strongest(
    mean: ClusteredMean, one: Stratum, weights: Sequence[Array], judged: Judged, neutral: float
) -> ClusteredMean:
    """Return the mean of a stereotype with the strongest case against neutral, if it may decide.

    `weights` and `judged` are those of `strongest`.
    """
    p = mean.p(neutral)
    if p is None or mean.bounds is None or not _CLEAR < p < 1.0:
        return mean
    return replace(mean, stronger=strongest(one, weights, judged, neutral))


def strongest(
    one: Stratum, weights: Sequence[Array], judged: Judged, neutral: float
) -> ClusteredMean | None:
    """Return the strongest case against `neutral` of scores that are nowhere farther from it.

    ``|Lx|²`` is the sum of squares of the factors' totals of deviations, each multiplied by one of
    `weights`, an array of shape (levels,) or (1,) for each factor and for the response. None if no
    scores make a stronger case than those of `one`.
    """
    side = 1.0 if one.part.mean > neutral else -1.0

    def of_distance(distance: float, spread: float) -> ClusteredMean:
        return judged(neutral + side * distance, spread)

    return _above(side * (one.values - neutral), one.part, weights, of_distance, neutral)


@dataclass(frozen=True)
class _Case:
    """Scores lowered to a mean, with their ``|Lx|²``."""

    distance: float
    spread: float
    strength: float  # −log p


def _above(
    values: Array, one: Part, weights: Sequence[Array], judged: Judged, neutral: float
) -> ClusteredMean | None:
    """Do the same for values whose mean is above 0, which is neutral."""
    columns, answers = _columns(one), one.weights / one.size
    seen, by_column = _spread(one, weights, values[:, None])[:, 0], _spread(one, weights, columns)
    mean, moved = float(answers @ values), answers @ columns

    def strength(distance: float, spread: float) -> float:
        p = judged(distance, spread).p(neutral) if distance > 0 else 1.0
        return -math.log(max(p or 0.0, 1e-300))

    def case(lowered: Array) -> _Case:
        own, left = mean - float(moved @ lowered), seen - by_column @ lowered
        spread = float(left @ left)
        return _Case(own, spread, strength(own, spread))

    lowered = np.zeros(columns.shape[1])
    found = first = case(lowered)
    better = True
    while better:
        variance = (judged(found.distance, found.spread).se or 0.0) ** 2
        pull = (_multiplier(found, variance, strength) / (2.0 * _FAR * found.distance)) ** 0.5
        rows = np.vstack([by_column, pull * moved])
        wanted = np.append(seen, pull * (mean - (1.0 + _FAR) * found.distance))
        towards = nnls(rows, wanted)[0] - lowered
        least, better = found.strength * (1.0 + _ENOUGH), False
        for step in _STEPS if towards.any() else ():
            new = case(lowered + step * towards)
            if better := new.distance > 0 and new.strength > least:
                found, lowered = new, lowered + step * towards
                break
    return None if found is first else judged(found.distance, found.spread)


def _multiplier(case: _Case, variance: float, strength: Callable[[float, float], float]) -> float:
    """Return the ratio of the gradients of |Lx|² and of the mean where p is smallest."""
    by, of = _STEP * case.distance, _STEP * variance
    by_mean = strength(case.distance + by, case.spread) - strength(case.distance - by, case.spread)
    by_spread = case.strength - strength(case.distance, case.spread + of)
    return max(by_mean / (2.0 * by) * of / by_spread, 0.0) if by_spread > 0 else 0.0


def spread_of(one: Stratum, weights: Sequence[Array]) -> Array:
    """Return L times the scores of a stereotype; see `strongest`."""
    return _spread(one.part, weights, one.values[:, None])[:, 0]


def _columns(one: Part) -> Array:
    """Return what is lowered together, shape (scores, columns)."""
    if one.size <= _MOST_SCORES:
        return np.eye(one.size)
    few = [of for of, n in zip(one.members, one.levels, strict=False) if n <= _FEW_LEVELS]
    alike = np.zeros(one.size, np.intp)
    return np.column_stack([of[:, None] == np.unique(of) for of in (alike, *few)]).astype(float)


def _spread(one: Part, weights: Sequence[Array], columns: Array) -> Array:
    """Return L times columns of scores, shape (levels of all factors with a weight, columns)."""
    deviations = one.weights[:, None] * (columns - one.weights @ columns / one.size)
    factors = [*zip(one.members, one.levels, strict=False), (None, one.size)]
    totals = [np.zeros((0, columns.shape[1]))]
    for weight, (members, levels) in zip(weights, factors, strict=True):
        if not np.any(weight):
            continue
        total = deviations
        if members is not None:
            total = np.zeros((levels, columns.shape[1]))
            np.add.at(total, members, deviations)
        totals.append(np.sqrt(weight)[:, None] * total)
    return np.vstack(totals)
