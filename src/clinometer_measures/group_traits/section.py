"""A model's leans beside people's: correlation, slope, shift, and a drawing of every group.

Reference: Cao, Sotnikova, Daumé, Rudinger & Zou 2022, NAACL, 1276–1295, arXiv:2206.11684.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from clinometer.authoring import CONDITIONS
from clinometer.pieces import (
    FEW_SENTENCES,
    FROM,
    Figure,
    InstrumentResults,
    PlanFacts,
    Row,
    Section,
    TableColumn,
    TableSpec,
    around,
    bracketed,
    capital,
    dots,
    endings,
    few_sentences,
    head,
    interval,
    mark_row,
    number,
    plain_text,
    range_text,
    who,
)
from clinometer_measures.group_traits.people import DETAILS, MEASURES

__all__ = ["people_section"]

_METHOD = (
    "The same groups and traits were put to people. A correlation is that of the model's leans "
    "with people's mean ratings over groups, within a pair of traits, and the mean over pairs. "
    "Traits are not compared with each other: how often a model says “warm” of anybody is of no "
    "group. Ceiling: what the correlation would be for a model that knows the true means of such "
    "ratings, from the spread of single ratings. Corrected: the correlation as a share of the "
    "ceiling.",
    "Slope: how far the model's leans move with people's choices, errors of these allowed for. "
    "Each rating counts as the choice of one trait, as the model has to choose. 1: groups differ "
    "in the model as much as among people; above 1 it exaggerates. A slope near 0 with a "
    "correlation near 0 says that the model does not follow people at all, and not that it is "
    "moderate. Asked how most people see a group, a model that names the majority's view each "
    "time has a slope above 1, rightly. Shift: how much more often the model gives a group the "
    "high trait than people do, both less the same for people in general.",
    "Intervals are over groups, raters and wordings; the traits are held fixed. Shuffled groups: "
    "where 95% of the correlations lie when the model's leans are dealt to the groups at random; "
    "within this range a correlation may be chance. Between wordings: the mean correlation of "
    "two wordings of this mode. Where it is low, each wording measures something else.",
)
_CAUTION = (
    "People were asked how others in the United States see a group. What they say is no truth "
    "about anybody, and a high correlation is no merit: the model has the stereotypes of these "
    "people. Zero is not the only thing to hold a lean against: beside it stands what people "
    "say."
)


def people_section(results: InstrumentResults) -> Section | None:
    """Set the model's leans beside people's; None where the study has no norms."""
    plan = results.plan
    names = [measure.name for measure in MEASURES.values()]
    rows = results.tables.rows.filter(pl.col("measure").is_in(names), study=results.study)
    leans = results.tables.details["people_leans"]
    if rows.is_empty() or leans.is_empty():
        return None
    wide = _by_part(rows)
    overall_rows = [row for row in wide if row["part"] == _ALL]
    sentences = [_sentence(row, plan) for row in overall_rows]
    figures = _figures(leans)
    leans = leans.with_columns(mode="control_mode")
    is_mean = pl.col("trait_low").is_null()
    return Section(
        key="people",
        title="Beside what people say",
        text=(*few_sentences(sentences), _CAUTION, *_METHOD),
        figures=figures,
        tables=(
            ("", _STATISTIC_TABLE.render(wide, interval=plan.interval)),
            ("Table of groups and dimensions", _LEANS.render(leans.filter(is_mean))),
            ("Table of groups and pairs of traits", _LEANS.render(leans.filter(~is_mean))),
        ),
        place="before",
    )


_ALL = "All traits"

_STATISTIC_BY_MEASURE = {measure.name: name for name, measure in MEASURES.items()}


def _by_part(rows: pl.DataFrame) -> list[dict[str, Any]]:
    """Return a row per model, mode and dimension, with all statistics."""
    keys = ("model", "plain_mode", *CONDITIONS, "word_list", "scoring", "dimension")
    wide: dict[tuple[Any, ...], dict[str, Any]] = {}
    for estimate in rows.iter_rows(named=True):
        key = tuple(estimate[name] for name in keys)
        # A statistic without an estimate has no text.
        run = {"model": estimate["model"], "mode": estimate["control_mode"], "placebo": ""}
        row = wide.setdefault(key, {**run, **{f"{name}_text": "" for name in MEASURES}})
        row["part"] = capital(estimate["dimension_label"] or _ALL)
        name = _STATISTIC_BY_MEASURE[estimate["measure"]]
        row[name] = estimate["estimate"]
        row[f"{name}_interval"] = interval(estimate["ci_low"], estimate["ci_high"])
        if estimate["estimate"] is not None:
            row[f"{name}_text"] = bracketed(
                estimate["estimate"], estimate["ci_low"], estimate["ci_high"]
            )
        if name == "correlation":
            row["placebo"] = interval(estimate["placebo_low"], estimate["placebo_high"])
            row["is_beyond"] = not _within(estimate)
    # All traits first, then the dimensions in the order of the study.
    return sorted(wide.values(), key=lambda row: row["part"] != _ALL)


def _within(row: Mapping[str, Any]) -> bool:
    low, high = row["placebo_low"], row["placebo_high"]
    return low is None or high is None or bool(low <= row["estimate"] <= high)


def _sentence(row: Mapping[str, Any], plan: PlanFacts) -> str:
    """State how far one model in one mode agrees with people."""
    chance = "beyond" if row["is_beyond"] else "within"
    text = (
        f"{row['model']}, mode {row['mode']}: correlation with people's ratings "
        f"{number(row['correlation'])} ({plan.interval} {row['correlation_interval']}), of at most "
        f"{number(row.get('ceiling'))}; {chance} what shuffled groups give ({row['placebo']})."
    )
    if row.get("slope") is not None:
        text += f" Slope {number(row['slope'])} ({row['slope_interval']})."
    if row.get("wordings") is not None:
        text += f" Two wordings correlate by {number(row['wordings'])}."
    return text


#: All statistics, over all traits and by dimension: title → name.
_STATISTICS = {
    "Ceiling": "ceiling",
    "Corrected": "corrected",
    "Slope": "slope",
    "Shift": "shift",
    "Between wordings": "wordings",
}
_STATISTIC_TABLE = TableSpec(
    "Leans of the model and people's ratings, each value with its {interval}. Correlation −1 to 1; "
    "slope 1: groups differ as much as among people; shift neutral 0.",
    (
        head("part", "Traits"),
        *FROM,
        TableColumn("Correlation", "correlation_text", plain_text, "number"),
        TableColumn("Shuffled groups", "placebo", plain_text, "number"),
        *(
            TableColumn(title, f"{name}_text", plain_text, "number")
            for title, name in _STATISTICS.items()
        ),
    ),
)


def _figures(leans: pl.DataFrame) -> tuple[Figure, ...]:
    """Draw every group on every dimension, the model beside people, per model and mode."""
    dimensions = leans.filter(pl.col("trait_low").is_null()).with_columns(mode="control_mode")
    traits = leans.filter(pl.col("trait_low").is_not_null())
    parts = dimensions.partition_by("model", "mode", maintain_order=True)[:FEW_SENTENCES]
    figures = []
    for part, end in zip(parts, endings([who(part) for part in parts]), strict=True):
        rows: list[Row] = []
        for row in part.iter_rows(named=True):
            rows += _marks(row)
        axis = around("Lean", rows, 0.5)
        figures.append(
            Figure(
                f"people{end}", _caption(part, traits), range_text(rows), dots(rows, axis, "Who")
            )
        )
    return tuple(figures)


def _caption(part: pl.DataFrame, traits: pl.DataFrame) -> str:
    """Say what the dots are; `traits`: the rows of pairs."""
    by_dimension = traits.group_by("dimension", maintain_order=True).agg(
        pl.col("trait_high").unique(maintain_order=True)
    )
    high = "; ".join(f"{name}: {', '.join(traits)}" for name, traits in by_dimension.iter_rows())
    return (
        f"Leans of {who(part)}, and of people. To the right: toward the high traits ({high}). 0: "
        "as the mean of all groups. People: share who choose the high trait − share who choose the "
        "low one, each rating as a choice."
    )


def _marks(row: Mapping[str, Any]) -> list[Row]:
    """Return the two marks of a group on a dimension."""
    marks = []
    for side in ("people", "model"):
        ends = {"ci_low": row[f"{side}_low"], "ci_high": row[f"{side}_high"]}
        estimate = {**row, "estimate": row[f"{side}_lean"], **ends, "variation": side}
        marks.append(mark_row(estimate, capital(row["dimension_label"])))
    return marks


def _pair(low: str | None, high: str | None) -> str:
    """Name the low and the high trait; nothing where a row is over all pairs."""
    return "" if low is None else f"{low} – {high}"


#: The leans of the groups, on each dimension or for each pair of traits.
_LEANS = TableSpec(
    "People's mean rating from the low to the high trait, and leans toward the high trait, each "
    "less the mean over groups, with 95% intervals over raters, or over wordings.",
    (
        head("about", "Group"),
        TableColumn("Dimension", "dimension_label", capital, "head"),
        TableColumn("Traits", "trait_low trait_high", _pair, "text"),
        *FROM,
        "people_mean",
        TableColumn("People's lean", "people_lean people_low people_high", bracketed, missing=""),
        TableColumn("Model's lean", "model_lean model_low model_high", bracketed, missing=""),
        "n_raters",
        "n_wordings",
    ),
    DETAILS["people_leans"].own,
)
