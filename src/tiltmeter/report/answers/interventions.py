"""What a system prompt changes: the same trials asked with it and without."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from tiltmeter.report.drawing import charts
from tiltmeter.report.drawing.figures import Figure, around_zero, per_mode
from tiltmeter.report.plan import Plan
from tiltmeter.report.prose import interval, number, p_value
from tiltmeter.report.sections import Finding, Section, in_order
from tiltmeter.report.tables import FROM, Column, Table, render_table
from tiltmeter.results import Measure
from tiltmeter.results.verdicts import HIGHER, LOWER

__all__ = ["change", "changes", "intervention_section"]

#: Above this many models, modes and prompts, the brief leaves changes to their section.
MOST_SENTENCES = 4


def intervention_section(frame: pl.DataFrame, plan: Plan, measure: Measure) -> Section | None:
    """Show the differences per stereotype, and the system prompts.

    `frame`: rows of CONTRASTS of one study and instrument.
    None where nothing was contrasted.
    """
    frame = in_order(_treated(frame), plan)
    each = frame.filter(level="stereotype")
    whole = frame.filter(pl.col("level").is_in(["model", "category"]))
    if frame.is_empty():
        return None
    prompts = dict(plan.pairs("interventions"))
    named = [name for name in frame["candidate"].drop_nulls().unique(maintain_order=True)]
    tables = [("", _table(whole, plan, "Change over all stereotypes and per category."))]
    if not each.is_empty():
        tables.append(("Table per stereotype", _table(each, plan, "Change per stereotype.")))
    return Section(
        key="interventions",
        title="Effect of the system prompts",
        short="System prompts",
        text=(
            "The same trials were asked with a system prompt and without. Left of the dotted "
            "line, scores are lower with it. A prompt that makes a model decline more often "
            "changes which answers the mean is over: see the change of compliance and the worst "
            "case.",
            *[f"“{name}”: {prompts[name]}" for name in named if prompts.get(name)],
        ),
        figures=tuple(_figures(each, plan, measure)),
        tables=tuple(table for table in tables if table[1].rows),
    )


def changes(frame: pl.DataFrame, plan: Plan) -> tuple[Finding, ...]:
    """Say what each system prompt changes over all stereotypes, for a few models and modes.

    `frame`: rows of CONTRASTS of one study and instrument.
    """
    rows = in_order(_treated(frame).filter(level="model"), plan)
    if rows.height > MOST_SENTENCES:
        return ()
    return tuple(
        Finding(f"{row['model']}, mode {row['asked']}", change(row, plan))
        for row in rows.iter_rows(named=True)
    )


def change(row: Mapping[str, Any], plan: Plan) -> str:
    """Say what a system prompt changes.

    `row`: a row of CONTRASTS.
    """
    compliance = (
        f"compliance changes by {_points(row['compliance_change'])} points "
        f"({plan.interval} {_points(row['compliance_low'])} to {_points(row['compliance_high'])})"
    )
    if row["estimate"] is None:
        return f"With “{row['candidate']}” no trial was scored in both; {compliance}."
    way = "lower" if row["estimate"] < 0 else "higher"
    text = (
        f"With “{row['candidate']}” the mean is {number(abs(row['estimate']))} {way} "
        f"(difference {number(row['estimate'])}, {plan.interval} "
        f"{interval(row['ci_low'], row['ci_high'])}; {row['n_scored']} matched trials)"
    )
    text += "" if row["verdict"] in (LOWER, HIGHER) else ", no more than chance explains"
    return f"{text}; {compliance}."


def _points(share: float | None) -> str:
    """Write a difference of shares in percentage points."""
    return "n/a" if share is None else number(100 * share, 0, signed=True)


def _treated(frame: pl.DataFrame) -> pl.DataFrame:
    """Keep differences between interventions; the mode names the candidate."""
    named = pl.concat_str(["mode", "candidate"], separator=", ", ignore_nulls=True)
    return frame.filter(factor="intervention").with_columns(asked="mode", mode=named)


def _figures(each: pl.DataFrame, plan: Plan, measure: Measure) -> list[Figure]:
    each = each.with_columns(verdict=None)  # the caption says what a side means
    axis = around_zero("Difference of the score, with − without", each, measure)
    caption = (
        "Change of the score with a system prompt. Mean difference over matched trials, with the "
        f"prompt − without, and its clustered {plan.interval}; thin line: worst case, were every "
        "missing answer at an end of the scale. Neutral 0; left of it scores are lower "
        f"with the prompt. With {_quoted(each)}."
    )
    return per_mode(
        "interventions", caption, each, lambda rows, panels: charts.forest(rows, axis, panels), plan
    )


def _quoted(frame: pl.DataFrame) -> str:
    names = frame["candidate"].drop_nulls().unique(maintain_order=True)
    return ", ".join(f"“{name}”" for name in names)


def _table(frame: pl.DataFrame, plan: Plan, caption: str) -> Table:
    def about(row: Mapping[str, Any]) -> str:
        if row["stereotype"]:
            return plan.label(row["stereotype"])
        return (row["category"] or "all stereotypes").capitalize()

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
            Column(
                "of that, interval",
                lambda r: f"{_points(r['compliance_low'])} to {_points(r['compliance_high'])}",
            ),
        ],
    )
