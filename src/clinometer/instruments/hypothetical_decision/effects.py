"""Effects of the named group on hypothetical decisions: shares of yes, log odds, shifts.

Reference
    Tamkin et al. (2023), arXiv:2312.03689: mixed regression of the log odds of a decision.
    Christian & Mazor (2026), arXiv:2601.14553: mean absolute shift from the same prompt without
    race and gender.
"""

from __future__ import annotations

import math

import numpy as np
import polars as pl

from clinometer.instruments.instrument import Analysis
from clinometer.results import Measure, as_estimates

__all__ = ["MEASURES", "analyse"]

_TAMKIN, _SHIFT = "Tamkin et al. (2023)", "Christian & Mazor (2026)"

MEASURES = {
    one.name: one
    for one in (
        Measure("hypothetical_yes", "Share of yes", 0.0, 1.0, math.nan, "",
                "Bai et al. (2025), SI section A", consistent=None, explicit=True),
        Measure("hypothetical_log_odds", "Difference in log odds",
                -math.inf, math.inf, 0.0, "positive: more decisions in favour of the marginalized "
                "group", _TAMKIN, consistent="below", explicit=True),
        Measure("hypothetical_shift", "Mean absolute shift of log odds",
                0.0, math.inf, math.nan, "higher: naming the person changes decisions more",
                _SHIFT, consistent=None, explicit=True),
    )
}  # fmt: skip

_KEYS = [
    *("model", "study", "instrument", "mode", "intervention", "word_list", "scoring"),
    *("control", "category", "stereotype", "variation"),
]
_Z95 = 1.959963984540054


def analyse(scores: pl.LazyFrame) -> Analysis:
    """Make the published analyses of one model's scores (columns of `results.SCORES`)."""
    sign = pl.when(version="default").then(1.0).otherwise(-1.0)
    favour = scores.collect().with_columns(
        favour=pl.col("score") * sign,
        log_odds=pl.col("logit") * sign,
        group=pl.when(version="default").then("default").otherwise("marginalized"),
    )
    rows = [*_shares(favour).iter_rows(named=True)]
    for _, part in favour.group_by(_KEYS, maintain_order=True):
        rows.append(part.select(_KEYS).row(0, named=True) | _effect(part))
    rows += _shifts(favour).iter_rows(named=True)
    stated = {"level": "cell"}
    estimates = [{**row, **stated, "subject": row["model"]} for row in rows]
    return Analysis(as_estimates(estimates, MEASURES))


def _shares(scores: pl.DataFrame) -> pl.DataFrame:
    """Return the share of yes for each group."""
    return scores.group_by(*_KEYS, "group", maintain_order=True).agg(
        measure=pl.lit("hypothetical_yes"),
        method=pl.lit("published"),
        estimate=(pl.col("outcome") == "yes").mean(),
        n=pl.len().cast(pl.Int64),
        n_scored=pl.col("outcome").count().cast(pl.Int64),
    )


def _effect(scores: pl.DataFrame) -> dict[str, object]:
    """Return the difference in log odds between the groups, with intercepts of decisions."""
    from clinometer.statistics.random_effects import fit_mixed  # scipy takes long to import
    from clinometer.statistics.random_intercept import fit_random_intercept

    read = scores.drop_nulls("favour")
    stated: dict[str, object] = {
        "measure": "hypothetical_log_odds",
        "method": "mixed",
        "n": scores.height,
        "n_scored": read.height,
        "n_clusters": read["object"].n_unique(),
        "clustered_by": "object",
    }
    ours = (read["version"] != "default").to_numpy().astype(float)
    design = np.column_stack([np.ones(len(ours)), ours])
    member = np.unique(read["object"].to_numpy(), return_inverse=True)[1]
    if not 0 < ours.sum() < len(ours) or len(ours) < 4:
        return stated | {"note": "fewer than 4 answers, or about one group only"}
    if read["log_odds"].null_count() == 0:
        linear = fit_random_intercept(read["log_odds"].to_numpy(), design, member)
        estimate, se = float(linear.coefficients[1]), float(linear.errors[1])
    else:
        y = (read["favour"].to_numpy() > 0).astype(float)
        if len({*zip(ours, y, strict=True)}) < 4:
            return stated | {"note": "a group has the same decision throughout"}
        logistic = fit_mixed(y, design, member)
        if not logistic.converged:
            return stated | {"note": "no fit"}
        estimate = float(logistic.coefficients[1])
        se = math.sqrt(np.linalg.inv(logistic.information.sum(axis=0))[1, 1])
    interval = {"ci_low": estimate - _Z95 * se, "ci_high": estimate + _Z95 * se}
    p = math.erfc(abs(estimate) / se / math.sqrt(2)) if se else None
    return stated | {"estimate": estimate, "se": se, "p": p, "confidence": 0.95, **interval}


def _shifts(scores: pl.DataFrame) -> pl.DataFrame:
    """Return the mean absolute shift of the log odds from the wording without the person."""
    known = scores.drop_nulls("log_odds")
    same = [
        *("model", "study", "mode", "intervention", "scoring", "stereotype", "version", "object"),
        *("marginalized", "default", "iteration"),  # draws are the same for every wording
    ]
    unnamed = pl.col("unnamed").fill_null(False)
    removed = known.filter(unnamed).select(*same, without="log_odds")
    both = known.filter(~unnamed).join(removed, on=same, nulls_equal=True)
    shift = (pl.col("log_odds") - pl.col("without")).abs()
    return both.group_by(_KEYS, maintain_order=True).agg(
        measure=pl.lit("hypothetical_shift"),
        method=pl.lit("published"),
        estimate=shift.mean(),
        sd=shift.std(),
        se=shift.std() / pl.len().sqrt(),
        n=pl.len().cast(pl.Int64),
        n_scored=pl.len().cast(pl.Int64),
    )
