"""Differences of estimates whose observations are not at hand: networks and hidden states.

Inference
    Two runs are taken as independent: the variances of both estimates add up. Runs that share words
    vary together, so that this is conservative. Where a row has no standard error it is taken from
    the interval, as of a normal distribution. Rows without either have a difference and no test.
"""

from __future__ import annotations

import polars as pl
from scipy.special import ndtr

from clinometer.results import ESTIMATES, check
from clinometer.results.estimates import KEYS
from clinometer.statistics.intervals import critical_value, interval_around

__all__ = ["compare_estimates"]

#: What tells estimates of one run apart.
_JOIN_KEYS = [
    name for name in KEYS if name not in ("subject", "model", "factor", "baseline", "candidate")
]

#: What both estimates have in common.
_COMMON = ("range", "range_low", "range_high", "direction")


def compare_estimates(
    baseline: pl.DataFrame, candidate: pl.DataFrame, labels: tuple[str, str], confidence: float
) -> pl.DataFrame:
    """Return the differences of the estimates that two runs have in common.

    Both have columns of `results.ESTIMATES`; so has the result, a row per estimate and method.
    `labels` name the runs. Tests of placebos and permutations say nothing of a difference and are
    left out.
    """
    ours, theirs = (_select_measured(estimates) for estimates in (baseline, candidate))
    keys = [*_JOIN_KEYS, "method", "alternative"]
    pairs = ours.join(theirs, on=keys, how="inner", nulls_equal=True, suffix="_t")
    if pairs.is_empty():
        return pl.DataFrame(schema=ESTIMATES)
    se = (pl.col("error") ** 2 + pl.col("error_t") ** 2).sqrt()
    difference = pl.col("estimate_t") - pl.col("estimate")
    low, high = interval_around(difference, se, confidence)
    z = pl.when(se > 0).then(difference / se)
    rows = pairs.select(
        *keys,
        *_COMMON,
        subject=pl.lit("model"),
        factor=pl.lit("model"),
        baseline=pl.lit(labels[0]),
        candidate=pl.lit(labels[1]),
        matched_by=pl.lit("estimate"),
        baseline_estimate="estimate",
        candidate_estimate="estimate_t",
        estimate=difference,
        neutral=pl.lit(0.0),
        se=se,
        statistic=z,
        p=z.abs()
        .map_batches(lambda column: 2.0 * ndtr(-column.to_numpy()), pl.Float64())
        .fill_nan(None),
        test=pl.when(se > 0).then(pl.lit("z")),
        confidence=pl.when(se > 0).then(pl.lit(confidence)),
        ci_low=low,
        ci_high=high,
        n=pl.min_horizontal("n", "n_t"),
    )
    absent = (pl.lit(None).alias(name) for name in ESTIMATES if name not in rows.columns)
    return check(rows.with_columns(absent), ESTIMATES, "estimates")


def _select_measured(estimates: pl.DataFrame) -> pl.DataFrame:
    """Return the estimates of one run that are no comparisons, each with an error."""
    tests = pl.col("method").is_in(["permutation", "placebo", "rewired", "published"])
    rows = estimates.filter(pl.col("factor").is_null() & ~tests).drop_nulls("estimate")
    errors = pl.col("confidence").map_batches(
        lambda column: critical_value(column.to_numpy()), pl.Float64()
    )
    width = (pl.col("ci_high") - pl.col("ci_low")) / (2.0 * errors)
    return rows.with_columns(error=pl.coalesce("se", width))
