"""Explicit beside implicit: what a model says when it is asked, and what it does.

Reference: Bai, Wang, Sucholutsky & Griffiths 2025, PNAS 122(8), and its SI section A.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

import polars as pl

from clinometer.contracts.catalogue import INSTRUMENTS
from clinometer.numbers import interval, number, signed
from clinometer.pieces.drawing.charts import Axis
from clinometer.pieces.drawing.figures import Figure, per_mode
from clinometer.pieces.drawing.intervals import forest
from clinometer.pieces.frames import in_order
from clinometer.pieces.paragraphs import Paragraphs
from clinometer.pieces.prose import capital, chance_note
from clinometer.pieces.sections import Section
from clinometer.pieces.tables import FROM, VERDICT, TableColumn, TableSpec, head
from clinometer.pieces.views import AnswerResults
from clinometer.reference import load_published
from clinometer.statistics.explicitness import share_of_scale

#: Above this many gaps over all stereotypes there are no sentences.
MOST_SENTENCES = 6


def explicit_section(answers: AnswerResults) -> Section | None:
    """Set explicit beside implicit means, per category and over all; None without gaps."""
    plan = answers.plan
    gaps = answers.gaps
    measures = {*gaps["baseline"], *gaps["candidate"]}
    names = {r.instrument: r.in_text for r in answers.instruments if r.instrument in measures}
    model_gaps = gaps.filter(level="model")
    if model_gaps.is_empty():
        return None
    pooled = _with_names(pl.concat([model_gaps, gaps.filter(level="category")]), names)
    single = _with_names(gaps.filter(level="stereotype"), names)
    sentences = [_sentence(row, names, plan.interval) for row in model_gaps.iter_rows(named=True)]
    values = {
        "sentences": sentences if len(sentences) <= MOST_SENTENCES else (),
        "published": _published_ranges(model_gaps["baseline"]),
    }
    tables = (
        ("", _GAPS.render(pooled, interval=plan.interval, scope="over all and per category")),
        (
            "Table per stereotype",
            _GAPS.render(single, interval=plan.interval, scope="per stereotype"),
        ),
    )
    return Section(
        key="explicit",
        title="Explicit beside implicit",
        short="Explicit, implicit",
        text=Paragraphs("explicit", values),
        figures=_figures(answers, names),
        tables=tuple(table for table in tables if table[1].rows),
    )


def _sentence(row: Mapping[str, Any], names: Mapping[str, str], interval_title: str) -> str:
    return (
        f"{row['model']}, mode {row['mode']}: {names[row['candidate']]} "
        f"{number(row['candidate_estimate'])}, {names[row['baseline']]} "
        f"{number(row['baseline_estimate'])}; gap {signed(row['estimate'])} "
        f"({interval_title} {interval(row['ci_low'], row['ci_high'])})"
        f"{chance_note(row)}."
    )


def _published_ranges(explicit: Iterable[str]) -> list[str]:
    """State what GPT-4 answered to the same explicit instruments."""
    measures = set(explicit)
    sentences = []
    for name, instrument in INSTRUMENTS.items():
        if name in measures and instrument.published_range:
            text, columns = instrument.published_range
            table = load_published("bai2025", name)
            ranges = [_range(table[column]) for column in columns]
            sentences.append(text.format(*ranges))
    return sentences


def _range(shares: pl.Series) -> str:
    low, high = pl.select(low=shares.min(), high=shares.max()).row(0)
    return interval(low, high, 3)


def _marks(answers: AnswerResults, names: Mapping[str, str]) -> pl.DataFrame:
    """Return the means of both kinds as shares of their scale, a row for each mark of a figure."""
    means = answers.estimates.filter(
        pl.col("instrument").is_in(names),
        pl.col("level").is_in(["category", "model"]),
        pl.col("control").is_null(),
    )
    shares = {name: share_of_scale(name) for name in ("estimate", "ci_low", "ci_high")}
    # Implicit first within a category: `in_order` keeps the order of what it does not sort by.
    rows = means.with_columns(**shares).sort("explicit", maintain_order=True)
    labels = [_label(row, names) for row in rows.iter_rows(named=True)]
    # A figure draws a row per stereotype in blocks by category; here a measure takes its place.
    marks = rows.with_columns(
        label=pl.Series(labels, dtype=pl.String), stereotype="instrument", mode="plain_mode"
    )
    # What is on the scale of the scores, not on the shares, is not drawn.
    on_other_scale = ("bound_low", "bound_high", "placebo_low", "placebo_high", "verdict")
    # Rows are read in the order of each study; a category of this figure has rows of several.
    ordered = in_order(marks, answers.plan)
    return ordered.with_columns(pl.lit(None).alias(name) for name in on_other_scale)


def _figures(answers: AnswerResults, names: Mapping[str, str]) -> tuple[Figure, ...]:
    """Draw the means of both kinds on one scale, a block per category."""
    marks = _marks(answers, names)
    caption = (
        "Explicit and implicit means as shares of the way from neutral to the "
        f"stereotype-consistent end. Dot: mean; line: {answers.plan.interval}. Neutral 0; right of "
        "it, stereotype-consistent."
    )
    axis = Axis("Share of the scale", -1.0, 1.0, 0.0)
    draw = partial(forest, axis=axis)
    return per_mode("explicit", caption, marks, draw)


def _label(row: Mapping[str, Any], names: Mapping[str, str]) -> str:
    """Name a measure, its dimension, and whether it is explicit."""
    kind = "explicit" if row["explicit"] else "implicit"
    properties = ", ".join(filter(None, (row["dimension_label"], kind)))
    return f"{names[row['instrument']]} ({properties})"


_GAPS = TableSpec(
    "Explicit beside implicit, {scope}.",
    (
        head("about", "Stereotypes"),
        head("implicit", "Implicit"),
        head("explicit", "Explicit"),
        *FROM,
        TableColumn("Implicit mean", "candidate_estimate", number),
        TableColumn("Explicit mean", "baseline_estimate", number),
        TableColumn("Gap", "estimate", signed),
        "interval",
        "p_bonferroni",
        VERDICT,
    ),
)


def _with_names(gaps: pl.DataFrame, names: Mapping[str, str]) -> pl.DataFrame:
    """Name both instruments of each gap."""
    titles = {name: capital(title) for name, title in names.items()}
    return gaps.with_columns(
        implicit=pl.col("candidate").replace_strict(titles, return_dtype=pl.String),
        explicit=pl.col("baseline").replace_strict(titles, return_dtype=pl.String),
    )
