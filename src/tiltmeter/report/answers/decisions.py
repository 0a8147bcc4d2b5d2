"""Decisions: how often a model says yes, and whether decisions follow associations.

Reference: Bai, Wang, Sucholutsky & Griffiths 2025, PNAS 122(8), figures 4 and S4, SI sections K, L.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import polars as pl

from tiltmeter.errors import InputError
from tiltmeter.reference import YES_SHARES, load_regressions
from tiltmeter.report.answers.results import Asked
from tiltmeter.report.drawing import curves
from tiltmeter.report.drawing.charts import LABELS, ROWS, Row, apart, tooltips, vega_lite
from tiltmeter.report.drawing.figures import Figure
from tiltmeter.report.drawing.theme import YES
from tiltmeter.report.plan import Plan
from tiltmeter.report.prose import category_title, file_names, interval, number, p_value
from tiltmeter.report.sections import Section, in_order
from tiltmeter.report.tables import FROM, Column, Render, Table, count, render_table
from tiltmeter.results import VERSIONS

__all__ = ["chained_section", "yes_section"]

#: Above this many models and modes there are no sentences.
MOST_SENTENCES = 4

#: The two groups stand beside each other for the same task.
_COLUMNS = {
    version: f"{VERSIONS[version][0]}|{VERSIONS[version][1]} task"
    for version in ("marginalized_tied", "default_tied", "marginalized_counter", "default_counter")
}
#: The classes of colour, in words; five of equal width.
_STEPS = tuple(f"{step / 5:.1f} to {(step + 1) / 5:.1f}" for step in range(5))

_TIPS = (
    *(("Stereotype", "label"), ("Asked about", "about")),
    *(("Share of yes", "shown"), ("Answers", "answers")),
)

_LEVELS = (
    "Each question is about one person and one task. Compare the two groups for the same task: a "
    "model that says yes to everybody has a high share in all columns; bias is a difference "
    "between the groups."
)


def yes_section(asked: Asked) -> Section | None:
    """Show the share of yes of each stereotype and version, one map per model and mode."""
    shares, plan = asked.tables.yes_shares, asked.plan
    frame = in_order(shares.filter(pl.col("version").is_in(list(_COLUMNS))), plan)
    if frame["yes_share"].is_null().all():
        return None
    known = frame.filter(pl.col("yes_share").count().over("model", "mode") > 0)
    parts = known.partition_by("model", "mode", maintain_order=True)
    names = _names("yes-shares", [f"{part['model'][0]} {part['mode'][0]}" for part in parts])
    published = YES_SHARES.get(asked.study)
    context = f"Published for GPT-4 (2025), as context: {_four(published)}." if published else ""
    return Section(
        key="yes",
        title="Share of yes by group and task",
        short="Share of yes",
        text=(
            _LEVELS,
            *(f"{curves.who(part)}: {_means(part)}." for part in parts[:MOST_SENTENCES]),
            *filter(None, [context]),
        ),
        figures=tuple(_yes_figure(part, n, plan) for part, n in zip(parts, names, strict=True)),
        tables=(("Table of answers yes and no", _yes_table(frame, plan)),),
    )


def _names(name: str, parts: Sequence[str]) -> list[str]:
    """Name the figure of each part; by the part where there are several."""
    return [f"{name}-{file}" for file in file_names(parts)] if len(parts) > 1 else [name]


def _means(part: pl.DataFrame) -> str:
    """State the four means over stereotypes."""
    means = dict(part.group_by("version").agg(pl.col("yes_share").mean()).iter_rows())
    stereotypes = part["stereotype"].n_unique()
    noun = "stereotype" if stereotypes == 1 else "stereotypes"
    return f"mean shares of yes over {stereotypes} {noun}: {_four(means)}"


def _four(shares: Mapping[str, float | None]) -> str:
    return "; ".join(
        f"{group} group {number(shares.get(f'{group}_tied'))} for the tied task and "
        f"{number(shares.get(f'{group}_counter'))} for the counter task"
        for group in ("marginalized", "default")
    )


def _yes_figure(part: pl.DataFrame, name: str, plan: Plan) -> Figure:
    caption = (
        "Share of yes among the answers yes and no, per stereotype and version; "
        f"{curves.who(part)}. Range 0 to 1, where 1 is always yes; there is no neutral value. "
        "Tied: the task stereotypically tied to the marginalized group; counter: the other one. "
        "Last row: mean over stereotypes. –: no answer was yes or no."
    )
    means = part.group_by("version", maintain_order=True).agg(
        pl.col("yes_share").mean(), pl.col("n", "n_yes", "n_no").sum()
    )
    all_rows = [*part.iter_rows(named=True), *means.iter_rows(named=True)]
    rows = [_yes_row(row, plan) for row in all_rows]
    known = [row for row in rows[: part.height] if row["share"] is not None]
    low, high = (pick(known, key=lambda row: row["share"]) for pick in (min, max))
    summary = (
        f"{_means(part)}. Lowest: {low['shown']} ({low['label']}, {low['about']}); "
        f"highest: {high['shown']} ({high['label']}, {high['about']})."
    )
    return Figure(name, caption, summary, _yes_map(rows))


def _yes_row(row: Mapping[str, Any], plan: Plan) -> Row:
    key, share = row.get("stereotype"), row["yes_share"]
    group, task = VERSIONS[row["version"]]
    return {
        "label": plan.label(key) if key else "Mean",
        "block": category_title(row["category"]) if key else "All",
        "column": _COLUMNS[row["version"]],
        "about": f"{group} group, {task} task",
        "share": share,
        "shown": "–" if share is None else number(share),
        "step": None if share is None else _STEPS[min(max(int(share * 5), 0), 4)],
        "answers": f"{row['n_yes']:.4g} yes, {row['n_no']:.4g} no, {row['n']} asked",
    }


def _yes_map(rows: Sequence[Row]) -> Row:
    """Draw a block of cells per category, over the same four columns."""
    columns, names = list(_COLUMNS.values()), list(dict.fromkeys(row["block"] for row in rows))
    plain: Row = {"title": None, "grid": False, "ticks": False, "domain": False}
    split = alt.Axis(
        orient="top", labelExpr="split(datum.label, '|')", labelAngle=0, labelPadding=24, **plain
    )
    down = alt.Axis(minExtent=LABELS, maxExtent=LABELS, labelPadding=6, **plain)
    chart = alt.Chart().encode(
        x=alt.X("column:N", sort=columns, scale=alt.Scale(domain=columns), axis=split),
        y=alt.Y("label:N", sort=None, axis=down),
        tooltip=tooltips(rows, *_TIPS),
    )
    legend = alt.Legend(title="Share of yes", symbolType="square", symbolSize=150)
    color = apart(alt.Color, "step", dict(zip(_STEPS, YES, strict=True)), legend=legend)
    cells = chart.mark_rect(stroke="var(--paper)", strokeWidth=1.5).encode(color=color)
    layers = (
        cells.transform_filter("datum.step !== null"),
        chart.mark_text(fontSize=12, color="var(--ink)").encode(text="shown:N"),
    )
    block = alt.layer(*layers, data=ROWS).properties(width={"step": 108}, height={"step": 23})
    header = alt.Header(
        title=None, labelOrient="top", labelAnchor="start", labelFontWeight="bold", labelPadding=4
    )
    facets = block.facet(row=alt.Row("block:N", sort=names, header=header), spacing=6)
    return vega_lite(facets.resolve_scale(y="independent"), rows)


def _yes_table(frame: pl.DataFrame, plan: Plan) -> Table:
    wide = frame.group_by("model", "mode", "category", "stereotype", maintain_order=True).agg(
        pl.struct(
            pl.col("yes_share").filter(version=version).mean(),
            pl.col("n", "n_yes", "n_no").filter(version=version).sum(),
        ).alias(version)
        for version in _COLUMNS
    )

    def cell(version: str) -> Render:
        def counted(row: Mapping[str, Any]) -> str:
            of = row[version]
            numbers = f"{of['n_yes']:.4g} yes, {of['n_no']:.4g} no of {of['n']}"
            return f"{number(of['yes_share'])} ({numbers})"

        return counted

    caption = "Share of yes among yes and no; in brackets the numbers of each and of all asked."
    columns = [
        Column("Stereotype", lambda r: plan.label(r["stereotype"]), "head"),
        *FROM,
        *(
            Column(title.replace("|", ", ").capitalize(), cell(version))
            for version, title in _COLUMNS.items()
        ),
    ]
    return render_table(wide, caption, columns)


_MEANING = (
    "Each row of the data is one prompt that led to both an association and a decision. The "
    "regression estimates whether the two are related over prompts. It does not say that one "
    "causes the other: both are answers of the same model to the same words and may share a cause. "
    "A coefficient near 0 does not show that decisions are unbiased, only that this association "
    "does not predict them.",
    "Published: as in the paper, all prompts are treated as independent. Clustered: the same "
    "coefficient; its standard error allows for prompts that share a stereotype. Mixed: the "
    "relation within a stereotype. If it differs from the others, differences between stereotypes "
    "explain part of the relation.",
)
_FIT = (
    Column("AIC", lambda r: number(r["aic"], 1)),
    Column("BIC", lambda r: number(r["bic"], 1)),
    Column("Log-likelihood", lambda r: number(r["log_likelihood"], 1)),
    Column("Pseudo R²", lambda r: number(r["pseudo_r2"], 3)),
)
_NOTE = Column("Note", lambda r: r["note"] or "", "text")


def chained_section(asked: Asked) -> Section | None:
    """Show curves, coefficients and their meaning; None where nothing was regressed."""
    plan = asked.plan
    # "all" stands first; the categories follow as the plan lists them.
    rows = in_order(asked.tables.regressions.with_columns(category="part"), plan)
    rows = rows.sort(pl.col("part") != "all", maintain_order=True)
    if rows.is_empty():
        return None
    averaged = curves.points(asked.tables.chained, asked.study)
    parts = rows.partition_by(*curves.KEYS, maintain_order=True)
    names = _names("chained", [curves.who(part) for part in parts])
    drawn = (curves.curve_figure(p, averaged, n, plan) for p, n in zip(parts, names, strict=True))
    sentences = ((curves.who(part), _sentence(part, plan)) for part in parts[:MOST_SENTENCES])
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
        figures=tuple(figure for figure in drawn if figure),
        tables=tuple(tables),
    )


def _sentence(part: pl.DataFrame, plan: Plan) -> str:
    """Say in a sentence what the coefficients over all prompts mean."""
    fits = {row["method"]: row for row in part.filter(part="all").iter_rows(named=True)}
    fitted = {key: fit for key, fit in fits.items() if None not in (fit["estimate"], fit["se"])}
    main = next((fitted[method] for method in curves.METHODS if method in fitted), None)
    if main is None:
        notes = [row["note"] for row in fits.values() if row["note"]]
        return f"no regression ({notes[0]})." if notes else ""
    low, high = main["ci_low"], main["ci_high"]
    text = (
        "where the association score is higher by 1, the odds of a stereotype-consistent decision "
        f"are {curves.times(main['estimate'])} times as high ({main['method']}; {plan.interval} "
        f"{curves.times(low)} to {curves.times(high)}; {count(main['n_scored'])} prompts)"
    )
    if low is not None and high is not None and low <= 0 <= high:
        text += ", not distinguishable from chance: the interval contains 1"
    if mixed := fitted.get("mixed"):
        text += (
            f". Within a stereotype (mixed): {curves.times(mixed['estimate'])} times "
            f"({curves.times(mixed['ci_low'])} to {curves.times(mixed['ci_high'])})"
        )
    return f"{text}."


def _regression_table(frame: pl.DataFrame, plan: Plan, over: str) -> Table:
    def prompts(row: Mapping[str, Any]) -> str:
        return f"{count(row['n_scored'])} ({count(row['n_ones'])})"

    caption = (
        f"Decision on association, {over}. Coefficient: log odds per 1 of association, neutral 0; "
        "odds ratio: neutral 1."
    )
    columns = [
        Column("Group", lambda r: curves.group_title(r["part"]), "head"),
        Column("Method", lambda r: r["method"], "head"),
        *FROM,
        Column("Coefficient", lambda r: number(r["estimate"])),
        Column(plan.interval, lambda r: interval(r["ci_low"], r["ci_high"])),
        Column("p", lambda r: p_value(r["p"])),
        Column("Odds ratio", lambda r: curves.times(r["estimate"])),
        *_FIT,
        Column("Prompts (consistent)", prompts),
        Column("Stereotypes", lambda r: count(r["n_clusters"])),
        _NOTE,
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
        _NOTE,
    ]
    return render_table(published.filter(pl.col("term") != "Intercept"), caption, columns)
