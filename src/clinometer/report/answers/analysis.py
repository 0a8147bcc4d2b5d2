"""The analysis of an instrument's own, such as the published one, beside its scores."""

from __future__ import annotations

from functools import partial

import polars as pl

from clinometer.numbers import bracketed, interval, number, out_of, p_value
from clinometer.pieces.drawing.figures import Figure, per_mode
from clinometer.pieces.drawing.intervals import around, forest
from clinometer.pieces.paragraphs import Paragraphs
from clinometer.pieces.plan import PlanFacts
from clinometer.pieces.prose import scale
from clinometer.pieces.sections import Section
from clinometer.pieces.tables import FROM, STEREOTYPE, TableColumn, TableSpec
from clinometer.pieces.views import InstrumentResults
from clinometer.results import Measure

#: Above this many rows there is only the table.
MOST_ROWS = 60
#: Up to here an interval widens the axis; fits of a few answers have errors without an end.
WIDEST = 10.0

_TIPS = (
    ("Stereotype", "label"),
    ("Model", "model"),
    ("Mode", "mode"),
    ("Value", "shown"),
    ("Interval", "interval"),
    ("p", "p"),
    ("Answers (scored)", "answers"),
)


def analysis_section(results: InstrumentResults) -> Section | None:
    """Set out every measure of the instrument's own analysis; None where there is none.

    The one that is stated beside the mean comes first, is drawn, and stands open.
    """
    rows = _analysis_rows(results)
    if rows.is_empty():
        return None
    first = results.facts.effect
    # False sorts before True; the others stay in their order.
    order = sorted(results.facts.analysed.values(), key=lambda measure: measure.name != first)
    figures: list[Figure] = []
    tables = []
    for measure in order:
        part = rows.filter(measure=measure.name)
        if part.is_empty():
            continue
        figures += _figures(measure, part, results.plan)
        title = "" if measure.name == first else measure.title  # without a title it stands open
        table = _VALUES.render(
            part,
            interval=results.plan.interval,
            title=measure.title,
            scale=scale(measure),
            source=f" Source: {measure.reference}." if measure.reference else "",
        )
        tables.append((title, table))
    effect = largest_effect(results)
    return Section(
        key="analysis",
        open=bool(first),
        title="Published analysis",
        text=Paragraphs("analysis", {"effect": effect}),
        figures=tuple(figures),
        tables=tuple(tables),
    )


def _analysis_rows(results: InstrumentResults) -> pl.DataFrame:
    """Return the rows of the published analysis, of all methods."""
    return results.tables.rows.filter(pl.col("measure").is_in(list(results.facts.analysed)))


def largest_effect(results: InstrumentResults) -> str:
    """State the largest effect of a group in one sentence; empty where none is to be stated."""
    measure = results.facts.analysed.get(results.facts.effect)
    if measure is None:
        return ""
    rows = _analysis_rows(results).filter(measure=measure.name)
    estimates = rows.drop_nulls(["estimate", "ci_low", "ci_high"])
    effects = estimates.filter(~pl.lit(measure.neutral).is_between("ci_low", "ci_high"))
    missing = rows.height - estimates.height
    count = f"{effects.height} of {rows.height} differ from {measure.neutral:g}"
    count += f" and {missing} could not be estimated" if missing else ""
    if effects.is_empty():
        return f"{measure.title}: {count}"
    row = effects.sort((pl.col("estimate") - measure.neutral).abs()).row(-1, named=True)
    where = [
        row["about"],
        f"wording {row['variation']}" if row["variation"] else "",
    ]
    if results.several_runs:
        where += [row["model"], row["mode"]]
    value = bracketed(row["estimate"], row["ci_low"], row["ci_high"])
    return (
        f"{measure.title}: {count}, the largest {value} ({', '.join(filter(None, where))}); "
        f"{measure.direction}"
    )


def _figures(measure: Measure, rows: pl.DataFrame, plan: PlanFacts) -> tuple[Figure, ...]:
    """Draw values with intervals around a neutral value of 0; others are in the table only."""
    estimates = rows.drop_nulls(["estimate", "ci_low", "ci_high"])
    if measure.neutral != 0 or not 0 < estimates.height <= MOST_ROWS:
        return ()
    several_wordings = estimates["variation"].n_unique() > 1
    wording = ["variation"] if several_wordings else []
    label = pl.concat_str("about", *wording, separator=", ")
    # Only the axis is made of these: it clamps the marks beyond its ends itself.
    ends = pl.col("ci_low", "ci_high").clip(-WIDEST, WIDEST)
    limits = estimates.select(ends, mean=pl.col("estimate").clip(-WIDEST, WIDEST))
    limits = limits.rename({"ci_low": "low", "ci_high": "high"})
    axis = around(measure.title, limits.iter_rows(named=True), 1.0)
    caption = (
        f"{measure.title}. Dot: value; line: {plan.interval}, cut at the ends of the axis; dotted "
        f"line: neutral. {scale(measure)}"
    )
    draw = partial(forest, axis=axis, tips=_TIPS)
    # The label names the wording, and these values have no verdict.
    marks = estimates.with_columns(label=label, variation=None, verdict=None)
    return per_mode(f"analysis-{measure.name}", caption, marks, draw)


#: One measure of the analysis; intervals and p only where it has some.
_VALUES = TableSpec(
    "{title}. {scale}{source}",
    (
        STEREOTYPE,
        "group",
        TableColumn("Wording", "variation", same="in caption"),
        *FROM,
        TableColumn("Value", "estimate", number),
        TableColumn("{interval}", "ci_low ci_high", interval, needs="ci_low"),
        TableColumn("p", "p", p_value, needs="p"),
        TableColumn("Scored / n", "n_scored n", out_of),
        "note",
    ),
)
