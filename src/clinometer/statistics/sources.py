"""The components of variance of a run, for planning another; and tables of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from clinometer.errors import InputError
from clinometer.results import Measure, check
from clinometer.results.schemas import COMPONENTS
from clinometer.statistics.clustered import Array
from clinometer.statistics.designs import CROSSED
from clinometer.statistics.estimates import check_range
from clinometer.statistics.means import VALUES, inferred_run
from clinometer.statistics.strata import strata_of
from clinometer.statistics.summaries import NEVER_POOLED, summarise

#: Rows of a table of components, in the order of `Sources.components`.
ERRORS = (*CROSSED, "response")

_SHARED = "shared_variation"


@dataclass(frozen=True)
class Sources:
    """The components of variance of one run, as parts of (mean − low)(high − mean)."""

    components: Array  # (k,), of `CROSSED` and of the response
    df: Array  # (k,), levels less one, summed over stereotypes
    shared: float  # the component of wordings that all stereotypes have in common
    answers: float  # answers behind a response


def sources(
    units: pl.DataFrame, bounds: tuple[float, float]
) -> Iterator[tuple[tuple[Any, ...], Sources]]:
    """Yield the components of variance of each run of `units`, by model and what is never pooled.

    They are means over stereotypes of the medians of what the variances may be. Runs whose scores
    do not vary have none. Draws with one response each cannot be told apart from responses and are
    counted as these.
    """
    family = ("model", *NEVER_POOLED, "one_person")
    for fixed, strata in strata_of(units, VALUES, family, ("category", "stereotype")):
        run = inferred_run(strata, bounds, fixed)
        if run is None or run.variances is None:
            continue
        designs = [stratum.design for stratum in strata]
        df = np.sum([design.df for design in designs], axis=0)
        varies = np.any([design.used for design in designs], axis=0)
        components = np.where(varies, run.variances.components(), 0.0)
        answers = sum(float(stratum.weights.sum()) for stratum in strata)
        n_units = sum(design.size for design in designs)
        shared = components[CROSSED.index("variation")] * run.correlation_of_wordings()
        *key, _ = fixed.values()
        yield tuple(key), Sources(components, df, shared, answers / n_units)


def components(scores: pl.DataFrame, measure: Measure) -> pl.DataFrame:
    """Estimate the components of variance of a pilot.

    Parameters
    ----------
    scores
        Columns of `results.SCORES`, of one measure and any number of runs.
    measure
        What the number means; gives the ends of the scale.

    Returns
    -------
    polars.DataFrame
        Columns of `results.schemas.COMPONENTS`: a row per run (model, study, mode, intervention,
        dimension) and error source. `relative_variance` is a part of (mean − low)(high − mean),
        `df` the levels less one, summed over stereotypes. Sources that the pilot does not tell
        apart, as where each wording shows one pair of words, share their variance; draws with one
        response each are counted as responses.

    Raises
    ------
    InputError
        If no run has scores that vary, a column is missing, or a score lies outside the range.
    """
    units = summarise(scores)
    check_range(units, measure, "lowest", "highest")
    names = ("model", *NEVER_POOLED)
    rows: list[dict[str, Any]] = []
    for run, run_sources in sources(units, (measure.low, measure.high)):
        run_keys = dict(zip(names, run, strict=True))
        rows += [{**run_keys, **row} for row in _component_rows(run_sources)]
    if not rows:
        raise InputError(
            f"scores: {measure.name}: no run has scores that vary; components of variance need them"
        )
    counts = units.group_by(names).agg(pl.col("n_scored").sum())
    # A factor that is null in all rows has no type until it is cast, and would not join.
    frame = pl.DataFrame(rows, infer_schema_length=None).cast({c: pl.String for c in names})
    counted = frame.join(counts, on=names, nulls_equal=True, maintain_order="left")
    return check(counted, COMPONENTS, "components")


def _component_rows(run_sources: Sources) -> Iterable[dict[str, Any]]:
    """Yield a row per error source, with the part of the wordings that all have in common."""
    variances = [*run_sources.components, run_sources.shared]
    df = [*run_sources.df, run_sources.df[CROSSED.index("variation")]]
    for name, variance, source_df in zip((*ERRORS, _SHARED), variances, df, strict=True):
        row = {"error_source": name, "relative_variance": variance, "df": source_df}
        yield {**row, "answers_per_unit": run_sources.answers}


def read_sources(table: pl.DataFrame) -> Sources:
    """Return the components of one run from its rows of `COMPONENTS`.

    Raises InputError where a source is missing, or a number is negative or missing.
    """
    variances = dict(table.select("error_source", "relative_variance").iter_rows())
    if missing := [name for name in (*ERRORS, _SHARED) if variances.get(name) is None]:
        raise InputError(f"components: no relative_variance of error_source {', '.join(missing)}")
    if min(variances.values()) < 0 or sum(variances[name] for name in ERRORS) <= 0:
        raise InputError("components: relative_variance is 0 or more, and not 0 for all sources")
    df = dict(table.select("error_source", "df").iter_rows())
    return Sources(
        components=np.array([variances[name] for name in ERRORS]),
        df=np.array([df[name] for name in ERRORS], float),
        shared=min(variances[_SHARED], variances["variation"]),
        answers=table["answers_per_unit"][0],
    )
