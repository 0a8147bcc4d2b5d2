"""Variances of means over crossed sources of variation, moderated across stereotypes.

Reference
    Hartley, Rao & LaMotte (1978), Biometrics 34(2), 233–242: MIVQUE0, variance components from sums
    of squares of the totals of each factor. Satterthwaite (1946), Biometrics Bulletin 2(6),
    110–114: degrees of freedom. Smyth (2004), Statistical Applications in Genetics and Molecular
    Biology 3(1), 3: variances moderated across units, as limma does for genes.

Measures
    The scores of a stereotype are ``mean + wording + marginalized word + default word + cell + draw
    + response``, each with a variance; a *cell* is a wording with one pair of words. With n_l of n
    answers at level l of factor f, a component of variance σ_f² adds ``σ_f² Σ_l (n_l / n)²`` to the
    variance of the mean. Of each stereotype, the sums of squares of the factors' totals of
    deviations from the mean are linear in the components. The components are estimated from all
    stereotypes together (none below 0); then each stereotype's own variance is the joint one times
    a ratio, observed by expected sums of squares, and the ratios are moderated: they are taken as
    F-distributed, and the prior's degrees of freedom are those that make the ratios of the other
    stereotypes most likely. Equal ratios give the joint variance, unequal ones mostly the
    stereotype's own. A factor with one level in a stereotype is lent its variance by the others.

Deviations from the source
    A ratio weighs each sum of squares by the part its factor has in the variance of the mean.
    Wordings are common to stereotypes, so that stereotypes are not independent: the joint degrees
    of freedom are divided by 1 + (S − 1)ρ² for S stereotypes whose wordings correlate by ρ. With
    fewer than `FEWEST` stereotypes nothing is moderated: see `widest`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import betaln

from tiltmeter.statistics.clustered import Array
from tiltmeter.statistics.squares import Part

__all__ = ["CROSSED", "FEWEST", "SHARED", "Moderated", "common", "moderate", "shared_component"]

#: Sources of variation, beside the single response.
CROSSED = ("variation", "marginalized", "default", "cell", "draw")

#: Those whose levels several stereotypes may share.
SHARED = ("variation", "marginalized", "default")

#: Fewer stereotypes tell too little about how much variances differ.
FEWEST = 5

#: Prior degrees of freedom that are tried; the last is no difference between stereotypes.
_PRIORS = np.array([2.0, 3, 4, 5, 6, 8, 10, 13, 16, 20, 30, 50, 100, 1e4])

#: Scales of the ratios that are tried, as multiples of their mean.
_SCALES = np.exp(np.linspace(-2.5, 1.0, 71))

#: Factors with more levels are counted as responses in degrees of freedom, where they matter least.
_MOST_LEVELS = 150

_NOTHING = 1e-14

#: Expected sums of squares below this part of the largest are due to rounding.
_ROUNDING = 1e-9

#: Prior degrees of freedom, at most, for the variance of factors with one level: how far it goes
#: with the rest of a stereotype's variance is known from other stereotypes only.
_LENT = 2.0


def _products(one: Part, factors: Sequence[int]) -> Array:
    """Return Z'CZ of the levels Z of some factors, with C = W − ww'/n; (levels, levels)."""
    sizes = np.array([one.levels[f] for f in factors], np.intp)
    starts, n, k = np.cumsum(sizes) - sizes, int(sizes.sum()), len(factors)
    members = [one.members[f] + start for f, start in zip(factors, starts, strict=True)]
    places = np.array(members, np.intp).reshape(k, one.size)
    weights = np.broadcast_to(one.weights, (k, k, one.size)).ravel()
    both = np.bincount((places[:, None] * n + places).ravel(), weights, n * n).reshape(n, n)
    counts = both.diagonal()
    return np.asarray(both - np.outer(counts, counts) / one.size)


def _covariance(one: Part, components: Array) -> Array:
    """Return the covariance of the sums of squares of normal effects with these components."""
    last = len(one.levels) - 1
    small = [f for f in range(last) if one.levels[f] <= _MOST_LEVELS]
    large = [f for f in range(last) if f not in small]
    noise = components[last] + components[large] @ one.shares[large] / one.shares[last]
    expected = one.expected @ components
    covariance = np.zeros((last + 1, last + 1))
    for f in large:
        covariance[f, f] = 2.0 * expected[f] ** 2 / (one.levels[f] - 1)
    product = _products(one, small)
    factor = np.repeat(np.array(small, np.intp), [one.levels[f] for f in small])  # of each level
    added, variances = np.eye(last + 1)[:, factor], components[factor]
    spread = noise * product + (product * variances) @ product
    covariance += 2.0 * added @ spread**2 @ added.T
    with_responses = noise * spread.diagonal() + (spread * product) @ variances
    covariance[last] += 2.0 * added @ with_responses
    covariance[:, last] = covariance[last]
    responses = variances @ (noise * product.diagonal() + spread.diagonal())
    covariance[last, last] = 2.0 * (noise**2 * (one.size - 1) + responses)
    return covariance


@dataclass(frozen=True)
class Moderated:
    """Variances of the means of stereotypes."""

    variances: Array  # (stereotypes,)
    df: Array  # (stereotypes,)
    joint_df: Array  # (stereotypes,), of the joint variance, which no df exceeds
    components: Array  # (k,), of the joint variance, as parts of the scale


def moderate(parts: Sequence[Part], scales: Array) -> Moderated | None:
    """Estimate the variances of the means of `parts`, which have the same factors, together.

    `scales`, shape (stereotypes,), are what variances are proportional to: on a bounded scale
    (mean − low)(high − mean), as of shares, else 1. None with fewer than `FEWEST` stereotypes that
    have a variance to be estimated from.
    """
    if sum(one.size > 1 for one in parts) < FEWEST:
        return None
    expected = np.asarray(sum(one.expected / one.size for one in parts))
    squares = sum(
        one.squares / (one.size * scale) for one, scale in zip(parts, scales, strict=True)
    )
    components = _solve(expected, np.asarray(squares))
    if components.sum() <= _NOTHING:
        return None
    covariances = [_covariance(one, components) for one in parts]
    each = zip(parts, covariances, scales, strict=True)
    found = [_ratio(one, components, covariance, scale) for one, covariance, scale in each]
    joint, lent, ratios, df = np.array(found).T
    prior_df, centre = _prior(ratios, df)
    joint_df = _joint_df(parts, components, expected, covariances)
    joint_df /= _design_effect(parts, scales)
    weight = np.minimum(prior_df, _LENT)
    moderated = joint * (prior_df * centre + df * ratios) / (prior_df + df)
    moderated += lent * (weight * centre + df * ratios) / (weight + df)
    return Moderated(
        variances=scales * moderated,
        df=np.maximum(np.minimum(prior_df + df, joint_df), 1.0),
        joint_df=joint_df,
        components=components,
    )


def _joint_df(
    parts: Sequence[Part], components: Array, expected: Array, covariances: Sequence[Array]
) -> Array:
    """Return the degrees of freedom of the joint variances, from the error of the components."""
    used = np.flatnonzero(components > 0)
    covariance = sum(own / one.size**2 for one, own in zip(parts, covariances, strict=True))
    solved = np.linalg.pinv(expected[np.ix_(used, used)], rcond=1e-9, hermitian=True)
    errors = solved @ np.asarray(covariance)[np.ix_(used, used)] @ solved
    shares = np.array([one.shares[used] for one in parts])
    variances = np.einsum("sf,fg,sg->s", shares, errors, shares)
    return np.asarray(2.0 * (shares @ components[used]) ** 2 / np.maximum(variances, 1e-300))


def _solve(expected: Array, squares: Array) -> Array:
    """Return the components that explain the sums of squares, none below 0."""
    diagonal = np.diag(expected)
    used = np.flatnonzero(diagonal > _ROUNDING * diagonal.max()).tolist()  # factors that vary
    while True:
        block = expected[np.ix_(used, used)]
        solution = np.linalg.lstsq(block, squares[used], rcond=1e-9)[0]
        sizes = solution[:-1] * np.sqrt(np.diag(block)[:-1].clip(0.0))
        if len(used) == 1 or sizes.min() >= 0:
            break
        used.pop(int(sizes.argmin()))
    components = np.zeros(len(squares))
    components[used] = np.maximum(solution, 0.0)
    return components


def _ratio(
    one: Part, components: Array, covariance: Array, scale: float
) -> tuple[float, float, float, float]:
    """Return the joint variance of the mean of one part, and how its own compares.

    The variance due to factors that vary, that due to factors with one level (lent by other
    stereotypes), the ratio of the part's own variance to the joint one, and its df.
    """
    several = np.array(one.levels) > 1
    by_factor = one.shares * components
    joint, lent = float(by_factor[several].sum()), float(by_factor[~several].sum())
    expected = one.expected @ components
    seen = several & (expected > _NOTHING)
    weights = np.divide(by_factor, expected, out=np.zeros_like(expected), where=seen)
    mean = float(weights @ expected)
    if one.size < 2 or mean <= 0:
        return joint, lent, 1.0, 0.0
    variance = float(weights @ covariance @ weights)
    return joint, lent, float(weights @ one.squares) / scale / mean, 2.0 * mean**2 / variance


def _prior(ratios: Array, df: Array) -> tuple[Array, Array]:
    """Return df and centre of the prior of each ratio: those that make the others most likely."""
    known = (df > 0) & (ratios > 1e-8)
    if known.sum() < FEWEST:
        return np.full(len(ratios), _PRIORS[-1]), np.ones(len(ratios))
    d, x = df[known], ratios[known]
    centres = _SCALES * np.average(x, weights=d)
    prior, scaled = _PRIORS[:, None, None], x / centres[:, None]
    density = d / 2 * np.log(d / prior) + (d / 2 - 1) * np.log(scaled) - betaln(d / 2, prior / 2)
    density -= (d + prior) / 2 * np.log1p(d * scaled / prior) + np.log(centres)[:, None]
    own = np.zeros((*density.shape[:2], len(ratios)))
    own[:, :, known] = density
    others = density.sum(axis=2)[:, :, None] - own
    best = others.reshape(-1, len(ratios)).argmax(axis=0)
    at, centre = np.divmod(best, len(centres))
    return _PRIORS[at], centres[centre]


def _design_effect(parts: Sequence[Part], scales: Array) -> float:
    """Return by how much wordings that stereotypes have in common lower the joint df."""
    sets: dict[tuple[int, ...], list[Array]] = {}
    for one, scale in zip(parts, scales, strict=True):
        if "variation" in one.totals and len(one.totals["variation"][0]) > 1:
            levels, deviations, _ = one.totals["variation"]
            sets.setdefault(tuple(levels.tolist()), []).append(deviations / scale**0.5)
    stacked = [np.array(rows) for rows in sets.values()]
    others = sum((len(rows) - 1) * float((rows**2).sum()) for rows in stacked)
    if others <= _NOTHING:
        return 1.0
    together = sum(float((rows.sum(axis=0) ** 2).sum() - (rows**2).sum()) for rows in stacked)
    correlation = min(max(0.0, together / others), 1.0)
    pairs = sum(len(rows) * (len(rows) - 1) for rows in stacked)
    return 1.0 + pairs / sum(map(len, stacked)) * correlation**2


def common(parts: Sequence[Part], shares: Array, factor: str) -> tuple[float, float]:
    """Return what the levels of a factor that stereotypes share add to the variance of their mean.

    `shares`, shape (stereotypes,), are the parts of the answers. Beside it, the variance of this
    number; both 0 where no level is shared. It may be below 0, as it is unbiased.
    """
    component, error, weight = shared_component(parts, shares, factor)
    return weight * component, weight**2 * error


def shared_component(
    parts: Sequence[Part], shares: Array, factor: str
) -> tuple[float, float, float]:
    """Return the component of a factor that stereotypes share, its variance, and its weight.

    The weight is what the component is multiplied with in the variance of the mean. All are 0 where
    no level is shared. The component is on the scale of the means, unbiased, and may be below 0.
    """
    used = [(p, one.totals[factor]) for p, one in zip(shares, parts, strict=True)]
    used = [(p, totals) for p, totals in used if len(totals[0]) > 1]
    levels = {level for _, totals in used for level in totals[0].tolist()}
    if len(used) < 2 or not 1 < len(levels) <= _MOST_LEVELS:
        return 0.0, 0.0, 0.0
    at = {level: place for place, level in enumerate(sorted(levels))}
    sums, counts = np.zeros((len(used), len(at))), np.zeros((len(used), len(at)))
    for row, (p, (own, deviations, fractions)) in enumerate(used):
        places = [at[level] for level in own.tolist()]
        sums[row, places], counts[row, places] = p * deviations, p * fractions
    centring = np.diag(counts.sum(axis=0)) - counts.T @ (counts / counts.sum(axis=1)[:, None])
    pooled, single = sums.sum(axis=0), (sums**2).sum()
    weight = float((counts.sum(axis=0) ** 2).sum() - (counts**2).sum())
    informative = (centring**2).sum() - sum(_centred(row) for row in counts)
    if weight <= _NOTHING or informative <= _NOTHING:
        return 0.0, 0.0, 0.0
    together = float(pooled @ pooled)
    df = np.trace(centring) ** 2 / (centring**2).sum()
    error = 2.0 * (max(together, single) / informative) ** 2 / df
    return (together - single) / informative, error, weight


def _centred(counts: Array) -> float:
    """Return the sum of squares of diag(c) − cc'/Σc."""
    total = counts.sum()
    squares = (counts**2).sum()
    return float(squares - 2.0 * (counts**3).sum() / total + squares**2 / total**2)
