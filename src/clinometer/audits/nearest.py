"""The components of variance that are nearest to a run which has none of its own.

The same kind of mode (sampled or not) first, then the measure, the pilot, the kind of model
(embedded or not), mode, study and dimension; of several the largest. Those that come with an
instrument are for itself alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from clinometer.contracts.catalogue import instrument_of
from clinometer.models.providers import find_provider
from clinometer.modes import MODES
from clinometer.reference.components import load_components, read_components
from clinometer.results import CONDITIONS
from clinometer.statistics.summaries import NEVER_POOLED

#: What tells the runs of tables of components apart.
RUN = ("model", "study", "instrument", "mode", *CONDITIONS, "dimension")

#: A run of `NEVER_POOLED` → its components of variance, and whose they are.
Components = Mapping[tuple[Any, ...], tuple[pl.DataFrame, str]]

#: A run by `RUN`, whether its components are shipped or of a pilot, and these.
_Candidate = tuple[dict[str, Any], str, pl.DataFrame]


def nearest_components(
    scores: pl.DataFrame, pilot: pl.DataFrame | None, embedded: bool
) -> Components:
    """Return the components that are nearest to each run."""
    nearest = {}
    for run in scores.select(NEVER_POOLED).unique(maintain_order=True).rows():
        nearest[run] = _nearest(dict(zip(NEVER_POOLED, run, strict=True)), pilot, embedded)
    return nearest


def _nearest(
    run: dict[str, Any], pilot: pl.DataFrame | None, embedded: bool
) -> tuple[pl.DataFrame, str]:
    """Return the components that are nearest to a run, and whose they are."""
    tables = [("shipped", load_components())]
    instrument = instrument_of(run["instrument"])
    if instrument is not None and instrument.components is not None:
        tables.append(("shipped", read_components(instrument.components())))
    if pilot is not None:
        tables.append(("pilot", pilot))
    candidates = []
    for origin, components_of_origin in tables:
        for key, table in components_of_origin.group_by(RUN, maintain_order=True):
            candidates.append((dict(zip(RUN, key, strict=True)), origin, table))
    # `max` keeps the first of equal ones: the order of the tables decides.
    nearest = max(candidates, key=lambda candidate: _likeness(candidate, run, embedded))
    source_run, origin, table = nearest
    same = all(source_run[key] == run[key] for key in ("study", "instrument", "mode", "dimension"))
    names = [str(name) for key, name in source_run.items() if name and key not in CONDITIONS]
    return table, f"{origin}{'' if same else ', nearest'}: {', '.join(names)}"


def _likeness(candidate: _Candidate, run: dict[str, Any], embedded: bool) -> tuple[float, ...]:
    """Return how near components are to a run, the most important first."""
    source_run, origin, table = candidate
    return (
        MODES[source_run["mode"]].sampled == MODES[run["mode"]].sampled,
        source_run["instrument"] == run["instrument"],
        origin == "pilot",
        find_provider(source_run["model"]).embedded == embedded,
        source_run["mode"] == run["mode"],
        source_run["study"] == run["study"],
        source_run["dimension"] == run["dimension"],
        all(source_run[condition] == run[condition] for condition in CONDITIONS),
        # Of equally near ones the largest: rather too many trials are planned than too few.
        float(table["relative_variance"].sum()),
    )
