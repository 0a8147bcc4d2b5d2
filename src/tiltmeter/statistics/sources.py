"""The components of variance of a run, for planning another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from tiltmeter.statistics.clustered import Array
from tiltmeter.statistics.crossed import CROSSED, moderate
from tiltmeter.statistics.shared import shared_component
from tiltmeter.statistics.squares import Part
from tiltmeter.statistics.strata import scales_of, strata_of
from tiltmeter.statistics.summaries import NEVER_POOLED

__all__ = ["Sources", "sources"]


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

    Runs with fewer than `FEWEST` stereotypes, or without variance, have none. Draws with one
    response each cannot be told apart from responses and are counted as these.
    """
    family, keys = ("model", *NEVER_POOLED), ("category", "stereotype")
    draw = CROSSED.index("draw")
    for run, group in units.filter(pl.col("n_scored") > 0).group_by(family, maintain_order=True):
        parts = [one.part for one in strata_of(group, keys, "mean", "n_scored")]
        scales = scales_of(parts, bounds)
        if (moderated := moderate(parts, scales)) is None:
            continue
        df = np.sum([np.array(one.levels) - 1.0 for one in parts], axis=0)
        components = moderated.components.copy()
        if df[draw] == df[-1]:
            components[-1] += components[draw]
            components[draw] = 0.0
        answers = sum(one.answers for one in parts) / sum(one.size for one in parts)
        yield run, Sources(components, df, _shared(parts, scales, components), answers)


def _shared(parts: Sequence[Part], scales: Array, components: Array) -> float:
    """Return the component of wordings that stereotypes have in common."""
    shares = np.array([one.answers for one in parts])
    shares /= shares.sum()
    component, _, _ = shared_component(parts, shares, "variation")
    relative = max(component, 0.0) / float(shares @ scales**0.5) ** 2
    return float(min(relative, components[CROSSED.index("variation")]))
