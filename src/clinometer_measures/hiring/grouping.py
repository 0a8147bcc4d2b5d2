"""Candidates by the groups that their names signal: counts, as tables and as arrays."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from clinometer_measures.hiring.rates import SelectionCounts

__all__ = [
    "FEWEST_DECIDED",
    "FEWEST_SELECTED",
    "GROUPINGS",
    "counted_by",
    "counts_by_group",
    "is_small",
]

#: What candidates are grouped by → the columns.
GROUPINGS: Mapping[str, tuple[str, ...]] = {
    "race": ("race",),
    "gender": ("gender",),
    "race and gender": ("race", "gender"),
}

#: A rate of fewer decisions, or with fewer selections, is said to be of a small cell.
FEWEST_DECIDED, FEWEST_SELECTED = 30, 5


def is_small(n_decided: float, n_selected: float) -> bool:
    """Whether a rate is not to be read alone."""
    return n_decided < FEWEST_DECIDED or n_selected < FEWEST_SELECTED


def counted_by(
    candidates: pl.DataFrame, keys: Sequence[str], selected: str = "selected"
) -> pl.DataFrame:
    """Count candidates by some columns: `n`, `n_selected`, `n_abstained` and `n_unread`.

    `candidates`: a row each, with flags of these names without ``n_``. `selected` may be the name
    of a column of parts of a candidate, whose sum `n_selected` is.
    """
    sums = [pl.col(name).sum().cast(pl.Int64).alias(f"n_{name}")
            for name in ("abstained", "unread")]  # fmt: skip
    n_selected = pl.col(selected).sum().alias("n_selected")
    if candidates.schema[selected] == pl.Boolean:
        n_selected = n_selected.cast(pl.Int64)
    n = pl.len().cast(pl.Int64).alias("n")
    return candidates.group_by(keys, maintain_order=True).agg(n, n_selected, *sums).sort(keys)


def counts_by_group(
    run: pl.DataFrame, selected: str = "selected", groupings: Collection[str] = GROUPINGS
) -> Iterator[tuple[str, pl.DataFrame, SelectionCounts]]:
    """Yield the name of each grouping, its groups, a row each, and the counts of their names.

    `run`: candidates of one run and question, with name, occupation, race and gender.
    """
    names = run.select("name", "race", "gender").unique(maintain_order=True)
    cells = counted_by(run, ["name", "occupation"], selected)
    n_selected = _array(cells, names["name"], pl.col("n_selected"))
    decided = pl.col("n") - pl.col("n_abstained") - pl.col("n_unread")
    n_decided = _array(cells, names["name"], decided)
    intersection = names.select(pl.struct("race", "gender").rank("dense") - 1)["race"].to_numpy()
    for grouping in groupings:
        keys = GROUPINGS[grouping]
        counted = counted_by(run, keys, selected)
        members = [_members(names, row) for row in counted.select(keys).iter_rows(named=True)]
        counts = SelectionCounts(n_selected, n_decided, members, intersection.astype(np.intp))
        yield grouping, counted, counts


def _array(cells: pl.DataFrame, names: pl.Series, value: pl.Expr) -> np.ndarray[Any, Any]:
    """Return a count as an array (names, occupations)."""
    table = cells.select("name", "occupation", value=value).pivot("occupation", index="name")
    ordered = names.to_frame("name").join(table, on="name", how="left", maintain_order="left")
    return ordered.drop("name").fill_null(0).to_numpy().astype(float)


def _members(names: pl.DataFrame, group: Mapping[str, str]) -> np.ndarray[Any, Any]:
    """Return the places of the names of a group."""
    is_member = np.ones(names.height, bool)
    for key, value in group.items():
        is_member &= (names[key] == value).to_numpy()
    return np.flatnonzero(is_member)
