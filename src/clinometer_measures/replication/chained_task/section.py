"""Regressions of decisions on associations: curves, coefficients and what they mean.

Reference: Bai, Wang, Sucholutsky & Griffiths 2025, PNAS 122(8), figure 4, SI sections K, L.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import polars as pl

from clinometer.authoring import FITS, KEYS, InputError, load_regressions
from clinometer.pieces import (
    FEW_SENTENCES,
    FROM,
    Figure,
    InstrumentResults,
    PlanFacts,
    ReportTable,
    Section,
    TableColumn,
    TableSpec,
    add_columns,
    around,
    count,
    endings,
    forest,
    head,
    in_order,
    interval,
    number,
    per_mode,
    who,
)
from clinometer_measures.replication.chained_task.curves import (
    METHODS,
    decision_curves,
    group_title,
    odds_ratio,
    points,
)

__all__ = ["chained_section"]

#: Up to here, in log odds, an interval widens the axis.
WIDEST = 5.0

#: Components of a coefficient, and how a sentence names them.
_COMPONENTS = {"within": "Within a stereotype", "between": "Between stereotypes"}

#: What tells fits apart; fewer factors than coefficients have, so that they share the plain mode.
_FIT_KEYS = ["plain_mode", *(name for name in FITS if name in KEYS and name != "mode"), "method"]

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
_FIT = ("aic", "bic", "log_likelihood", "pseudo_r2")


def _prompts(scored: int | None, consistent: int | None) -> str:
    """Write the number of prompts, and of those with a consistent decision."""
    return f"{count(scored)} ({count(consistent)})"


_REGRESSIONS = TableSpec(
    "Decision on association, {scope}. Coefficient: log odds per 1 of association, neutral 0; odds "
    "ratio: neutral 1.",
    (
        TableColumn("Group", "part", group_title, "head"),
        head("method"),
        head("component"),
        *FROM,
        TableColumn("Coefficient", "estimate", number),
        "interval",
        "p",
        TableColumn("Odds ratio", "estimate", odds_ratio),
        *_FIT,
        TableColumn("Prompts (consistent)", "n_scored n_ones", _prompts),
        TableColumn("Stereotypes", "n_clusters", count),
        "note",
    ),
)


#: The printed regressions on a prompt-based bias, and the others beside them.
_PUBLISHED = TableSpec(
    "Published regressions of decisions (Tables S15 and S16, and the text of the SI), as context.",
    (
        head("table", "Table"),
        TableColumn("Model", "model", same="in caption"),
        TableColumn("Predictor", "term"),
        TableColumn("Coefficient", "coef", number),
        TableColumn("95% interval", "ci_low ci_high", interval),
        TableColumn("p", "p", lambda p: p or "n/a"),
        TableColumn("n", "n_obs", count),
        *_FIT,
        "note",
    ),
)


def chained_section(results: InstrumentResults) -> Section | None:
    """Show curves, coefficients and their meaning; None where nothing was regressed."""
    plan = results.plan
    # "all" stands first; the categories follow as the plan lists them.
    rows = in_order(_with_fits(results).with_columns(category="part"), plan)
    rows = rows.sort(pl.col("part") != "all", maintain_order=True)
    if rows.is_empty():
        return None
    binned = points(results.tables.details["chained"].lazy(), results.study)
    parts = rows.partition_by("model", "mode", maintain_order=True)
    figures: list[Figure] = []
    for part, end in zip(parts, endings([who(part) for part in parts]), strict=True):
        if figure := decision_curves(part, binned, f"chained{end}", plan):
            figures.append(figure)
    sentences: list[str] = []
    for part in parts[:FEW_SENTENCES]:
        if sentence := _sentence(part, plan):
            sentences.append(f"{who(part)}: {sentence}")
    overall_rows = rows.filter(part="all")
    categories = rows.filter(pl.col("part") != "all")
    overall = _REGRESSIONS.render(overall_rows, interval=plan.interval, scope="over all prompts")
    tables = [("", overall)]
    if not categories.is_empty():
        scope = "in each category"
        by_category = _REGRESSIONS.render(categories, interval=plan.interval, scope=scope)
        tables.append(("Table per category", by_category))
    if published := _published_table(results.study):
        tables.append(("Published regressions", published))
    return Section(
        key="chained",
        title="Regression of decisions on associations",
        short="Decisions and associations",
        text=(*sentences, *_MEANING),
        figures=(*figures, *_components(rows, plan)),
        tables=tuple(tables),
    )


def _with_fits(results: InstrumentResults) -> pl.DataFrame:
    """Return the coefficients of all methods, with the fits behind them."""
    coefficients = results.tables.rows.filter(measure="log_odds")
    added = [name for name in FITS if name not in coefficients.columns]
    fits = results.tables.details["fits"].select(*_FIT_KEYS, *added)
    return add_columns(coefficients, fits, *_FIT_KEYS)


def _sentence(part: pl.DataFrame, plan: PlanFacts) -> str:
    """Say in a sentence what the coefficients over all prompts mean."""
    fits = list(part.filter(part="all").iter_rows(named=True))
    estimated: dict[tuple[str, str], dict[str, Any]] = {}
    for fit in fits:
        if None not in (fit["estimate"], fit["se"]):
            estimated[fit["method"], fit["component"]] = fit
    totals = (estimated.get((method, "total")) for method in METHODS)
    main = next(filter(None, totals), None)
    if main is None:
        notes = [row["note"] for row in fits if row["note"]]
        return f"no regression ({notes[0]})." if notes else ""
    low, high = main["ci_low"], main["ci_high"]
    text = (
        "where the association score is higher by 1, the odds of a stereotype-consistent decision "
        f"are {odds_ratio(main['estimate'])} times as high ({main['method']}; {plan.interval} "
        f"{odds_ratio(low)} to {odds_ratio(high)}; {count(main['n_scored'])} prompts)"
    )
    if low is not None and high is not None and low <= 0 <= high:
        text += ", not distinguishable from chance: the interval contains 1"
    for component, name in _COMPONENTS.items():
        if mixed := estimated.get(("mixed", component)):
            text += (
                f". {name} (mixed): {odds_ratio(mixed['estimate'])} times "
                f"({odds_ratio(mixed['ci_low'])} to {odds_ratio(mixed['ci_high'])})"
            )
    return f"{text}."


def _components(rows: pl.DataFrame, plan: PlanFacts) -> tuple[Figure, ...]:
    """Draw the coefficients within and between stereotypes beside each other, per group."""
    parts = rows.filter(pl.col("component").is_in(list(_COMPONENTS)), method="mixed")
    if parts["estimate"].is_null().all():
        return ()
    group = pl.col("part").map_elements(group_title, return_dtype=pl.String)
    labelled = parts.with_columns(
        label=pl.concat_str(group, "component", separator=", "),
        category=pl.when(pl.col("part") != "all").then("part"),
    )
    # An interval may be very wide; it is then cut, so that the others can be told apart.
    limits = labelled.select(
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
    draw = partial(forest, axis=axis, tips=_TIPS)
    return per_mode("chained-parts", caption, labelled, draw)


def _published_table(study: str) -> ReportTable | None:
    """Set out the printed regressions on a prompt-based bias, and the others beside them."""
    try:
        published = load_regressions(study)
    except InputError:
        return None
    return _PUBLISHED.render(published.filter(pl.col("term") != "Intercept"))
