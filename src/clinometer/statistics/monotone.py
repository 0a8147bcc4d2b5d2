"""Tests that scores farther from neutral never weaken.

Measures
    A score far above the others raises a mean, but also its variance, so that t may fall: a lean
    would be less certain because one wording shows more of it. The test that a mean lies above
    neutral is therefore that of the scores, among all that are nowhere above those seen, for which
    t is largest. A higher score only adds to these. Where no score lies far above the others they
    are the scores themselves. Below neutral, all is mirrored.

Method
    The variance is ``scale × floor + |Lx|²`` for scores x, with the scale that of their mean. Where
    t is largest, the gradient of |Lx|² is that of the mean times a multiplier, but for scores at
    their bound: non-negative least squares. The multiplier is iterated (Dinkelbach 1967, Management
    Science 13(7), 492–498).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import nnls

from clinometer.statistics.clustered import Array, ClusteredMean
from clinometer.statistics.squares import Part
from clinometer.statistics.strata import Stratum, scale_of

__all__ = ["Case", "strongest", "with_strongest"]

#: A smaller p is told without a stronger case; no test is at a lower level.
_CLEAR = 1e-4

#: With more scores than this, those of a level are lowered together, of factors with few levels.
_MOST_SCORES, _FEW_LEVELS = 300, 50

#: Parts of a step that are tried.
_STEPS = (1.0, 0.25, 0.06, 0.015)

#: How far the mean is drawn, as a multiple of its distance from neutral.
_FAR = 100.0

#: An improvement of t² below this part is none.
_ENOUGH = 1e-9


@dataclass(frozen=True)
class Case:
    """A mean with its variance, where the scale is `scale`."""

    mean: float
    variance: float
    scale: float

    @property
    def strength(self) -> float:
        """Return t² against 0, but for a factor that all cases share."""
        return self.mean**2 * self.scale / self.variance


def with_strongest(
    mean: ClusteredMean, one: Stratum, floor: float, weights: Array, neutral: float
) -> ClusteredMean:
    """Return the mean of a stereotype with the strongest case against neutral, if it may decide.

    `floor` and `weights`, shape (k,), are those of `crossed.Moderated`.
    """
    p = mean.p(neutral)
    if p is None or mean.bounds is None or floor <= 0.0 or not _CLEAR < p < 1.0:
        return mean
    if (case := strongest(one, floor, weights, neutral, mean.bounds)) is None:
        return mean
    se = case.variance**0.5
    return replace(mean, stronger=replace(mean, mean=case.mean, se=se, scale=case.scale))


def strongest(
    one: Stratum, floor: float, weights: Array, neutral: float, bounds: tuple[float, float]
) -> Case | None:
    """Return the strongest case against `neutral` of scores that are nowhere farther from it.

    `floor` and `weights` are those of `crossed.Moderated`, `bounds` the ends of the scale. None if
    no scores make a stronger case than those of `one`.
    """
    side = 1.0 if one.part.mean > neutral else -1.0
    low, high = sorted(side * (end - neutral) for end in bounds)
    found = _above(side * (one.values - neutral), one.part, floor, weights, (low, high))
    return found and Case(neutral + side * found.mean, found.variance, found.scale)


def _above(
    values: Array, one: Part, floor: float, weights: Array, bounds: tuple[float, float]
) -> Case | None:
    """Do the same for values whose mean is above 0, which is neutral."""
    columns, answers = _columns(one), one.weights / one.size
    seen, by_column = _spread(one, weights, values[:, None])[:, 0], _spread(one, weights, columns)
    mean, moved = float(answers @ values), answers @ columns
    if mean <= 0.0:  # neutral but for rounding
        return None

    def case(lowered: Array) -> Case:
        own, left = mean - float(moved @ lowered), seen - by_column @ lowered
        scale = scale_of(own, one.size, bounds)
        return Case(own, scale * floor + float(left @ left), scale)

    lowered = np.zeros(columns.shape[1])
    found = first = case(lowered)
    better = True
    while better:
        pull = (_multiplier(found, floor, one.size, bounds) / (2.0 * _FAR * found.mean)) ** 0.5
        rows = np.vstack([by_column, pull * moved])
        wanted = np.append(seen, pull * (mean - (1.0 + _FAR) * found.mean))
        towards = nnls(rows, wanted)[0] - lowered
        least, better = found.strength * (1.0 + _ENOUGH), False
        for step in _STEPS if towards.any() else ():
            new = case(lowered + step * towards)
            if better := new.mean > 0 and new.strength > least:
                found, lowered = new, lowered + step * towards
                break
    return None if found is first else found


def _multiplier(case: Case, floor: float, size: int, bounds: tuple[float, float]) -> float:
    """Return the ratio of the gradients of |Lx|² and of the mean where t is largest."""
    slope = 0.0
    if np.isfinite(sum(bounds)):
        middle = sum(bounds) / 2.0
        slope = 2.0 * (middle - case.mean) * (size / (size + 1.0)) ** 2
    own = case.variance - case.scale * floor
    return max(2.0 * case.variance / case.mean + slope * own / case.scale, 0.0)


def _columns(one: Part) -> Array:
    """Return what is lowered together, shape (scores, columns)."""
    if one.size <= _MOST_SCORES:
        return np.eye(one.size)
    few = [of for of, n in zip(one.members, one.levels, strict=False) if n <= _FEW_LEVELS]
    alike = np.zeros(one.size, np.intp)
    return np.column_stack([of[:, None] == np.unique(of) for of in (alike, *few)]).astype(float)


def _spread(one: Part, weights: Array, columns: Array) -> Array:
    """Return L times columns of scores, shape (levels of all factors, columns)."""
    deviations = one.weights[:, None] * (columns - one.weights @ columns / one.size)
    totals = [weights[-1] ** 0.5 * deviations]
    for weight, members, levels in zip(weights, one.members, one.levels, strict=False):
        total = np.zeros((levels, columns.shape[1]))
        np.add.at(total, members, weight**0.5 * deviations)
        totals.append(total)
    return np.vstack(totals)
