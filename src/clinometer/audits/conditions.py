"""Differences between what trials were asked under: interventions, efforts, temperatures."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from clinometer.contracts.catalogue import measure_of
from clinometer.contracts.design import EFFORTS
from clinometer.results import CONDITIONS, NO_ESTIMATES
from clinometer.results.schemas import NO_MATCHES
from clinometer.statistics.changes import Contrasted
from clinometer.statistics.contrasts import contrast


def contrast_conditions(scores: pl.LazyFrame) -> Contrasted:
    """Compare what trials were asked under, over matched trials, one model in memory at a time.

    Each intervention with none; each reasoning effort and temperature with the lowest.
    """
    estimates = [NO_ESTIMATES]
    matches = [NO_MATCHES]
    for run in _runs(scores):
        measure = measure_of(run["instrument"][0])
        for condition in CONDITIONS:
            baseline = _baseline(condition, run)
            if baseline is not None:
                contrasted = contrast(run, measure, factor=condition, baseline=baseline)
                estimates.append(contrasted.estimates)
                matches.append(contrasted.matches)
    return Contrasted(pl.concat(estimates), pl.concat(matches))


def _runs(scores: pl.LazyFrame) -> Iterator[pl.DataFrame]:
    """Yield the scores of each model and instrument that was asked under several conditions."""
    differs = pl.any_horizontal(pl.col(name).drop_nulls().n_unique() > 1 for name in CONDITIONS)
    runs = scores.group_by("model", "instrument").agg(differs=differs).filter("differs")
    for model, instrument in runs.drop("differs").collect().sort("model", "instrument").rows():
        is_of_run = (
            pl.col("model").eq_missing(pl.lit(model)),
            pl.col("instrument").eq_missing(pl.lit(instrument)),
        )
        yield scores.filter(*is_of_run).collect()


def _baseline(condition: str, scores: pl.DataFrame) -> str | None:
    """Return the baseline of a condition: no intervention, the lowest effort or temperature.

    None where there is nothing to compare, or recorded answers have no condition called none.
    """
    names: list[str] = scores[condition].drop_nulls().unique().to_list()
    if len(names) < 2:
        return None
    if condition == "intervention":
        return "none" if "none" in names else None
    # Efforts are levels, in their order, or numbers of tokens; temperatures are numbers.
    ranks = {name: float(rank) for rank, name in enumerate(EFFORTS)}
    return min(names, key=lambda name: ranks[name] if name in ranks else float(name))
