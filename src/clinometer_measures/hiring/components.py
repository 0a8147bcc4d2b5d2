"""How much selections vary over names and occupations, estimated from few events.

Reference
    Variance from sums of squares of counts: Cochran (1943), J. American Statistical Association 38,
    287–301; Kleinman (1973), same journal 68, 46–54. Degrees of freedom of a sum of variances:
    Satterthwaite (1946), Biometrics Bulletin 2, 110–114.

Measures
    Variances of log odds. A sum of squared differences of counts from their expectation has the
    binomial mean E where nothing varies, and E + signal × variance where log odds vary. Sums are
    pooled over all intersections (names) or groups (occupations) before they are divided: no
    logarithm of a small count is taken, so that none selected is a count like any other. What
    occupations do to all groups alike is apart: it leaves ratios as they are only where rates are
    small, as it is equal on the scale of log odds.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Component", "interaction_component", "names_component", "shared_variance"]

Array = NDArray[np.float64]

#: Steps of Newton, by which the log odds of groups and occupations converge.
_STEPS = 12

#: Few answers may seem to vary without bound. At this variance, two standard deviations lie between
#: rates of .05 and .95.
_LARGEST_VARIANCE = 9.0


class Component(NamedTuple):
    """A variance of log odds."""

    variance: float
    expected: float
    """The sum of squares where nothing varies."""
    signal: float
    """What a variance of 1 adds to it."""
    degrees: float

    def estimates(self, rng: np.random.Generator, draws: int) -> Array:
        """Return what would be estimated in other data with this variance: (draws,)."""
        total = self.variance * self.signal + self.expected
        totals = total * rng.chisquare(self.degrees, draws) / self.degrees
        return ((totals - self.expected) / self.signal).clip(0, _LARGEST_VARIANCE)


def _component(total: float, expected: float, signal: float, degrees: float) -> Component:
    if not (expected > 0 and signal > 0):
        return Component(0.0, 0.0, 1.0, 1.0)
    variance = min(max(total - expected, 0.0) / signal, _LARGEST_VARIANCE)
    return Component(variance, expected, signal, max(degrees, 1.0))


def names_component(selected: Array, decided: Array, intersections: NDArray[np.intp]) -> Component:
    """Return the variance of names within their intersection.

    `selected`, `decided`: (names,), over all occupations.
    """
    total = expected = signal = squares = 0.0
    for intersection in np.unique(intersections):
        is_used = (intersections == intersection) & (decided > 0)
        counts, sizes = selected[is_used], decided[is_used]
        n, size = len(counts), float(sizes.sum())
        if n < 2 or size < 2:
            continue
        rate = counts.sum() / size
        square, cube = float((sizes**2).sum()), float((sizes**3).sum())
        total += float(((counts - sizes * rate) ** 2).sum())
        # p (1 − p) without bias; each name is a part of the mean it is compared with.
        binomial = rate * (1 - rate) * size / (size - 1) * (size - square / size)
        spread = square - 2 * cube / size + square**2 / size**2 - (size - square / size)
        expected += binomial
        signal += (rate * (1 - rate)) ** 2 * spread
        squares += binomial**2 / (n - 1)
    return _component(total, expected, signal, expected**2 / squares if squares else 1.0)


def interaction_component(selected: Array, decided: Array) -> Component:
    """Return the variance of a group over occupations, beyond what they do to all groups.

    `selected`, `decided`: (groups, occupations). The variance is that of the mean of occupations.
    """
    is_used = decided.sum(axis=0) > 0
    selected, decided = selected[:, is_used], decided[:, is_used]
    groups, n = selected.shape
    if groups < 2 or n < 2:
        return _component(0.0, 0.0, 0.0, 1.0)
    rates = _additive_rates(selected, decided)
    binomial = decided * rates * (1 - rates)
    # What is left of each square after groups and occupations are fitted.
    residual_share = (groups - 1) * (n - 1) / (groups * n)
    # Of one answer nothing is left: exactly 0, as a variance is divided by the sum.
    signal = (
        float((decided * (decided - 1) * (rates * (1 - rates)) ** 2).sum()) * residual_share * n
    )
    total = float(((selected - decided * rates) ** 2).sum())
    degrees = float(binomial.sum() ** 2 / (binomial**2).sum()) * residual_share
    return _component(total, float(binomial.sum()) * residual_share, signal, degrees)


def shared_variance(selected: Array, decided: Array) -> tuple[float, int]:
    """Return the variance that occupations add to all groups, and its degrees of freedom.

    `selected`, `decided`: (occupations,). Of the log odds of all, by the jackknife, less what
    independent answers make.
    """
    n = int((decided > 0).sum())
    if n < 2:
        return 0.0, 1
    picked, total = selected.sum(), decided.sum()
    without = picked - selected + 0.5, total - decided - picked + selected + 0.5
    logits = np.log(without[0] / without[1])[decided > 0]
    jackknife = (n - 1) / n * float(((logits - logits.mean()) ** 2).sum())
    binomial = 1 / (picked + 0.5) + 1 / (total - picked + 0.5)
    return min(max(jackknife - float(binomial), 0.0), _LARGEST_VARIANCE), n - 1


def _additive_rates(selected: Array, decided: Array) -> Array:
    """Return the rates at which the log odds of groups and occupations add up.

    Half a selection and half a rejection are added to each group, and occupations have a standard
    normal prior, so that log odds of empty rows and columns are finite.
    """
    picked, total = selected.sum(axis=1), decided.sum(axis=1)
    group_log_odds = np.log((picked + 0.5) / (total - picked + 0.5))
    occupation_log_odds = np.zeros(selected.shape[1])
    for _ in range(_STEPS):
        rates = _inverse_logit(group_log_odds[:, None] + occupation_log_odds)
        slopes = (decided * rates * (1 - rates)).sum(axis=0) + 1
        step = ((selected - decided * rates).sum(axis=0) - occupation_log_odds) / slopes
        occupation_log_odds = occupation_log_odds + step.clip(-1, 1)
        rates = _inverse_logit(group_log_odds[:, None] + occupation_log_odds)
        alone = _inverse_logit(group_log_odds)
        slopes = (decided * rates * (1 - rates)).sum(axis=1) + alone * (1 - alone)
        step = ((selected - decided * rates).sum(axis=1) + 0.5 - alone) / slopes
        group_log_odds = group_log_odds + step.clip(-1, 1)
    return _inverse_logit(group_log_odds[:, None] + occupation_log_odds)


def _inverse_logit(logits: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-logits)))
