"""What instruments make of their scores besides means, and how reliable the means are."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from clinometer.instruments.catalogue import INSTRUMENTS
from clinometer.results import ESTIMATES
from clinometer.results.schemas import MATCHES, Tables
from clinometer.statistics.reliability import USED, estimate_reliability

__all__ = ["analyse", "estimate_reliabilities"]


def analyse(scores: pl.LazyFrame) -> Tables:
    """Make the estimates and tables that instruments have of their own, one model at a time.

    `scores`: columns of `results.SCORES`. Tables of instruments that were not asked are left out.
    """
    estimates = [pl.DataFrame(schema=ESTIMATES)]
    tables: dict[str, list[pl.DataFrame]] = {"matches": [pl.DataFrame(schema=MATCHES)]}
    asked = scores.select("model", "instrument").unique().collect().sort("model")
    for instrument in INSTRUMENTS.values():
        if instrument.analyse is None:
            continue
        measures = [measure.name for measure in instrument.measures]
        used_scores = scores.filter(
            pl.col("instrument").is_in([*measures, *instrument.analysed_with])
        )
        # Models without scores of the instrument itself are not analysed.
        asked_models = asked.filter(pl.col("instrument").is_in(measures))["model"]
        for model in asked_models.unique(maintain_order=True):
            analysis = instrument.analyse(used_scores.filter(_is_of(model)))
            estimates.append(analysis.estimates)
            for name, table in analysis.details.items():
                tables.setdefault(name, []).append(table)
    return Tables(pl.concat(estimates), {name: pl.concat(parts) for name, parts in tables.items()})


def estimate_reliabilities(scores: pl.LazyFrame) -> pl.DataFrame:
    """Estimate the reliability of each model, one in memory at a time.

    Columns of `results.ESTIMATES`; see `statistics.reliability.estimate_reliability`.
    """
    used_columns = scores.select(USED)
    estimates = [pl.DataFrame(schema=ESTIMATES)]
    for model in _models(scores):
        scores_of_model = used_columns.filter(_is_of(model)).collect()
        estimates.append(estimate_reliability(scores_of_model))
    return pl.concat(estimates)


def _models(scores: pl.LazyFrame) -> Iterator[str | None]:
    """Yield the models of scores, in alphabetical order; None where recorded answers name none."""
    yield from scores.select(pl.col("model").unique().sort()).collect()["model"]


def _is_of(model: str | None) -> pl.Expr:
    # `eq_missing`, so that None is a model too.
    return pl.col("model").eq_missing(pl.lit(model))
