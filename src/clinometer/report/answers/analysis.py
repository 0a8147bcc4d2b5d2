"""The analysis of an instrument's own, such as the published one, beside its scores."""

from __future__ import annotations

from functools import partial

import polars as pl

from clinometer.report.answers.results import InstrumentResults
from clinometer.report.drawing.figures import Figure, per_mode
from clinometer.report.drawing.intervals import around, forest
from clinometer.report.plan import PlanFacts
from clinometer.report.prose import bracketed, interval, number, p_value, scale
from clinometer.report.sections import Section, name_stereotypes
from clinometer.report.tables import FROM, NOTE, ReportTable, TableColumn, render_table
from clinometer.results import Measure

__all__ = ["analysis_section", "largest_effect"]

#: Above this many rows there is only the table.
MOST_DRAWN = 60
#: Up to here an interval widens the axis; fits of a few answers have errors without an end.
WIDEST = 10.0

_READING = (
    "What the source of the instrument computes from the same answers. These values have scales of "
    "their own and no verdicts; intervals are those of the analysis, and are not adjusted for "
    "their number."
)
_TIPS = (
    ("Stereotype", "label"),
    ("Model", "model"),
    ("Mode", "mode"),
    ("Value", "shown"),
    ("Interval", "interval"),
    ("p", "p"),
    ("Answers (scored)", "answers"),
)


def analysis_section(asked: InstrumentResults) -> Section | None:
    """Set out every measure of the instrument's own analysis; None where there is none.

    The one that is stated beside the mean comes first, is drawn, and stands open.
    """
    rows = _analysed(asked)
    if rows.is_empty():
        return None
    first = asked.facts.effect
    order = sorted(asked.facts.analysed.values(), key=lambda one: one.name != first)
    made = [(one, part) for one in order if (part := rows.filter(measure=one.name)).height]
    return Section(
        key="analysis",
        open=bool(first),
        title="Published analysis",
        text=(*(f"{text}." for text in [largest_effect(asked)] if text), _READING),
        figures=tuple(f for one, part in made for f in _figures(one, part, asked.plan)),
        tables=tuple(
            ("" if one.name == first else one.title, _table(one, part, asked.plan))
            for one, part in made
        ),
    )


def _analysed(asked: InstrumentResults) -> pl.DataFrame:
    """Return the rows of the published analysis, of all methods."""
    return asked.tables.rows.filter(pl.col("measure").is_in(list(asked.facts.analysed)))


def largest_effect(asked: InstrumentResults) -> str:
    """State the largest effect of a group in one sentence; empty where none is to be stated."""
    measure = asked.facts.analysed.get(asked.facts.effect)
    if measure is None:
        return ""
    rows = _analysed(asked).filter(measure=measure.name)
    known = rows.drop_nulls(["estimate", "ci_low", "ci_high"])
    told = known.filter(~pl.lit(measure.neutral).is_between("ci_low", "ci_high"))
    unknown = rows.height - known.height
    count = f"{told.height} of {rows.height} differ from {measure.neutral:g}"
    count += f" and {unknown} could not be estimated" if unknown else ""
    if told.is_empty():
        return f"{measure.title}: {count}"
    row = told.sort((pl.col("estimate") - measure.neutral).abs()).row(-1, named=True)
    where = [
        name_stereotypes(row, asked.plan),
        f"wording {row['variation']}" if row["variation"] else "",
    ]
    if asked.each.select("model", "mode").n_unique() > 1:
        where += [row["model"], row["mode"]]
    value = bracketed(row["estimate"], row["ci_low"], row["ci_high"])
    return (
        f"{measure.title}: {count}, the largest {value} ({', '.join(filter(None, where))}); "
        f"{measure.direction}"
    )


def _figures(measure: Measure, rows: pl.DataFrame, plan: PlanFacts) -> tuple[Figure, ...]:
    """Draw values with intervals around a neutral value of 0; others are in the table only."""
    known = rows.drop_nulls(["estimate", "ci_low", "ci_high"])
    if measure.neutral != 0 or not 0 < known.height <= MOST_DRAWN:
        return ()
    several = known["variation"].n_unique() > 1
    names = [name_stereotypes(row, plan) for row in known.iter_rows(named=True)]
    label = pl.concat_str(pl.Series("label", names), *(["variation"] * several), separator=", ")
    ends = pl.col("ci_low", "ci_high").clip(-WIDEST, WIDEST)
    limits = known.select(ends, mean=pl.col("estimate").clip(-WIDEST, WIDEST))
    limits = limits.rename({"ci_low": "low", "ci_high": "high"})
    axis = around(measure.title, limits.iter_rows(named=True), 1.0)
    caption = (
        f"{measure.title}. Dot: value; line: {plan.interval}, cut at the ends of the axis; dotted "
        f"line: neutral. {scale(measure)}"
    )
    draw = partial(forest, axis=axis, labels=_LABELS, tips=_TIPS)
    shown = known.with_columns(label=label, variation=None, verdict=None)
    return per_mode(f"analysis-{measure.name}", caption, shown, draw, plan)


#: Width of labels that name a wording too, in pixels.
_LABELS = 230


def _table(measure: Measure, rows: pl.DataFrame, plan: PlanFacts) -> ReportTable:
    source = f" Source: {measure.reference}." if measure.reference else ""
    columns = [
        TableColumn("Stereotype", lambda r: name_stereotypes(r, plan), "head"),
        TableColumn("Group", lambda r: r["group"] or "", "text"),
        TableColumn("Wording", lambda r: r["variation"] or "", "text", fold=True),
        *FROM,
        TableColumn("Value", lambda r: number(r["estimate"])),
        *(
            [TableColumn(plan.interval, lambda r: interval(r["ci_low"], r["ci_high"]))]
            if rows["ci_low"].count()
            else []
        ),
        *([TableColumn("p", lambda r: p_value(r["p"]))] if rows["p"].count() else []),
        TableColumn("Scored / n", lambda r: f"{r['n_scored']} / {r['n']}"),
        NOTE,
    ]
    return render_table(rows, f"{measure.title}. {scale(measure)}{source}", columns)
