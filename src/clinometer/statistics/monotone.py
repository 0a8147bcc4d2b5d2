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
    Science 13(7), 492–498). Where noise is taken off the squares (`crossed.excess`), they count by
    the slope of what is left, which is iterated too. The noise is held as it is in the scores seen,
    as a part of the scale, and all scores of a wording or word are lowered together: a single
    answer that is raised may then weaken a test a little.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from clinometer.statistics.clustered import Array, ClusteredMean
from clinometer.statistics.crossed import Moderated, OfMean, excess, slope_of_excess
from clinometer.statistics.shared import SHARED
from clinometer.statistics.squares import Codes, StratumSquares
from clinometer.statistics.strata import Stratum, scale_of

__all__ = ["Case", "lowering_helps", "strongest", "with_strongest"]

#: A smaller p is told without a stronger case; no test is at a lower level.
_CLEAR = 1e-4

#: With more scores than this, those of a level are lowered together, of factors with few levels.
_MOST_SCORES, _FEW_LEVELS = 300, 50

#: Parts of a step that are tried.
_STEPS = (1.0, 0.25, 0.06, 0.015)

#: How far the mean is drawn, as a multiple of its distance from neutral.
_FAR = 100.0

#: Of one stereotype, or of several.
Number = float | Array | Codes

#: A mean nearer to neutral differs from it by rounding.
_NOTHING = 1e-14

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
    mean: ClusteredMean, stratum: Stratum, of_mean: OfMean, neutral: float
) -> ClusteredMean:
    """Return the mean of a stereotype with the strongest case against neutral, if it may decide."""
    p = mean.p(neutral)
    if p is None or mean.bounds is None or of_mean.floor <= 0.0 or not _CLEAR < p < 1.0:
        return mean
    if (case := strongest(stratum, of_mean, neutral, mean.bounds)) is None:
        return mean
    se = case.variance**0.5
    return replace(mean, stronger=replace(mean, mean=case.mean, se=se, scale=case.scale))


def lowering_helps(
    strata: Sequence[Stratum],
    moderated: Moderated,
    neutral: float,
    bounds: tuple[float, float],
) -> NDArray[np.bool_]:
    """Return which stereotypes have a score that makes t larger when it is lowered, (strata,).

    Only they may have a stronger case, and few do. Of all at once, by the gradient of t at the
    scores seen; where noise is taken off the squares it is not looked at, and all may have one.
    """
    squares = [stratum.squares for stratum in strata]
    sizes = np.array([stratum.size for stratum in squares])
    means = np.array([stratum.mean for stratum in squares])
    weights = np.concatenate([stratum.weights for stratum in squares])
    of = np.repeat(np.arange(len(strata)), sizes)
    deviations = weights * (np.concatenate([stratum.values for stratum in strata]) - means[of])
    # L'Lx by the weight of a score: of each factor the total of its level, of the response its own.
    pulls = moderated.weights[of, -1] * deviations
    for f, members in enumerate(zip(*(stratum.members for stratum in squares), strict=True)):
        n_levels = np.array([stratum.levels[f] for stratum in squares])
        member = np.concatenate(members)
        levels = np.maximum(member, 0) + (np.cumsum(n_levels) - n_levels)[of]
        totals = np.bincount(levels, np.where(member < 0, 0.0, deviations))
        pulls += moderated.weights[of, f] * np.where(member < 0, 0.0, totals[levels])
    pulls -= (np.bincount(of, weights * pulls) / sizes)[of]
    side = np.where(means > neutral, 1.0, -1.0)
    distance = np.maximum(np.abs(means - neutral), _NOTHING)
    middle = side * (sum(bounds) / 2.0 - neutral)
    of_squares = moderated.variances - moderated.scales * moderated.floors
    case = distance, moderated.variances, moderated.scales
    limit = _multiplier(*case, of_squares, sizes, middle) / (2.0 * sizes)
    return (moderated.noise > 0) | (np.bincount(of, side[of] * pulls > limit[of]) > 0)


def strongest(
    stratum: Stratum, of_mean: OfMean, neutral: float, bounds: tuple[float, float]
) -> Case | None:
    """Return the strongest case against `neutral` of scores that are nowhere farther from it.

    `of_mean` says how the variance follows from the scores; `bounds` are the ends of the scale.
    None if no scores make a stronger case than those of `stratum`.
    """
    side = 1.0 if stratum.squares.mean > neutral else -1.0
    low, high = sorted(side * (end - neutral) for end in bounds)
    values = side * (stratum.values - neutral)
    case = _strongest_above(values, stratum.squares, of_mean, (low, high))
    return case and Case(neutral + side * case.mean, case.variance, case.scale)


class _Lowered:
    """Scores whose mean is above 0, which is neutral, with some of them lowered together."""

    def __init__(
        self, values: Array, stratum: StratumSquares, of_mean: OfMean, bounds: tuple[float, float]
    ) -> None:
        columns = _columns(stratum, of_mean)
        shares = stratum.weights / stratum.size
        # Lx of the scores x, by whose squares the variance rises; and what a column does to it.
        roots = _spread(stratum, of_mean.weights, np.column_stack([values, columns]))
        self.root, self.root_by_column = roots[:, 0], roots[:, 1:]
        self.mean, self.mean_by_column = float(shares @ values), shares @ columns
        self.of_mean, self.bounds = of_mean, bounds
        self.size = stratum.size  # of the rows of L the first, those of responses

    def squares(self, lowered: Array) -> tuple[float, float]:
        """Return |Lx|² of the responses and of the other factors."""
        squares = (self.root - self.root_by_column @ lowered) ** 2
        return float(squares[: self.size].sum()), float(squares[self.size :].sum())

    def case(self, lowered: Array) -> Case:
        """Return the case of the scores with each column lowered by a number of 0 or more."""
        mean = self.mean - float(self.mean_by_column @ lowered)
        scale = scale_of(mean, self.size, self.bounds)
        of_responses, of_factors = self.squares(lowered)
        above = float(excess(of_factors, scale * self.of_mean.noise))
        return Case(mean, scale * self.of_mean.floor + of_responses + above, scale)

    def towards(self, lowered: Array, best: Case) -> Array:
        """Return by how much each column is lowered where t is largest, as seen from `best`."""
        of_responses, of_factors = self.squares(lowered)
        slope = slope_of_excess(of_factors, best.scale * self.of_mean.noise)
        of_squares = of_responses + slope * of_factors
        # One row more pulls the mean far up, with the weight of the multiplier: least squares with
        # a linear term, which `nnls` has no place for.
        case = best.mean, best.variance, best.scale
        multiplier = _multiplier(*case, of_squares, self.size, sum(self.bounds) / 2.0)
        pull = (float(multiplier) / (2.0 * _FAR * best.mean)) ** 0.5
        counted = np.where(np.arange(len(self.root)) < self.size, 1.0, slope**0.5)
        rows = np.vstack([counted[:, None] * self.root_by_column, pull * self.mean_by_column])
        target = np.append(counted * self.root, pull * (self.mean - (1.0 + _FAR) * best.mean))
        return np.asarray(nnls(rows, target)[0])


def _strongest_above(
    values: Array, stratum: StratumSquares, of_mean: OfMean, bounds: tuple[float, float]
) -> Case | None:
    """Do the same for values whose mean is above 0, which is neutral."""
    scores = _Lowered(values, stratum, of_mean, bounds)
    if scores.mean <= 0.0:  # neutral but for rounding
        return None
    lowered = np.zeros(len(scores.mean_by_column))
    best = unlowered = scores.case(lowered)
    better = True
    while better:
        direction = scores.towards(lowered, best) - lowered
        least = best.strength * (1.0 + _ENOUGH)
        better = False
        # A full step may overshoot, as the scale and the multiplier change on the way.
        for step in _STEPS if direction.any() else ():
            case = scores.case(lowered + step * direction)
            if case.mean > 0 and case.strength > least:
                better = True
                best = case
                lowered = lowered + step * direction
                break
    return None if best is unlowered else best


def _multiplier(
    mean: Number, variance: Number, scale: Number, of_squares: Number, size: Number, middle: Number
) -> Array:
    """Return the ratio of the gradients of |Lx|² and of the mean where t is largest.

    `of_squares` is |Lx|², where noise is taken off it by slopes of what is left; `middle` that of
    the scale. Numbers, or arrays of one number per stereotype.
    """
    slope = 2.0 * (middle - mean) * (size / (size + 1.0)) ** 2
    return np.maximum(2.0 * variance / mean + slope * of_squares / scale, 0.0)


def _columns(stratum: StratumSquares, of_mean: OfMean) -> Array:
    """Return what is lowered together, shape (scores, columns).

    Where noise is taken off the squares, only all scores of a wording or word are: scores that are
    lowered one by one would have less noise than is taken off.
    """
    if stratum.size <= _MOST_SCORES and not of_mean.noise:
        return np.eye(stratum.size)
    factors = [np.zeros(stratum.size, np.intp)]  # all scores together
    # Not strict: `levels` has the response too, which is no column here.
    for name, codes, n in zip(stratum.totals, stratum.members, stratum.levels, strict=False):
        if n <= _FEW_LEVELS and (name in SHARED or not of_mean.noise):
            factors.append(codes)
    indicators = [codes[:, None] == np.unique(codes) for codes in factors]
    return np.column_stack(indicators).astype(float)


def _spread(stratum: StratumSquares, weights: Array, columns: Array) -> Array:
    """Return L times columns of scores, shape (levels of all factors, columns)."""
    deviations = stratum.weights[:, None] * (columns - stratum.weights @ columns / stratum.size)
    # A row per level: the levels of a factor are numbered on from those of the factors before it.
    starts = np.cumsum([0, *stratum.levels[:-1]])
    members = np.array(stratum.members, np.intp).reshape(-1, stratum.size, 1)
    levels = np.maximum(members, 0) + starts[:-1, None, None]
    cells = levels * columns.shape[1] + np.arange(columns.shape[1])
    roots = np.where(members < 0, 0.0, weights[:-1, None, None] ** 0.5 * deviations)
    totals = np.bincount(cells.ravel(), roots.ravel(), starts[-1] * columns.shape[1])
    return np.vstack([weights[-1] ** 0.5 * deviations, totals.reshape(-1, columns.shape[1])])
