"""The sections of one study and instrument: its verdicts and estimates, and what others show."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pkgutil import resolve_name
from typing import Any

import polars as pl

from clinometer.contracts.catalogue import instrument_of
from clinometer.contracts.failures import name_failure
from clinometer.contracts.instrument import DrawSection
from clinometer.numbers import interval, number, p_value, percent
from clinometer.pieces.drawing.charts import Axis
from clinometer.pieces.drawing.figures import per_mode
from clinometer.pieces.drawing.intervals import forest
from clinometer.pieces.paragraphs import Paragraphs
from clinometer.pieces.plan import PlanFacts
from clinometer.pieces.prose import WORST, capital, category_title, first_few, splits_text
from clinometer.pieces.published import published_section
from clinometer.pieces.sections import Section
from clinometer.pieces.tables import (
    FROM,
    LEAN,
    ReportTable,
    TableColumn,
    alike,
    mean_columns,
    render_table,
)
from clinometer.pieces.views import InstrumentResults
from clinometer.report.answers import conditions
from clinometer.report.answers.analysis import analysis_section
from clinometer.report.answers.changes import change_section
from clinometer.report.answers.content import content_section
from clinometer.report.answers.people import people_section
from clinometer.report.answers.reliability import reliability_section
from clinometer.report.answers.words import word_section
from clinometer.results import CONDITIONS
from clinometer.results.ranges import RANGES
from clinometer.statistics.splits import FEWEST_SPLITS

__all__ = ["draw_sections", "instrument_sections"]

#: What a control is for, by its kind.
_CONTROLS = {
    "positive": "A known association is in {}: unless its interval lies beyond the margin, the "
    "instrument is not shown to work on the model in that mode.",
    "negative": "No association is in {}: what is told must be larger than what these may have.",
    "words": "Arbitrary words are in {}: what they vary by is in the intervals of stereotypes that "
    "name a group with one word.",
    "things": "Things that a word for a group is also said of are in {}: they decide nothing.",
}
#: What the lines of a figure of means are.
_LINES = "Dot: mean; thick line: {} in these prompts; thin line: in other prompts"
#: Summary of notes that unfold.
READING_TITLE = "How to read this"


def instrument_sections(results: InstrumentResults) -> tuple[Section, ...]:
    """Make the sections in the order of the page; one without data is left out."""
    instrument = instrument_of(results.instrument)
    by_place: dict[str, list[Section]] = {"before": [], "after": [], "last": []}
    for section in draw_sections(instrument.sections if instrument else (), results):
        by_place[section.place].append(section)
    ordered = (
        _verdict_section(results),
        people_section(results),
        content_section(results),
        *by_place["before"],
        analysis_section(results),
        _stereotype_section(results),
        *by_place["after"],
        *(change_section(factor, results) for factor in CONDITIONS),
        conditions.compliance_section(results),
        conditions.order_section(results),
        conditions.wording_section(results),
        reliability_section(results),
        word_section(results),
        *by_place["last"],
        published_section(results, instrument.published) if instrument else None,
        _estimate_section(results),
    )
    return tuple(section for section in ordered if section)


def draw_sections(
    drawings: Sequence[str | DrawSection], results: InstrumentResults
) -> Iterator[Section]:
    """Yield the sections that an instrument draws itself; one that fails costs itself alone."""
    for place, drawing in enumerate(drawings, 1):
        try:
            draw = resolve_name(drawing) if isinstance(drawing, str) else drawing
            section = draw(results)
            if not isinstance(section, Section | None):
                raise TypeError(f"gives no Section but {type(section).__name__}")
        except Exception as error:  # a package of others raises what it likes
            section = Section(
                f"not-drawn-{place}",
                "A section that could not be drawn",
                (f"{name_failure(drawing, error)}. The numbers are in the tables.",),
                open=True,
            )
        if section:
            yield section


def _worst_case(row: Mapping[str, Any]) -> str:
    low, high = row["bound_low"], row["bound_high"]
    # Where no answer is missing, both bounds are the mean.
    return "–" if low is not None and low == high else interval(low, high)


_WORST = TableColumn("Worst case", _worst_case)
_SPLITS = TableColumn("Random splits", splits_text)
_COMPLIANCE = TableColumn("Compliance", lambda r: percent(r["compliance"]))


def _verdict_section(results: InstrumentResults) -> Section:
    """Show the verdict per category and over all, and the controls."""
    plan = results.plan
    pooled = pl.concat([results.levels["category"], results.by_model])
    several_models = results.by_model["model"].drop_nulls().n_unique() > 1
    # The mean over all models is the same as that of the only one.
    in_table = pl.concat([pooled, results.levels["overall"]]) if several_models else pooled
    tables = [("", _category_table(in_table, plan))]
    if not results.controls.is_empty():
        # Of the study itself single stereotypes are controls, else a study is one as a whole.
        is_of_study = pl.col("study") == results.study
        name = pl.when(is_of_study).then(pl.format("“{}”", "about")).otherwise("study")
        kinds = results.controls.select(name.alias("name"), "control").unique(maintain_order=True)
        by_kind = kinds.group_by("control", maintain_order=True).agg("name").rows()
        purposes = (_CONTROLS[kind].format(first_few(names)) for kind, names in by_kind)
        caption = " ".join(["Controls: stimuli whose result is known beforehand.", *purposes])
        tables.append(("Controls", _estimate_table(results.controls, plan, caption)))
    marks, grey = _with_splits(pooled, plan)
    caption = (
        f"Mean score per category and over all. {_LINES.format(plan.interval)}{grey}. "
        f"{results.scale}"
    )
    draw = partial(forest, axis=Axis.for_measure(results.measure, plan.margin))
    return Section(
        key="verdicts",
        open=True,
        title="Verdicts per category",
        short="Verdicts",
        # One run is drawn in the summary.
        figures=per_mode("categories", caption, marks, draw) if results.several_runs else (),
        tables=tuple(tables),
        notes=(READING_TITLE, Paragraphs("verdicts")),
    )


def _category_table(frame: pl.DataFrame, plan: PlanFacts) -> ReportTable:
    columns = [
        TableColumn("Category", lambda r: category_title(r["category"] or "All"), "head"),
        *FROM,
        LEAN,
        *mean_columns(plan.interval),
        TableColumn(
            capital(RANGES["stereotypes"]),
            lambda r: interval(r["ci_low_generalised"], r["ci_high_generalised"]),
        ),
        *([_SPLITS] if frame["p_placebo"].count() else []),
        _WORST,
        _COMPLIANCE,
        TableColumn("n", lambda r: str(r["n"])),
    ]
    return render_table(frame, "Verdict per category and over all stereotypes.", columns)


def _estimate_section(results: InstrumentResults) -> Section:
    """Set out the estimates per stereotype in full, and the papers' t test for contrast."""
    estimates, plan = results.by_stereotype, results.plan
    caption = "Estimates per stereotype; df and p are of other prompts."
    return Section(
        key="tables",
        title="All estimates",
        text=Paragraphs("estimates", {"is_exact": "unanimous" in estimates["test"]}),
        tables=(
            ("", _estimate_table(estimates, plan, caption)),
            ("For contrast: the papers’ naive t test", _naive_table(estimates)),
        ),
    )


def _estimate_table(frame: pl.DataFrame, plan: PlanFacts, caption: str) -> ReportTable:
    """Set out the estimates per stereotype in full."""
    columns = [
        TableColumn("Stereotype", lambda r: r["about"], "head"),
        *FROM,
        LEAN,
        *mean_columns(plan.interval),
        TableColumn("df", lambda r: number(r["df"], 1)),
        *alike(p_value, {"p": "p", "p (BH)": "p_bh"}),
        TableColumn("d", lambda r: number(r["effect_size"])),
        *([_SPLITS] if frame["p_placebo"].count() else []),
        _WORST,
        TableColumn("Scored / n", lambda r: f"{r['n_scored']} / {r['n']}"),
        _COMPLIANCE,
    ]
    return render_table(frame, caption, columns)


def _naive_table(frame: pl.DataFrame) -> ReportTable:
    """Set the papers' t test beside that of other prompts."""
    columns = [
        TableColumn("Stereotype", lambda r: r["about"], "head"),
        *FROM,
        TableColumn("Mean", lambda r: number(r["estimate"])),
        TableColumn("SE", lambda r: number(r["se"], 3)),
        TableColumn("df", lambda r: number(r["df"], 1)),
        TableColumn("p", lambda r: p_value(r["p"])),
        TableColumn("SE (naive)", lambda r: number(r["se_published"], 3)),
        TableColumn("t (naive)", lambda r: number(r["statistic_published"])),
        TableColumn("df (naive)", lambda r: number(r["df_published"], 0)),
        TableColumn("p (naive)", lambda r: p_value(r["p_published"])),
    ]
    caption = "The papers’ t test, which treats all answers as independent (naive)."
    return render_table(frame, caption, columns)


def _stereotype_section(results: InstrumentResults) -> Section:
    """Draw the mean of each stereotype: figure 2 of Bai et al. (2025) for these models."""
    plan = results.plan
    axis = Axis.for_measure(results.measure, plan.margin)
    marks, grey = _with_splits(results.by_stereotype, plan)
    shaded = f"; shaded: within ±{axis.margin:g} of neutral" if axis.margin else ""
    reading = {
        "direction": results.measure.direction,
        "has_splits": bool(grey),
        "fewest_splits": FEWEST_SPLITS,
    }
    caption = (
        f"Mean score per stereotype. {_LINES.format(plan.interval)}; grey line: {WORST}{grey}; "
        f"dotted line: neutral{shaded}. {results.scale}"
    )
    return Section(
        key="stereotypes",
        open=True,
        title="Each stereotype",
        short="Stereotypes",
        figures=per_mode("stereotypes", caption, marks, partial(forest, axis=axis)),
        notes=(READING_TITLE, Paragraphs("stereotypes", reading)),
    )


def _with_splits(frame: pl.DataFrame, plan: PlanFacts) -> tuple[pl.DataFrame, str]:
    """Add what is drawn of random splits, and how a caption names it; "" where there are none."""
    # Few splits have no p (see FEWEST_SPLITS); their interval is not drawn either.
    has_splits = pl.col("p_placebo").is_not_null()
    ends = ("placebo_low", "placebo_high")
    marks = frame.with_columns(pl.when(has_splits).then(f"{c}_placebo").alias(c) for c in ends)
    grey = f"; grey bar: {plan.interval} of random splits of the group words"
    return marks, grey if frame["p_placebo"].count() else ""
