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
from clinometer.numbers import interval, out_of
from clinometer.pieces.drawing.charts import Axis
from clinometer.pieces.drawing.figures import per_mode
from clinometer.pieces.drawing.intervals import forest
from clinometer.pieces.paragraphs import Paragraphs
from clinometer.pieces.plan import PlanFacts
from clinometer.pieces.prose import WORST, capital, category_title, first_few, splits_text
from clinometer.pieces.published import published_section
from clinometer.pieces.sections import Section
from clinometer.pieces.tables import FROM, LEAN, MEAN, ROW, STEREOTYPE, TableColumn, TableSpec
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
    by_place: dict[str, list[Section]] = {"first": [], "before": [], "after": [], "last": []}
    for section in draw_sections(instrument.sections if instrument else (), results):
        by_place[section.place].append(section)
    ordered = (
        *by_place["first"],
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


_WORST = TableColumn("Worst case", ROW, _worst_case)
_SPLITS = TableColumn("Random splits", ROW, splits_text, needs="p_placebo")


_CATEGORIES = TableSpec(
    "Verdict per category and over all stereotypes.",
    (
        TableColumn(
            "Category", "category", lambda category: category_title(category or "All"), "head"
        ),
        *FROM,
        LEAN,
        *MEAN,
        TableColumn(
            capital(RANGES["stereotypes"]), "ci_low_generalised ci_high_generalised", interval
        ),
        _SPLITS,
        _WORST,
        "compliance",
        "n",
    ),
)
#: Estimates per stereotype in full.
_ESTIMATES = TableSpec(
    "{about}",
    (
        STEREOTYPE,
        *FROM,
        LEAN,
        *MEAN,
        "df",
        "p",
        "p_bh",
        "effect_size",
        _SPLITS,
        _WORST,
        TableColumn("Scored / n", "n_scored n", out_of),
        "compliance",
    ),
)
#: The papers' t test beside that of other prompts.
_NAIVE = TableSpec(
    "The papers’ t test, which treats all answers as independent (naive).",
    (
        STEREOTYPE,
        *FROM,
        "estimate",
        "se",
        "df",
        "p",
        "se_published",
        "statistic_published",
        "df_published",
        "p_published",
    ),
)


def _verdict_section(results: InstrumentResults) -> Section:
    """Show the verdict per category and over all, and the controls."""
    plan = results.plan
    pooled = pl.concat([results.levels["category"], results.by_model])
    several_models = results.by_model["model"].drop_nulls().n_unique() > 1
    # The mean over all models is the same as that of the only one.
    in_table = pl.concat([pooled, results.levels["overall"]]) if several_models else pooled
    tables = [("", _CATEGORIES.render(in_table, interval=plan.interval))]
    if not results.controls.is_empty():
        # Of the study itself single stereotypes are controls, else a study is one as a whole.
        is_of_study = pl.col("study") == results.study
        name = pl.when(is_of_study).then(pl.format("“{}”", "about")).otherwise("study")
        kinds = results.controls.select(name.alias("name"), "control").unique(maintain_order=True)
        by_kind = kinds.group_by("control", maintain_order=True).agg("name").rows()
        purposes = (_CONTROLS[kind].format(first_few(names)) for kind, names in by_kind)
        caption = " ".join(["Controls: stimuli whose result is known beforehand.", *purposes])
        table = _ESTIMATES.render(results.controls, interval=plan.interval, about=caption)
        tables.append(("Controls", table))
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


def _estimate_section(results: InstrumentResults) -> Section:
    """Set out the estimates per stereotype in full, and the papers' t test for contrast."""
    estimates, plan = results.by_stereotype, results.plan
    caption = "Estimates per stereotype; df and p are of other prompts."
    return Section(
        key="tables",
        title="All estimates",
        text=Paragraphs("estimates", {"is_exact": "unanimous" in estimates["test"]}),
        tables=(
            ("", _ESTIMATES.render(estimates, interval=plan.interval, about=caption)),
            ("For contrast: the papers’ naive t test", _NAIVE.render(estimates)),
        ),
    )


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
