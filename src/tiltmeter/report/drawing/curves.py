"""Curves with their bands, panel beside panel.

Over the layers of a model; and of decisions on associations: the paper's figure 4.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import altair as alt
import numpy as np
import polars as pl

from tiltmeter.report.drawing.charts import (
    COLUMNS,
    Axis,
    Row,
    apart,
    in_layers,
    in_panels,
    line_channels,
    measured,
    neutral_rule,
    tooltips,
)
from tiltmeter.report.drawing.figures import Figure
from tiltmeter.report.drawing.theme import category_colors
from tiltmeter.report.plan import Plan
from tiltmeter.report.prose import category_title, number
from tiltmeter.report.states.results import ALPHA, layer_name
from tiltmeter.statistics.logistic import curve

__all__ = ["KEYS", "METHODS", "MOST_PANELS", "curve_figure", "group_title", "layer_curves", "point",
           "points", "spread_text", "times", "who"]  # fmt: skip

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
    ("p", "p"),
    ("p (Holm)", "p_holm"),
    ("n", "n"),
)


def point(panel: str, series: str, row: Mapping[str, Any], value: str, digits: int = 2) -> Row:
    """Give a point of a curve.

    `panel` and `series`: the panel, and the line in it.
    `row`: with ``layer, ci_low, ci_high`` and any of ``p, p_holm, n``.
    `value`: the column that is drawn.
    """
    holm, n = row.get("p_holm"), row.get("n")
    return {
        **measured({**row, "estimate": row[value]}, digits),
        "panel": panel,
        "series": series,
        "layer": row["layer"],
        "sure": "p_holm" not in row or (holm is not None and holm < ALPHA),
        "reference": row.get("reference"),
        "n": "n/a" if n is None else f"{n:,}",
    }


def layer_curves(
    rows: Sequence[Row], axis: Axis, order: Sequence[str], titles: Mapping[str, tuple[str, str]]
) -> Row:
    """Draw a line with its band per series, a panel per `panel`.

    `rows`: what `point` gives.
    `axis`: what is measured; the same in all panels.
    `order`: the layers.
    `titles`: panel → its title, and what stands below, where it is not its own title.
    Result: filled points: p (Holm) below .05; a dashed line: ``reference``.
    """
    panels = list(dict.fromkeys(row["panel"] for row in rows))
    width = _WIDTHS[min(len(panels), COLUMNS) - 1]
    layers = {
        first: in_layers(_layer_marks(rows, axis if first else replace(axis, title=""), order))
        for first in (True, False)
    }
    named = {panel: _title(titles.get(panel, (panel, "")), width) for panel in panels}
    return in_panels(rows, named, lambda _, first: layers[first], (width, 210))


def _title(texts: tuple[str, str], width: int) -> Row:
    text, below = texts
    letters = int(width / _LETTER)
    title: Row = {"text": textwrap.wrap(text, letters, max_lines=2, placeholder="…") or [""]}
    if below:
        lines = textwrap.wrap(below, letters, max_lines=3, placeholder="…")
        title |= {"subtitle": lines, "subtitleColor": "var(--soft)", "subtitleFontSize": 12}
    return title


def _layer_marks(rows: Sequence[Row], axis: Axis, order: Sequence[str]) -> list[Any]:
    series = list(dict.fromkeys(row["series"] for row in rows))
    legend = alt.Legend(title=None, symbolSize=90, symbolStrokeWidth=0, symbolOpacity=1, columns=4)
    several = len(series) > 1
    color, dash, shape = line_channels("series", series, legend=legend if several else None)
    ticks = alt.Axis(labelAngle=0, labelOverlap=True, labelSeparation=6, grid=False)
    scale = alt.Scale(domain=list(order))
    x = alt.X("layer:O", sort=list(order), scale=scale, title="Layer", axis=ticks)
    chart = alt.Chart().encode(x=x)
    dots = chart.encode(y=_up("mean", axis), color=color, shape=shape,
                        tooltip=tooltips(rows, *_TIPS))  # fmt: skip
    filled, hollow = (48, 40) if len(order) <= _MOST_LARGE else (22, 16)
    paper: Row = {"fill": "var(--paper)", "strokeWidth": 1.5, "opacity": 1}
    marks = [
        *_banded(chart.encode(color=color), axis, dash, 0.16 if len(series) < 3 else 0.08),
        dots.mark_point(filled=True, size=filled, opacity=1).transform_filter("datum.sure"),
        dots.mark_point(size=hollow, **paper).transform_filter("!datum.sure"),
    ]
    if axis.neutral is not None:
        marks.insert(0, neutral_rule(y=alt.Y(datum=axis.neutral)))
    if any(row["reference"] is not None for row in rows):
        line = chart.mark_line(color="var(--soft)", strokeDash=[6, 4], strokeWidth=1.5)
        marks.append(line.encode(y=_up("reference", axis)))
    return marks


def _banded(chart: Any, axis: Axis, dash: Any, opacity: float) -> list[Any]:
    """Draw a line and, where it has one, its band: ``mean`` within ``low`` and ``high``."""
    band = chart.mark_area(opacity=opacity, clip=True).transform_filter("isValid(datum.low)")
    line = chart.mark_line(strokeWidth=2.2)
    return [
        band.encode(y=_up("low", axis), y2="high:Q"),
        line.encode(y=_up("mean", axis), strokeDash=dash),
    ]


def _up(field: str, axis: Axis) -> alt.Y:
    scale = alt.Scale(domain=[axis.low, axis.high], nice=False)
    ticks = alt.Axis(tickCount=5, grid=True)
    return alt.Y(f"{field}:Q", scale=scale, axis=ticks, title=axis.title or None)


def spread_text(rows: Sequence[Row]) -> str:
    """Say in words, for the first lines, where their lowest and highest values stand."""
    lines: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        lines.setdefault((row["panel"], row["series"]), []).append(row)
    parts = []
    for line, own in list(lines.items())[:_MOST_LISTED]:
        known = [row for row in own if row["mean"] is not None]
        text = "no values"
        if known:
            low, high = (pick(known, key=lambda row: row["mean"]) for pick in (min, max))
            text = (
                f"lowest {low['shown']} ({layer_name(low['layer'])}), highest {high['shown']} "
                f"({layer_name(high['layer'])}), last {known[-1]['shown']}"
            )
        parts.append(f"{', '.join(filter(None, line))}: {text}")
    left = len(lines) - _MOST_LISTED
    parts += [f"{left} more {'line' if left == 1 else 'lines'}"] if left > 0 else []
    return f"{'; '.join(parts)}."


#: Width of the classes of association whose mean decision is a point.
BIN = 0.25
#: Points of a curve.
POINTS = 41

#: What sets regressions apart.
KEYS = ("model", "mode")
#: Which fit is drawn and described: the first that there is.
METHODS = ("clustered", "published")
#: A fit by its method: with too few clusters it is dashed.
_DASHES = {"clustered": [1, 0], "published": [6, 4]}

_DRAWN_FROM = ("intercept", "intercept_se", "estimate", "se", "covariance")
_DRAWABLE = pl.all_horizontal(pl.col(_DRAWN_FROM).is_not_null()) & pl.col("confidence").is_between(
    0, 1, closed="none"
)


def who(part: pl.DataFrame) -> str:
    """Name the model and mode of a part of the rows."""
    return f"{part['model'][0]}, mode {part['mode'][0]}"


def group_title(group: str) -> str:
    """Write a group as a heading."""
    return "All" if group == "all" else category_title(group)


def times(log_odds: float | None) -> str:
    """Write log odds as an odds ratio."""
    if log_odds is None:
        return "n/a"
    ratio = math.exp(min(max(log_odds, -20.0), 20.0))
    if ratio >= 1000:
        return "over 1000"
    return number(ratio, 2 if ratio < 10 else 0)


def points(chained: pl.LazyFrame | None, study: str) -> pl.DataFrame:
    """Average decisions over classes of association, per category and over all.

    `chained`: rows of CHAINED; None for no points.
    Result: ``model, mode, group, x`` (mean association), ``mean`` (mean decision), ``n``.
    """
    if chained is None:
        schema = {**dict.fromkeys((*KEYS, "group"), pl.String()), "n": pl.UInt32()}
        return pl.DataFrame(schema={**schema, "x": pl.Float64(), "mean": pl.Float64()})
    known = chained.filter(
        (pl.col("study") == study).fill_null(True),
        pl.col("association").is_between(-1, 1),
        pl.col("decision").is_between(0, 1),
    ).with_columns(bin=((pl.col("association") + 1) / BIN).floor().clip(0, 2 / BIN - 1))
    each = [
        known.group_by(*KEYS, group.alias("group"), "bin").agg(
            x=pl.col("association").mean(), mean=pl.col("decision").mean(), n=pl.len()
        )
        for group in (pl.lit("all"), pl.col("category"))
    ]
    frame = pl.concat(each).sort(*KEYS, "group", "bin").drop("bin")
    return frame.collect(engine="streaming")


def curve_figure(part: pl.DataFrame, points: pl.DataFrame, name: str, plan: Plan) -> Figure | None:
    """Draw the decisions on the associations of one model and mode, a panel per group.

    `part`: coefficients and their fits, of one model and mode, ``"all"`` first.
    `points`: what `points` gave.
    None where there is neither curve nor point.
    """
    model, mode = part["model"][0], part["mode"][0]
    own = points.filter(pl.col("model").eq_missing(model), pl.col("mode").eq_missing(mode))
    fits = _fits(part)
    each = [_group(group, own.filter(group=group), fit) for group, fit in fits.items()]
    rows = [row for mine in each for row in mine]
    if not rows:
        return None
    caption = (
        f"Decision on association of the same answer; {who(part)}. Across: association score, "
        "−1 to 1, neutral 0. Up: share of stereotype-consistent decisions, 0 to 1, neutral 0.5. "
        f"Line: logistic regression with its pointwise {plan.interval} (clustered by stereotype; "
        "dashed: too few clusters, as published). Dots: mean decision of the answers within "
        f"{BIN:g} of association, the larger the more answers; dotted lines: neutral. Over the "
        "range of associations that occurred."
    )
    return Figure(name, caption, _summary(fits), _drawn(rows, list(fits)))


def _fits(part: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """Give the fit that is drawn of each group, a row; an empty frame where there is none."""
    method = pl.col("method").cast(pl.Enum(METHODS), strict=False)
    drawable = part.filter(_DRAWABLE, method.is_not_null()).sort(method, maintain_order=True)
    groups = part["part"].drop_nulls().unique(maintain_order=True)
    return {group: drawable.filter(part=group).head(1) for group in groups}


def _group(group: str, mine: pl.DataFrame, fit: pl.DataFrame) -> list[Row]:
    """Give the points of a group and the curve of its fit."""
    rows = [
        {"panel": group, "kind": "point", **row, "shown": number(row["mean"])}
        for row in mine.select("x", "mean", "n").iter_rows(named=True)
    ]
    if fit.is_empty():
        return rows
    low, high = (mine["x"].min(), mine["x"].max()) if mine.height > 1 else (-1.0, 1.0)
    drawn = curve(fit, fit, np.linspace(low, high, POINTS))  # type: ignore[arg-type]
    band = drawn.select("x", mean="probability", low="ci_low", high="ci_high")
    kind = {"panel": group, "kind": fit["method"][0]}
    return rows + [{**kind, **row} for row in band.select(pl.all().round(4)).iter_rows(named=True)]


def _drawn(rows: Sequence[Row], groups: Sequence[str]) -> Row:
    colors = {"all": "var(--ink)", **category_colors(group for group in groups if group != "all")}
    largest = max((row["n"] for row in rows if row["kind"] == "point"), default=1)
    titles = {group: group_title(group) for group in groups}

    def draw(group: str, first: bool) -> Row:
        return in_layers(_decision_marks(colors[group], largest, titled=first))

    return in_panels(rows, titles, draw, (255, 190))


def _decision_marks(color: str, largest: int, *, titled: bool) -> list[Any]:
    axis = Axis("Share of consistent decisions" if titled else "", 0, 1, 0.5)
    ticks = alt.Axis(tickCount=5, grid=True)
    x = alt.X("x:Q", title="Association", scale=alt.Scale(domain=[-1, 1]), axis=ticks)
    chart = alt.Chart().encode(x=x, color=alt.value(color))
    dash = apart(alt.StrokeDash, "kind", _DASHES, legend=None)
    scale = alt.Scale(domain=[1, max(largest, 2)], range=[25, 220], type="sqrt")
    size = alt.Size("n:Q", title="Answers", scale=scale, legend=alt.Legend(tickCount=4))
    tips = [
        alt.Tooltip("x:Q", title="Mean association", format=".2f"),
        alt.Tooltip("shown:N", title="Mean decision"),
        alt.Tooltip("n:Q", title="Answers"),
    ]
    dot = chart.mark_point(filled=True, opacity=0.85, stroke="var(--paper)", strokeWidth=0.8)
    return [
        neutral_rule(x=alt.X(datum=0)),
        neutral_rule(y=alt.Y(datum=axis.neutral)),
        *_banded(chart.transform_filter("datum.kind !== 'point'"), axis, dash, 0.18),
        dot.transform_filter("datum.kind === 'point'").encode(
            y=_up("mean", axis), size=size, tooltip=tips
        ),
    ]


def _summary(fits: Mapping[str, pl.DataFrame]) -> str:
    parts = (
        f"{group_title(group)}: "
        + ("no fit" if fit.is_empty() else f"odds ratio {times(fit['estimate'][0])}")
        for group, fit in fits.items()
    )
    return f"Logistic curves. {'; '.join(parts)}."
