"""The mean of several stereotypes, or a difference of them, with its errors for both targets.

Measures
    A mean is a sum of the means of strata (stereotypes of a run), each times its share. The
    variance for *these* is the sum of their variances times the squares of the shares, plus what
    wordings and group words that strata share add. Of several strata it is the larger of two sums,
    of moderated variances and of own ones: moderation may take from a noisy stereotype more than it
    gives to the others. Of a difference the shares of one run are negative; what its strata share
    with those of the other run then lowers the variance.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from clinometer.results import Schema, columns
from clinometer.statistics.clustered import TESTED, Array, ClusteredMean, Row, mean_of_clusters
from clinometer.statistics.crossed import Moderated
from clinometer.statistics.settings import LEAST, OF_RESPONSES, SHARED_LEVEL
from clinometer.statistics.shared import (
    SHARED,
    greatest_shared_variance,
    shared_variance,
    single_level_variance,
)
from clinometer.statistics.strata import Stratum, scale_of

__all__ = ["LIKE_THESE", "OF_TARGET", "THESE", "Targets", "pooled"]

THESE, LIKE_THESE = "these", "like these"

#: The columns of `Targets.row`.
OF_TARGET: Schema = {**TESTED, **columns("target", "clustered_by", "conditional_on")}

#: Names of the factors in the result.
_FACTOR_TEXTS = {
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
    by_wordings: float  # the part of the variance for *these* that wordings have

    def mean(self, target: str) -> ClusteredMean:
        """Return the mean for a target."""
        return self.these if target == THESE else self.like_these

    def with_trials(self, times: float) -> ClusteredMean:
        """Return the mean for *these* as it would be with so many times as many trials."""
        these, of_wordings = self.these, self.by_wordings
        if these.se is None:
            return these
        se = these.se * (of_wordings + (1.0 - of_wordings) / times) ** 0.5
        return replace(these, se=se, n_clusters=math.ceil(these.n_clusters * times))

    def row(self, target: str, confidence: float, null: float = 0.0) -> Row:
        """Return the test and the interval for a target, in columns of `results.ESTIMATES`."""
        these = target == THESE
        return {
            **self.mean(target).row(confidence, null),
            "target": target,
            "clustered_by": self.over if these else f"{self.wider}, {self.over}",
            "conditional_on": self.fixed if these else None,
        }


@dataclass(frozen=True)
class _Groups:
    """Groups of strata, the members of the first group first, each with its place and its share."""

    strata: Sequence[Stratum]
    places: NDArray[np.intp]  # (members,)
    shares: Array  # (members,)
    starts: NDArray[np.intp]  # (groups,), of the members of each group

    @classmethod
    def of_shares(cls, strata: Sequence[Stratum], groups: Sequence[Mapping[int, float]]) -> _Groups:
        """Put together groups that have shares by the places of strata."""
        places = [place for by_place in groups for place in by_place]
        shares = [share for by_place in groups for share in by_place.values()]
        sizes = np.array([len(by_place) for by_place in groups])
        return cls(strata, np.array(places), np.array(shares), np.cumsum(sizes) - sizes)

    @property
    def runs(self) -> int:
        """The number of runs: 2 of a difference, in which a stereotype has two strata."""
        return 2 if self.shares.min() < 0 else 1

    def sums(self, values: Array, power: int = 0) -> Array:
        """Add up the values of strata times a power of their shares, (strata,) → (groups,)."""
        terms = values[self.places] * self.shares**power
        return np.asarray(np.add.reduceat(terms, self.starts))


def pooled(
    strata: Sequence[Stratum],
    groups: Sequence[Mapping[int, float]],
    moderated: Moderated | None,
    bounds: tuple[float, float],
    level: str,
) -> list[Targets]:
    """Return the mean of each group of stereotypes, or the difference of two runs.

    A group has shares by the places of its strata. They add up to 1, or to 0 in a difference, whose
    pairs of strata follow each other, the baseline's first. `bounds` are the ends of the scale of
    the result. All groups are computed together, since most are of a single stereotype.
    """
    if not groups:
        return []
    of_groups = _Groups.of_shares(strata, groups)
    runs = of_groups.runs
    parts = _shared_parts(strata, moderated)
    errors = _errors(of_groups, moderated, parts)
    empty_means = _means_without_error(of_groups, bounds)
    texts = _texts(of_groups, moderated, level)
    targets = []
    for group, empty, error, (over, fixed) in zip(groups, empty_means, errors, texts, strict=True):
        several = len(group) > runs
        added, like_these = _NOTHING_ADDED, empty
        if several:
            members = _Several(strata, group)
            added = members.added(moderated, parts)
            error = members.unbiased(error, moderated)
            like_these = members.like_these(empty, added, runs)
        these = _mean_for_these(empty, error, added)
        if like_these.se is not None:
            like_these = _no_surer(like_these, these)
        targets.append(
            Targets(
                these=these,
                like_these=like_these,
                over=over,
                fixed=f"{'these stereotypes' if several else 'this stereotype'}, {fixed}",
                wider="stereotypes" if several else "attribute words",
                by_wordings=_wordings_share(these, error, added),
            )
        )
    return targets


def _means_without_error(groups: _Groups, bounds: tuple[float, float]) -> list[ClusteredMean]:
    """Return the mean of each group with its counts and its scale, and no error yet."""
    squares = [stratum.squares for stratum in groups.strata]
    means = groups.sums(np.array([stratum.mean for stratum in squares]), 1).tolist()
    answers = groups.sums(np.array([stratum.answers for stratum in squares])).tolist()
    sizes = groups.sums(np.array([stratum.size for stratum in squares])).tolist()
    # The fewest levels, of more than one, that a factor has in a stereotype.
    n_levels = [[n for n in stratum.varies.values() if n > 1] for stratum in groups.strata]
    fewest = np.array([min(numbers, default=np.inf) for numbers in n_levels])
    fewest_of_group = np.minimum.reduceat(fewest[groups.places], groups.starts).tolist()
    finite = bool(np.isfinite(bounds[1] - bounds[0]))
    return [
        ClusteredMean(
            n=int(n),
            n_clusters=int(levels) if math.isfinite(levels) else size,
            mean=mean,
            se=None,
            df=None,
            bounds=bounds if finite else None,
            scale=scale_of(mean, size, bounds) if finite else None,
        )
        for mean, n, size, levels in zip(means, answers, sizes, fewest_of_group, strict=True)
    ]


@dataclass(frozen=True)
class _Error:
    """The variance of a mean for *these*, without what its stereotypes share, and its df."""

    variance: float
    df: float
    size: int  # units behind the mean
    of_wordings: float  # the part of the variance that wordings have


def _errors(
    groups: _Groups, moderated: Moderated | None, parts: Mapping[str, Array]
) -> Sequence[_Error | None]:
    """Return the error of the mean of each group; None without moderated variances."""
    if moderated is None:
        return [None] * len(groups.starts)
    variances, own = moderated.variances, moderated.own
    total, total_own = groups.sums(variances, 2), groups.sums(own, 2)
    uncertain = groups.sums(variances**2 / moderated.df, 4)
    too_small = (groups.sums(np.ones_like(own)) > groups.runs) & (total_own > total)
    total = np.where(too_small, total_own, total)
    uncertain = np.where(too_small, groups.sums(own**2 / moderated.own_df, 4), uncertain)
    uncertain_joint = groups.sums(variances / moderated.joint_df, 2)
    unknown = np.full_like(total, np.inf)
    df = np.divide(total**2, uncertain, out=unknown.copy(), where=uncertain > 0)
    joint_df = np.divide(total, uncertain_joint, out=unknown, where=uncertain_joint > 0)
    sizes = groups.sums(np.array([stratum.squares.size for stratum in groups.strata]))
    of_wordings = groups.sums(parts.get("variation", np.zeros_like(variances)), 2)
    numbers = (total, np.minimum(df, joint_df), sizes, of_wordings)
    return [_Error(*row) for row in zip(*(column.tolist() for column in numbers), strict=True)]


def _shared_parts(strata: Sequence[Stratum], moderated: Moderated | None) -> dict[str, Array]:
    """Return the part of each variance that each factor of `SHARED` has."""
    if moderated is None:
        return {}
    by_factor = np.array([stratum.squares.shares for stratum in strata]) * moderated.components
    total = by_factor.sum(axis=1, keepdims=True)
    relative = np.divide(by_factor, total, out=np.zeros_like(by_factor), where=total > 0)
    factors = list(strata[0].squares.totals)
    parts = moderated.variances[:, None] * relative
    # In means of cells, wordings tell strata apart and are no factor.
    return {f: parts[:, factors.index(f)] for f in SHARED if f in factors}


@dataclass(frozen=True)
class _Added:
    """What levels that stereotypes share add to the variance of their mean."""

    by_factor: Mapping[str, tuple[float, float]]  # each with the variance of this number
    at_most: tuple[float, float] = (0.0, 0.0)  # if they move all stereotypes alike, the same


#: Of a single stereotype.
_NOTHING_ADDED = _Added({})


class _Several:
    """Several stereotypes, or those of two runs, whose levels may be the same."""

    def __init__(self, strata: Sequence[Stratum], group: Mapping[int, float]) -> None:
        self.places, self.shares = list(group), np.array(list(group.values()))
        self.members = [strata[place] for place in group]
        self.squares = [stratum.squares for stratum in self.members]

    def added(self, moderated: Moderated | None, parts: Mapping[str, Array]) -> _Added:
        """Return what shared levels add, with those of which some stereotypes have only one.

        The latter are lent. `parts` are of `_shared_parts`.
        """
        by_factor = {f: shared_variance(self.squares, self.shares, f) for f in SHARED}
        most = most_uncertain = 0.0
        for f, part in parts.items():
            assert moderated is not None
            variances = self.shares**2 * part[self.places]
            # Of the component: its variance by its square.
            relative = float(moderated.uncertain[list(self.squares[0].totals).index(f)])
            extra, error = by_factor[f]
            lent = single_level_variance(self.squares, variances, f)
            by_factor[f] = extra + lent, error + relative * lent**2
            greatest = greatest_shared_variance(self.squares, variances, f)
            most += greatest
            most_uncertain += relative * greatest**2
        return _Added(by_factor, (most, most_uncertain))

    def unbiased(self, error: _Error | None, moderated: Moderated | None) -> _Error | None:
        """Take back what components that are held at 0 add to the variance of the mean.

        Where nothing but responses varies, the result is near their variance, above or below; less
        than a part of it is noise.
        """
        if error is None or moderated is None:
            return None
        scales = self.shares**2 * moderated.scales[self.places]
        by_factor = scales @ [stratum.shares for stratum in self.squares]
        biased = float(by_factor @ moderated.components)
        if biased <= 0:
            return error
        least = OF_RESPONSES * float(by_factor[-1] * moderated.components[-1])
        unbiased = max(float(by_factor @ moderated.unbiased), least)
        return replace(error, variance=error.variance * unbiased / biased)

    def like_these(self, empty: ClusteredMean, added: _Added, runs: int) -> ClusteredMean:
        """Return `empty` with the error for *like these*: the clusters are the stereotypes."""
        means = np.array([stratum.mean for stratum in self.squares])
        # A column per run: the two strata of a stereotype are one cluster.
        totals = (self.shares * means).reshape(-1, runs).sum(axis=1)
        clusters = mean_of_clusters(self.shares.reshape(-1, runs)[:, -1], totals)
        if clusters.se is None or clusters.df is None or clusters.unanimous:
            return empty
        between_clusters = clusters.se**2
        positive = {f: extra for f, extra in added.by_factor.items() if extra[0] > 0}
        variance = between_clusters + sum(extra for extra, _ in positive.values())
        uncertain = 2.0 * between_clusters**2 / clusters.df
        uncertain += sum(error for _, error in positive.values())
        # A sum of variances is known at least as well as the one that is known least.
        least = clusters.df
        for f in positive:
            least = min(least, max(stratum.varies.get(f, 1) for stratum in self.members) - 1.0)
        df = max(2.0 * variance**2 / uncertain, least, 1.0)
        return replace(empty, se=variance**0.5, df=df, n_clusters=clusters.n_clusters)


def _mean_for_these(empty: ClusteredMean, error: _Error | None, added: _Added) -> ClusteredMean:
    """Return `empty` with the error and df for *these*, as far as anything tells them."""
    if error is None or (error.variance <= 0 and error.size < 2):
        return empty
    unshared, size = error.variance, error.size
    if unshared <= 0:
        return replace(empty, se=0.0, df=size - 1.0, unanimous=True, n_clusters=size, scale=None)
    extras = list(added.by_factor.values())
    # What is added is unbiased and may be below 0; df count it where it is above.
    variance = max(unshared + sum(extra for extra, _ in extras), LEAST * unshared)
    expected = unshared + sum(max(extra, 0.0) for extra, _ in extras)
    uncertain = 2.0 * unshared**2 / error.df
    df = max(2.0 * expected**2 / (uncertain + sum(error for _, error in extras)), 1.0)
    if extras:
        extra_at_most, uncertain_at_most = added.at_most
        at_most = unshared + extra_at_most
        df_at_most = max(2.0 * at_most**2 / (uncertain + uncertain_at_most), 1.0)
        variance, df = _least_wide((variance, df), (at_most, df_at_most))
    return replace(empty, se=variance**0.5, df=df)


def _least_wide(estimate: tuple[float, float], at_most: tuple[float, float]) -> tuple[float, float]:
    """Bound the error, with its df, by that of shared levels which move all stereotypes alike."""
    variance, df = estimate
    alike, alike_df = at_most
    usual = stdtrit(alike_df, 0.975)
    wider = stdtrit(alike_df, 0.5 + SHARED_LEVEL / 2.0)
    if wider * alike**0.5 < stdtrit(df, 0.975) * variance**0.5:
        return alike * float(wider / usual) ** 2, alike_df
    return variance, df


def _wordings_share(these: ClusteredMean, error: _Error | None, added: _Added) -> float:
    """Return the part of a variance that more trials in the same wordings do not lower."""
    if error is None or not these.se:
        return 0.0
    of_wordings = error.of_wordings + added.by_factor.get("variation", (0.0, 0.0))[0]
    return min(max(of_wordings / these.se**2, 0.0), 1.0)


def _no_surer(like_these: ClusteredMean, these: ClusteredMean) -> ClusteredMean:
    """Return the mean for stereotypes like these, no surer than that for these."""
    # Without an error nan, which is not above anything: the mean stays as it is.
    for_these, for_like_these = _half_width(these), _half_width(like_these)
    if for_these > for_like_these:
        return replace(like_these, se=these.se, df=these.df)
    return like_these


def _half_width(mean: ClusteredMean) -> float:
    """Return half the width of the 95% interval of t; nan where there is no error."""
    if mean.se is None or mean.df is None:
        return np.nan
    return float(mean.se * stdtrit(mean.df, 0.975))


def _texts(groups: _Groups, moderated: Moderated | None, level: str) -> list[tuple[str, str]]:
    """Name what the intervals for *these* generalise over, and what they hold fixed."""
    several = np.array([[s.varies.get(f, 1) > 1 for f in _FACTOR_TEXTS] for s in groups.strata])
    unrecorded = np.array([[f in s.unrecorded for f in _FACTOR_TEXTS] for s in groups.strata])
    # Of a group: has any stereotype several levels, and are those of all unknown?
    several = np.logical_or.reduceat(several[groups.places], groups.starts)
    unrecorded = np.logical_and.reduceat(unrecorded[groups.places], groups.starts)
    lent = _lent_factors(groups.strata[0].varies, moderated)
    usual = moderated is not None and moderated.usual
    texts = []
    for has_several, is_unrecorded in zip(several.tolist(), unrecorded.tolist(), strict=True):
        levels = tuple(has_several)
        fixed = _fixed_text(
            levels, tuple(is_unrecorded), lent, overall=level == "overall", usual=usual
        )
        texts.append((_sources_text(levels, lent), fixed))
    return texts


def _lent_factors(factors: Iterable[str], moderated: Moderated | None) -> frozenset[str]:
    """Return the factors whose variance stereotypes lend to those with one level."""
    if moderated is None or not moderated.lends:
        return frozenset()
    # Not strict: the last component is that of the response.
    components = zip(factors, moderated.components, strict=False)
    return frozenset(f for f, component in components if component > 0)


@cache
def _sources_text(several: tuple[bool, ...], lent: frozenset[str]) -> str:
    """Name what the interval for *these* generalises over, from each of `_FACTOR_TEXTS`."""
    sources = []
    for (f, name), has_several in zip(_FACTOR_TEXTS.items(), several, strict=True):
        if has_several:
            sources.append(name)
        elif f in lent:
            sources.append(f"{name} (lent)")
    return ", ".join([*sources, "answers"])


@cache
def _fixed_text(
    several: tuple[bool, ...],
    unrecorded: tuple[bool, ...],
    lent: frozenset[str],
    *,
    overall: bool,
    usual: bool,
) -> str:
    """Name what the interval for *these* holds fixed, besides stereotypes."""
    single = {}
    for f, has_several, is_unrecorded in zip(_FACTOR_TEXTS, several, unrecorded, strict=True):
        single[f] = not (has_several or is_unrecorded or f in lent)
    unknown = dict(zip(_FACTOR_TEXTS, unrecorded, strict=True))
    fixed = {
        "these models": overall,
        "attribute words": True,
        "one wording": single["variation"],
        "one marginalized word": single["marginalized"],
        "one default word": single["default"],
        "one draw": single["draw"],
        "unrecorded group words": unknown["marginalized"] or unknown["default"],
        "usual variances": usual,
    }
    return ", ".join(name for name, is_fixed in fixed.items() if is_fixed)
