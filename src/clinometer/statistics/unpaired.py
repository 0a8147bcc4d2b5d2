"""What differs between runs whose trials are not the same: other draws, another size, recorded.

Measures
    Mean of the candidate − mean of the baseline over the stereotypes that both were asked, each of
    which counts once. Unit and direction are those of the score; neutral 0. Runs are of two models
    or of two values of another factor, such as two instruments with one scale.

Inference
    `targets.differences`: the variances of both runs, less what the wordings and group words that
    they share have in common, as far as many stereotypes tell it. Draws and answers do not cancel
    as they do over matched trials (`contrasts`).
"""

from __future__ import annotations

import polars as pl

from clinometer.results import SCORES, Measure, check
from clinometer.statistics.changes import Changes, Compared, Contrasted, candidates, contrasted
from clinometer.statistics.estimates import check_range
from clinometer.statistics.pooling import Targets
from clinometer.statistics.summaries import (
    LEVEL_KEYS,
    NEVER_POOLED,
    fill_missing,
    in_one_order,
    keys_of,
    summarise,
)
from clinometer.statistics.targets import differences

__all__ = ["contrast_unpaired", "errors_apart"]

_LEVELS = ("cell", "stereotype", "category", "model")

#: What tells strata apart that are compared with each other.
_STRATUM = ("model", *NEVER_POOLED, "category", "stereotype")


def contrast_unpaired(
    scores: pl.DataFrame,
    measure: Measure,
    *,
    factor: str = "model",
    baseline: str,
    confidence: float = 0.95,
    margin: float | None = None,
) -> Contrasted:
    """Estimate the difference of each candidate from the baseline, over trials that differ.

    Parameters
    ----------
    scores
        Columns of `results.SCORES`, of the baseline and of one or more candidates.
    measure
        What a score means.
    factor
        Column that tells baseline and candidates apart: ``"model"``, ``"instrument"``.
    baseline
        Its value to compare with.
    confidence, margin
        As in `contrasts.contrast`.

    Returns
    -------
    Contrasted
        As of `contrasts.contrast`, without method ``published``: the papers have no such test.

    Raises
    ------
    InputError
        If a column or the baseline is missing, there is no candidate, a score lies outside the
        measure's range, or a parameter means nothing.
    """
    how = Compared(factor, baseline, "stereotype", confidence, margin)
    frame = check(scores, SCORES, "scores")
    check_range(frame, measure, "score")
    ours = _units(frame, factor, baseline)
    ends = measure.low, measure.high
    found, compliant, least, greatest = (dict[tuple[object, ...], Targets]() for _ in range(4))
    described: dict[str, list[pl.DataFrame]] = {level: [] for level in _LEVELS}
    for candidate in candidates(frame, factor, baseline):
        theirs = _units(frame, factor, candidate)
        cases = [
            (found, differences(ours, theirs, ends, "value", "weight")),
            (compliant, differences(ours, theirs, (0.0, 1.0), "scored", "n")),
        ]
        if any(one["n"].sum() > one["n_scored"].sum() for one in (ours, theirs)):
            for case, at in ((least, ends), (greatest, ends[::-1])):
                worst = fill_missing(ours, at[1]), fill_missing(theirs, at[0])
                cases.append((case, differences(*worst, ends, "value", "weight")))
        for known, each in cases:
            known |= {(level, candidate, *key): one for (level, *key), one in each.items()}
        for level, rows in described.items():
            rows.append(_described(ours, theirs, level, candidate))
    whole = {level: pl.concat(rows) for level, rows in described.items()}
    return contrasted(Changes(whole, found, compliant, (least, greatest)), measure, how)


def errors_apart(scores: pl.DataFrame, measure: Measure, baseline: str) -> pl.DataFrame:
    """Return the errors that differences over all stereotypes have if trials are not matched.

    `scores` have columns of `results.SCORES`; `model` tells the baseline from candidates. A row per
    candidate and what is never pooled: `candidate`, those columns, and `se`, null where unknown or
    moderated by usual variances.
    """
    ours, ends, rows = _units(scores, "model", baseline), (measure.low, measure.high), []
    for candidate in candidates(scores, "model", baseline):
        theirs = _units(scores, "model", candidate)
        found = differences(ours, theirs, ends, "value", "weight", levels=("model",))
        names = ("level", *keys_of("model"))
        for key, one in found.items():
            known = None if "usual variances" in one.fixed else one.these.se
            rows.append({**dict(zip(names, key, strict=True)), "candidate": candidate, "se": known})
    schema = {name: pl.String() for name in (*NEVER_POOLED, "candidate")}
    return pl.DataFrame(rows, schema={**schema, "se": pl.Float64()})


def _units(scores: pl.DataFrame, factor: str, value: str) -> pl.DataFrame:
    """Return the summaries of one run, with the share of scored answers; its factor is null."""
    units = summarise(scores.filter(pl.col(factor) == value))
    scored = (pl.col("n_scored") / pl.col("n")).alias("scored")
    return units.with_columns(scored, pl.lit(None, pl.String).alias(factor))


def _described(
    baseline: pl.DataFrame, candidate: pl.DataFrame, level: str, name: str
) -> pl.DataFrame:
    """Describe the groups of one level, a row each, by what needs no model."""
    keys = [*_STRATUM, "variation"] if level == "cell" else list(_STRATUM)
    ours, theirs = (_counted(units, keys) for units in (baseline, candidate))
    both = ours.join(theirs, on=keys, how="inner", nulls_equal=True, suffix="_t")
    n, m = pl.col("n_scored"), pl.col("n_scored_t")
    scored, groups = (n > 0) & (m > 0), keys_of(level)
    pooled = both.group_by(groups, maintain_order=True).agg(
        n=pl.min_horizontal(pl.col("n").sum(), pl.col("n_t").sum()),
        n_scored=pl.min_horizontal(n.sum(), m.sum()),
        n_stereotypes=scored.sum().cast(pl.Int64),
        baseline_estimate=pl.col("mean").filter(scored).mean(),
        compliance_baseline_estimate=pl.col("scored").mean(),
        compliance_candidate_estimate=pl.col("scored_t").mean(),
        one_order=pl.any_horizontal("one_order", "one_order_t").any(),
    )
    counts = ("n_unasked_baseline", "n_unasked_candidate")
    lost = ("n_lost_baseline", "n_lost_candidate", "n_lost_both")
    absent = [c for c in LEVEL_KEYS["cell"] if c not in groups]
    return pooled.sort(groups).with_columns(
        *(pl.lit(None, pl.String).alias(c) for c in absent),
        *(pl.lit(None, pl.Int64).alias(c) for c in (*counts, *lost)),
        candidate=pl.lit(name),
        sd=pl.lit(None),
    )


def _counted(units: pl.DataFrame, keys: list[str]) -> pl.DataFrame:
    """Return the answers and the mean of each stereotype, or cell."""
    n, (value, weight) = pl.col("n_scored"), (pl.col("value"), pl.col("weight"))
    mean = pl.when(weight.sum() > 0).then((weight * value).sum() / weight.sum())
    return units.group_by(keys, maintain_order=True).agg(
        pl.col("n", "n_scored").sum(),
        mean=mean,
        scored=n.sum() / pl.col("n").sum(),
        one_order=in_one_order(),
    )
