"""Curves of estimates with their bands over the layers of a model, panel beside panel."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import altair as alt
import polars as pl

from clinometer.numbers import interval
from clinometer.pieces.drawing import charts
from clinometer.pieces.drawing.charts import Axis, Row
from clinometer.pieces.drawing.figures import Figure
from clinometer.pieces.prose import ALPHA
from clinometer.pieces.sections import truncation_note
from clinometer.pieces.tables import Render
from clinometer_measures.states.report.results import by_layer, layers

__all__ = ["layer_figure"]

Panel = tuple[tuple[str, str], pl.DataFrame]

#: Panels of a figure; the others are left to the table.
MOST_PANELS = 9
#: The width of a panel where there are one, two or more side by side.
_WIDTHS = (640, 450, 285)
#: The width of a letter of a title.
_LETTER = 8.2
#: Up to this many lines are described in words.
_MOST_LISTED = 6
#: Up to this many layers points are large.
_MOST_LARGE = 16
_TIPS = (
    ("Line", "series"),
    ("Layer", "layer"),
    ("Value", "shown"),
    ("Interval", "interval"),
    ("Placebos", "placebo"),
    ("p", "p"),
    ("p (Holm)", "p_holm"),
    ("n", "n"),
)


def layer_figure(
    panels: Sequence[Panel],
    line: Render,
    axis: Callable[[Sequence[Row]], Axis],
    caption: str,
    digits: int = 2,
) -> Figure:
    """Draw estimates by layer, in at most so many panels, which share an axis.

    `panels`: title, text below it, and rows of each.
    `line`: names the line of a row.
    `axis`: makes the axis for what is drawn.
    Result: filled points: p (Holm), or `p_claim`, below .05; grey areas: placebos; a dashed line:
        ``reference``.
    """
    order = layers(pl.concat([part.select("layer") for _, part in panels]))
    titles = _panel_titles([title for title, _ in panels])
    rows: list[Row] = []
    # Panels beyond the titles are not drawn.
    for name, (_, part) in zip(titles, panels, strict=False):
        for row in by_layer(part).iter_rows(named=True):
            rows.append(_point(name, line(row), row, digits))
    width = _WIDTHS[min(len(titles), charts.COLUMNS) - 1]
    full_axis = axis(rows)
    # Only the first panel of a row has the title of the axis.
    first_marks = charts.in_layers(_layer_marks(rows, full_axis, order))
    untitled_marks = charts.in_layers(_layer_marks(rows, replace(full_axis, title=""), order))
    headings = {panel: _heading(texts, width) for panel, texts in titles.items()}
    drawing = charts.in_panels(
        rows, headings, lambda _, first: first_marks if first else untitled_marks, (width, 210)
    )
    only_first = truncation_note(MOST_PANELS, len(panels), "panels")
    return Figure("", caption + only_first, _summary(rows), drawing)


def _panel_titles(titles: Sequence[tuple[str, str]]) -> dict[str, tuple[str, str]]:
    """Name the panels that are drawn: by title, or with the text below it where two are alike."""
    counts = Counter(title for title, _ in titles)
    by_name = {}
    for title, below in titles[:MOST_PANELS]:
        name = title if counts[title] == 1 else ", ".join(filter(None, (title, below)))
        by_name[name] = (title, below)
    return by_name


def _point(panel: str, series: str, row: Mapping[str, Any], digits: int) -> Row:
    """Give a point of a line, with its interval, its placebos and the texts of its tooltip."""
    p = row.get("p_claim", row.get("p_holm"))
    n = row.get("n")
    low, high = row.get("placebo_low"), row.get("placebo_high")
    return {
        **charts.measured(row, digits),
        "placebo_low": low,
        "placebo_high": high,
        "placebo": None if None in (low, high) else interval(low, high, digits),
        "panel": panel,
        "series": series,
        "layer": row["layer"],
        # Estimates without a test, such as accuracies, have filled points.
        "sure": "p_holm" not in row or (p is not None and p < ALPHA),
        "reference": row.get("reference"),
        "n": "n/a" if n is None else f"{n:,}",
    }


def _heading(texts: tuple[str, str], width: int) -> Row:
    """Make the title of a panel, in lines that fit its width."""
    text, below = texts
    letters = int(width / _LETTER)
    title: Row = {"text": textwrap.wrap(text, letters, max_lines=2, placeholder="…") or [""]}
    if below:
        lines = textwrap.wrap(below, letters, max_lines=3, placeholder="…")
        title |= {"subtitle": lines, "subtitleColor": "var(--soft)", "subtitleFontSize": 12}
    return title


def _layer_marks(rows: Sequence[Row], axis: Axis, order: Sequence[str]) -> list[Any]:
    """Make the marks of a panel; later ones lie over earlier ones."""
    series = list(dict.fromkeys(row["series"] for row in rows))
    legend = alt.Legend(title=None, symbolSize=90, symbolStrokeWidth=0, symbolOpacity=1, columns=4)
    several = len(series) > 1
    color, dash, shape = charts.line_channels("series", series, legend=legend if several else None)
    ticks = alt.Axis(labelAngle=0, labelOverlap=True, labelSeparation=6, grid=False)
    scale = alt.Scale(domain=list(order))
    x = alt.X("layer:O", sort=list(order), scale=scale, title="Layer", axis=ticks)
    chart = alt.Chart().encode(x=x)
    dots = chart.encode(y=charts.up("mean", axis), color=color, shape=shape,
                        tooltip=charts.tooltips(rows, *_TIPS))  # fmt: skip
    filled, hollow = (48, 40) if len(order) <= _MOST_LARGE else (22, 16)
    paper: Row = {"fill": "var(--paper)", "strokeWidth": 1.5, "opacity": 1}
    marks = [
        *charts.banded(chart.encode(color=color), axis, dash, 0.16 if len(series) < 3 else 0.08),
        dots.mark_point(filled=True, size=filled, opacity=1).transform_filter("datum.sure"),
        dots.mark_point(size=hollow, **paper).transform_filter("!datum.sure"),
    ]
    if any(row["placebo_low"] is not None for row in rows):
        area = chart.mark_area(color="var(--soft)", opacity=0.13, clip=True)
        area = area.transform_filter("isValid(datum.placebo_low)")
        ends = {"y": charts.up("placebo_low", axis), "y2": alt.Y2("placebo_high:Q")}
        marks.insert(0, area.encode(**ends, detail=alt.Detail("series:N")))
    if axis.neutral is not None:
        marks.insert(0, charts.neutral_rule(y=alt.Y(datum=axis.neutral)))
    if any(row["reference"] is not None for row in rows):
        line = chart.mark_line(color="var(--soft)", strokeDash=[6, 4], strokeWidth=1.5)
        marks.append(line.encode(y=charts.up("reference", axis)))
    return marks


def _summary(rows: Sequence[Row]) -> str:
    """Say in words, for the first lines, where their lowest and highest values stand."""
    lines: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        lines.setdefault((row["panel"], row["series"]), []).append(row)
    texts = []
    for line, points in list(lines.items())[:_MOST_LISTED]:
        texts.append(f"{', '.join(filter(None, line))}: {_line_text(points)}")
    n_more = len(lines) - _MOST_LISTED
    if n_more > 0:
        texts.append(f"{n_more} more {'line' if n_more == 1 else 'lines'}")
    return f"{'; '.join(texts)}."


def _line_text(points: Sequence[Row]) -> str:
    """Say where a line is lowest and highest, and where it ends."""
    values = [row for row in points if row["mean"] is not None]
    if not values:
        return "no values"
    low = min(values, key=lambda row: row["mean"])
    high = max(values, key=lambda row: row["mean"])
    return (
        f"lowest {low['shown']} (layer {low['layer']}), highest {high['shown']} (layer "
        f"{high['layer']}), last {values[-1]['shown']}"
    )
