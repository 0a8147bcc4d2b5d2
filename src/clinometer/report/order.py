"""Several runs in the order of their distance from neutral, as far as it can be told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from clinometer.numbers import interval, number
from clinometer.pieces.drawing.charts import Row
from clinometer.pieces.drawing.figures import Figure
from clinometer.pieces.drawing.intervals import around, forest
from clinometer.pieces.facts import spaced
from clinometer.pieces.sections import Section
from clinometer.pieces.tables import ROW, TableColumn, TableSpec


def _name(row: Mapping[str, Any]) -> str:
    details = [row[name] for name in ("study", "mode", "dimension") if row.get(name)]
    return f"{spaced(row['instrument'])} ({', '.join(details)})"


def _place(row: Mapping[str, Any]) -> str:
    """Write the ends of a rank."""
    low, high = row["rank_low"], row["rank_high"]
    if (low, high) == (1, row["runs"]):
        return "cannot be ordered"
    return f"{low}" if low == high else f"{low} to {high}"


#: With rows of `comparing.rank`.
ORDER = TableSpec(
    "Rank by distance from neutral, 1 the nearest; all ranks of a measure hold at once.",
    (
        TableColumn("Instrument", ROW, _name, align="head"),
        TableColumn("Run", "run"),
        TableColumn("Mean", "mean", number),
        TableColumn("In these prompts", "low high", interval),
        TableColumn("Rank", ROW, _place),
    ),
)


def order_section(ranks: Sequence[Mapping[str, Any]]) -> Section | None:
    """Set out the ranks of runs, in a figure and a table; None where nothing was ranked.

    `ranks`: rows of `comparing.rank`.
    """
    if not ranks:
        return None
    marks = [_mark(row) for row in ranks]
    texts = [f"{row['block']}: {row['label']} {row['shown']}, rank {row['rank']}" for row in marks]
    figure = Figure(
        "order",
        "Runs by distance from neutral, the nearest first. Dot: mean; line: interval in these "
        "prompts.",
        "; ".join(texts),
        forest(marks, around("", marks, 0.0), tips=_TIPS),
    )
    return Section(
        key="order",
        title="Order of the runs",
        figures=(figure,),
        tables=(("", ORDER.render(ranks)),),
        open=True,
        place="before",
    )


_TIPS = (("Run", "label"), ("Mean", "shown"), ("Interval", "interval"), ("Rank", "rank"))


def _mark(row: Mapping[str, Any]) -> Row:
    """Return what a chart needs of a run."""
    ends = {end: row[end] - row["neutral"] for end in ("mean", "low", "high")}
    return {
        **ends,
        "label": row["run"],
        "category": row["run"],
        "block": _name(row),
        "panel": "all",
        "shown": number(row["mean"]),
        "interval": interval(row["low"], row["high"]),
        "rank": _place(row),
    }
