"""Maps of cells in classes, around a neutral 0."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import altair as alt

from clinometer.numbers import interval, number, p_value
from clinometer.pieces.drawing.charts import Row, in_layers, tooltips, vega_lite
from clinometer.pieces.drawing.theme import HEAT, LABEL_SIZE, text_width
from clinometer.pieces.prose import ALPHA


@dataclass(frozen=True)
class Grid:
    """How cells are set out: the titles and orders of both sides, classes and sizes."""

    legend: str
    edges: tuple[float, ...]  # six, between the seven classes
    across: tuple[str, Sequence[str]]
    down: tuple[str, Sequence[str]]
    width: int
    height: int
    tips: tuple[tuple[str, str], ...]


def class_of(value: float | None, edges: Sequence[float]) -> str | None:
    """Name the class of a value; None where there is none."""
    return None if value is None else _classes(edges)[bisect_right(edges, value)]


def cells(rows: Sequence[Row], grid: Grid) -> Row:
    """Draw a cell per row, its text in it.

    `rows`: with ``across, down, step, text, strong`` and what the tooltip needs.
    """
    (x_title, x_order), (y_title, y_order) = grid.across, grid.down
    plain: Row = {"grid": False, "ticks": False, "labelPadding": 5}
    is_long = any(text_width(name, LABEL_SIZE) > grid.width for name in x_order)
    turned: Row = {"labelAngle": -40, "labelAlign": "left"} if is_long else {"labelAngle": 0}
    x_axis = alt.Axis(
        title=x_title or None, orient="top", labelBaseline="bottom", **turned, **plain
    )
    y_axis = alt.Axis(title=y_title or None, **plain)
    chart = alt.Chart().encode(
        x=_ordered(alt.X, "across", x_order, x_axis),
        y=_ordered(alt.Y, "down", y_order, y_axis),
        tooltip=tooltips(rows, *grid.tips),
    )
    cell = chart.mark_rect(stroke="var(--paper)", strokeWidth=1)
    text = chart.encode(text=alt.Text("text:N"))
    ink: Row = {"fontSize": 11, "color": "var(--ink)"}
    layers = in_layers(
        [
            cell.transform_filter("datum.step !== null").encode(
                color=class_colors(_classes(grid.edges), HEAT, grid.legend)
            ),
            text.mark_text(**ink).transform_filter("!datum.strong"),
            text.mark_text(**ink, fontWeight="bold").transform_filter("datum.strong"),
        ]
    )
    size = {"width": {"step": grid.width}, "height": {"step": grid.height}}
    return vega_lite({**layers, **size}, rows)


def _ordered(channel: Any, field: str, order: Sequence[str], axis: alt.Axis) -> Any:
    scale = alt.Scale(domain=list(order))
    return channel(f"{field}:N", sort=list(order), scale=scale, axis=axis)


def class_colors(classes: Sequence[str], colors: Sequence[str], title: str) -> alt.Color:
    """Assign each class its colour."""
    legend = alt.Legend(title=title, symbolType="square", symbolSize=160, columns=len(classes))
    scale = alt.Scale(domain=list(classes), range=list(colors))
    return alt.Color("step:O", scale=scale, legend=legend)


def _classes(edges: Sequence[float]) -> list[str]:
    ends = [number(edge, 1) for edge in edges]
    return [f"below {ends[0]}", *between(ends), f"{ends[-1]} and above"]


def between(ends: Sequence[str]) -> list[str]:
    """Name the classes between ends."""
    return [f"{low} to {high}" for low, high in pairwise(ends)]


def map_cell(
    row: Mapping[str, Any], edges: Sequence[float], place: tuple[str, str], text: str, **tips: Any
) -> Row:
    """Return a cell of a map of estimates.

    `place`: its column and line.
    `text`: what stands in it, before a star where p (Holm), or `p_claim`, is small.
    `tips`: what else the tooltip shows, and whether its text is `strong`, by default with the star.
    """
    p = row.get("p_claim", row["p_holm"])
    is_significant = p is not None and p < ALPHA
    has_interval = row["ci_low"] is not None
    return {
        "across": place[0],
        "down": place[1],
        "step": class_of(row["estimate"], edges),
        "text": text + "*" * is_significant,
        "strong": is_significant,
        "interval": interval(row["ci_low"], row["ci_high"]) if has_interval else None,
        "p": p_value(row["p"]),
        "p_holm": p_value(row["p_holm"]),
        **tips,
    }
