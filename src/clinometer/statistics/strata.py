"""The scores of each stereotype, with the levels of what is crossed in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from clinometer.statistics.clustered import Array
from clinometer.statistics.crossed import CROSSED
from clinometer.statistics.shared import SHARED
from clinometer.statistics.squares import Part, parts, split

__all__ = ["Stratum", "scale_of", "scales_of", "strata_of"]


@dataclass(frozen=True)
class Stratum:
    """The scores of a stereotype, or of one wording of it."""

    key: tuple[Any, ...]
    values: Array  # (units,)
    part: Part
    varies: Mapping[str, int]  # the number of levels of each factor
    unrecorded: set[str]  # factors whose levels are unknown


def strata_of(run: pl.DataFrame, keys: Sequence[str], value: str, weight: str) -> list[Stratum]:
    """Return the stereotypes of a run, told apart by `keys`; see `targets.means`."""
    words = pl.concat_str(pl.col(SHARED).fill_null(""), separator="\0")
    used = dict.fromkeys((*keys, *SHARED, "study", "draw", value, weight))
    sorted_run = run.select(*used).sort(keys)
    coded = sorted_run.select(
        *keys,
        pl.col(value).cast(pl.Float64).alias("value"),
        pl.col(weight).cast(pl.Float64).alias("weight"),
        *(pl.col(c).rank("dense").fill_null(0).alias(f"{c}_code") for c in SHARED[1:]),
        variation_code=pl.when(pl.col("variation").is_not_null())
        .then(pl.struct("study", "variation").rank("dense"))
        .otherwise(0),
        cell_code=words.rank("dense"),
        draw_code=pl.col("draw").fill_null(-1).rank("dense"),
    )
    factors = {f: coded[f"{f}_code"].to_numpy().astype(np.intp) for f in CROSSED if f not in keys}
    values, weights = coded["value"].to_numpy(), coded["weight"].to_numpy()
    of = coded.select(pl.struct(keys).rle_id()).to_series().to_numpy().astype(np.intp)
    each, first = parts(values, weights, factors, of), np.flatnonzero(np.diff(of, prepend=-1))
    rows = zip(coded.select(keys)[first].rows(), split(values, np.bincount(of)), each, strict=True)
    return [Stratum(key, own, one, *_levels(one)) for key, own, one in rows]


def _levels(one: Part) -> tuple[dict[str, int], set[str]]:
    """Return the number of levels of each factor, and the factors without a known one."""
    levels = {f: codes for f, (codes, *_) in one.totals.items()}
    unrecorded = {f for f, codes in levels.items() if not codes.any()}
    return {f: len(codes) for f, codes in levels.items()}, unrecorded


def scales_of(parts: Sequence[Part], bounds: tuple[float, float]) -> Array:
    """Return what the variances of `parts` are proportional to."""
    return np.array([scale_of(one.mean, one.size, bounds) for one in parts])


def scale_of(mean: float, size: int, bounds: tuple[float, float]) -> float:
    """Return (mean − low)(high − mean), with one unit more, in the middle; 1 without ends."""
    low, high = bounds
    if not np.isfinite(high - low):
        return 1.0
    shrunken = (size * min(max(mean, low), high) + (low + high) / 2.0) / (size + 1)
    return (shrunken - low) * (high - shrunken)
