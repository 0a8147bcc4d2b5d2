"""Printed values as columns of a table, and the printed tables of further wordings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import polars as pl

from clinometer.numbers import number, plain_text
from clinometer.pieces.frames import add_columns
from clinometer.pieces.tables import ROW, Render, ReportTable, TableColumn, TableSpec, head
from clinometer.pieces.views import InstrumentResults

MARKS = "† doubtful in the source, see the notes; – not printed."


def wording_tables(
    results: InstrumentResults, published: pl.DataFrame, main_table: str
) -> tuple[tuple[str, ReportTable], ...]:
    """Set the printed tables of the wordings that were asked beside this run.

    `published`: all printed tables of the instrument.
    `main_table`: the one that stands elsewhere, and is left out.
    Nothing where tables are not by wording.
    """
    if "variation" not in published.columns:
        return ()
    cells = results.levels["cell"]
    label = pl.col("stereotype").replace(results.plan.labels)
    tables = []
    for (table, name), printed in published.group_by("table", "variation", maintain_order=True):
        ours = cells.filter(variation=name).with_columns(label=label)
        if table == main_table or ours.is_empty():
            continue
        # The source names stereotypes by their labels.
        theirs = printed.filter(level="cell").rename({"stereotype": "label"})
        theirs = theirs.filter(pl.col("label").is_in(list(ours["label"])))
        caption = (
            f"Published means (SI Table {table}) beside this run in the wording “{name}” "
            f"({run_names(ours)}). † doubtful in the source (clinometer "
            "published prints why); – not printed."
        )
        tables.append((f"SI Table {table}: {name}", stereotype_table(ours, theirs, caption)))
    return tuple(tables)


def run_names(ours: pl.DataFrame) -> str:
    """Name the models and modes of the means of a run."""
    runs = ours.select(pl.format("{}, {}", "model", "mode")).unique(maintain_order=True)
    return "; ".join(runs.to_series().drop_nulls())


def stereotype_table(ours: pl.DataFrame, theirs: pl.DataFrame, caption: str) -> ReportTable:
    """Set out the means of this run, then a column per published model; a row per stereotype."""
    text = pl.col("estimate").map_elements(number, pl.String, skip_nulls=False)
    means = ours.group_by("label", maintain_order=True).agg(run=text.str.join("; "))
    columns = (
        head("label", "Stereotype"),
        TableColumn("This run", "run", plain_text, "number"),
        *printed_values(theirs.drop_nulls("mean"), ["label"], "model", theirs["model"], 2),
    )
    rows = add_columns(theirs.unique("label", maintain_order=True), means)
    return TableSpec("{caption}", columns).render(rows, caption=caption)


def printed_values(
    frame: pl.DataFrame, keys: list[str], across: str, names: Iterable[str], digits: int
) -> list[TableColumn]:
    """Make a column of values per name; a dagger marks a value with a note, "–" stands for none.

    `keys`: what tells rows apart; `across`: the column whose values are the `names`.
    """
    values: dict[tuple[Any, ...], Mapping[str, Any]] = {}
    for row in frame.iter_rows(named=True):
        values[(*(row[key] for key in keys), row[across])] = row

    def value_of(name: str) -> Render:
        """Write the values of one column."""

        def write(row: Mapping[str, Any]) -> str:
            """Write the value of a row."""
            value = values.get((*(row[key] for key in keys), name))
            return number(value["mean"], digits) + "†" * bool(value["note"]) if value else "–"

        return write

    return [TableColumn(name, ROW, value_of(name)) for name in dict.fromkeys(names)]
