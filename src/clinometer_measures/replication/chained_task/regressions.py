"""Regressions of chained decisions on the associations of the same answers.

Reference
    Bai, Wang, Sucholutsky & Griffiths (2025), PNAS 122(8), e2416228122, figure 4 and SI section K.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from clinometer.authoring import (
    CONDITIONS,
    ESTIMATES,
    FITS,
    Schema,
    Table,
    Tables,
    columns,
    typed_columns,
)

if TYPE_CHECKING:
    from clinometer.papers.logistic import Regression

__all__ = ["DETAILS", "analyse", "join_parts", "regress_decisions"]

#: The two scores of an answer: column → measure.
PARTS = {"association": "chained_association", "decision": "chained_decision"}

#: Columns that identify a run of an instrument.
_RUN = ("model", "study", "mode", *CONDITIONS)

_COLUMNS = typed_columns(
    pl.Float64(),
    association="association score of a chained answer, −1 to 1",
    decision="decision of a chained answer, 1 or 0",
)

_KEYS = (*_RUN, "category", "stereotype", "variation", "trial_id")
_CHAINED: Schema = columns(*_KEYS, *PARTS, own=_COLUMNS)

DETAILS = {
    "fits": Table("answers", FITS, "a row per regression: the fit behind a coefficient"),
    "chained": Table("answers", _CHAINED, "a row per chained answer with both scores", _COLUMNS),
}


def analyse(scores: pl.LazyFrame) -> Tables:
    """Join the parts of one model's answers and regress decisions on associations.

    `scores`: columns of `results.SCORES`. Tables: `chained` and `fits`.
    """
    answers = join_parts(scores)
    regression = regress_decisions(answers)
    return Tables(regression.estimates, {"fits": regression.fits, "chained": answers})


def join_parts(scores: pl.LazyFrame) -> pl.DataFrame:
    """Join the two scores of each chained answer in one row."""
    keys = [*_KEYS, "again"]  # recorded answers may share an id; they are matched by order
    parts: dict[str, pl.LazyFrame] = {}
    for column, measure in PARTS.items():
        measure_scores = scores.filter(pl.col("instrument") == measure)
        # Numbered before answers without a score are left out: order is that of all answers.
        numbered = measure_scores.with_columns(again=pl.int_range(pl.len()).over(_KEYS))
        score = pl.col("score").alias(column)
        parts[column] = numbered.select(*keys, score).drop_nulls(column)
    answers = parts["association"].join(
        parts["decision"], on=keys, how="inner", nulls_equal=True, maintain_order="left"
    )
    return answers.drop("again").collect()


def regress_decisions(answers: pl.DataFrame) -> Regression:
    """Regress decisions on associations (`join_parts`), overall and per category.

    Bai et al. (2025), SI section K, and figure 4.
    """
    from clinometer.papers.logistic import Regression, regress  # scipy takes long to import

    estimates, fits = [pl.DataFrame(schema=ESTIMATES)], [pl.DataFrame(schema=FITS)]
    for run, part in answers.group_by(_RUN, maintain_order=True):
        regression = regress(part, "association", clusters="stereotype", by="category")
        names = {**dict(zip(_RUN, run, strict=True)), "instrument": PARTS["decision"]}
        run_columns = [pl.lit(value, pl.String).alias(name) for name, value in names.items()]
        subject = pl.lit(run[0], pl.String).alias("subject")  # the model, first of `_RUN`
        estimates.append(regression.estimates.with_columns(*run_columns, subject))
        fits.append(regression.fits.with_columns(run_columns))
    return Regression(pl.concat(estimates), pl.concat(fits))
