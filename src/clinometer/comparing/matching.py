"""Which trials of two runs are the same, and differences by instrument accordingly."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypedDict

import polars as pl

from clinometer.contracts.catalogue import measure_of
from clinometer.results import Measure
from clinometer.statistics.changes import Contrasted
from clinometer.statistics.contrasts import DRAW_COLUMNS, TRIAL, contrast
from clinometer.statistics.summaries import NEVER_POOLED
from clinometer.statistics.unpaired import contrast_unpaired, unpaired_errors

__all__ = ["compare_scores", "same_trials"]

#: Trials are matched if at least this share of the smaller run's was asked of both.
LEAST = 0.5


class _Options(TypedDict):
    """What both ways of comparing take."""

    baseline: str
    confidence: float
    margin: float


_KEYS = [name for name in TRIAL if name != "model"]


def same_trials(baseline: pl.DataFrame, candidate: pl.DataFrame) -> bool:
    """Whether two runs of one instrument were asked the same trials.

    A trial is known by its number, order and factors; trials of one number that drew other words
    are not the same.
    """
    if any(scores.select(_KEYS).is_duplicated().any() for scores in (baseline, candidate)):
        return False
    pairs = baseline.join(candidate, on=_KEYS, how="inner", nulls_equal=True, suffix="_t")
    differ = pl.any_horizontal(pl.col(c).ne_missing(pl.col(f"{c}_t")) for c in DRAW_COLUMNS)
    few = len(pairs) < LEAST * min(len(baseline), len(candidate))
    return not few and pairs.filter(differ).is_empty()


def compare_scores(
    baseline: pl.DataFrame, candidate: pl.DataFrame, *, confidence: float, margin: float
) -> Iterator[Contrasted]:
    """Yield the differences of two runs, by instrument; their `model` is a label.

    What was asked of one run alone is left out. Trials that are the same are compared in pairs,
    others by stereotype.
    """
    options: _Options = {
        "baseline": baseline["model"][0],
        "confidence": confidence,
        "margin": margin,
    }
    for name, parts in _shared_parts(baseline, candidate).items():
        for paired in (True, False):
            selected = [pl.concat(part) for part in parts if same_trials(*part) == paired]
            if selected and paired:
                yield _contrast_pairs(pl.concat(selected), measure_of(name), options)
            elif selected:
                yield contrast_unpaired(pl.concat(selected), measure_of(name), **options)


def _contrast_pairs(scores: pl.DataFrame, measure: Measure, options: _Options) -> Contrasted:
    """Compare in pairs, and say how many times as many trials it takes without."""
    estimates, matches = contrast(scores, measure, factor="model", **options)
    model_filter = {"level": "model", "range": "prompts", "measure": measure.name}
    keys = ["candidate", *NEVER_POOLED]
    paired = estimates.filter(**model_filter).select(*keys, "level", "se")
    unpaired = unpaired_errors(scores, measure, options["baseline"])
    errors = paired.join(unpaired, on=keys, nulls_equal=True, suffix="_apart")
    gain = errors.select(*keys, "level", pairing_gain=(pl.col("se_apart") / pl.col("se")) ** 2)
    matches = matches.drop("pairing_gain").join(
        gain.filter(pl.col("pairing_gain").is_finite()),
        on=[*keys, "level"],
        how="left",
        nulls_equal=True,
    )
    return Contrasted(estimates, matches)


def _shared_parts(
    baseline: pl.DataFrame, candidate: pl.DataFrame
) -> dict[str, list[Sequence[pl.DataFrame]]]:
    """Return what was asked of both, by instrument and by what is never pooled."""
    theirs = dict(candidate.group_by(NEVER_POOLED, maintain_order=True))
    parts: dict[str, list[Sequence[pl.DataFrame]]] = {}
    for key, ours in baseline.group_by(NEVER_POOLED, maintain_order=True):
        if key in theirs:
            parts.setdefault(ours["instrument"][0], []).append((ours, theirs[key]))
    return parts
