"""From scores to estimates: a mean per level with interval, tests, bounds and a verdict.

Measures
    The mean score of each cell (model × stereotype × variation), stereotype, category and model,
    and of all models together. Range, neutral value and direction are those of the instrument's
    `Measure` and stand in every row.

Inference
    Intervals and tests are clustered (`clusters`, `clustered`): method ``clustered``. The papers'
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

import numpy as np
import polars as pl
from scipy.stats import false_discovery_control

from tiltmeter.errors import InputError
from tiltmeter.results import LEVELS, ORDERS, Measure, Schema, as_estimates, check, columns
from tiltmeter.results.estimates import DETAILS
from tiltmeter.results.verdicts import judge
from tiltmeter.statistics.clustered import (
    ClusteredMean,
    assign_clusters,
    cohen_d,
    holm,
    mean_of_clusters,
    naive_t,
    tost,
)
from tiltmeter.statistics.summaries import NEVER_POOLED, summarise

__all__ = ["Estimated", "Inference", "estimate_measure", "estimate_summaries"]

_MODEL = ("model", *NEVER_POOLED)

#: The columns that tell the groups of a level apart; it pools over the rest.
_KEYS = {
    "cell": (*_MODEL, "category", "stereotype", "variation"),
    "stereotype": (*_MODEL, "category", "stereotype"),
    "category": (*_MODEL, "category"),
    "model": _MODEL,
    "overall": NEVER_POOLED,
}

#: A spread below this share of the range is due to rounding.
_ROUNDING = 1e-12


_ADJUSTED = (
    ("p", holm, "p_holm"),
    ("p", false_discovery_control, "p_bh"),
    ("tost_p", holm, "tost_p_holm"),
)


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
        if not 0 < self.confidence < 1:
            raise InputError(f"confidence {self.confidence}: must lie between 0 and 1, as 0.95")
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
    found = estimate_summaries(summarise(scores), measure, inference)
    return judge(found.estimates, compliance_floor=compliance_floor)


class Estimated(NamedTuple):
    """Estimates before the verdict, and the effects of order beside them."""

    estimates: pl.DataFrame
    orders: pl.DataFrame


def estimate_summaries(
    units: pl.DataFrame, measure: Measure, inference: Inference | None = None
) -> Estimated:
    """Estimate from summaries, so that scores of many models need not be in memory at once.

    Parameters
    ----------
    units
        From `summarise`; those of several models joined with `polars.concat`.
    measure
        What the instrument's number means.
    inference
        Margin, confidence, compliance floor and clusters; by default those of `Inference`.

    Returns
    -------
    Estimated
        Columns of `results.ESTIMATES`, to be judged by `results.verdicts.judge` together with
        those of the controls; and columns of `results.ORDERS`.

    Raises
    ------
    InputError
        If a score lies outside the measure's range or the scores are another instrument's.
    """
    _fits(units, measure)
    inference = inference or Inference()
    several = units.filter(pl.col("model").n_unique().over(NEVER_POOLED) > 1)
    levels = [
        _level(several if level == "overall" else units, level, measure, inference)
        for level in LEVELS
    ]
    rows = _adjust(pl.concat(levels, how="diagonal"))
    orders = rows.select(
        *(pl.col(c) for c in ORDERS if c not in ("ci_low", "ci_high")),
        ci_low="order_effect_low",
        ci_high="order_effect_high",
    )
    return Estimated(_as_estimates(rows, measure), check(orders, ORDERS, "orders"))


def _as_estimates(rows: pl.DataFrame, measure: Measure) -> pl.DataFrame:
    """Set out each estimate by method, one row under the other."""
    keys = ["level", *_KEYS["cell"]]
    named = rows.with_row_index("row").with_columns(
        pl.col("model").alias("subject"),
        measure=pl.lit(measure.name),
        estimate="mean",
        adjusted_over=pl.format(
            "{} estimates of a model, study, instrument, mode, intervention, dimension, word list "
            "and scoring",
            "level",
        ),
    )
    stated = ["row", "subject", "measure", *keys, "n", "n_scored", "compliance", "sd", "estimate"]
    clustered = named.select(
        *stated,
        *("test", "se", "df", "p", "p_holm", "p_bh", "adjusted_over", "confidence", "ci_low"),
        *("ci_high", "n_clusters", "clustered_by", "conditional_on", "bound_low", "bound_high"),
        *("tost_margin", "tost_p", "tost_p_holm"),
        method=pl.lit("clustered"),
        statistic="t",
        effect_size="cohen_d",
    )
    published = named.select(
        *stated,
        method=pl.lit("published"),
        test=pl.when(pl.col("naive_p").is_not_null()).then(pl.lit("t")),
        se="naive_se",
        df="naive_df",
        statistic="naive_t",
        p="naive_p",
        effect_size="cohen_d",
    )
    logits = named.drop_nulls("logit").select(
        "row", "subject", *keys, "n", "n_scored", "compliance",
        measure=pl.lit("logit"), method=pl.lit("descriptive"), estimate="logit",
    )  # fmt: skip
    whole = pl.concat([clustered, published, logits], how="diagonal").sort(
        "row", maintain_order=True
    )
    return as_estimates(whole.drop("row"), {measure.name: measure, **DETAILS})


def _fits(units: pl.DataFrame, measure: Measure) -> None:
    others = set(units["instrument"].unique()) - {measure.name}
    if others:
        raise InputError(
            f"scores: instrument {', '.join(sorted(map(str, others)))}; the measure is "
            f"{measure.name}; estimate each instrument by itself"
        )
    slack = _ROUNDING * (measure.high - measure.low)
    for column, beyond in (
        ("lowest", pl.col("lowest") < measure.low - slack),
        ("highest", pl.col("highest") > measure.high + slack),
    ):
        outside = units.filter(beyond)
        if not outside.is_empty():
            raise InputError(
                f"scores: score {outside[column][0]} of {outside['model'][0]} on "
                f"{outside['stereotype'][0]} lies outside the range of {measure.name}, "
                f"{measure.low} to {measure.high}"
            )


def _adjust(rows: pl.DataFrame) -> pl.DataFrame:
    """Add the p-values adjusted within each family."""
    family = rows.select(pl.struct("level", *_MODEL).rank("dense")).to_series().to_numpy()
    for column, method, name in _ADJUSTED:
        p = rows[column].to_numpy()
        adjusted = np.full(len(p), np.nan)
        for one in np.unique(family):
            tested = (family == one) & ~np.isnan(p)
            adjusted[tested] = method(p[tested])
        rows = rows.with_columns(pl.Series(name, adjusted).fill_nan(None))
    return rows


def _level(units: pl.DataFrame, level: str, measure: Measure, inference: Inference) -> pl.DataFrame:
    """Return the rows of one level, before adjustment for their number."""
    keys = _KEYS[level]
    described = _describe(units, keys, measure)
    clusters = _cluster_sums(units, level, keys, inference)
    groups = described.join(clusters, on=keys, how="left", nulls_equal=True).sort(keys)
    tests = [_tests(row, measure, inference) for row in groups.iter_rows(named=True)]
    inferred = pl.DataFrame(tests, schema=_TESTED)
    return groups.select(pl.lit(level).alias("level"), pl.exclude("sums")).hstack(inferred)


def _describe(units: pl.DataFrame, keys: tuple[str, ...], measure: Measure) -> pl.DataFrame:
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
        mean.alias("mean"),
        pl.when(sd > rounding).then(sd).otherwise(sd * 0.0).alias("sd"),
        ((total + missing * measure.low) / n).alias("bound_low"),
        ((total + missing * measure.high) / n).alias("bound_high"),
    )


def _share(column: str) -> pl.Expr:
    count = pl.col(f"{column}_n").sum()
    return pl.when(count > 0).then(pl.col(f"{column}_sum").sum() / count)


def _cluster_sums(
    units: pl.DataFrame, level: str, keys: tuple[str, ...], inference: Inference
) -> pl.DataFrame:
    """Return a row per group with `sums`: a list of sizes and totals, one of each cluster."""
    scored = units.filter(pl.col("n_scored") > 0)
    by_stereotype = inference.cluster == "stereotype"
    assigned = assign_clusters(scored, level, keys, by_stereotype=by_stereotype)
    stated = [*keys, "clustered_by", "conditional_on"]
    clusters = assigned.group_by(*stated, "cluster").agg(
        pl.col("n_scored").sum().alias("size"),
        (pl.col("n_scored") * pl.col("mean")).sum().alias("total"),
        pl.col("order_n").sum().alias("pairs"),
        pl.col("order_sum").sum().alias("difference"),
    )
    sums = pl.struct("size", "total", "pairs", "difference").alias("sums")
    return clusters.sort("cluster").group_by(stated, maintain_order=True).agg(sums)


_TESTED: Schema = {
    **columns("se", "df"),
    "t": pl.Float64(),
    **columns("p", "test", "confidence", "ci_low", "ci_high", "n_clusters"),
    **dict.fromkeys(("naive_se", "naive_t", "naive_df", "naive_p", "cohen_d"), pl.Float64()),
    **columns("tost_margin", "tost_p", "order_effect"),
    **dict.fromkeys(("order_effect_low", "order_effect_high"), pl.Float64()),
    **columns("n_pairs"),
}


def _tests(
    row: Mapping[str, Any], measure: Measure, inference: Inference
) -> dict[str, float | int | str | None]:
    """Return the clustered and the naive inference on one group."""
    neutral, confidence = measure.neutral, inference.confidence
    sums, span = row["sums"] or [], measure.high - measure.low
    centre = _clustered(sums, "size", "total", (measure.low, measure.high))
    order = _clustered(sums, "pairs", "difference", (-span, span))
    p = centre.p(neutral)
    low, high = centre.interval(confidence)
    order_low, order_high = order.interval(confidence)
    return {
        "se": centre.se,
        "df": centre.df,
        "t": centre.t(neutral),
        "p": p,
        "test": None if p is None else "unanimous" if centre.unanimous else "t",
        "confidence": confidence,
        "ci_low": low,
        "ci_high": high,
        "n_clusters": centre.n_clusters,
        **naive_t(row["mean"], row["sd"], row["n_scored"], neutral=neutral),
        "cohen_d": cohen_d(row["mean"], row["sd"], neutral=neutral),
        "tost_margin": inference.margin,
        "tost_p": tost(centre, margin=inference.margin, neutral=neutral),
        "order_effect": order.mean,
        "order_effect_low": order_low,
        "order_effect_high": order_high,
        "n_pairs": order.n,
    }


def _clustered(
    sums: list[dict[str, float]], size: str, total: str, bounds: tuple[float, float]
) -> ClusteredMean:
    kept = [s for s in sums if s[size] > 0]
    return mean_of_clusters([s[size] for s in kept], [s[total] for s in kept], bounds=bounds)
