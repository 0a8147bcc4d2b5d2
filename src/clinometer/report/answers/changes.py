"""How answers to the same trials change with a system prompt, reasoning effort or temperature."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import polars as pl

from clinometer.reference import INTERVENTIONS
from clinometer.report.answers.results import InstrumentResults
from clinometer.report.drawing.figures import Figure, around_zero, per_mode
from clinometer.report.drawing.intervals import forest
from clinometer.report.plan import PlanFacts
from clinometer.report.prose import WORST, chance_note, interval, number, p_value
from clinometer.report.sections import Finding, Section, name_stereotypes
from clinometer.report.tables import FROM, ReportTable, TableColumn, alike, render_table
from clinometer.results import CONDITIONS

__all__ = ["change", "change_section", "changes"]

#: Above this many models, modes and candidates of a factor, the brief leaves changes to sections.
MOST_SENTENCES = 4


@dataclass(frozen=True)
class _Words:
    """How the page speaks of the differences of one factor."""

    key: str
    title: str
    short: str
    asked: str
    there: str
    """Where a score is lower that lies left of neutral."""
    minus: str
    heads: tuple[str, str, str]
    """Columns of the candidate, of the baseline's mean and of the candidate's."""
    compared: str
    """The candidate in a table."""
    said: str
    """The candidate in a sentence."""


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


def change_section(factor: str, asked: InstrumentResults) -> Section | None:
    """Show the differences between values of a factor; None where nothing was contrasted."""
    frame, plan, words = _contrasted(asked, factor), asked.plan, _WORDS[factor]
    if frame.is_empty():
        return None
    each, whole = (
        frame.filter(pl.col("level").is_in(levels))
        for levels in (["stereotype"], ["model", "category"])
    )
    tables = (
        ("", _change_table(whole, words, plan, "Change over all stereotypes and per category.")),
        ("Table per stereotype", _change_table(each, words, plan, "Change per stereotype.")),
    )
    return Section(
        key=words.key,
        title=words.title,
        short=words.short,
        text=(
            f"{words.asked} Left of the dotted line, scores are lower {words.there}. If a model "
            "then declines more often, the mean rests on other answers: see the change in "
            "compliance and the worst case.",
            *(_prompts(frame, asked) if factor == "intervention" else ()),
        ),
        figures=_change_figures(each, words, asked),
        tables=tuple(table for table in tables if table[1].rows),
    )


def _prompts(frame: pl.DataFrame, asked: InstrumentResults) -> tuple[str, ...]:
    """Give the texts of the system prompts, and what is published of them."""
    texts = dict(asked.plan.interventions)
    names = frame["candidate"].drop_nulls().unique(maintain_order=True)
    return (
        *(f"“{name}”: {texts[name]}" for name in names if texts.get(name)),
        *(line for name in names if (line := _published(asked, name))),
    )


def _published(asked: InstrumentResults, name: str) -> str | None:
    """State the published effect of a system prompt on GPT-4."""
    known = INTERVENTIONS.get(asked.study, {}).get(asked.instrument, {}).get(name)
    if known is None:
        return None
    without, treated = known
    return (
        f"Published for GPT-4 (2024) with “{name}”, as context: {number(without)} without and "
        f"{number(treated)} with the prompt, a difference of {number(treated - without)}. "
        "The source gives no interval and no number of answers."
    )


def changes(asked: InstrumentResults) -> tuple[Finding, ...]:
    """Say what each factor changes over all stereotypes, for a few models and modes."""
    each = (_contrasted(asked, factor).filter(level="model") for factor in CONDITIONS)
    return tuple(
        Finding(f"{row['model']}, mode {row['asked']}", change(row, asked.plan))
        for rows in each
        if rows.height <= MOST_SENTENCES
        for row in rows.iter_rows(named=True)
    )


def change(row: Mapping[str, Any], plan: PlanFacts) -> str:
    """Say what a candidate changes, by the difference of its scores."""
    compliance = (
        f"compliance changes by {_points(row['compliance_change'])} points "
        f"({plan.interval} {_range(row)})"
    )
    said = _WORDS[row["factor"]].said.format_map(row)
    if row["estimate"] is None:
        return f"{said} no trial was scored in both; {compliance}."
    way = "lower" if row["estimate"] < 0 else "higher"
    return (
        f"{said} the mean is {number(abs(row['estimate']))} {way} "
        f"(difference {number(row['estimate'])}, {plan.interval} "
        f"{interval(row['ci_low'], row['ci_high'])}; {row['n_scored']} matched trials)"
        f"{chance_note(row)}; {compliance}."
    )


def _points(share: float | None) -> str:
    """Write a difference of shares in percentage points."""
    return "n/a" if share is None else number(100 * share, 0, signed=True)


def _range(row: Mapping[str, Any]) -> str:
    return f"{_points(row['compliance_low'])} to {_points(row['compliance_high'])}"


def _contrasted(asked: InstrumentResults, factor: str) -> pl.DataFrame:
    """Give the differences between values of a factor; the mode names the candidate."""
    named = pl.concat_str(["mode", "candidate"], separator=", ", ignore_nulls=True)
    contrasts = asked.tables.contrasts.filter(factor=factor)
    return contrasts.with_columns(asked="mode", mode=named)


def _change_figures(
    each: pl.DataFrame, words: _Words, asked: InstrumentResults
) -> tuple[Figure, ...]:
    each = each.with_columns(verdict=None)  # the caption says what a side means
    axis = around_zero(f"Difference of the score, {words.minus}", each, asked.measure)
    names = each["candidate"].drop_nulls().unique(maintain_order=True)
    caption = (
        f"{words.title} on the score. Dot: mean difference of matched trials, {words.minus}; thick "
        f"line: {asked.plan.interval} of all together; thin line: {WORST}. Neutral 0; left of it, "
        f"scores are lower {words.there}. {words.short}: "
        f"{', '.join(f'“{name}”' for name in names)}."
    )
    return per_mode(words.key, caption, each, partial(forest, axis=axis), asked.plan)


def _change_table(frame: pl.DataFrame, words: _Words, plan: PlanFacts, caption: str) -> ReportTable:
    head, *means = words.heads
    estimates = ("baseline_estimate", "candidate_estimate")
    columns = [
        TableColumn("Stereotype", lambda r: name_stereotypes(r, plan), "head"),
        TableColumn(head, words.compared.format_map, "head"),
        *FROM,
        *alike(number, dict(zip(means, estimates, strict=True))),
        TableColumn("Difference", lambda r: number(r["estimate"])),
        TableColumn(plan.interval, lambda r: interval(r["ci_low"], r["ci_high"])),
        TableColumn("p (Bonferroni)", lambda r: p_value(r["p_bonferroni"])),
        TableColumn("Worst case", lambda r: interval(r["bound_low"], r["bound_high"])),
        TableColumn("Matched / n", lambda r: f"{r['n_scored']} / {r['n']}"),
        TableColumn("Compliance, points", lambda r: _points(r["compliance_change"])),
        TableColumn("Interval of compliance", _range),
    ]
    return render_table(frame.with_columns(mode="asked"), caption, columns)
