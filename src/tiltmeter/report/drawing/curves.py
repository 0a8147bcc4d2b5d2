"""Curves with their bands over the layers of a model, panel beside panel."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import altair as alt

from tiltmeter.report.drawing.charts import (
    COLUMNS,
    Axis,
    Row,
    in_layers,
    in_panels,
    line_channels,
    measured,
    neutral_rule,
    tooltips,
)
from tiltmeter.report.families import ALPHA

__all__ = ["MOST_PANELS", "banded", "layer_curves", "point", "spread_text", "up"]

#: Panels of a figure; the others are left to the table.
MOST_PANELS = 9
#: The width of a panel where there are one, two or more side by side.
_WIDTHS = (640, 450, 285)
#: The width of a letter of a title.
_LETTER = 8.2
#: Up to this many lines are described in words.
_MOST_LISTED = 6
#: Up to this many layers points are large.
_MOST_LARGE = 16
_TIPS = (
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
    holm, n = row.get("p_holm"), row.get("n")
    return {
        **measured({**row, "estimate": row[value]}, digits),
        "panel": panel,
        "series": series,
        "layer": row["layer"],
        "sure": "p_holm" not in row or (holm is not None and holm < ALPHA),
        "reference": row.get("reference"),
        "n": "n/a" if n is None else f"{n:,}",
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
    width = _WIDTHS[min(len(panels), COLUMNS) - 1]
    layers = {
        first: in_layers(_layer_marks(rows, axis if first else replace(axis, title=""), order))
        for first in (True, False)
    }
    named = {panel: _title(titles.get(panel, (panel, "")), width) for panel in panels}
    return in_panels(rows, named, lambda _, first: layers[first], (width, 210))


def _title(texts: tuple[str, str], width: int) -> Row:
    text, below = texts
    letters = int(width / _LETTER)
    title: Row = {"text": textwrap.wrap(text, letters, max_lines=2, placeholder="…") or [""]}
    if below:
        lines = textwrap.wrap(below, letters, max_lines=3, placeholder="…")
        title |= {"subtitle": lines, "subtitleColor": "var(--soft)", "subtitleFontSize": 12}
    return title


def _layer_marks(rows: Sequence[Row], axis: Axis, order: Sequence[str]) -> list[Any]:
    series = list(dict.fromkeys(row["series"] for row in rows))
    legend = alt.Legend(title=None, symbolSize=90, symbolStrokeWidth=0, symbolOpacity=1, columns=4)
    several = len(series) > 1
    color, dash, shape = line_channels("series", series, legend=legend if several else None)
    ticks = alt.Axis(labelAngle=0, labelOverlap=True, labelSeparation=6, grid=False)
    scale = alt.Scale(domain=list(order))
    x = alt.X("layer:O", sort=list(order), scale=scale, title="Layer", axis=ticks)
    chart = alt.Chart().encode(x=x)
    dots = chart.encode(y=up("mean", axis), color=color, shape=shape,
                        tooltip=tooltips(rows, *_TIPS))  # fmt: skip
    filled, hollow = (48, 40) if len(order) <= _MOST_LARGE else (22, 16)
    paper: Row = {"fill": "var(--paper)", "strokeWidth": 1.5, "opacity": 1}
    marks = [
        *banded(chart.encode(color=color), axis, dash, 0.16 if len(series) < 3 else 0.08),
        dots.mark_point(filled=True, size=filled, opacity=1).transform_filter("datum.sure"),
        dots.mark_point(size=hollow, **paper).transform_filter("!datum.sure"),
    ]
    if axis.neutral is not None:
        marks.insert(0, neutral_rule(y=alt.Y(datum=axis.neutral)))
    if any(row["reference"] is not None for row in rows):
        line = chart.mark_line(color="var(--soft)", strokeDash=[6, 4], strokeWidth=1.5)
        marks.append(line.encode(y=up("reference", axis)))
    return marks


def banded(chart: Any, axis: Axis, dash: Any, opacity: float) -> list[Any]:
    """Draw a line and, where it has one, its band: ``mean`` within ``low`` and ``high``."""
    band = chart.mark_area(opacity=opacity, clip=True).transform_filter("isValid(datum.low)")
    line = chart.mark_line(strokeWidth=2.2)
    return [
        band.encode(y=up("low", axis), y2="high:Q"),
        line.encode(y=up("mean", axis), strokeDash=dash),
    ]


def up(field: str, axis: Axis) -> alt.Y:
    """Give the vertical position of a field."""
    scale = alt.Scale(domain=[axis.low, axis.high], nice=False)
    ticks = alt.Axis(tickCount=5, grid=True)
    return alt.Y(f"{field}:Q", scale=scale, axis=ticks, title=axis.title or None)


def spread_text(rows: Sequence[Row]) -> str:
    """Say in words, for the first lines, where their lowest and highest values stand."""
    lines: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        lines.setdefault((row["panel"], row["series"]), []).append(row)
    parts = []
    for line, own in list(lines.items())[:_MOST_LISTED]:
        known = [row for row in own if row["mean"] is not None]
        text = "no values"
        if known:
            low, high = (pick(known, key=lambda row: row["mean"]) for pick in (min, max))
            text = (
                f"lowest {low['shown']} (layer {low['layer']}), highest {high['shown']} (layer "
                f"{high['layer']}), last {known[-1]['shown']}"
            )
        parts.append(f"{', '.join(filter(None, line))}: {text}")
    left = len(lines) - _MOST_LISTED
    parts += [f"{left} more {'line' if left == 1 else 'lines'}"] if left > 0 else []
    return f"{'; '.join(parts)}."
