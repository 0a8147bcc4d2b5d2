"""Means with their intervals, dots and bars, a row per label; profiles, a row per dimension."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import altair as alt

from clinometer.numbers import number
from clinometer.pieces.drawing.charts import (
    LABELS,
    STEP,
    TIPS,
    Axis,
    Row,
    across,
    blocks,
    down,
    ground,
    labels_width,
    line_channels,
    styled_channel,
    tooltips,
)
from clinometer.pieces.drawing.theme import category_colors
from clinometer.pieces.prose import cut

_TIPS = (
    ("Network", "network"),
    ("About", "about"),
    ("Value", "shown"),
    ("Interval", "interval"),
    ("Placebos", "placebo"),
    ("p", "p"),
    ("n", "n"),
)


def forest(
    rows: Sequence[Row],
    axis: Axis,
    labels: int = LABELS,
    tips: Sequence[tuple[str, str]] = TIPS,
    width: int = 0,
    step: int = STEP,
) -> Row:
    """Draw means with intervals, stacked in blocks, one column per panel; sizes as in `blocks`.

    `rows`: with ``label, category, block, panel, mean, low, high`` and, where there are such,
        ``bound_low, bound_high``, ``placebo_low, placebo_high`` and the texts of the tooltip.
        A narrower interval, ``inner_low, inner_high`` (of these prompts, or of the row alone), is
        drawn thick over the other.
    Result: grey bars: placebos; thin grey lines: worst-case bounds; lines: intervals; thick lines:
        narrower ones; dots: means.
    """
    labels = labels_width(rows, labels)
    categories = list(dict.fromkeys(row["category"] for row in rows))
    color = styled_channel(alt.Color, "category", category_colors(categories), legend=None)
    _, _, shape = line_channels("category", categories, legend=None)

    def layers(part: list[Row], axis: Axis) -> list[Any]:
        """Draw the marks of one block; what comes first in the list lies below."""
        chart = alt.Chart().encode(y=down(part, labels), tooltip=tooltips(part, *tips))
        mean = chart.mark_point(filled=True, size=65, opacity=1)
        marks = [
            chart.mark_rule(strokeWidth=3).encode(
                x=across("low", axis), x2=alt.X2("high"), color=color
            ),
            mean.encode(x=across("mean", axis), color=color, shape=shape),
        ]
        if any(row.get("inner_low") is not None for row in part):
            inner = chart.mark_rule(strokeWidth=8, opacity=0.4)
            marks.insert(
                0, inner.encode(x=across("inner_low", axis), x2=alt.X2("inner_high"), color=color)
            )
        if any(row.get("bound_low") is not None for row in part):
            worst = chart.mark_rule(color="var(--soft)", strokeWidth=1)
            marks.insert(0, worst.encode(x=across("bound_low", axis), x2=alt.X2("bound_high")))
        return [*ground(axis), *_placebos(part, axis, chart), *marks]

    return blocks(rows, axis, layers, labels, width, step)


def _placebos(part: list[Row], axis: Axis, chart: Any, width: int = 14) -> list[Any]:
    """Draw the placebos as grey bars, where there are any."""
    if all(row.get("placebo_low") is None for row in part):
        return []
    grey = chart.mark_rule(color="var(--soft)", strokeWidth=width, opacity=0.22)
    return [grey.encode(x=across("placebo_low", axis), x2=alt.X2("placebo_high"))]


def dots(rows: Sequence[Row], axis: Axis, title: str, *, hollow: bool = False) -> Row:
    """Draw one dot per stereotype and `variation`, named `title`, in the layout of `forest`."""
    variations = list(dict.fromkeys(row["variation"] for row in rows))
    color, _, shape = line_channels("variation", variations, title=title)
    size = 70 if hollow else 55

    def layers(part: list[Row], axis: Axis) -> list[Any]:
        """Draw the dots of one block."""
        dot = alt.Chart().mark_point(filled=not hollow, size=size, strokeWidth=2, opacity=0.9)
        tips = tooltips(part, (title, "variation"), *TIPS)
        place = {"x": across("mean", axis), "y": down(part)}
        return [*ground(axis), dot.encode(**place, color=color, shape=shape, tooltip=tips)]

    return blocks(rows, axis, layers)


def intervals(rows: Sequence[Row], axis: Axis, labels: int = LABELS) -> Row:
    """Draw a dot with its interval per row; every panel needs a row in every block."""
    return forest(rows, axis, labels, _TIPS)


def bars(rows: Sequence[Row], axis: Axis) -> Row:
    """Draw a bar from 0 per row, and the placebos over it."""
    colors = category_colors(row["category"] for row in rows)
    color = styled_channel(alt.Color, "category", colors, legend=None)

    def layers(part: list[Row], axis: Axis) -> list[Any]:
        """Draw the bars of one block."""
        chart = alt.Chart().encode(y=down(part), tooltip=tooltips(part, *_TIPS))
        bar = chart.mark_bar(height={"band": 0.62}).encode(x=across("mean", axis), color=color)
        return [bar, *_placebos(part, axis, chart)]

    return blocks(rows, axis, layers)


def around(title: str, rows: Iterable[Row], least: float) -> Axis:
    """Make an axis around 0, as wide as values, intervals and placebos need, or `least`."""
    ends = ("mean", "low", "high", "placebo_low", "placebo_high")
    values = [row.get(end) for row in rows for end in ends]
    reach = max([least, *(abs(value) for value in values if value is not None)])
    power = 10.0 ** math.floor(math.log10(reach))
    # A little more than 1, for a reach that floats put just above a round number.
    reach = power * next(end for end in (1, 1.5, 2, 3, 5, 10) if reach <= end * power * (1 + 1e-9))
    return Axis(title, -reach, reach, 0)


def range_text(rows: Sequence[Row]) -> str:
    """Say in words from where to where the means of each column reach."""
    by_panel: dict[str, list[Row]] = {}
    for row in rows:
        by_panel.setdefault(row["panel"], []).append(row)
    return " ".join(f"{panel}: {_reach(part)}." for panel, part in by_panel.items())


def _reach(rows: Sequence[Row]) -> str:
    """Say in words from where to where some means reach."""
    with_mean = (row for row in rows if row["mean"] is not None)
    ordered = sorted(with_mean, key=lambda row: row["mean"])
    if not ordered:
        return "no values"
    ends = [f"{number(row['mean'])} ({_name(row)})" for row in (ordered[0], ordered[-1])]
    return f"{len(ordered)} values from {' to '.join(ends)}" if ordered[1:] else ends[0]


def _name(row: Row) -> str:
    return ", ".join(filter(None, (row["label"], row.get("variation"))))


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


def profile_rows(rows: Sequence[Row], axis: Axis) -> Row:
    """Draw groups as dots in colour, individual words as hollow marks with their names.

    `rows`: with ``dimension, lane, panel, block, kind`` (``group``, ``individual`` or ``star``),
        the numbers ``mean, low, high`` and the texts of the tooltip; every panel needs a row of
        every dimension.
    """
    lanes = list(dict.fromkeys(row["lane"] for row in rows if row["kind"] != "star"))
    groups = list(dict.fromkeys(row["group"] for row in rows if row["kind"] == "group"))

    def layers(part: list[Row], axis: Axis) -> list[Any]:
        """Draw the marks of one block."""
        return [*ground(axis), *_profile_marks(part, axis, lanes, groups)]

    drawing = blocks(rows, axis, layers, _PROFILE_LABELS)
    # `blocks` gives each label one step; a dimension needs a lane for each group and word.
    dimensions = len({row["dimension"] for row in rows})
    for block in drawing["vconcat"]:
        block["spec"]["height"] = dimensions * (len(lanes) * _LANE + _ROOM)
    return drawing


def shortened(word: str) -> str:
    """Shorten an individual's name for the drawing."""
    return cut(word, _LONGEST)


def _profile_marks(part: list[Row], axis: Axis, lanes: list[str], groups: list[str]) -> list[Any]:
    """Draw groups, individual words with their names, and stars, each kind over the one before."""
    chart = alt.Chart().encode(y=down(part, _PROFILE_LABELS, "dimension", tickBand="extent"))
    group = chart.transform_filter("datum.kind === 'group'")
    individual = chart.transform_filter("datum.kind === 'individual'")
    star = chart.transform_filter("datum.kind === 'star'")
    legend = alt.Legend(title=None, symbolSize=90, columns=4)
    color, _, shape = line_channels("group", groups, legend=legend)
    lane = alt.YOffset("lane:N", sort=lanes, scale=alt.Scale(domain=lanes, padding=0.3))
    place: Row = {"yOffset": lane, "tooltip": tooltips(part, *_PROFILE_TIPS)}
    line = {**place, "x": across("low", axis), "x2": alt.X2("high")}
    point = {**place, "x": across("mean", axis)}
    hollow: Row = {"stroke": "var(--ink)", "fill": "var(--paper)", "strokeWidth": 1.4}
    return [
        *_placebos(part, axis, group.encode(**place), _LANE - 3),
        group.mark_rule(strokeWidth=3).encode(**line, color=color),
        group.mark_point(filled=True, size=75, opacity=1).encode(**point, color=color, shape=shape),
        individual.mark_rule(strokeWidth=1.4, color="var(--soft)").encode(**line),
        individual.mark_point(shape="diamond", size=55, opacity=1, **hollow).encode(**point),
        *_individual_names(individual, axis, lane),
        star.mark_text(fontSize=15, align="right", color="var(--ink)").encode(
            x=alt.X(datum=axis.high),
            text=alt.Text("label:N"),
            tooltip=tooltips(part, ("", "about")),
        ),
    ]


def _individual_names(individual: Any, axis: Axis, lane: alt.YOffset) -> list[Any]:
    """Write the names of individual words beside their marks; all halos lie below all names."""
    names = []
    for look in (_HALO, _INK):
        for align, dx, is_on_side, end in _SIDES:
            text = individual.mark_text(align=align, dx=dx, fontSize=11, **look)
            place = {"x": across(end, axis), "yOffset": lane}
            names.append(
                text.transform_filter(is_on_side).encode(**place, text=alt.Text("label:N"))
            )
    return names
