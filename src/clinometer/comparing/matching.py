"""Which trials of two runs are the same, and differences by instrument accordingly."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypedDict

import polars as pl

from clinometer.instruments.catalogue import measure_of
from clinometer.results import Measure
from clinometer.statistics.changes import Contrasted
from clinometer.statistics.contrasts import DRAWN, TRIAL, contrast
from clinometer.statistics.summaries import NEVER_POOLED
from clinometer.statistics.unpaired import contrast_unpaired, errors_apart

__all__ = ["compare_scores", "same_trials"]

#: Trials are matched if at least this share of the smaller run's was asked of both.
LEAST = 0.5


class _How(TypedDict):
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
    if any(one.select(_KEYS).is_duplicated().any() for one in (baseline, candidate)):
        return False
    both = baseline.join(candidate, on=_KEYS, how="inner", nulls_equal=True, suffix="_t")
    differ = pl.any_horizontal(pl.col(c).ne_missing(pl.col(f"{c}_t")) for c in DRAWN)
    few = len(both) < LEAST * min(len(baseline), len(candidate))
    return not few and both.filter(differ).is_empty()


def compare_scores(
    baseline: pl.DataFrame, candidate: pl.DataFrame, *, confidence: float, margin: float
) -> Iterator[Contrasted]:
    """Yield the differences of two runs, by instrument; their `model` is a label.

    What was asked of one run alone is left out. Trials that are the same are compared in pairs,
    others by stereotype.
    """
    how: _How = {"baseline": baseline["model"][0], "confidence": confidence, "margin": margin}
    for name, parts in _parts(baseline, candidate).items():
        for paired in (True, False):
            own = [pl.concat(part) for part in parts if same_trials(*part) == paired]
            if own and paired:
                yield _paired(pl.concat(own), measure_of(name), how)
            elif own:
                yield contrast_unpaired(pl.concat(own), measure_of(name), **how)


def _paired(scores: pl.DataFrame, measure: Measure, how: _How) -> Contrasted:
    """Compare in pairs, and say how many times as many trials it takes without."""
    estimates, matches, found = contrast(scores, measure, factor="model", **how)
    of_model = {"level": "model", "method": "clustered", "measure": measure.name}
    keys = ["candidate", *NEVER_POOLED]
    known = ~pl.col("conditional_on").str.contains("usual variances")
    own = estimates.filter(known, **of_model).select(*keys, "level", "se")
    apart = errors_apart(scores, measure, how["baseline"])
    both = own.join(apart, on=keys, nulls_equal=True, suffix="_apart")
    gain = both.select(*keys, "level", pairing_gain=(pl.col("se_apart") / pl.col("se")) ** 2)
    matches = matches.drop("pairing_gain").join(
        gain.filter(pl.col("pairing_gain").is_finite()),
        on=[*keys, "level"],
        how="left",
        nulls_equal=True,
    )
    return Contrasted(estimates, matches, found)


def _parts(
    baseline: pl.DataFrame, candidate: pl.DataFrame
) -> dict[str, list[Sequence[pl.DataFrame]]]:
    """Return what was asked of both, by instrument and by what is never pooled."""
    theirs = dict(candidate.group_by(NEVER_POOLED, maintain_order=True))
    parts: dict[str, list[Sequence[pl.DataFrame]]] = {}
    for key, own in baseline.group_by(NEVER_POOLED, maintain_order=True):
        if key in theirs:
            parts.setdefault(own["instrument"][0], []).append((own, theirs[key]))
    return parts
