"""Means over these prompts: wordings and words are fixed; answers, draws and orders vary.

Reference
    Gaffke (2005), Math. Methods of Statistics 14(4), 451–467, and Learned-Miller & Thomas (2019),
    arXiv:1905.06208: a bound for the mean of units on a scale with two ends. Clopper & Pearson
    (1934), Biometrika 26(4), 404–413: the same for two values. TOST as in `clustered`.

Measures
    A unit is a mirrored pair, the mean of its answers, since they share words and draw; an answer
    where there are no pairs. To the n units the upper bound adds one at the upper end of the scale,
    and the lower bound one at the lower end. All get random weights (Dirichlet, uniform), and the
    bound is a quantile of the weighted mean, whose moments are, with the mean μ, its variance s²,
    its distance d from the end and N = n,

        mean      μ ± d / (N + 1)
        variance  s² N (N − 1) / ((N + 1)(N + 2)) + d² N / ((N + 1)² (N + 2)).

    A beta distribution with these moments takes its place. Where all units are at the two ends it
    is exact: Clopper and Pearson's bound. Units that are all alike are no special case.

Strata
    Wordings are fixed, so s² is the sum of the variances within them (CR2 where weights differ).
    But then the added unit may not stand for what could have been seen: with three wordings always
    at 1 and one always at −1, a unit of the last one can move by 2, and the mean is .5 from the
    end. The step of a unit is its weight times the distance of its wording's mean from the end. The
    added unit takes the step of an observed one, chosen in proportion to its step:

        N = (Σ steps)² / Σ steps²,

    which is n where weights and wordings are alike, and n / 4 in the example. Wordings of a
    single unit are joined (`unit_weights`).

Differences
    Candidate − baseline, on the scale −span to span; the steps are those of the units of both runs.
    Over the same prompts, in pairs, s² is that of the units' differences, which is less where some
    prompts have high scores in both runs and others low ones. Either can move further than the mean
    of all, so that Σ steps² is raised by as much as s² is lowered.

Deviations from the source
    Gaffke's bound is for units of one distribution and equal weights, and its quantiles are
    simulated. Coverage is proven for two values only, and simulated for the rest:
    ``python -m benchmarks prompts``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc, betaincinv

from clinometer.errors import InputError
from clinometer.statistics.clustered import Array
from clinometer.statistics.unit_weights import UnitWeights, weigh_units

#: A mean so near to the end is there: the square of its distance is 0 to a computer.
_NOTHING = 1e-100


@dataclass(frozen=True)
class BoundedMean:
    """A mean over these prompts; intervals and tests follow from these fields alone.

    `n_low` and `n_high` are the N of the lower and the upper bound: at most `n_clusters`, the
    number of units, and in a difference at most those of both runs.
    """

    mean: float
    se: float
    n_clusters: int
    n_low: float
    n_high: float
    bounds: tuple[float, float]

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Return the two-sided interval, inside `bounds`."""
        tail = (1.0 - confidence) / 2.0
        low, high = self.bounds
        from_low = self._quantile(self.mean - low, self.n_low, tail)
        from_high = self._quantile(high - self.mean, self.n_high, tail)
        return low + from_low, high - from_high

    def p(self, null: float = 0.0) -> float:
        """Return the two-sided p; it is below 1 − confidence where the interval excludes `null`."""
        return min(1.0, 2.0 * min(self.p_above(null), self.p_below(null)))

    def p_above(self, null: float = 0.0) -> float:
        """Return the one-sided p; small where the mean lies above `null`."""
        low = self.bounds[0]
        return self._tail(self.mean - low, self.n_low, null - low)

    def p_below(self, null: float = 0.0) -> float:
        """Return the one-sided p; small where the mean lies below `null`."""
        high = self.bounds[1]
        return self._tail(high - self.mean, self.n_high, high - null)

    def tost(self, margin: float, neutral: float = 0.0) -> float:
        """Return p of the equivalence test: the larger of two one-sided p; `margin` is above 0."""
        return max(self.p_above(neutral - margin), self.p_below(neutral + margin))

    # The weighted mean by its distance from the end where a unit is added, so that both ends take
    # the same formula. A mean at this end stays there.

    def _quantile(self, distance: float, units: float, tail: float) -> float:
        """Return a quantile of the weighted mean's distance from an end."""
        if distance <= _NOTHING:
            return 0.0
        return self._span * float(betaincinv(*self._match_beta(distance, units), tail))

    def _tail(self, distance: float, units: float, most: float) -> float:
        """Return the probability that the weighted mean's distance from an end is at most this."""
        if distance <= _NOTHING:
            return float(most >= 0.0)
        share = min(max(most / self._span, 0.0), 1.0)
        return float(betainc(*self._match_beta(distance, units), share))

    def _match_beta(self, distance: float, units: float) -> tuple[float, float]:
        """Return the beta distribution with the moments of the weighted mean, on 0 to 1."""
        relative = distance / self._span
        centre = relative * units / (units + 1.0)
        observed = (self.se / self._span) ** 2 * units * (units - 1.0) / (units + 1.0)
        added = relative**2 * units / (units + 1.0) ** 2
        concentration = centre * (1.0 - centre) * (units + 2.0) / (observed + added) - 1.0
        return centre * concentration, (1.0 - centre) * concentration

    @property
    def _span(self) -> float:
        return self.bounds[1] - self.bounds[0]


def bounded_mean(
    values: ArrayLike,
    weights: ArrayLike,
    stereotypes: ArrayLike,
    wordings: ArrayLike,
    bounds: tuple[float, float],
) -> BoundedMean:
    """Return the mean over these prompts, in which each stereotype counts once.

    Parameters
    ----------
    values
        The mean score of each unit (a mirrored pair, or an answer without a pair), shape (n,).
    weights
        What each unit counts for within its stereotype: its number of scored answers, above 0.
    stereotypes, wordings
        Labels, shape (n,); wordings are joined in the order of theirs.
    bounds
        The ends of the scale, in the unit of `values`.

    Returns
    -------
    BoundedMean
        In the unit of `values`.

    Raises
    ------
    InputError
        If there is no unit, a value is not finite, a weight is not above 0, shapes differ, or the
        scale has no ends.

    Examples
    --------
    >>> wordings = [0, 1, 2, 3] * 12
    >>> alike = bounded_mean([1.0] * 48, [1] * 48, ["age"] * 48, wordings, (-1.0, 1.0))
    >>> low, high = alike.interval(0.95)
    >>> round(low, 3), high
    (0.852, 1.0)
    """
    units = weigh_units(weights, stereotypes, wordings)
    return _estimate(_check_values("values", values, units), units, bounds)


def paired_difference(
    baseline: ArrayLike,
    candidate: ArrayLike,
    weights: ArrayLike,
    stereotypes: ArrayLike,
    wordings: ArrayLike,
    bounds: tuple[float, float],
) -> BoundedMean:
    """Return candidate − baseline over units of the same prompts, each stereotype once.

    `baseline` and `candidate` are the mean scores of each unit over the trials scored in both runs,
    shape (n,), and `bounds` the ends of their scale. All else is as in `bounded_mean`.

    Examples
    --------
    >>> scores, wordings = [0.5, -0.5] * 10, [0, 0, 1, 1] * 5
    >>> same = paired_difference(scores, scores, [2] * 20, ["age"] * 20, wordings, (-1.0, 1.0))
    >>> same.mean, same.bounds, [round(end, 2) for end in same.interval()]
    (0.0, (-2.0, 2.0), [-0.18, 0.18])
    """
    units = weigh_units(weights, stereotypes, wordings)
    before = _check_values("baseline", baseline, units)
    after = _check_values("candidate", candidate, units)
    means = [_estimate(values, units, bounds) for values in (before, after)]
    return _subtract(means[0], means[1], units.variance(after - before))


def unpaired_difference(baseline: BoundedMean, candidate: BoundedMean) -> BoundedMean:
    """Return candidate − baseline of two runs with different trials of the same stereotypes."""
    return _subtract(baseline, candidate, baseline.se**2 + candidate.se**2)


def _subtract(baseline: BoundedMean, candidate: BoundedMean, variance: float) -> BoundedMean:
    low, high = baseline.bounds
    change, span = candidate.mean - baseline.mean, high - low
    common = max(baseline.se**2 + candidate.se**2 - variance, 0.0)
    downwards = (candidate.mean - low) ** 2 / candidate.n_low
    downwards += (high - baseline.mean) ** 2 / baseline.n_high
    upwards = (high - candidate.mean) ** 2 / candidate.n_high
    upwards += (baseline.mean - low) ** 2 / baseline.n_low
    return BoundedMean(
        change,
        variance**0.5,
        min(baseline.n_clusters, candidate.n_clusters),
        _count_units(span + change, downwards + common),
        _count_units(span - change, upwards + common),
        (-span, span),
    )


def _estimate(values: Array, units: UnitWeights, bounds: tuple[float, float]) -> BoundedMean:
    low, high = bounds
    if not 0.0 < high - low < math.inf:
        raise InputError(f"bounds {low}, {high}: needs the lower and the upper end of the scale")
    # Shares add up to 1 but for rounding, with which a mean would come to lie off the end.
    mean = float(np.clip(np.sum(units.shares * values), values.min(), values.max()))
    mean = min(max(mean, low), high)
    stratum_means = units.stratum_means(values)
    downwards = float(np.sum((units.shares * (stratum_means - low)) ** 2))
    upwards = float(np.sum((units.shares * (high - stratum_means)) ** 2))
    return BoundedMean(
        mean,
        units.variance(values) ** 0.5,
        len(values),
        _count_units(mean - low, downwards),
        _count_units(high - mean, upwards),
        bounds,
    )


def _count_units(steps: float, step_squares: float) -> float:
    """Return N of Σ steps and Σ steps², at least 1; 1 where the mean is at the end."""
    return max(steps**2 / step_squares, 1.0) if step_squares > 0 else 1.0


def _check_values(name: str, values: ArrayLike, units: UnitWeights) -> Array:
    array = np.asarray(values, dtype=np.float64)
    if array.shape != units.shares.shape or not np.isfinite(array).all():
        raise InputError(
            f"{name}: shape {array.shape}; needs a finite number for each of the "
            f"{len(units.shares)} units"
        )
    return array
