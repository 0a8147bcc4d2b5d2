"""The drawing of a profile: a row per dimension, in it a dot with its interval per group."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

from tiltmeter.report.drawing.charts import Axis, Row, across, blocks, ground, tooltips
from tiltmeter.report.drawing.theme import line_styles

__all__ = ["STAR", "label", "profile_rows"]

STAR = "★"

#: In pixels: the height of a lane, the room around the lanes of a dimension, the labels' width.
_LANE, _ROOM, _LABELS = 19, 12, 150
#: Letters of an individual's name beside its mark.
_LONGEST = 24
#: A name stands on the side of its mark that is nearer to the middle, and clear of lines below.
_SIDES: tuple[tuple[Any, int, str, str], ...] = (
    ("left", 9, "datum.mean <= 0", "end_high"),
    ("right", -9, "datum.mean > 0", "end_low"),
)
_HALO: Row = {"stroke": "var(--paper)", "strokeWidth": 4, "fill": "var(--paper)"}
_INK: Row = {"fill": "var(--ink)"}
_TIPS = (
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
        return [*ground(axis), *_marks(part, axis, dimensions, lanes, groups)]

    drawing = blocks(rows, axis, panels, layers, _LABELS)
    for block in drawing["vconcat"]:
        block["spec"]["height"] = len(dimensions) * (len(lanes) * _LANE + _ROOM)
    return drawing


def label(word: str) -> str:
    """Shorten an individual's name for the drawing."""
    return word if len(word) <= _LONGEST else f"{word[: _LONGEST - 1]}…"


def _marks(
    part: list[Row], axis: Axis, dimensions: list[str], lanes: list[str], groups: list[str]
) -> list[Any]:
    styles = line_styles(len(groups))
    legend = alt.Legend(title=None, symbolSize=90, columns=4)

    def of(kind: str) -> Any:
        return alt.Chart().encode(y=y).transform_filter(f"datum.kind === '{kind}'")

    def channel(kind: Any, field: str) -> Any:
        scale = alt.Scale(domain=groups, range=[style[field] for style in styles])
        return kind("group:N", scale=scale, legend=legend)

    labels = alt.Axis(title=None, minExtent=_LABELS, maxExtent=_LABELS, labelLimit=_LABELS + 5,
                      grid=True, tickBand="extent", ticks=False, labelPadding=6)  # fmt: skip
    y = alt.Y("dimension:N", sort=dimensions, scale=alt.Scale(domain=dimensions), axis=labels)
    lane = alt.YOffset("lane:N", sort=lanes, scale=alt.Scale(domain=lanes, padding=0.3))
    color, tips = channel(alt.Color, "color"), tooltips(part, *_TIPS)
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
