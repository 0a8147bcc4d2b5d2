"""What a system prompt changes: the same trials asked with it and without."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from tiltmeter.report.answers.results import Asked
from tiltmeter.report.drawing import charts
from tiltmeter.report.drawing.figures import Figure, around_zero, per_mode
from tiltmeter.report.plan import Plan
from tiltmeter.report.prose import interval, number, p_value
from tiltmeter.report.sections import Finding, Section, in_order
from tiltmeter.report.tables import FROM, Column, Table, render_table
from tiltmeter.results.verdicts import HIGHER, LOWER

__all__ = ["change", "changes", "intervention_section"]

#: Above this many models, modes and prompts, the brief leaves changes to their section.
MOST_SENTENCES = 4


def intervention_section(asked: Asked) -> Section | None:
    """Show the differences, and the system prompts; None where nothing was contrasted."""
    frame, plan = _treated(asked), asked.plan
    if frame.is_empty():
        return None
    each, prompts = frame.filter(level="stereotype"), dict(plan.pairs("interventions"))
    whole = frame.filter(pl.col("level").is_in(["model", "category"]))
    names = frame["candidate"].drop_nulls().unique(maintain_order=True)
    tables = (
        ("", _table(whole, plan, "Change over all stereotypes and per category.")),
        ("Table per stereotype", _table(each, plan, "Change per stereotype.")),
    )
    return Section(
        key="interventions",
        title="Effect of the system prompts",
        short="System prompts",
        text=(
            "Each trial was asked with and without a system prompt. Left of the dotted line, "
            "scores are lower with it. If a prompt makes a model decline more often, the mean "
            "rests on other answers: see the change in compliance and the worst case.",
            *[f"“{name}”: {prompts[name]}" for name in names if prompts.get(name)],
        ),
        figures=tuple(_figures(each, asked)),
        tables=tuple(table for table in tables if table[1].rows),
    )


def changes(asked: Asked) -> tuple[Finding, ...]:
    """Say what each system prompt changes over all stereotypes, for a few models and modes."""
    rows = _treated(asked).filter(level="model")
    return tuple(
        Finding(f"{row['model']}, mode {row['asked']}", change(row, asked.plan))
        for row in rows.iter_rows(named=True)
        if rows.height <= MOST_SENTENCES
    )


def change(row: Mapping[str, Any], plan: Plan) -> str:
    """Say what a system prompt changes, by the difference of its scores."""
    compliance = (
        f"compliance changes by {_points(row['compliance_change'])} points "
        f"({plan.interval} {_points(row['compliance_low'])} to {_points(row['compliance_high'])})"
    )
    if row["estimate"] is None:
        return f"With “{row['candidate']}” no trial was scored in both; {compliance}."
    way = "lower" if row["estimate"] < 0 else "higher"
    chance = "" if row["verdict"] in (LOWER, HIGHER) else ", not distinguishable from chance"
    return (
        f"With “{row['candidate']}” the mean is {number(abs(row['estimate']))} {way} "
        f"(difference {number(row['estimate'])}, {plan.interval} "
        f"{interval(row['ci_low'], row['ci_high'])}; {row['n_scored']} matched trials){chance}; "
        f"{compliance}."
    )


def _points(share: float | None) -> str:
    """Write a difference of shares in percentage points."""
    return "n/a" if share is None else number(100 * share, 0, signed=True)


def _treated(asked: Asked) -> pl.DataFrame:
    """Give the differences between interventions; the mode names the candidate."""
    named = pl.concat_str(["mode", "candidate"], separator=", ", ignore_nulls=True)
    contrasts = asked.tables.contrasts.filter(factor="intervention")
    return in_order(contrasts.with_columns(asked="mode", mode=named), asked.plan)


def _figures(each: pl.DataFrame, asked: Asked) -> list[Figure]:
    each = each.with_columns(verdict=None)  # the caption says what a side means
    axis = around_zero("Difference of the score, with − without", each, asked.measure)
    names = each["candidate"].drop_nulls().unique(maintain_order=True)
    caption = (
        "Change of the score with a system prompt. Dot: mean difference of matched trials, with − "
        f"without the prompt; thick line: clustered {asked.plan.interval}; thin line: worst case, "
        "if every missing answer were at one end of the scale. Neutral 0; left of it, scores are "
        f"lower with the prompt. With {', '.join(f'“{name}”' for name in names)}."
    )
    return per_mode(
        "interventions",
        caption,
        each,
        lambda rows, panels: charts.forest(rows, axis, panels),
        asked.plan,
    )


def _table(frame: pl.DataFrame, plan: Plan, caption: str) -> Table:
    def about(row: Mapping[str, Any]) -> str:
        if row["stereotype"]:
            return plan.label(row["stereotype"])
        return (row["category"] or "all stereotypes").capitalize()

    def compliance(row: Mapping[str, Any]) -> str:
        return f"{_points(row['compliance_low'])} to {_points(row['compliance_high'])}"

    return render_table(
        frame.with_columns(mode="asked"),
        caption,
        [
            Column("Stereotype", about, "head"),
            Column("With", lambda r: r["candidate"] or "", "head"),
            *FROM,
            Column("Mean without", lambda r: number(r["baseline_estimate"])),
            Column("Mean with", lambda r: number(r["candidate_estimate"])),
            Column("Difference", lambda r: number(r["estimate"])),
            Column(plan.interval, lambda r: interval(r["ci_low"], r["ci_high"])),
            Column("p (Holm)", lambda r: p_value(r["p_holm"])),
            Column("Worst case", lambda r: interval(r["bound_low"], r["bound_high"])),
            Column("Matched / n", lambda r: f"{r['n_scored']} / {r['n']}"),
            Column("Compliance, points", lambda r: _points(r["compliance_change"])),
            Column("Interval of compliance", compliance),
        ],
    )
