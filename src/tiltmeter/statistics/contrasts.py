"""What changed between two askings of the same trials: a candidate against a baseline.

Reference
    The paired t test and d_z of a matched pair (Lakens 2013, Frontiers in Psychology 4, 863);
    cluster-robust error of their mean difference as in `clustered` (Bell & McCaffrey 2002;
    Pustejovsky & Tipton 2018); worst-case bounds of missing outcomes after Manski (1990),
    American Economic Review 80(2), 319–323.

Measures
    Mean of score(candidate) − score(baseline) over *matched* trials: the same draw of words in
    the same wording and order, asked of the same model, scored under both. What the two have in
    common (wording, group words, order) cancels. Unit and direction are those of the score;
    neutral 0. Any factor can be contrasted: an intervention against none, one model against
    another, one mode against another.

Inference
    Differences that share wording and group words rise and fall together, so intervals and tests
    take the clusters of `estimates`; the paired t test is a row of its own, method ``published``.
    Holm and Benjamini–Hochberg adjust over the candidates and groups of a model, study,
    instrument, mode, word list, scoring and level. A candidate can also change *which* trials can
    be scored: the change of compliance is a measure of its own, and the bounds hold whatever the
    missing scores were.

Deviations from the source
    A trial asked under one of the two only is counted, and enters nothing else, bounds included:
    a shorter run is a choice of design, not an answer withheld.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from scipy.stats import false_discovery_control

from tiltmeter.errors import InputError
from tiltmeter.results import LEVELS, SCORES, Measure, Schema, as_estimates, check, columns
from tiltmeter.results.estimates import DETAILS, KEYS
from tiltmeter.results.schemas import MATCHES
from tiltmeter.statistics.clustered import (
    ClusteredMean,
    assign_clusters,
    cohen_d,
    holm,
    mean_of_clusters,
    naive_t,
)
from tiltmeter.statistics.matching import match
from tiltmeter.statistics.summaries import NEVER_POOLED

__all__ = ["Contrasted", "contrast"]

#: What stays apart at every level.
_APART = ("candidate", *NEVER_POOLED)

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


class Contrasted(NamedTuple):
    """Differences before the verdict, and the trials that were matched for them."""

    estimates: pl.DataFrame
    matches: pl.DataFrame


def contrast(
    scores: pl.DataFrame,
    measure: Measure,
    *,
    factor: str = "intervention",
    baseline: str = "none",
    confidence: float = 0.95,
) -> Contrasted:
    """Estimate the mean difference from the baseline at every level.

    Parameters
    ----------
    scores
        Columns of `results.SCORES` with the factor; asked under the baseline and under one or
        more other values of the factor, the candidates.
    measure
        What a score means; its ends bound what missing scores could have been.
    factor
        Column that tells baseline and candidates apart: ``"intervention"``, ``"model"``, ….
    baseline
        Its value to compare with.
    confidence
        Of the intervals, 0…1.

    Returns
    -------
    Contrasted
        `estimates`: columns of `results.ESTIMATES`, a row per level, candidate, group and method,
        and one for the change of compliance; level ``overall`` only where there are two models or
        more. `matches`: columns of `results.MATCHES`.

    Raises
    ------
    InputError
        If a column or the baseline is missing, nothing else was asked, a score lies outside the
        measure's range, a trial occurs twice, matched trials differ in their group words, or a
        parameter means nothing.

    Examples
    --------
    >>> import polars as pl
    >>> from tiltmeter.results import SCORES
    >>> rows = [
    ...     dict.fromkeys(SCORES) | {"model": "m", "stereotype": "age", "iteration": i,
    ...     "intervention": intervention, "score": score, "marginalized": f"old{i}"}
    ...     for i in range(4) for intervention, score in (("none", 0.4 + i / 10), ("fair", i / 20))
    ... ]
    >>> measure = Measure("word_association", "", -1, 1, 0, "", "")
    >>> found = contrast(pl.DataFrame(rows, schema=SCORES), measure).estimates
    >>> model = found.filter(level="model", method="clustered").row(0, named=True)
    >>> model["n_scored"], round(model["estimate"], 3), model["candidate"]
    (4, -0.475, 'fair')
    """
    if not 0 < confidence < 1:
        raise InputError(f"confidence {confidence}: must lie between 0 and 1, as 0.95")
    bounds = (measure.low, measure.high)
    frame = check(scores, {**SCORES, factor: pl.String()}, "scores")
    _check_scores(frame, *bounds)
    pairs = match(frame, factor, baseline)
    rows = pl.concat(
        [_level(pairs, level, bounds, confidence) for level in LEVELS], how="diagonal_relaxed"
    )
    rows = _adjust(rows).with_columns(factor=pl.lit(factor), baseline=pl.lit(baseline))
    absent = [name for name in MATCHES if name not in rows.columns]
    rows = rows.with_columns(pl.lit(None, MATCHES[name]).alias(name) for name in absent)
    return Contrasted(_as_estimates(rows, measure), check(rows, MATCHES, "matches"))


def _as_estimates(rows: pl.DataFrame, measure: Measure) -> pl.DataFrame:
    """Set out each difference by method, and the change of compliance under it."""
    difference = Measure(
        measure.name, measure.title, measure.low - measure.high, measure.high - measure.low, 0.0,
        measure.direction, measure.reference, consistent=measure.consistent,
    )  # fmt: skip
    keys = [name for name in KEYS if name in rows.columns]
    named = rows.with_row_index("row").with_columns(
        subject="model",
        measure=pl.lit(measure.name),
        estimate="difference",
        adjusted_over=pl.format(
            "{} differences of a model, study, instrument, mode, dimension, word list and scoring, "
            "over candidates",
            "level",
        ),
    )
    stated = ["row", "subject", *keys, "n", "n_clusters", "clustered_by", "conditional_on"]
    of_scores = ["measure", "n_scored", "estimate", "baseline_estimate", "candidate_estimate", "sd"]
    clustered = named.select(
        *stated, *of_scores,
        *("test", "se", "df", "p", "p_holm", "p_bh", "adjusted_over", "confidence", "ci_low"),
        *("ci_high", "bound_low", "bound_high"),
        method=pl.lit("clustered"), statistic="t", effect_size="cohen_dz",
    )  # fmt: skip
    published = named.select(
        *stated[:-3], *of_scores, method=pl.lit("published"),
        test=pl.when(pl.col("naive_p").is_not_null()).then(pl.lit("t")),
        se="naive_se", df="naive_df", statistic="naive_t", p="naive_p", effect_size="cohen_dz",
    )  # fmt: skip
    compliance = named.select(
        *stated, "confidence", measure=pl.lit("compliance"), method=pl.lit("clustered"),
        estimate="compliance_change", baseline_estimate="compliance_baseline",
        candidate_estimate="compliance_candidate", ci_low="compliance_low",
        ci_high="compliance_high", p="compliance_p",
    )  # fmt: skip
    whole = pl.concat([clustered, published, compliance], how="diagonal")
    whole = whole.sort("row", maintain_order=True).drop("row")
    return as_estimates(whole, {**DETAILS, measure.name: difference})


def _check_scores(frame: pl.DataFrame, low: float, high: float) -> None:
    scored = frame["score"].drop_nulls()
    if not scored.is_finite().all():
        raise InputError("scores: score is nan or infinite; a missing score is null with a reason")
    outside = scored.filter(~scored.is_between(low, high))
    if not outside.is_empty():
        raise InputError(f"scores: score {outside[0]} lies outside low {low} to high {high}")


def _level(
    pairs: pl.DataFrame, level: str, bounds: tuple[float, float], confidence: float
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
    tested = pl.DataFrame(tests, schema=_TESTED)
    return groups.select(pl.lit(level).alias("level"), pl.exclude("sums", "complied")).hstack(
        tested
    )


def _describe(pairs: pl.DataFrame, keys: list[str], bounds: tuple[float, float]) -> pl.DataFrame:
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
        "n_unasked_candidate": (pl.col("asked_b") & ~both).sum(),
        "n_scored": matched.sum(),
        "n_lost_baseline": (has_t & ~has_b).sum(),
        "n_lost_candidate": (has_b & ~has_t).sum(),
        "n_lost_both": (both & ~has_b & ~has_t).sum(),
        "baseline_estimate": b.filter(matched).mean(),
        "candidate_estimate": t.filter(matched).mean(),
        "difference": difference.mean(),
        "sd": pl.when(sd > rounding).then(sd).otherwise(sd * 0.0),
        "compliance_baseline": pl.when(n > 0).then(has_b.sum() / n),
        "compliance_candidate": pl.when(n > 0).then(has_t.sum() / n),
    }
    for name, (least, most) in {"bound_low": bounds, "bound_high": bounds[::-1]}.items():
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


_TESTED: Schema = {
    **columns("se", "df"),
    "t": pl.Float64(),
    **columns("p", "test", "confidence", "ci_low", "ci_high", "n_clusters"),
    **dict.fromkeys(("naive_se", "naive_t", "naive_df", "naive_p", "cohen_dz"), pl.Float64()),
    **dict.fromkeys((f"compliance_{x}" for x in ("change", "low", "high", "p")), pl.Float64()),
}


def _tests(
    row: Mapping[str, Any], bounds: tuple[float, float], confidence: float
) -> dict[str, float | int | str | None]:
    """Return the clustered and the naive inference on one group."""
    span = (bounds[0] - bounds[1], bounds[1] - bounds[0])
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
        **naive_t(row["difference"], row["sd"], row["n_scored"]),
        "cohen_dz": cohen_d(row["difference"], row["sd"]),
        "compliance_change": compliance.mean,
        "compliance_low": compliance_low,
        "compliance_high": compliance_high,
        "compliance_p": compliance.p(),
    }


def _clustered(sums: list[dict[str, float]] | None, bounds: tuple[float, float]) -> ClusteredMean:
    kept = sums or []
    return mean_of_clusters([s["size"] for s in kept], [s["total"] for s in kept], bounds=bounds)


def _adjust(rows: pl.DataFrame) -> pl.DataFrame:
    """Add the p-values adjusted within each family: a model and level, over all candidates."""
    members = ["level", "model", *(c for c in _APART if c != "candidate")]
    family = rows.select(pl.struct(members).rank("dense")).to_series().to_numpy()
    p = rows["p"].to_numpy()
    adjusted = {"p_holm": np.full(len(p), np.nan), "p_bh": np.full(len(p), np.nan)}
    for one in np.unique(family):
        tested = (family == one) & ~np.isnan(p)
        adjusted["p_holm"][tested] = holm(p[tested])
        adjusted["p_bh"][tested] = false_discovery_control(p[tested])
    return rows.with_columns(pl.Series(c, v).fill_nan(None) for c, v in adjusted.items())
