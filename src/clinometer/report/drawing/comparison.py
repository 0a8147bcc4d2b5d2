"""Shares as bars, and published values beside this run's as ticks and diamonds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import altair as alt

from clinometer.report.drawing import charts
from clinometer.report.drawing.charts import LABELS, TIPS, Axis, Row
from clinometer.report.prose import number

__all__ = ["bars", "beside", "share_summary", "ticked"]


def bars(rows: Sequence[Row], parts: Sequence[tuple[str, str]], labels: int = LABELS) -> Row:
    """Draw a bar per row, cut into the shares of its counts.

    `rows`: with ``label, category, block, panel``, ``n`` and ``counts``, one number for each part.
    `parts`: label and colour of each, from left to right; a part nothing falls into is left out.
    """
    shares = [share for row in rows for share in _shares(row, parts)]
    seen = {row["part"] for row in shares}
    colors = {name: color for name, color in parts if name in seen}
    color = charts.apart(alt.Color, "part", colors, title="Answers")
    scale = alt.Scale(domain=[0, 1], nice=False)

    def layers(part: list[Row], axis: Axis) -> list[Any]:
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
        total = [sum(count or 0 for count in column) for column in zip(*counts, strict=True)]
        shares = ", ".join(
            f"{_count(count)} {name}"
            for (name, _), count in zip(parts, total, strict=True)
            if count
        )
        sentences.append(f"{panel}: {shares or 'no answers'}.")
    return " ".join(sentences)


def _shares(row: Row, parts: Sequence[tuple[str, str]]) -> list[Row]:
    if not row["n"]:
        return []
    kept = {key: value for key, value in row.items() if key != "counts"}
    return [
        {**kept, "part": name, "rank": rank, "count": _count(count), "share": count / row["n"]}
        for rank, ((name, _), count) in enumerate(zip(parts, row["counts"], strict=True))
        if count
    ]


def _count(count: float) -> str:
    """Write a number of answers; in forced mode it is the expected one."""
    return str(int(count)) if count == int(count) else number(count, 1)


def beside(ours: Sequence[Row], theirs: Iterable[Row]) -> list[Row]:
    """Put published values into each column of this run's rows with the same label.

    `ours`: with ``label, category, block, panel, mean``.
    `theirs`: with ``label``, ``who`` (the published model), ``mean`` and the texts of the tooltip.
    Result: all rows, in the order of the labels of `ours`.
    """
    shown = {row["label"]: row for row in ours}
    published = [
        {
            **row,
            "category": shown[row["label"]]["category"],
            "block": shown[row["label"]]["block"],
            "panel": panel,
            "theirs": True,
            "source": "published models",
        }
        for row in theirs
        if row["label"] in shown and row["mean"] is not None
        for panel in dict.fromkeys(row["panel"] for row in ours)
    ]
    mine = [{**row, "theirs": False, "source": "this run"} for row in ours]
    order = {label: place for place, label in enumerate(shown)}
    return sorted(published + mine, key=lambda row: order[row["label"]])


#: Where a value comes from, and its colour.
_COLORS = {"published models": "var(--soft)", "this run": "var(--gender)"}


def ticked(rows: Sequence[Row], axis: Axis, labels: int = LABELS) -> Row:
    """Draw published values as ticks and this run's as diamonds.

    `rows`: what `beside` gave.
    """
    colors = {row["source"]: _COLORS[row["source"]] for row in rows}
    color = charts.apart(alt.Color, "source", colors, legend=None)

    def layers(part: list[Row], axis: Axis) -> list[Any]:
        place: Row = {"x": charts.across("mean", axis), "y": charts.down(part, labels)}
        chart = alt.Chart().encode(**place, color=color)
        tick = chart.transform_filter("datum.theirs").mark_tick(thickness=2, size=13)
        diamond = chart.transform_filter("!datum.theirs").mark_point(
            filled=True, shape="diamond", size=95, opacity=1
        )
        theirs, ours = ([row for row in part if row["theirs"] is by] for by in (True, False))
        about = charts.tooltips(theirs, ("Published model", "who"), *TIPS, ("Note", "note"))
        return [
            *charts.ground(axis),
            tick.encode(tooltip=about),
            diamond.encode(tooltip=charts.tooltips(ours, *TIPS)),
        ]

    return charts.blocks(rows, axis, layers, labels)
