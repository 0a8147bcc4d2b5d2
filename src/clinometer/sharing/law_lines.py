"""What the tables of Local Law 144 show, in lines for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl

from clinometer.numbers import interval, number, p_value
from clinometer.sharing.counts import Counts
from clinometer.sharing.ll144 import (
    GROUPINGS,
    count_unknown,
    is_benchmark,
    is_left_out,
    is_scored,
    name_category,
    varying_runs,
)


def describe(rates: pl.DataFrame, counts: Counts) -> Iterator[str]:
    """Yield what was understood and found, a line each: categories, benchmarks, ratios."""
    if is_scored(counts):
        scores = counts.table["score"].to_list()
        yield f"score: {min(scores):g} to {max(scores):g}, {len(scores):,} people"
    runs = varying_runs(rates)
    for keys, run in rates.group_by(runs or [pl.lit("")], maintain_order=True):
        where = ", ".join(map(str, keys))
        for line in _describe_run(run):
            yield f"{where}: {line}" if where else line
    yield f"of an unknown category: {count_unknown(rates, counts):,} people, in no ratio"
    if counts.unused:
        columns = (f"{name} ({n:,} values)" for name, n in counts.unused.items())
        yield f"columns not used: {', '.join(columns)}"


def _describe_run(rates: pl.DataFrame) -> Iterator[str]:
    """Yield the lines of the tables of one run; ratios of intersections stand in the files."""
    for grouping in GROUPINGS:
        rows = rates.filter(grouping=grouping).rows(named=True)
        for row in filter(is_benchmark, rows):
            yield f"{grouping}: ratios are to {name_category(row)}, {_rate_text(row)}"
        if grouping != "intersections":
            for row in rows:
                if row["impact_ratio"] is not None and not is_benchmark(row):
                    yield f"{grouping}: {name_category(row)}, {_rate_text(row)}: {_ratio_text(row)}"
        if excluded := [name_category(row) for row in rows if is_left_out(row)]:
            yield f"{grouping}: below 2%, and no benchmark: {'; '.join(excluded)}"


def _rate_text(row: Mapping[str, Any]) -> str:
    return f"{number(100 * row['rate'], 0)} of 100 (of {row['n']:,.0f})"


def _ratio_text(row: Mapping[str, Any]) -> str:
    """Write a ratio with its interval, its p and the four-fifths rule, as far as there are any."""
    parts = [f"impact ratio {number(row['impact_ratio'])}"]
    if row["ratio_low"] is not None:
        parts[0] += f" [{interval(row['ratio_low'], row['ratio_high'])}]"
    if row["p"] is not None:
        parts.append(f"p {p_value(row['p'])}")
    if row["four_fifths"] is not None:
        parts.append(f"four fifths: {row['four_fifths']}")
    return ", ".join(parts)
