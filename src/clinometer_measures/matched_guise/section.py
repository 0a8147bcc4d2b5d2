"""Which words go with a dialect, along ratings by people, and beside texts of no dialect.

Reference: Hofmann, Kalluri, Jurafsky & King 2024, Nature 633, 147–154.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from clinometer.pieces import (
    FEW_SENTENCES,
    FROM,
    InstrumentResults,
    Section,
    TableColumn,
    TableSpec,
    bracketed,
    count,
    head,
    interval,
    signed,
)
from clinometer.statistics.clustered import ClusteredMean
from clinometer_measures.matched_guise.associations import DETAILS, MEASURES

__all__ = ["words_section"]

#: Categories whose scores are differences of shares that are usually given in points.
_IN_POINTS = ("criminality",)

_METHOD = (
    "A word's lean is its mean score against the words it was asked with; above 0 it goes with the "
    "dialect. Slope: scores per point of the rating by people; positive where words that people "
    "rate lower go with the dialect. Strength (mode likelihood): how much more a dialect raises "
    "the tied words than the others, in powers of ten; of the stereotype of 1933, Hofmann et al. "
    "(2024) print 0.111 as the mean of ten models and nine prompts with habitual be. Intervals are "
    "over texts, wordings and words. Wordings that state who speaks are left out here.",
    "A text in a dialect is also one that the model has seen less often, and that a teacher would "
    "correct. Pairs that differ in typing errors, register or wording alone say how much of a lean "
    "that may be. Where they lean as the dialect does, this run does not tell the two apart.",
)


def words_section(results: InstrumentResults) -> Section | None:
    """Set out the words of a dialect; None without data."""
    words = results.tables.details["guise_words"].filter(pl.col("control").is_null())
    if words.is_empty():
        return None
    rows = results.tables.rows.filter(
        pl.col("measure").is_in([*MEASURES]), pl.col("control").is_null(), study=results.study
    )
    by_lean = words.with_columns(mode="control_mode").sort("word_lean", descending=True)
    placebo_rows = [*_compare_with_placebos(results)]
    sentences = [*_point_sentences(results), *(row["sentence"] for row in placebo_rows)]
    return Section(
        key="guises",
        title="What goes with the dialect",
        text=(*(sentences if len(placebo_rows) <= FEW_SENTENCES else ()), *_METHOD),
        tables=(
            ("", _RATINGS.render(rows)),
            ("Beside texts that differ in no dialect", _PLACEBOS.render(_placebo_rows(results))),
            ("Table of words", _WORDS.render(by_lean)),
        ),
        place="before",
    )


def _point_sentences(results: InstrumentResults) -> Iterator[str]:
    """Yield differences of shares in points."""
    rows = results.by_stereotype.filter(pl.col("category").is_in(_IN_POINTS))
    for row in rows.drop_nulls("estimate").iter_rows(named=True):
        points = [None if row[c] is None else 100 * row[c] for c in ("estimate", *_ENDS)]
        yield (
            f"{row['about']}, {row['model']}, mode {row['control_mode']}: "
            f"{signed(points[0], 0)} points after the dialect "
            f"({interval(points[1], points[2], 0)})."
        )


_ENDS = ("ci_low", "ci_high")
_ERROR = (*_ENDS, "se", "df", "confidence")
_RUN = ("model", "control_mode")


def _compare_with_placebos(results: InstrumentResults) -> Iterator[dict[str, Any]]:
    """Yield, for each model and mode, whether the dialect leans beyond every placebo.

    The means of traits are compared, as placebos are asked about these.
    """
    placebos = results.controls.filter(control="negative").drop_nulls(_ERROR)
    # A mean without an error is not tested.
    traits = results.by_stereotype.filter(pl.col("se") > 0, category="character").drop_nulls(_ERROR)
    for keys, run_traits in traits.group_by(*_RUN, maintain_order=True):
        run = dict(zip(_RUN, map(str, keys), strict=True))
        placebo_rows = [*placebos.filter(**run).sort("estimate").iter_rows(named=True)]
        if not placebo_rows:
            continue
        leaning = [
            _beyond(row, placebo_rows, run_traits.height)
            for row in run_traits.iter_rows(named=True)
        ]
        beyond = [text for text in leaning if text]
        result = (
            f"of the dialect, {' and '.join(beyond)} beyond every placebo."
            if beyond
            else "no lean of the dialect about traits lies beyond it. Dialect is not told from "
            "mere departure from the standard."
        )
        greatest = placebo_rows[-1]
        text = bracketed(greatest["estimate"], greatest["ci_low"], greatest["ci_high"])
        yield {
            "sentence": f"{run['model']}, mode {run['control_mode']}: the placebo that leans most "
            f"is “{greatest['about']}”, {text}; {result}"
        }


def _beyond(
    row: Mapping[str, Any], placebos: Sequence[Mapping[str, Any]], number: int
) -> str | None:
    """Say that a mean lies above every placebo, and by how much above the greatest; else None.

    Each difference is tested (Welch), at the level of a row divided by the `number` of means that
    are seen at once. All have to be significant, so that their number asks for no correction.
    """
    confidence = 1.0 - (1.0 - row["confidence"]) / number
    interval_text = ""
    for placebo in placebos:
        difference = row["estimate"] - placebo["estimate"]
        mean = ClusteredMean(0, 0, difference, row["se"], row["df"])
        low, high = mean.plus(placebo["se"] ** 2, placebo["df"]).interval(confidence)
        if low is None or low <= 0.0:
            return None
        interval_text = bracketed(difference, low, high)  # at last of the one that leans most
    return f"“{row['about']}” leans by {interval_text}"


#: Strengths and slopes.
_RATINGS = TableSpec(
    "Strengths, in powers of ten, and slopes, in scores per point of a rating, each with its 95% "
    "interval; neutral 0, positive: against speakers of the dialect.",
    (
        TableColumn("Number", "measure", lambda measure: MEASURES[measure].title, "head"),
        head("about", "Of"),
        *FROM,
        TableColumn("Value", "estimate ci_low ci_high", bracketed, missing=""),
        "p",
        TableColumn("Answers", "n_scored", count),
    ),
)


#: The leans of the dialect beside those of texts that differ in no dialect.
_PLACEBOS = TableSpec(
    "Mean scores with their intervals; −1 to 1, neutral 0.",
    (
        TableColumn(
            "Texts", "control", lambda control: "no dialect" if control else "dialect", "head"
        ),
        head("about", "About"),
        *FROM,
        TableColumn("Mean score", "estimate ci_low ci_high", bracketed, missing=""),
    ),
)


def _placebo_rows(results: InstrumentResults) -> list[dict[str, Any]]:
    placebos = results.controls.filter(control="negative")
    return [*results.by_stereotype.rows(named=True), *placebos.rows(named=True)]


#: Every word, those that go most with the dialect first.
_WORDS = TableSpec(
    "Mean score of each word against its partners, with 95% intervals over texts and wordings "
    "where there are three or more of both; positive: it goes with the dialect.",
    (
        head("guise_word", "Word"),
        TableColumn("Of", "about"),
        *FROM,
        TableColumn("Lean", "word_lean word_low word_high", bracketed),
        "rated_on",
        "word_rating",
        TableColumn("Answers", "n_scored", count),
    ),
    DETAILS["guise_words"].own,
)
