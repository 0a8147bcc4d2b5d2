"""Maps of classed cells around a neutral 0: what is measured against the layers of a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from tiltmeter.report.drawing.charts import Row, bare, tooltips, vega_lite
from tiltmeter.report.drawing.theme import HEAT
from tiltmeter.report.prose import number

__all__ = ["Grid", "cells", "classed"]

#: The width of a label, of rows and of slanted columns.
_DOWN, _ACROSS = 230, 320


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


def classed(value: float | None, edges: Sequence[float]) -> str | None:
    """Name the class of a value; None where there is none."""
    if value is None:
        return None
    return _classes(edges)[sum(value >= edge for edge in edges)]


def cells(rows: Sequence[Row], grid: Grid) -> Row:
    """Draw a cell per row, its text in it.

    `rows`: with ``across, down, step, text, strong`` and what the tooltip needs.
    """
    classes = _classes(grid.edges)
    legend = alt.Legend(title=grid.legend, symbolType="square", symbolSize=160, columns=7)
    color = alt.Color("step:O", scale=alt.Scale(domain=classes, range=list(HEAT)), legend=legend)
    (x_title, x_order), (y_title, y_order) = grid.across, grid.down
    plain: dict[str, Any] = {"grid": False, "ticks": False, "labelPadding": 5}
    long = max(map(len, x_order), default=0) * 7 > grid.width
    x_axis = alt.Axis(
        title=x_title or None, orient="top", labelAngle=-40 if long else 0, labelLimit=_ACROSS,
        labelAlign="left" if long else "center", labelBaseline="bottom", **plain,
    )  # fmt: skip
    y_axis = alt.Axis(title=y_title or None, labelLimit=_DOWN, **plain)
    chart = alt.Chart().encode(
        x=alt.X("across:N", sort=list(x_order), scale=alt.Scale(domain=list(x_order)), axis=x_axis),
        y=alt.Y("down:N", sort=list(y_order), scale=alt.Scale(domain=list(y_order)), axis=y_axis),
        tooltip=tooltips(rows, *grid.tips),
    )
    text = chart.mark_text(fontSize=11, color="var(--ink)").encode(text="text:N")
    layers = [
        chart.mark_rect(stroke="var(--paper)", strokeWidth=1)
        .transform_filter("datum.step !== null")
        .encode(color=color),
        text.transform_filter("!datum.strong"),
        text.mark_text(fontSize=11, color="var(--ink)", fontWeight="bold").transform_filter(
            "datum.strong"
        ),
    ]
    return vega_lite(
        {
            "$schema": alt.SCHEMA_URL,
            "data": {"name": "rows"},
            "layer": [bare(mark) for mark in layers],
            "width": {"step": grid.width},
            "height": {"step": grid.height},
        },
        rows,
    )


def _classes(edges: Sequence[float]) -> list[str]:
    ends = [number(edge, 1) for edge in edges]
    between = [f"{low} to {high}" for low, high in zip(ends, ends[1:], strict=False)]
    return [f"below {ends[0]}", *between, f"{ends[-1]} and above"]
