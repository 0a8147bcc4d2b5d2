"""The scores of each stereotype, with the levels of what is crossed in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from tiltmeter.statistics.clustered import Array
from tiltmeter.statistics.crossed import CROSSED, SHARED, Codes, Part, part

__all__ = ["Stratum", "scale_of", "scales_of", "strata_of"]


class Stratum:
    """The scores of a stereotype, or of one wording of it."""

    def __init__(
        self, key: tuple[Any, ...], values: Array, weights: Array, factors: Mapping[str, Codes]
    ) -> None:
        self.key, self.values, self.weights, self.factors = key, values, weights, factors
        self.part = part(values, weights, factors)
        self.varies = {f: len(np.unique(codes)) for f, codes in factors.items()}
        self.unrecorded = {f for f, codes in factors.items() if not codes.any()}


def strata_of(run: pl.DataFrame, keys: Sequence[str], value: str, weight: str) -> list[Stratum]:
    """Return the stereotypes of a run, told apart by `keys`; see `targets.means`."""
    words = pl.concat_str(pl.col(SHARED).fill_null(""), separator="\0")
    coded = run.sort(keys).select(
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
    crossed = [f for f in CROSSED if f not in keys]
    factors = {f: coded[f"{f}_code"].to_numpy().astype(np.intp) for f in crossed}
    values, weights = coded["value"].to_numpy(), coded["weight"].to_numpy()
    starts = coded.select(pl.struct(keys).rle_id()).to_series().to_numpy()
    at = np.flatnonzero(np.diff(starts, prepend=-1))
    rows = coded.select(keys)[at].rows()
    bounds = zip(at, [*at[1:], len(starts)], strict=True)
    return [
        Stratum(key, values[i:j], weights[i:j], {f: codes[i:j] for f, codes in factors.items()})
        for key, (i, j) in zip(rows, bounds, strict=True)
    ]


def scales_of(parts: Sequence[Part], bounds: tuple[float, float]) -> Array:
    """Return what the variances of `parts` are proportional to."""
    return np.array([scale_of(one.mean, one.size, bounds) for one in parts])


def scale_of(mean: float, size: int, bounds: tuple[float, float]) -> float:
    """Return (mean − low)(high − mean), with one unit more, in the middle; 1 without ends."""
    low, high = bounds
    if not np.isfinite(high - low):
        return 1.0
    shrunken = (size * mean + (low + high) / 2.0) / (size + 1)
    return (shrunken - low) * (high - shrunken)
