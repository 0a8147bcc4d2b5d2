"""How answers to the same trials change with a system prompt, reasoning effort or temperature."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import polars as pl

from clinometer.numbers import interval, number, out_of, signed
from clinometer.pieces.drawing.figures import Figure, around_zero, per_mode
from clinometer.pieces.drawing.intervals import forest
from clinometer.pieces.plan import PlanFacts
from clinometer.pieces.prose import WORST, chance_note
from clinometer.pieces.sections import Section, Statement
from clinometer.pieces.tables import MODE, MODEL, ROW, STEREOTYPE, TableColumn, TableSpec
from clinometer.pieces.views import InstrumentResults
from clinometer.reference import INTERVENTIONS
from clinometer.results import CONDITIONS

#: Above this many models, modes and candidates of a factor, the brief leaves changes to sections.
MOST_SENTENCES = 4


@dataclass(frozen=True)
class _Words:
    """How the page speaks of the differences of one factor."""

    key: str
    title: str
    short: str
    trials: str  # how each trial was asked
    condition: str  # where a score is lower that lies left of neutral
    difference: str  # what is subtracted from what
    heads: tuple[str, str, str]  # of the candidate, the baseline's mean and the candidate's
    cell: str  # the candidate in a table, a template
    clause: str  # the candidate in a sentence, a template


def _setting(key: str, short: str, name: str) -> _Words:
    """Speak of a setting with an order, whose values are compared with the lowest."""
    return _Words(
        key,
        f"Effect of the {short.lower()}",
        short,
        f"Each trial was asked at several {name}s. They are compared with the lowest.",
        f"at the higher {name}",
        f"higher {name} − lowest",
        (short, "Mean at lowest", "Mean at higher"),
        "{candidate} − {baseline}",
        f"At {short.lower()} {{candidate}}, compared with {{baseline}},",
    )


#: Factor → its words: those of `results.CONDITIONS`.
_WORDS = {
    "intervention": _Words(
        "interventions",
        "Effect of the system prompts",
        "System prompts",
        "Each trial was asked with and without a system prompt.",
        "with the prompt",
        "with − without the prompt",
        ("With", "Mean without", "Mean with"),
        "{candidate}",
        "With “{candidate}”",
    ),
    "reasoning_effort": _setting("efforts", "Reasoning effort", "effort"),
    "temperature": _setting("temperatures", "Temperature", "temperature"),
}


def change_section(factor: str, results: InstrumentResults) -> Section | None:
    """Show the differences between values of a factor; None where nothing was contrasted."""
    frame = _contrasts(results, factor)
    words, interval_title = _WORDS[factor], results.plan.interval
    if frame.is_empty():
        return None
    stereotypes = frame.filter(level="stereotype")
    pooled = frame.filter(pl.col("level").is_in(["model", "category"]))
    spec = _change_table(words)
    tables = (
        (
            "",
            spec.render(
                pooled, interval=interval_title, scope="over all stereotypes and per category"
            ),
        ),
        (
            "Table per stereotype",
            spec.render(stereotypes, interval=interval_title, scope="per stereotype"),
        ),
    )
    return Section(
        key=words.key,
        title=words.title,
        short=words.short,
        text=(
            f"{words.trials} Left of the dotted line, scores are lower {words.condition}. If a "
            "model then declines more often, the mean rests on other answers: see the change in "
            "compliance and the worst case.",
            *(_prompts(frame, results) if factor == "intervention" else ()),
        ),
        figures=_change_figures(stereotypes, words, results),
        tables=tuple(table for table in tables if table[1].rows),
    )


def _prompts(frame: pl.DataFrame, results: InstrumentResults) -> tuple[str, ...]:
    """Return the texts of the system prompts, and what is published of them."""
    texts = dict(results.plan.interventions)
    names = frame["candidate"].drop_nulls().unique(maintain_order=True)
    prompts = [f"“{name}”: {texts[name]}" for name in names if texts.get(name)]
    effects = [_published_effect(results, name) for name in names]
    return (*prompts, *filter(None, effects))


def _published_effect(results: InstrumentResults, name: str) -> str | None:
    """State the published effect of a system prompt on GPT-4."""
    means = INTERVENTIONS.get(results.study, {}).get(results.instrument, {}).get(name)
    if means is None:
        return None
    without, treated = means
    return (
        f"Published for GPT-4 (2024) with “{name}”, as context: {number(without)} without and "
        f"{number(treated)} with the prompt, a difference of {number(treated - without)}. "
        "The source gives no interval and no number of answers."
    )


def changes(results: InstrumentResults) -> tuple[Statement, ...]:
    """Say what each factor changes over all stereotypes, for a few models and modes."""
    findings = []
    for factor in CONDITIONS:
        rows = _contrasts(results, factor).filter(level="model")
        if rows.height > MOST_SENTENCES:
            continue
        for row in rows.iter_rows(named=True):
            subject = f"{row['model']}, mode {row['mode_alone']}"
            findings.append(Statement(subject, change(row, results.plan)))
    return tuple(findings)


def change(row: Mapping[str, Any], plan: PlanFacts) -> str:
    """Say what a candidate changes, by the difference of its scores."""
    compliance = (
        f"compliance changes by {_points(row['compliance_change'])} points "
        f"({plan.interval} {_range(row)})"
    )
    condition = _WORDS[row["factor"]].clause.format_map(row)
    if row["estimate"] is None:
        return f"{condition} no trial was scored in both; {compliance}."
    direction = "lower" if row["estimate"] < 0 else "higher"
    return (
        f"{condition} the mean is {number(abs(row['estimate']))} {direction} "
        f"(difference {number(row['estimate'])}, {plan.interval} "
        f"{interval(row['ci_low'], row['ci_high'])}; {row['n_scored']} matched trials)"
        f"{chance_note(row)}; {compliance}."
    )


def _points(share: float | None) -> str:
    """Write a difference of shares in percentage points."""
    return "n/a" if share is None else signed(100 * share, 0)


def _range(row: Mapping[str, Any]) -> str:
    return f"{_points(row['compliance_low'])} to {_points(row['compliance_high'])}"


def _contrasts(results: InstrumentResults, factor: str) -> pl.DataFrame:
    """Return the differences between values of a factor.

    ``mode`` names the candidate too, so that each has its figure; ``mode_alone`` does not.
    """
    mode = pl.concat_str(["mode", "candidate"], separator=", ", ignore_nulls=True)
    contrasts = results.tables.contrasts.filter(factor=factor)
    return contrasts.with_columns(mode_alone="mode", mode=mode)


def _change_figures(
    frame: pl.DataFrame, words: _Words, results: InstrumentResults
) -> tuple[Figure, ...]:
    differences = frame.with_columns(verdict=None)  # the caption says what a side means
    title = f"Difference of the score, {words.difference}"
    axis = around_zero(title, differences, results.measure)
    names = differences["candidate"].drop_nulls().unique(maintain_order=True)
    caption = (
        f"{words.title} on the score. Dot: mean difference of matched trials, {words.difference}; "
        f"thick line: {results.plan.interval} of all together; thin line: {WORST}. Neutral 0; left "
        f"of it, scores are lower {words.condition}. {words.short}: "
        f"{', '.join(f'“{name}”' for name in names)}."
    )
    return per_mode(words.key, caption, differences, partial(forest, axis=axis))


def _change_table(words: _Words) -> TableSpec:
    """Declare the table of the differences of a factor."""
    candidate, baseline_mean, candidate_mean = words.heads
    return TableSpec(
        "Change {scope}.",
        (
            STEREOTYPE,
            TableColumn(candidate, ROW, words.cell.format_map, "head"),
            # The candidate has a column; `mode` names it too.
            MODEL,
            TableColumn(MODE.title, "mode_alone", same=MODE.same),
            TableColumn(baseline_mean, "baseline_estimate", number),
            TableColumn(candidate_mean, "candidate_estimate", number),
            TableColumn("Difference", "estimate", number),
            "interval",
            "p_bonferroni",
            "bounds",
            TableColumn("Matched / n", "n_scored n", out_of),
            TableColumn("Compliance, points", "compliance_change", _points),
            TableColumn("Interval of compliance", ROW, _range),
        ),
    )
