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
    The variance of a mean over stereotypes is, for *these*, the sum of the variances of their
    means, weighted by the squares of their parts of the answers, plus what wordings and group
    words that they share add. Variances are moderated over all stereotypes that were asked alike,
    also of other studies, dimensions and controls. For *like these* the clusters are the
    stereotypes (CR2), plus the same addition. A factor with a single level is lent its variance by
    other stereotypes or, where none has several levels, held fixed; the result says so.

Few stereotypes
    With fewer than `crossed.FEWEST`, or scores that do not vary, nothing tells how variances differ
    between stereotypes. They are moderated by usual ones (`crossed.USUAL`); the result says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from scipy.special import stdtrit

from tiltmeter.results import LEVELS, Schema, columns
from tiltmeter.statistics.clustered import TESTED, Array, ClusteredMean, Row, mean_of_clusters
from tiltmeter.statistics.crossed import (
    CROSSED,
    Moderated,
    moderate,
    moderate_by_usual,
    usual_components,
)
from tiltmeter.statistics.monotone import with_strongest
from tiltmeter.statistics.shared import SHARED, common
from tiltmeter.statistics.squares import Part
from tiltmeter.statistics.strata import Stratum, scale_of, scales_of, strata_of
from tiltmeter.statistics.summaries import LEVEL_KEYS, NEVER_POOLED, keys_of

__all__ = ["LIKE_THESE", "OF_TARGET", "THESE", "Targets", "means", "with_words"]

THESE, LIKE_THESE = "these", "like these"

#: The columns of `Targets.row`.
OF_TARGET: Schema = {**TESTED, **columns("target", "clustered_by", "conditional_on")}

#: Level of a two-sided interval that two candidates for an upper bound share.
_SHARED_LEVEL = 0.975

#: The least variance, as a part of that without shared wordings, which may come out too small.
_LEAST = 0.1

#: Usual variances of differences, as a part of those of scores: their scale is twice as long.
_OF_DIFFERENCES = 0.25

#: What stereotypes are moderated within: what was asked alike, over studies, dimensions, controls.
_TOGETHER = ("model", "instrument", "mode", "intervention", "word_list", "scoring")
_APART = tuple(name for name in NEVER_POOLED if name not in _TOGETHER)

#: What is moderated within, what tells strata apart, and the levels made of them.
_STRATA = (
    (_TOGETHER, (*_APART, "category", "stereotype", "variation"), ("cell",)),
    (_TOGETHER, (*_APART, "category", "stereotype"), ("stereotype", "category", "model")),
    (_TOGETHER[1:], (*_APART, "category", "stereotype"), ("overall",)),
)

#: Names of the factors in the result.
_NAMES = {
    "variation": "wordings",
    "marginalized": "marginalized words",
    "default": "default words",
    "draw": "draws",
}


@dataclass(frozen=True)
class Targets:
    """The mean of one group for both targets."""

    these: ClusteredMean
    like_these: ClusteredMean
    over: str  # what the interval for *these* generalises over
    fixed: str  # what it holds fixed
    wider: str  # what the interval for *like these* generalises over besides

    def mean(self, target: str) -> ClusteredMean:
        """Return the mean for a target."""
        return self.these if target == THESE else self.like_these

    def row(self, target: str, confidence: float, null: float = 0.0) -> Row:
        """Return the test and the interval for a target, in columns of `results.ESTIMATES`."""
        these = target == THESE
        return {
            **self.mean(target).row(confidence, null),
            "target": target,
            "clustered_by": self.over if these else f"{self.wider}, {self.over}",
            "conditional_on": self.fixed if these else None,
        }


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
    scored = units.filter(pl.col(weight) > 0)
    found: dict[tuple[Any, ...], Targets] = {}
    for family, keys, used in _STRATA:
        if asked := [level for level in used if level in levels]:
            several = pl.col("model").n_unique().over(NEVER_POOLED) > 1
            runs = scored if "model" in family else scored.filter(several)
            for run, group in runs.group_by(family, maintain_order=True):
                strata, names = strata_of(group, keys, value, weight), (*family, *keys)
                mode = run[family.index("mode")]
                for level, own, targets in _levels(strata, asked, bounds, neutral, mode):
                    named = dict(zip(names, (*run, *own), strict=False))
                    found[level, *(named[name] for name in keys_of(level))] = targets
    return found


def with_words(
    found: Mapping[tuple[Any, ...], Targets], words: Mapping[tuple[Any, ...], tuple[float, float]]
) -> dict[tuple[Any, ...], Targets]:
    """Return `means` with the target *like these* of single stereotypes: other attribute words.

    `words` are the variances of the means of stereotypes due to these words, with degrees of
    freedom (`items.word_variance`), by keys.
    """
    single = {
        ("stereotype", *key): of for key, of in words.items() if ("stereotype", *key) in found
    }
    wider = {
        key: replace(found[key], like_these=_other_words(found[key].these, *of))
        for key, of in single.items()
    }
    return {**found, **wider}


def _other_words(these: ClusteredMean, variance: float, df: float) -> ClusteredMean:
    """Return the mean for other attribute words: the variances of both add up."""
    if these.se is None or these.df is None or these.unanimous:
        return replace(these, se=None, df=None)
    return these.plus(variance, df)


def _levels(
    strata: Sequence[Stratum],
    levels: Sequence[str],
    bounds: tuple[float, float],
    neutral: float | None,
    mode: str | None,
) -> Iterator[tuple[str, tuple[Any, ...], Targets]]:
    parts = [one.part for one in strata]
    scales = scales_of(parts, bounds)
    moderated = moderate(parts, scales)
    if moderated is None and np.isfinite(bounds[1] - bounds[0]):
        usual = usual_components(list(strata[0].varies), mode)
        part = _OF_DIFFERENCES if neutral is None else 1.0
        moderated = moderate_by_usual(parts, scales, part * usual)
    for level in levels:
        length = len(_APART) + max(len(LEVEL_KEYS[level]) - 1, 0)
        grouped: dict[tuple[Any, ...], list[int]] = {}
        for place, one in enumerate(strata):
            grouped.setdefault(one.key[:length], []).append(place)
        for key, members in grouped.items():
            pooled = _pooled(strata, members, moderated, bounds, level)
            if len(members) == 1 and moderated and neutral is not None:
                one, place = strata[members[0]], members[0]
                own = float(moderated.floors[place]), moderated.weights[place]
                these = with_strongest(pooled.these, one, *own, neutral)
                pooled = replace(pooled, these=these)
            yield level, key, pooled


def _pooled(
    strata: Sequence[Stratum],
    members: Sequence[int],
    moderated: Moderated | None,
    bounds: tuple[float, float],
    level: str,
) -> Targets:
    """Return the mean of several stereotypes, or of one."""
    chosen = [strata[place] for place in members]
    parts = [one.part for one in chosen]
    answers, size = np.array([one.answers for one in parts]), sum(one.size for one in parts)
    shares = answers / answers.sum()
    mean = float(shares @ [one.mean for one in parts])
    finite = bool(np.isfinite(bounds[1] - bounds[0]))
    empty = ClusteredMean(
        n=int(answers.sum()),
        n_clusters=min((n for one in chosen for n in one.varies.values() if n > 1), default=size),
        mean=mean,
        se=None,
        df=None,
        bounds=bounds if finite else None,
        scale=scale_of(mean, size, bounds) if finite else None,
    )
    errors = _errors(moderated, members, parts)
    between = _between(parts, shares)
    return Targets(
        these=_these(empty, errors, between, shares, chosen),
        like_these=_like_these(empty, parts, between) if len(parts) > 1 else empty,
        over=_over(chosen, moderated),
        fixed=_fixed(chosen, moderated, level),
        wider="stereotypes" if len(chosen) > 1 else "attribute words",
    )


@dataclass(frozen=True)
class _Errors:
    """Variances of the means of stereotypes, and how well they are known."""

    variances: Array
    df: Array
    joint_df: Array  # that no df exceeds
    wordings: Array  # the part of each variance that wordings have


def _errors(
    moderated: Moderated | None, members: Sequence[int], parts: Sequence[Part]
) -> _Errors | None:
    if moderated is None:
        return None
    at = list(members)
    variances = moderated.variances[at]
    wordings = np.zeros(len(at))
    if len(at) > 1:
        wordings = variances * [_wording_share(one, moderated.components) for one in parts]
    return _Errors(variances, moderated.df[at], moderated.joint_df[at], wordings)


def _wording_share(one: Part, components: Array) -> float:
    """Return the part of the variance of a mean that wordings have."""
    by_factor = one.shares * components
    whole = float(by_factor.sum())
    return float(by_factor[CROSSED.index("variation")]) / whole if whole else 0.0


def _these(
    empty: ClusteredMean,
    errors: _Errors | None,
    between: Mapping[str, tuple[float, float]],
    shares: Array,
    chosen: Sequence[Stratum],
) -> ClusteredMean:
    if errors is None:
        return empty
    size = sum(one.part.size for one in chosen)
    weighted = shares**2 * errors.variances
    own = float(weighted.sum())
    if own <= 0:
        return replace(empty, se=0.0, df=size - 1.0, unanimous=True, n_clusters=size, scale=None)
    over_joint = float((weighted / errors.joint_df).sum())
    joint_df = own / over_joint if over_joint > 0 else np.inf
    own_df = min(joint_df, own**2 / float((weighted**2 / errors.df).sum()))
    added = [max(extra, 0.0) if f != "variation" else extra for f, (extra, _) in between.items()]
    variance = max(own + sum(added), _LEAST * own)
    expected = own + sum(max(extra, 0.0) for extra in added)
    uncertain = 2.0 * own**2 / own_df + sum(error for _, error in between.values())
    df = max(2.0 * expected**2 / uncertain, 1.0)
    if len(chosen) > 1:
        variance, df = _at_most(variance, df, own, own_df, shares**2 * errors.wordings)
    return replace(empty, se=variance**0.5, df=df)


def _at_most(
    variance: float, df: float, own: float, own_df: float, wordings: Array
) -> tuple[float, float]:
    """Bound the error by that of wordings which move all stereotypes alike."""
    alike = own + float(np.sqrt(wordings).sum() ** 2 - wordings.sum())
    usual, wider = stdtrit(own_df, 0.975), stdtrit(own_df, 0.5 + _SHARED_LEVEL / 2.0)
    if wider * alike**0.5 < stdtrit(df, 0.975) * variance**0.5:
        return alike * float(wider / usual) ** 2, own_df
    return variance, df


def _like_these(
    empty: ClusteredMean, parts: Sequence[Part], between: Mapping[str, tuple[float, float]]
) -> ClusteredMean:
    answers = np.array([one.answers for one in parts])
    stereotypes = mean_of_clusters(answers, answers * [one.mean for one in parts])
    if stereotypes.se is None or stereotypes.df is None or stereotypes.unanimous:
        return empty
    own = stereotypes.se**2
    positive = [(extra, error) for extra, error in between.values() if extra > 0]
    variance = own + sum(extra for extra, _ in positive)
    uncertain = 2.0 * own**2 / stereotypes.df + sum(error for _, error in positive)
    df = max(2.0 * variance**2 / uncertain, 1.0)
    return replace(empty, se=variance**0.5, df=df, n_clusters=len(parts))


def _between(parts: Sequence[Part], shares: Array) -> dict[str, tuple[float, float]]:
    return {factor: common(parts, shares, factor) for factor in SHARED} if len(parts) > 1 else {}


def _over(chosen: Sequence[Stratum], moderated: Moderated | None) -> str:
    """Name what the interval for *these* generalises over."""
    lent = _lent(chosen, moderated)
    varying = [
        f"{name} (lent)" if f in lent else name
        for f, name in _NAMES.items()
        if f in lent or any(one.varies.get(f, 1) > 1 for one in chosen)
    ]
    return ", ".join([*varying, "answers"])


def _lent(chosen: Sequence[Stratum], moderated: Moderated | None) -> set[str]:
    """Return the factors with one level whose variance other stereotypes lend."""
    if moderated is None or moderated.usual:
        return set()
    components = zip(chosen[0].varies, moderated.components, strict=False)
    known = {f for f, component in components if component > 0}
    return {f for f in known if all(one.varies[f] < 2 for one in chosen)}


def _fixed(chosen: Sequence[Stratum], moderated: Moderated | None, level: str) -> str:
    """Name what the interval for *these* holds fixed."""
    lent = _lent(chosen, moderated)
    single = {f: f not in lent and all(one.varies.get(f, 1) < 2 for one in chosen) for f in _NAMES}
    unrecorded = set.intersection(*(one.unrecorded for one in chosen))
    for f in unrecorded & single.keys():
        single[f] = False
    fixed = {
        "this stereotype" if len(chosen) == 1 else "these stereotypes": True,
        "these models": level == "overall",
        "attribute words": True,
        "one wording": single["variation"],
        "one marginalized word": single["marginalized"],
        "one default word": single["default"],
        "one draw": single["draw"],
        "unrecorded group words": bool(unrecorded & {"marginalized", "default"}),
        "usual variances": moderated is not None and moderated.usual,
    }
    return ", ".join(name for name, holds in fixed.items() if holds)
