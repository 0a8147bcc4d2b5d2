"""Curves of decisions over associations: the fit, its band, and means of classes of answers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np
import polars as pl
from scipy.special import expit

from clinometer.papers.logit import Array
from clinometer.pieces import (
    Axis,
    Figure,
    PlanFacts,
    Row,
    banded,
    category_colors,
    category_title,
    in_layers,
    in_panels,
    neutral_rule,
    number,
    styled_channel,
    up,
    who,
)
from clinometer.statistics.intervals import interval_around

__all__ = ["METHODS", "curve", "decision_curves", "group_title", "odds_ratio", "points"]

#: Width of the classes of association whose mean decision is a point.
BIN = 0.25
#: Points of a curve.
POINTS = 41

#: Which fit is drawn and described: the first that there is.
METHODS = ("clustered", "published")
#: A fit by its method: with too few clusters it is dashed.
_DASHES = {"clustered": [1, 0], "published": [6, 4]}

#: Columns of a fit that its curve and band follow from.
_CURVE_COLUMNS = ("intercept", "intercept_se", "estimate", "se", "covariance")
_DRAWABLE = pl.all_horizontal(pl.col(_CURVE_COLUMNS).is_not_null()) & (
    pl.col("confidence").is_between(0, 1, closed="none")
)


def points(chained: pl.LazyFrame, study: str) -> pl.DataFrame:
    """Average decisions over classes of association, per category and over all.

    Result: ``model, mode, group, x`` (mean association), ``mean`` (mean decision), ``n``.
    """
    keys = ("model", "mode")
    # An association of exactly 1 belongs to the last class.
    bins = ((pl.col("association") + 1) / BIN).floor().clip(0, 2 / BIN - 1)
    answers = chained.filter(
        (pl.col("study") == study).fill_null(True),
        pl.col("association").is_between(-1, 1),
        pl.col("decision").is_between(0, 1),
    ).with_columns(bin=bins)
    means = []
    for group in (pl.lit("all"), pl.col("category")):
        by_bin = answers.group_by(*keys, group.alias("group"), "bin")
        means.append(
            by_bin.agg(x=pl.col("association").mean(), mean=pl.col("decision").mean(), n=pl.len())
        )
    return pl.concat(means).sort(*keys, "group", "bin").collect(engine="streaming")


def decision_curves(
    part: pl.DataFrame, binned: pl.DataFrame, name: str, plan: PlanFacts
) -> Figure | None:
    """Draw the decisions on the associations of one model and mode, a panel per group.

    None where there is neither curve nor point.
    """
    model, mode = part["model"][0], part["mode"][0]
    means = binned.filter(pl.col("model").eq_missing(model), pl.col("mode").eq_missing(mode))
    fits = _fits(part)
    rows: list[Row] = []
    for group, fit in fits.items():
        rows += _group_rows(group, means.filter(group=group), fit)
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
    return Figure(name, caption, _summary(fits), _panels(rows, list(fits)))


def _fits(part: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """Return the fit that is drawn of each group, a row; an empty frame where there is none."""
    method = pl.col("method").cast(pl.Enum(METHODS), strict=False)
    drawable = part.filter(_DRAWABLE, method.is_not_null(), component="total").sort(
        method, maintain_order=True
    )
    groups = part["part"].drop_nulls().unique(maintain_order=True)
    return {group: drawable.filter(part=group).head(1) for group in groups}


def _group_rows(group: str, means: pl.DataFrame, fit: pl.DataFrame) -> list[Row]:
    """Return the points of a group and the curve of its fit."""
    rows: list[Row] = []
    for point in means.select("x", "mean", "n").iter_rows(named=True):
        rows.append({"panel": group, "kind": "point", **point, "shown": number(point["mean"])})
    if fit.is_empty():
        return rows
    # Over the range that occurred; with a single point there is no range.
    low, high = (means["x"].min(), means["x"].max()) if means.height > 1 else (-1.0, 1.0)
    x = np.linspace(low, high, POINTS)  # type: ignore[arg-type]
    line = curve(fit.row(0, named=True), x).select(pl.all().round(4))
    kind = {"panel": group, "kind": fit["method"][0]}
    return rows + [{**kind, **row} for row in line.iter_rows(named=True)]


def curve(fit: Mapping[str, Any], x: Array) -> pl.DataFrame:
    """Return the fitted probability over values of the predictor, with its pointwise band.

    `fit`: a row of component ``total``, of estimates and fits of `papers.regress`. The band is that
    of the log odds, by the delta method, with the degrees of freedom of the coefficient. Columns:
    ``x, mean, low, high``.
    """
    eta = fit["intercept"] + fit["estimate"] * x
    variance = fit["intercept_se"] ** 2 + 2.0 * x * fit["covariance"] + (x * fit["se"]) ** 2
    error = np.sqrt(np.maximum(variance, 0.0))
    low, high = interval_around(eta, error, fit["confidence"], fit["df"])
    return pl.DataFrame({"x": x, "mean": expit(eta), "low": expit(low), "high": expit(high)})


def _panels(rows: Sequence[Row], groups: Sequence[str]) -> Row:
    """Draw a panel per group, all over the same axes."""
    colors = {"all": "var(--ink)", **category_colors(group for group in groups if group != "all")}
    largest = max((row["n"] for row in rows if row["kind"] == "point"), default=1)
    titles = {group: group_title(group) for group in groups}

    def draw(group: str, first: bool) -> Row:
        """Draw the marks of a group; the first panel alone names the axis."""
        return in_layers(_decision_marks(colors[group], largest, titled=first))

    return in_panels(rows, titles, draw, (255, 190))


def _decision_marks(color: str, largest: int, *, titled: bool) -> list[Any]:
    """Return curve, band, dots and neutral lines; `largest` is the most answers of a dot."""
    axis = Axis("Share of consistent decisions" if titled else "", 0, 1, 0.5)
    ticks = alt.Axis(tickCount=5, grid=True)
    x = alt.X("x:Q", title="Association", scale=alt.Scale(domain=[-1, 1]), axis=ticks)
    chart = alt.Chart().encode(x=x, color=alt.value(color))
    dash = styled_channel(alt.StrokeDash, "kind", _DASHES, legend=None)
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
        *banded(chart.transform_filter("datum.kind !== 'point'"), axis, dash, 0.18),
        dot.transform_filter("datum.kind === 'point'").encode(
            y=up("mean", axis), size=size, tooltip=tips
        ),
    ]


def _summary(fits: Mapping[str, pl.DataFrame]) -> str:
    texts: list[str] = []
    for group, fit in fits.items():
        text = "no fit" if fit.is_empty() else f"odds ratio {odds_ratio(fit['estimate'][0])}"
        texts.append(f"{group_title(group)}: {text}")
    return f"Logistic curves. {'; '.join(texts)}."


def group_title(group: str) -> str:
    """Write a group as a heading."""
    return "All" if group == "all" else category_title(group)


def odds_ratio(log_odds: float | None) -> str:
    """Write log odds as an odds ratio."""
    if log_odds is None:
        return "n/a"
    ratio = math.exp(min(max(log_odds, -20.0), 20.0))  # no overflow of exp
    if ratio >= 1000:
        return "over 1000"
    return number(ratio, 2 if ratio < 10 else 0)
