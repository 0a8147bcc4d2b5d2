"""What wordings and group words that stereotypes have in common add to the variance of their mean.

Measures
    Levels of a factor that several stereotypes share move them together. With the totals of
    deviations of each stereotype by level, the component that they share is estimated from the sum
    of squares of the totals over stereotypes less those of each: unbiased, and perhaps below 0.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from clinometer.statistics.clustered import Array
from clinometer.statistics.squares import MOST_LEVELS, Part

__all__ = [
    "SHARED",
    "Used",
    "common",
    "design_effect",
    "deviations_by_level",
    "most",
    "of_single",
    "shared_component",
]

#: Factors whose levels several stereotypes may share.
SHARED = ("variation", "marginalized", "default")

_NOTHING = 1e-14

Used = NDArray[np.bool_]  # (…, stereotypes), which of them are used


def deviations_by_level(parts: Sequence[Part], scales: Array, factor: str) -> tuple[Array, Array]:
    """Return the deviations of stereotypes by the levels of a factor, and where there are some.

    Both have shape (stereotypes, levels); a stereotype with one level has none.
    """
    several = [one.totals[factor] if len(one.totals[factor][0]) > 1 else None for one in parts]
    levels = np.unique(np.concatenate([one[0] for one in several if one] or [np.zeros(0, int)]))
    deviations, present = np.zeros((2, len(parts), len(levels)))
    for row, (one, scale) in enumerate(zip(several, scales, strict=True)):
        if one is not None:
            places = np.searchsorted(levels, one[0])
            deviations[row, places], present[row, places] = one[1] / scale**0.5, 1.0
    return deviations, present


def design_effect(deviations: Array, present: Array, used: Used) -> Array:
    """Return by how much less stereotypes tell of a component, as they share a factor's levels.

    Of S stereotypes with the same levels, whose deviations correlate by ρ, 1 + (S − 1)ρ²: the
    squares of correlated deviations tell what fewer independent ones would. Deviations and presence
    are of `deviations_by_level`; `used`, shape (choices, stereotypes), has a choice of stereotypes
    a row. Result: shape (choices,).
    """
    levels = present.sum(axis=1)
    several = (used & (levels > 0)).astype(float)
    number = several.sum(axis=1)
    squares = several @ deviations**2
    alike = ((several @ present - 1.0) * squares).sum(axis=1)
    together = ((several @ deviations) ** 2 - squares).sum(axis=1)
    shared = (number > 1) & (alike > _NOTHING)
    correlation = np.divide(together, alike, out=np.zeros_like(alike), where=shared).clip(0.0, 1.0)
    overlap = several @ (present / np.sqrt(np.maximum(levels, 1.0))[:, None])
    more = np.divide((overlap**2).sum(axis=1), number, out=np.ones_like(number), where=shared) - 1.0
    return np.asarray(1.0 + more * correlation**2)


def most(parts: Sequence[Part], variances: Array, factor: str) -> float:
    """Return what a factor adds to the variance of a mean at most: if its levels move all alike.

    `variances`, shape (stereotypes,), are its parts of the variances of their means, times the
    squares of the shares. Only levels that stereotypes share add anything.
    """
    used = [(v, one.totals[factor]) for v, one in zip(variances, parts, strict=True)]
    used = [(v, totals) for v, totals in used if v > 0 and totals[0].any()]  # 0: not recorded
    if len(used) < 2:
        return 0.0
    levels = np.unique(np.concatenate([totals[0] for _, totals in used]))
    moved = np.zeros((len(used), len(levels)))
    for row, (variance, (own, _, counts)) in enumerate(used):
        size = float((counts**2).sum()) ** 0.5
        moved[row, np.searchsorted(levels, own)] = variance**0.5 * counts / size
    return max(float((moved.sum(axis=0) ** 2).sum() - (moved**2).sum()), 0.0)


def of_single(parts: Sequence[Part], variances: Array, factor: str) -> float:
    """Return what stereotypes with one level add to the variance of a mean as they share it.

    Parameters are those of `most`. Nothing tells how alike such a level moves stereotypes: it is
    charged as if all alike.
    """
    several = np.array([len(one.totals[factor][0]) > 1 for one in parts])
    return most(parts, variances, factor) - most(parts, variances * several, factor)


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
