"""The scores of each stereotype, with the levels of what is crossed in them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import polars as pl

from clinometer.statistics.clustered import Array
from clinometer.statistics.crossed import CROSSED
from clinometer.statistics.shared import SHARED
from clinometer.statistics.squares import Codes, StratumSquares, split, stratum_squares

__all__ = ["Stratum", "scale_of", "scales_of", "strata_of"]


@dataclass(frozen=True)
class Stratum:
    """The scores of a stereotype, or of one wording of it."""

    key: tuple[Any, ...]
    values: Array  # (units,)
    squares: StratumSquares
    varies: Mapping[str, int]  # the number of levels of each factor
    unrecorded: set[str]  # factors whose levels are unknown


def strata_of(run: pl.DataFrame, keys: Sequence[str], value: str, weight: str) -> list[Stratum]:
    """Return the stereotypes of a run, told apart by `keys`; see `targets.means`."""
    sorted_run = run.sort(keys)
    coded = sorted_run.select(
        pl.col(value).cast(pl.Float64).alias("value"),
        pl.col(weight).cast(pl.Float64).alias("weight"),
        pl.struct(keys).rle_id().alias("stratum"),
        *_level_codes(),
    )
    factors = {f: coded[f].to_numpy().astype(np.intp) for f in CROSSED if f not in keys}
    values, weights = coded["value"].to_numpy(), coded["weight"].to_numpy()
    strata = coded["stratum"].to_numpy().astype(np.intp)
    _leave_out_other_group(factors, strata)
    squares = stratum_squares(values, weights, factors, strata)
    first_rows = np.flatnonzero(np.diff(strata, prepend=-1))
    stratum_keys = sorted_run[first_rows, list(keys)].rows()
    stratum_values = split(values, np.bincount(strata))
    return [
        Stratum(key, scores, of_stratum, *_levels(of_stratum))
        for key, scores, of_stratum in zip(stratum_keys, stratum_values, squares, strict=True)
    ]


@cache
def _level_codes() -> tuple[pl.Expr, ...]:
    """Return the number of the level that a row has of each of `CROSSED`; 0: not recorded."""
    # A separator that no word holds, so that two words of a cell cannot be read as two others.
    words = pl.concat_str(pl.col(SHARED).fill_null(""), separator="\0")
    wording = pl.struct("study", "variation").rank("dense")
    return (
        *(pl.col(c).rank("dense").fill_null(0) for c in SHARED[1:]),
        pl.when(pl.col("variation").is_not_null()).then(wording).otherwise(0).alias("variation"),
        words.rank("dense").alias("cell"),
        pl.col("draw").fill_null(-1).rank("dense"),
    )


def _leave_out_other_group(factors: dict[str, Codes], strata: Codes) -> None:
    """Set words of a group to −1, for none, in answers about a person of the other one.

    So are those of a stereotype whose answers have words of either group, and none has both.
    Elsewhere a missing word, 0, is one that is not recorded.
    """
    has = {word: factors[word] > 0 for word in SHARED[1:]}
    in_stereotype = [np.bincount(strata, has_word) > 0 for has_word in has.values()]
    both = np.bincount(strata, np.logical_and(*has.values())) > 0
    single = (np.logical_and(*in_stereotype) & ~both)[strata] & np.logical_or(*has.values())
    for word in SHARED[1:]:
        factors[word] = np.where(single & ~has[word], -1, factors[word])


def _levels(stratum: StratumSquares) -> tuple[dict[str, int], set[str]]:
    """Return the number of levels of each factor, and the factors without a known one."""
    levels = {f: codes for f, (codes, *_) in stratum.totals.items()}  # code 0: not recorded
    # They are in order, so that the last is the greatest.
    unrecorded = {f for f, codes in levels.items() if not len(codes) or codes[-1] == 0}
    return {f: len(codes) for f, codes in levels.items()}, unrecorded


def scales_of(strata: Sequence[StratumSquares], bounds: tuple[float, float]) -> Array:
    """Return what the variances of the means of `strata` are proportional to."""
    return np.array([scale_of(stratum.mean, stratum.size, bounds) for stratum in strata])


def scale_of(mean: float, size: int, bounds: tuple[float, float]) -> float:
    """Return (mean − low)(high − mean), with one unit more, in the middle; 1 without ends.

    The added unit keeps it above 0 where all scores are at one end.
    """
    low, high = bounds
    if not math.isfinite(high - low):
        return 1.0
    shrunken = (size * min(max(mean, low), high) + (low + high) / 2.0) / (size + 1)
    return (shrunken - low) * (high - shrunken)
