"""Radars: an axis per stereotype, a closed line per model or dimension.

Vega-Lite has no radar. The places of all marks are computed here, with the centre at 0, the rim
at 1 and the first axis upwards; rings are arcs around the middle of the drawing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import altair as alt

from clinometer.report.drawing.charts import (
    TIPS,
    Row,
    in_layers,
    line_channels,
    once,
    tooltips,
    vega_lite,
)
from clinometer.report.prose import cut, number
from clinometer.results import Measure

__all__ = ["FEWEST", "MOST", "radar"]

#: With fewer axes there is no shape, with more no reading.
FEWEST, MOST = 3, 60
#: Up to this many axes their names stand upright; above, along the axis.
UPRIGHT = 14

#: The width of a panel, by how many stand side by side; with many axes there are two at most.
_WIDTHS, _WIDE = (460, 440, 348), 500
#: Room for the names around the rim, in pixels: beside it, above and below it, along the axes.
_BESIDE, _ABOVE, _ALONG = 74, 34, 112
#: Characters of a line of a name, and of all of it.
_WRAP, _LONGEST = 12, 22
#: Where a name stands beside the end of its axis.
_SIDES = {
    "top": {"align": "center", "baseline": "line-bottom"},
    "bottom": {"align": "center", "baseline": "line-top"},
    "left": {"align": "right", "baseline": "middle"},
    "right": {"align": "left", "baseline": "middle"},
}


def radar(
    rows: Sequence[Row], panels: Sequence[str], lines: Sequence[str], title: str, measure: Measure
) -> Row:
    """Draw a radar per panel.

    `rows`: with ``label`` (the axis), ``panel, line, mean`` and the texts of the tooltip, one each.
    `title`: what a line stands for: "Model", "Dimension".
    `measure`: its range goes from the centre to the rim; a ring marks its neutral value.
    Result: a line is broken where a mean is missing.
    """
    labels = list(dict.fromkeys(row["label"] for row in rows))
    upright = len(labels) <= UPRIGHT
    columns = min(len(_WIDTHS) if upright else 2, len(panels))
    width = _WIDTHS[columns - 1] if upright else _WIDE
    height = width - 2 * (_BESIDE - _ABOVE) if upright else width
    rim = width / 2 - (_BESIDE if upright else _ALONG)
    points = [
        *_axis_ends(labels, panels, upright=upright),
        *_closed_lines(rows, labels, panels, lines, measure),
    ]
    marks = [
        *_web(measure, rim),
        *_names(upright),
        *_lines(lines, title, rows),
        *_ring_values(measure),
    ]
    place = {"x": _position(width, rim), "y": _position(height, rim)}
    header = {"title": None, "labelAnchor": "middle", "labelFontWeight": "bold", "labelPadding": 2}
    facet = {"field": "panel", "type": "nominal", "sort": list(panels), "header": header}
    spec = {**in_layers(marks, place), "width": width, "height": height}
    return vega_lite({"facet": facet, "columns": columns, "spacing": 14, "spec": spec}, points)


def _position(length: float, rim: float) -> Row:
    """Return the scale of a side so many pixels long, in units of the rim, without an axis."""
    half = length / 2 / rim
    return {"scale": {"domain": [-half, half], "nice": False}, "axis": None}


def _axis_ends(labels: Sequence[str], panels: Sequence[str], *, upright: bool) -> Iterator[Row]:
    """Yield the end of each axis and the place of its name."""
    for panel, (order, label) in product(panels, enumerate(labels)):
        x, y = _point(1.0, order, len(labels))
        name_x, name_y = _point(1.06, order, len(labels))
        turn = 360 * order / len(labels)
        if upright:
            side = _upright_side(x, y)
        else:
            side = "right" if turn < 180 else "left"
        yield {
            "kind": "axis",
            "panel": panel,
            "label": label,
            "name": _wrap(label) if upright else cut(label, _LONGEST),
            "side": side,
            # On the left half names are turned around, so that none stands on its head.
            "turn": turn - (90 if side == "right" else 270),
            "x": x,
            "y": y,
            "name_x": name_x,
            "name_y": name_y,
        }


def _upright_side(x: float, y: float) -> str:
    """Say on which side of the end of its axis an upright name stands."""
    if abs(x) > 0.2:
        return "right" if x > 0 else "left"
    return "top" if y > 0 else "bottom"


def _point(radius: float, order: int, axes: int) -> tuple[float, float]:
    """Return the place on an axis at a distance from the centre; axes go clockwise from the top."""
    angle = 2 * math.pi * order / axes
    # Adding 0 turns a negative zero into a positive one.
    return round(radius * math.sin(angle), 4) + 0.0, round(radius * math.cos(angle), 4) + 0.0


def _wrap(label: str) -> list[str]:
    """Break a long name once, at a space or hyphen near its middle."""
    label = cut(label, _LONGEST)
    breaks = [i + 1 for i, character in enumerate(label[:-1]) if character in " -"]
    if len(label) <= _WRAP or not breaks:
        return [label]
    middle = min(breaks, key=lambda i: abs(i - len(label) / 2))
    return [label[:middle].strip(), label[middle:].strip()]


def _share(value: float, measure: Measure) -> float:
    """Return how far from the centre to the rim a value lies."""
    return (value - measure.low) / (measure.high - measure.low)


def _closed_lines(
    rows: Sequence[Row],
    labels: Sequence[str],
    panels: Sequence[str],
    lines: Sequence[str],
    measure: Measure,
) -> Iterator[Row]:
    """Yield the points of each line in their order, the first once more at the end."""
    by_label = {(row["panel"], row["line"], row["label"]): row for row in rows}
    for panel, line in product(panels, lines):
        of_line = [by_label.get((panel, line, label), {}) for label in labels]
        if not any(of_line):
            continue
        for order, row in enumerate([*of_line, of_line[0]]):
            mean = row.get("mean")
            x, y = None, None
            if mean is not None:
                x, y = _point(_share(mean, measure), order, len(of_line))
            # The end closes the line, but no second mark stands on the first point.
            is_end = order == len(of_line)
            place = {"panel": panel, "line": line, "order": order, "x": x, "y": y}
            yield {**({} if is_end else row), "kind": "line" if is_end else "point", **place}


def _chart(*kinds: str) -> Any:
    """Return a chart of the rows of some kinds: axis, point or line."""
    return alt.Chart().transform_filter(alt.FieldOneOfPredicate(field="kind", oneOf=list(kinds)))


def _web(measure: Measure, rim: float) -> list[Any]:
    """Draw rings at the rim, at neutral and between, and the axes."""
    silent: Row = {"tooltip": alt.TooltipValue(None)}
    turn = {"theta": alt.value(0), "theta2": alt.value(2 * math.pi), **silent}
    thin: Row = {"strokeWidth": 0.8, "opacity": 0.4}
    dotted: Row = {"stroke": "var(--neutral)", "strokeDash": [2, 3], "strokeWidth": 1.6}
    rings = [(share, {"stroke": "var(--soft)", **thin}) for share in (0.25, 0.5, 0.75, 1.0)]
    rings.append((_share(measure.neutral, measure), dotted))
    spokes = _chart("axis").mark_rule(color="var(--soft)", **thin)
    arcs = [
        once().mark_arc(filled=False, radius=rim * share, radius2=0, **look).encode(**turn)
        for share, look in rings
    ]
    centre: Row = {"x2": alt.X2(datum=0), "y2": alt.Y2(datum=0)}
    return [*arcs, spokes.encode(x=alt.X("x:Q"), y=alt.Y("y:Q"), **centre, **silent)]


def _names(upright: bool) -> list[Any]:
    """Write the names of the axes outside the rim, on the side where they stand."""
    look = {"color": "var(--ink)", "fontSize": 11 if upright else 10, "lineHeight": 12}
    axis = _chart("axis").encode(
        x=alt.X("name_x:Q"),
        y=alt.Y("name_y:Q"),
        text=alt.Text("name:N"),
        tooltip=[alt.Tooltip("label:N", title="Stereotype")],
    )
    if not upright:
        axis = axis.encode(angle=alt.Angle("turn:Q", scale=None))
    names = []
    for side, alignment in _SIDES.items():
        is_side = alt.FieldEqualPredicate(field="side", equal=side)
        names.append(axis.transform_filter(is_side).mark_text(**look, **alignment))
    return names


def _lines(lines: Sequence[str], title: str, rows: Sequence[Row]) -> list[Any]:
    legend = alt.Legend() if len(lines) > 1 else None
    color, dash, shape = line_channels("line", lines, title=title, legend=legend)
    tips = tooltips(rows, (title, "line"), *TIPS)
    line = _chart("line", "point").mark_line(strokeWidth=2, strokeJoin="round", opacity=0.95)
    point = _chart("point").mark_point(filled=True, size=38, opacity=1)
    place: Row = {"x": alt.X("x:Q"), "y": alt.Y("y:Q"), "color": color}
    return [
        line.encode(
            **place, order=alt.Order("order:Q"), detail=alt.Detail("line:N"), strokeDash=dash
        ),
        point.encode(**place, shape=shape, tooltip=tips),
    ]


def _ring_values(measure: Measure) -> list[Any]:
    """Write what centre, neutral ring and rim stand for, on a ground of paper."""
    look: Row = {"align": "left", "dx": 4, "dy": 7, "fontSize": 10}
    ground = once().mark_text(stroke="var(--paper)", strokeWidth=3, **look)
    ink = once().mark_text(color="var(--soft)", **look)
    marks = []
    for value in (measure.low, measure.neutral, measure.high):
        place: Row = {"x": alt.X(datum=0), "y": alt.Y(datum=_share(value, measure))}
        text = alt.value(number(value, 0 if value == int(value) else 1))
        marks += [
            mark.encode(**place, text=text, tooltip=alt.TooltipValue(None))
            for mark in (ground, ink)
        ]
    return marks
