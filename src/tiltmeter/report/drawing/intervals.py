"""Intervals and bars, and profiles: a row per dimension with a dot and interval per group."""

from __future__ import annotations

import json
import math
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import altair as alt

from tiltmeter.report.drawing.charts import (
    LABELS,
    Axis,
    Row,
    across,
    blocks,
    down,
    ground,
    tooltips,
)
from tiltmeter.report.drawing.theme import category_colors, line_styles
from tiltmeter.report.prose import interval, number, p_value

__all__ = ["STAR", "around", "bars", "intervals", "mark", "profile_rows", "range_text", "shortened"]

#: Lines of a name above a narrow column, and the width of a letter.
_LINES, _LETTER = 3, 7.5

_TIPS = (
    ("Network", "network"),
    ("About", "about"),
    ("Value", "shown"),
    ("Interval", "interval"),
    ("p", "p"),
    ("n", "n"),
)


def mark(
    place: tuple[str, str, str],
    value: float | None,
    ends: tuple[float | None, float | None],
    details: Mapping[str, Any],
) -> Row:
    """Give a row of a drawing.

    `place`: its label, column and block.
    `value` and `ends`: the dot and its interval.
    `details`: for the tooltip: ``network, about, p, n``; and ``color``, what shares a colour, by
        default a block.
    """
    label, panel, block = place
    low, high = ends
    known = value is not None and low is not None and high is not None
    p, n = details.get("p"), details.get("n")
    return {
        "label": label,
        "panel": panel,
        "block": block,
        "color": details.get("color", block),
        "mean": value,
        "low": low if known else None,
        "high": high if known else None,
        "network": details.get("network"),
        "about": details.get("about"),
        "shown": None if value is None else number(value),
        "interval": interval(low, high) if known else None,
        "p": None if p is None else p_value(p),
        "n": None if n is None else f"{n:,}",
    }


def intervals(rows: Sequence[Row], axis: Axis, panels: Sequence[str], labels: int = LABELS) -> Row:
    """Draw a dot with its interval per row.

    `rows`: what `mark` gives; every panel needs a row in every block.
    """
    color = _color(rows)

    def layers(part: list[Row], axis: Axis) -> list[Any]:
        y, tips = down(part, labels), tooltips(part, *_TIPS)
        line = alt.Chart().mark_rule(strokeWidth=3)
        dot = alt.Chart().mark_point(filled=True, size=65, opacity=1)
        return [
            *ground(axis),
            line.encode(x=across("low", axis), x2="high", y=y, color=color, tooltip=tips),
            dot.encode(x=across("mean", axis), y=y, color=color, tooltip=tips),
        ]

    return _headed(blocks(rows, axis, panels, layers, labels), panels)


def bars(rows: Sequence[Row], axis: Axis, panels: Sequence[str], labels: int = LABELS) -> Row:
    """Draw a bar from 0 per row; parameters as for `intervals`."""
    color = _color(rows)

    def layers(part: list[Row], axis: Axis) -> list[Any]:
        bar = alt.Chart().mark_bar(height={"band": 0.62})
        y, tips = down(part, labels), tooltips(part, *_TIPS)
        return [bar.encode(x=across("mean", axis), y=y, color=color, tooltip=tips)]

    return _headed(blocks(rows, axis, panels, layers, labels), panels)


def around(title: str, rows: Iterable[Row], least: float) -> Axis:
    """Make an axis around 0, as wide as values and intervals need, and at least `least`."""
    values = [row[end] for row in rows for end in ("mean", "low", "high")]
    reach = max([least, *(abs(value) for value in values if value is not None)])
    power = 10.0 ** math.floor(math.log10(reach))
    reach = power * next(end for end in (1, 1.5, 2, 3, 5, 10) if reach <= end * power * (1 + 1e-9))
    return Axis(title, -reach, reach, 0)


def range_text(rows: Sequence[Row], of: str = "label") -> str:
    """Say in words, for each column, which values there are; of many, the lowest and highest."""
    parts = []
    for panel in dict.fromkeys(row["panel"] for row in rows):
        known = [row for row in rows if row["panel"] == panel and row["mean"] is not None]
        if not known:
            parts.append(f"{panel}: no values")
            continue
        known.sort(key=lambda row: row["mean"])
        low, high = known[0], known[-1]
        ends = f"{number(low['mean'])} ({low[of]}) to {number(high['mean'])} ({high[of]})"
        one = f"{number(low['mean'])} ({low[of]})"
        parts.append(f"{panel}: {ends if known[1:] else one}")
    return f"{'; '.join(parts)}."


def _headed(drawing: Row, panels: Sequence[str]) -> Row:
    """Break the names above narrow columns into lines, where they would stand at a slant."""
    width = drawing["vconcat"][0]["spec"]["width"]
    header = drawing["vconcat"][0]["facet"]["column"]["header"]
    if "labelAngle" in header:
        letters = max(8, int(width / _LETTER))
        lines = {
            panel: textwrap.wrap(panel, letters, max_lines=_LINES, placeholder="…") or [panel]
            for panel in panels
        }
        for key in ("labelAngle", "labelAlign", "labelBaseline"):
            del header[key]
        # JSON is a Vega expression, and names are nothing but strings in it.
        header |= {"labelExpr": f"{json.dumps(lines)}[datum.label]", "labelLineHeight": 15}
    return drawing


def _color(rows: Sequence[Row]) -> alt.Color:
    groups = list(dict.fromkeys(row["color"] for row in rows))
    scale = alt.Scale(domain=groups, range=category_colors(groups))
    return alt.Color("color:N", scale=scale, legend=None)


STAR = "★"

#: In pixels: the height of a lane, the room around the lanes of a dimension, the labels' width.
_LANE, _ROOM, _PROFILE_LABELS = 19, 12, 150
#: Letters of an individual's name beside its mark.
_LONGEST = 24
#: A name stands on the side of its mark that is nearer to the middle, and clear of lines below.
_SIDES: tuple[tuple[Any, int, str, str], ...] = (
    ("left", 9, "datum.mean <= 0", "end_high"),
    ("right", -9, "datum.mean > 0", "end_low"),
)
_HALO: Row = {"stroke": "var(--paper)", "strokeWidth": 4, "fill": "var(--paper)"}
_INK: Row = {"fill": "var(--ink)"}
_PROFILE_TIPS = (
    ("Dimension", "dimension"),
    ("Group", "group"),
    ("Word", "individual"),
    ("Mean", "shown"),
    ("Interval", "interval"),
    ("sd", "sd"),
    ("Words", "n"),
    ("Contexts", "contexts"),
)


def profile_rows(rows: Sequence[Row], axis: Axis, panels: Sequence[str]) -> Row:
    """Draw groups as dots in colour, individual words as hollow marks with their names.

    `rows`: with ``dimension, lane, panel, block, kind`` (``group``, ``individual`` or ``star``),
        the numbers ``mean, low, high`` and the texts of the tooltip.
    `panels`: the columns, from left to right; each needs a row of every dimension.
    """
    dimensions = list(dict.fromkeys(row["dimension"] for row in rows))
    lanes = list(dict.fromkeys(row["lane"] for row in rows if row["kind"] != "star"))
    groups = list(dict.fromkeys(row["group"] for row in rows if row["kind"] == "group"))

    def layers(part: list[Row], axis: Axis) -> list[Any]:
        return [*ground(axis), *_profile_marks(part, axis, dimensions, lanes, groups)]

    drawing = blocks(rows, axis, panels, layers, _PROFILE_LABELS)
    for block in drawing["vconcat"]:
        block["spec"]["height"] = len(dimensions) * (len(lanes) * _LANE + _ROOM)
    return drawing


def shortened(word: str) -> str:
    """Shorten an individual's name for the drawing."""
    return word if len(word) <= _LONGEST else f"{word[: _LONGEST - 1]}…"


def _profile_marks(
    part: list[Row], axis: Axis, dimensions: list[str], lanes: list[str], groups: list[str]
) -> list[Any]:
    styles = line_styles(len(groups))
    legend = alt.Legend(title=None, symbolSize=90, columns=4)

    def of(kind: str) -> Any:
        return alt.Chart().encode(y=y).transform_filter(f"datum.kind === '{kind}'")

    def channel(kind: Any, field: str) -> Any:
        scale = alt.Scale(domain=groups, range=[style[field] for style in styles])
        return kind("group:N", scale=scale, legend=legend)

    labels = alt.Axis(title=None, minExtent=_PROFILE_LABELS, maxExtent=_PROFILE_LABELS,
                      labelLimit=_PROFILE_LABELS + 5, grid=True, tickBand="extent", ticks=False,
                      labelPadding=6)  # fmt: skip
    y = alt.Y("dimension:N", sort=dimensions, scale=alt.Scale(domain=dimensions), axis=labels)
    lane = alt.YOffset("lane:N", sort=lanes, scale=alt.Scale(domain=lanes, padding=0.3))
    color, tips = channel(alt.Color, "color"), tooltips(part, *_PROFILE_TIPS)
    x, group, one = across("mean", axis), of("group"), of("individual")
    line = {"x": across("low", axis), "x2": "high", "yOffset": lane, "tooltip": tips}
    star = of("star").mark_text(fontSize=15, align="right", color="var(--ink)")
    why = tooltips(part, ("", "about"))
    return [
        group.mark_rule(strokeWidth=3).encode(**line, color=color),
        group.mark_point(filled=True, size=75, opacity=1).encode(
            x=x, yOffset=lane, color=color, shape=channel(alt.Shape, "shape"), tooltip=tips
        ),
        one.mark_rule(strokeWidth=1.4, color="var(--soft)").encode(**line),
        one.mark_point(shape="diamond", size=55, stroke="var(--ink)", fill="var(--paper)",
                       opacity=1, strokeWidth=1.4).encode(x=x, yOffset=lane, tooltip=tips),
        *(
            one.mark_text(align=align, dx=dx, fontSize=11, **look)
            .transform_filter(where)
            .encode(x=across(end, axis), yOffset=lane, text="label:N")
            for look in (_HALO, _INK)
            for align, dx, where, end in _SIDES
        ),
        star.encode(x=alt.X(datum=axis.high), text="label:N", tooltip=why),
    ]  # fmt: skip
