"""Contexts in which terms were read: how many, how long, and where the term stands.

Reference: Schuster et al. 2024, arXiv:2411.16527, section 3.2 and figure 2.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import altair as alt
import polars as pl

from clinometer.numbers import count, number
from clinometer.pieces.drawing import charts
from clinometer.pieces.drawing.charts import Row
from clinometer.pieces.drawing.figures import Figure
from clinometer.pieces.sections import Section
from clinometer.pieces.tables import TableColumn, TableSpec
from clinometer_measures.states.report.results import States, in_words

__all__ = ["context_section"]

_METHOD = (
    "A term is read in contexts, and they shape its state. How many contexts a term has, how many "
    "words they have and where the term stands in them differs between kinds of contexts, and so "
    "may what is found in them."
)
#: Property → its name for readers.
_PROPERTIES = {
    "contexts per term": "Contexts per term",
    "words": "Words per context",
    "position": "Position of the term (words)",
}
#: Kinds of contexts that are drawn, a row of panels each; terms alone need no drawing.
MOST_KINDS = 3
_TIPS = (("Kind", "kind"), ("Value", "value"), ("Terms or contexts", "n"))


def context_section(states: States) -> Section | None:
    """Show the properties of contexts; None where there are none, or each term was read alone."""
    table = states.contexts
    if table.is_empty() or set(table["contexts"]) == {"none"}:
        return None
    key = "representation-contexts"
    figure = _figure(table.filter(role="poles"), key)
    return Section(
        key, "Contexts", (_METHOD,), (figure,), (("", _CONTEXTS.render(_means_by_kind(table))),)
    )


def _figure(poles: pl.DataFrame, name: str) -> Figure:
    """Draw histograms: a row of panels per kind, a column per property."""
    kinds = poles.filter(pl.col("contexts") != "none")["contexts"].unique(maintain_order=True)
    panels: dict[str, pl.DataFrame] = {}
    for kind in kinds[:MOST_KINDS]:
        for name_of_property, title in _PROPERTIES.items():
            part = poles.filter(contexts=kind, property=name_of_property)
            panels[f"{title}, {in_words('contexts', kind)}"] = part
    rows: list[Row] = []
    for panel, part in panels.items():
        rows += [_bar(row, panel) for row in part.iter_rows(named=True)]
    axis = alt.Axis(tickMinStep=1, tickCount=6, grid=False, title=None)
    bars = alt.Chart().mark_rect(color="var(--soft)").encode(
        x=alt.X("from:Q", axis=axis, scale=alt.Scale(zero=True)),
        x2=alt.X2("to:Q"),
        y=alt.Y("n:Q", axis=alt.Axis(tickMinStep=1, tickCount=4, title=None)),
        y2=alt.Y2(datum=0),
        tooltip=charts.tooltips(rows, *_TIPS),
    )  # fmt: skip
    chart = charts.in_layers([bars])
    titles = {panel: {"text": panel} for panel in panels}
    drawing = charts.in_panels(rows, titles, lambda *_: chart, (285, 120))
    caption = (
        "Contexts of the terms of the poles: number of terms by their number of contexts, and of "
        "contexts by their number of words and by the position of the term (1: first word)."
    )
    summary = " ".join(f"{panel}: mean {number(_mean(part), 1)}." for panel, part in panels.items())
    return Figure(name, caption, summary, drawing)


def _bar(row: Mapping[str, Any], panel: str) -> Row:
    """Give a bar of a histogram, a little narrower than 1, so that bars stand apart."""
    return {
        "panel": panel,
        "kind": in_words("contexts", row["contexts"]),
        "value": row["value"],
        "n": row["n"],
        "from": row["value"] - 0.45,
        "to": row["value"] + 0.45,
    }


def _mean(part: pl.DataFrame) -> float | None:
    """Give the mean of the values of a property; None where nothing has one."""
    total = float(part["n"].sum())
    return float((part["value"] * part["n"]).sum()) / total if total else None


#: Property → the key of its mean.
_MEANS = {name: f"mean_{name.replace(' ', '_')}" for name in _PROPERTIES}


_CONTEXTS = TableSpec(
    "Contexts in which terms were read, of the poles of dimensions and, where their direction is "
    "predicted, of held-out terms.",
    (
        TableColumn("Contexts", "contexts", partial(in_words, "contexts"), "head"),
        TableColumn(
            "Terms", "role", lambda role: "poles" if role == "poles" else "held-out", "text"
        ),
        TableColumn("Number", "total", count),
        TableColumn("Terms without", "bare", count),
        *(
            TableColumn(f"{title}, mean", _MEANS[name], number, digits=1)
            for name, title in _PROPERTIES.items()
        ),
    ),
)


def _means_by_kind(table: pl.DataFrame) -> list[dict[str, Any]]:
    """Return the means of properties, a row per kind of contexts and role of terms."""
    rows = []
    for (kind, role), part in table.group_by("contexts", "role", maintain_order=True):
        row = {"contexts": kind, "role": role}
        # Every context has a number of words: so many contexts there are.
        row["total"] = part.filter(property="words")["n"].sum()
        for name, key in _MEANS.items():
            row[key] = _mean(part.filter(property=name))
        row["bare"] = part.filter(property="contexts per term", value=0)["n"].sum()
        rows.append(row)
    return rows
