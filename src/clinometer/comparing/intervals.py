"""The interval of a row of estimates at any confidence, made again from the row alone."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from clinometer.statistics.rows import mean_of_row

__all__ = ["Ends", "Row", "interval_of_row", "with_times"]

#: A row of `results.ESTIMATES`.
Row = Mapping[str, Any]

#: The ends of an interval.
Ends = tuple[float, float]


def interval_of_row(row: Row, confidence: float) -> Ends | None:
    """Return the interval of a row at any confidence; None where it has none."""
    mean = mean_of_row(row)
    if mean is None:
        return None
    low, high = mean.interval(confidence)
    return None if low is None or high is None else (low, high)


def with_times(row: Row, times: float) -> Row:
    """Return a row as it would be with so many times as many trials of the same prompts."""
    if row["se"] is None:
        return row
    counts = {name: row[name] * times for name in ("df", "units_low", "units_high") if row[name]}
    more = {**counts, "se": row["se"] / times**0.5}
    return {**row, **more, "n_clusters": math.ceil(row["n_clusters"] * times)}
