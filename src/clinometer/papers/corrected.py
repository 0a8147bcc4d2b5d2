"""The mean that labels would give over all answers, from readings of all and labels of some.

Reference
    Angelopoulos, Bates, Fannjiang, Jordan & Zrnic (2023), Prediction-powered inference, Science
    382, 669–674; with the weight of Angelopoulos, Duchi & Zrnic (2023), PPI++, arXiv 2311.01453.

Measures
    mean of labels + λ (mean of the readings without a label − mean of those with one). Errors of
    the reader, also those that lean, are taken from the labels, so the mean is unbiased whatever
    they are; λ, 0…1, is 0 where readings say nothing of labels, so the interval is not wider than
    that of the labels alone.

How
    The error is clustered: residuals are summed over clusters, with t at the number of clusters
    less one, as answers about one stereotype are alike.

Assumptions
    The labelled answers were drawn at random from all. Answers that could not be read are in
    neither part.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from clinometer.statistics.intervals import interval_around

#: Labels and clusters below which there is no interval.
FEWEST = 2


class Corrected(NamedTuple):
    """A corrected mean; null ends where there are too few labels or clusters."""

    mean: float | None
    se: float | None
    df: float | None
    low: float | None
    high: float | None
    weight: float
    """λ, of the readings without a label."""


def corrected_mean(
    readings: ArrayLike, labels: ArrayLike, clusters: ArrayLike, *, confidence: float = 0.95
) -> Corrected:
    """Return the mean of labels over all answers that were read.

    Parameters
    ----------
    readings
        A number per answer; nan where nothing was read.
    labels
        A number per answer; nan where it has no label.
    clusters
        What answers are alike in, such as the stereotype.
    confidence
        Of the interval, 0…1.

    Examples
    --------
    >>> estimate = corrected_mean([1, 1, 0, 0, 1, 0], [1, 0, 0, 0, np.nan, np.nan], [*"abcabc"])
    >>> round(estimate.mean, 2), estimate.df
    (0.25, 2.0)
    """
    f, y = np.asarray(readings, float), np.asarray(labels, float)  # as in PPI++
    groups = np.unique(np.asarray(clusters).astype(str), return_inverse=True)[1]
    readable = ~np.isnan(f)
    f, y, groups = f[readable], y[readable], groups[readable]
    labelled = ~np.isnan(y)
    n, rest = int(labelled.sum()), int((~labelled).sum())
    if not n:
        return Corrected(None, None, None, None, None, 0.0)
    weight = _weight(f[labelled], y[labelled], f[~labelled])
    rest_mean = float(f[~labelled].mean()) if rest else 0.0
    mean = float(y[labelled].mean())
    mean += weight * (rest_mean - float(f[labelled].mean()) if rest else 0.0)
    # The mean is a sum over answers; of each, its part of the deviation.
    residuals = np.zeros(len(f))
    corrections = y[labelled] - weight * f[labelled]
    residuals[labelled] = (corrections - corrections.mean()) / n
    if rest:
        residuals[~labelled] = weight * (f[~labelled] - rest_mean) / rest
    sums = np.bincount(groups, residuals)
    n_clusters = len(np.unique(groups))
    if n < FEWEST or n_clusters < FEWEST:
        return Corrected(mean, None, None, None, None, weight)
    se = float(np.sqrt(n_clusters / (n_clusters - 1) * (sums**2).sum()))
    df = float(n_clusters - 1)
    ends = interval_around(mean, se, confidence, df)
    low, high = (float(np.clip(end, 0.0, 1.0)) for end in ends)
    return Corrected(mean, se, df, low, high, weight)


def _weight(f: np.ndarray, y: np.ndarray, rest: np.ndarray) -> float:
    """Return λ, which makes the variance least; 0 where readings do not vary.

    `f` and `y` are the readings and labels of the answers with both, `rest` the other readings.
    """
    if len(y) < FEWEST or len(rest) < FEWEST:
        return 0.0
    variance = float(np.concatenate([f, rest]).var())
    if variance <= 0:
        return 0.0
    covariance = float(((f - f.mean()) * (y - y.mean())).mean())
    return float(np.clip(covariance / (variance * (1.0 + len(y) / len(rest))), 0.0, 1.0))
