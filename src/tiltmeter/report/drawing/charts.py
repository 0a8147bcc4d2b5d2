"""The drawings: plain rows in, one Vega-Lite specification out.

Rows are dictionaries that already hold their labels; no row ever holds a model's answer. Charts
refer to the rows by name, so that altair neither copies nor checks them one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import altair as alt

from tiltmeter.report.drawing.theme import CONFIG, category_colors
from tiltmeter.results import Measure

__all__ = ["LABELS", "ROWS", "Axis", "Row", "dots", "down", "forest", "ground", "bare", "blocks",
           "ticks", "tooltips", "vega_lite"]  # fmt: skip

Row = dict[str, Any]
#: The data of every chart, filled in by `vega_lite`.
ROWS = alt.NamedData(name="rows")

Layers = Callable[[list[Row], "Axis"], list[Any]]

_SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
#: The width of the labels on the left.
LABELS = 165
#: The least width of a column whose axis has a title; the caption says it too.
_TITLED = 160
#: The width of a letter of a column's name.
_LETTER = 8.0
TIPS = (
    ("Stereotype", "label"),
    ("Category", "category"),
    ("Dimension", "dimension"),
    ("Model", "model"),
    ("Mode", "mode"),
    ("Mean", "shown"),
    ("Interval", "interval"),
    ("Worst case", "bounds"),
    ("Answers (scored)", "answers"),
    ("Compliance", "compliance"),
    ("df", "df"),
    ("p", "p"),
    ("p (Holm)", "p_holm"),
    ("Verdict", "verdict"),
)


@dataclass(frozen=True)
class Axis:
    """A horizontal axis: its title, its ends, its neutral value, if any, and the band around it."""

    title: str
    low: float
    high: float
    neutral: float | None
    margin: float | None = None
    bare: bool = False  # no numbers and no title: another block below carries them

    @classmethod
    def of(cls, measure: Measure, margin: float | None = None) -> Axis:
        """Make the axis of a measure."""
        return cls(measure.title, measure.low, measure.high, measure.neutral, margin)


def forest(rows: Sequence[Row], axis: Axis, panels: Sequence[str]) -> Row:
    """Draw means with intervals, stacked in blocks, one column per panel.

    `rows`: with ``label, category, block, panel, mean, low, high`` and, where there are such,
        ``bound_low, bound_high`` and the texts of the tooltip.
    Result: thin grey lines: worst-case bounds; thick lines: intervals; dots: means.
    """
    categories = list(dict.fromkeys(row["category"] for row in rows))
    return blocks(rows, axis, panels, lambda part, axis: _intervals(part, axis, categories))


def dots(
    rows: Sequence[Row], axis: Axis, panels: Sequence[str], title: str, *, hollow: bool = False
) -> Row:
    """Draw one dot per stereotype and `variation`, named `title`, in the layout of `forest`."""
    variations = list(dict.fromkeys(row["variation"] for row in rows))
    colors = [*category_colors(["gender", "race", "religion", "health"]), *category_colors(["x"])]
    scale = alt.Scale(domain=variations, range=colors)
    shape = alt.Scale(domain=variations, range=_SHAPES)

    def layers(part: list[Row], axis: Axis) -> list[Any]:
        return [
            *ground(axis),
            alt.Chart()
            .mark_point(filled=not hollow, size=70 if hollow else 55, strokeWidth=2, opacity=0.9)
            .encode(
                x=across("mean", axis),
                y=down(part),
                color=alt.Color("variation:N", scale=scale, title=title),
                shape=alt.Shape("variation:N", scale=shape, title=title),
                tooltip=tooltips(part, (title, "variation"), *TIPS),
            ),
        ]

    return blocks(rows, axis, panels, layers)


def vega_lite(chart: Any, rows: Sequence[Row]) -> Row:
    """Give the specification of a chart of `ROWS`, with the configuration all charts share.

    `chart`: a chart, or a specification made of `bare` ones.
    `rows`: the rows it shows.
    """
    drawing = chart if isinstance(chart, dict) else chart.to_dict(validate=False)
    return {**drawing, "config": CONFIG, "datasets": {"rows": list(rows)}}


def bare(chart: Any) -> Row:
    """Give a chart as part of a larger one; altair would copy it at each step of composing."""
    drawing = chart.to_dict(validate=False)
    alone = ("$schema", "config", "data", "datasets")
    return {key: value for key, value in drawing.items() if key not in alone}


def blocks(
    rows: Sequence[Row], axis: Axis, panels: Sequence[str], layers: Layers, labels: int = LABELS
) -> Row:
    """Stack one faceted block per category; only the last carries the axis."""
    names = list(dict.fromkeys(row["block"] for row in rows))
    width = _column_width(len(panels), labels)
    axis = axis if width >= _TITLED else replace(axis, title="")
    blocks = []
    for name in names:
        part = [row for row in rows if row["block"] == name]
        header = _header(width, list(panels) if name == names[0] else [])
        column = {"field": "panel", "type": "nominal", "sort": list(panels), "header": header}
        marks = layers(part, replace(axis, bare=name != names[-1]))
        block: Row = {
            "transform": [{"filter": {"field": "block", "equal": name}}],
            "facet": {"column": column},
            "spacing": 18,
            "spec": {
                "layer": [bare(mark) for mark in marks],
                "width": width,
                "height": {"step": 21},
            },
        }
        blocks.append({**block, "title": name} if name else block)
    stack = {
        "$schema": alt.SCHEMA_URL,
        "data": {"name": "rows"},
        "vconcat": blocks,
        "spacing": 4,
        "resolve": {"scale": {"color": "shared", "shape": "shared"}},
    }
    return vega_lite(stack, rows)


def _column_width(columns: int, labels: int) -> int:
    """Share the page among columns; below a least width the figure scrolls sideways."""
    if columns < 3:
        return (620, 400)[columns - 1]
    return max(95, (1060 - labels - 18 * (columns - 1)) // columns)


def _header(width: int, panels: Sequence[str]) -> Row:
    """Name several columns; where they are narrow one part under the other, or at a slant."""
    header: Row = {
        "title": None,
        "labels": len(panels) > 1,
        "labelAnchor": "start",
        "labelLimit": max(width, 220),
        "labelPadding": 4,
    }
    parts = [part for panel in panels for part in panel.split(", ")]
    if width < _TITLED and all(_LETTER * len(part) <= width for part in parts):
        header |= {"labelExpr": "split(datum.label, ', ')", "labelLineHeight": 15}
    elif width < _TITLED:
        header |= {"labelAngle": -25, "labelAlign": "left", "labelBaseline": "bottom"}
    return header


def ground(axis: Axis) -> list[Any]:
    """Draw the band near neutral and the dotted neutral line."""
    if axis.neutral is None:
        return []
    once = alt.Chart().transform_aggregate(count="count()", groupby=["panel"])
    layers = []
    if axis.margin:
        low, high = axis.neutral - axis.margin, axis.neutral + axis.margin
        layers.append(
            once.mark_rect(color="var(--band)").encode(
                x=alt.X(datum=low), x2=alt.X2(datum=high), tooltip=alt.value(None)
            )
        )
    layers.append(
        once.mark_rule(color="var(--neutral)", strokeDash=[2, 3], strokeWidth=1.5).encode(
            x=alt.X(datum=axis.neutral), tooltip=alt.value(None)
        )
    )
    return layers


def _intervals(part: list[Row], axis: Axis, categories: list[str]) -> list[Any]:
    chart = alt.Chart()
    color = alt.Color(
        "category:N",
        scale=alt.Scale(domain=categories, range=category_colors(categories)),
        legend=None,
    )
    shape = alt.Shape(
        "category:N",
        scale=alt.Scale(
            domain=categories, range=[_SHAPES[i % len(_SHAPES)] for i in range(len(categories))]
        ),
        legend=None,
    )
    y, tips = down(part), tooltips(part, *TIPS)
    worst = chart.mark_rule(color="var(--soft)", strokeWidth=1).encode(
        x=across("bound_low", axis), x2="bound_high", y=y, tooltip=tips
    )
    interval = chart.mark_rule(strokeWidth=3).encode(
        x=across("low", axis), x2="high", y=y, color=color, tooltip=tips
    )
    mean = chart.mark_point(filled=True, size=65, opacity=1).encode(
        x=across("mean", axis), y=y, color=color, shape=shape, tooltip=tips
    )
    return [*ground(axis), worst, interval, mean]


def across(field: str, axis: Axis) -> alt.X:
    """Give the horizontal position of a field."""
    scale = alt.Scale(domain=[axis.low, axis.high], nice=False, clamp=True)
    return alt.X(f"{field}:Q", scale=scale, axis=ticks(axis))


def ticks(axis: Axis, format: str = "") -> alt.Axis:
    """Give the axis below a block; a bare one has neither numbers nor a title."""
    title = None if axis.bare else axis.title or None
    bare = axis.bare
    marks = alt.Axis(title=title, labels=not bare, ticks=not bare, domain=not bare, tickCount=5)
    if format:
        marks.format = format
    return marks


def down(part: Sequence[Row], labels: int = LABELS) -> alt.Y:
    """Give the vertical axis: the labels of `part`, in their order."""
    order = list(dict.fromkeys(row["label"] for row in part))
    axis = alt.Axis(
        title=None,
        minExtent=labels,
        maxExtent=labels,
        labelLimit=labels + 5,
        grid=True,
        ticks=False,
        labelPadding=6,
    )
    return alt.Y("label:N", sort=order, scale=alt.Scale(domain=order), axis=axis)


def tooltips(part: Sequence[Row], *tips: tuple[str, str]) -> list[alt.Tooltip]:
    """Give the tooltip: of the (title, field) those that some row has."""
    return [
        alt.Tooltip(f"{field}:N", title=title)
        for title, field in tips
        if any(row.get(field) for row in part)
    ]
