"""Drawings of effects in networks: intervals and bars, in the layout of the other charts."""

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
from tiltmeter.report.drawing.theme import category_colors
from tiltmeter.report.prose import interval, number, p_value

__all__ = ["around", "bars", "intervals", "mark", "range_said"]

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
    told: Mapping[str, Any],
) -> Row:
    """Give a row of a drawing.

    `place`: its label, column and block.
    `value` and `ends`: the dot and its interval.
    `told`: for the tooltip: ``network, about, p, n``; and ``color``, what shares a colour, by
        default a block.
    """
    label, panel, block = place
    low, high = ends
    known = value is not None and low is not None and high is not None
    p, n = told.get("p"), told.get("n")
    return {
        "label": label,
        "panel": panel,
        "block": block,
        "color": told.get("color", block),
        "mean": value,
        "low": low if known else None,
        "high": high if known else None,
        "network": told.get("network"),
        "about": told.get("about"),
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


def range_said(rows: Sequence[Row], of: str = "label") -> str:
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
