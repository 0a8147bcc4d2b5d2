"""What a report shows of one study and instrument: its verdicts in brief, and its sections."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import polars as pl

from clinometer.instruments.catalogue import instrument_of
from clinometer.report.answers import conditions
from clinometer.report.answers.analysis import analysis_section
from clinometer.report.answers.changes import change_section
from clinometer.report.answers.content import content_section
from clinometer.report.answers.published import published_section
from clinometer.report.answers.reliability import reliability_section
from clinometer.report.answers.results import InstrumentResults, who
from clinometer.report.answers.words import word_section
from clinometer.report.drawing.charts import Axis
from clinometer.report.drawing.figures import per_mode
from clinometer.report.drawing.intervals import forest
from clinometer.report.plan import PlanFacts
from clinometer.report.prose import (
    OF_SCORES,
    WORST,
    answer,
    category_title,
    interval,
    number,
    p_value,
    percent,
    scale,
    splits_text,
    verdict_kind,
)
from clinometer.report.sections import Finding, Section
from clinometer.report.tables import (
    FROM,
    VERDICT,
    Render,
    ReportTable,
    TableColumn,
    alike,
    render_table,
)
from clinometer.results import CONDITIONS
from clinometer.results.verdicts import FAILED
from clinometer.statistics.splits import FEWEST_SPLITS

__all__ = ["MOST_ANSWERS", "answer_findings", "control_warnings", "sections", "verdict_table"]

#: Above this many models and modes the summary is a table.
MOST_ANSWERS = 4

#: What a control is for, and what follows where it fails, by its kind.
_CONTROLS = {
    "positive": "{study} holds a known association: unless its interval lies beyond the margin, "
    "the instrument is not shown to work on the model in that mode.",
    "negative": "{study} holds no association: a mean beyond the margin is an error of the "
    "instrument.",
}
_FAILS = {
    "positive": "the known association was not detected. Results of this mode are not "
    "interpretable and do not show that there is no bias.",
    "negative": "an association was detected where there is none. Results of this size are not "
    "interpretable.",
}

#: Summary of notes that unfold.
HOW_TO_READ = "How to read this"

_READING = (
    "Intervals hold for all stereotypes of a run at once, and p (Bonferroni) is p times their "
    "number: below .05 where the interval excludes neutral. The narrower interval of each alone is "
    "in the estimates as pointwise_low and pointwise_high.{exact} d is Cohen’s d against neutral. "
    "Random splits: the interval of the means of random splits of the group words, and the p of "
    "the mean among them; “–” where there are few splits. Worst case: the mean with all missing "
    "answers at one end of the scale; “–” where none is missing."
)
_EXACT = " Where all answers have the same score, p is an exact bound and there is no t."
_TARGETS = (
    "Verdicts and intervals are about these stereotypes, with other wordings, group words, draws "
    "and answers. The column “Stereotypes like these” takes the stereotypes as a sample: it says "
    "what is known of the category beyond this list."
)
_RANDOM = (
    "Random splits assign the same group words to two groups at random (placebo; shown with "
    f"{FEWEST_SPLITS} splits or more). A mean inside their interval is no larger than arbitrary "
    "groups of these words have."
)


def verdict_table(instruments: Sequence[InstrumentResults]) -> ReportTable | None:
    """Count the verdicts per measure, model and mode; None where sentences say it."""
    rows = [row for results in instruments for row in _summaries(results)]
    if not rows or not (instruments[1:] or len(rows) > MOST_ANSWERS):
        return None
    caption = "Number of stereotypes with each verdict, and the mean over all of them."
    if not instruments[1:]:
        caption += f" {scale(instruments[0].measure)}"
    no_mean = dict.fromkeys(("estimate", "ci_low", "ci_high", "compliance"))
    # The summary comes last: its mode and model stand, not those of the mean.
    wide = [{**(row["mean"] or no_mean), **row} for row in rows]

    def count_of(kind: str) -> Render:
        """Count the verdicts of a kind."""
        return lambda r: str([verdict_kind(code) for code in r["verdicts"]].count(kind))

    counts = [
        TableColumn(f"{sign} {label}", count_of(kind)) for kind, (sign, label) in OF_SCORES.items()
    ]
    columns = [
        TableColumn("Measure", lambda r: r["measure"], "head", fold=True),
        TableColumn("Model", lambda r: r["model"] or "", "head", fold=len(rows) > 1),
        TableColumn("Mode", lambda r: r["mode"] or "", "head", fold=True),
        *counts,
        TableColumn("Neutral", lambda r: f"{r['neutral']:g}"),
        *_mean_columns(instruments[0].plan),
        TableColumn("Scored", lambda r: percent(r["compliance"])),
    ]
    return render_table(wide, caption, columns)


def _mean_columns(plan: PlanFacts) -> tuple[TableColumn, TableColumn]:
    return (
        TableColumn("Mean", lambda r: number(r["estimate"])),
        TableColumn(plan.interval, lambda r: interval(r["ci_low"], r["ci_high"])),
    )


def answer_findings(results: InstrumentResults) -> tuple[Finding, ...]:
    """Say what each model did in each mode; nothing where there are many."""
    rows = _summaries(results)
    if len(rows) > MOST_ANSWERS:
        return ()
    texts = [answer(results.plan, results.measure, row["mean"], row["stereotypes"]) for row in rows]
    return tuple(
        Finding(row["subject"], text, row["warning"]) for row, text in zip(rows, texts, strict=True)
    )


def control_warnings(results: InstrumentResults) -> list[Finding]:
    """Warn of each model and mode that fails a control."""
    rows = _summaries(results)
    return [Finding(row["subject"], "", row["warning"]) for row in rows if row["warning"]]


def _summaries(results: InstrumentResults) -> list[dict[str, Any]]:
    """Return the verdicts, the mean over all and the failed controls of each model and mode."""
    means = {(row["model"], row["mode"]): row for row in results.over_all.iter_rows(named=True)}
    failures = _control_failures(results)
    summaries = []
    for (model, mode), part in results.by_stereotype.group_by("model", "mode", maintain_order=True):
        summary = {
            "measure": results.name,
            "neutral": results.measure.neutral,
            "model": model,
            "mode": mode,
            "subject": who(part),
            "warning": failures.get((model, part["control_mode"][0]), ""),
            "mean": means.get((model, mode)),  # none where no mean over all was estimated
            "stereotypes": part.rows(named=True),
            "verdicts": part["verdict"].to_list(),
        }
        summaries.append(summary)
    return summaries


def _control_failures(results: InstrumentResults) -> dict[tuple[Any, str], str]:
    """Say of each model and mode which controls failed."""
    failures: dict[tuple[Any, str], list[str]] = {}
    for row in results.controls.filter(verdict=FAILED).iter_rows(named=True):
        text = _failure_text(row, results.plan)
        failures.setdefault((row["model"], row["control_mode"]), []).append(text)
    return {run: " ".join(texts) for run, texts in failures.items()}


def _failure_text(row: Mapping[str, Any], plan: PlanFacts) -> str:
    value = f"{number(row['estimate'])} ({plan.interval} {interval(row['ci_low'], row['ci_high'])})"
    return (
        f"The {row['control']} control failed ({row['about']}: {value}): {_FAILS[row['control']]}"
    )


def sections(results: InstrumentResults) -> tuple[Section, ...]:
    """Make the sections in the order of the page; one without data is left out."""
    instrument = instrument_of(results.instrument)
    of_instrument = instrument.sections(results) if instrument else ()
    by_place: dict[str, list[Section]] = {"before": [], "after": [], "last": []}
    for section in filter(None, of_instrument):
        by_place[section.place].append(section)
    ordered = (
        _verdict_section(results),
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
        published_section(results, instrument) if instrument else None,
        _estimate_section(results),
    )
    return tuple(section for section in ordered if section)


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
    pooled = pl.concat([results.levels["category"], results.over_all])
    several_models = results.over_all["model"].drop_nulls().n_unique() > 1
    # The mean over all models is the same as that of the only one.
    in_table = pl.concat([pooled, results.levels["overall"]]) if several_models else pooled
    tables = [("", _category_table(in_table, plan))]
    if not results.controls.is_empty():
        # Of the study itself single stereotypes are controls, else a study is one as a whole.
        is_own = pl.col("study") == results.study
        name = pl.when(is_own).then(pl.format("“{}”", "about")).otherwise("study")
        kinds = results.controls.select(name.alias("name"), "control").unique(maintain_order=True)
        purposes = (_CONTROLS[kind].format(study=study) for study, kind in kinds.rows())
        caption = " ".join(["Controls: stimuli whose result is known beforehand.", *purposes])
        tables.append(("Controls", _estimate_table(results.controls, plan, caption)))
    marks, grey = _with_splits(pooled, plan)
    caption = (
        f"Mean score per category and over all, with {plan.interval}, of all categories at once"
        f"{grey}. {scale(results.measure)}"
    )
    draw = partial(forest, axis=Axis.of(results.measure, plan.margin))
    runs = results.by_stereotype.select(
        "model", "mode"
    ).n_unique()  # one run is drawn in the summary
    return Section(
        key="verdicts",
        open=True,
        title="Verdicts per category",
        short="Verdicts",
        figures=per_mode("categories", caption, marks, draw) if runs > 1 else (),
        tables=tuple(tables),
        notes=(HOW_TO_READ, (_TARGETS,)),
    )


def _category_table(frame: pl.DataFrame, plan: PlanFacts) -> ReportTable:
    columns = [
        TableColumn("Category", lambda r: category_title(r["category"] or "All"), "head"),
        *FROM,
        VERDICT,
        *_mean_columns(plan),
        TableColumn(
            "Stereotypes like these",
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
    caption = "Estimates per stereotype, with other wordings, group words, draws and answers."
    return Section(
        key="tables",
        title="All estimates",
        text=(_READING.format(exact=_EXACT if "unanimous" in estimates["test"] else ""),),
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
        VERDICT,
        *_mean_columns(plan),
        TableColumn("df", lambda r: number(r["df"], 1)),
        *alike(p_value, {"p": "p", "p (Bonferroni)": "p_bonferroni"}),
        TableColumn("d", lambda r: number(r["effect_size"])),
        *([_SPLITS] if frame["p_placebo"].count() else []),
        _WORST,
        TableColumn("Scored / n", lambda r: f"{r['n_scored']} / {r['n']}"),
        _COMPLIANCE,
    ]
    return render_table(frame, caption, columns)


def _naive_table(frame: pl.DataFrame) -> ReportTable:
    """Set the papers' t test beside the clustered one."""
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
    axis = Axis.of(results.measure, plan.margin)
    marks, grey = _with_splits(results.by_stereotype, plan)
    shaded = f"; shaded: within ±{axis.margin:g} of neutral" if axis.margin else ""
    caption = (
        f"Mean score per stereotype. Dot: mean; thick line: {plan.interval}, of all stereotypes at "
        f"once; thin line: {WORST}{grey}; dotted line: neutral{shaded}. {scale(results.measure)}"
    )
    return Section(
        key="stereotypes",
        open=True,
        title="Each stereotype",
        short="Stereotypes",
        figures=per_mode("stereotypes", caption, marks, partial(forest, axis=axis)),
        notes=(
            HOW_TO_READ,
            (
                "Right of the dotted line, scores are above neutral "
                f"({results.measure.direction}). A mean whose interval crosses the line is not "
                "distinguishable from neutral; one whose interval lies within the shaded band is "
                "near neutral. The intervals hold for all stereotypes of a run at once. They "
                "generalise over wordings, group words of the same kind, draws and answers, not "
                "over languages or attribute words. Where a group has a single word, they are for "
                "this word, as the verdict says.",
                *([_RANDOM] if grey else []),
            ),
        ),
    )


def _with_splits(frame: pl.DataFrame, plan: PlanFacts) -> tuple[pl.DataFrame, str]:
    """Add what is drawn of random splits, and how a caption names it; "" where there are none."""
    # Few splits have no p (see FEWEST_SPLITS); their interval is not drawn either.
    has_splits = pl.col("p_placebo").is_not_null()
    ends = ("placebo_low", "placebo_high")
    marks = frame.with_columns(pl.when(has_splits).then(f"{c}_placebo").alias(c) for c in ends)
    grey = f"; grey bar: {plan.interval} of random splits of the group words"
    return marks, grey if frame["p_placebo"].count() else ""
