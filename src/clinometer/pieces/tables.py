"""The tables of a report, as captioned text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import polars as pl

from clinometer.numbers import interval, number
from clinometer.pieces.prose import (
    SCORE_VERDICTS,
    SIGNS,
    verdict,
    verdict_class,
    verdict_kind,
)
from clinometer.results.ranges import RANGES, lean_text

__all__ = [
    "FROM",
    "LEAN",
    "MODE",
    "NOTE",
    "VERDICT",
    "Render",
    "ReportTable",
    "TableCell",
    "TableColumn",
    "alike",
    "mean_columns",
    "render_table",
]

Render = Callable[[Mapping[str, Any]], str]
Align = Literal["head", "number", "text", "verdict"]


@dataclass(frozen=True)
class TableColumn:
    """A column: its title, how a row's cell is written, and how cells are aligned.

    Cells of a ``head`` head their row, numbers stand to the right, a verdict has its colour.
    Where all cells of a column that may `fold` are the same, the caption says it once.
    """

    title: str
    render: Render
    align: Align = "number"
    fold: bool = False

    def cell(self, row: Mapping[str, Any]) -> TableCell:
        """Write the cell of a row."""
        is_verdict = self.align == "verdict"
        style = f"verdict {verdict_class(row['verdict'])}".strip() if is_verdict else self.style
        return TableCell(self.render(row), style, self.align == "head")

    @property
    def style(self) -> str:
        """Return the style class of the title, and of cells without one of their own."""
        return "num" if self.align == "number" else ""


MODEL = TableColumn("Model", lambda r: r["model"] or "all models", "text", fold=True)
MODE = TableColumn("Mode", lambda r: r["mode"] or "", "text", fold=True)
#: Where a row comes from.
FROM = (MODEL, MODE)
NOTE = TableColumn("Note", lambda r: r["note"] or "", "text")
VERDICT = TableColumn(
    "Verdict", lambda r: verdict(r["verdict"], directed=r.get("directed", True)), "verdict"
)


def _lean_cell(row: Mapping[str, Any]) -> str:
    """Write the sign of a verdict in other prompts, and what is said of both ranges."""
    kind = verdict_kind(row["verdict"])
    directed = row.get("directed", True)
    has_reason = kind == "no verdict" and row["verdict"] == row["verdict_bounded"]
    if kind not in SCORE_VERDICTS or has_reason:  # of a control, or the same in both ranges
        return verdict(row["verdict"], directed=directed)
    text = lean_text(
        row["verdict_bounded"], row["verdict"], row["conditional_on"], directed=directed
    )
    return ", ".join(filter(None, (f"{SIGNS[kind][0]} {text}", row.get("mixed"))))


#: The verdict of a mean in these prompts and in others.
LEAN = TableColumn("Verdict", _lean_cell, "verdict")


@dataclass(frozen=True)
class TableCell:
    """A text, its style class, and whether it heads its row."""

    text: str
    style: str = ""
    head: bool = False


@dataclass(frozen=True)
class ReportTable:
    """A captioned table."""

    caption: str
    columns: tuple[TableCell, ...]
    rows: tuple[tuple[TableCell, ...], ...]


def alike(write: Callable[[Any], str], titles: Mapping[str, str]) -> list[TableColumn]:
    """Make columns of values that are written alike; `titles`: title → the key of the value."""

    # A function of its own: a lambda in a loop would see the last key only.
    def column(title: str, key: str) -> TableColumn:
        """Make the column of one key."""
        return TableColumn(title, lambda r: write(r[key]))

    return [column(title, key) for title, key in titles.items()]


def mean_columns(interval_title: str) -> tuple[TableColumn, ...]:
    """Make the columns of a mean and its intervals in both ranges, under their titles."""
    return (
        TableColumn("Mean", lambda r: number(r["estimate"])),
        TableColumn(
            f"{interval_title} {RANGES['prompts']}",
            lambda r: interval(r["ci_low_bounded"], r["ci_high_bounded"]),
        ),
        TableColumn(
            f"{interval_title} {RANGES['other_prompts']}",
            lambda r: interval(r["ci_low"], r["ci_high"]),
        ),
    )


def render_table(
    rows: pl.DataFrame | Sequence[Mapping[str, Any]], caption: str, columns: Sequence[TableColumn]
) -> ReportTable:
    """Render rows; a column that is empty throughout is left out.

    `rows`: a row for each row of the table.
    `caption`: what is shown; what folded columns say is added.
    """
    row_dicts = list(rows.iter_rows(named=True)) if isinstance(rows, pl.DataFrame) else rows
    heads: list[TableCell] = []
    bodies: list[list[TableCell]] = []
    constants = []
    for column in columns:
        cells = [column.cell(row) for row in row_dicts]
        texts = {cell.text for cell in cells}
        if texts == {""}:
            continue
        if column.fold and len(texts) < 2:
            constants += [f"{column.title}: {text}" for text in texts]
            continue
        heads.append(TableCell(column.title, column.style))
        bodies.append(cells)
    return ReportTable(
        caption=f"{caption} {', '.join(constants)}." if constants else caption,
        columns=tuple(heads),
        rows=tuple(zip(*bodies, strict=True)),
    )
