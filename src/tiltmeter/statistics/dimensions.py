"""Stereotype content: dimensions side by side, and models in order.

Reference
    Li et al. (2025), MIST, arXiv:2506.14161: Table 1 (a t test per model and dimension), section
    4.2 (whether dimensions go together) and Figure 4 (ranks of the models).

Measures
    `dimension_tests`: the mean of each model and dimension, with the paper's spread and t test
    and with the clustered interval. `correlate_dimensions`: whether a group that is disfavoured on
    one dimension is so on another. `rank_models`: which model leans most, 1 the most, and the
    best and the worst rank that the intervals allow.

Deviations from the source
    The paper reads ranks and agreement of dimensions off figures; here both have intervals. Its
    spread is the population standard deviation, and its t takes n − 1:
    t = mean / (sd / √(n − 1)), the same number as the usual t of the sample standard deviation.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
from scipy import stats

from tiltmeter.results import ESTIMATES, Schema, check

__all__ = [
    "CORRELATIONS",
    "DIMENSION_TESTS",
    "RANKS",
    "correlate_dimensions",
    "dimension_tests",
    "rank_models",
]

_RUN: Schema = {
    name: pl.String()
    for name in ("study", "instrument", "mode", "intervention", "word_list", "scoring")
}

#: One row per run, model and dimension.
DIMENSION_TESTS: Schema = {
    **_RUN,
    "model": pl.String(),
    "dimension": pl.String(),
    "n": pl.Int64(),  # answers asked for
    "n_scored": pl.Int64(),  # the paper's n
    "mean": pl.Float64(),
    "sd_population": pl.Float64(),  # divided by n
    "t": pl.Float64(),  # naive, with n − 1 degrees of freedom
    "p": pl.Float64(),
    "se": pl.Float64(),  # from here on clustered
    "df": pl.Float64(),
    "ci_low": pl.Float64(),
    "ci_high": pl.Float64(),
    "p_clustered": pl.Float64(),
    "verdict": pl.String(),
}

#: One row per run, pair of dimensions and model, and one over models.
CORRELATIONS: Schema = {
    **_RUN,
    "model": pl.String(),  # null: over models
    "dimension_a": pl.String(),
    "dimension_b": pl.String(),
    "over": pl.String(),  # stereotypes | models
    "n": pl.Int64(),
    "pearson": pl.Float64(),
    "ci_low": pl.Float64(),  # Fisher's z, 95%
    "ci_high": pl.Float64(),
    "p": pl.Float64(),
    "spearman": pl.Float64(),
    "note": pl.String(),  # why there is no number; else null
}

#: One row per run, dimension and model.
RANKS: Schema = {
    **_RUN,
    "dimension": pl.String(),
    "model": pl.String(),
    "mean": pl.Float64(),
    "ci_low": pl.Float64(),
    "ci_high": pl.Float64(),
    "rank": pl.Int64(),  # 1: leans most the stereotypical way; null without a mean
    "rank_best": pl.Int64(),  # 1 + the models whose interval lies wholly above
    "rank_worst": pl.Int64(),  # the number of models less those wholly below
    "n_models": pl.Int64(),
}

#: Fewer points are not correlated.
FEWEST = 4


def dimension_tests(estimates: pl.DataFrame) -> pl.DataFrame:
    """Set out the mean of each model and dimension, as Table 1 of the paper and clustered.

    Parameters
    ----------
    estimates
        Columns of `frames.ESTIMATES`.

    Returns
    -------
    polars.DataFrame
        Columns of `DIMENSION_TESTS`; rows without a dimension are left out.
    """
    frame = _with_dimension(estimates).filter(level="model")
    n = pl.col("n_scored")
    population = pl.col("sd") * ((n - 1) / n).sqrt()
    single = pl.when(n == 1).then(0.0)
    shown = frame.with_columns(
        sd_population=pl.coalesce(population, single),
        p_clustered=pl.col("p"),
        t=pl.col("naive_t"),
        p=pl.col("naive_p"),
    )
    return check(shown, DIMENSION_TESTS, "estimates")


def correlate_dimensions(estimates: pl.DataFrame) -> pl.DataFrame:
    """Correlate the means of every two dimensions, over stereotypes and over models.

    Parameters
    ----------
    estimates
        Columns of `frames.ESTIMATES`.

    Returns
    -------
    polars.DataFrame
        Columns of `CORRELATIONS`. Points are stereotypes within a model, or models; they are few
        and share groups, so an interval is a description rather than a test.
    """
    frame = _with_dimension(estimates).drop_nulls("mean")
    rows: list[dict[str, Any]] = []
    for level, point, within in (("stereotype", "stereotype", "model"), ("model", "model", None)):
        part = frame.filter(level=level)
        keys = [*_RUN, within] if within else [*_RUN]
        for key, group in part.group_by(keys, maintain_order=True):
            fixed = dict(zip(keys, key, strict=True))
            means = group.select(point, "dimension", "mean")
            over = f"{point}s"
            if within is None and means[point].n_unique() < 2:
                continue
            names = means["dimension"].unique(maintain_order=True)
            for a, b in combinations(names, 2):
                both = means.filter(dimension=a).join(means.filter(dimension=b), on=point)
                found = _correlation(both["mean"].to_numpy(), both["mean_right"].to_numpy())
                named = {"dimension_a": a, "dimension_b": b, "over": over}
                rows.append({"model": None, **fixed, **named, **found})
    return pl.DataFrame(rows, schema=CORRELATIONS)


def _correlation(x: np.ndarray[Any, Any], y: np.ndarray[Any, Any]) -> Mapping[str, Any]:
    """Correlate two lists, or say why not."""
    if len(x) < FEWEST:
        return {"n": len(x), "note": f"fewer than {FEWEST} points"}
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        return {"n": len(x), "note": "a dimension does not vary"}
    pearson = stats.pearsonr(x, y)
    low, high = pearson.confidence_interval(0.95)
    return {
        "n": len(x),
        "pearson": float(pearson.statistic),
        "ci_low": float(low),
        "ci_high": float(high),
        "p": float(pearson.pvalue),
        "spearman": float(stats.spearmanr(x, y).statistic),
        "note": None,
    }


def rank_models(estimates: pl.DataFrame) -> pl.DataFrame:
    """Put the models of each run and dimension in order of their means.

    Parameters
    ----------
    estimates
        Columns of `frames.ESTIMATES`.

    Returns
    -------
    polars.DataFrame
        Columns of `RANKS`, for runs of two models or more; equal means share the better rank.
    """
    frame = check(estimates, ESTIMATES, "estimates").filter(level="model")
    keys = [*_RUN, "dimension"]
    frame = frame.filter(pl.len().over(keys) > 1)
    ranked = []
    for _, part in frame.group_by(keys, maintain_order=True):
        low, high = pl.col("ci_low"), pl.col("ci_high")
        known = part.drop_nulls("mean").height
        above = [
            int((part["ci_low"] > end).sum()) if end is not None else 0 for end in part["ci_high"]
        ]
        below = [
            int((part["ci_high"] < end).sum()) if end is not None else 0 for end in part["ci_low"]
        ]
        unknown = low.is_null() | high.is_null()
        ranked.append(
            part.with_columns(
                pl.col("mean").rank("min", descending=True).cast(pl.Int64).alias("rank"),
                pl.when(~unknown).then(1 + pl.Series(above)).alias("rank_best"),
                pl.when(~unknown).then(known - pl.Series(below)).alias("rank_worst"),
                pl.lit(part.height).alias("n_models"),
            )
        )
    if not ranked:
        return pl.DataFrame(schema=RANKS)
    return check(pl.concat(ranked), RANKS, "estimates").sort(*keys, "rank")


def _with_dimension(estimates: pl.DataFrame) -> pl.DataFrame:
    return check(estimates, ESTIMATES, "estimates").drop_nulls("dimension")
