"""Intervals over crossed factors, from what each answer adds to the error of an estimate.

Reference
    Cameron, Gelbach & Miller (2011), J. Business & Economic Statistics 29, 238–249: variances
    clustered by each factor, less those by two, and so on.

Inference
    With u the influence of each answer, the variance clustered by a factor of G levels is
    G / (G − 1) · Σ (sum of u in a level)². All factors are at random. Student's t, with the degrees
    of freedom of the factor with the fewest levels.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import combinations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from clinometer.statistics.intervals import interval_around

Array = NDArray[np.float64]

#: With fewer levels of a factor there is no interval.
FEWEST = 3

CONFIDENCE = 0.95

#: Below this part of the square of an estimate, a variance is due to rounding.
_NOTHING = 1e-12


def factor_levels(answers: pl.DataFrame, names: Iterable[str]) -> list[NDArray[np.intp]]:
    """Return the levels of columns as numbers from 0; a column with one level is no factor."""
    codes = [np.unique(answers[name].to_numpy(), return_inverse=True)[1] for name in names]
    return [levels for levels in codes if levels.max() > 0]


def crossed_slope(
    x: Array, y: Array, factors: Sequence[NDArray[np.intp]]
) -> dict[str, float | None]:
    """Fit y = slope · x, with an interval over crossed factors; with x = 1 it is a mean.

    Parameters
    ----------
    x, y
        Shape (answers,); x is not 0 throughout.
    factors
        The level of each answer in each factor, as numbers from 0.

    Returns
    -------
    dict
        As of `crossed_interval`.

    Examples
    --------
    >>> levels = np.arange(4)
    >>> round(crossed_slope(np.ones(4), np.array([1.0, 2.0, 3.0, 4.0]), [levels])["se"], 4)
    0.6455
    """
    slope = float(x @ y / (x @ x))
    return crossed_interval(slope, x * (y - slope * x) / (x @ x), factors)


def crossed_interval(
    estimate: float, influence: Array, factors: Sequence[NDArray[np.intp]]
) -> dict[str, float | None]:
    """Return an estimate with its interval over crossed factors.

    Parameters
    ----------
    estimate
        In any unit.
    influence
        What each answer adds to its error, in the same unit: (answers,). It sums to 0.
    factors
        The level of each answer in each factor, as numbers from 0.

    Returns
    -------
    dict
        `estimate`, `se`, `df`, `p` (two-sided, against 0), `ci_low`, `ci_high`; all but the first
        None where a factor has fewer than `FEWEST` levels, or nothing varies.
    """
    from scipy.special import stdtr  # scipy takes long to import

    nothing = dict.fromkeys(("se", "df", "p", "ci_low", "ci_high"))
    fewest = min((int(codes.max()) + 1 for codes in factors), default=0)
    if fewest < FEWEST:
        return {"estimate": estimate, **nothing}
    variance, largest = 0.0, 0.0
    for size in range(1, len(factors) + 1):
        for subset in combinations(factors, size):
            codes = np.unique(np.stack(subset), axis=1, return_inverse=True)[1].ravel()
            sums = np.bincount(codes, influence)
            part = float(sums @ sums) * len(sums) / max(len(sums) - 1, 1)
            variance += part if size % 2 else -part
            largest = max(largest, part if size == 1 else 0.0)
    # The sum can be too small by chance, even negative; one factor alone cannot explain more.
    variance = max(variance, largest)
    if variance <= _NOTHING * estimate**2:
        return {"estimate": estimate, **nothing}
    se = math.sqrt(variance)
    df = float(fewest - 1)
    low, high = interval_around(estimate, se, CONFIDENCE, df)
    p = 2 * float(stdtr(df, -abs(estimate) / se))
    return {"estimate": estimate, "se": se, "df": df, "p": p, "ci_low": low, "ci_high": high}
