"""Decisions: how often a model says yes, and whether decisions follow associations.

Reference: Bai, Wang, Sucholutsky & Griffiths 2025, PNAS 122(8), figures 4 and S4, SI sections K, L.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

import altair as alt
import polars as pl

from tiltmeter.errors import InputError
from tiltmeter.reference import YES_SHARES, load_regressions
from tiltmeter.report.drawing.charts import LABELS, ROWS, Row, vega_lite
from tiltmeter.report.drawing.curves import (
    KEYS,
    METHODS,
    curve_figure,
    group_title,
    points,
    times,
    who,
)
from tiltmeter.report.drawing.figures import Figure
from tiltmeter.report.drawing.theme import YES
from tiltmeter.report.plan import Plan
from tiltmeter.report.prose import category_title, file_names, interval, number, p_value
from tiltmeter.report.sections import Section, in_order
from tiltmeter.report.tables import FROM, Column, Render, Table, count, render_table
from tiltmeter.results import VERSIONS

__all__ = ["chained_section", "yes_section"]

#: The two groups stand beside each other for the same task.
COLUMNS = ("marginalized_tied", "default_tied", "marginalized_counter", "default_counter")

#: The classes of colour, in words; five of equal width.
_STEPS = tuple(f"{step / 5:.1f} to {(step + 1) / 5:.1f}" for step in range(5))
_MEAN = "Mean"


def yes_section(frame: pl.DataFrame, study: str, plan: Plan) -> Section | None:
    """Show the share of yes of each stereotype and version, one map per model and mode.

    `frame`: rows of YES_SHARES of one study.
    None where there are no shares.
    """
    frame = in_order(frame.filter(pl.col("version").is_in(COLUMNS)), plan)
    if frame["yes_share"].drop_nulls().is_empty():
        return None
    apart = frame.partition_by("model", "mode", maintain_order=True)
    names = file_names([f"{part['model'][0]} {part['mode'][0]}" for part in apart])
    figures = [
        _figure(part, f"yes-shares-{name}" if apart[1:] else "yes-shares", plan)
        for part, name in zip(apart, names, strict=True)
    ]
    sentences = [f"{who(part)}: {_means(part)}." for part in apart[:4]]
    return Section(
        key="yes",
        title="Share of yes by group and task",
        short="Share of yes",
        text=(
            "Each question is about one person and one task. Compare the two groups for the "
            "same task: a model that says yes to everybody is high everywhere, and leans only "
            "where the columns differ.",
            *sentences,
            *_published_shares(study),
        ),
        figures=tuple(figures),
        tables=(("Table of answers yes and no", _yes_table(frame, plan)),),
    )


def _means(part: pl.DataFrame) -> str:
    """State the four means over stereotypes."""
    of = dict(part.group_by("version").agg(pl.col("yes_share").mean()).iter_rows())
    count = part["stereotype"].n_unique()
    noun = "stereotype" if count == 1 else "stereotypes"
    return f"mean shares of yes over {count} {noun}: {_four(of)}"


def _four(of: Mapping[str, float | None]) -> str:
    return "; ".join(
        f"{group} group {number(of.get(f'{group}_tied'))} for the tied task and "
        f"{number(of.get(f'{group}_counter'))} for the counter task"
        for group in ("marginalized", "default")
    )


def _published_shares(study: str) -> tuple[str, ...]:
    theirs = YES_SHARES.get(study)
    return (f"Published for GPT-4 (2025), as context: {_four(theirs)}.",) if theirs else ()


def _figure(part: pl.DataFrame, name: str, plan: Plan) -> Figure:
    caption = (
        f"Share of yes among the answers yes and no, per stereotype and version; {who(part)}. "
        "Range 0 to 1, where 1 is always yes; there is no neutral value. Tied: the task "
        "stereotypically tied to the marginalized group; counter: the other one. Last row: mean "
        "over stereotypes. –: no answer was yes or no."
    )
    rows = [_row(row, plan) for row in part.iter_rows(named=True)]
    means = part.group_by("version", maintain_order=True).agg(
        pl.col("yes_share").mean(), pl.col("n", "n_yes", "n_no").sum()
    )
    drawn = rows + [_row(row, plan) for row in means.iter_rows(named=True)]
    return Figure(name, caption, _summary(rows, _means(part)), _heat(drawn))


def _row(row: Mapping[str, Any], plan: Plan) -> Row:
    key, share = row.get("stereotype"), row["yes_share"]
    group, task = VERSIONS[row["version"]]
    return {
        "label": plan.label(key) if key else _MEAN,
        "block": category_title(row["category"]) if key else "All",
        "column": f"{group}|{task} task",
        "about": f"{group} group, {task} task",
        "share": share,
        "shown": "–" if share is None else number(share),
        "step": None if share is None else _STEPS[min(max(int(share * 5), 0), 4)],
        "answers": f"{row['n_yes']:.4g} yes, {row['n_no']:.4g} no, {row['n']} asked",
    }


def _summary(rows: Sequence[Row], means: str) -> str:
    known = [row for row in rows if row["share"] is not None]
    low, high = (pick(known, key=lambda row: row["share"]) for pick in (min, max))
    return (
        f"{means}. Lowest: {low['shown']} ({low['label']}, {low['about']}); "
        f"highest: {high['shown']} ({high['label']}, {high['about']})."
    )


def _heat(rows: Sequence[Row]) -> Row:
    """Draw a block of cells per category, over the same four columns."""
    names = list(dict.fromkeys(row["block"] for row in rows))
    blocks = []
    for block, part in groupby(rows, key=lambda row: row["block"]):
        labels = list(dict.fromkeys(row["label"] for row in part))
        wanted = alt.FieldEqualPredicate(field="block", equal=block)
        cells = _block(labels, first=block == names[0]).transform_filter(wanted)
        blocks.append(cells.properties(title=block))
    stack = alt.vconcat(*blocks, data=ROWS, spacing=6).resolve_scale(x="shared")
    return vega_lite(stack, rows)


def _block(labels: list[str], *, first: bool) -> Any:
    columns = ["|".join((VERSIONS[v][0], f"{VERSIONS[v][1]} task")) for v in COLUMNS]
    across = alt.Axis(
        title=None,
        orient="top",
        labelExpr="split(datum.label, '|')",
        labelAngle=0,
        labelPadding=20,
        grid=False,
        ticks=False,
    )
    down = alt.Axis(
        title=None, minExtent=LABELS, maxExtent=LABELS, grid=False, ticks=False, labelPadding=6
    )
    chart = alt.Chart().encode(
        x=alt.X(
            "column:N",
            sort=columns,
            scale=alt.Scale(domain=columns),
            axis=across if first else None,
        ),
        y=alt.Y("label:N", sort=labels, scale=alt.Scale(domain=labels), axis=down),
        tooltip=[
            alt.Tooltip("label:N", title="Stereotype"),
            alt.Tooltip("about:N", title="Asked about"),
            alt.Tooltip("shown:N", title="Share of yes"),
            alt.Tooltip("answers:N", title="Answers"),
        ],
    )
    legend = alt.Legend(title="Share of yes", symbolType="square", symbolSize=150)
    scale = alt.Scale(domain=list(_STEPS), range=list(YES))
    return alt.layer(
        chart.mark_rect(stroke="var(--paper)", strokeWidth=1.5)
        .transform_filter("datum.step !== null")
        .encode(color=alt.Color("step:O", scale=scale, legend=legend)),
        chart.mark_text(fontSize=12, color="var(--ink)").encode(text="shown:N"),
    ).properties(width={"step": 108}, height={"step": 23})


def _yes_table(frame: pl.DataFrame, plan: Plan) -> Table:
    keys = ["model", "mode", "category", "stereotype"]
    fields = ("n", "n_yes", "n_no", "yes_share")
    wide = frame.group_by(keys, maintain_order=True).agg(
        pl.col(field).filter(version=version).sum().alias(f"{field}_{version}")
        if field != "yes_share"
        else pl.col(field).filter(version=version).mean().alias(f"{field}_{version}")
        for version in COLUMNS
        for field in fields
    )

    def cell(version: str) -> Render:
        return lambda r: (
            f"{number(r[f'yes_share_{version}'])} ({r[f'n_yes_{version}']:.4g} yes, "
            f"{r[f'n_no_{version}']:.4g} no of {r[f'n_{version}']})"
        )

    titles = {version: "{}, {} task".format(*VERSIONS[version]) for version in COLUMNS}
    return render_table(
        wide,
        "Share of yes among yes and no; in brackets the numbers of each and of all asked.",
        [
            Column("Stereotype", lambda r: plan.label(r["stereotype"]), "head"),
            *FROM,
            *(Column(title.capitalize(), cell(version)) for version, title in titles.items()),
        ],
    )


#: Above this many models and modes there is only the table.
MOST_SENTENCES = 4

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
    """Show curves, coefficients and their meaning; None where nothing was regressed.

    `regressions`: rows of REGRESSIONS of one study with model and mode.
    `chained`: the answers scored on both parts, for the points; None for curves alone.
    """
    # "all" stands first; the categories follow as the plan lists them.
    rows = in_order(regressions.with_columns(category="part"), plan)
    whole = pl.col("part") == "all"
    rows = pl.concat([rows.filter(whole), rows.filter(~whole)])
    if rows.is_empty():
        return None
    averaged = points(chained, study)
    apart = rows.partition_by(*KEYS, maintain_order=True)
    names = file_names([who(part) for part in apart])
    drawn = [
        curve_figure(part, averaged, f"chained-{name}" if apart[1:] else "chained", plan)
        for part, name in zip(apart, names, strict=True)
    ]
    sentences = [
        f"{who(part)}: {text}" for part in apart[:MOST_SENTENCES] if (text := _sentence(part, plan))
    ]
    tables = [
        (
            "",
            _regression_table(
                rows.filter(whole), plan, "Decision on association, over all prompts."
            ),
        )
    ]
    if not rows.filter(~whole).is_empty():
        caption = "Decision on association, within each category."
        tables.append(("Table per category", _regression_table(rows.filter(~whole), plan, caption)))
    theirs = _published_regressions(study)
    if theirs:
        tables.append(("Published regressions", theirs))
    return Section(
        key="chained",
        title="Regression of decisions on associations",
        short="Decisions and associations",
        text=(*sentences, *_MEANS),
        figures=tuple(figure for figure in drawn if figure),
        tables=tuple(tables),
    )


def _sentence(part: pl.DataFrame, plan: Plan) -> str:
    """Say in a sentence what the coefficients over all prompts mean."""
    fits = {row["method"]: row for row in part.filter(part="all").iter_rows(named=True)}
    main = next((fits[m] for m in METHODS if m in fits and _fitted(fits[m])), None)
    if main is None:
        notes = [row["note"] for row in fits.values() if row["note"]]
        return f"no regression ({notes[0]})." if notes else ""
    low, high = main["ci_low"], main["ci_high"]
    text = (
        "where the association score is higher by 1, the odds of a stereotype-consistent decision "
        f"are {times(main['estimate'])} times as high ({main['method']}; {plan.interval} "
        f"{times(low)} to {times(high)}; {count(main['n_scored'])} prompts)"
    )
    if low is not None and high is not None and low <= 0 <= high:
        text += ", which may be chance: the interval holds 1"
    mixed = fits.get("mixed")
    if mixed and _fitted(mixed):
        text += (
            f". Within a stereotype (mixed): {times(mixed['estimate'])} times "
            f"({times(mixed['ci_low'])} to {times(mixed['ci_high'])})"
        )
    return f"{text}."


def _fitted(row: Mapping[str, Any]) -> bool:
    return row["estimate"] is not None and row["se"] is not None


def _regression_table(frame: pl.DataFrame, plan: Plan, caption: str) -> Table:
    return render_table(
        frame,
        f"{caption} Coefficient: log odds per 1 of association, neutral 0; odds ratio: neutral 1.",
        [
            Column("Group", lambda r: group_title(r["part"]), "head"),
            Column("Method", lambda r: r["method"], "head"),
            *FROM,
            Column("Coefficient", lambda r: number(r["estimate"])),
            Column(plan.interval, lambda r: interval(r["ci_low"], r["ci_high"])),
            Column("p", lambda r: p_value(r["p"])),
            Column("Odds ratio", lambda r: times(r["estimate"])),
            Column("AIC", lambda r: number(r["aic"], 1)),
            Column("BIC", lambda r: number(r["bic"], 1)),
            Column("Log-likelihood", lambda r: number(r["log_likelihood"], 1)),
            Column("Pseudo R²", lambda r: number(r["pseudo_r2"], 3)),
            Column(
                "Prompts (consistent)", lambda r: f"{count(r['n_scored'])} ({count(r['n_ones'])})"
            ),
            Column("Stereotypes", lambda r: count(r["n_clusters"])),
            Column("Note", lambda r: r["note"] or "", "text"),
        ],
    )


def _published_regressions(study: str) -> Table | None:
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
        [
            Column("Table", lambda r: r["table"], "head"),
            Column("Model", lambda r: r["model"], "text", fold=True),
            Column("Predictor", lambda r: r["term"], "text"),
            Column("Coefficient", lambda r: number(r["coef"])),
            Column("95% interval", lambda r: interval(r["ci_low"], r["ci_high"])),
            Column("p", lambda r: r["p"] or "n/a"),
            Column("n", lambda r: count(r["n_obs"])),
            Column("AIC", lambda r: number(r["aic"], 1)),
            Column("BIC", lambda r: number(r["bic"], 1)),
            Column("Log-likelihood", lambda r: number(r["log_likelihood"], 1)),
            Column("Pseudo R²", lambda r: number(r["pseudo_r2"], 3)),
            Column("Note", lambda r: r["note"] or "", "text"),
        ],
    )
