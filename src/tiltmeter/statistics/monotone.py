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

from dataclasses import dataclass

import numpy as np
from scipy.optimize import nnls

from tiltmeter.statistics.clustered import Array
from tiltmeter.statistics.strata import Stratum, scale_of

__all__ = ["Case", "strongest"]

#: With more scores than this, those of a wording or of a group word are lowered together.
_MOST_SCORES = 300

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


def strongest(
    one: Stratum, floor: float, weights: Array, neutral: float, bounds: tuple[float, float]
) -> Case | None:
    """Return the strongest case against `neutral` of scores that are nowhere farther from it.

    `floor` and `weights`, shape (k,), are those of `crossed.Moderated`, `bounds` the ends of the
    scale. None if no scores make a stronger case than those of `one`.
    """
    side = 1.0 if one.part.mean > neutral else -1.0
    low, high = sorted(side * (end - neutral) for end in bounds)
    found = _above(side * (one.values - neutral), one, floor, weights, (low, high))
    return found and Case(neutral + side * found.mean, found.variance, found.scale)


def _above(
    values: Array, one: Stratum, floor: float, weights: Array, bounds: tuple[float, float]
) -> Case | None:
    """Do the same for values whose mean is above 0, which is neutral."""
    columns, answers = _columns(one), one.weights / one.weights.sum()
    seen, by_column = _spread(one, weights, values[:, None])[:, 0], _spread(one, weights, columns)
    mean, moved, size = float(answers @ values), answers @ columns, one.part.size

    def case(lowered: Array) -> Case:
        own, left = mean - float(moved @ lowered), seen - by_column @ lowered
        scale = scale_of(own, size, bounds)
        return Case(own, scale * floor + float(left @ left), scale)

    lowered = np.zeros(columns.shape[1])
    found = first = case(lowered)
    better = True
    while better:
        pull = (_multiplier(found, floor, size, bounds) / (2.0 * _FAR * found.mean)) ** 0.5
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


def _columns(one: Stratum) -> Array:
    """Return what is lowered together, shape (scores, columns)."""
    if len(one.values) <= _MOST_SCORES:
        return np.eye(len(one.values))
    codes = (one.factors[f] for f in ("variation", "marginalized", "default") if f in one.factors)
    return np.column_stack([of[:, None] == np.unique(of) for of in codes]).astype(float)


def _spread(one: Stratum, weights: Array, columns: Array) -> Array:
    """Return L times `columns`, shape (levels of all factors, columns)."""
    n = len(one.values)
    w = one.weights * (n / one.weights.sum())
    deviations = w[:, None] * (columns - w @ columns / n)
    totals = [weights[-1] ** 0.5 * deviations]
    for weight, codes in zip(weights, one.factors.values(), strict=False):
        if weight > 0:
            levels, member = np.unique(codes, return_inverse=True)
            total = np.zeros((len(levels), columns.shape[1]))
            np.add.at(total, member, deviations)
            totals.append(weight**0.5 * total)
    return np.vstack(totals)
