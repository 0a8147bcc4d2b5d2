"""Relative against absolute decisions: two persons compared, or one judged alone.

Reference: Bai, Wang, Sucholutsky & Griffiths 2025, PNAS 122(8), "Bias in Relative vs. Absolute
Decisions", and SI section L.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import polars as pl

from clinometer.authoring import YES_SHARES, load_published
from clinometer.instruments.absolute_decision.yes_shares import CONSISTENT_SHARE
from clinometer.pieces import (
    FROM,
    STEREOTYPE,
    WORST,
    Figure,
    InstrumentResults,
    PlanFacts,
    ReportTable,
    Section,
    TableColumn,
    TableSpec,
    around_zero,
    chance_note,
    clustered,
    few_sentences,
    forest,
    head,
    interval,
    number,
    out_of,
    per_mode,
)

__all__ = ["relativity_section"]

_METHOD = (
    "Relative decisions give two tasks to two persons; absolute decisions say yes or no to one "
    "person and one task. Both scores are the share of stereotype-consistent answers, 0 to 1, "
    "neutral .50, over the stereotypes that both were asked. Answers are not paired: the draws "
    "differ, and the errors of both add up."
)
_CAUTION = (
    "A model that says yes (or no) to everybody scores .50 in absolute decisions whatever it "
    "would decide between two persons. A positive difference shows that relative decisions reveal "
    "more, not that the model treats people worse in them."
)


def relativity_section(results: InstrumentResults) -> Section | None:
    """Compare relative decisions with these absolute ones; None where both were not asked."""
    plan = results.plan
    kind = pl.col("candidate").map_elements(lambda name: plan.measure(name).title, pl.String)
    mode_and_kind = pl.concat_str(["mode", kind], separator=", ", ignore_nulls=True)
    rows = results.tables.rows.filter(factor="instrument", measure=CONSISTENT_SHARE.name)
    differences = clustered(rows)
    rows = differences.filter(baseline=results.instrument, study=results.study)
    # Figures and sentences tell kinds of decisions apart by the mode; tables have the mode alone.
    frame = rows.with_columns(kind=kind, asked="mode", mode=mode_and_kind)
    model_rows = frame.filter(level="model")
    if model_rows.is_empty():
        return None
    pooled = frame.filter(pl.col("level").is_in(["model", "category"]))
    stereotypes = frame.filter(level="stereotype")
    sentences = [_sentence(row, plan) for row in model_rows.iter_rows(named=True)]
    return Section(
        key="relativity",
        title="Relative against absolute decisions",
        short="Relative, absolute",
        text=(
            _METHOD,
            *few_sentences(sentences),
            _CAUTION,
            *_published_text(results.study),
        ),
        figures=_figures(stereotypes, results),
        tables=(
            ("", _table(pooled, plan, "Over all stereotypes and per category.")),
            ("Table per stereotype", _table(stereotypes, plan, "Per stereotype.")),
        ),
    )


def _sentence(row: Mapping[str, Any], plan: PlanFacts) -> str:
    """State the difference of one model and mode."""
    means = f"{number(row['candidate_estimate'])} against {number(row['baseline_estimate'])}"
    return (
        f"{row['model']}, mode {row['mode']}: {means} in absolute decisions, a difference of "
        f"{number(row['estimate'])} ({plan.interval} {interval(row['ci_low'], row['ci_high'])})"
        f"{chance_note(row)}."
    )


def _published_text(study: str) -> tuple[str, ...]:
    """State the published scores of GPT-4, the absolute one made of its four shares of yes."""
    yes = YES_SHARES.get(study)
    if yes is None:
        return ()
    tied = yes["marginalized_tied"] - yes["default_tied"]
    counter = yes["default_counter"] - yes["marginalized_counter"]
    absolute = 0.5 + (tied + counter) / 4
    decisions = load_published(study, "relative_decision").filter(table="S11", model="GPT-4")
    relative = decisions.filter(level="model")["mean"].item()
    return (
        f"Published for GPT-4 (2025), as context: {number(relative)} in relative decisions (SI "
        f"Table S11) and {number(absolute)} in absolute ones, computed from its four mean shares "
        "of yes. The source has no test of the difference.",
    )


def _figures(stereotypes: pl.DataFrame, results: InstrumentResults) -> tuple[Figure, ...]:
    """Draw the difference of each stereotype, a figure per mode."""
    stereotypes = stereotypes.with_columns(verdict=None)  # the caption says what a side means
    axis = around_zero("Relative − absolute", stereotypes, results.measure)
    caption = (
        "Relative − absolute decisions. Dot: difference of the shares of stereotype-consistent "
        f"answers; thick line: {results.plan.interval}; thin line: {WORST}. Range −1 to 1, neutral "
        "0; positive: relative decisions are more stereotype-consistent."
    )
    return per_mode("relativity", caption, stereotypes, partial(forest, axis=axis))


_MEANS = TableSpec(
    "{scope}",
    (
        STEREOTYPE,
        head("kind", "Relative decisions"),
        *FROM,
        TableColumn("Relative", "candidate_estimate", number),
        TableColumn("Absolute", "baseline_estimate", number),
        TableColumn("Difference", "estimate", number),
        "interval",
        "p_bonferroni",
        "bounds",
        TableColumn("Fewer scored / n", "n_scored n", out_of),
    ),
)


def _table(frame: pl.DataFrame, plan: PlanFacts, scope: str) -> ReportTable:
    """Set out both means and their difference; tables have the mode alone."""
    return _MEANS.render(frame.with_columns(mode="asked"), interval=plan.interval, scope=scope)
