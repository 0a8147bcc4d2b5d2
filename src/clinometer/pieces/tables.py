"""The tables of a report: specifications, and the captioned text they make of rows.

A table is a `TableSpec`: its caption and its columns, most of them by name. What a column is called
and how its values are written is declared where the column is (`results.columns`); a `TableColumn`
stands where a table says it differently. Rendering is the last step.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import polars as pl

from clinometer import numbers
from clinometer.numbers import FORMATS, plain_text
from clinometer.pieces.prose import SCORE_VERDICTS, SIGNS, verdict, verdict_class, verdict_kind
from clinometer.results.columns import COLUMNS, INTERVALS, Column, Meaning, typed_columns
from clinometer.results.ranges import RANGES, lean_text

Align = Literal["head", "number", "text", "verdict"]
#: What becomes of a column whose cells are all the same.
Same = Literal["shown", "in caption", "left out"]

#: Writes a text about a row.
Render = Callable[[Mapping[str, Any]], str]

#: In place of names: a cell is written from its whole row.
ROW = ""

#: Columns that rows for readers have beside those of tables: names, and what other methods say.
_FOR_READERS = {
    **typed_columns(
        pl.String(),
        about=Meaning("what the row is about, as readers call it", "Stereotype"),
        dimension_label=Meaning("the dimension, as readers call it", "Dimension"),
    ),
    **typed_columns(
        pl.Float64(),
        se_published=Meaning("standard error of the papers' test", "SE (naive)", digits=3),
        statistic_published=Meaning("t of the papers' test", "t (naive)"),
        df_published=Meaning("degrees of freedom of the papers' test", "df (naive)", digits=0),
        p_published=Meaning("p of the papers' test", "p (naive)", "p"),
    ),
}


@dataclass(frozen=True)
class TableColumn:
    """A column of a table: its title, what its cells are written from and how, and how they stand.

    `title`: may name values that the table is rendered with, as "{interval}".
    `names`: columns of the rows, separated by spaces, whose values `write` gets; or `ROW`.
    `align`: cells of a ``head`` head their row, numbers stand to the right, a verdict has its
        colour; where None, it is a text or a number, as `write` says.
    `digits`: what `write` gets as well, where it is not None.
    `missing`: what stands where the first value is null; where None, what `write` makes of it.
    `same`: whether a column is shown whose cells are all the same; the caption may say it once.
    `needs`: a column; where rows lack it, or it is null throughout, there is no column.
    """

    title: str
    names: str
    write: Callable[..., str] = plain_text
    align: Align | None = None
    digits: int | None = None
    missing: str | None = None
    same: Same = "shown"
    needs: str = ""

    def cells(self, rows: Sequence[Mapping[str, Any]]) -> list[TableCell]:
        """Write the cells of rows; they are empty where the rows lack what the column needs."""
        if self.needs and all(row.get(self.needs) is None for row in rows):
            return [TableCell("") for _ in rows]
        return [TableCell(self._text(row), self._style(row), self.align == "head") for row in rows]

    def is_drawn(self, texts: Collection[str]) -> bool:
        """Say whether a column with such distinct texts is shown: one that is empty is not."""
        if self.same != "shown" and len(texts) < 2:
            return False
        return set(texts) != {""} and (bool(texts) or not self.needs)

    def _text(self, row: Mapping[str, Any]) -> str:
        if self.names == ROW:
            return self.write(row)
        values = [row[name] for name in self.names.split(" ")]
        if self.missing is not None and values[0] is None:
            return self.missing
        return self.write(*values) if self.digits is None else self.write(*values, self.digits)

    def _style(self, row: Mapping[str, Any]) -> str:
        is_verdict = self.align == "verdict"
        return f"verdict {verdict_class(row['verdict'])}".strip() if is_verdict else self.style

    @property
    def style(self) -> str:
        """Return the style class of the title, and of cells without one of their own."""
        is_number = self.align is None and self.write is not plain_text
        return "num" if is_number or self.align == "number" else ""


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


@dataclass(frozen=True)
class TableSpec:
    """What a table shows: its caption, and its columns.

    `caption`: a template of the values that it is rendered with.
    `columns`: names of columns and of `INTERVALS`, or columns that this table shows otherwise.
    `declared`: the columns that only an instrument or a family has.
    """

    caption: str
    columns: tuple[str | TableColumn, ...]
    declared: Mapping[str, Column] = field(default_factory=dict)

    def render(
        self,
        rows: pl.DataFrame | Sequence[Mapping[str, Any]],
        *,
        interval: str = "",
        most: int | None = None,
        **values: object,
    ) -> ReportTable:
        """Render rows; a column that is empty throughout is left out.

        `rows`: a row for each row of the table.
        `interval`: what intervals are called, as "95% interval".
        `most`: how many rows are shown; which columns there are is decided by all of them.
        `values`: what the caption and titles are filled in with. What folded columns say is added
            to the caption.
        """
        row_dicts = list(rows.iter_rows(named=True)) if isinstance(rows, pl.DataFrame) else rows
        filling = {"interval": interval, **values}
        heads: list[TableCell] = []
        bodies: list[list[TableCell]] = []
        constants = []
        for column in map(self._column, self.columns):
            cells = column.cells(row_dicts)
            texts = {cell.text for cell in cells}
            title = _filled(column.title, filling)
            if column.is_drawn(texts):
                heads.append(TableCell(title, column.style))
                bodies.append(cells[:most])
            elif column.same == "in caption":
                constants += [f"{title}: {text}" for text in texts if text]
        caption = self.caption.format(**filling)
        return ReportTable(
            caption=f"{caption} {', '.join(constants)}." if constants else caption,
            columns=tuple(heads),
            rows=tuple(zip(*bodies, strict=True)),
        )

    def _column(self, column: str | TableColumn) -> TableColumn:
        return declared_column(column, self.declared) if isinstance(column, str) else column


def _filled(title: str, values: Mapping[str, object]) -> str:
    """Fill in a title; one that is data of a user may have other braces, which stay."""
    for name, value in values.items():
        title = title.replace(f"{{{name}}}", str(value))
    return title


def declared_column(name: str, declared: Mapping[str, Column]) -> TableColumn:
    """Return a column as it is declared, or an interval.

    `declared`: columns beside those of all tables.
    """
    if name in INTERVALS:
        low, high, title = INTERVALS[name]
        return TableColumn(title, f"{low} {high}", numbers.interval)
    column = declared.get(name) or _FOR_READERS.get(name) or COLUMNS[name]
    digits = column.digits if column.format in ("number", "signed") else None
    return TableColumn(column.title, name, FORMATS[column.format], digits=digits)


def head(
    name: str, title: str = "", *, missing: str | None = None, same: Same = "shown"
) -> TableColumn:
    """Return a column of texts that head their rows; without a `title`, as it is declared."""
    title = title or declared_column(name, {}).title
    return TableColumn(title, name, align="head", missing=missing, same=same)


MODEL = TableColumn("Model", "model", missing="all models", same="in caption")
MODE = TableColumn("Mode", "mode", same="in caption")
#: Where a row comes from.
FROM = (MODEL, MODE)
#: What a row of scores is about.
STEREOTYPE = head("about")


def _verdict_cell(row: Mapping[str, Any]) -> str:
    return verdict(row["verdict"], directed=row.get("directed", True))


VERDICT = TableColumn("Verdict", ROW, _verdict_cell, "verdict")


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
LEAN = TableColumn("Verdict", ROW, _lean_cell, "verdict")

#: A mean, and its intervals in both ranges.
MEAN = (
    TableColumn("Mean", "estimate", numbers.number),
    TableColumn(
        f"{{interval}} {RANGES['prompts']}", "ci_low_bounded ci_high_bounded", numbers.interval
    ),
    TableColumn(f"{{interval}} {RANGES['other_prompts']}", "ci_low ci_high", numbers.interval),
)
