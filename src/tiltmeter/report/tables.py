"""The tables of a report, as captioned text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import polars as pl

from tiltmeter.report.plan import Plan
from tiltmeter.report.prose import (
    SIGNS,
    category_title,
    interval,
    number,
    p_value,
    percent,
    verdict,
    verdict_class,
    verdict_kind,
)

__all__ = ["Cell", "FROM", "Render", "Table", "brief_table", "category_table", "count",
           "estimate_table", "naive_table", "order_table", "render_table",
           "word_table"]  # fmt: skip

Render = Callable[[Mapping[str, Any]], str]
Align = Literal["head", "number", "text", "verdict"]


@dataclass(frozen=True)
class Column:
    """A column: its title, how a row's cell is written, and how cells are set.

    Cells of a ``head`` head their row, numbers stand to the right, a verdict has its colour.
    Where all cells of a column that may `fold` are the same, the caption says it once.
    """

    title: str
    render: Render
    align: Align = "number"
    fold: bool = False

    def cell(self, row: Mapping[str, Any]) -> Cell:
        """Write the cell of a row."""
        of_verdict = self.align == "verdict"
        style = f"verdict {verdict_class(row['verdict'])}".strip() if of_verdict else self.style
        return Cell(self.render(row), style, self.align == "head")

    @property
    def style(self) -> str:
        """Give the style class of the title, and of cells without one of their own."""
        return "num" if self.align == "number" else ""


MODEL = Column("Model", lambda r: r["model"] or "all models", "text", fold=True)
MODE = Column("Mode", lambda r: r["mode"] or "", "text", fold=True)
#: Where a row comes from.
FROM = (MODEL, MODE)
VERDICT = Column("Verdict", lambda r: verdict(r["verdict"]), "verdict")
MEAN = Column("Mean", lambda r: number(r["estimate"]))
COMPLIANCE = Column("Compliance", lambda r: percent(r["compliance"]))


def _worst(row: Mapping[str, Any]) -> str:
    ends = (row["bound_low"], row["bound_high"])
    return "–" if ends[0] is not None and ends[0] == ends[1] else interval(*ends)


WORST = Column("Worst case", _worst)


@dataclass(frozen=True)
class Cell:
    """A text, its style class, and whether it heads its row."""

    text: str
    style: str = ""
    head: bool = False


@dataclass(frozen=True)
class Table:
    """A captioned table."""

    caption: str
    columns: tuple[Cell, ...]
    rows: tuple[tuple[Cell, ...], ...]


def brief_table(rows: Sequence[Mapping[str, Any]], plan: Plan, caption: str) -> Table:
    """Count the verdicts per measure, model and mode, for reports of many.

    `rows`: with ``measure, neutral, model, mode``, a ``total`` estimate or None, and ``verdicts``,
        a list of codes.
    Result: one row each; what is the same throughout is left to the caption.
    """
    nothing = dict.fromkeys(("estimate", "ci_low", "ci_high", "compliance"))
    wide = [{**(row["total"] or nothing), **row} for row in rows]

    def counted(kind: str) -> Render:
        return lambda r: str([verdict_kind(code) for code in r["verdicts"]].count(kind))

    columns = [
        Column("Measure", lambda r: r["measure"], "head", fold=True),
        Column("Model", lambda r: r["model"] or "", "head", fold=len(rows) > 1),
        Column("Mode", lambda r: r["mode"] or "", "head", fold=True),
        *(Column(f"{sign} {label}", counted(kind)) for kind, (sign, label) in SIGNS.items()),
        Column("Neutral", lambda r: f"{r['neutral']:g}"),
        MEAN,
        _interval(plan),
        Column("Scored", lambda r: percent(r["compliance"])),
    ]
    return render_table(wide, caption, columns)


def _interval(plan: Plan) -> Column:
    return Column(plan.interval, lambda r: interval(r["ci_low"], r["ci_high"]))


def category_table(frame: pl.DataFrame, plan: Plan, caption: str) -> Table:
    """Set out the verdict per category and over all."""

    def category(row: Mapping[str, Any]) -> str:
        return category_title(row["category"]) if row["category"] else "All"

    columns = [
        Column("Category", category, "head"),
        *FROM,
        VERDICT,
        MEAN,
        _interval(plan),
        WORST,
        COMPLIANCE,
        Column("n", lambda r: str(r["n"])),
    ]
    return render_table(frame, caption, columns)


def estimate_table(frame: pl.DataFrame, plan: Plan, caption: str) -> Table:
    """Set out the estimates per stereotype in full; labels are those of each row's study."""
    columns = [
        Column("Stereotype", lambda r: plan.of(r["study"]).label(r["stereotype"]), "head"),
        *FROM,
        VERDICT,
        MEAN,
        _interval(plan),
        Column("df", lambda r: number(r["df"], 1)),
        Column("p", lambda r: p_value(r["p"])),
        Column("p (Holm)", lambda r: p_value(r["p_holm"])),
        Column("p (TOST)", lambda r: p_value(r["tost_p_holm"])),
        Column("d", lambda r: number(r["effect_size"])),
        WORST,
        Column("Scored / n", lambda r: f"{r['n_scored']} / {r['n']}"),
        COMPLIANCE,
    ]
    return render_table(frame, caption, columns)


def naive_table(frame: pl.DataFrame, plan: Plan, caption: str) -> Table:
    """Set the papers' t test beside the clustered one."""
    columns = [
        Column("Stereotype", lambda r: plan.label(r["stereotype"]), "head"),
        *FROM,
        MEAN,
        Column("SE (clustered)", lambda r: number(r["se"], 3)),
        Column("Clusters", lambda r: count(r["n_clusters"])),
        Column("p (clustered)", lambda r: p_value(r["p"])),
        Column("SE (naive)", lambda r: number(r["se_published"], 3)),
        Column("t (naive)", lambda r: number(r["statistic_published"])),
        Column("df (naive)", lambda r: number(r["df_published"], 0)),
        Column("p (naive)", lambda r: p_value(r["p_published"])),
    ]
    return render_table(frame, caption, columns)


def order_table(frame: pl.DataFrame, plan: Plan, caption: str) -> Table:
    """Set out the order effect and the share given to the group named first."""

    def stereotype(row: Mapping[str, Any]) -> str:
        return plan.label(row["stereotype"]) if row["stereotype"] else "All"

    columns = [
        Column("Stereotype", stereotype, "head"),
        *FROM,
        Column("Order effect", lambda r: number(r["order_effect"])),
        Column(plan.interval, lambda r: interval(r["order_low"], r["order_high"])),
        Column("First-named share", lambda r: number(r["first_share"])),
    ]
    return render_table(frame, caption, columns)


def word_table(frame: pl.DataFrame, caption: str) -> Table:
    """Set out the words that lean most."""
    columns = [
        Column("Stereotype", lambda r: r["label"], "head"),
        *FROM,
        Column("Most often to the marginalized group", lambda r: r["marginalized"], "text"),
        Column("Most often to the default group", lambda r: r["default"], "text"),
    ]
    return render_table(frame, caption, columns)


def render_table(
    rows: pl.DataFrame | Sequence[Mapping[str, Any]], caption: str, columns: Sequence[Column]
) -> Table:
    """Render rows; a column that is empty throughout is left out.

    `rows`: a row for each row of the table.
    `caption`: what is shown; what folded columns say is added.
    """
    named = list(rows.iter_rows(named=True)) if isinstance(rows, pl.DataFrame) else rows
    cells = [(column, [column.cell(row) for row in named]) for column in columns]
    kept = [(c, each) for c, each in cells if not named or any(cell.text for cell in each)]
    alike = [(c, each) for c, each in kept if c.fold and len({cell.text for cell in each}) < 2]
    shown = [one for one in kept if one not in alike]
    constant = [f"{column.title}: {each[0].text}" for column, each in alike if each]
    return Table(
        caption=f"{caption} {', '.join(constant)}." if constant else caption,
        columns=tuple(Cell(column.title, column.style) for column, _ in shown),
        rows=tuple(zip(*(each for _, each in shown), strict=True)),
    )


def count(value: int | None) -> str:
    """Write a number of things; "n/a" where there is none."""
    return "n/a" if value is None else str(value)
