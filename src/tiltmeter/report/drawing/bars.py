"""Bars of shares that add up to all answers asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

from tiltmeter.report.drawing.charts import LABELS, TIPS, Axis, Row, blocks, down, ticks, tooltips
from tiltmeter.report.prose import number

__all__ = ["bars", "share_summary"]


def bars(
    rows: Sequence[Row],
    parts: Sequence[tuple[str, str]],
    panels: Sequence[str],
    labels: int = LABELS,
) -> Row:
    """Draw a bar per row, cut into the shares of its counts.

    `rows`: with ``label, category, block, panel``, ``n`` and ``counts``, one number for each part.
    `parts`: label and colour of each, from left to right; a part nothing falls into is left out.
    """
    shares = [share for row in rows for share in _shares(row, parts)]
    seen = {row["part"] for row in shares}
    known = [part for part in parts if part[0] in seen]
    scale = alt.Scale(domain=[name for name, _ in known], range=[color for _, color in known])

    def layers(part: list[Row], axis: Axis) -> list[Any]:
        return [
            alt.Chart()
            .mark_bar(height={"band": 0.72}, stroke="var(--paper)", strokeWidth=0.5)
            .encode(
                x=alt.X(
                    "share:Q",
                    stack="zero",
                    scale=alt.Scale(domain=[0, 1], nice=False),
                    axis=ticks(axis, format="%"),
                ),
                y=down(part, labels),
                color=alt.Color("part:N", scale=scale, title="Answers"),
                order=alt.Order("rank:Q"),
                tooltip=tooltips(part, ("Answers", "part"), ("Number", "count"), *TIPS),
            )
        ]

    return blocks(shares, Axis("Share of answers", 0, 1, None), panels, layers, labels)


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
