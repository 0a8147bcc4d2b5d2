"""Means as rows of a table of estimates, and back: the interval of a row at any confidence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clinometer.results import Schema, columns
from clinometer.statistics.clustered import UNANIMOUS, ClusteredMean, Row
from clinometer.statistics.prompts import BoundedMean

#: A mean with its error.
Mean = ClusteredMean | BoundedMean

#: The columns of `tested_row`.
TESTED: Schema = columns(
    *("test", "se", "df", "statistic", "p", "confidence", "ci_low", "ci_high"),
    *("pointwise_low", "pointwise_high", "n_clusters", "units_low", "units_high"),
)


def position_product(mean: float, size: int, ends: tuple[float, float]) -> float:
    """Return q(1 − q) of where a mean lies between the ends, with one unit in the middle more.

    The added unit keeps it above 0 where all scores are at one end.
    """
    low, high = ends
    share = (min(max(mean, low), high) - low) / (high - low)
    position = (size * share + 0.5) / (size + 1)
    return position * (1.0 - position)


def tested_row(mean: Mean, confidence: float, null: float = 0.0) -> Row:
    """Return the test of a mean against `null` and its interval, as columns of `TESTED`.

    The interval is that of the mean alone, until it is seen with others (`pages`).
    """
    low, high = mean.interval(confidence)
    row: Row = {
        "confidence": confidence,
        "se": mean.se,
        "p": mean.p(null),
        "n_clusters": mean.n_clusters,
        **{"ci_low": low, "ci_high": high, "pointwise_low": low, "pointwise_high": high},
    }
    if isinstance(mean, BoundedMean):
        return {**row, "test": "beta", "units_low": mean.n_low, "units_high": mean.n_high}
    test = UNANIMOUS if mean.unanimous else "t"
    return {
        **row,
        "test": None if row["p"] is None else test,
        "df": mean.df,
        "statistic": mean.t(null),
    }


def mean_of_row(row: Mapping[str, Any]) -> Mean | None:
    """Return the mean of a row of `results.ESTIMATES`; None where it has no error."""
    if row["estimate"] is None or row["se"] is None:
        return None
    ends = row["range_low"], row["range_high"]
    if row.get("units_low") is not None:
        counts = row["n_clusters"], row["units_low"], row["units_high"]
        return BoundedMean(row["estimate"], row["se"], *counts, ends)
    scale = None
    if row.get("range") is not None and None not in ends:
        product = position_product(row["estimate"], row["n_clusters"], ends)
        scale = product * (ends[1] - ends[0]) ** 2
    return ClusteredMean(
        n=row["n_scored"] or 0,
        n_clusters=row["n_clusters"] or 0,
        mean=row["estimate"],
        se=row["se"],
        df=row["df"],
        unanimous=row["test"] == UNANIMOUS,
        bounds=None if None in ends else ends,
        scale=scale,
    )
