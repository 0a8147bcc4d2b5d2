"""Means against the size of models, on a logarithmic axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import altair as alt

from clinometer.pieces.drawing import charts
from clinometer.pieces.drawing.charts import Axis, Row


class Panel(NamedTuple):
    """One quantity against size: its axis, and a row per model and mode with mean and interval."""

    axis: Axis
    scale: str  # in words
    rows: list[Row]


_TIPS = (
    ("Model", "model"),
    ("Billions of parameters", "size"),
    ("Mean", "shown"),
    ("Interval", "interval"),
)


def scatter(panels: Sequence[Panel], short: Mapping[str, str]) -> Row:
    """Draw panels above each other, over one axis of sizes."""
    rows: list[Row] = []
    for panel in panels:
        for row in panel.rows:
            rows.append({**row, "panel": panel.axis.title, "label": short[row["model"]]})
    sizes = [row["size"] for row in rows]
    labels = list(dict.fromkeys(row["label"] for row in rows))
    domain = (min(sizes) / 1.4, max(sizes) * 1.4)
    blocks = [_block(panel, domain, labels, last=panel is panels[-1]) for panel in panels]
    return charts.vega_lite({"vconcat": blocks, "spacing": 16}, rows)


def _block(panel: Panel, domain: tuple[float, float], labels: Sequence[str], *, last: bool) -> Row:
    axis = panel.axis
    # Vega-Lite labels every tick of a logarithmic axis; these stay apart.
    ticks = [step * 10.0**power for power in range(-4, 6) for step in (1, 2, 5)]
    values = [tick for tick in ticks if domain[0] <= tick <= domain[1]]
    title = "Billions of parameters" if last else None
    place: dict[str, Row] = {
        "x": {
            "scale": {"type": "log", "domain": list(domain), "nice": False},
            "axis": {"title": title, "labels": last, "ticks": last, "values": values,
                     "format": "~g"},
        },
        "y": {
            "scale": {"domain": [axis.low, axis.high], "nice": False, "clamp": True},
            "axis": {"title": None, "tickCount": 5},
        },
    }  # fmt: skip
    legend = alt.Legend(title="Model", columns=4)
    color, _, shape = charts.line_channels("label", labels, legend=legend)
    tips = charts.tooltips(panel.rows, *_TIPS)
    chart = alt.Chart().encode(x=alt.X("size:Q"), y=alt.Y("mean:Q"), color=color, tooltip=tips)
    marks = [
        *([] if axis.neutral is None else [charts.neutral_rule(y=alt.Y(datum=axis.neutral))]),
        chart.mark_rule(strokeWidth=2, opacity=0.6).encode(y=alt.Y("low:Q"), y2=alt.Y2("high:Q")),
        chart.mark_point(filled=True, size=70, opacity=1).encode(shape=shape),
    ]
    drawing = {**charts.only("panel", axis.title), **charts.in_layers(marks, place)}
    return {"title": axis.title, **drawing, "width": 600, "height": 190}
