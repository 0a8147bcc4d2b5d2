"""Which trials are the same draw, asked under a baseline and under a candidate.

Identifiers of trials and mirrored pairs differ between the values of a factor, so a trial is
known by the number of its draw (`iteration`) and by the other factors. A draw fixes group words
and attributes; trials of one number whose words differ are of different plans, and refused.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from tiltmeter.errors import InputError, unknown
from tiltmeter.results import FACTORS

__all__ = ["match"]

#: What a trial is known by.
_TRIAL = (*FACTORS, "control", "word_list", "scoring", "iteration", "order", "version")

#: What its draw fixes.
_DRAWN = ("marginalized", "default", "tied", "counter", "attribute_order")


def match(scores: pl.DataFrame, factor: str, baseline: str) -> pl.DataFrame:
    """Match every trial with itself under the candidates.

    A row per trial and `candidate`: what the trial is known by, its words and `pair_id`; the score
    under the baseline `b` and under the candidate `t`, null where there is none; whether it was
    asked, `asked_b`, `asked_t` and `both`. The factor itself is null.

    Raises
    ------
    InputError
        If the baseline is missing, nothing else was asked, a trial occurs twice, or what carries
        the same number is not the same draw.
    """
    known = set(scores[factor].drop_nulls().unique())
    if baseline not in known:
        raise InputError(f"baseline: {unknown(factor, baseline, sorted(known))}")
    if known == {baseline}:
        raise InputError(f"scores: {factor} is {baseline!r} throughout; nothing to compare with")
    keys = [c for c in _TRIAL if c != factor]
    _check_unique(scores, factor, keys)
    answer = [*keys, *_DRAWN, "score", "pair_id"]
    ours = scores.filter(pl.col(factor) == baseline).select(*answer, asked_b=True)
    theirs = scores.filter(pl.col(factor) != baseline)
    candidates = theirs.select(pl.col(factor).alias("candidate")).unique()
    pairs = ours.join(candidates, how="cross").join(
        theirs.select(*answer, pl.col(factor).alias("candidate"), asked_t=True),
        on=[*keys, "candidate"],
        how="full",
        coalesce=True,
        nulls_equal=True,
        suffix="_t",
    )
    asked = pairs.select(pl.col("asked_b", "asked_t").fill_null(False)).select(
        "asked_b", "asked_t", both=pl.col("asked_b") & pl.col("asked_t")
    )
    pairs = pairs.drop("asked_b", "asked_t").hstack(asked).rename({"score": "b", "score_t": "t"})
    _check_draws(pairs, factor, baseline)
    return pairs.with_columns(
        *(pl.coalesce(c, f"{c}_t").alias(c) for c in (*_DRAWN, "pair_id")),
        **({factor: pl.lit(None, pl.String)} if factor in _TRIAL else {}),
    )


def _check_unique(scores: pl.DataFrame, factor: str, keys: Sequence[str]) -> None:
    again = scores.filter(pl.struct(factor, *keys).is_duplicated())
    if not again.is_empty():
        raise InputError(
            f"scores: {len(again)} rows of {factor} {again[factor][0]!r} share their trial (first: "
            f"{again['stereotype'][0]}, {again['variation'][0]}, iteration "
            f"{again['iteration'][0]}); a draw is asked once under each {factor}"
        )


def _check_draws(pairs: pl.DataFrame, factor: str, baseline: str) -> None:
    """Refuse trials that carry the same number but are not the same draw."""
    differ = pl.any_horizontal(pl.col(c).ne_missing(pl.col(f"{c}_t")) for c in _DRAWN)
    wrong = pairs.filter(pl.col("both") & differ)
    if not wrong.is_empty():
        row = wrong.row(0, named=True)
        raise InputError(
            f"scores: iteration {row['iteration']} of {row['stereotype']} drew "
            f"{row['marginalized']}, {row['default']} under {factor} {baseline!r} and "
            f"{row['marginalized_t']}, {row['default_t']} under {row['candidate']!r}; "
            "only runs of one plan, with one seed, can be matched"
        )
