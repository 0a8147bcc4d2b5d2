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
from clinometer.statistics.shared import SHARED, common, most, of_single
from clinometer.statistics.squares import Part
from clinometer.statistics.strata import Stratum, scale_of

__all__ = ["LIKE_THESE", "OF_TARGET", "THESE", "Targets", "pooled"]

THESE, LIKE_THESE = "these", "like these"

#: The columns of `Targets.row`.
OF_TARGET: Schema = {**TESTED, **columns("target", "clustered_by", "conditional_on")}

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
    chosen, places = [strata[place] for place in shares], list(shares)
    parts, of = [one.part for one in chosen], np.array(list(shares.values()))
    runs = 2 if of.min() < 0 else 1
    stereotypes, size = len(chosen) // runs, sum(one.size for one in parts)
    answers, means = (np.array([getattr(one, c) for one in parts]) for c in ("answers", "mean"))
    mean = float(of @ means)
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
    errors = _errors(moderated, places, parts)
    between: dict[str, tuple[float, float]] = {}
    if stereotypes > 1:
        between = {f: common(parts, of, f) for f in SHARED}
        if errors is not None and moderated is not None:
            errors = _unbiased(errors, moderated, parts, of**2 * moderated.scales[places])
            between = _with_single(between, errors, parts, of**2)
    totals = (of * means).reshape(-1, runs).sum(axis=1)
    clusters = mean_of_clusters(of.reshape(-1, runs)[:, -1], totals)
    these = _these(empty, errors, between, of, chosen)
    like_these = _like_these(empty, clusters, between, chosen) if stereotypes > 1 else empty
    return Targets(
        these=these,
        like_these=_wider(like_these, these),
        over=_over(chosen, moderated),
        fixed=_fixed(chosen, moderated, level, stereotypes),
        wider="stereotypes" if stereotypes > 1 else "attribute words",
        by_wordings=_by_wordings(these, errors, between, of),
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
    moderated: Moderated | None, members: Sequence[int], parts: Sequence[Part]
) -> _Errors | None:
    if moderated is None:
        return None
    at = list(members)
    variances = moderated.variances[at]
    factors = [f for f in SHARED if all(f in one.totals for one in parts)]
    shared = {f: variances * _parts_of(parts, moderated.components, f) for f in factors}
    places = {f: list(parts[0].totals).index(f) for f in factors}
    uncertain = {f: float(moderated.uncertain[place]) for f, place in places.items()}
    return _Errors(variances, moderated.df[at], moderated.joint_df[at], shared, uncertain)


def _unbiased(
    errors: _Errors, moderated: Moderated, parts: Sequence[Part], scales: Array
) -> _Errors:
    """Take back what components that are held at 0 add to the variance of a mean over several.

    `scales` are those of the parts, times the squares of their shares.
    Where nothing but responses varies, the result is near their variance, above or below; less than
    a part of it is noise.
    """
    by_factor = scales @ [one.shares for one in parts]
    biased = float(by_factor @ moderated.components)
    if biased <= 0:
        return errors
    least = OF_RESPONSES * float(by_factor[-1] * moderated.components[-1])
    own = max(float(by_factor @ moderated.unbiased), least)
    return replace(errors, variances=errors.variances * own / biased)


def _with_single(
    between: Mapping[str, tuple[float, float]], errors: _Errors, parts: Sequence[Part], of: Array
) -> dict[str, tuple[float, float]]:
    """Add to what stereotypes share the levels of which some of them have one, which is lent.

    `of`, shape (stereotypes,), are the squares of the shares.
    """
    added = {f: of_single(parts, of * own, f) for f, own in errors.shared.items()}
    return {
        f: (
            extra + added.get(f, 0.0),
            error + errors.uncertain.get(f, 0.0) * added.get(f, 0.0) ** 2,
        )
        for f, (extra, error) in between.items()
    }


def _parts_of(parts: Sequence[Part], components: Array, factor: str) -> Array:
    """Return the part of the variance of each mean that a factor has."""
    by_factor = np.array([one.shares for one in parts]) * components
    own = by_factor[:, list(parts[0].totals).index(factor)]
    whole, none = by_factor.sum(axis=1), np.zeros_like(own)
    return np.asarray(np.divide(own, whole, out=none, where=whole > 0))


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
    if own <= 0 and size < 2:
        return empty
    if own <= 0:
        return replace(empty, se=0.0, df=size - 1.0, unanimous=True, n_clusters=size, scale=None)
    over_joint = float((weighted / errors.joint_df).sum())
    joint_df = own / over_joint if over_joint > 0 else np.inf
    own_df = min(joint_df, own**2 / float((weighted**2 / errors.df).sum()))
    added = list(between.values())
    variance = max(own + sum(extra for extra, _ in added), LEAST * own)
    expected = own + sum(max(extra, 0.0) for extra, _ in added)
    uncertain = 2.0 * own**2 / own_df + sum(error for _, error in added)
    df = max(2.0 * expected**2 / uncertain, 1.0)
    if between:
        parts = [one.part for one in chosen]
        added_at_most = {f: most(parts, shares**2 * of, f) for f, of in errors.shared.items()}
        at_most = own + sum(added_at_most.values())
        uncertain = 2.0 * own**2 / own_df
        uncertain += sum(errors.uncertain[f] * one**2 for f, one in added_at_most.items())
        variance, df = _least_wide((variance, df), (at_most, max(2.0 * at_most**2 / uncertain, 1)))
    return replace(empty, se=variance**0.5, df=df)


def _least_wide(seen: tuple[float, float], at_most: tuple[float, float]) -> tuple[float, float]:
    """Bound the error, with its df, by that of shared levels which move all stereotypes alike."""
    (variance, df), (alike, alike_df) = seen, at_most
    usual, wider = stdtrit(alike_df, 0.975), stdtrit(alike_df, 0.5 + SHARED_LEVEL / 2.0)
    if wider * alike**0.5 < stdtrit(df, 0.975) * variance**0.5:
        return alike * float(wider / usual) ** 2, alike_df
    return variance, df


def _by_wordings(
    these: ClusteredMean,
    errors: _Errors | None,
    between: Mapping[str, tuple[float, float]],
    shares: Array,
) -> float:
    """Return the part of a variance that more trials in the same wordings do not lower."""
    if errors is None or not these.se:
        return 0.0
    of_each = errors.shared.get("variation", np.zeros(len(shares)))
    own = float(shares**2 @ of_each) + between.get("variation", (0.0, 0.0))[0]
    return min(max(own / these.se**2, 0.0), 1.0)


def _like_these(
    empty: ClusteredMean,
    stereotypes: ClusteredMean,
    between: Mapping[str, tuple[float, float]],
    chosen: Sequence[Stratum],
) -> ClusteredMean:
    if stereotypes.se is None or stereotypes.df is None or stereotypes.unanimous:
        return empty
    own = stereotypes.se**2
    positive = {f: added for f, added in between.items() if added[0] > 0}
    variance = own + sum(extra for extra, _ in positive.values())
    uncertain = 2.0 * own**2 / stereotypes.df + sum(error for _, error in positive.values())
    # A sum of variances is known at least as well as the one that is known least.
    levels = (max(one.varies.get(f, 1) for one in chosen) for f in positive)
    least = min([stereotypes.df, *(n - 1.0 for n in levels)])
    df = max(2.0 * variance**2 / uncertain, least, 1.0)
    return replace(empty, se=variance**0.5, df=df, n_clusters=stereotypes.n_clusters)


def _wider(like_these: ClusteredMean, these: ClusteredMean) -> ClusteredMean:
    """Return the mean for stereotypes like these, no surer than that for these."""
    wide, narrow = (
        one.se * stdtrit(one.df, 0.975) if one.se is not None and one.df is not None else np.nan
        for one in (like_these, these)
    )
    return replace(like_these, se=these.se, df=these.df) if narrow > wide else like_these


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
    if moderated is None or not moderated.lends:
        return set()
    components = zip(chosen[0].varies, moderated.components, strict=False)
    known = {f for f, component in components if component > 0}
    return {f for f in known if all(one.varies[f] < 2 for one in chosen)}


def _fixed(
    chosen: Sequence[Stratum], moderated: Moderated | None, level: str, stereotypes: int
) -> str:
    """Name what the interval for *these* holds fixed."""
    lent = _lent(chosen, moderated)
    single = {f: f not in lent and all(one.varies.get(f, 1) < 2 for one in chosen) for f in _NAMES}
    unrecorded = set.intersection(*(one.unrecorded for one in chosen))
    for f in unrecorded & single.keys():
        single[f] = False
    fixed = {
        "this stereotype" if stereotypes == 1 else "these stereotypes": True,
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
