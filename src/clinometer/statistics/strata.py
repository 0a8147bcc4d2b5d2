"""The scores of each stereotype, with the levels of what is crossed in them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from clinometer.results.columns import with_codes
from clinometer.statistics.clustered import Array
from clinometer.statistics.designs import CROSSED, SHARED, Codes, CrossedDesign, design

#: What tells stereotypes apart that were asked alike.
STRATA_KEYS = ("study", "dimension", "control", "category", "stereotype")


@dataclass(frozen=True)
class Stratum:
    """The scores of a stereotype."""

    key: Mapping[str, Any]  # of `STRATA_KEYS`, and of what else tells strata apart
    values: Array  # (units,)
    weights: Array  # (units,), answers
    baseline: Array  # (units,), what values are differences from; 0 where they are none
    variations: NDArray[np.object_]  # (units,), the names of wordings
    wordings: Codes  # (units,), what is fixed in these prompts: the wordings of each model
    design: CrossedDesign

    @property
    def mean(self) -> float:
        """The mean, in which each answer counts once."""
        return float(self.design.weights @ self.values)


def strata_of(
    units: pl.DataFrame, columns: Mapping[str, str], family: Sequence[str], keys: Sequence[str]
) -> Iterator[tuple[dict[str, Any], list[Stratum]]]:
    """Yield the stereotypes that agree in `family`, with its values, told apart by `keys`.

    `columns`: the columns of units for ``value``, ``weight`` and, if there are any, ``baseline``
    and more keys. Units without answers are left out.
    """
    needed = dict.fromkeys((*family, *keys, *SHARED, "model", "draw"))
    renamed = [pl.col(name).alias(new) for new, name in columns.items()]
    used = units.select(*(name for name in needed if name not in columns), *renamed)
    scored = with_codes(used).filter(pl.col("weight") > 0)
    for values, run in scored.group_by(family, maintain_order=True):
        yield dict(zip(family, values, strict=True)), _strata(run, keys)


def _strata(run: pl.DataFrame, keys: Sequence[str]) -> list[Stratum]:
    """Return the stereotypes of a run, told apart by `keys`."""
    rows = run.sort(keys).with_columns(_stratum=pl.struct(keys).rle_id(), **_level_codes())
    codes = {name: rows[f"_{name}"].to_numpy().astype(np.intp) for name in (*CROSSED, "wording")}
    strata = rows["_stratum"].to_numpy().astype(np.intp)
    _leave_out_other_group(codes, strata)
    _leave_out_unlinked_draws(codes, strata)
    values, weights = (rows[name].cast(pl.Float64).to_numpy() for name in ("value", "weight"))
    baseline = np.zeros(len(values))
    if "baseline" in rows.columns:
        baseline = rows["baseline"].cast(pl.Float64).to_numpy()
    variations = rows["variation"].to_numpy().astype(object)
    starts = np.flatnonzero(np.diff(strata, prepend=-1))
    stratum_keys = rows[starts, list(keys)].rows(named=True)
    strata_of_run = []
    for key, start, end in zip(stratum_keys, starts, [*starts[1:], len(strata)], strict=True):
        units = slice(int(start), int(end))
        stratum_design = design([codes[factor][units] for factor in CROSSED], weights[units])
        strata_of_run.append(
            Stratum(
                key=key,
                values=values[units],
                weights=weights[units],
                baseline=baseline[units],
                variations=variations[units],
                wordings=codes["wording"][units],
                design=stratum_design,
            )
        )
    return strata_of_run


def _level_codes() -> dict[str, pl.Expr]:
    """Return the number of the level that a row has of each factor; 0: not recorded."""
    # A separator that no word holds, so that two words of a cell cannot be read as two others.
    words = pl.concat_str(pl.col(SHARED).fill_null(""), separator="\0")
    wording = pl.struct("study", "variation").rank("dense")
    draw = pl.struct("draw", *SHARED[1:]).rank("dense")
    return {
        **{f"_{name}": pl.col(name).rank("dense").fill_null(0) for name in SHARED[1:]},
        "_variation": pl.when(pl.col("variation").is_not_null()).then(wording).otherwise(0),
        "_cell": words.rank("dense"),
        "_draw": pl.when(pl.col("draw").is_not_null()).then(draw).otherwise(-1),
        "_wording": pl.struct("model", "study", "variation").rank("dense"),
    }


def _leave_out_other_group(codes: dict[str, Codes], strata: Codes) -> None:
    """Set words of a group to −1, for none, in answers about a person of the other one.

    So are those of a stereotype whose answers have words of either group, and none has both.
    Elsewhere a missing word, 0, is one that is not recorded.
    """
    has = {word: codes[word] > 0 for word in SHARED[1:]}
    in_stereotype = [np.bincount(strata, has_word) > 0 for has_word in has.values()]
    has_both_words = np.bincount(strata, np.logical_and(*has.values())) > 0
    single = (np.logical_and(*in_stereotype) & ~has_both_words)[strata] & np.logical_or(
        *has.values()
    )
    for word in SHARED[1:]:
        codes[word] = np.where(single & ~has[word], -1, codes[word])


def _leave_out_unlinked_draws(codes: dict[str, Codes], strata: Codes) -> None:
    """Set draws to −1, for none, in stereotypes with one pair of words.

    A draw fixes the words. Draws of one number in two wordings are the same where their words are;
    with one pair of words nothing tells.
    """
    pairs = codes["marginalized"] * (codes["default"].max() + 2) + codes["default"]
    for stratum in range(int(strata.max()) + 1):
        units = strata == stratum
        if len(np.unique(pairs[units])) < 2:
            codes["draw"][units] = -1


def in_both_runs(strata: Sequence[Stratum]) -> list[Stratum]:
    """Return the strata of stereotypes that both runs have."""

    def key_of(stratum: Stratum) -> tuple[Any, ...]:
        """Return the key of a stratum without the run."""
        return tuple(stratum.key[name] for name in STRATA_KEYS)

    runs = [{key_of(s) for s in strata if s.key["run"] == run} for run in (0, 1)]
    return [stratum for stratum in strata if key_of(stratum) in runs[0] & runs[1]]
