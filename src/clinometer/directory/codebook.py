"""The codebook: a page with every table and its columns, generated from the schemas.

``python -m clinometer.directory.codebook > docs/reference/columns.md`` writes it.
"""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from clinometer.directory.results import all_tables
from clinometer.families import families
from clinometer.results.columns import COLUMNS
from clinometer.results.estimates import KEYS
from clinometer.results.schemas import Table

_INTRODUCTION = f"""\
# Columns of the tables

A results directory has each of these tables as a file `<name>.parquet`; tables without rows are
left out. A column has the same meaning in every table. An empty field (null) is a missing value;
`note`, `reason` or `because` says why it is missing.

`estimates` has the estimates of every family; the other tables have details. Rows of `estimates`
with equal values in all columns from `family` to `{[*KEYS][-1]}` belong to the same estimate, with
one row per `method` and `alternative`. If `factor` is filled, the estimate is the difference
candidate − baseline.

In CSV a text that a spreadsheet would run as a formula has an apostrophe before it; Clinometer
leaves it out when it reads.
"""

_HEADINGS = {
    "": "Estimates",
    "answers": "Answers to prompts",
    **{name: family.title for name, family in families().items()},
    "comparison": "Comparisons",
}

_TYPES = {
    pl.String(): "text",
    pl.Int64(): "whole number",
    pl.Float64(): "number",
    pl.Boolean(): "true or false",
    pl.List(pl.String()): "list of texts",
}


def codebook() -> str:
    """Return ``docs/reference/columns.md``: every table with its columns, types and meanings."""
    page = [_INTRODUCTION]
    for family, heading in _HEADINGS.items():
        tables = {name: table for name, table in all_tables().items() if table.family == family}
        if tables:
            page.append(f"## {heading}\n")
            page += [_section(name, table) for name, table in tables.items()]
    return "\n".join(page)


def _section(name: str, table: Table) -> str:
    meaning = f"{table.meaning[0].upper()}{table.meaning[1:]}."
    return "\n".join([f"### `{name}`", "", meaning, "", *_rows(table), ""])


def _rows(table: Table) -> Iterator[str]:
    columns = {**COLUMNS, **table.own}
    yield "| column | type | meaning |"
    yield "|---|---|---|"
    for name, kind in table.schema.items():
        yield f"| `{name}` | {_TYPES[kind]} | {columns[name].meaning} |"


if __name__ == "__main__":
    print(codebook(), end="")
