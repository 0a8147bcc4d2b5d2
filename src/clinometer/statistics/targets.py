"""Means of scores for both targets: these stereotypes and words, and ones like these.

Reference
    Clark (1973), J. Verbal Learning & Verbal Behavior 12(4), 335–359, and Judd, Westfall & Kenny
    (2012), J. Personality & Social Psychology 103(1), 54–69: stimuli as a random factor. The
    variances of stereotypes are those of `crossed`.

Targets
    ==========  =================================================================================
    these       what a mean would be with other wordings, group words, draws and answers, for the
                same stereotypes and attribute words. The default at every level
    like these  the same for other stereotypes too, of which these are taken as a sample; for a
                single stereotype, for other attribute words
    ==========  =================================================================================

Measures
    In a mean over stereotypes each counts once, however many of its answers have a score: else what
    a model declines decides what is measured. Its variance is, for *these*, the sum of the
    variances of their means, divided by the square of their number, plus what wordings and group
    words that they share add. Variances are moderated over all stereotypes that were asked alike,
    also of other studies, dimensions and controls. For *like these* the clusters are the
    stereotypes (CR2), plus the same addition. A factor with a single level is held fixed in the
    mean of one stereotype. In a mean over several it is lent its variance by those that have
    several levels or, where none has, held fixed. The result says so.

Few stereotypes
    With fewer than `settings.FEWEST`, or scores that do not vary, nothing tells how variances
    differ between stereotypes. Each is moderated by usual ones (`settings.USUAL`), which count for
    less the more wordings and words it has; the result says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import polars as pl

from clinometer.results import CONDITIONS, LEVELS
from clinometer.results.columns import with_codes
from clinometer.statistics.clustered import ClusteredMean
from clinometer.statistics.crossed import Moderated, inform
from clinometer.statistics.monotone import lowering_helps, with_strongest
from clinometer.statistics.pooling import Targets, pooled
from clinometer.statistics.settings import OF_DIFFERENCES
from clinometer.statistics.shared import SHARED
from clinometer.statistics.strata import Stratum, scales_of, strata_of
from clinometer.statistics.summaries import LEVEL_KEYS, NEVER_POOLED, keys_of
from clinometer.statistics.usual import moderate_by_usual, usual_components

__all__ = ["differences", "means", "with_words"]

#: What stereotypes are moderated within: what was asked alike, over studies, dimensions, controls.
_MODERATED_WITHIN = ("model", "instrument", "mode", *CONDITIONS, "word_list", "scoring")
_STRATA_KEYS = tuple(name for name in NEVER_POOLED if name not in _MODERATED_WITHIN)

#: What is moderated within, what tells strata apart, and the levels made of them.
_STRATA = (
    (_MODERATED_WITHIN, (*_STRATA_KEYS, "category", "stereotype", "variation"), ("cell",)),
    (
        _MODERATED_WITHIN,
        (*_STRATA_KEYS, "category", "stereotype"),
        ("stereotype", "category", "model"),
    ),
    (_MODERATED_WITHIN[1:], (*_STRATA_KEYS, "category", "stereotype"), ("overall",)),
)


def means(
    units: pl.DataFrame,
    bounds: tuple[float, float],
    value: str = "mean",
    weight: str = "n_scored",
    levels: Sequence[str] = LEVELS,
    neutral: float | None = None,
) -> dict[tuple[Any, ...], Targets]:
    """Return the means of all groups of some levels, by level and keys.

    `units` are rows of `summarise`, with a `value` each and the number of answers behind it as
    `weight`; `bounds` the ends of its scale. Keys are those of `LEVEL_KEYS`, with what is never
    pooled after the model. Level ``overall`` has only what was asked of two models or more. The
    test of a stereotype against `neutral` does not weaken where scores move away from it
    (`monotone`). Without it the values are differences of scores.
    """
    scored = _scored(units, value, weight)
    by_key: dict[tuple[Any, ...], Targets] = {}
    for family, keys, family_levels in _STRATA:
        used_levels = [level for level in family_levels if level in levels]
        if not used_levels:
            continue
        several = pl.col("model").n_unique().over(NEVER_POOLED) > 1
        runs = scored if "model" in family else scored.filter(several)
        for run, group in runs.group_by(family, maintain_order=True):
            strata = strata_of(group, keys, value, weight)
            mode = run[family.index("mode")]
            for level, key, targets in _level_targets(strata, used_levels, bounds, neutral, mode):
                # Not strict: the key of a level begins as that of its strata, and is shorter.
                by_name = dict(zip((*family, *keys), (*run, *key), strict=False))
                by_key[level, *(by_name[name] for name in keys_of(level))] = targets
    return by_key


def _scored(units: pl.DataFrame, value: str, weight: str, *more: str) -> pl.DataFrame:
    """Return what is used of the units that have answers."""
    keys = (*_MODERATED_WITHIN, *_STRATA_KEYS, *LEVEL_KEYS["cell"], *SHARED)
    used = dict.fromkeys((*keys, "draw", *more, value, weight))
    return with_codes(units.select(*used)).filter(pl.col(weight) > 0)


def with_words(
    by_key: Mapping[tuple[Any, ...], Targets], words: Mapping[tuple[Any, ...], tuple[float, float]]
) -> dict[tuple[Any, ...], Targets]:
    """Return `means` with the target *like these* of single stereotypes: other attribute words.

    `words` are the variances of the means of stereotypes due to these words, with degrees of
    freedom (`items.word_variance`), by keys.
    """
    wider = dict(by_key)
    for word_key, (variance, df) in words.items():
        key = ("stereotype", *word_key)
        if key in by_key:
            like_these = _other_words(by_key[key].these, variance, df)
            wider[key] = replace(by_key[key], like_these=like_these)
    return wider


def _other_words(these: ClusteredMean, variance: float, df: float) -> ClusteredMean:
    """Return the mean for other attribute words: the variances of both add up."""
    if these.se is None or these.df is None or these.unanimous:
        return replace(these, se=None, df=None)
    return these.plus(variance, df)


def differences(
    baseline: pl.DataFrame,
    candidate: pl.DataFrame,
    bounds: tuple[float, float],
    value: str = "mean",
    weight: str = "n_scored",
    levels: Sequence[str] = LEVELS,
) -> dict[tuple[Any, ...], Targets]:
    """Return the differences of two runs whose trials are not the same, candidate − baseline.

    Parameters are those of `means`; both runs have the same value of `model`. Stereotypes that one
    of them lacks are left out; each other counts once. What the runs share (wordings, group words)
    lowers the error of means over stereotypes; for a single one the runs are taken as independent.
    """
    runs = [units.with_columns(run=pl.lit(k)) for k, units in enumerate((baseline, candidate))]
    scored = _scored(pl.concat(runs, how="diagonal_relaxed"), value, weight, "run")
    span = bounds[1] - bounds[0]
    by_key: dict[tuple[Any, ...], Targets] = {}
    for family, keys, family_levels in _STRATA[:2]:  # without `overall`, which needs two models
        used_levels = [level for level in family_levels if level in levels]
        if not used_levels:
            continue
        for run, group in scored.group_by(family, maintain_order=True):
            strata = strata_of(group, ("run", *keys), value, weight)
            moderated = _moderate_strata(strata, bounds, run[family.index("mode")])(False)
            signs = _signs(strata)
            for level in used_levels:
                # A key from 1 on: the run, which comes first, is no part of it.
                grouped = _group_strata(strata, list(signs), level, 1)
                # Each of the pairs of strata counts once.
                shares = [
                    {place: 2.0 * signs[place] / len(members) for place in members}
                    for members in grouped.values()
                ]
                changes = pooled(strata, shares, moderated, (-span, span), level)
                for key, change in zip(grouped, changes, strict=True):
                    by_name = dict(zip((*family, *keys), (*run, *key), strict=False))
                    by_key[level, *(by_name[name] for name in keys_of(level))] = change
    return by_key


def _signs(strata: Sequence[Stratum]) -> dict[int, float]:
    """Return −1 for strata of the baseline and 1 for the candidate's, a pair after the other.

    By their places; those that one of the runs lacks are left out.
    """
    places = {stratum.key: place for place, stratum in enumerate(strata)}
    signs: dict[int, float] = {}
    for (run, *key), place in places.items():
        counterpart = places.get((1, *key))
        if run == 0 and counterpart is not None:
            signs |= {place: -1.0, counterpart: 1.0}
    return signs


def _level_targets(
    strata: Sequence[Stratum],
    levels: Sequence[str],
    bounds: tuple[float, float],
    neutral: float | None,
    mode: str | None,
) -> Iterator[tuple[str, tuple[Any, ...], Targets]]:
    """Yield level, key and mean of each group of strata, all of which are moderated together."""
    relative = OF_DIFFERENCES if neutral is None else 1.0
    moderated = _moderate_strata(strata, bounds, mode, relative)
    single = any(n_levels < 2 for stratum in strata for n_levels in stratum.varies.values())
    for level in levels:
        grouped = _group_strata(strata, range(len(strata)), level)
        for alone in (True, False):
            chosen = {key: m for key, m in grouped.items() if (len(m) == 1) == alone}
            # Each stereotype counts once.
            shares = [dict.fromkeys(members, 1.0 / len(members)) for members in chosen.values()]
            variances = moderated(not (alone and single)) if chosen else None
            helps = np.zeros(len(strata), bool)
            if alone and variances and neutral is not None:
                helps = lowering_helps(strata, variances, neutral, bounds)
            for key, targets in zip(
                chosen, pooled(strata, shares, variances, bounds, level), strict=True
            ):
                if variances and neutral is not None and helps[place := chosen[key][0]]:
                    of_mean = variances.of_mean(place)
                    these = with_strongest(targets.these, strata[place], of_mean, neutral)
                    targets = replace(targets, these=these)
                yield level, key, targets


def _moderate_strata(
    strata: Sequence[Stratum],
    bounds: tuple[float, float],
    mode: str | None,
    relative: float = 1.0,
) -> Callable[[bool], Moderated | None]:
    """Return variances moderated by each other, with lending or without, as a function of it.

    Where strata are too few, they are moderated by `relative` of usual ones; nothing is lent.
    """
    squares = [stratum.squares for stratum in strata]
    scales = scales_of(squares, bounds)
    informed = inform(squares, scales)
    if informed is not None:
        return cache(lambda lend: informed.moderate(lend=lend))
    moderated = None
    if np.isfinite(bounds[1] - bounds[0]):
        usual = usual_components(list(strata[0].varies), mode)
        moderated = moderate_by_usual(
            squares, scales, relative * usual, [stratum.values for stratum in strata]
        )
    return lambda _: moderated


def _group_strata(
    strata: Sequence[Stratum], places: Sequence[int], level: str, start: int = 0
) -> dict[tuple[Any, ...], list[int]]:
    """Group strata by the keys of a level, which begin at `start`."""
    end = start + len(_STRATA_KEYS) + max(len(LEVEL_KEYS[level]) - 1, 0)
    grouped: dict[tuple[Any, ...], list[int]] = {}
    for place in places:
        grouped.setdefault(strata[place].key[start:end], []).append(place)
    return grouped
