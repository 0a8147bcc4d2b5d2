"""The vocabulary of the drawings: plain rows in, one Vega-Lite specification out.

Rows are dictionaries that already hold their labels; no row ever holds a model's answer. Charts
refer to the rows by name, so that altair neither copies nor checks them one by one.
"""

from __future__ import annotations

import json
import math
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import altair as alt

from clinometer.numbers import interval, number, p_value
from clinometer.pieces.drawing.theme import CONFIG, LABEL_SIZE, line_styles, text_width
from clinometer.results import Measure

Row = dict[str, Any]

Layers = Callable[[list[Row], "Axis"], list[Any]]

#: The width of the labels on the left.
LABELS = 165
#: The height of a row.
STEP = 21
#: The least width of a column whose axis has a title; the caption says it too.
_TITLED = 160
#: The width of a letter of a column's name, and the lines that a name may take.
_LETTER, _LINES = 8.0, 3
#: Panels side by side.
COLUMNS = 3
TIPS = (
    ("Stereotype", "label"),
    ("Category", "category"),
    ("Dimension", "dimension"),
    ("Model", "model"),
    ("Mode", "mode"),
    ("Mean", "shown"),
    ("Interval in these prompts", "interval_in_prompts"),
    ("Interval", "interval"),
    ("Worst case", "bounds"),
    ("Random splits", "placebo"),
    ("Answers (scored)", "answers"),
    ("Compliance", "compliance"),
    ("df", "df"),
    ("p", "p"),
    ("p (adjusted)", "p_adjusted"),
    ("Verdict", "verdict"),
)


@dataclass(frozen=True)
class Axis:
    """A horizontal axis: its title, its ends, its neutral value, if any, and the band around it."""

    title: str
    low: float
    high: float
    neutral: float | None
    margin: float | None = None
    bare: bool = False  # no numbers and no title: another block below carries them
    labels: Mapping[float, str] = field(default_factory=dict)  # in place of numbers; | ends a line

    @classmethod
    def for_measure(cls, measure: Measure, margin: float | None = None) -> Axis:
        """Make the axis of a measure."""
        return cls(measure.title, measure.low, measure.high, measure.neutral, margin)


def measured(row: Mapping[str, Any], digits: int = 2) -> Row:
    """Return the dot and interval of a row of estimates, and how a tooltip writes them.

    An interval without both ends or without a value is left out.
    """
    value, low, high = (row.get(name) for name in ("estimate", "ci_low", "ci_high"))
    low, high = (None, None) if None in (value, low, high) else (low, high)
    adjusted = next(
        (row[c] for c in ("p_bonferroni", "p_holm", "p_bh") if row.get(c) is not None), None
    )
    return {
        "mean": value,
        "low": low,
        "high": high,
        "shown": number(value, digits),
        "interval": interval(low, high, digits),
        "p": p_value(row.get("p")),
        "p_adjusted": p_value(adjusted),
    }


def vega_lite(drawing: Row, rows: Sequence[Row]) -> Row:
    """Return the specification of a drawing of rows, with the configuration that all share."""
    return {
        "$schema": alt.SCHEMA_URL,
        "data": {"name": "rows"},
        **drawing,
        "config": CONFIG,
        "datasets": {"rows": list(rows)},
    }


def bare(chart: Any) -> Row:
    """Return a chart as part of a larger one; altair would copy it at each step of composing."""
    drawing = chart.to_dict(validate=False)
    page_keys = ("$schema", "config", "data", "datasets")
    return {key: value for key, value in drawing.items() if key not in page_keys}


def in_layers(marks: Iterable[Any], place: Mapping[str, Row] | None = None) -> Row:
    """Lay charts over each other.

    `place`: channel → the scale and axis that every layer has.
    """
    layers = [bare(mark) for mark in marks]
    for layer in layers:
        encoding = layer.get("encoding", {})
        for channel, options in (place or {}).items():
            if channel in encoding:
                encoding[channel] = {**encoding[channel], **options}
    return {"layer": layers}


def only(field: str, value: str) -> Row:
    """Restrict a part of a drawing to the rows with a value of a field."""
    return {"transform": [{"filter": {"field": field, "equal": value}}]}


def in_panels(
    rows: Sequence[Row],
    titles: Mapping[str, Any],
    draw: Callable[[str, bool], Row],
    size: tuple[int, int],
) -> Row:
    """Set panels side by side, three in a row, each with axes of its own.

    `rows`: with ``panel``.
    `titles`: panel → its title, in the order of the panels.
    `draw`: from a panel, and whether it is the first of its row, to its layers.
    `size`: width and height of a panel.
    """
    width, height = size
    panels: list[Row] = []
    for position, (panel, title) in enumerate(titles.items()):
        layers = draw(panel, position % COLUMNS == 0)
        drawing: Row = {"title": title, **only("panel", panel), **layers}
        panels.append({**drawing, "width": width, "height": height})
    return vega_lite({"concat": panels, "columns": COLUMNS, "spacing": 26}, rows)


def blocks(
    rows: Sequence[Row],
    axis: Axis,
    layers: Layers,
    labels: int = LABELS,
    width: int = 0,
    step: int = STEP,
) -> Row:
    """Stack one block per category, a column per panel; only the last carries the axis.

    `width`: of a column; 0: its share of the page. `step`: height of a row; pixels both.
    """
    names = list(dict.fromkeys(row["block"] for row in rows))
    panels = list(dict.fromkeys(row["panel"] for row in rows))
    width = width or _column_width(len(panels), labels)
    if width < _TITLED:
        axis = replace(axis, title="")
    blocks = []
    for name in names:
        part = [row for row in rows if row["block"] == name]
        header = _header(width, panels if name == names[0] else [])
        column = {"field": "panel", "type": "nominal", "sort": panels, "header": header}
        marks = in_layers(layers(part, replace(axis, bare=name != names[-1])))
        block: Row = {
            **only("block", name),
            "facet": {"column": column},
            "spacing": 18,
            "bounds": "flush",  # so that the same column has one place in all blocks
            "spec": {**marks, "width": width, "height": {"step": step}},
        }
        blocks.append({**block, "title": name} if name else block)
    return vega_lite({"vconcat": blocks, "spacing": 4}, rows)


def labels_width(rows: Sequence[Row], least: int = LABELS) -> int:
    """Return the width that the labels of rows need, in pixels."""
    widths = (text_width(str(row["label"]), LABEL_SIZE) for row in rows)
    return max(least, math.ceil(max(widths, default=0)))


def _column_width(columns: int, labels: int) -> int:
    """Share the page among columns; below a least width the figure scrolls sideways."""
    if columns < 3:  # of full width, one or two would be harder to read
        return (620, 400)[columns - 1]
    return max(95, (1060 - labels - 18 * (columns - 1)) // columns)


def _header(width: int, panels: Sequence[str]) -> Row:
    """Name several columns; where they are narrow, in lines."""
    header: Row = {
        "title": None,
        "labels": len(panels) > 1,
        "labelAnchor": "start",
        "labelPadding": 4,
    }
    if width >= _TITLED or not panels:
        return header
    lines = {panel: _lines(panel, int(width / _LETTER)) for panel in panels}
    # JSON is a Vega expression, and names are nothing but strings in it.
    return {**header, "labelExpr": f"{json.dumps(lines)}[datum.label]", "labelLineHeight": 15}


def _lines(name: str, letters: int) -> list[str]:
    """Break the name of a column: at its commas where that is enough, else anywhere."""
    parts = name.split(", ")
    if all(len(part) <= letters for part in parts):
        return parts
    return textwrap.wrap(name, letters, max_lines=_LINES, placeholder="…") or [name]


def once() -> Any:
    """Return a chart with one mark per panel, for what does not depend on the rows."""
    return alt.Chart().transform_aggregate(count="count()", groupby=["panel"])


def neutral_rule(**place: Any) -> Any:
    """Draw the dotted line at a neutral value."""
    rule = once().mark_rule(color="var(--neutral)", strokeDash=[2, 3], strokeWidth=1.5)
    return rule.encode(**place, tooltip=alt.TooltipValue(None))


def ground(axis: Axis) -> list[Any]:
    """Draw the band near neutral and the dotted neutral line."""
    if axis.neutral is None:
        return []
    layers = [neutral_rule(x=alt.X(datum=axis.neutral))]
    if axis.margin:  # the band lies below the line
        low, high = axis.neutral - axis.margin, axis.neutral + axis.margin
        ends = {"x": alt.X(datum=low), "x2": alt.X2(datum=high), "tooltip": alt.TooltipValue(None)}
        layers.insert(0, once().mark_rect(color="var(--band)").encode(**ends))
    return layers


def styled_channel(channel: Any, field: str, styles: Mapping[str, Any], **options: Any) -> Any:
    """Tell the values of a field apart.

    `channel`: a channel of altair.
    `styles`: value → its colour, shape or dash.
    """
    scale = alt.Scale(domain=list(styles), range=list(styles.values()))
    return channel(f"{field}:N", scale=scale, **options)


def line_channels(field: str, names: Sequence[str], **options: Any) -> tuple[Any, Any, Any]:
    """Return colour, dash and shape of the lines of a field, apart without colour too."""
    styles = line_styles(len(names))

    def channel_of(channel: Any, key: str) -> Any:
        """Make the channel of one key of the styles."""
        values = [style[key] for style in styles]
        return styled_channel(channel, field, dict(zip(names, values, strict=True)), **options)

    return (
        channel_of(alt.Color, "color"),
        channel_of(alt.StrokeDash, "dash"),
        channel_of(alt.Shape, "shape"),
    )


def across(field: str, axis: Axis) -> alt.X:
    """Return the horizontal position of a field."""
    scale = alt.Scale(domain=[axis.low, axis.high], nice=False, clamp=True)
    return alt.X(f"{field}:Q", scale=scale, axis=ticks(axis))


def up(field: str, axis: Axis) -> alt.Y:
    """Return the vertical position of a field."""
    scale = alt.Scale(domain=[axis.low, axis.high], nice=False)
    ticks = alt.Axis(tickCount=5, grid=True)
    return alt.Y(f"{field}:Q", scale=scale, axis=ticks, title=axis.title or None)


def banded(chart: Any, axis: Axis, dash: Any, opacity: float) -> list[Any]:
    """Draw a line and, where it has one, its band: ``mean`` within ``low`` and ``high``."""
    band = chart.mark_area(opacity=opacity, clip=True).transform_filter("isValid(datum.low)")
    line = chart.mark_line(strokeWidth=2.2)
    return [
        band.encode(y=up("low", axis), y2=alt.Y2("high:Q")),
        line.encode(y=up("mean", axis), strokeDash=dash),
    ]


def ticks(axis: Axis, **options: Any) -> alt.Axis:
    """Return the axis below a block; a bare one has neither numbers nor a title."""
    full = not axis.bare
    title = axis.title if full else ""
    if axis.labels:
        # JSON is a Vega expression; labels in lines, at the ends within the axis.
        lines = {f"{value:g}": label.split("|") for value, label in axis.labels.items()}
        expression = f"{json.dumps(lines)}[datum.value]"
        options |= {"values": list(axis.labels), "labelExpr": expression, "labelFlush": True}
    # None, not an empty text, which would keep the room of a title.
    return alt.Axis(
        title=title or None, labels=full, ticks=full, domain=full, tickCount=5, **options
    )


def down(rows: Sequence[Row], labels: int = LABELS, field: str = "label", **options: Any) -> alt.Y:
    """Return the vertical axis: the labels of the rows, in their order."""
    order = list(dict.fromkeys(row[field] for row in rows))
    axis = alt.Axis(
        title=None,
        # Of one width, whatever the labels are, so that blocks stand under each other.
        minExtent=labels,
        maxExtent=labels,
        grid=True,
        ticks=False,
        labelPadding=6,
        **options,
    )
    return alt.Y(f"{field}:N", sort=order, scale=alt.Scale(domain=order), axis=axis)


def tooltips(rows: Sequence[Row], *tips: tuple[str, str]) -> list[alt.Tooltip]:
    """Return the tooltip: of the (title, field) those that some row has."""
    fields = [(title, field) for title, field in tips if _has_texts(rows, field)]
    return [alt.Tooltip(f"{field}:N", title=title) for title, field in fields]


def _has_texts(rows: Sequence[Row], field: str) -> bool:
    return any(row.get(field) not in (None, "", "n/a") for row in rows)
