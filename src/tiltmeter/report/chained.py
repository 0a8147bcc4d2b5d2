"""Decisions beside associations of the same answer: curves, coefficients, and what they mean.

Reference: Bai, Wang, Sucholutsky & Griffiths 2025, PNAS 122(8), figure 4 and SI section K.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np
import polars as pl

from tiltmeter.errors import InputError
from tiltmeter.reference import load_regressions
from tiltmeter.report.charts import ROWS, Row, vega_lite
from tiltmeter.report.figures import Figure
from tiltmeter.report.plan import Plan
from tiltmeter.report.prose import category_title, file_names, interval, number, p_value
from tiltmeter.report.sections import Section, in_order
from tiltmeter.report.tables import FROM, Render, Table, count, render_table
from tiltmeter.report.theme import category_colors
from tiltmeter.statistics.logistic import curve

__all__ = ["chained_section"]

#: Width of the classes of association whose mean decision is a point.
BIN = 0.25
#: Points of a curve.
POINTS = 41
#: Above this many models and modes there is only the table.
MOST_SAID = 4

_KEYS = ("model", "mode")
_METHODS = ("clustered", "published")  # which fit is drawn: the first that there is
_MEANS = (
    "Each row of the data is one prompt that led to both an association and a decision. The "
    "regression says whether the two go together over prompts. It does not say that one causes "
    "the other: both are answers of the same model to the same words, and may share a cause. A "
    "coefficient near 0 does not say that decisions are unbiased, only that this association "
    "does not tell them apart.",
    "Published: as in the paper, every prompt is taken for independent. Clustered: the same "
    "coefficient, its error allowing for prompts that share a stereotype. Mixed: the relation "
    "within a stereotype; where it differs from the others, stereotypes that differ in both "
    "explain part of them.",
)


def chained_section(
    regressions: pl.DataFrame, chained: pl.LazyFrame | None, study: str, plan: Plan
) -> Section | None:
    """Show curves, coefficients and their meaning.

    Parameters
    ----------
    regressions
        Rows of REGRESSIONS of one study with model and mode.
    chained
        The answers scored on both parts, for the points; None for curves alone.
    study
        The name of the study.
    plan
        For labels and the width of intervals.

    Returns
    -------
    Section or None
        None where nothing was regressed.
    """
    # "all" stands first; the categories follow as the plan lists them.
    rows = in_order(regressions.with_columns(category="group"), plan)
    whole = pl.col("group") == "all"
    rows = pl.concat([rows.filter(whole), rows.filter(~whole)])
    if rows.is_empty():
        return None
    points = _points(chained, study)
    apart = rows.partition_by(*_KEYS, maintain_order=True)
    names = file_names([_who(part) for part in apart])
    drawn = [
        _figure(part, points, f"chained-{name}" if apart[1:] else "chained", plan)
        for part, name in zip(apart, names, strict=True)
    ]
    said = [f"{_who(part)}: {text}" for part in apart[:MOST_SAID] if (text := _said(part, plan))]
    tables = [("", _table(rows.filter(whole), plan, "Decision on association, over all prompts."))]
    if not rows.filter(~whole).is_empty():
        caption = "Decision on association, within each category."
        tables.append(("Table per category", _table(rows.filter(~whole), plan, caption)))
    theirs = _published(study)
    if theirs:
        tables.append(("Published regressions", theirs))
    return Section(
        key="chained",
        title="Do decisions follow associations?",
        short="Decisions and associations",
        text=(*said, *_MEANS),
        figures=tuple(figure for figure in drawn if figure),
        tables=tuple(tables),
    )


def _who(part: pl.DataFrame) -> str:
    return f"{part['model'][0]}, mode {part['mode'][0]}"


def _title(group: str) -> str:
    return "All" if group == "all" else category_title(group)


def _said(part: pl.DataFrame, plan: Plan) -> str:
    """Say in a sentence what the coefficients over all prompts mean."""
    found = {row["method"]: row for row in part.filter(group="all").iter_rows(named=True)}
    main = next((found[m] for m in _METHODS if m in found and _fitted(found[m])), None)
    if main is None:
        notes = [row["note"] for row in found.values() if row["note"]]
        return f"no regression ({notes[0]})." if notes else ""
    low, high = main["ci_low"], main["ci_high"]
    text = (
        "where the association score is higher by 1, the odds of a stereotype-consistent decision "
        f"are {_times(main['coefficient'])} times as high ({main['method']}; {plan.interval} "
        f"{_times(low)} to {_times(high)}; {count(main['n'])} prompts)"
    )
    if low is not None and high is not None and low <= 0 <= high:
        text += ", which may be chance: the interval holds 1"
    mixed = found.get("mixed")
    if mixed and _fitted(mixed):
        text += (
            f". Within a stereotype (mixed): {_times(mixed['coefficient'])} times "
            f"({_times(mixed['ci_low'])} to {_times(mixed['ci_high'])})"
        )
    return f"{text}."


def _fitted(row: Mapping[str, Any]) -> bool:
    return row["coefficient"] is not None and row["se"] is not None


def _times(log_odds: float | None) -> str:
    """Write log odds as an odds ratio."""
    if log_odds is None:
        return "n/a"
    ratio = math.exp(min(max(log_odds, -20.0), 20.0))
    if ratio >= 1000:
        return "over 1000"
    return number(ratio, 2 if ratio < 10 else 0)


def _points(chained: pl.LazyFrame | None, study: str) -> pl.DataFrame:
    """Average decisions over classes of association, per category and over all."""
    if chained is None:
        schema = {**dict.fromkeys((*_KEYS, "group"), pl.String()), "n": pl.UInt32()}
        return pl.DataFrame(schema={**schema, "x": pl.Float64(), "probability": pl.Float64()})
    known = chained.filter(
        (pl.col("study") == study).fill_null(True),
        pl.col("association").is_between(-1, 1),
        pl.col("decision").is_between(0, 1),
    ).with_columns(bin=((pl.col("association") + 1) / BIN).floor().clip(0, 2 / BIN - 1))
    each = [
        known.group_by(*_KEYS, group.alias("group"), "bin").agg(
            pl.col("association").mean().alias("x"),
            pl.col("decision").mean().alias("probability"),
            pl.len().alias("n"),
        )
        for group in (pl.lit("all"), pl.col("category"))
    ]
    frame = pl.concat(each).sort(*_KEYS, "group", "bin").drop("bin")
    return frame.collect(engine="streaming")


def _figure(part: pl.DataFrame, points: pl.DataFrame, name: str, plan: Plan) -> Figure | None:
    model, mode = part["model"][0], part["mode"][0]
    groups = list(part["group"].drop_nulls().unique(maintain_order=True))
    own = points.filter(pl.col("model").eq_missing(model), pl.col("mode").eq_missing(mode))
    rows = [row for group in groups for row in _panel(part, own, group)]
    if not rows:
        return None
    caption = (
        f"Decision on association of the same answer; {_who(part)}. Across: association score, "
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
    fits = part.filter(pl.col("se").is_not_null(), group=group)
    fit = next((f for m in _METHODS if not (f := fits.filter(method=m).head(1)).is_empty()), None)
    stated: Row = {"group": _title(group)}
    rows = [
        {**stated, "kind": "point", **row, "shown": number(row["probability"])}
        for row in mine.select("x", "probability", "n").iter_rows(named=True)
    ]
    if fit is None:
        return rows
    low, high = (mine["x"].min(), mine["x"].max()) if mine.height > 1 else (-1.0, 1.0)
    drawn = curve(fit, np.linspace(low, high, POINTS))  # type: ignore[arg-type]
    kind = "line" if fit["method"][0] == "clustered" else "dashed"
    return rows + [
        {**stated, "kind": kind, **{key: round(value, 4) for key, value in row.items()}}
        for row in drawn.select("x", "probability", "ci_low", "ci_high").iter_rows(named=True)
    ]


def _drawn(rows: Sequence[Row], groups: Sequence[str]) -> Row:
    titles = [_title(group) for group in groups]
    colors = ["var(--ink)" if g == "all" else category_colors([g])[0] for g in groups]
    color = alt.Color("group:N", scale=alt.Scale(domain=titles, range=colors), legend=None)
    x = alt.X("x:Q", title="Association", scale=alt.Scale(domain=[-1, 1]), axis=_axis())
    share = alt.Scale(domain=[0, 1])
    y = alt.Y("probability:Q", title="Share of consistent decisions", scale=share, axis=_axis())
    chart = alt.Chart().encode(x=x, color=color)
    once = alt.Chart().transform_aggregate(count="count()", groupby=["group"])
    dotted: dict[str, Any] = {"color": "var(--neutral)", "strokeDash": [2, 3], "strokeWidth": 1.2}
    lines = [
        chart.mark_line(strokeWidth=2.5, strokeDash=dash)
        .transform_filter(alt.FieldEqualPredicate(field="kind", equal=kind))
        .encode(y=y)
        for kind, dash in (("line", [1, 0]), ("dashed", [6, 4]))
    ]
    size = alt.Size("n:Q", title="Answers", scale=alt.Scale(range=[25, 220], type="sqrt"))
    layers = alt.layer(
        once.mark_rule(**dotted).encode(x=alt.X(datum=0)),
        once.mark_rule(**dotted).encode(y=alt.Y(datum=0.5)),
        chart.mark_area(opacity=0.18)
        .transform_filter("datum.kind !== 'point'")
        .encode(y=alt.Y("ci_low:Q", scale=share), y2="ci_high:Q"),
        *lines,
        chart.mark_point(filled=True, opacity=0.85, stroke="var(--paper)", strokeWidth=0.8)
        .transform_filter("datum.kind === 'point'")
        .encode(
            y=y,
            size=size,
            tooltip=[
                alt.Tooltip("group:N", title="Category"),
                alt.Tooltip("x:Q", title="Mean association", format=".2f"),
                alt.Tooltip("shown:N", title="Mean decision"),
                alt.Tooltip("n:Q", title="Answers"),
            ],
        ),
    ).properties(width=255, height=190)
    header = alt.Header(title=None, labelAnchor="start")
    facet = alt.Facet("group:N", sort=titles, header=header)
    return vega_lite(layers.facet(facet, columns=3, data=ROWS, spacing=26), rows)


def _axis() -> alt.Axis:
    return alt.Axis(tickCount=5, grid=True)


def _summary(part: pl.DataFrame) -> str:
    parts = []
    for group in part["group"].drop_nulls().unique(maintain_order=True):
        fits = part.filter(pl.col("se").is_not_null(), group=group)
        found = {row["method"]: row for row in fits.iter_rows(named=True)}
        row = next((found[m] for m in _METHODS if m in found), None)
        text = "no fit" if row is None else f"odds ratio {_times(row['coefficient'])}"
        parts.append(f"{_title(group)}: {text}")
    return f"Logistic curves. {'; '.join(parts)}."


def _table(frame: pl.DataFrame, plan: Plan, caption: str) -> Table:
    columns: dict[str, Render] = {
        "Group": lambda r: _title(r["group"]),
        "Method": lambda r: r["method"],
        **FROM,
        "Coefficient": lambda r: number(r["coefficient"]),
        plan.interval: lambda r: interval(r["ci_low"], r["ci_high"]),
        "p": lambda r: p_value(r["p"]),
        "Odds ratio": lambda r: _times(r["coefficient"]),
        "AIC": lambda r: number(r["aic"], 1),
        "BIC": lambda r: number(r["bic"], 1),
        "Log-likelihood": lambda r: number(r["log_likelihood"], 1),
        "Pseudo R²": lambda r: number(r["pseudo_r2"], 3),
        "Prompts (consistent)": lambda r: f"{count(r['n'])} ({count(r['n_ones'])})",
        "Stereotypes": lambda r: count(r["n_clusters"]),
    }
    if frame["note"].drop_nulls().len():
        columns["Note"] = lambda r: r["note"] or ""
    caption += " Coefficient: log odds per 1 of association, neutral 0; odds ratio: neutral 1."
    return render_table(frame, caption, columns, heads=2)


def _published(study: str) -> Table | None:
    """Set out the printed regressions on a prompt-based bias, and the others beside them."""
    try:
        theirs = load_regressions(study)
    except InputError:
        return None
    slopes = theirs.filter(pl.col("term") != "Intercept")
    return render_table(
        slopes,
        "Published regressions of decisions (Tables S15 and S16, and the text of the SI): "
        "context, not a yardstick.",
        {
            "Table": lambda r: r["table"],
            "Model": lambda r: r["model"],
            "Predictor": lambda r: r["term"],
            "Coefficient": lambda r: number(r["coef"]),
            "95% interval": lambda r: interval(r["ci_low"], r["ci_high"]),
            "p": lambda r: r["p"] or "n/a",
            "n": lambda r: count(r["n_obs"]),
            "AIC": lambda r: number(r["aic"], 1),
            "BIC": lambda r: number(r["bic"], 1),
            "Log-likelihood": lambda r: number(r["log_likelihood"], 1),
            "Pseudo R²": lambda r: number(r["pseudo_r2"], 3),
            "Note": lambda r: r["note"] or "",
        },
    )
