"""The interval of a row of estimates at any confidence, made again from the row alone."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from clinometer.statistics.clustered import UNANIMOUS, ClusteredMean

__all__ = ["Ends", "Row", "interval_of_row", "mean_of_row", "with_times"]

#: A row of `results.ESTIMATES`.
Row = Mapping[str, Any]

#: The ends of an interval.
Ends = tuple[float, float]


def mean_of_row(row: Row) -> ClusteredMean:
    """Return the mean that a row of estimates tells of, with its error."""
    return ClusteredMean(
        n=row["n_scored"],
        n_clusters=row["n_clusters"],
        mean=row["estimate"],
        se=row["se"],
        df=row["df"],
        unanimous=row["test"] == UNANIMOUS,
        bounds=(row["range_low"], row["range_high"]),
        scale=_scale(row),
    )


def _scale(row: Row) -> float | None:
    """Return the scale of a mean's variance (`ClusteredMean`), from its test against neutral.

    Where there is no t of these scores it is (mean − low)(high − mean), that of many answers.
    """
    low, high, neutral = row["range_low"], row["range_high"], row["neutral"]
    if not row["se"] or None in (low, high, neutral):
        return None
    at_mean = (row["estimate"] - low) * (high - row["estimate"])
    distance = row["estimate"] - neutral
    if row["test"] != "t" or not row["statistic"] or not distance:
        return at_mean or None
    at_neutral = (neutral - low) * (high - neutral)
    return float(at_neutral * (row["statistic"] * row["se"] / distance) ** 2)


def interval_of_row(row: Row, confidence: float) -> Ends | None:
    """Return the interval of a row at any confidence; None where it has none."""
    if row["estimate"] is None or row["se"] is None:
        return None
    low, high = mean_of_row(row).interval(confidence)
    return None if low is None or high is None else (low, high)


def with_times(row: Row, times: float) -> Row:
    """Return a row as it would be with so many times as many trials of the same prompts."""
    if row["se"] is None or row["df"] is None:
        return row
    more = {"se": row["se"] / times**0.5, "df": row["df"] * times}
    if row["statistic"] is not None:
        more["statistic"] = row["statistic"] * times**0.5
    return {**row, **more, "n_clusters": math.ceil(row["n_clusters"] * times)}
