"""What instruments make of their scores besides means, and how reliable the means are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from types import MappingProxyType

import polars as pl

from clinometer.contracts.catalogue import INSTRUMENTS
from clinometer.contracts.failures import name_failure, place_of
from clinometer.contracts.instrument import Instrument
from clinometer.errors import InputError, StudyError
from clinometer.results import ESTIMATES, NO_ESTIMATES, check
from clinometer.results.schemas import FAILURES, MATCHES, NO_MATCHES, Tables
from clinometer.statistics.reliability import USED, estimate_reliability
from clinometer.stimuli import Study, load_study


def analyse(scores: pl.LazyFrame, studies: Mapping[str, Study] = MappingProxyType({})) -> Tables:
    """Make the estimates and tables that instruments have of their own, one model at a time.

    `scores`: columns of `results.SCORES`. `studies`, by name: those that scores are of; others are
    looked for by their names. Tables of instruments that were not asked are left out. An analysis
    that fails is a row of table ``failures``, and costs no other.
    """
    estimates = [NO_ESTIMATES]
    tables: dict[str, list[pl.DataFrame]] = {"matches": [NO_MATCHES]}
    model_measures = scores.select("model", "instrument").unique().collect().sort("model").rows()
    for instrument in INSTRUMENTS.values():
        if instrument.analyse is None and instrument.analyse_study is None:
            continue
        measures = [measure.name for measure in instrument.measures]
        # Models without scores of the instrument itself are not analysed.
        models = dict.fromkeys(model for model, measure in model_measures if measure in measures)
        if not models:
            continue
        used_scores = scores.filter(
            pl.col("instrument").is_in([*measures, *instrument.analysed_with])
        )
        for analysis in _analyses(instrument, used_scores, models, studies):
            estimates.append(analysis.estimates)
            for name, table in analysis.details.items():
                tables.setdefault(name, []).append(table)
    return Tables(pl.concat(estimates), {name: pl.concat(parts) for name, parts in tables.items()})


def _analyses(
    instrument: Instrument,
    scores: pl.LazyFrame,
    models: Iterable[str | None],
    studies: Mapping[str, Study],
) -> Iterator[Tables]:
    """Yield what one instrument makes of the scores of each model."""
    for model in models:
        model_scores = scores.filter(_is_of(model))
        if instrument.analyse is not None:
            yield _attempt(instrument, instrument.analyse, model, model_scores)
        if instrument.analyse_study is not None:
            for study in _studies(model_scores, studies):
                study_scores = model_scores.filter(pl.col("study") == study.name)
                yield _attempt(instrument, instrument.analyse_study, model, study_scores, study)


def _attempt(
    instrument: Instrument,
    analyse_scores: Callable[..., Tables],
    model: str | None,
    *arguments: pl.LazyFrame | Study,
) -> Tables:
    """Return what an analysis makes of scores, or why there is nothing: `FAILURES`."""
    try:
        return declared_tables(instrument, analyse_scores(*arguments))
    except Exception as error:  # a package of others raises what it likes
        failure = {
            "model": model,
            "instrument": instrument.name,
            "failed_function": place_of(analyse_scores),
            "failure": name_failure(analyse_scores, error),
        }
        return Tables(NO_ESTIMATES, {"failures": pl.DataFrame([failure], schema=FAILURES)})


def declared_tables(instrument: Instrument, analysis: Tables) -> Tables:
    """Return the tables of an analysis with the columns of their schemas.

    Raises InputError if one has others, or is none of the instrument's.
    """
    schemas = {name: table.schema for name, table in instrument.details.items()}
    schemas["matches"] = MATCHES
    if strangers := sorted(analysis.details.keys() - schemas.keys()):
        raise InputError(f"table {strangers[0]!r} is not among its `details`")
    details = {name: check(table, schemas[name], name) for name, table in analysis.details.items()}
    return Tables(check(analysis.estimates, ESTIMATES, "estimates"), details)


def _studies(scores: pl.LazyFrame, studies: Mapping[str, Study]) -> Iterator[Study]:
    """Yield the studies of scores, but for those that are not known by their names."""
    names = scores.select(pl.col("study").unique().sort()).collect()["study"].drop_nulls()
    for name in names:
        with suppress(StudyError):
            yield studies[name] if name in studies else load_study(name)


def estimate_reliabilities(scores: pl.LazyFrame) -> pl.DataFrame:
    """Estimate the reliability of each model, one in memory at a time.

    Columns of `results.ESTIMATES`; see `statistics.reliability.estimate_reliability`.
    """
    used_columns = scores.select(USED)
    estimates = [NO_ESTIMATES]
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
