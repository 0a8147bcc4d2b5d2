"""Dots against size on a logarithmic axis, each with its name."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt
import polars as pl

from tiltmeter.report.drawing.charts import Row, bare, vega_lite
from tiltmeter.report.prose import interval, number

__all__ = ["Panel", "scatter"]

_WIDTH, _HEIGHT = 600, 190
_LETTER = 6.4  # width of a letter of a label, in pixels
#: How far a label may be moved up or down, in pixels, the least first.
_LIFTS = (0, *(sign * step for step in range(15, 106, 15) for sign in (-1, 1)))


@dataclass(frozen=True)
class Panel:
    """One quantity against size: its axis, and rows of model, mode, size, mean and interval."""

    title: str
    says: str
    low: float
    high: float
    neutral: float | None
    frame: pl.DataFrame

    def rows(self) -> list[dict[str, Any]]:
        """Give a row per model."""
        return list(self.frame.iter_rows(named=True))


def scatter(panels: Sequence[Panel], short: Mapping[str, str]) -> Row:
    """Draw panels above each other, over one axis of sizes.

    `short`: model → the name by its dot.
    """
    sizes = [size for panel in panels for size in panel.frame["size"]]
    domain = (min(sizes) / 1.4, max(sizes) * (max(sizes) / min(sizes)) ** 0.22 * 1.4)
    found = {panel.title: _rows(panel, short, domain) for panel in panels}
    blocks = [
        _block(panel, found[panel.title], domain, last=panel is panels[-1]) for panel in panels
    ]
    data = {"$schema": alt.SCHEMA_URL, "data": {"name": "rows"}}
    rows = [row for part in found.values() for row in part]
    return vega_lite({**data, "vconcat": blocks, "spacing": 16}, rows)


def _rows(panel: Panel, short: Mapping[str, str], domain: tuple[float, float]) -> list[Row]:
    """Give each dot a label that lies on no other label or dot, as far as there is room."""
    places = [(_across(r["size"], domain), _up(r["mean"], panel)) for r in panel.rows()]
    taken = [(x - 5, y - 5, x + 5, y + 5) for x, y in places]
    if panel.neutral is not None:
        line = _up(panel.neutral, panel)
        taken.append((0.0, line - 1, float(_WIDTH), line + 1))
    rows = []
    for row, (x, y) in zip(panel.rows(), places, strict=True):
        label = short[row["model"]]
        label = label if len(label) <= 28 else f"{label[:27]}…"
        end = x + 11 + _LETTER * len(label)
        boxes = {lift: (x + 11, y + lift - 7, end, y + lift + 7) for lift in _LIFTS}
        inside = [lift for lift in _LIFTS if 0 <= y + lift <= _HEIGHT]
        lift = next((one for one in inside if not _hits(boxes[one], taken)), 0)
        taken.append(boxes[lift])
        shown = {"shown": number(row["mean"]), "interval": interval(row["low"], row["high"])}
        rows.append({**row, **shown, "panel": panel.title, "label": label, "lift": lift})
    return rows


def _across(size: float, domain: tuple[float, float]) -> float:
    low, high = (math.log(end) for end in domain)
    return _WIDTH * (math.log(size) - low) / (high - low)


def _up(mean: float, panel: Panel) -> float:
    return _HEIGHT * (panel.high - mean) / (panel.high - panel.low)


def _hits(
    box: tuple[float, float, float, float], taken: Sequence[tuple[float, float, float, float]]
) -> bool:
    left, top, right, bottom = box
    return any(a < right and c > left and b < bottom and d > top for a, b, c, d in taken)


def _block(panel: Panel, rows: Sequence[Row], domain: tuple[float, float], *, last: bool) -> Row:
    ticks = [step * 10.0**power for power in range(-4, 6) for step in (1, 2, 5)]
    x = alt.X(
        "size:Q",
        scale=alt.Scale(type="log", domain=list(domain), nice=False),
        axis=alt.Axis(
            title="Billions of parameters" if last else None,
            labels=last,
            ticks=last,
            values=[tick for tick in ticks if domain[0] <= tick <= domain[1]],
            format="~g",
        ),
    )
    y_scale = alt.Scale(domain=[panel.low, panel.high], nice=False, clamp=True)
    y_axis = alt.Axis(title=None, tickCount=5)
    y = alt.Y("mean:Q", scale=y_scale, axis=y_axis)
    tips = [
        alt.Tooltip(f"{field}:N", title=title)
        for title, field in (
            ("Model", "model"),
            ("Billions of parameters", "size"),
            ("Mean", "shown"),
            ("Interval", "interval"),
        )
    ]
    chart = alt.Chart().encode(x=x, tooltip=tips)
    rule = chart.mark_rule(strokeWidth=2, color="var(--gender)", opacity=0.6)
    layers = [
        rule.encode(y=alt.Y("low:Q", scale=y_scale, axis=y_axis), y2="high:Q"),
        *_labels(chart, y, sorted({row["lift"] for row in rows})),
        chart.mark_point(filled=True, size=70, opacity=1, color="var(--gender)").encode(y=y),
    ]
    if panel.neutral is not None:
        once = alt.Chart().transform_aggregate(count="count()")
        line = once.mark_rule(color="var(--neutral)", strokeDash=[2, 3], strokeWidth=1.5)
        layers.insert(0, line.encode(y=alt.Y(datum=panel.neutral)))
    return {
        "title": panel.title,
        "transform": [{"filter": {"field": "panel", "equal": panel.title}}],
        "layer": [bare(layer) for layer in layers],
        "width": _WIDTH,
        "height": _HEIGHT,
    }


def _labels(chart: Any, y: alt.Y, lifts: Sequence[int]) -> list[Any]:
    """Write the names, with a thin line to those that had to be moved."""
    layers = []
    for lift in lifts:
        wanted = alt.FieldEqualPredicate(field="lift", equal=lift)
        name = chart.mark_text(align="left", dx=11, dy=lift, fontSize=12, color="var(--ink)")
        layers.append(name.transform_filter(wanted).encode(y=y, text="label:N"))
        if lift:
            lead = chart.mark_rule(x2Offset=9, y2Offset=lift, color="var(--soft)", strokeWidth=0.8)
            ends = {"x2": alt.X2("size:Q"), "y2": alt.Y2("mean:Q")}
            layers.append(lead.transform_filter(wanted).encode(y=y, **ends))
    return layers
