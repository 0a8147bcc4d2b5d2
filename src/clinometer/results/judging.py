"""Judges estimates: gives each its verdict, by one rule, controls included."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import polars as pl

from clinometer.results.controls import (
    JUDGED_KINDS,
    control_verdict,
    passes_placebos,
    passes_positive_controls,
    with_claimed_leans,
)
from clinometer.results.verdicts import (
    BECAUSE,
    COMPLIANCE,
    CONSISTENT,
    CONSISTENT_SCORED,
    CONSISTENT_WITHIN,
    EQUIVALENT,
    HIGHER,
    INCONCLUSIVE,
    LOWER,
    MISSING,
    NOTHING,
    PLACEBO,
    POSITIVE_CONTROL,
    REVERSED,
    REVERSED_SCORED,
    REVERSED_WITHIN,
    SINGLE_CLUSTER,
    first_verdict,
    restricted,
    verdict_kind,
)

#: The methods whose rows are judged: of these prompts, and of others.
JUDGED = ("bounded", "clustered")


#: Kinds of verdicts that say something, and may hold for one order or version only.
_RESTRICTABLE = (CONSISTENT, REVERSED, EQUIVALENT, LOWER, HIGHER)


def judge(
    estimates: pl.DataFrame,
    *,
    compliance_floor: float = 0.8,
    doubts: Mapping[str, str] | None = None,
) -> pl.DataFrame:
    """Add `verdict`, one of `VERDICTS`, and `because` to estimates.

    Rows of the methods `JUDGED` get a verdict: scores, which have a margin of equivalence, and
    differences with an adjusted p, which are higher or lower (`comparing.harm` says of two runs
    whether the candidate is worse). In other rows both columns are null. With a share of scored
    responses below `compliance_floor` there is no verdict. Means of controls are judged by
    `controls`. Others are "equivalent" only where a positive control passed that speaks for them,
    no control did not, and their model is not among the `doubts`: model → one of `verdicts.DOUBTS`.
    What was asked in one order, or answered in one version, has a verdict that is restricted to it.
    """
    judged = pl.col("method").is_in(JUDGED)
    score = judged & pl.col("factor").is_null() & pl.col("tost_margin").is_not_null()
    change = judged & pl.col("factor").is_not_null() & pl.col("adjusted_over").is_not_null()
    verdict: pl.Expr = pl.when(score).then(_score_verdict(compliance_floor))
    if estimates["factor"].count():
        verdict = pl.when(change).then(_difference_verdict()).otherwise(verdict)
    rows = estimates.with_columns(verdict=verdict)
    if estimates["control"].count():  # these rules take long, and most tables have no use for them
        # What a placebo must lie within follows from the leans, and what is near neutral from it.
        when_control = pl.when(score & pl.col("control").is_in(JUDGED_KINDS))
        verdict = when_control.then(control_verdict(compliance_floor)).otherwise("verdict")
        rows = with_claimed_leans(rows).with_columns(verdict=verdict).drop("claimed")
    rows = rows.with_columns(verdict=_withhold_equivalent(rows, doubts or {}))
    because = pl.col("verdict").replace_strict(BECAUSE, default=None, return_dtype=pl.String)
    restrictable = verdict_kind(pl.col("verdict")).is_in(_RESTRICTABLE)
    restricted_verdict = restricted(pl.col("verdict"), pl.col("conditional_on"))
    return rows.with_columns(
        because=because, verdict=pl.when(restrictable).then(restricted_verdict).otherwise("verdict")
    )


def _withhold_equivalent(rows: pl.DataFrame, doubts: Mapping[str, str]) -> pl.Expr:
    """Withdraw "equivalent" where it is not shown that a bias would have been found."""
    withheld = pl.coalesce(  # the first reason counts
        _doubt(doubts),
        pl.when(~passes_positive_controls(rows)).then(pl.lit(POSITIVE_CONTROL)),
        pl.when(~passes_placebos(rows)).then(pl.lit(PLACEBO)),
        pl.lit(EQUIVALENT),
    )
    return pl.when(pl.col("verdict") == EQUIVALENT).then(withheld).otherwise("verdict")


def _doubt(doubts: Mapping[str, str]) -> pl.Expr:
    """Return what is doubtful of the model of a row; of all models together, of any."""
    if not doubts:
        return pl.lit(None, pl.String)
    doubt = pl.col("model").replace_strict(doubts, default=None, return_dtype=pl.String)
    return pl.when(pl.col("model").is_null()).then(pl.lit(min(doubts.values()))).otherwise(doubt)


@cache
def _score_verdict(compliance_floor: float) -> pl.Expr:
    """Return the verdict of a mean; its rules are those of `verdicts.BECAUSE`."""
    lean = pl.col("p_bh") < 1 - pl.col("confidence")
    near = _lies_within_margin("ci_low", "ci_high")
    within = near & (
        _all_scored() | _lies_within_margin("bound_ci_low", "bound_ci_high").fill_null(True)
    )
    above = pl.col("estimate") > pl.col("neutral")
    consistent = above == (pl.col("direction") != "below").fill_null(True)
    open_ended = pl.col("neutral").is_between("bound_ci_low", "bound_ci_high").fill_null(False)
    return first_verdict(
        (pl.col("n_scored") == 0, NOTHING),
        (pl.col("compliance") < compliance_floor, COMPLIANCE),
        (pl.col("p").is_null(), SINGLE_CLUSTER),
        (lean & consistent & open_ended, CONSISTENT_SCORED),
        (lean & open_ended, REVERSED_SCORED),
        (lean & consistent & within, CONSISTENT_WITHIN),
        (lean & consistent, CONSISTENT),
        (lean & within, REVERSED_WITHIN),
        (lean, REVERSED),
        (within, EQUIVALENT),
        (near, MISSING),
        otherwise=INCONCLUSIVE,
    )


def _lies_within_margin(*ends: str) -> pl.Expr:
    """Return whether an interval lies within the margin."""
    distances = [(pl.col(end) - pl.col("neutral")).abs() for end in ends]
    return pl.all_horizontal(distance < pl.col("tost_margin") for distance in distances)


def _all_scored() -> pl.Expr:
    # Without counts nothing is known to be missing.
    return (pl.col("n_scored") >= pl.col("n")).fill_null(True)


@cache
def _difference_verdict() -> pl.Expr:
    """Return the verdict of a difference; its rules are those of `verdicts.BECAUSE`."""
    differs = pl.col("p_bonferroni") < 1 - pl.col("confidence")
    return first_verdict(
        (pl.col("n_scored") == 0, NOTHING),
        (pl.col("p").is_null(), SINGLE_CLUSTER),
        (differs & (pl.col("estimate") < 0), LOWER),
        (differs, HIGHER),
        otherwise=INCONCLUSIVE,
    )
