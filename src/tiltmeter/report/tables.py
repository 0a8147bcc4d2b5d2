"""The tables of a report: frames for the files, and the same as captioned text for the page."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import polars.selectors as cs

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

__all__ = [
    "Cell",
    "FROM",
    "Render",
    "Table",
    "brief_table",
    "category_table",
    "count",
    "estimate_table",
    "naive_table",
    "order_table",
    "render_table",
    "word_table",
    "write_tables",
]

Render = Callable[[Mapping[str, Any]], str]

#: Where a row comes from.
FROM: dict[str, Render] = {
    "Model": lambda r: r["model"] or "all models",
    "Mode": lambda r: r["mode"] or "",
}


@dataclass(frozen=True)
class Cell:
    """A text and how it is set: ``num``, ``verdict …`` or nothing."""

    text: str
    style: str = ""


@dataclass(frozen=True)
class Table:
    """A captioned table; the first `heads` cells of each row are its headers."""

    caption: str
    columns: tuple[Cell, ...]
    rows: tuple[tuple[Cell, ...], ...]
    heads: int = 1


def brief_table(rows: Sequence[Mapping[str, Any]], plan: Plan, caption: str) -> Table:
    """Count the verdicts per measure, model and mode, for reports of many.

    Parameters
    ----------
    rows
        With ``measure, neutral, model, mode``, a ``total`` estimate or None, and ``verdicts``,
        a list of codes.
    plan
        For the confidence of the intervals.
    caption
        What is shown.

    Returns
    -------
    Table
        One row each; what is the same throughout is left to the caption.
    """
    values = {head: {row[head.lower()] for row in rows} for head in ("Measure", "Model", "Mode")}
    heads = [head for head in values if len(values[head]) > 1] or ["Model"]
    same = [f"{head}: {rows[0][head.lower()]}" for head in values if head not in heads]
    caption = f"{caption} {', '.join(same)}." if same else caption
    counts = [f"{sign} {label}" for sign, label in SIGNS.values()]
    titles = (*heads, *counts, "Neutral", "Mean", plan.interval, "Scored")
    body = []
    for row in rows:
        kinds = [verdict_kind(code) for code in row["verdicts"]]
        total = row["total"] or dict.fromkeys(("estimate", "ci_low", "ci_high", "compliance"))
        texts = [str(kinds.count(kind)) for kind in SIGNS]
        texts += [f"{row['neutral']:g}", number(total["estimate"])]
        texts += [interval(total["ci_low"], total["ci_high"]), percent(total["compliance"])]
        named = tuple(Cell(row[head.lower()] or "") for head in heads)
        body.append((*named, *[Cell(text, "num") for text in texts]))
    columns = tuple(Cell(title, "num" if i >= len(heads) else "") for i, title in enumerate(titles))
    return Table(caption, columns, tuple(body), heads=len(heads))


def category_table(frame: pl.DataFrame, plan: Plan, caption: str) -> Table:
    """Set out the verdict per category and over all."""
    return render_table(
        frame,
        caption,
        {
            "Category": lambda r: category_title(r["category"]) if r["category"] else "All",
            **FROM,
            "Verdict": lambda r: verdict(r["verdict"]),
            "Mean": lambda r: number(r["estimate"]),
            plan.interval: lambda r: interval(r["ci_low"], r["ci_high"]),
            "Worst case": _worst,
            "Compliance": lambda r: percent(r["compliance"]),
            "n": lambda r: str(r["n"]),
        },
    )


def estimate_table(frame: pl.DataFrame, plan: Plan, caption: str) -> Table:
    """Set out the estimates per stereotype in full; labels are those of each row's study."""
    return render_table(
        frame,
        caption,
        {
            "Stereotype": lambda r: plan.of(r["study"]).label(r["stereotype"]),
            **FROM,
            "Verdict": lambda r: verdict(r["verdict"]),
            "Mean": lambda r: number(r["estimate"]),
            plan.interval: lambda r: interval(r["ci_low"], r["ci_high"]),
            "df": lambda r: number(r["df"], 1),
            "p": lambda r: p_value(r["p"]),
            "p (Holm)": lambda r: p_value(r["p_holm"]),
            "p (TOST)": lambda r: p_value(r["tost_p_holm"]),
            "d": lambda r: number(r["effect_size"]),
            "Worst case": _worst,
            "Scored / n": lambda r: f"{r['n_scored']} / {r['n']}",
            "Compliance": lambda r: percent(r["compliance"]),
        },
    )


def naive_table(frame: pl.DataFrame, plan: Plan, caption: str) -> Table:
    """Set the papers' t test beside the clustered one."""
    return render_table(
        frame,
        caption,
        {
            "Stereotype": lambda r: plan.label(r["stereotype"]),
            **FROM,
            "Mean": lambda r: number(r["estimate"]),
            "SE (clustered)": lambda r: number(r["se"], 3),
            "Clusters": lambda r: count(r["n_clusters"]),
            "p (clustered)": lambda r: p_value(r["p"]),
            "SE (naive)": lambda r: number(r["se_published"], 3),
            "t (naive)": lambda r: number(r["statistic_published"]),
            "df (naive)": lambda r: number(r["df_published"], 0),
            "p (naive)": lambda r: p_value(r["p_published"]),
        },
    )


def order_table(frame: pl.DataFrame, plan: Plan, caption: str) -> Table:
    """Set out the order effect and the share given to the group named first."""
    return render_table(
        frame,
        caption,
        {
            "Stereotype": lambda r: plan.label(r["stereotype"]) if r["stereotype"] else "All",
            **FROM,
            "Order effect": lambda r: number(r["order_effect"]),
            plan.interval: lambda r: interval(r["order_low"], r["order_high"]),
            "First-named share": lambda r: number(r["first_share"]),
        },
    )


def word_table(frame: pl.DataFrame, caption: str) -> Table:
    """Set out the words that lean most."""
    return render_table(
        frame,
        caption,
        {
            "Stereotype": lambda r: r["label"],
            **FROM,
            "Most often to the marginalized group": lambda r: r["marginalized"],
            "Most often to the default group": lambda r: r["default"],
        },
    )


def write_tables(tables: Mapping[str, pl.DataFrame], folder: Path) -> None:
    """Write each table as CSV and parquet; a null is an empty field, the word "null" a word."""
    folder.mkdir(parents=True, exist_ok=True)
    lists = cs.by_dtype(pl.List(pl.String)).list.join(" | ")
    for name, frame in tables.items():
        frame.with_columns(lists).write_csv(folder / f"{name}.csv")
        frame.write_parquet(folder / f"{name}.parquet")


_TEXT = {
    *("Stereotype", "Category", "Model", "Mode", "Verdict", "Group words", "Asked about"),
    *(
        "Group",
        "Method",
        "Predictor",
        "Table",
        "Note",
        "With",
        "Dimension",
        "Dimensions",
        "Share",
        "Over",
    ),
    *("Network", "Networks", "Identity", "Targets", "Prime", "Emotion", "Missing", "Finding"),
    *("Shared", "Setting", "From", "To"),
    *("Compared", "Contexts", "Removed", "Word", "Space", "Cut", "Test", "Expected", "Level"),
    *("Which", "Measure"),
}


def render_table(
    frame: pl.DataFrame, caption: str, columns: Mapping[str, Render], heads: int = 1
) -> Table:
    """Render rows; a model or mode that is the same throughout is left to the caption.

    Parameters
    ----------
    frame
        A row for each row of the table.
    caption
        What is shown.
    columns
        Title → how its cell is written.
    heads
        How many of the first columns are the headers of a row.

    Returns
    -------
    Table
    """
    rows = list(frame.iter_rows(named=True))
    kept = {
        title: render
        for title, render in columns.items()
        if title not in FROM or len({render(row) for row in rows}) > 1
    }
    dropped = [title for title in columns if rows and title not in kept]
    constant = [f"{title}: {columns[title](rows[0])}" for title in dropped]
    return Table(
        caption=f"{caption} {', '.join(constant)}." if constant else caption,
        columns=tuple(Cell(title, _style(title)) for title in kept),
        rows=tuple(
            tuple(_cell(title, render, row) for title, render in kept.items()) for row in rows
        ),
        heads=heads,
    )


def _cell(title: str, render: Render, row: Mapping[str, Any]) -> Cell:
    if title == "Verdict":
        return Cell(render(row), f"verdict {verdict_class(row['verdict'])}".strip())
    return Cell(render(row), _style(title))


def _style(title: str) -> str:
    return "" if title in _TEXT or title.startswith("Most often") else "num"


def _worst(row: Mapping[str, Any]) -> str:
    if row["bound_low"] is not None and row["bound_low"] == row["bound_high"]:
        return "–"
    return interval(row["bound_low"], row["bound_high"])


def count(value: int | None) -> str:
    """Write a number of things; "n/a" where there is none."""
    return "n/a" if value is None else str(value)
