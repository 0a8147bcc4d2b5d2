"""Curves of decision on association, one panel per category: the paper's figure 4."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np
import polars as pl

from tiltmeter.report.drawing.charts import Row, bare, vega_lite
from tiltmeter.report.drawing.figures import Figure
from tiltmeter.report.drawing.theme import category_colors
from tiltmeter.report.plan import Plan
from tiltmeter.report.prose import category_title, number
from tiltmeter.statistics.logistic import curve

__all__ = ["KEYS", "METHODS", "curve_figure", "group_title", "points", "times", "who"]

#: Width of the classes of association whose mean decision is a point.
BIN = 0.25
#: Points of a curve.
POINTS = 41
#: Panels side by side.
COLUMNS = 3

#: What sets regressions apart.
KEYS = ("model", "mode")
#: Which fit is drawn and described: the first that there is.
METHODS = ("clustered", "published")

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
    Result: ``model, mode, group, x`` (mean association), ``probability`` (mean decision), ``n``.
    """
    if chained is None:
        schema = {**dict.fromkeys((*KEYS, "group"), pl.String()), "n": pl.UInt32()}
        return pl.DataFrame(schema={**schema, "x": pl.Float64(), "probability": pl.Float64()})
    known = chained.filter(
        (pl.col("study") == study).fill_null(True),
        pl.col("association").is_between(-1, 1),
        pl.col("decision").is_between(0, 1),
    ).with_columns(bin=((pl.col("association") + 1) / BIN).floor().clip(0, 2 / BIN - 1))
    each = [
        known.group_by(*KEYS, group.alias("group"), "bin").agg(
            pl.col("association").mean().alias("x"),
            pl.col("decision").mean().alias("probability"),
            pl.len().alias("n"),
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
    groups = list(part["part"].drop_nulls().unique(maintain_order=True))
    own = points.filter(pl.col("model").eq_missing(model), pl.col("mode").eq_missing(mode))
    rows = [row for group in groups for row in _panel(part, own, group)]
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
    return Figure(name, caption, _summary(part), _drawn(rows, groups))


def _panel(part: pl.DataFrame, own: pl.DataFrame, group: str) -> list[Row]:
    """Give the points of a group and the curve of the fit that is drawn."""
    mine = own.filter(group=group)
    fits = part.filter(_DRAWABLE, part=group)
    fit = next((f for m in METHODS if not (f := fits.filter(method=m).head(1)).is_empty()), None)
    stated: Row = {"group": group}
    rows = [
        {**stated, "kind": "point", **row, "shown": number(row["probability"])}
        for row in mine.select("x", "probability", "n").iter_rows(named=True)
    ]
    if fit is None:
        return rows
    low, high = (mine["x"].min(), mine["x"].max()) if mine.height > 1 else (-1.0, 1.0)
    drawn = curve(fit, fit, np.linspace(low, high, POINTS))  # type: ignore[arg-type]
    kind = "line" if fit["method"][0] == "clustered" else "dashed"
    return rows + [
        {**stated, "kind": kind, **{key: round(value, 4) for key, value in row.items()}}
        for row in drawn.select("x", "probability", "ci_low", "ci_high").iter_rows(named=True)
    ]


def _drawn(rows: Sequence[Row], groups: Sequence[str]) -> Row:
    """Draw a panel per group, three in a row, each with its own axes."""
    known = [group for group in groups if group != "all"]
    colors = {"all": "var(--ink)", **dict(zip(known, category_colors(known), strict=True))}
    largest = max((row["n"] for row in rows if row["kind"] == "point"), default=1)
    panels = [
        {
            "title": group_title(group),
            "transform": [{"filter": {"field": "group", "equal": group}}],
            "layer": [
                bare(mark) for mark in _marks(colors[group], largest, titled=not place % COLUMNS)
            ],
            "width": 255,
            "height": 190,
        }
        for place, group in enumerate(groups)
    ]
    return vega_lite(
        {
            "$schema": alt.SCHEMA_URL,
            "data": {"name": "rows"},
            "concat": panels,
            "columns": COLUMNS,
            "spacing": 24,
            "resolve": {"scale": {"size": "shared"}},
        },
        rows,
    )


def _marks(color: str, largest: int, *, titled: bool) -> list[Any]:
    share = alt.Scale(domain=[0, 1])
    x = alt.X("x:Q", title="Association", scale=alt.Scale(domain=[-1, 1]), axis=_axis())
    title = "Share of consistent decisions" if titled else None
    y = alt.Y("probability:Q", title=title, scale=share, axis=_axis())
    band = alt.Y("ci_low:Q", title=title, scale=share, axis=_axis())
    chart = alt.Chart().encode(x=x, color=alt.value(color))
    once = alt.Chart().transform_aggregate(count="count()")
    dotted: dict[str, Any] = {"color": "var(--neutral)", "strokeDash": [2, 3], "strokeWidth": 1.2}
    lines = [
        chart.mark_line(strokeWidth=2.5, strokeDash=dash)
        .transform_filter(alt.FieldEqualPredicate(field="kind", equal=kind))
        .encode(y=y)
        for kind, dash in (("line", [1, 0]), ("dashed", [6, 4]))
    ]
    scale = alt.Scale(domain=[1, max(largest, 2)], range=[25, 220], type="sqrt")
    tips = (("Mean association", "x:Q"), ("Mean decision", "shown:N"), ("Answers", "n:Q"))
    points = (
        chart.mark_point(filled=True, opacity=0.85, stroke="var(--paper)", strokeWidth=0.8)
        .transform_filter("datum.kind === 'point'")
        .encode(
            y=y,
            size=alt.Size("n:Q", title="Answers", scale=scale, legend=alt.Legend(tickCount=4)),
            tooltip=[
                alt.Tooltip(field, title=name, format=".2f")
                if name == "Mean association"
                else alt.Tooltip(field, title=name)
                for name, field in tips
            ],
        )
    )
    return [
        chart.mark_area(opacity=0.18)
        .transform_filter("datum.kind !== 'point'")
        .encode(y=band, y2="ci_high:Q"),
        once.mark_rule(**dotted).encode(x=alt.X(datum=0)),
        once.mark_rule(**dotted).encode(y=alt.Y(datum=0.5)),
        *lines,
        points,
    ]


def _axis() -> alt.Axis:
    return alt.Axis(tickCount=5, grid=True)


def _summary(part: pl.DataFrame) -> str:
    parts = []
    for group in part["part"].drop_nulls().unique(maintain_order=True):
        fits = part.filter(_DRAWABLE, part=group)
        by_method = {row["method"]: row for row in fits.iter_rows(named=True)}
        row = next((by_method[m] for m in METHODS if m in by_method), None)
        text = "no fit" if row is None else f"odds ratio {times(row['estimate'])}"
        parts.append(f"{group_title(group)}: {text}")
    return f"Logistic curves. {'; '.join(parts)}."
