"""The mean of several stereotypes, or a difference of them, with its errors for both targets.

Measures
    A mean is a sum of the means of strata (stereotypes of a run), each times its share. The
    variance for *these* is the sum of their variances times the squares of the shares, plus what
    wordings and group words that strata share add. Of a difference the shares of one run are
    negative; what its strata share with those of the other run then lowers the variance.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
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
from clinometer.statistics.squares import StratumSquares
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


def pooled(
    strata: Sequence[Stratum],
    shares: Mapping[int, float],
    moderated: Moderated | None,
    bounds: tuple[float, float],
    level: str,
) -> Targets:
    """Return the mean of several stereotypes, or of one; or the difference of two runs.

    `shares`, by the place of a stratum, add up to 1, or to 0 in a difference, whose pairs of strata
    follow each other, the baseline's first. `bounds` are the ends of the scale of the result.
    """
    members = [strata[place] for place in shares]
    places = list(shares)
    squares = [stratum.squares for stratum in members]
    signed_shares = np.array(list(shares.values()))
    runs = 2 if signed_shares.min() < 0 else 1
    n_stereotypes = len(members) // runs
    means = np.array([stratum.mean for stratum in squares])
    empty = _mean_without_error(float(signed_shares @ means), members, bounds)
    errors = _errors(moderated, places, squares)
    between: dict[str, tuple[float, float]] = {}
    if n_stereotypes > 1:
        between = {f: shared_variance(squares, signed_shares, f) for f in SHARED}
        if errors is not None and moderated is not None:
            scales = signed_shares**2 * moderated.scales[places]
            errors = _unbiased(errors, moderated, squares, scales)
            between = _add_single_levels(between, errors, squares, signed_shares**2)
    # A column per run: the two strata of a stereotype are one cluster.
    totals = (signed_shares * means).reshape(-1, runs).sum(axis=1)
    clusters = mean_of_clusters(signed_shares.reshape(-1, runs)[:, -1], totals)
    these = _mean_for_these(empty, errors, between, signed_shares, members)
    like_these = _mean_like_these(empty, clusters, between, members) if n_stereotypes > 1 else empty
    return Targets(
        these=these,
        like_these=_no_surer(like_these, these),
        over=_sources_text(members, moderated),
        fixed=_fixed_text(members, moderated, level, n_stereotypes),
        wider="stereotypes" if n_stereotypes > 1 else "attribute words",
        by_wordings=_wordings_share(these, errors, between, signed_shares),
    )


def _mean_without_error(
    mean: float, members: Sequence[Stratum], bounds: tuple[float, float]
) -> ClusteredMean:
    """Return a mean over some strata with their counts and its scale, and no error yet."""
    answers = np.array([stratum.squares.answers for stratum in members])
    size = sum(stratum.squares.size for stratum in members)
    finite = bool(np.isfinite(bounds[1] - bounds[0]))
    # The fewest levels, of more than one, that a factor has in a stereotype.
    n_levels = [n for stratum in members for n in stratum.varies.values() if n > 1]
    return ClusteredMean(
        n=int(answers.sum()),
        n_clusters=min(n_levels, default=size),
        mean=mean,
        se=None,
        df=None,
        bounds=bounds if finite else None,
        scale=scale_of(mean, size, bounds) if finite else None,
    )


@dataclass(frozen=True)
class _Errors:
    """Variances of the means of stereotypes, and how well they are known."""

    variances: Array
    df: Array
    joint_df: Array  # that no df exceeds
    shared: Mapping[str, Array]  # the part of each variance that a factor of `SHARED` has
    uncertain: Mapping[str, float]  # of the component of each: its variance by its square


def _errors(
    moderated: Moderated | None, places: list[int], squares: Sequence[StratumSquares]
) -> _Errors | None:
    """Return the moderated variances of the strata at some places; None without any."""
    if moderated is None:
        return None
    variances = moderated.variances[places]
    factors = list(squares[0].totals)
    shared: dict[str, Array] = {}
    uncertain: dict[str, float] = {}
    for f in SHARED:
        # In means of cells, wordings tell strata apart and are no factor.
        if all(f in stratum.totals for stratum in squares):
            shared[f] = variances * _factor_shares(squares, moderated.components, f)
            uncertain[f] = float(moderated.uncertain[factors.index(f)])
    return _Errors(variances, moderated.df[places], moderated.joint_df[places], shared, uncertain)


def _unbiased(
    errors: _Errors, moderated: Moderated, squares: Sequence[StratumSquares], scales: Array
) -> _Errors:
    """Take back what components that are held at 0 add to the variance of a mean over several.

    `scales` are those of the strata, times the squares of their shares.
    Where nothing but responses varies, the result is near their variance, above or below; less than
    a part of it is noise.
    """
    by_factor = scales @ [stratum.shares for stratum in squares]
    biased = float(by_factor @ moderated.components)
    if biased <= 0:
        return errors
    least = OF_RESPONSES * float(by_factor[-1] * moderated.components[-1])
    unbiased = max(float(by_factor @ moderated.unbiased), least)
    return replace(errors, variances=errors.variances * unbiased / biased)


def _add_single_levels(
    between: Mapping[str, tuple[float, float]],
    errors: _Errors,
    squares: Sequence[StratumSquares],
    squared_shares: Array,
) -> dict[str, tuple[float, float]]:
    """Add to what stereotypes share the levels of which some of them have one, which is lent.

    `squared_shares`, shape (stereotypes,), are the squares of the shares.
    """
    total: dict[str, tuple[float, float]] = {}
    for f, (extra, error) in between.items():
        added = 0.0
        if f in errors.shared:
            added = single_level_variance(squares, squared_shares * errors.shared[f], f)
        total[f] = extra + added, error + errors.uncertain.get(f, 0.0) * added**2
    return total


def _factor_shares(squares: Sequence[StratumSquares], components: Array, factor: str) -> Array:
    """Return the part of the variance of each mean that a factor has."""
    by_factor = np.array([stratum.shares for stratum in squares]) * components
    of_factor = by_factor[:, list(squares[0].totals).index(factor)]
    total = by_factor.sum(axis=1)
    return np.asarray(np.divide(of_factor, total, out=np.zeros_like(of_factor), where=total > 0))


def _mean_for_these(
    empty: ClusteredMean,
    errors: _Errors | None,
    between: Mapping[str, tuple[float, float]],
    shares: Array,
    members: Sequence[Stratum],
) -> ClusteredMean:
    """Return `empty` with the error and df for *these*, as far as anything tells them.

    `between` are the variances that shared levels add, each with the variance of this number.
    """
    if errors is None:
        return empty
    size = sum(stratum.squares.size for stratum in members)
    weighted = shares**2 * errors.variances
    unshared = float(weighted.sum())
    if unshared <= 0 and size < 2:
        return empty
    if unshared <= 0:
        return replace(empty, se=0.0, df=size - 1.0, unanimous=True, n_clusters=size, scale=None)
    uncertain_joint = float((weighted / errors.joint_df).sum())
    joint_df = unshared / uncertain_joint if uncertain_joint > 0 else np.inf
    own_df = min(joint_df, unshared**2 / float((weighted**2 / errors.df).sum()))
    added = list(between.values())
    # What is added is unbiased and may be below 0; df count it where it is above.
    variance = max(unshared + sum(extra for extra, _ in added), LEAST * unshared)
    expected = unshared + sum(max(extra, 0.0) for extra, _ in added)
    uncertain = 2.0 * unshared**2 / own_df + sum(error for _, error in added)
    df = max(2.0 * expected**2 / uncertain, 1.0)
    if between:
        squares = [stratum.squares for stratum in members]
        added_at_most: dict[str, float] = {}
        for f, variances in errors.shared.items():
            added_at_most[f] = greatest_shared_variance(squares, shares**2 * variances, f)
        at_most = unshared + sum(added_at_most.values())
        uncertain = 2.0 * unshared**2 / own_df
        uncertain += sum(errors.uncertain[f] * extra**2 for f, extra in added_at_most.items())
        variance, df = _least_wide((variance, df), (at_most, max(2.0 * at_most**2 / uncertain, 1)))
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


def _wordings_share(
    these: ClusteredMean,
    errors: _Errors | None,
    between: Mapping[str, tuple[float, float]],
    shares: Array,
) -> float:
    """Return the part of a variance that more trials in the same wordings do not lower."""
    if errors is None or not these.se:
        return 0.0
    by_stratum = errors.shared.get("variation", np.zeros(len(shares)))
    of_wordings = float(shares**2 @ by_stratum) + between.get("variation", (0.0, 0.0))[0]
    return min(max(of_wordings / these.se**2, 0.0), 1.0)


def _mean_like_these(
    empty: ClusteredMean,
    clusters: ClusteredMean,
    between: Mapping[str, tuple[float, float]],
    members: Sequence[Stratum],
) -> ClusteredMean:
    """Return `empty` with the error for *like these*: of the stereotypes as `clusters`."""
    if clusters.se is None or clusters.df is None or clusters.unanimous:
        return empty
    between_clusters = clusters.se**2
    positive = {f: added for f, added in between.items() if added[0] > 0}
    variance = between_clusters + sum(extra for extra, _ in positive.values())
    uncertain = 2.0 * between_clusters**2 / clusters.df
    uncertain += sum(error for _, error in positive.values())
    # A sum of variances is known at least as well as the one that is known least.
    least = clusters.df
    for f in positive:
        least = min(least, max(stratum.varies.get(f, 1) for stratum in members) - 1.0)
    df = max(2.0 * variance**2 / uncertain, least, 1.0)
    return replace(empty, se=variance**0.5, df=df, n_clusters=clusters.n_clusters)


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


def _sources_text(members: Sequence[Stratum], moderated: Moderated | None) -> str:
    """Name what the interval for *these* generalises over."""
    lent = _lent_factors(members, moderated)
    sources = []
    for f, name in _FACTOR_TEXTS.items():
        if f in lent:
            sources.append(f"{name} (lent)")
        elif not _single_level(members, f):
            sources.append(name)
    return ", ".join([*sources, "answers"])


def _single_level(members: Sequence[Stratum], factor: str) -> bool:
    """Whether no stratum has two levels of a factor, or it is none of theirs."""
    return all(stratum.varies.get(factor, 1) < 2 for stratum in members)


def _lent_factors(members: Sequence[Stratum], moderated: Moderated | None) -> set[str]:
    """Return the factors with one level whose variance other stereotypes lend."""
    if moderated is None or not moderated.lends:
        return set()
    components = zip(members[0].varies, moderated.components, strict=False)
    positive = {f for f, component in components if component > 0}
    return {f for f in positive if _single_level(members, f)}


def _fixed_text(
    members: Sequence[Stratum], moderated: Moderated | None, level: str, n_stereotypes: int
) -> str:
    """Name what the interval for *these* holds fixed."""
    lent = _lent_factors(members, moderated)
    single = {f: f not in lent and _single_level(members, f) for f in _FACTOR_TEXTS}
    unrecorded = set.intersection(*(stratum.unrecorded for stratum in members))
    for f in unrecorded & single.keys():
        single[f] = False
    fixed = {
        "this stereotype" if n_stereotypes == 1 else "these stereotypes": True,
        "these models": level == "overall",
        "attribute words": True,
        "one wording": single["variation"],
        "one marginalized word": single["marginalized"],
        "one default word": single["default"],
        "one draw": single["draw"],
        "unrecorded group words": bool(unrecorded & {"marginalized", "default"}),
        "usual variances": moderated is not None and moderated.usual,
    }
    return ", ".join(name for name, is_fixed in fixed.items() if is_fixed)
