"""Intervals: of an estimate with a standard error, of draws, and of a share; and one quantile.

Reference
    Student (1908), Biometrika 6(1), 1–25: t. Wilson (1927), JASA 22(158), 209–212: of a share.
    Efron (1987), JASA 82(397), 171–185: the bias-corrected and accelerated bootstrap, BCa.

Measures
    The ends of two-sided intervals, in the unit of the estimate. `clustered.ClusteredMean` and
    `prompts.BoundedMean` have intervals of their own for means of scores on a scale with two ends.

Deviations from the source
    In BCa, a draw equal to the estimate counts half, so that few distinct draws give no bias.
"""

from __future__ import annotations

from typing import Any, Literal, TypeVar, overload

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


@overload
def critical_value(confidence: float, df: float | None = None) -> float: ...


@overload
def critical_value(confidence: float | Array, df: Array) -> Array: ...


@overload
def critical_value(confidence: Array, df: float | Array | None = None) -> Array: ...


def critical_value(confidence: float | Array, df: float | Array | None = None) -> float | Array:
    """Return how many standard errors a two-sided interval reaches to either side.

    Of t with `df` degrees of freedom; of the normal distribution without. nan where `df` is.

    Examples
    --------
    >>> round(critical_value(0.95), 2), round(critical_value(0.95, 4), 2)
    (1.96, 2.78)
    """
    from scipy.special import ndtri, stdtrit  # scipy takes long to import

    upper = 0.5 + np.asarray(confidence, np.float64) / 2.0
    errors = np.asarray(ndtri(upper) if df is None else stdtrit(df, upper), np.float64)
    return float(errors) if np.ndim(errors) == 0 else errors


Estimate = TypeVar("Estimate", float, Array, pl.Expr)


def interval_around(
    estimate: Estimate, se: Estimate, confidence: float, df: float | Array | None = None
) -> tuple[Estimate, Estimate]:
    """Return the symmetric interval of an estimate: Student's with `df`, the normal one without.

    Examples
    --------
    >>> [round(end, 2) for end in interval_around(1.0, 0.5, 0.95)]
    [0.02, 1.98]
    """
    errors: Any = critical_value(confidence) if df is None else critical_value(confidence, df)
    half = errors * se
    return estimate - half, estimate + half


def mean_interval(values: Array, confidence: float) -> tuple[float, float]:
    """Return Student's interval of the mean of two or more independent values, shape (n,).

    Examples
    --------
    >>> [round(end, 2) for end in mean_interval(np.array([1.0, 2.0, 3.0]), 0.95)]
    [-0.48, 4.48]
    """
    n = len(values)
    se = float(values.std(ddof=1)) / n**0.5
    return interval_around(float(values.mean()), se, confidence, n - 1)


def tails(confidence: float) -> tuple[float, float]:
    """Return the shares of a distribution that lie below both ends of its central part."""
    return (1.0 - confidence) / 2.0, (1.0 + confidence) / 2.0


def quantile(
    draws: ArrayLike,
    shares: ArrayLike,
    *,
    axis: int = -1,
    fewest: int = 1,
    method: Literal["linear", "inverted_cdf"] = "linear",
) -> Array:
    """Return quantiles of draws along an axis; draws that are not finite are left out.

    Parameters
    ----------
    draws
        Shape (…, draws), with the draws along `axis`.
    shares
        The share of draws below each quantile, 0…1; a number, or shape (shares,).
    axis
        That of the draws.
    fewest
        With fewer finite draws a quantile is nan.
    method
        As of `numpy.quantile`.

    Returns
    -------
    NDArray[np.float64]
        Shape (…), or (shares, …).

    Examples
    --------
    >>> float(quantile([1.0, 2.0, 3.0, np.nan], 0.5))
    2.0
    """
    values = np.moveaxis(np.asarray(draws, np.float64), axis, -1)
    is_finite = np.isfinite(values)
    values = np.where(is_finite, values, np.nan)
    probabilities = np.asarray(shares, np.float64)
    fewest = max(fewest, 1)
    if values.shape[-1] < fewest:
        return np.full(probabilities.shape + values.shape[:-1], np.nan)
    quantiles = np.asarray(np.quantile(values, probabilities, axis=-1, method=method))
    # `numpy.nanquantile` takes as long for each row as this loop does, and the loop takes only
    # those that need it.
    for row in map(tuple, np.argwhere(~is_finite.all(axis=-1))):
        finite = values[row][is_finite[row]]
        quantiles[..., *row] = (
            np.quantile(finite, probabilities, method=method) if len(finite) >= fewest else np.nan
        )
    return quantiles


def percentile_interval(draws: ArrayLike, confidence: float) -> tuple[float, float]:
    """Return the ends between which the central part of draws lies, shape (draws,): `quantile`.

    Examples
    --------
    >>> percentile_interval([0.0, 1.0, 2.0, 3.0, 4.0], 0.5)
    (1.0, 3.0)
    """
    low, high = quantile(draws, tails(confidence))
    return float(low), float(high)


def percentile_columns(draws: pl.Expr, confidence: float) -> tuple[pl.Expr, pl.Expr]:
    """Give the ends of `percentile_interval` for finite draws in a column."""
    low, high = tails(confidence)
    return draws.quantile(low, "linear"), draws.quantile(high, "linear")


def bca_interval(
    draws: Array, estimates: Array, acceleration: Array, confidence: float
) -> tuple[Array, Array]:
    """Return the ends of BCa intervals of estimates, shape (rows,) each.

    Parameters
    ----------
    draws
        The estimates in draws of a bootstrap, shape (rows, draws); those not finite are left out.
    estimates, acceleration
        Shape (rows,).
    confidence
        Of the intervals.

    Returns
    -------
    tuple
        Both ends; nan where no draw is finite or draws do not differ.
    """
    from scipy.special import ndtr, ndtri  # scipy takes long to import

    observed, number = estimates[:, None], draws.shape[1]
    below = (draws < observed).mean(axis=1) + (draws == observed).mean(axis=1) / 2
    # Clipped, because a share of 0 or 1 has an infinite quantile.
    bias = ndtri(np.clip(below, 0.5 / number, 1 - 0.5 / number))
    with np.errstate(invalid="ignore", divide="ignore"):
        shifted = bias + ndtri(np.array(tails(confidence)))[:, None]
        shares = ndtr(bias + shifted / (1 - acceleration * shifted))
    ends = np.full(shares.shape, np.nan)
    for row, row_draws in enumerate(draws):
        finite = row_draws[np.isfinite(row_draws)]
        if np.isfinite(shares[:, row]).all() and len(finite) and np.ptp(finite) > 0:
            ends[:, row] = quantile(finite, shares[:, row])
    return ends[0], ends[1]


Share = TypeVar("Share", Array, pl.Expr)


def wilson(share: Share, n: Share | int, confidence: float) -> tuple[Share, Share]:
    """Give Wilson's interval of a share of `n`."""
    z = critical_value(confidence)
    centre = share + z**2 / (2 * n)
    half = z * (share * (1 - share) / n + z**2 / (4 * n**2)) ** 0.5
    scale = 1 + z**2 / n
    return ((centre - half) / scale).clip(0.0, 1.0), ((centre + half) / scale).clip(0.0, 1.0)
