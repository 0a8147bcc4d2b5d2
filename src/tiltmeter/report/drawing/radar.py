"""Radars: an axis per stereotype, a closed line per model or dimension.

Vega-Lite has no radar. The places of all marks are computed here, with the centre at 0, the rim
at 1 and the first axis upwards; rings are arcs around the middle of the drawing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import altair as alt

from tiltmeter.report.drawing.charts import TIPS, Row, bare, tooltips, vega_lite
from tiltmeter.report.drawing.theme import line_styles
from tiltmeter.report.prose import number
from tiltmeter.results import Measure

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
    size = (width, width - 2 * (_BESIDE - _ABOVE) if upright else width)
    rim = width / 2 - (_BESIDE if upright else _ALONG)
    drawn = [
        *_axes(labels, panels, upright=upright),
        *_closed(rows, labels, panels, lines, measure),
    ]
    marks = [
        *_web(measure, rim),
        *_names(upright),
        *_lines(lines, title, rows),
        *_ring_values(measure),
    ]
    place = {
        name: {"scale": {"domain": [-side / 2 / rim, side / 2 / rim], "nice": False}, "axis": None}
        for name, side in zip("xy", size, strict=True)
    }
    facet = {"field": "panel", "type": "nominal", "sort": list(panels)}
    header = {"labelAnchor": "middle", "labelFontWeight": "bold", "labelPadding": 2}
    return vega_lite(
        {
            "$schema": alt.SCHEMA_URL,
            "data": {"name": "rows"},
            "facet": {**facet, "header": {"title": None, **header}},
            "columns": columns,
            "spacing": 14,
            "spec": {
                "layer": [_placed(bare(mark), place) for mark in marks],
                "width": size[0],
                "height": size[1],
            },
        },
        drawn,
    )


def _placed(mark: Row, place: Mapping[str, Row]) -> Row:
    """Give every place of a mark the same scales, without axes."""
    encoding = {
        name: {**channel, **place[name]} if name in place else channel
        for name, channel in mark.get("encoding", {}).items()
    }
    return {**mark, "encoding": encoding}


def _axes(labels: Sequence[str], panels: Sequence[str], *, upright: bool) -> Iterator[Row]:
    """Give the end of each axis and the place of its name."""
    for panel, (place, label) in product(panels, enumerate(labels)):
        x, y = _at(1.0, place, len(labels))
        away = 1.06
        side = "right" if x > 0.2 else "left" if x < -0.2 else "top" if y > 0 else "bottom"
        turn = 360 * place / len(labels)
        if not upright:
            side = "right" if turn < 180 else "left"
        yield {
            "kind": "axis",
            "panel": panel,
            "label": label,
            "name": _wrapped(label) if upright else _cut(label),
            "side": side,
            "turn": turn - (90 if side == "right" else 270),
            "x": _rounded(x),
            "y": _rounded(y),
            "name_x": _rounded(x * away),
            "name_y": _rounded(y * away),
        }


def _at(radius: float, place: int, of: int) -> tuple[float, float]:
    angle = 2 * math.pi * place / of
    return radius * math.sin(angle), radius * math.cos(angle)


def _rounded(value: float) -> float:
    return round(value, 4) + 0.0


def _cut(label: str) -> str:
    return label if len(label) <= _LONGEST else f"{label[: _LONGEST - 1]}…"


def _wrapped(label: str) -> list[str]:
    """Break a long name once, at a space or hyphen near its middle."""
    label = _cut(label)
    breaks = [i + 1 for i, character in enumerate(label[:-1]) if character in " -"]
    if len(label) <= _WRAP or not breaks:
        return [label]
    middle = min(breaks, key=lambda i: abs(i - len(label) / 2))
    return [label[:middle].strip(), label[middle:].strip()]


def _closed(
    rows: Sequence[Row],
    labels: Sequence[str],
    panels: Sequence[str],
    lines: Sequence[str],
    measure: Measure,
) -> Iterator[Row]:
    """Give the points of each line in their order, the first once more at the end."""
    by_label = {(row["panel"], row["line"], row["label"]): row for row in rows}
    for panel, line in product(panels, lines):
        if not any((panel, line, label) in by_label for label in labels):
            continue
        for order, label in enumerate([*labels, labels[0]]):
            row = by_label.get((panel, line, label), {})
            mean = row.get("mean")
            share = None if mean is None else (mean - measure.low) / (measure.high - measure.low)
            place = (None, None) if share is None else _at(share, order, len(labels))
            yield {
                **({} if order == len(labels) else row),
                "kind": "line" if order == len(labels) else "point",
                "panel": panel,
                "line": line,
                "order": order,
                "x": None if place[0] is None else _rounded(place[0]),
                "y": None if place[1] is None else _rounded(place[1]),
            }


def _of(*kinds: str) -> Any:
    return alt.Chart().transform_filter(alt.FieldOneOfPredicate(field="kind", oneOf=list(kinds)))


def _web(measure: Measure, rim: float) -> list[Any]:
    """Draw rings at the rim, at neutral and between, and the axes."""
    once = alt.Chart().transform_aggregate(count="count()", groupby=["panel"])
    neutral = (measure.neutral - measure.low) / (measure.high - measure.low)
    rings = [
        once.mark_arc(
            filled=False,
            stroke="var(--soft)",
            strokeWidth=0.8,
            opacity=0.4,
            radius=rim * share,
            radius2=0,
        )
        for share in (0.25, 0.5, 0.75, 1.0)
    ]
    dotted: dict[str, Any] = {"stroke": "var(--neutral)", "strokeDash": [2, 3], "strokeWidth": 1.6}
    rings.append(once.mark_arc(filled=False, radius=rim * neutral, radius2=0, **dotted))
    turns = {"theta": alt.value(0), "theta2": alt.value(2 * math.pi), "tooltip": alt.value(None)}
    spokes = (
        _of("axis")
        .mark_rule(color="var(--soft)", strokeWidth=0.8, opacity=0.4)
        .encode(x="x:Q", y="y:Q", x2=alt.X2(datum=0), y2=alt.Y2(datum=0), tooltip=alt.value(None))
    )
    return [*[ring.encode(**turns) for ring in rings], spokes]


def _names(upright: bool) -> list[Any]:
    """Write the names of the axes outside the rim, on the side where they stand."""
    sides = {
        "top": {"align": "center", "baseline": "line-bottom"},
        "bottom": {"align": "center", "baseline": "line-top"},
        "left": {"align": "right", "baseline": "middle"},
        "right": {"align": "left", "baseline": "middle"},
    }
    size = 11 if upright else 10
    names = []
    for side, set_ in sides.items():
        text = _of("axis").transform_filter(alt.FieldEqualPredicate(field="side", equal=side))
        text = text.mark_text(color="var(--ink)", fontSize=size, lineHeight=12, **set_).encode(
            x="name_x:Q",
            y="name_y:Q",
            text="name:N",
            tooltip=[alt.Tooltip("label:N", title="Stereotype")],
        )
        names.append(text if upright else text.encode(angle=alt.Angle("turn:Q", scale=None)))
    return names


def _lines(lines: Sequence[str], title: str, rows: Sequence[Row]) -> list[Any]:
    styles = line_styles(len(lines))
    legend = alt.Legend() if len(lines) > 1 else None

    def scale(field: str) -> alt.Scale:
        return alt.Scale(domain=list(lines), range=[style[field] for style in styles])

    color = alt.Color("line:N", scale=scale("color"), title=title, legend=legend)
    dash = alt.StrokeDash("line:N", scale=scale("dash"), title=title, legend=legend)
    shape = alt.Shape("line:N", scale=scale("shape"), title=title, legend=legend)
    drawn = _of("line", "point").mark_line(strokeWidth=2, strokeJoin="round", opacity=0.95)
    point = _of("point").mark_point(filled=True, size=38, opacity=1)
    return [
        drawn.encode(
            x="x:Q", y="y:Q", order="order:Q", detail="line:N", color=color, strokeDash=dash
        ),
        point.encode(
            x="x:Q",
            y="y:Q",
            color=color,
            shape=shape,
            tooltip=tooltips(rows, (title, "line"), *TIPS),
        ),
    ]


def _ring_values(measure: Measure) -> list[Any]:
    """Write what centre, neutral ring and rim stand for, on a ground of paper."""
    marks = []
    for value in (measure.low, measure.neutral, measure.high):
        share = (value - measure.low) / (measure.high - measure.low)
        once = alt.Chart().transform_aggregate(count="count()", groupby=["panel"])
        place = {"x": alt.X(datum=0), "y": alt.Y(datum=share), "tooltip": alt.value(None)}
        text = alt.value(number(value, 0 if value == int(value) else 1))
        put: dict[str, Any] = {"align": "left", "dx": 4, "dy": 7, "fontSize": 10}
        ground = once.mark_text(stroke="var(--paper)", strokeWidth=3, **put)
        ink = once.mark_text(color="var(--soft)", **put)
        marks += [mark.encode(text=text, **place) for mark in (ground, ink)]
    return marks
