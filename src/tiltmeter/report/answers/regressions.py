"""Regressions of decisions on associations: curves, coefficients and what they mean.

Reference: Bai, Wang, Sucholutsky & Griffiths 2025, PNAS 122(8), figure 4, SI sections K, L.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import altair as alt
import numpy as np
import polars as pl

from tiltmeter.errors import InputError
from tiltmeter.reference import load_regressions
from tiltmeter.report.answers.results import Asked, who
from tiltmeter.report.drawing import charts
from tiltmeter.report.drawing.charts import Axis, Row
from tiltmeter.report.drawing.figures import Figure, per_mode
from tiltmeter.report.drawing.intervals import around, forest
from tiltmeter.report.drawing.theme import category_colors
from tiltmeter.report.plan import Plan
from tiltmeter.report.prose import category_title, endings, interval, number, p_value
from tiltmeter.report.sections import Section, in_order
from tiltmeter.report.tables import FROM, NOTE, Column, Table, alike, count, render_table
from tiltmeter.statistics.logistic import curve

__all__ = ["chained_section"]

#: Above this many models and modes there are no sentences.
MOST_SENTENCES = 4
#: Width of the classes of association whose mean decision is a point.
BIN = 0.25
#: Points of a curve.
POINTS = 41

#: Up to here, in log odds, an interval widens the axis.
WIDEST = 6.0

#: Components of a coefficient, and how a sentence names them.
_COMPONENTS = {"within": "Within a stereotype", "between": "Between stereotypes"}

_TIPS = (
    ("Group", "label"),
    ("Model", "model"),
    ("Mode", "mode"),
    ("Coefficient", "shown"),
    ("Interval", "interval"),
    ("df", "df"),
    ("p", "p"),
    ("Prompts (scored)", "answers"),
)

#: Which fit is drawn and described: the first that there is.
_METHODS = ("clustered", "published")
#: A fit by its method: with too few clusters it is dashed.
_DASHES = {"clustered": [1, 0], "published": [6, 4]}

_DRAWN_FROM = ("intercept", "intercept_se", "estimate", "se", "covariance")
_DRAWABLE = pl.all_horizontal(pl.col(_DRAWN_FROM).is_not_null()) & pl.col("confidence").is_between(
    0, 1, closed="none"
)

_MEANING = (
    "Each row of the data is one prompt that led to both an association and a decision. The "
    "regression estimates whether the two are related over prompts. It does not say that one "
    "causes the other: both are answers of the same model to the same words and may share a cause. "
    "A coefficient near 0 does not show that decisions are unbiased, only that this association "
    "does not predict them.",
    "Total: the association score as it is. Within: its deviation from the mean of the stereotype, "
    "which shows whether, about the same stereotype, a prompt with a higher score leads to more "
    "consistent decisions. Between: the mean of the stereotype. Total mixes the two, so only the "
    "coefficient within tells of decisions that follow associations from prompt to prompt.",
    "Published: as in the paper, all prompts are treated as independent. Clustered: the standard "
    "error allows for prompts that share a stereotype. Mixed: the coefficients in a typical "
    "stereotype, where intercept and slope may differ between stereotypes; those of the method "
    "clustered are averages over stereotypes and lie closer to 0.",
)
_FIT = (
    *alike(partial(number, digits=1), {"AIC": "aic", "BIC": "bic"}),
    Column("Log-likelihood", lambda r: number(r["log_likelihood"], 1)),
    Column("Pseudo R²", lambda r: number(r["pseudo_r2"], 3)),
)


def chained_section(asked: Asked) -> Section | None:
    """Show curves, coefficients and their meaning; None where nothing was regressed."""
    plan = asked.plan
    # "all" stands first; the categories follow as the plan lists them.
    rows = in_order(asked.tables.regressions.with_columns(category="part"), plan)
    rows = rows.sort(pl.col("part") != "all", maintain_order=True)
    if rows.is_empty():
        return None
    points = _points(asked.tables.chained, asked.study)
    parts = rows.partition_by("model", "mode", maintain_order=True)
    ends = endings([who(part) for part in parts])
    drawn = [_figure(p, points, f"chained{end}", plan) for p, end in zip(parts, ends, strict=True)]
    figures = (*(figure for figure in drawn if figure), *_components(rows, plan))
    sentences = ((who(part), _sentence(part, plan)) for part in parts[:MOST_SENTENCES])
    whole, within = rows.filter(part="all"), rows.filter(pl.col("part") != "all")
    tables = [("", _regression_table(whole, plan, "over all prompts"))]
    if not within.is_empty():
        tables.append(("Table per category", _regression_table(within, plan, "in each category")))
    if published := _published_table(asked.study):
        tables.append(("Published regressions", published))
    return Section(
        key="chained",
        title="Regression of decisions on associations",
        short="Decisions and associations",
        text=(*(f"{of}: {text}" for of, text in sentences if text), *_MEANING),
        figures=figures,
        tables=tuple(tables),
    )


def _sentence(part: pl.DataFrame, plan: Plan) -> str:
    """Say in a sentence what the coefficients over all prompts mean."""
    fits = list(part.filter(part="all").iter_rows(named=True))
    fitted = {
        (fit["method"], fit["component"]): fit
        for fit in fits
        if None not in (fit["estimate"], fit["se"])
    }
    main = next((fitted[m, "total"] for m in _METHODS if (m, "total") in fitted), None)
    if main is None:
        notes = [row["note"] for row in fits if row["note"]]
        return f"no regression ({notes[0]})." if notes else ""
    low, high = main["ci_low"], main["ci_high"]
    text = (
        "where the association score is higher by 1, the odds of a stereotype-consistent decision "
        f"are {_times(main['estimate'])} times as high ({main['method']}; {plan.interval} "
        f"{_times(low)} to {_times(high)}; {count(main['n_scored'])} prompts)"
    )
    if low is not None and high is not None and low <= 0 <= high:
        text += ", not distinguishable from chance: the interval contains 1"
    for component, name in _COMPONENTS.items():
        if mixed := fitted.get(("mixed", component)):
            text += (
                f". {name} (mixed): {_times(mixed['estimate'])} times "
                f"({_times(mixed['ci_low'])} to {_times(mixed['ci_high'])})"
            )
    return f"{text}."


def _components(rows: pl.DataFrame, plan: Plan) -> tuple[Figure, ...]:
    """Draw the coefficients within and between stereotypes beside each other, per group."""
    parts = rows.filter(pl.col("component").is_in(list(_COMPONENTS)), method="mixed")
    if parts["estimate"].is_null().all():
        return ()
    group = pl.col("part").map_elements(_group_title, return_dtype=pl.String)
    shown = parts.with_columns(
        label=pl.concat_str(group, "component", separator=", "),
        category=pl.when(pl.col("part") != "all").then("part"),
    )
    limits = shown.select(
        mean="estimate",
        low=pl.col("ci_low").clip(-WIDEST),
        high=pl.col("ci_high").clip(None, WIDEST),
    )
    axis = around("Log odds per 1 of association", limits.iter_rows(named=True), 1.0)
    caption = (
        "Decision on association, within and between stereotypes (mixed). Dot: log odds of a "
        f"consistent decision per 1 of association, neutral 0; line: {plan.interval}, cut at the "
        "ends of the axis."
    )
    return per_mode("chained-parts", caption, shown, partial(forest, axis=axis, tips=_TIPS), plan)


def _regression_table(frame: pl.DataFrame, plan: Plan, over: str) -> Table:
    def prompts(row: Mapping[str, Any]) -> str:
        return f"{count(row['n_scored'])} ({count(row['n_ones'])})"

    caption = (
        f"Decision on association, {over}. Coefficient: log odds per 1 of association, neutral 0; "
        "odds ratio: neutral 1."
    )
    columns = [
        Column("Group", lambda r: _group_title(r["part"]), "head"),
        Column("Method", lambda r: r["method"], "head"),
        Column("Component", lambda r: r["component"], "head"),
        *FROM,
        Column("Coefficient", lambda r: number(r["estimate"])),
        Column(plan.interval, lambda r: interval(r["ci_low"], r["ci_high"])),
        Column("p", lambda r: p_value(r["p"])),
        Column("Odds ratio", lambda r: _times(r["estimate"])),
        *_FIT,
        Column("Prompts (consistent)", prompts),
        Column("Stereotypes", lambda r: count(r["n_clusters"])),
        NOTE,
    ]
    return render_table(frame, caption, columns)


def _published_table(study: str) -> Table | None:
    """Set out the printed regressions on a prompt-based bias, and the others beside them."""
    try:
        published = load_regressions(study)
    except InputError:
        return None
    caption = (
        "Published regressions of decisions (Tables S15 and S16, and the text of the SI), as "
        "context."
    )
    columns = [
        Column("Table", lambda r: r["table"], "head"),
        Column("Model", lambda r: r["model"], "text", fold=True),
        Column("Predictor", lambda r: r["term"], "text"),
        Column("Coefficient", lambda r: number(r["coef"])),
        Column("95% interval", lambda r: interval(r["ci_low"], r["ci_high"])),
        Column("p", lambda r: r["p"] or "n/a"),
        Column("n", lambda r: count(r["n_obs"])),
        *_FIT,
        NOTE,
    ]
    return render_table(published.filter(pl.col("term") != "Intercept"), caption, columns)


def _group_title(group: str) -> str:
    """Write a group as a heading."""
    return "All" if group == "all" else category_title(group)


def _times(log_odds: float | None) -> str:
    """Write log odds as an odds ratio."""
    if log_odds is None:
        return "n/a"
    ratio = math.exp(min(max(log_odds, -20.0), 20.0))
    if ratio >= 1000:
        return "over 1000"
    return number(ratio, 2 if ratio < 10 else 0)


def _points(chained: pl.LazyFrame, study: str) -> pl.DataFrame:
    """Average decisions over classes of association, per category and over all.

    Result: ``model, mode, group, x`` (mean association), ``mean`` (mean decision), ``n``.
    """
    keys = ("model", "mode")
    known = chained.filter(
        (pl.col("study") == study).fill_null(True),
        pl.col("association").is_between(-1, 1),
        pl.col("decision").is_between(0, 1),
    ).with_columns(bin=((pl.col("association") + 1) / BIN).floor().clip(0, 2 / BIN - 1))
    each = [
        known.group_by(*keys, group.alias("group"), "bin").agg(
            x=pl.col("association").mean(), mean=pl.col("decision").mean(), n=pl.len()
        )
        for group in (pl.lit("all"), pl.col("category"))
    ]
    return pl.concat(each).sort(*keys, "group", "bin").collect(engine="streaming")


def _figure(part: pl.DataFrame, points: pl.DataFrame, name: str, plan: Plan) -> Figure | None:
    """Draw the decisions on the associations of one model and mode, a panel per group.

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
    method = pl.col("method").cast(pl.Enum(_METHODS), strict=False)
    drawable = part.filter(_DRAWABLE, method.is_not_null(), component="total").sort(
        method, maintain_order=True
    )
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
    titles = {group: _group_title(group) for group in groups}

    def draw(group: str, first: bool) -> Row:
        return charts.in_layers(_decision_marks(colors[group], largest, titled=first))

    return charts.in_panels(rows, titles, draw, (255, 190))


def _decision_marks(color: str, largest: int, *, titled: bool) -> list[Any]:
    axis = Axis("Share of consistent decisions" if titled else "", 0, 1, 0.5)
    ticks = alt.Axis(tickCount=5, grid=True)
    x = alt.X("x:Q", title="Association", scale=alt.Scale(domain=[-1, 1]), axis=ticks)
    chart = alt.Chart().encode(x=x, color=alt.value(color))
    dash = charts.apart(alt.StrokeDash, "kind", _DASHES, legend=None)
    scale = alt.Scale(domain=[1, max(largest, 2)], range=[25, 220], type="sqrt")
    size = alt.Size("n:Q", title="Answers", scale=scale, legend=alt.Legend(tickCount=4))
    tips = [
        alt.Tooltip("x:Q", title="Mean association", format=".2f"),
        alt.Tooltip("shown:N", title="Mean decision"),
        alt.Tooltip("n:Q", title="Answers"),
    ]
    dot = chart.mark_point(filled=True, opacity=0.85, stroke="var(--paper)", strokeWidth=0.8)
    return [
        charts.neutral_rule(x=alt.X(datum=0)),
        charts.neutral_rule(y=alt.Y(datum=axis.neutral)),
        *charts.banded(chart.transform_filter("datum.kind !== 'point'"), axis, dash, 0.18),
        dot.transform_filter("datum.kind === 'point'").encode(
            y=charts.up("mean", axis), size=size, tooltip=tips
        ),
    ]


def _summary(fits: Mapping[str, pl.DataFrame]) -> str:
    parts = (
        f"{_group_title(group)}: "
        + ("no fit" if fit.is_empty() else f"odds ratio {_times(fit['estimate'][0])}")
        for group, fit in fits.items()
    )
    return f"Logistic curves. {'; '.join(parts)}."
