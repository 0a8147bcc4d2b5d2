"""How the stereotypes lie whose mean a row is: a mean near neutral may hide leans of both signs."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import polars as pl

from clinometer.numbers import interval
from clinometer.pieces.prose import LEANS, counted, headline_kind, verdict_kind
from clinometer.statistics.summaries import keys_of

#: The levels whose means are of several stereotypes.
_POOLED_LEVELS = ("category", "model")


def with_spread(estimates: pl.DataFrame) -> pl.DataFrame:
    """Say of each mean of several stereotypes how these lie.

    ``spread``: from the lowest of their means to the highest. ``mixed``: where the mean is near
    neutral, how many of them lean in other prompts nevertheless, as headlines count. Both are null
    where there is nothing to say.

    Parameters
    ----------
    estimates
        A row per mean, with columns of `results.ESTIMATES`; all levels.
    """
    verdicts = estimates.select("verdict", "conditional_on").iter_rows(named=True)
    leans = pl.Series("leans", [headline_kind(row) in LEANS for row in verdicts], dtype=pl.Boolean)
    parts = estimates.with_columns(leans).filter(level="stereotype").drop_nulls("estimate")
    described = pl.concat(
        (_describe(parts, level, estimates.columns) for level in _POOLED_LEVELS), how="diagonal"
    )
    keys = [name for name in described.columns if name in estimates.columns]
    described_estimates = estimates.join(
        described, on=keys, how="left", nulls_equal=True, maintain_order="left"
    )
    rows = [*described_estimates.iter_rows(named=True)]
    return described_estimates.drop(set(described.columns) - set(keys)).with_columns(
        pl.Series("spread", map(_spread_text, rows), dtype=pl.String),
        pl.Series("mixed", map(_mixed_text, rows), dtype=pl.String),
    )


def _describe(parts: pl.DataFrame, level: str, columns: Collection[str]) -> pl.DataFrame:
    """Count the stereotypes of each mean of a level and those that lean, and find the ends."""
    keys = [key for key in ("candidate", *keys_of(level)) if key in columns]
    return parts.group_by(keys).agg(
        pl.lit(level).alias("level"),
        n_parts=pl.len(),
        n_lean=pl.col("leans").sum(),
        least=pl.col("estimate").min(),
        most=pl.col("estimate").max(),
    )


def _spread_text(row: Mapping[str, Any]) -> str | None:
    """Write the ends of the means of stereotypes."""
    if (row["n_parts"] or 0) < 2:
        return None
    return f"{counted(row['n_parts'], 'stereotype')} from {interval(row['least'], row['most'])}"


def _mixed_text(row: Mapping[str, Any]) -> str | None:
    """Say how many stereotypes lean whose mean is near neutral."""
    if verdict_kind(row["verdict"]) != "equivalent" or not row["n_lean"]:
        return None
    verb = "leans" if row["n_lean"] == 1 else "lean"
    return f"though {row['n_lean']} of {counted(row['n_parts'], 'stereotype')} {verb}"
