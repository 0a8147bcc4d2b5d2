"""Which lean the answers of a run would have shown, by their own errors."""

from __future__ import annotations

from math import inf, isfinite
from statistics import median

import polars as pl

from clinometer.numbers import number
from clinometer.pieces.views import InstrumentResults
from clinometer.report.answers.findings import MOST_ANSWERS
from clinometer.statistics.planning import smallest_effects

#: Probability with which a lean that is stated is found.
_CHANCE = 0.8


def sensitivity(results: InstrumentResults) -> str:
    """Say how large a lean the answers of each model and mode would have shown.

    Of many, of the least and the most sensitive by the mean over all.
    """
    runs = []
    tested = results.by_model.drop_nulls("n_tests")
    for (model, mode), rows in tested.group_by("model", "mode", maintain_order=True):
        # A model that recorded answers do not name is null, and a run of its own.
        same = [
            pl.col(name).eq_missing(pl.lit(value, pl.String))
            for name, value in (("model", model), ("mode", mode))
        ]
        single = results.by_stereotype.filter(*same)
        effects = [_smallest(frame, results) for frame in (rows, single)]
        mean_effect, single_effect = (
            f"{number(x)} or more" if isfinite(x) else "none" for x in effects
        )
        text = (
            f"{model}, {mode}: in {rows['n'].sum():,} trials, of the mean over all {mean_effect}, "
            f"of a single stereotype {single_effect} (median)"
        )
        runs.append((effects[0], text))
    if len(runs) > MOST_ANSWERS:
        runs = [min(runs), max(runs)]
    if not runs:
        return ""
    return (
        f"Leans that are found with probability {_CHANCE}, as distance from neutral, by the "
        f"errors of these answers: {'; '.join(text for _, text in runs)}."
    )


def _smallest(rows: pl.DataFrame, results: InstrumentResults) -> float:
    """Return the median of the smallest effects that are found; infinite where most are none."""
    effects = smallest_effects(rows, results.measure, _CHANCE)
    return median(inf if effect is None else effect for effect in effects) if effects else inf
