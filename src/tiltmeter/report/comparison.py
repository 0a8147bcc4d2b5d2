"""Published values beside this run: context, not a yardstick."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from tiltmeter.errors import InputError
from tiltmeter.frames import Measure
from tiltmeter.reference import load_published
from tiltmeter.report import charts
from tiltmeter.report.charts import Axis, Row
from tiltmeter.report.figures import Figure, per_mode
from tiltmeter.report.prose import interval, number, scale
from tiltmeter.report.plan import Plan
from tiltmeter.report.tables import Cell, Table

__all__ = ["Note", "beside_published"]


@dataclass(frozen=True)
class Note:
    """What is doubtful about one published value."""

    stereotype: str
    model: str
    raw: str
    note: str


def beside_published(
    study: str, each: pl.DataFrame, plan: Plan, measure: Measure
) -> dict[str, Any]:
    """Set published values beside these, for a study that has any.

    Parameters
    ----------
    study
        The name of the study.
    each
        Estimates per stereotype.
    plan
        For labels.
    measure
        What the numbers mean.

    Returns
    -------
    dict
        ``published``: figures and table, or None; ``notes``: what is doubtful in the source.
    """
    try:
        theirs = load_published(study).filter(table="S6", level="cell")
    except InputError:
        return {"published": None, "notes": ()}
    labels = {plan.label(key) for key in each["stereotype"]}
    theirs = theirs.filter(pl.col("stereotype").is_in(labels))
    if theirs.is_empty():
        return {"published": None, "notes": ()}
    means = each.with_columns(
        label=pl.col("stereotype").map_elements(plan.label, pl.String),
        text=pl.col("mean").map_elements(number, pl.String, skip_nulls=False),
    )
    ours = dict(
        means.group_by("label", maintain_order=True).agg(pl.col("text").str.join("; ")).iter_rows()
    )
    columns = each.select(pl.format("{}, {}", "model", "mode")).unique(maintain_order=True)
    caption = (
        "Published means (replication, SI Table S6) beside this run "
        f"({'; '.join(columns.to_series())}). † doubtful in the source, see the notes; "
        "– not printed."
    )
    noted = theirs.drop_nulls("note").select("stereotype", "model", "raw", "note")
    return {
        "published": (
            published_figure(each, theirs, plan, measure),
            published_table(theirs, ours, caption),
        ),
        "notes": tuple(Note(*row) for row in noted.iter_rows()),
    }


def published_figure(
    frame: pl.DataFrame, theirs: pl.DataFrame, plan: Plan, measure: Measure
) -> list[Figure]:
    """Draw the published models beside these.

    Parameters
    ----------
    frame
        Estimates per stereotype.
    theirs
        Published cells, ``stereotype`` holding the label.
    plan
        For labels.
    measure
        What the numbers mean.

    Returns
    -------
    list of Figure
        As `stereotype_figures`.
    """
    axis = Axis.of(measure)
    caption = (
        "Ticks: the eight models published in 2025 (replication, SI Table S6). Diamonds: this "
        f"run. {scale(measure)}"
    )

    def draw(rows: list[Row], panels: list[str]) -> Row:
        ours = [{**row, "theirs": False, "source": "this run"} for row in rows]
        shown = {row["label"]: row["category"] for row in rows}
        published = [
            {
                "label": row["stereotype"],
                "category": shown[row["stereotype"]],
                "block": shown[row["stereotype"]],
                "panel": panel,
                "theirs": True,
                "source": "published models",
                "who": row["model"],
                "mean": row["mean"],
                "shown": number(row["mean"], 3),
                "interval": interval(row["ci_low"], row["ci_high"], 3),
                "note": row["note"],
            }
            for panel in panels
            for row in theirs.drop_nulls("mean").iter_rows(named=True)
            if row["stereotype"] in shown
        ]
        order = {label: place for place, label in enumerate(shown)}
        rows = sorted(published + ours, key=lambda row: order[row["label"]])
        return charts.published(rows, axis, panels)

    return per_mode("published", caption, frame, draw, plan)


def published_table(theirs: pl.DataFrame, ours: Mapping[str, str], caption: str) -> Table:
    """Set out published means, a row per stereotype and a column per model.

    Parameters
    ----------
    theirs
        Published cells of one table.
    ours
        Label of the stereotype → this run's means, as text.
    caption
        What is shown.

    Returns
    -------
    Table
        A dagger marks values with a note; "–" stands where the source prints none.
    """
    models = list(dict.fromkeys(theirs["model"]))
    cells = {(row["stereotype"], row["model"]): row for row in theirs.iter_rows(named=True)}
    rows = []
    for label in dict.fromkeys(theirs["stereotype"]):
        found = [cells.get((label, model)) for model in models]
        texts = [
            "–" if not row or row["mean"] is None else number(row["mean"]) + "†" * bool(row["note"])
            for row in found
        ]
        numbers = [Cell(text, "num") for text in texts]
        rows.append((Cell(label), Cell(ours.get(label, "–"), "num"), *numbers))
    columns = (Cell("Stereotype"), *[Cell(name, "num") for name in ("This run", *models)])
    return Table(caption, columns, tuple(rows))
