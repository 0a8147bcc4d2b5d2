"""Trials as scores, and the levels of what they share as numbers."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from clinometer.results import SCORES

__all__ = ["as_scores", "codes"]


def as_scores(trials: pl.DataFrame) -> pl.DataFrame:
    """Give trials the columns of scores, all scored."""
    constants = {"model": "simulated", "scoring": "exact", "coverage": 1.0, "one_sided": False}
    filled = trials.with_columns(pl.lit(value).alias(name) for name, value in constants.items())
    empty = [name for name in SCORES if name not in filled.columns]
    filled = filled.with_columns(pl.lit(None).alias(name) for name in empty)
    return filled.select(pl.col(name).cast(dtype) for name, dtype in SCORES.items())


def codes(trials: pl.DataFrame, column: str) -> NDArray[np.int64]:
    """Return a number for each value of a column, in order of appearance."""
    values = trials[column].cast(pl.String)
    numbers = {name: k for k, name in enumerate(values.unique(maintain_order=True))}
    return values.replace_strict(numbers, return_dtype=pl.Int64).to_numpy()
