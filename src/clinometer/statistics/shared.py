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
from clinometer.statistics.squares import MOST_LEVELS, Codes, StratumSquares

__all__ = [
    "SHARED",
    "Used",
    "shared_variance",
    "design_effect",
    "deviations_by_level",
    "greatest_shared_variance",
    "single_level_variance",
    "shared_component",
]

#: Factors whose levels several stereotypes may share.
SHARED = ("variation", "marginalized", "default")

_NOTHING = 1e-14

Used = NDArray[np.bool_]  # (…, stereotypes), which of them are used


def deviations_by_level(
    strata: Sequence[StratumSquares], scales: Array, factor: str
) -> tuple[Array, Array]:
    """Return the deviations of stereotypes by the levels of a factor, and where there are some.

    Both have shape (stereotypes, levels); a stereotype with one level has none.
    """
    totals = [stratum.totals[factor] for stratum in strata]
    n_levels = np.array([len(codes) for codes, _, _ in totals])
    several = np.repeat(n_levels > 1, n_levels)
    rows = np.repeat(np.arange(len(strata)), n_levels)[several]
    codes = np.concatenate([codes for codes, _, _ in totals])[several]
    means = np.concatenate([means for _, means, _ in totals])[several]
    levels, columns = np.unique(codes, return_inverse=True)
    deviations, present = np.zeros((2, len(strata), len(levels)))
    deviations[rows, columns] = means / scales[rows] ** 0.5
    present[rows, columns] = 1.0
    return deviations, present


def design_effect(deviations: Array, present: Array, used: Used) -> Array:
    """Return by how much less stereotypes tell of a component, as they share a factor's levels.

    Of S stereotypes with the same levels, whose deviations correlate by ρ, 1 + (S − 1)ρ²: the
    squares of correlated deviations tell what fewer independent ones would. Deviations and presence
    are of `deviations_by_level`; `used`, shape (choices, stereotypes), has a choice of stereotypes
    a row. Result: shape (choices,).
    """
    levels = present.sum(axis=1)
    present_in = (used & (levels > 0)).astype(float)
    n_strata = present_in.sum(axis=1)
    squares = present_in @ deviations**2
    at_most = ((present_in @ present - 1.0) * squares).sum(axis=1)
    co_moved = ((present_in @ deviations) ** 2 - squares).sum(axis=1)
    shared = (n_strata > 1) & (at_most > _NOTHING)
    correlation = np.divide(co_moved, at_most, out=np.zeros_like(at_most), where=shared)
    correlation = correlation.clip(0.0, 1.0)
    # Over all pairs, the part of the levels that two have in common: S² where all have the same.
    overlap = present_in @ (present / np.sqrt(np.maximum(levels, 1.0))[:, None])
    sharing = (overlap**2).sum(axis=1)
    more = np.divide(sharing, n_strata, out=np.ones_like(n_strata), where=shared) - 1.0
    return np.asarray(1.0 + more * correlation**2)


def greatest_shared_variance(
    strata: Sequence[StratumSquares], variances: Array, factor: str
) -> float:
    """Return what a factor adds to the variance of a mean at most: if its levels move all alike.

    `variances`, shape (stereotypes,), are its parts of the variances of their means, times the
    squares of the shares. Only levels that stereotypes share add anything.
    """
    codes, moved, _ = _moved(strata, variances, factor)
    # The square of a sum less its squares: twice the products of different stereotypes. By level,
    # so that it is 0, without rounding, where one stereotype has a level.
    by_level = np.bincount(codes, moved)
    return float((by_level**2 - np.bincount(codes, moved**2)).sum())


def single_level_variance(strata: Sequence[StratumSquares], variances: Array, factor: str) -> float:
    """Return what stereotypes with one level add to the variance of a mean as they share it.

    Parameters are those of `greatest_shared_variance`. Nothing tells how alike such a level moves
    stereotypes: it is charged as if all alike.
    """
    codes, moved, single = _moved(strata, variances, factor)
    by_single, by_others = np.bincount(codes, moved * single), np.bincount(codes, moved * ~single)
    squares = np.bincount(codes, (moved * single) ** 2)
    return float((by_single**2 - squares + 2.0 * by_single * by_others).sum())


def _moved(
    strata: Sequence[StratumSquares], variances: Array, factor: str
) -> tuple[Codes, Array, Used]:
    """Return how far the levels of a factor move each stereotype, if they are known.

    A row per level of a stereotype: its code, how far it moves, and whether it is the only one.
    """
    totals = [stratum.totals[factor] for stratum in strata]
    codes = np.concatenate([of_stratum for of_stratum, _, _ in totals])
    shares = np.concatenate([of_stratum for _, _, of_stratum in totals])
    n_levels = np.array([len(of_stratum) for of_stratum, _, _ in totals])
    rows = np.repeat(np.arange(len(strata)), n_levels)  # the stereotype of each level
    recorded = np.bincount(rows, codes) > 0  # code 0: not recorded
    sizes = np.bincount(rows, shares**2) ** 0.5
    moved = (np.where(recorded, variances, 0.0) ** 0.5 / sizes)[rows] * shares
    return codes, moved, n_levels[rows] == 1


def shared_variance(
    strata: Sequence[StratumSquares], shares: Array, factor: str
) -> tuple[float, float]:
    """Return what the levels of a factor that stereotypes share add to the variance of their mean.

    `shares`, shape (stereotypes,), are the parts of the answers; negative for the baseline of a
    difference. Beside it, the variance of this number; both 0 where no level is shared. It may be
    below 0, as it is unbiased.
    """
    component, error, weight = shared_component(strata, shares, factor)
    return weight * component, weight**2 * error


def shared_component(
    strata: Sequence[StratumSquares], shares: Array, factor: str
) -> tuple[float, float, float]:
    """Return the component of a factor that stereotypes share, its variance, and its weight.

    The weight is what the component is multiplied with in the variance of the mean. All are 0 where
    no level is shared. The component is on the scale of the means, unbiased, and may be below 0.
    """
    used = [(share, stratum.totals[factor]) for share, stratum in zip(shares, strata, strict=True)]
    used = [(share, totals) for share, totals in used if len(totals[0]) > 1]
    if len(used) < 2:
        return 0.0, 0.0, 0.0
    levels, columns = np.unique(
        np.concatenate([codes for _, (codes, _, _) in used]), return_inverse=True
    )
    no_level_is_shared = len(levels) == len(columns)
    if no_level_is_shared or not 1 < len(levels) <= MOST_LEVELS:
        return 0.0, 0.0, 0.0
    rows = np.repeat(np.arange(len(used)), [len(codes) for _, (codes, _, _) in used])
    sums, counts = np.zeros((2, len(used), len(levels)))
    sums[rows, columns] = np.concatenate([share * means for share, (_, means, _) in used])
    counts[rows, columns] = np.concatenate([share * part for share, (_, _, part) in used])
    centring = _centring(counts)
    pooled = sums.sum(axis=0)
    of_each = (sums**2).sum()
    weight = float((counts.sum(axis=0) ** 2).sum() - (counts**2).sum())
    # What the pooled sum of squares expects of the component, less what each stereotype's does.
    informative = (centring**2).sum() - _centred_squares(counts).sum()
    if weight * informative <= _NOTHING**2:
        return 0.0, 0.0, 0.0
    of_pooled = float(pooled @ pooled)
    # Of absolute counts: those of a baseline are negative and would cancel its levels.
    absolute = _centring(np.abs(counts))
    df = np.trace(absolute) ** 2 / (absolute**2).sum()
    error = 2.0 * (max(of_pooled, of_each) / informative) ** 2 / df
    return (of_pooled - of_each) / informative, error, weight


def _centring(counts: Array) -> Array:
    """Return the sum of diag(c) − cc'/Σc over the rows c."""
    within = counts.T @ (counts / counts.sum(axis=1)[:, None])
    return np.asarray(np.diag(counts.sum(axis=0)) - within)


def _centred_squares(counts: Array) -> Array:
    """Return the sum of squares of diag(c) − cc'/Σc of each row c."""
    total = counts.sum(axis=1)
    squares = (counts**2).sum(axis=1)
    cubes = (counts**3).sum(axis=1)
    return np.asarray(squares - 2.0 * cubes / total + squares**2 / total**2)
