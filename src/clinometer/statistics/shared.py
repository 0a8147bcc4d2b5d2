"""What wordings and group words that stereotypes have in common add to the variance of their mean.

Measures
    Levels of a factor that several stereotypes share move them together. With the totals of
    deviations of each stereotype by level, the component that they share is estimated from the sum
    of squares of the totals over stereotypes less those of each: unbiased, and perhaps below 0.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from clinometer.statistics.clustered import Array
from clinometer.statistics.squares import MOST_LEVELS, Part

__all__ = ["SHARED", "common", "design_effect", "shared_component"]

#: Factors whose levels several stereotypes may share.
SHARED = ("variation", "marginalized", "default")

_NOTHING = 1e-14


def design_effect(parts: Sequence[Part], scales: Array) -> float:
    """Return by how much wordings that stereotypes have in common lower the joint df."""
    sets: dict[tuple[int, ...], list[Array]] = {}
    for one, scale in zip(parts, scales, strict=True):
        if "variation" in one.totals and len(one.totals["variation"][0]) > 1:
            levels, deviations, _ = one.totals["variation"]
            sets.setdefault(tuple(levels.tolist()), []).append(deviations / scale**0.5)
    stacked = [np.array(rows) for rows in sets.values()]
    others = sum((len(rows) - 1) * float((rows**2).sum()) for rows in stacked)
    if others <= _NOTHING:
        return 1.0
    together = sum(float((rows.sum(axis=0) ** 2).sum() - (rows**2).sum()) for rows in stacked)
    correlation = min(max(0.0, together / others), 1.0)
    pairs = sum(len(rows) * (len(rows) - 1) for rows in stacked)
    return 1.0 + pairs / sum(map(len, stacked)) * correlation**2


def common(parts: Sequence[Part], shares: Array, factor: str) -> tuple[float, float]:
    """Return what the levels of a factor that stereotypes share add to the variance of their mean.

    `shares`, shape (stereotypes,), are the parts of the answers; negative for the baseline of a
    difference. Beside it, the variance of this number; both 0 where no level is shared. It may be
    below 0, as it is unbiased.
    """
    component, error, weight = shared_component(parts, shares, factor)
    return weight * component, weight**2 * error


def shared_component(
    parts: Sequence[Part], shares: Array, factor: str
) -> tuple[float, float, float]:
    """Return the component of a factor that stereotypes share, its variance, and its weight.

    The weight is what the component is multiplied with in the variance of the mean. All are 0 where
    no level is shared. The component is on the scale of the means, unbiased, and may be below 0.
    """
    used = [(p, one.totals[factor]) for p, one in zip(shares, parts, strict=True)]
    used = [(p, totals) for p, totals in used if len(totals[0]) > 1]
    levels = {level for _, totals in used for level in totals[0].tolist()}
    if len(used) < 2 or not 1 < len(levels) <= MOST_LEVELS:
        return 0.0, 0.0, 0.0
    at = {level: place for place, level in enumerate(sorted(levels))}
    sums, counts = np.zeros((len(used), len(at))), np.zeros((len(used), len(at)))
    for row, (p, (own, deviations, fractions)) in enumerate(used):
        places = [at[level] for level in own.tolist()]
        sums[row, places], counts[row, places] = p * deviations, p * fractions
    centring = _centring(counts)
    pooled, single = sums.sum(axis=0), (sums**2).sum()
    weight = float((counts.sum(axis=0) ** 2).sum() - (counts**2).sum())
    informative = (centring**2).sum() - sum(_centred(row) for row in counts)
    if weight * informative <= _NOTHING**2:
        return 0.0, 0.0, 0.0
    together, whole = float(pooled @ pooled), _centring(np.abs(counts))
    df = np.trace(whole) ** 2 / (whole**2).sum()
    error = 2.0 * (max(together, single) / informative) ** 2 / df
    return (together - single) / informative, error, weight


def _centring(counts: Array) -> Array:
    """Return the sum of diag(c) − cc'/Σc over the rows c."""
    within = counts.T @ (counts / counts.sum(axis=1)[:, None])
    return np.asarray(np.diag(counts.sum(axis=0)) - within)


def _centred(counts: Array) -> float:
    """Return the sum of squares of diag(c) − cc'/Σc."""
    total = counts.sum()
    squares = (counts**2).sum()
    return float(squares - 2.0 * (counts**3).sum() / total + squares**2 / total**2)
