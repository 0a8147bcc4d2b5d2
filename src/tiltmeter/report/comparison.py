"""Published values beside this run: context, not a yardstick."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import polars as pl

from tiltmeter.errors import InputError
from tiltmeter.frames import Measure
from tiltmeter.reference import load_published
from tiltmeter.report.charts import TIPS, Axis, Row, across, blocks, down, ground, tooltips
from tiltmeter.report.figures import Figure, per_mode
from tiltmeter.report.plan import Plan
from tiltmeter.report.prose import interval, number, scale
from tiltmeter.report.sections import Section
from tiltmeter.report.tables import Cell, Table

__all__ = ["published_section"]


#: The table of the replication of each instrument, and what sets its numbers apart from these.
_TABLES = {
    "word_association": ("S6", "score a refused or unreadable answer as 0"),
    "relative_decision": ("S11", "were coded by the authors and leave out refused answers"),
}


def published_section(
    study: str, each: pl.DataFrame, plan: Plan, measure: Measure
) -> Section | None:
    """Set published values beside these, for a study and instrument that have any.

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
    Section or None
        None where nothing was published on these stereotypes.
    """
    if measure.instrument not in _TABLES:
        return None
    table, apart = _TABLES[measure.instrument]
    try:
        theirs = load_published(study, measure.instrument).filter(table=table, level="cell")
    except InputError:
        return None
    labels = {plan.label(key) for key in each["stereotype"]}
    theirs = theirs.filter(pl.col("stereotype").is_in(labels))
    if theirs.is_empty():
        return None
    source = f"replication, SI Table {table}"
    noted = theirs.drop_nulls("note").select("stereotype", "model", "raw", "note").iter_rows()
    return Section(
        key="published",
        title="Beside the published models",
        short="Published models",
        text=(
            "Bai et al. (2025) tested eight models in spring 2024. Their numbers are context, not "
            f"a yardstick: they come from free text at another time, {apart}, and their intervals "
            "treat answers as independent. Differences from this run are therefore not effects of "
            "the model alone.",
        ),
        figures=tuple(published_figure(each, theirs, plan, measure, source)),
        tables=(("Table of published means", _table(theirs, each, plan, source)),),
        notes=(
            "Doubtful in the source, shown as printed",
            tuple(f"{label}, {who}: printed “{raw}”; {note}." for label, who, raw, note in noted),
        ),
    )


def _table(theirs: pl.DataFrame, each: pl.DataFrame, plan: Plan, source: str) -> Table:
    means = each.with_columns(
        label=pl.col("stereotype").map_elements(plan.label, pl.String),
        text=pl.col("mean").map_elements(number, pl.String, skip_nulls=False),
    )
    ours = dict(
        means.group_by("label", maintain_order=True).agg(pl.col("text").str.join("; ")).iter_rows()
    )
    columns = each.select(pl.format("{}, {}", "model", "mode")).unique(maintain_order=True)
    caption = (
        f"Published means ({source}) beside this run ({'; '.join(columns.to_series())}). "
        "† doubtful in the source, see the notes; – not printed."
    )
    return published_table(theirs, ours, caption)


def published_figure(
    frame: pl.DataFrame, theirs: pl.DataFrame, plan: Plan, measure: Measure, source: str
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
    source
        Where the published values stand.

    Returns
    -------
    list of Figure
        As `stereotype_figures`.
    """
    axis = Axis.of(measure)
    caption = (
        f"Ticks: the eight models published in 2025 ({source}). Diamonds: this run. "
        f"{scale(measure)}"
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
        return _drawing(rows, axis, panels)

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


def _drawing(rows: Sequence[Row], axis: Axis, panels: Sequence[str]) -> Row:
    """Draw the published models as ticks and this run's model as a diamond."""
    sources = list(dict.fromkeys(row["source"] for row in rows))

    def layers(part: list[Row], axis: Axis) -> list[Any]:
        theirs = [row for row in part if row["theirs"]]
        ours = tooltips([row for row in part if not row["theirs"]], *TIPS)
        color = alt.Color(
            "source:N",
            scale=alt.Scale(domain=sources, range=["var(--soft)", "var(--gender)"]),
            legend=None,
        )
        return [
            *ground(axis),
            alt.Chart()
            .transform_filter("datum.theirs")
            .mark_tick(thickness=2, size=13)
            .encode(
                x=across("mean", axis),
                y=down(part),
                color=color,
                tooltip=tooltips(theirs, ("Published model", "who"), *TIPS, ("Note", "note")),
            ),
            alt.Chart()
            .transform_filter("!datum.theirs")
            .mark_point(filled=True, shape="diamond", size=95, opacity=1)
            .encode(x=across("mean", axis), y=down(part), color=color, tooltip=ours),
        ]

    return blocks(rows, axis, panels, layers)
