"""Explicit beside implicit: how much more bias a model shows than it admits to.

Reference
    Bai, Wang, Sucholutsky & Griffiths (2025), PNAS 122(8), e2416228122: models that show little
    bias on explicit benchmarks (SI section A) pair groups with words and decide along stereotypes.
    The paper sets the two beside each other; it has no test of the difference.

Measure
    `explicit_gap`: the mean of an implicit measure − that of an explicit one, each as a share of
    the way from its neutral value to the stereotype-consistent end of its scale. Scales without two
    ends at the same distance from neutral are left out.

Range and sign
    −2…2, neutral 0; positive: the implicit measure is the more stereotype-consistent.

Inference
    The two were asked with different prompts, so their variances add up. Degrees of freedom:
    Welch (1947) and Satterthwaite (1946), from those of both. Each mean holds its own stereotypes
    fixed; benchmarks of a category are about other groups than its associations, and the gap is
    of these two sets.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl
from scipy.special import stdtr

from clinometer.results import CONDITIONS, ESTIMATES, NO_ESTIMATES, Measure, as_estimates, check
from clinometer.statistics.clustered import Array, adjusted, benjamini_hochberg
from clinometer.statistics.intervals import critical_value

#: Differences below this are due to rounding.
ROUNDING = 1e-9

EXPLICIT_GAP = Measure(
    name="explicit_gap",
    title="Implicit − explicit bias",
    low=-2.0,
    high=2.0,
    neutral=0.0,
    direction="positive: the implicit measure is the more stereotype-consistent",
    reference="Bai et al. (2025), SI section A",
    how="Mean of an implicit measure less that of an explicit one, each as a share of the way from "
    "neutral to the end of its scale.",
)

#: Level → what two means of one model must have in common.
_LEVELS = {
    "stereotype": ("category", "study", "stereotype"),
    "category": ("category",),
    "model": (),
}
_RUN = ("model", "mode", *CONDITIONS, "level")
_MEAN_COLUMNS = ("instrument", "study", "dimension", "scaled", "scaled_se", "df", "n", "n_scored")

#: Differences that are seen together.
_FAMILY = (*_RUN, "baseline", "candidate", "study", "dimension")


def explicit_gaps(estimates: pl.DataFrame, confidence: float = 0.95) -> pl.DataFrame:
    """Compare each implicit measure with each explicit one, per stereotype, category and model.

    Parameters
    ----------
    estimates
        Columns of `results.ESTIMATES`; the means of scores are taken, without those of controls.
    confidence
        Of the intervals.

    Returns
    -------
    polars.DataFrame
        Columns of `results.ESTIMATES`, factor ``instrument``: `baseline` is the explicit
        instrument, `candidate` the implicit one, their means as shares of the way to the end of the
        scale in `baseline_estimate` and `candidate_estimate`. Stereotypes are compared where both
        were asked them. No rows without an explicit measure.
    """
    frame = check(estimates, ESTIMATES, "estimates")
    if not frame["explicit"].any():
        return NO_ESTIMATES
    means = _means(frame)
    implicit, explicit = means.filter(~pl.col("explicit")), means.filter(pl.col("explicit"))
    tables = [_pair_means(implicit, explicit, level, keys) for level, keys in _LEVELS.items()]
    pairs = pl.concat(tables)
    return NO_ESTIMATES if pairs.is_empty() else _as_estimates(pairs, confidence)


def share_of_scale(column: str) -> pl.Expr:
    """Return a column of `results.ESTIMATES` as a share of the way to the stereotypical end.

    −1…1, neutral 0; null if the ends are not at the same distance from neutral.
    """
    reach = pl.col("range_high") - pl.col("neutral")
    even = (reach - (pl.col("neutral") - pl.col("range_low"))).abs() < ROUNDING
    sign = pl.when(pl.col("direction") == "below").then(-1.0).otherwise(1.0)
    return pl.when(even).then(sign * (pl.col(column) - pl.col("neutral")) / reach)


def _means(estimates: pl.DataFrame) -> pl.DataFrame:
    """Return the means of scores on a common scale: −1…1 from one end to the other."""
    return estimates.filter(
        pl.col("factor").is_null(),
        pl.col("control").is_null(),
        pl.col("direction").is_not_null(),
        pl.col("tost_margin").is_not_null(),
        share_of_scale("estimate").is_not_null(),
        method="clustered",
    ).with_columns(
        scaled=share_of_scale("estimate"),
        scaled_se=pl.col("se") / (pl.col("range_high") - pl.col("neutral")),
    )


def _pair_means(
    implicit: pl.DataFrame, explicit: pl.DataFrame, level: str, keys: Sequence[str]
) -> pl.DataFrame:
    """Set each implicit mean beside each explicit one: of its own study and dimension, if asked.

    An explicit measure of another study may have dimensions, such as the contexts of BBQ, beside an
    implicit one without.
    """
    match_columns = [*_RUN, *keys]
    explicit_means = explicit.filter(level=level)
    explicit_means = explicit_means.select(
        *match_columns, pl.col(_MEAN_COLUMNS).name.prefix("explicit_")
    )
    pairs = implicit.filter(level=level).join(
        explicit_means, on=match_columns, how="inner", nulls_equal=True
    )
    # Pairs whose explicit measure was asked of the implicit one's study too are of that study.
    studies = explicit.select("study", explicit_instrument="instrument").unique()
    same_study = pairs.join(studies, on=studies.columns, how="semi")
    elsewhere = pairs.join(studies, on=studies.columns, how="anti")
    same_dimension = pl.col("dimension").eq_missing(pl.col("explicit_dimension"))
    same = pl.col("study") == pl.col("explicit_study")
    pairs = pl.concat(
        [same_study.filter(same, same_dimension), elsewhere.filter(pl.col("dimension").is_null())]
    )
    dimensions = ("dimension", "explicit_dimension")
    return pairs.select(
        *(*_RUN, "category", "study", "stereotype", "instrument", "explicit_instrument"),
        *("scaled", "explicit_scaled", "n", "explicit_n", "n_scored", "explicit_n_scored"),
        dimension=pl.coalesce(dimensions),
        of_implicit=pl.col("scaled_se") ** 2,
        of_explicit=pl.col("explicit_scaled_se") ** 2,
        df=pl.col("df"),
        explicit_df=pl.col("explicit_df"),
    )


def _differences(pairs: pl.DataFrame) -> pl.DataFrame:
    """Take the explicit means from the implicit ones, with error and df (Welch–Satterthwaite)."""
    variance = pl.col("of_implicit") + pl.col("of_explicit")
    by_df = pl.col("of_implicit") ** 2 / pl.col("df")
    by_df += pl.col("of_explicit") ** 2 / pl.col("explicit_df")
    return pairs.select(
        *(*_RUN, "category", "study", "stereotype", "dimension", "instrument"),
        subject="model",
        measure=pl.lit(EXPLICIT_GAP.name),
        factor=pl.lit("instrument"),
        baseline="explicit_instrument",
        candidate="instrument",
        baseline_estimate="explicit_scaled",
        candidate_estimate="scaled",
        estimate=pl.col("scaled") - pl.col("explicit_scaled"),
        n=pl.min_horizontal("n", "explicit_n"),
        n_scored=pl.min_horizontal("n_scored", "explicit_n_scored"),
        se=variance.sqrt(),
        df=pl.when(variance > 0).then(variance**2 / by_df),
        method=pl.lit("clustered"),
        range=pl.lit("other_prompts"),
        matched_by="level",
    )


def _as_estimates(pairs: pl.DataFrame, confidence: float) -> pl.DataFrame:
    """Set out the differences, with interval and test."""
    rows = _differences(pairs)
    has_error = pl.col("df").is_not_null()
    statistic, df = rows.select(pl.col("estimate") / pl.col("se"), "df").to_numpy().T
    rows = rows.with_columns(
        statistic=pl.Series(statistic),
        p=pl.Series(2.0 * stdtr(df, -np.abs(statistic)), nan_to_null=True),
    )
    tests = pl.col("p").count().clip(lower_bound=1).over(_FAMILY)
    family_alpha = (1.0 - confidence) / rows.select(tests).to_series().to_numpy()
    rows = rows.with_columns(
        *_ends("ci", critical_value(1.0 - family_alpha, df)),
        *_ends("pointwise", critical_value(confidence, df)),
        p_bonferroni=(tests * pl.col("p")).clip(upper_bound=1.0),
        p_bh=adjusted(benjamini_hochberg, *_FAMILY),
        test=pl.when(has_error).then(pl.lit("t")),
        confidence=pl.when(has_error).then(pl.lit(confidence)),
        adjusted_over=pl.format("{} gaps of a model, mode and two instruments", "level"),
    )
    return as_estimates(rows, {EXPLICIT_GAP.name: EXPLICIT_GAP})


def _ends(name: str, errors: Array) -> Iterator[pl.Expr]:
    """Yield the ends of intervals of so many standard errors, cut at the ends of the scale."""
    for end, side in (("low", -1.0), ("high", 1.0)):
        away = pl.Series(side * errors) * pl.col("se")
        inside = (pl.col("estimate") + away).clip(EXPLICIT_GAP.low, EXPLICIT_GAP.high)
        yield inside.alias(f"{name}_{end}")
