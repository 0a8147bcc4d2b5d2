"""From scores to estimates: a mean per level with interval, tests, bounds and a verdict.

Measures
    The mean score of each cell (model × stereotype × variation), stereotype, category and model,
    and of all models together. Range, neutral value and direction are those of the instrument's
    `Measure` and stand in every row.

Inference
    Intervals and tests are clustered (`summaries`, `clustered`): method ``clustered``. The papers'
    t test is a row of its own, method ``published``. Holm and Benjamini–Hochberg adjust within a
    model, study, instrument, mode, word list, scoring and level. `results.verdicts` says what
    follows.

Order effect
    The mean, over mirrored pairs scored in both orders, of the difference between the orders,
    with the clusters of the mean. Pairs with a score in one order only tell nothing about it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import polars as pl

from tiltmeter.errors import InputError
from tiltmeter.results import LEVELS, ORDERS, Measure, Schema, as_estimates, check, columns
from tiltmeter.results.estimates import OTHER_MEASURES
from tiltmeter.results.verdicts import judge
from tiltmeter.statistics.clustered import (
    TESTED,
    Row,
    adjusted,
    benjamini_hochberg,
    by_method,
    check_confidence,
    cohen_d,
    holm,
    mean_of_clusters,
)
from tiltmeter.statistics.summaries import LEVEL_KEYS, NEVER_POOLED, cluster_sums, summarise

__all__ = ["Estimated", "Inference", "check_range", "estimate_measure", "estimate_summaries"]

#: A spread below this share of the range is due to rounding.
_ROUNDING = 1e-12

_STATED = (
    *("row", "subject", "measure", "level", *NEVER_POOLED, *LEVEL_KEYS["cell"]),
    *("n", "n_scored", "compliance", "estimate"),
)

#: What the method ``clustered`` says of a group, and the effect of order beside it.
_TESTED: Schema = {
    **TESTED,
    **columns("tost_margin", "tost_p", "order_effect", "n_pairs"),
    **dict.fromkeys(("order_effect_low", "order_effect_high"), pl.Float64()),
}


@dataclass(frozen=True)
class Inference:
    """What an auditor decides before looking at the scores."""

    margin: float = 0.1  # of equivalence, in the unit of the scores
    confidence: float = 0.95  # of intervals; tests are at 1 − confidence
    compliance_floor: float = 0.8  # least share of scored responses for a verdict
    cluster: str = "default"  # default | stereotype: how levels above the stereotype cluster

    def __post_init__(self) -> None:
        """Refuse values that mean nothing."""
        if not self.margin > 0:
            raise InputError(f"margin {self.margin}: must be above 0, in the unit of the scores")
        check_confidence(self.confidence)
        if not 0 <= self.compliance_floor <= 1:
            raise InputError(f"compliance_floor {self.compliance_floor}: a share, 0 to 1")
        if self.cluster not in ("default", "stereotype"):
            raise InputError(f"cluster {self.cluster!r}: allowed are default, stereotype")


def estimate_measure(
    scores: pl.DataFrame,
    measure: Measure,
    *,
    margin: float = 0.1,
    confidence: float = 0.95,
    compliance_floor: float = 0.8,
    cluster: str = "default",
) -> pl.DataFrame:
    """Estimate the mean score at every level.

    Parameters
    ----------
    scores
        Columns of `results.SCORES`, of one instrument and any number of models, studies, modes,
        word lists and scorings; only models are ever pooled.
    measure
        What the instrument's number means.
    margin
        Largest distance from neutral that counts as no bias, in the unit of the scores.
    confidence
        Of the intervals, 0…1; tests are at 1 − confidence.
    compliance_floor
        Least share of scored responses that allows a verdict, 0…1.
    cluster
        ``"default"``: categories and models are clustered by stereotype × variation.
        ``"stereotype"``: by stereotype, for statements about stereotypes not in the study.

    Returns
    -------
    polars.DataFrame
        Columns of `results.ESTIMATES`, a row per level, group and method; level ``overall`` only
        where there are two models or more. No number is null, never nan; `because` says why.

    Raises
    ------
    InputError
        If a column is missing, a score lies outside the measure's range or has neither value
        nor reason, the scores are another instrument's, or a parameter means nothing.

    Examples
    --------
    >>> import polars as pl
    >>> from tiltmeter.results import SCORES, Measure
    >>> empty = pl.DataFrame(schema=SCORES)
    >>> estimate_measure(empty, Measure("word_association", "", -1, 1, 0, "", "")).height
    0
    """
    inference = Inference(margin, confidence, compliance_floor, cluster)
    estimates, _ = estimate_summaries(summarise(scores), measure, inference)
    return judge(estimates, compliance_floor=compliance_floor)


class Estimated(NamedTuple):
    """Estimates before the verdict, and the effects of order beside them."""

    estimates: pl.DataFrame  # columns of `results.ESTIMATES`
    orders: pl.DataFrame  # columns of `results.ORDERS`


def estimate_summaries(
    units: pl.DataFrame, measure: Measure, inference: Inference | None = None
) -> Estimated:
    """Estimate from summaries, so that scores of many models need not be in memory at once.

    `units` are of `summarise`; those of several models joined with `polars.concat`. The estimates
    are to be judged by `results.verdicts.judge` together with those of the controls.

    Raises InputError if a score lies outside the measure's range, or is of another instrument.
    """
    if others := set(units["instrument"].unique()) - {measure.name}:
        raise InputError(
            f"scores: instrument {', '.join(sorted(map(str, others)))}; the measure is "
            f"{measure.name}; estimate each instrument by itself"
        )
    check_range(units, measure, "lowest", "highest")
    inference = inference or Inference()
    levels = [_groups(units, level, measure, inference) for level in LEVELS]
    groups = pl.concat(levels, how="diagonal")
    tests = [_tests(row, measure, inference) for row in groups.iter_rows(named=True)]
    family = ("level", "model", *NEVER_POOLED)
    rows = groups.hstack(pl.DataFrame(tests, schema=_TESTED)).with_columns(
        p_holm=adjusted(holm, *family),
        p_bh=adjusted(benjamini_hochberg, *family),
        tost_p_holm=adjusted(holm, *family, column="tost_p"),
    )
    of_order = {"order_effect_low": "ci_low", "order_effect_high": "ci_high"}
    orders = rows.drop(of_order.values()).rename(of_order)
    return Estimated(_as_estimates(rows, measure), check(orders, ORDERS, "orders"))


def _as_estimates(rows: pl.DataFrame, measure: Measure) -> pl.DataFrame:
    """Set out each estimate by method, one row under the other."""
    named = rows.with_row_index("row").with_columns(
        subject="model",
        measure=pl.lit(measure.name),
        effect_size=cohen_d(measure.neutral),
        adjusted_over=pl.format(
            "{} estimates of a model, study, instrument, mode, intervention, dimension, word list "
            "and scoring",
            "level",
        ),
    )
    logits = named.drop_nulls("logit").with_columns(
        measure=pl.lit("logit"), estimate="logit", method=pl.lit("descriptive")
    )
    logits = logits.select(*_STATED, "method")
    whole = by_method(named, _STATED, logits, neutral=measure.neutral)
    return as_estimates(whole, {measure.name: measure, **OTHER_MEASURES})


def check_range(scores: pl.DataFrame, measure: Measure, *named: str) -> None:
    """Raise InputError if a number in the columns `named` lies outside the measure's range."""
    slack = _ROUNDING * (measure.high - measure.low)
    low, high = measure.low - slack, measure.high + slack
    for column in named:
        outside = scores.filter(~pl.col(column).is_between(low, high))
        if not outside.is_empty():
            raise InputError(
                f"scores: score {outside[column][0]} of {outside['model'][0]} on "
                f"{outside['stereotype'][0]} lies outside the range of {measure.name}, "
                f"{measure.low} to {measure.high}"
            )


def _groups(
    units: pl.DataFrame, level: str, measure: Measure, inference: Inference
) -> pl.DataFrame:
    """Describe the groups of one level, a row each, and sum over the clusters of each."""
    model, within = LEVEL_KEYS[level][:1], LEVEL_KEYS[level][1:]
    keys = [*model, *NEVER_POOLED, *within]
    if level == "overall":
        units = units.filter(pl.col("model").n_unique().over(NEVER_POOLED) > 1)
    clusters = cluster_sums(
        units.filter(pl.col("n_scored") > 0),
        level,
        keys,
        by_stereotype=inference.cluster == "stereotype",
        sizes=pl.col("n_scored").sum(),
        totals=(pl.col("n_scored") * pl.col("mean")).sum(),
        pairs=pl.col("order_n").sum(),
        differences=pl.col("order_sum").sum(),
    )
    described = _describe(units, keys, measure).with_columns(level=pl.lit(level))
    return described.join(clusters, on=keys, how="left", nulls_equal=True).sort(keys)


def _describe(units: pl.DataFrame, keys: list[str], measure: Measure) -> pl.DataFrame:
    """Return what needs no model: counts, compliance, mean, spread, bounds."""
    n, scored, means = pl.col("n").sum(), pl.col("n_scored"), pl.col("mean")
    total = (scored * means).sum()
    mean = pl.when(scored.sum() > 0).then(total / scored.sum())
    squares = pl.col("m2").sum() + (scored * (means - mean) ** 2).sum()
    sd = pl.when(scored.sum() > 1).then((squares / (scored.sum() - 1)).sqrt())
    rounding = _ROUNDING * (measure.high - measure.low)
    missing = n - scored.sum()
    return units.group_by(keys).agg(
        pl.col("n", "n_scored").sum(),
        (scored.sum() / n).alias("compliance"),
        _share("first_share").alias("first_share"),
        _share("logit").alias("logit"),
        mean.alias("estimate"),
        pl.when(sd > rounding).then(sd).otherwise(sd * 0.0).alias("sd"),
        ((total + missing * measure.low) / n).alias("bound_low"),
        ((total + missing * measure.high) / n).alias("bound_high"),
    )


def _share(column: str) -> pl.Expr:
    count = pl.col(f"{column}_n").sum()
    return pl.when(count > 0).then(pl.col(f"{column}_sum").sum() / count)


def _tests(row: Mapping[str, Any], measure: Measure, inference: Inference) -> Row:
    """Return the clustered inference on one group."""
    low, high, span = measure.low, measure.high, measure.high - measure.low
    centre = mean_of_clusters(row["sizes"] or [], row["totals"] or [], bounds=(low, high))
    order = mean_of_clusters(row["pairs"] or [], row["differences"] or [], bounds=(-span, span))
    order_low, order_high = order.interval(inference.confidence)
    return {
        **centre.row(inference.confidence, measure.neutral),
        "tost_margin": inference.margin,
        "tost_p": centre.tost(inference.margin, measure.neutral),
        "order_effect": order.mean,
        "order_effect_low": order_low,
        "order_effect_high": order_high,
        "n_pairs": order.n,
    }
