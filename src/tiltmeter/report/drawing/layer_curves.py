"""Curves over the layers of a model, with their intervals: one panel beside the other."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import altair as alt

from tiltmeter.report.drawing.charts import Axis, Row, bare, tooltips, vega_lite
from tiltmeter.report.drawing.theme import line_styles
from tiltmeter.report.families import ALPHA
from tiltmeter.report.prose import interval, number, p_value
from tiltmeter.report.states.results import layer_name

__all__ = ["MOST_PANELS", "layer_curves", "point", "spread_text"]

#: Panels of a figure; the others are left to the table.
MOST_PANELS = 9
#: Panels side by side, and the width of each where there are one, two or more.
_COLUMNS = 3
_WIDTHS = (640, 450, 285)
#: The width of a letter of a title.
_LETTER = 8.2
#: Up to this many lines are described in words.
_MOST_LISTED = 6
#: Up to this many layers points are large.
_MOST_LARGE = 16
_TIPS = (
    ("", "panel"),
    ("Line", "series"),
    ("Layer", "layer"),
    ("Value", "shown"),
    ("Interval", "interval"),
    ("p", "p"),
    ("p (Holm)", "p_holm"),
    ("n", "n"),
)


def point(panel: str, series: str, row: Mapping[str, Any], value: str, digits: int = 2) -> Row:
    """Give a point of a curve.

    `panel` and `series`: the panel, and the line in it.
    `row`: with ``layer, ci_low, ci_high`` and any of ``p, p_holm, n``.
    `value`: the column that is drawn.
    """
    known = row[value] is not None and row["ci_low"] is not None and row["ci_high"] is not None
    p, holm, n = (row.get(key) for key in ("p", "p_holm", "n"))
    return {
        "panel": panel,
        "series": series,
        "layer": row["layer"],
        "mean": row[value],
        "low": row["ci_low"] if known else None,
        "high": row["ci_high"] if known else None,
        "sure": "p_holm" not in row or (holm is not None and holm < ALPHA),
        "reference": row.get("reference"),
        "shown": number(row[value], digits),
        "interval": interval(row["ci_low"], row["ci_high"], digits) if known else None,
        "p": None if p is None else p_value(p),
        "p_holm": None if holm is None else p_value(holm),
        "n": None if n is None else f"{n:,}",
    }


def layer_curves(
    rows: Sequence[Row], axis: Axis, order: Sequence[str], titles: Mapping[str, tuple[str, str]]
) -> Row:
    """Draw a line with its band per series, a panel per `panel`.

    `rows`: what `point` gives.
    `axis`: what is measured; the same in all panels.
    `order`: the layers.
    `titles`: panel → its title, and what stands below, where it is not its own title.
    Result: filled points: p (Holm) below .05; a dashed line: ``reference``.
    """
    panels = list(dict.fromkeys(row["panel"] for row in rows))
    series = list(dict.fromkeys(row["series"] for row in rows))
    width = _WIDTHS[min(len(panels), _COLUMNS) - 1]
    marks = {
        first: [
            bare(mark)
            for mark in _marks(rows, axis if first else replace(axis, title=""), order, series)
        ]
        for first in (True, False)
    }
    drawn = [
        {
            "title": _title(titles.get(panel, (panel, "")), width),
            "transform": [{"filter": {"field": "panel", "equal": panel}}],
            "layer": marks[place % _COLUMNS == 0],
            "width": width,
            "height": 210,
        }
        for place, panel in enumerate(panels)
    ]
    return vega_lite(
        {
            "$schema": alt.SCHEMA_URL,
            "data": {"name": "rows"},
            "concat": drawn,
            "columns": _COLUMNS,
            "spacing": 26,
            "resolve": {"scale": dict.fromkeys(("color", "strokeDash", "shape"), "shared")},
        },
        rows,
    )


def spread_text(rows: Sequence[Row]) -> str:
    """Say in words, for the first lines, where their lowest and highest values stand."""
    parts = []
    lines = list(dict.fromkeys((row["panel"], row["series"]) for row in rows))
    for panel, series in lines[:_MOST_LISTED]:
        own = [row for row in rows if (row["panel"], row["series"]) == (panel, series)]
        known = [row for row in own if row["mean"] is not None]
        who = ", ".join(filter(None, (panel, series)))
        if not known:
            parts.append(f"{who}: no values")
            continue
        low, high = (pick(known, key=lambda row: row["mean"]) for pick in (min, max))
        parts.append(
            f"{who}: lowest {low['shown']} ({layer_name(low['layer'])}), highest "
            f"{high['shown']} ({layer_name(high['layer'])}), last {known[-1]['shown']}"
        )
    left = len(lines) - _MOST_LISTED
    parts += [f"{left} more {'line' if left == 1 else 'lines'}"] if left > 0 else []
    return f"{'; '.join(parts)}."


def _title(texts: tuple[str, str], width: int) -> Row:
    text, below = texts
    letters = int(width / _LETTER)
    title: Row = {"text": textwrap.wrap(text, letters, max_lines=2, placeholder="…") or [""]}
    if below:
        lines = textwrap.wrap(below, letters, max_lines=3, placeholder="…")
        title |= {"subtitle": lines, "subtitleColor": "var(--soft)", "subtitleFontSize": 12}
    return title


def _marks(
    rows: Sequence[Row], axis: Axis, order: Sequence[str], series: Sequence[str]
) -> list[Any]:
    styles = line_styles(len(series))
    legend = alt.Legend(title=None, symbolSize=90, symbolStrokeWidth=0, symbolOpacity=1, columns=4)
    sizes = (48, 40) if len(order) <= _MOST_LARGE else (22, 16)
    faint = 0.16 if len(series) < 3 else 0.08
    shown = legend if len(series) > 1 else None

    def channel(kind: Any, field: str) -> Any:
        scale = alt.Scale(domain=list(series), range=[style[field] for style in styles])
        return kind("series:N", scale=scale, legend=shown)

    ticks = alt.Axis(labelAngle=0, labelOverlap=True, labelSeparation=6, grid=False)
    x = alt.X("layer:O", sort=list(order), scale=alt.Scale(domain=list(order)), title="Layer",
              axis=ticks)  # fmt: skip
    scale = alt.Scale(domain=[axis.low, axis.high], nice=False)
    color, chart = channel(alt.Color, "color"), alt.Chart().encode(x=x)
    up: dict[str, Any] = {
        "scale": scale,
        "axis": alt.Axis(tickCount=5, grid=True),
        "title": axis.title or None,
    }
    y, dash = alt.Y("mean:Q", **up), channel(alt.StrokeDash, "dash")
    dotted: dict[str, Any] = {"color": "var(--neutral)", "strokeDash": [2, 3], "strokeWidth": 1.5}
    encoded = chart.encode(
        y=y, color=color, shape=channel(alt.Shape, "shape"), tooltip=tooltips(rows, *_TIPS[1:])
    )
    marks = [
        chart.mark_area(opacity=faint, clip=True)
        .encode(y=alt.Y("low:Q", **up), y2="high:Q", color=color)
        .transform_filter("datum.low !== null"),
        chart.mark_line(strokeWidth=2.2).encode(y=y, color=color, strokeDash=dash),
        encoded.mark_point(filled=True, size=sizes[0], opacity=1).transform_filter("datum.sure"),
        encoded.mark_point(
            fill="var(--paper)", size=sizes[1], opacity=1, strokeWidth=1.5
        ).transform_filter("!datum.sure"),
    ]
    if axis.neutral is not None:
        once = alt.Chart().transform_aggregate(count="count()")
        marks.insert(0, once.mark_rule(**dotted).encode(y=alt.Y(datum=axis.neutral)))
    if any(row["reference"] is not None for row in rows):
        line = chart.mark_line(color="var(--soft)", strokeDash=[6, 4], strokeWidth=1.5)
        marks.append(line.encode(y=alt.Y("reference:Q", **up)))
    return marks
