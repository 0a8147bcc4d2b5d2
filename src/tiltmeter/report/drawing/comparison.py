"""Drawings that set published values beside this run's: ticks and diamonds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import altair as alt
import polars as pl

from tiltmeter.report.drawing.charts import (
    LABELS,
    TIPS,
    Axis,
    Row,
    across,
    blocks,
    down,
    ground,
    tooltips,
)
from tiltmeter.report.prose import number
from tiltmeter.report.tables import Column, Render, Table, render_table

__all__ = ["beside", "model_table", "published_table", "ticked"]


def beside(ours: Sequence[Row], theirs: Iterable[Row], panels: Sequence[str]) -> list[Row]:
    """Put published values into each column of this run's rows with the same label.

    `ours`: with ``label, category, block, panel, mean``.
    `theirs`: with ``label``, ``who`` (the published model), ``mean`` and the texts of the tooltip.
    Result: all rows, in the order of the labels of `ours`.
    """
    shown = {row["label"]: row for row in ours}
    published = [
        {
            **row,
            "category": shown[row["label"]]["category"],
            "block": shown[row["label"]]["block"],
            "panel": panel,
            "theirs": True,
            "source": "published models",
        }
        for row in theirs
        if row["label"] in shown and row["mean"] is not None
        for panel in panels
    ]
    mine = [{**row, "theirs": False, "source": "this run"} for row in ours]
    order = {label: place for place, label in enumerate(shown)}
    return sorted(published + mine, key=lambda row: order[row["label"]])


def ticked(rows: Sequence[Row], axis: Axis, panels: Sequence[str], labels: int = LABELS) -> Row:
    """Draw published values as ticks and this run's as diamonds.

    `rows`: what `beside` gave.
    """
    sources = list(dict.fromkeys(row["source"] for row in rows))

    def layers(part: list[Row], axis: Axis) -> list[Any]:
        theirs = [row for row in part if row["theirs"]]
        ours = tooltips([row for row in part if not row["theirs"]], *TIPS)
        color = alt.Color(
            "source:N",
            scale=alt.Scale(domain=sources, range=[_COLORS[name] for name in sources]),
            legend=None,
        )
        return [
            *ground(axis),
            alt.Chart()
            .transform_filter("datum.theirs")
            .mark_tick(thickness=2, size=13)
            .encode(
                x=across("mean", axis),
                y=down(part, labels),
                color=color,
                tooltip=tooltips(theirs, ("Published model", "who"), *TIPS, ("Note", "note")),
            ),
            alt.Chart()
            .transform_filter("!datum.theirs")
            .mark_point(filled=True, shape="diamond", size=95, opacity=1)
            .encode(x=across("mean", axis), y=down(part, labels), color=color, tooltip=ours),
        ]

    return blocks(rows, axis, panels, layers, labels)


_COLORS = {"published models": "var(--soft)", "this run": "var(--gender)"}


def published_table(
    theirs: pl.DataFrame, ours: Mapping[str, str], head: str, caption: str
) -> Table:
    """Set out published values, a row per label and a column per model.

    `theirs`: with ``label, model, mean, note``.
    `ours`: label → this run's means, as text.
    `head`: what the labels are.
    Result: a dagger marks values with a note; "–" stands where the source prints none.
    """
    cells = {(row["label"], row["model"]): row for row in theirs.iter_rows(named=True)}

    def printed(model: str) -> Render:
        def cell(row: Mapping[str, Any]) -> str:
            value = cells.get((row["label"], model))
            known = value and value["mean"] is not None
            return number(value["mean"]) + "†" * bool(value["note"]) if value and known else "–"

        return cell

    return render_table(
        theirs.unique("label", maintain_order=True),
        caption,
        [
            Column(head, lambda r: r["label"], "head"),
            Column("This run", lambda r: ours.get(r["label"], "–")),
            *(Column(model, printed(model)) for model in dict.fromkeys(theirs["model"])),
        ],
    )


def model_table(theirs: pl.DataFrame, ours: pl.DataFrame, caption: str) -> Table:
    """Set out published values and this run's, a row per model and a column per label.

    `theirs`: with ``label, model, mean, note``.
    `ours`: with ``label, model, mode, mean``.
    Result: the published models first; a dagger marks values with a note.
    """
    both = pl.concat(
        [
            theirs.select("label", "model", "mean", "note", where=pl.lit("published")),
            ours.select(
                "label",
                pl.col("model").fill_null("all models"),
                mean="estimate",
                note=pl.lit(None, pl.String),
                where=pl.format("this run, {}", "mode"),
            ),
        ]
    )
    cells = {(row["model"], row["where"], row["label"]): row for row in both.iter_rows(named=True)}

    def value(label: str) -> Render:
        def cell(row: Mapping[str, Any]) -> str:
            value = cells.get((row["model"], row["where"], label))
            return number(value["mean"], 3) + "†" * bool(value["note"]) if value else "–"

        return cell

    return render_table(
        both.unique(["model", "where"], maintain_order=True),
        caption,
        [
            Column("Model", lambda r: r["model"], "head"),
            Column("From", lambda r: r["where"], "head"),
            *(Column(label, value(label)) for label in dict.fromkeys(ours["label"])),
        ],
    )
