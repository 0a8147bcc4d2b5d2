"""Shares as bars, and published values beside this run's as ticks and diamonds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import altair as alt

from clinometer.numbers import number
from clinometer.pieces.drawing import charts
from clinometer.pieces.drawing.charts import TIPS, Axis, Row

__all__ = ["bars", "share_summary", "ticks_and_diamonds", "with_published"]


def bars(rows: Sequence[Row], parts: Sequence[tuple[str, str]]) -> Row:
    """Draw a bar per row, cut into the shares of its counts.

    `rows`: with ``label, category, block, panel``, ``n`` and ``counts``, one number for each part.
    `parts`: label and colour of each, from left to right; a part nothing falls into is left out.
    """
    shares = [share for row in rows for share in _shares(row, parts)]
    names = {share["part"] for share in shares}
    colors = {name: color for name, color in parts if name in names}
    color = charts.styled_channel(alt.Color, "part", colors, title="Answers")
    scale = alt.Scale(domain=[0, 1], nice=False)
    labels = charts.labels_width(rows)

    def layers(part: list[Row], axis: Axis) -> list[Any]:
        """Draw the bars of one block."""
        bar = alt.Chart().mark_bar(height={"band": 0.72}, stroke="var(--paper)", strokeWidth=0.5)
        share = alt.X("share:Q", stack="zero", scale=scale, axis=charts.ticks(axis, format="%"))
        tips = charts.tooltips(part, ("Answers", "part"), ("Number", "count"), *TIPS)
        y = charts.down(part, labels)
        return [bar.encode(x=share, y=y, color=color, order=alt.Order("rank:Q"), tooltip=tips)]

    return charts.blocks(shares, Axis("Share of answers", 0, 1, None), layers, labels)


def share_summary(rows: Sequence[Row], parts: Sequence[tuple[str, str]]) -> str:
    """Say in words how many answers fell into each part, for each column."""
    sentences = []
    for panel in dict.fromkeys(row["panel"] for row in rows):
        counts = [row["counts"] for row in rows if row["panel"] == panel]
        texts = []
        for (name, _), part_counts in zip(parts, zip(*counts, strict=True), strict=True):
            total = sum(count or 0 for count in part_counts)
            if total:
                texts.append(f"{_count(total)} {name}")
        sentences.append(f"{panel}: {', '.join(texts) or 'no answers'}.")
    return " ".join(sentences)


def _shares(row: Row, parts: Sequence[tuple[str, str]]) -> list[Row]:
    """Return a row for each part that some answers fall into, as its share of all."""
    if not row["n"]:
        return []
    shared = {key: value for key, value in row.items() if key != "counts"}
    shares = []
    for rank, ((name, _), count) in enumerate(zip(parts, row["counts"], strict=True)):
        if count:
            share = {"rank": rank, "count": _count(count), "share": count / row["n"]}
            shares.append({**shared, "part": name, **share})
    return shares


def _count(count: float) -> str:
    """Write a number of answers; in forced mode it is the expected one."""
    return str(int(count)) if count == int(count) else number(count, 1)


def with_published(ours: Sequence[Row], theirs: Iterable[Row]) -> list[Row]:
    """Put published values into each column of this run's rows with the same label.

    `ours`: with ``label, category, block, panel, mean``.
    `theirs`: with ``label``, ``who`` (the published model), ``mean`` and the texts of the tooltip.
    Result: all rows, in the order of the labels of `ours`.
    """
    by_label = {row["label"]: row for row in ours}
    panels = list(dict.fromkeys(row["panel"] for row in ours))
    published = []
    for row in theirs:
        if row["label"] not in by_label or row["mean"] is None:
            continue
        same = by_label[row["label"]]
        place = {"category": same["category"], "block": same["block"]}
        source = {"theirs": True, "source": "published models"}
        published += [{**row, **place, "panel": panel, **source} for panel in panels]
    this_run = [{**row, "theirs": False, "source": "this run"} for row in ours]
    # Of one label, ticks come first: diamonds are drawn over them.
    order = {label: position for position, label in enumerate(by_label)}
    return sorted(published + this_run, key=lambda row: order[row["label"]])


#: Where a value comes from, and its colour.
_COLORS = {"published models": "var(--soft)", "this run": "var(--gender)"}


def ticks_and_diamonds(rows: Sequence[Row], axis: Axis) -> Row:
    """Draw published values as ticks and this run's as diamonds.

    `rows`: as `with_published` makes them.
    """
    colors = {row["source"]: _COLORS[row["source"]] for row in rows}
    color = charts.styled_channel(alt.Color, "source", colors, legend=None)
    labels = charts.labels_width(rows)

    def layers(part: list[Row], axis: Axis) -> list[Any]:
        """Draw the marks of one block."""
        place: Row = {"x": charts.across("mean", axis), "y": charts.down(part, labels)}
        chart = alt.Chart().encode(**place, color=color)
        tick = chart.transform_filter("datum.theirs").mark_tick(thickness=2, size=13)
        diamond = chart.transform_filter("!datum.theirs").mark_point(
            filled=True, shape="diamond", size=95, opacity=1
        )
        theirs = [row for row in part if row["theirs"]]
        ours = [row for row in part if not row["theirs"]]
        tick_tips = charts.tooltips(theirs, ("Published model", "who"), *TIPS, ("Note", "note"))
        return [
            *charts.ground(axis),
            tick.encode(tooltip=tick_tips),
            diamond.encode(tooltip=charts.tooltips(ours, *TIPS)),
        ]

    return charts.blocks(rows, axis, layers, labels)
