"""Decisions beside associations of the same answer: curves, coefficients, and what they mean.

Reference: Bai, Wang, Sucholutsky & Griffiths 2025, PNAS 122(8), figure 4 and SI section K.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from tiltmeter.errors import InputError
from tiltmeter.reference import load_regressions
from tiltmeter.report.drawing.curves import (
    KEYS,
    METHODS,
    curve_figure,
    group_title,
    points,
    times,
    who,
)
from tiltmeter.report.plan import Plan
from tiltmeter.report.prose import file_names, interval, number, p_value
from tiltmeter.report.sections import Section, in_order
from tiltmeter.report.tables import FROM, Column, Table, count, render_table

__all__ = ["chained_section"]

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


def _table(frame: pl.DataFrame, plan: Plan, caption: str) -> Table:
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
