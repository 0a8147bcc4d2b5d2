"""What differs between runs whose trials are not the same: other draws, another size, recorded.

Measures
    Mean of the candidate − mean of the baseline over the stereotypes that both were asked, each of
    which counts once. Unit and direction are those of the score; neutral 0. Runs are of two models
    or of two values of another factor, such as two instruments with one scale.

Inference
    `means.differences`: the variances of both runs, less what the wordings and group words that
    they share have in common, as far as many stereotypes tell it. Draws and answers do not cancel
    as they do over matched trials (`contrasts`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from clinometer.results import SCORES, Measure, check
from clinometer.statistics.changes import Changes, Compared, Contrasted, candidates, contrasted
from clinometer.statistics.estimates import check_range
from clinometer.statistics.means import BALANCED, Ranges, differences
from clinometer.statistics.summaries import (
    LEVEL_KEYS,
    NEVER_POOLED,
    UNBALANCED,
    fill_missing,
    keys_of,
    summarise,
    unbalanced,
)

_LEVELS = ("cell", "stereotype", "category", "model")

#: Level and keys of a group.
_Key = tuple[Any, ...]

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
    settings = Compared(factor, baseline, "stereotype", confidence, margin)
    frame = check(scores, SCORES, "scores")
    check_range(frame, measure, "score")
    baseline_units = _units(frame, factor, baseline)
    low, high = ends = measure.low, measure.high
    scored: dict[_Key, Ranges] = {}
    compliance: dict[_Key, Ranges] = {}
    least: dict[_Key, Ranges] = {}
    greatest: dict[_Key, Ranges] = {}
    groups: dict[str, list[pl.DataFrame]] = {level: [] for level in _LEVELS}
    for candidate in candidates(frame, factor, baseline):
        units = _units(frame, factor, candidate)
        change = differences(baseline_units, units, ends, BALANCED)
        scored |= _with_candidate(change, candidate)
        change = differences(baseline_units, units, (0.0, 1.0), {"value": "scored", "weight": "n"})
        compliance |= _with_candidate(change, candidate)
        if _any_missing(baseline_units) or _any_missing(units):
            filled = fill_missing(baseline_units, high), fill_missing(units, low)
            change = differences(filled[0], filled[1], ends, BALANCED)
            least |= _with_candidate(change, candidate)
            filled = fill_missing(baseline_units, low), fill_missing(units, high)
            change = differences(filled[0], filled[1], ends, BALANCED)
            greatest |= _with_candidate(change, candidate)
        for level, tables in groups.items():
            tables.append(_describe_groups(baseline_units, units, level, candidate))
    described = {level: pl.concat(tables) for level, tables in groups.items()}
    changes = Changes(described, scored, compliance, (least, greatest))
    return contrasted(changes, measure, settings)


def _with_candidate(change: Mapping[_Key, Ranges], candidate: str) -> dict[_Key, Ranges]:
    """Put the candidate into the keys, after the level."""
    return {(level, candidate, *key): ranges for (level, *key), ranges in change.items()}


def _any_missing(units: pl.DataFrame) -> bool:
    """Whether an answer of a run has no score."""
    return bool(units["n"].sum() > units["n_scored"].sum())


def unpaired_errors(scores: pl.DataFrame, measure: Measure, baseline: str) -> pl.DataFrame:
    """Return the errors that differences over all stereotypes have if trials are not matched.

    `scores` have columns of `results.SCORES`; `model` tells the baseline from candidates. A row per
    candidate and what is never pooled: `candidate`, those columns, and `se`, in these prompts.
    """
    baseline_units = _units(scores, "model", baseline)
    ends = (measure.low, measure.high)
    names = ("level", *keys_of("model"))
    rows = []
    for candidate in candidates(scores, "model", baseline):
        units = _units(scores, "model", candidate)
        change = differences(baseline_units, units, ends, BALANCED, ("model",))
        for key, ranges in change.items():
            se = None if ranges.prompts is None else ranges.prompts.se
            rows.append({**dict(zip(names, key, strict=True)), "candidate": candidate, "se": se})
    schema = {name: pl.String() for name in (*NEVER_POOLED, "candidate")}
    return pl.DataFrame(rows, schema={**schema, "se": pl.Float64()})


def _units(scores: pl.DataFrame, factor: str, value: str) -> pl.DataFrame:
    """Return the summaries of one run, with the share of scored answers; its factor is null."""
    units = summarise(scores.filter(pl.col(factor) == value))
    scored = (pl.col("n_scored") / pl.col("n")).alias("scored")
    return units.with_columns(scored, pl.lit(None, pl.String).alias(factor))


def _describe_groups(
    baseline: pl.DataFrame, candidate: pl.DataFrame, level: str, name: str
) -> pl.DataFrame:
    """Describe the groups of one level, a row each, by what needs no model."""
    keys = [*_STRATUM, "variation"] if level == "cell" else list(_STRATUM)
    candidate_counts = _count_answers(candidate, keys)
    paired_counts = _count_answers(baseline, keys).join(
        candidate_counts, on=keys, how="inner", nulls_equal=True, suffix="_t"
    )
    n_baseline, n_candidate = pl.col("n_scored"), pl.col("n_scored_t")
    scored = (n_baseline > 0) & (n_candidate > 0)
    groups = keys_of(level)
    pooled = paired_counts.group_by(groups, maintain_order=True).agg(
        n=pl.min_horizontal(pl.col("n").sum(), pl.col("n_t").sum()),
        n_scored=pl.min_horizontal(n_baseline.sum(), n_candidate.sum()),
        n_stereotypes=scored.sum().cast(pl.Int64),
        baseline_estimate=pl.col("mean").filter(scored).mean(),
        compliance_baseline_estimate=pl.col("scored").mean(),
        compliance_candidate_estimate=pl.col("scored_t").mean(),
        **{flag: pl.any_horizontal(flag, f"{flag}_t").any() for flag in UNBALANCED},
    )
    counts = ("n_unasked_baseline", "n_unasked_candidate")
    lost = ("n_lost_baseline", "n_lost_candidate", "n_lost_both")
    # Rows of all levels have the same columns; trials that are not matched have no counts of these.
    absent = [c for c in LEVEL_KEYS["cell"] if c not in groups]
    return pooled.sort(groups).with_columns(
        *(pl.lit(None, pl.String).alias(c) for c in absent),
        *(pl.lit(None, pl.Int64).alias(c) for c in (*counts, *lost)),
        candidate=pl.lit(name),
        sd=pl.lit(None),
    )


def _count_answers(units: pl.DataFrame, keys: list[str]) -> pl.DataFrame:
    """Return the answers and the mean of each stereotype, or cell."""
    n, value, weight = pl.col("n_scored"), pl.col("value"), pl.col("weight")
    mean = pl.when(weight.sum() > 0).then((weight * value).sum() / weight.sum())
    return units.group_by(keys, maintain_order=True).agg(
        pl.col("n", "n_scored").sum(),
        *unbalanced(),
        mean=mean,
        scored=n.sum() / pl.col("n").sum(),
    )
