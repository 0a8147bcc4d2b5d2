"""What changed between two askings of the same trials: a treatment against a baseline.

Reference
    The paired t test and d_z of a matched pair (Lakens 2013, Frontiers in Psychology 4, 863);
    cluster-robust error of their mean difference as in `clustered` (Bell & McCaffrey 2002;
    Pustejovsky & Tipton 2018); worst-case bounds of missing outcomes after Manski (1990),
    American Economic Review 80(2), 319–323.

Measures
    Mean of score(treatment) − score(baseline) over *matched* trials: the same draw of words in
    the same wording and order, asked of the same model, scored under both. What the two have in
    common (wording, group words, order) cancels. Unit and direction are those of the score;
    neutral 0. Any factor can be contrasted: an intervention against none, one model against
    another, one mode against another.

Inference
    Differences that share wording and group words rise and fall together, so intervals and tests
    take the clusters of `estimates`; the paired t test stands beside them as `naive`. Holm and
    Benjamini–Hochberg adjust over the treatments and groups of a model, study, instrument, mode,
    word list, scoring and level. A treatment can also change *which* trials can be scored: the
    change of compliance has its own test, and the bounds hold whatever the missing scores were.

Deviations from the source
    A trial asked under one of the two only is counted, and enters nothing else, bounds included:
    a shorter run is a choice of design, not an answer withheld.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl
from scipy.stats import false_discovery_control

from tiltmeter.errors import InputError
from tiltmeter.results import FACTORS, LEVELS, SCORES, Schema, check
from tiltmeter.statistics.clustered import ClusteredMean, assign_clusters, mean_of_clusters
from tiltmeter.statistics.effects import cohen_d, holm, naive_t
from tiltmeter.statistics.matching import match
from tiltmeter.statistics.summaries import NEVER_POOLED

__all__ = ["CONTRASTS", "contrast"]

#: One row per level, treatment and group of matched trials.
CONTRASTS: Schema = {
    "level": pl.String(),
    "factor": pl.String(),  # what the two differ in
    "baseline": pl.String(),
    "treatment": pl.String(),
    **FACTORS,  # null where the level pools over the factor, or it is the contrast itself
    "word_list": pl.String(),
    "scoring": pl.String(),
    "n": pl.Int64(),  # trials asked under both
    "n_unasked_baseline": pl.Int64(),  # trials asked under the treatment only
    "n_unasked_treatment": pl.Int64(),  # trials asked under the baseline only
    "n_matched": pl.Int64(),  # of n: scored under both
    "n_lost_baseline": pl.Int64(),  # of n: scored under the treatment only
    "n_lost_treatment": pl.Int64(),  # of n: scored under the baseline only
    "n_lost_both": pl.Int64(),
    "mean_baseline": pl.Float64(),  # over the matched
    "mean_treatment": pl.Float64(),
    "difference": pl.Float64(),  # mean of treatment − baseline; neutral 0
    "sd": pl.Float64(),  # of the differences
    "se": pl.Float64(),  # cluster-robust, CR2
    "df": pl.Float64(),  # Satterthwaite
    "t": pl.Float64(),
    "p": pl.Float64(),
    "test": pl.String(),  # t | unanimous (no variance between clusters: exact bound, t null)
    "confidence": pl.Float64(),  # of every interval of the row
    "ci_low": pl.Float64(),
    "ci_high": pl.Float64(),
    "n_clusters": pl.Int64(),
    "clustered_by": pl.String(),
    "conditional_on": pl.String(),  # what the interval does not vary
    "p_holm": pl.Float64(),
    "p_bh": pl.Float64(),
    "direction": pl.String(),  # lower | higher where p_holm < 1 − confidence; else null
    "naive_se": pl.Float64(),  # paired t test
    "naive_t": pl.Float64(),
    "naive_df": pl.Float64(),
    "naive_p": pl.Float64(),
    "cohen_dz": pl.Float64(),  # difference / sd
    "bound_low": pl.Float64(),  # worst case over all n; null without `low` and `high`
    "bound_high": pl.Float64(),
    "compliance_baseline": pl.Float64(),  # share scored, of n
    "compliance_treatment": pl.Float64(),
    "compliance_change": pl.Float64(),  # treatment − baseline, clustered as the difference
    "compliance_low": pl.Float64(),
    "compliance_high": pl.Float64(),
    "compliance_p": pl.Float64(),
}

#: What stays apart at every level.
_APART = ("treatment", *NEVER_POOLED)

#: What a level tells apart besides; it pools over the rest.
_KEYS = {
    "cell": ("model", "category", "stereotype", "variation"),
    "stereotype": ("model", "category", "stereotype"),
    "category": ("model", "category"),
    "model": ("model",),
    "overall": (),
}

#: A spread below this share of the scores' size is due to rounding.
_ROUNDING = 1e-12


def contrast(
    scores: pl.DataFrame,
    *,
    factor: str = "intervention",
    baseline: str = "none",
    low: float | None = None,
    high: float | None = None,
    confidence: float = 0.95,
) -> pl.DataFrame:
    """Estimate the mean difference from the baseline at every level.

    Parameters
    ----------
    scores
        Columns of `frames.SCORES` with the factor; asked under the baseline and under one or
        more other values of the factor, the treatments.
    factor
        Column that tells baseline and treatments apart: ``"intervention"``, ``"model"``, ….
    baseline
        Its value to compare with.
    low, high
        The ends of the scale; without them there are no bounds, nor a p where all clusters
        agree.
    confidence
        Of the intervals, 0…1; `direction` is told at 1 − confidence.

    Returns
    -------
    polars.DataFrame
        Columns of `CONTRASTS`, a row per level, treatment and group; level ``overall`` only
        where there are two models or more. No number is null, never nan.

    Raises
    ------
    InputError
        If a column or the baseline is missing, nothing else was asked, a score lies outside low
        to high, a trial occurs twice, matched trials differ in their group words, or a parameter
        means nothing.

    Examples
    --------
    >>> import polars as pl
    >>> from tiltmeter.results import SCORES
    >>> rows = [
    ...     dict.fromkeys(SCORES) | {"model": "m", "stereotype": "age", "iteration": i,
    ...     "intervention": intervention, "score": score, "marginalized": f"old{i}"}
    ...     for i in range(4) for intervention, score in (("none", 0.4 + i / 10), ("fair", i / 20))
    ... ]
    >>> contrasts = contrast(pl.DataFrame(rows, schema=SCORES))
    >>> model = contrasts.filter(level="model").row(0, named=True)
    >>> model["n_matched"], round(model["difference"], 3), model["direction"]
    (4, -0.475, 'lower')
    """
    _check_parameters(low, high, confidence)
    frame = check(scores, {**SCORES, factor: pl.String()}, "scores")
    _check_scores(frame, low, high)
    pairs = match(frame, factor, baseline)
    bounds = None if low is None or high is None else (low, high)
    rows = pl.concat(
        [_level(pairs, level, bounds, confidence) for level in LEVELS], how="diagonal_relaxed"
    )
    rows = _adjust(rows).with_columns(
        pl.lit(factor).alias("factor"),
        pl.lit(baseline).alias("baseline"),
        direction=pl.when(pl.col("p_holm") < 1.0 - confidence).then(
            pl.when(pl.col("difference") < 0).then(pl.lit("lower")).otherwise(pl.lit("higher"))
        ),
    )
    return rows.select(
        (pl.col(c) if c in rows.columns else pl.lit(None)).cast(t).alias(c)
        for c, t in CONTRASTS.items()
    )


def _check_parameters(low: float | None, high: float | None, confidence: float) -> None:
    if not 0 < confidence < 1:
        raise InputError(f"confidence {confidence}: must lie between 0 and 1, as 0.95")
    if (low is None) != (high is None):
        raise InputError("low, high: give both ends of the scale, or neither")
    if low is not None and high is not None and not low < high:
        raise InputError(f"low {low}, high {high}: low must lie below high")


def _check_scores(frame: pl.DataFrame, low: float | None, high: float | None) -> None:
    scored = frame["score"].drop_nulls()
    if not scored.is_finite().all():
        raise InputError("scores: score is nan or infinite; a missing score is null with a reason")
    if low is None or high is None or scored.is_between(low, high).all():
        return
    outside = scored.filter(~scored.is_between(low, high))
    raise InputError(f"scores: score {outside[0]} lies outside low {low} to high {high}")


def _level(
    pairs: pl.DataFrame, level: str, bounds: tuple[float, float] | None, confidence: float
) -> pl.DataFrame:
    """Return the rows of one level, before adjustment for their number."""
    keys = [*_APART, *_KEYS[level]]
    if level == "overall":
        pairs = pairs.filter(pl.col("model").n_unique().over(_APART) > 1)
    described = _describe(pairs, keys, bounds)
    both = pairs.filter("both").with_row_index("row")
    units = both.with_columns(
        unit=pl.coalesce("pair_id", pl.format("row {}", "row")),
        difference=pl.col("t") - pl.col("b"),
    )
    asked = units.with_columns(
        (pl.col("t").is_not_null().cast(pl.Int8) - pl.col("b").is_not_null().cast(pl.Int8))
        .cast(pl.Float64)
        .alias("difference")
    )
    groups = described.join(_sums(units, level, keys), on=keys, how="left", nulls_equal=True)
    complied = _sums(asked, level, keys).select(*keys, pl.col("sums").alias("complied"))
    groups = groups.join(complied, on=keys, how="left", nulls_equal=True).sort(keys)
    tests = [_tests(row, bounds, confidence) for row in groups.iter_rows(named=True)]
    tested = pl.DataFrame(tests, schema={c: CONTRASTS[c] for c in _TESTED})
    return groups.select(pl.lit(level).alias("level"), pl.exclude("sums", "complied")).hstack(
        tested
    )


def _describe(
    pairs: pl.DataFrame, keys: list[str], bounds: tuple[float, float] | None
) -> pl.DataFrame:
    """Return what needs no model: counts, means, spread, compliance, bounds."""
    b, t, both = pl.col("b"), pl.col("t"), pl.col("both")
    has_b, has_t = both & b.is_not_null(), both & t.is_not_null()
    matched = has_b & has_t
    difference = (t - b).filter(matched)
    sd = difference.std()
    rounding = _ROUNDING * pl.max_horizontal(pl.col("b", "t").abs().max(), pl.lit(1e-300))
    n = both.sum()
    described: dict[str, pl.Expr] = {
        "n": n,
        "n_unasked_baseline": (pl.col("asked_t") & ~both).sum(),
        "n_unasked_treatment": (pl.col("asked_b") & ~both).sum(),
        "n_matched": matched.sum(),
        "n_lost_baseline": (has_t & ~has_b).sum(),
        "n_lost_treatment": (has_b & ~has_t).sum(),
        "n_lost_both": (both & ~has_b & ~has_t).sum(),
        "mean_baseline": b.filter(matched).mean(),
        "mean_treatment": t.filter(matched).mean(),
        "difference": difference.mean(),
        "sd": pl.when(sd > rounding).then(sd).otherwise(sd * 0.0),
        "compliance_baseline": pl.when(n > 0).then(has_b.sum() / n),
        "compliance_treatment": pl.when(n > 0).then(has_t.sum() / n),
    }
    if bounds is not None:
        ends = {"bound_low": bounds, "bound_high": bounds[::-1]}
        for name, (least, most) in ends.items():
            described[name] = (t.fill_null(least) - b.fill_null(most)).filter(both).mean()
    return pairs.group_by(keys).agg(**described)


def _sums(units: pl.DataFrame, level: str, keys: list[str]) -> pl.DataFrame:
    """Return a row per group with `sums`: a list of sizes and totals, one of each cluster."""
    units = units.filter(pl.col("difference").is_not_null())
    stated = [*keys, "clustered_by", "conditional_on"]
    clusters = (
        assign_clusters(units, level, keys)
        .group_by(*stated, "cluster")
        .agg(pl.len().alias("size"), pl.col("difference").sum().alias("total"))
        .sort("cluster")
    )
    sums = pl.struct("size", "total").alias("sums")
    return clusters.group_by(stated, maintain_order=True).agg(sums)


_TESTED = (
    *("se", "df", "t", "p", "test", "confidence", "ci_low", "ci_high", "n_clusters"),
    *("naive_se", "naive_t", "naive_df", "naive_p", "cohen_dz"),
    *("compliance_change", "compliance_low", "compliance_high", "compliance_p"),
)


def _tests(
    row: Mapping[str, Any], bounds: tuple[float, float] | None, confidence: float
) -> dict[str, float | int | str | None]:
    """Return the clustered and the naive inference on one group."""
    span = None if bounds is None else (bounds[0] - bounds[1], bounds[1] - bounds[0])
    change, compliance = _clustered(row["sums"], span), _clustered(row["complied"], (-1.0, 1.0))
    low, high = change.interval(confidence)
    compliance_low, compliance_high = compliance.interval(confidence)
    p = change.p()
    return {
        "se": change.se,
        "df": change.df,
        "t": change.t(),
        "p": p,
        "test": None if p is None else "unanimous" if change.unanimous else "t",
        "confidence": confidence,
        "ci_low": low,
        "ci_high": high,
        "n_clusters": change.n_clusters,
        **naive_t(row["difference"], row["sd"], row["n_matched"]),
        "cohen_dz": cohen_d(row["difference"], row["sd"]),
        "compliance_change": compliance.mean,
        "compliance_low": compliance_low,
        "compliance_high": compliance_high,
        "compliance_p": compliance.p(),
    }


def _clustered(
    sums: list[dict[str, float]] | None, bounds: tuple[float, float] | None
) -> ClusteredMean:
    kept = sums or []
    return mean_of_clusters([s["size"] for s in kept], [s["total"] for s in kept], bounds=bounds)


def _adjust(rows: pl.DataFrame) -> pl.DataFrame:
    """Add the p-values adjusted within each family: a model and level, over all treatments."""
    members = ["level", "model", *(c for c in _APART if c != "treatment")]
    family = rows.select(pl.struct(members).rank("dense")).to_series().to_numpy()
    p = rows["p"].to_numpy()
    adjusted = {"p_holm": np.full(len(p), np.nan), "p_bh": np.full(len(p), np.nan)}
    for one in np.unique(family):
        tested = (family == one) & ~np.isnan(p)
        adjusted["p_holm"][tested] = holm(p[tested])
        adjusted["p_bh"][tested] = false_discovery_control(p[tested])
    return rows.with_columns(pl.Series(c, v).fill_nan(None) for c, v in adjusted.items())
