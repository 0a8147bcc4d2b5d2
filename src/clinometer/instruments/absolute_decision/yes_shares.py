"""Absolute decisions by version: shares of yes, and how relative decisions differ from them.

Reference
    Bai, Wang, Sucholutsky & Griffiths (2025), PNAS 122(8), e2416228122, "Bias in Relative vs.
    Absolute Decisions", SI section L and Supplementary Figure 4.
"""

from __future__ import annotations

import polars as pl

from clinometer.authoring import (
    CONDITIONS,
    ESTIMATES,
    SCORES,
    VERSIONS,
    Measure,
    Schema,
    Table,
    Tables,
    check,
    columns,
    typed_columns,
    without_texts,
)
from clinometer.instruments import relative_decision

__all__ = [
    "CONSISTENT",
    "CONSISTENT_SHARE",
    "DETAILS",
    "NAME",
    "RELATIVE",
    "analyse",
    "compare_relative",
    "count_yes",
]

NAME = "absolute_decision"

#: Versions in which yes is stereotype-consistent.
CONSISTENT = ("marginalized_tied", "default_counter")

#: The measures of relative decisions, which are compared with absolute ones. The chained task
#: stands in the package beside, which is not imported here.
RELATIVE = (relative_decision.MEASURE.name, "chained_decision")

#: What relative and absolute decisions have in common: one scale, one neutral value, one sign.
CONSISTENT_SHARE = Measure(
    "consistent_share", "Share of stereotype-consistent decisions", 0.0, 1.0, 0.5,
    "above ½: against the marginalized group", "Bai et al. (2025), SI section L",
)  # fmt: skip

#: Constant that the released analysis adds to the counts of yes and of no.
EPSILON = 0.0001

_COLUMNS = typed_columns(
    pl.Float64(),
    n_yes="answers of yes; in forced mode the expected number",
    n_no="answers of no",
    yes_share="share of yes among the answers of yes and no, 0 to 1",
    published_share="share of yes as the authors' notebook smooths it, 0 to 1",
)

_KEYS = ("model", "study", "mode", *CONDITIONS, "category", "stereotype")

_YES_SHARES: Schema = columns(
    *(*_KEYS, "instrument", "version", "n", "n_yes", "n_no", "yes_share"),
    "published_share",
    own=_COLUMNS,
)

DETAILS = {
    "yes_shares": Table("answers", _YES_SHARES, "a row per stereotype and version", _COLUMNS)
}


def analyse(scores: pl.LazyFrame) -> Tables:
    """Count yes and no in one model's absolute decisions, and compare its relative ones.

    `scores`: columns of `results.SCORES`, of absolute decisions and of `RELATIVE`.
    Tables: `yes_shares`.
    """
    return Tables(compare_relative(scores), {"yes_shares": count_yes(scores)})


def count_yes(scores: pl.LazyFrame) -> pl.DataFrame:
    """Count yes and no in each version of the absolute decisions.

    Bai et al. (2025), SI section L and Supplementary Figure 4. In `forced` mode `n_yes` and `n_no`
    are expected numbers; `published_share` is smoothed as in the authors' notebook,
    (yes + ε) / (yes + no + 2ε).
    """
    is_consistent = pl.col("version").is_in(CONSISTENT)
    counted = (
        scores.filter(pl.col("instrument") == NAME)
        .with_columns(yes=pl.when(is_consistent).then("score").otherwise(1 - pl.col("score")))
        .group_by(*_KEYS, "instrument", "version")
        .agg(n=pl.len(), n_yes=pl.col("yes").sum(), n_no=(1 - pl.col("yes")).sum())
    )
    yes, total = pl.col("n_yes"), pl.col("n_yes") + pl.col("n_no")
    shares = counted.with_columns(
        yes_share=pl.when(total > 0).then(yes / total),
        published_share=(yes + EPSILON) / (total + 2 * EPSILON),
    )
    order = pl.col("version").cast(pl.Enum(list(VERSIONS)), strict=False)  # unknown ones are null
    return check(shares.collect(), _YES_SHARES, "yes_shares").sort(*_KEYS, order)


def compare_relative(scores: pl.LazyFrame) -> pl.DataFrame:
    """Compare the relative decisions of one model with its absolute ones.

    Bai et al. (2025), article, "Bias in Relative vs. Absolute Decisions": relative decisions reveal
    more bias. Both scores are shares of stereotype-consistent answers, 0…1, neutral ½; over the
    four versions of an absolute draw the share is ½ + (y₁ − y₂ − y₃ + y₄) / 4, with y the shares of
    yes in marginalized_tied, marginalized_counter, default_tied and default_counter. Differences
    are relative − absolute, −1…1, neutral 0; positive: more bias in relative decisions. Draws are
    not the same, so nothing is paired. Group words count as different words in each instrument: a
    word that moves one need not move the other. Returns columns `results.ESTIMATES`.
    """
    from clinometer.statistics.unpaired import contrast_unpaired  # imports scipy.stats

    # So that the clusters of words are those of one instrument each.
    words_of_instrument = [
        pl.concat_str(group, "instrument", separator=", ").alias(group)
        for group in ("marginalized", "default")
    ]
    answers = scores.filter(pl.col("instrument").is_in([NAME, *RELATIVE])).select(list(SCORES))
    decisions = without_texts(answers).with_columns(words_of_instrument).collect()
    if NAME not in decisions["instrument"] or decisions["instrument"].n_unique() < 2:
        return pl.DataFrame(schema=ESTIMATES)
    return contrast_unpaired(
        decisions, CONSISTENT_SHARE, factor="instrument", baseline=NAME
    ).estimates
