"""Agreement of leans with people's ratings: correlation, ceiling, slope, shift, and their errors.

Reference
    Reliability of a mean from single ratings: the variance of the groups' means less that which the
    spread of the ratings within a group explains, as a share of the former; Shavelson & Webb
    (1991), *Generalizability theory: a primer*, one facet, nested. Correction for attenuation:
    Spearman (1904), American J. Psychology 15, 72–101. Errors in a predictor: Fuller (1987),
    *Measurement error models*, section 1.2. Crossed sources of variation: Cameron, Gelbach & Miller
    (2011), J. Business & Economic Statistics 29, 238–249, here with variances of the jackknife.

Values
    Leans have the shape (wordings, groups, pairs), nan where nothing was asked. A rating counts as
    it is (0 to 100) in correlation and ceiling. In slope and shift it counts as a choice: 1 above
    the middle of the scale, −1 below, 0 on it, as a rater would have chosen who had to take one of
    the two traits, as the model has to. So both have one scale, from −1 to 1.

Statistics
    Correlations are over groups within a pair, then averaged over pairs: pairs differ in their
    level, in ratings and in models, which is of no group. The ceiling is the mean square root of
    the reliability: what a model would reach that knows what all such raters say. The slope is the
    sum over pairs of the covariances of leans and choices, by that of the variances of choices less
    what raters' disagreement explains. The shift is the mean difference of leans and choices, both
    less those of people in general.

Errors
    Delete-one jackknife over groups, raters and wordings: V(groups) + V(wordings) + V(raters) −
    V(rater of a group), this difference not below 0. Deleting a group also deletes what its raters
    add; of raters only the variance beyond that is added. What wordings add to single groups counts
    twice, which makes intervals a little too wide: taking it off, as for raters, made some too
    narrow. Degrees of freedom: Satterthwaite (1946). Pairs of traits are held fixed.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clinometer.statistics.intervals import interval_around

__all__ = ["STATISTICS", "EstimatedStatistic", "RatedLeans", "agree", "shuffle"]

Array = NDArray[np.float64]

STATISTICS = ("correlation", "ceiling", "corrected", "slope", "shift", "wordings")

#: Fewer groups are not correlated.
FEWEST = 4

#: Sums of ratings of a cell: number, ratings, their squares, choices, their squares.
SUMS = 5

#: Correlations are kept from ±1, where Fisher's transformation is infinite.
MOST = 1 - 1e-9


@dataclass(frozen=True)
class RatedLeans:
    """Leans of a model, and the ratings of the same groups and pairs."""

    leans: Array
    """(wordings, groups, pairs)."""
    sums: Array
    """(cells, `SUMS`, pairs); a cell is what one rater says of one group."""
    cell_groups: NDArray[np.intp]
    cell_raters: NDArray[np.intp]
    parts: Sequence[NDArray[np.intp]]
    """The pairs of each part that is told apart: all, and those of each dimension."""
    reference: int | None = None
    """The group that is people in general."""

    @cached_property
    def totals(self) -> Array:
        """Sums of each group: (`SUMS`, groups, pairs)."""
        totals = np.zeros((self.leans.shape[1], *self.sums.shape[1:]))
        np.add.at(totals, self.cell_groups, self.sums)
        return totals.transpose(1, 0, 2)


class EstimatedStatistic(NamedTuple):
    """A statistic of one part, with its error; nan where there is none."""

    estimate: float
    se: float
    df: float
    low: float
    high: float


def agree(rated: RatedLeans, confidence: float = 0.95) -> list[dict[str, EstimatedStatistic]]:
    """Return the `STATISTICS` of each part, with intervals."""
    statistics = _transform(_statistics(rated.leans, rated.totals, rated))
    variance, df = _variance(rated)
    interval = interval_around(statistics, np.sqrt(variance), confidence, df)
    ends = [_transform(end, back=True) for end in interval]
    values = _transform(statistics, back=True)
    # By the delta method, back from Fisher's scale.
    se = np.sqrt(variance) * np.where(_CORRELATIONS[:, None], 1 - values**2, 1.0)
    agreements = []
    for part in range(len(rated.parts)):
        columns = (values, se, df, *ends)
        part_rows = [[float(column[row, part]) for column in columns] for row in range(len(values))]
        agreements.append(
            {
                name: EstimatedStatistic(*row)
                for name, row in zip(STATISTICS, part_rows, strict=True)
            }
        )
    return agreements


_CORRELATIONS = np.array([name in ("correlation", "wordings") for name in STATISTICS])


def _transform(values: Array, *, back: bool = False) -> Array:
    """Transform correlations to Fisher's z, or back; other statistics stay."""
    rows = _CORRELATIONS[:, None]
    if back:
        return np.where(rows, np.tanh(values), values)
    return np.where(rows, np.arctanh(np.clip(np.where(rows, values, 0.0), -MOST, MOST)), values)


def _statistics(leans: Array, totals: Array, rated: RatedLeans) -> Array:
    """Return the statistics of each part: (`STATISTICS`, parts)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of means of nothing, which are nan
        centred = leans - np.nanmean(leans, axis=1, keepdims=True)
        lean = np.nanmean(centred, axis=0)  # (groups, pairs)
        n, total, square, choices, choice_square = totals
        is_used = np.isfinite(lean) & (n > 0)
        is_used &= is_used.sum(axis=0) >= FEWEST
        rating, choice = (np.where(is_used, sums / n, np.nan) for sums in (total, choices))
        lean = np.where(is_used, lean, np.nan)
        reliability = 1 - _error(n, total, square, is_used) / _variance_of(rating)
        # Of ratings that are not reliable at all, the ceiling is 0.
        ceiling = np.sqrt(np.clip(reliability, 0.0, 1.0))
        slope = _covariance(lean, choice)
        spread = _variance_of(choice) - _error(n, choices, choice_square, is_used)
        correlation = _correlation(lean, rating)
        shift = _shift(leans, choices / n, is_used, rated.reference)
        between = _between(centred)
        columns: list[list[float]] = []
        for pairs in rated.parts:
            means = [
                float(np.nanmean(values[pairs]))
                for values in (correlation, ceiling, shift, between)
            ]
            r, most, moved, wordings = means
            common = float(np.nansum(slope[pairs])) / float(np.nansum(spread[pairs]) or np.nan)
            columns.append([r, most, r / most if most else np.nan, common, moved, wordings])
    return np.array(columns).T


def _variance_of(values: Array) -> Array:
    """Return the variance over groups of each pair."""
    return np.asarray(np.nanvar(values, axis=0, ddof=1))


def _covariance(x: Array, y: Array) -> Array:
    """Return the covariance over groups of each pair; both have nan at the same places."""
    deviations = (x - np.nanmean(x, axis=0)) * (y - np.nanmean(y, axis=0))
    n = np.isfinite(deviations).sum(axis=0)
    return np.asarray(np.where(n > 1, np.nansum(deviations, axis=0) / (n - 1), np.nan))


def _correlation(x: Array, y: Array) -> Array:
    scale = np.sqrt(_variance_of(x) * _variance_of(y))
    return np.where(scale > 0, _covariance(x, y) / scale, np.nan)


def _error(n: Array, total: Array, square: Array, is_used: NDArray[np.bool_]) -> Array:
    """Return the mean error variance of the groups' means, of each pair.

    The variance of single ratings is that within groups, pooled over the groups of a pair.
    """
    within = np.where(is_used, square - total**2 / n, 0.0).sum(axis=0)
    df = np.where(is_used, n - 1, 0.0).sum(axis=0)
    per_mean = np.where(is_used, 1 / n, 0.0).sum(axis=0) / is_used.sum(axis=0)
    return np.asarray(np.where(df > 0, within / df * per_mean, np.nan))


def _shift(leans: Array, choice: Array, is_used: NDArray[np.bool_], reference: int | None) -> Array:
    """Return leans − choices, both less those of people in general, of each pair."""
    if reference is None:
        return np.full(choice.shape[1], np.nan)
    differences = np.nanmean(leans, axis=0) - (choice - choice[reference])
    differences = np.where(is_used, differences, np.nan)
    differences[reference] = np.nan
    return np.asarray(np.nanmean(differences, axis=0))


def _between(centred: Array) -> Array:
    """Return the mean correlation of two wordings over groups, of each pair."""
    wordings = centred.shape[0]
    if wordings < 2:
        return np.full(centred.shape[2], np.nan)
    scale = np.sqrt(np.nansum(centred**2, axis=1, keepdims=True))
    unit = np.where(scale > 0, np.nan_to_num(centred) / scale, 0.0)
    # The square of a sum has every product of two wordings twice, and each with itself.
    products = (unit.sum(axis=0) ** 2).sum(axis=0) - (unit**2).sum(axis=(0, 1))
    return np.asarray(products / (wordings * (wordings - 1)))


def _variance(rated: RatedLeans) -> tuple[Array, Array]:
    """Return variance and degrees of freedom of the statistics: (`STATISTICS`, parts)."""
    groups = _jackknife(_without_groups(rated))
    raters = np.zeros_like(groups)
    n_raters = len(np.unique(rated.cell_raters))
    # Where each rated one group the two are the same, but for those of people in general.
    if n_raters < len(rated.sums) or rated.reference is not None:
        cell_variance = _jackknife(_without_rater_cells(rated))
        raters = np.maximum(0.0, _jackknife(_without_raters(rated)) - cell_variance)
    sources = [
        (groups, rated.leans.shape[1] - 1),
        (raters, n_raters - 1),
        (_jackknife(_without_wordings(rated)), rated.leans.shape[0] - 1),
    ]
    variance = np.zeros_like(groups)
    weight = np.zeros_like(groups)
    for source_variance, df in sources:
        variance = variance + source_variance
        weight = weight + source_variance**2 / max(df, 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return variance, np.where(weight > 0, variance**2 / weight, np.nan)


def _jackknife(replicates: Iterator[Array]) -> Array:
    """Return the variance of statistics from those without one unit each; 0 of fewer than 2."""
    values = np.array([_transform(replicate) for replicate in replicates])
    n = len(values)
    if n < 2:
        return np.zeros(1)
    return np.asarray((n - 1) / n * ((values - values.mean(axis=0)) ** 2).sum(axis=0))


def _without_groups(rated: RatedLeans) -> Iterator[Array]:
    """Yield the statistics without each group; people in general stay what leans are held to."""
    for group in range(rated.leans.shape[1]):
        leans = rated.leans.copy()
        leans[:, group] = np.nan
        yield _statistics(leans, rated.totals, rated)


def _without_raters(rated: RatedLeans) -> Iterator[Array]:
    for rater in np.unique(rated.cell_raters):
        cells = np.flatnonzero(rated.cell_raters == rater)
        yield _statistics(rated.leans, _totals_without(rated, cells), rated)


def _without_rater_cells(rated: RatedLeans) -> Iterator[Array]:
    for cell in range(len(rated.sums)):
        # Deleting the group of people in general does not delete what its raters say.
        if rated.cell_groups[cell] != rated.reference:
            yield _statistics(rated.leans, _totals_without(rated, np.array([cell])), rated)


def _totals_without(rated: RatedLeans, cells: NDArray[np.intp]) -> Array:
    totals = rated.totals.copy()
    for cell in cells:
        totals[:, rated.cell_groups[cell]] -= rated.sums[cell]
    return totals


def _without_wordings(rated: RatedLeans) -> Iterator[Array]:
    if len(rated.leans) > 1:
        for wording in range(len(rated.leans)):
            yield _statistics(np.delete(rated.leans, wording, axis=0), rated.totals, rated)


def shuffle(rated: RatedLeans, times: int, seed: int) -> Array:
    """Return the correlations of each part with the groups of the leans shuffled: (times, parts).

    One order for all pairs of a shuffle, so that what goes together within a group stays together.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of means of nothing, which are nan
        lean = np.nanmean(rated.leans - np.nanmean(rated.leans, axis=1, keepdims=True), axis=0)
    rating = rated.totals[1] / np.where(rated.totals[0] > 0, rated.totals[0], np.nan)
    is_used = np.isfinite(lean) & np.isfinite(rating)
    is_used &= is_used.sum(axis=0) >= FEWEST
    x, y = (_standardised(values, is_used) for values in (lean, rating))
    rng = np.random.default_rng(seed)
    groups = lean.shape[0]
    shuffled = np.array([rng.permutation(groups) for _ in range(times)])
    correlations = np.empty((times, len(rated.parts)))
    for column, pairs in enumerate(rated.parts):
        used = pairs[is_used[:, pairs].any(axis=0)]
        # The product of every two groups; a shuffle takes one in each row.
        products = x[:, used] @ y[:, used].T
        sums = products[shuffled, np.arange(groups)].sum(axis=1)
        correlations[:, column] = sums / len(used) if len(used) else math.nan
    return correlations


def _standardised(values: Array, is_used: NDArray[np.bool_]) -> Array:
    """Return deviations from the mean of each pair, of length 1; 0 where there is no value."""
    used = np.where(is_used, values, 0.0)
    mean = used.sum(axis=0) / np.maximum(is_used.sum(axis=0), 1)
    centred = np.where(is_used, used - mean, 0.0)
    length = np.sqrt((centred**2).sum(axis=0))
    return np.asarray(np.where(length > 0, centred / np.where(length > 0, length, 1.0), 0.0))
