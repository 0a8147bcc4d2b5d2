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

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln

from tiltmeter.statistics.clustered import Array

__all__ = ["CROSSED", "FEWEST", "SHARED", "Moderated", "Part", "common", "moderate", "part"]

Codes = NDArray[np.intp]

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

#: Prior degrees of freedom, at most, for the variance of factors with one level: how far it goes
#: with the rest of a stereotype's variance is known from other stereotypes only.
_LENT = 2.0


@dataclass(frozen=True)
class Part:
    """The sums of squares of one stereotype's scores, and what they are made of."""

    mean: float
    size: int  # units, such as mirrored pairs
    answers: float  # answers behind them
    levels: tuple[int, ...]  # of each factor; of the last, the response, the units
    squares: Array  # (k,), sums of squared totals of deviations
    expected: Array  # (k, k), E[squares] = expected @ components
    shares: Array  # (k,), variance of the mean = shares @ components
    products: Mapping[tuple[int, int], Array]  # of factors with few levels: Z_f' C Z_h
    totals: Mapping[str, tuple[Codes, Array, Array]]  # level, mean deviation, share of answers


def part(values: Array, weights: Array, factors: Mapping[str, Codes]) -> Part:
    """Return the sums of squares of `values`, shape (units,), by factor.

    `weights` are the numbers of answers behind the values, `factors` their levels, as integers.
    """
    n, answers = len(values), float(weights.sum())
    w = weights * (n / answers)
    mean = float(weights @ values / answers)
    deviations = w * (values - mean)
    members = [np.unique(codes, return_inverse=True)[1] for codes in factors.values()]
    sums = [np.bincount(codes, weights=deviations) for codes in members]
    counts = [np.asarray(np.bincount(codes, weights=w), float) for codes in members]
    return Part(
        mean=mean,
        size=n,
        answers=answers,
        levels=(*map(len, counts), n),
        squares=np.array([float(one @ one) for one in (*sums, deviations)]),
        expected=_expected(members, counts, w),
        shares=np.array([float(one @ one) for one in (*counts, w)]) / n**2,
        products=_products(members, counts, w),
        totals={f: _totals(factors[f], deviations, w) for f in SHARED if f in factors},
    )


def _totals(codes: Codes, deviations: Array, w: Array) -> tuple[Codes, Array, Array]:
    levels, member = np.unique(codes, return_inverse=True)
    n = len(codes)
    sums, counts = np.bincount(member, weights=deviations), np.bincount(member, weights=w)
    return levels, sums / n, counts / n


def _expected(factors: Sequence[Codes], counts: Sequence[Array], w: Array) -> Array:
    """Return the coefficients of the components in the expected sums of squares."""
    k, n = len(factors), len(w)
    expected = np.empty((k + 1, k + 1))
    squared = w**2
    for f, codes in enumerate(factors):
        own = counts[f]
        for h in range(f, k):
            cells, member = np.unique(codes * len(counts[h]) + factors[h], return_inverse=True)
            both = np.bincount(member, weights=w)
            rows, columns = np.divmod(cells, len(counts[h]))
            cross = both @ (both - 2.0 * own[rows] * counts[h][columns] / n)
            cross += (own @ own) * (counts[h] @ counts[h]) / n**2
            expected[f, h] = expected[h, f] = cross
        single = squared @ (1.0 - 2.0 * own[codes] / n + own @ own / n**2)
        expected[f, k] = expected[k, f] = single
    expected[k, k] = squared.sum() - 2.0 * (squared @ w) / n + squared.sum() ** 2 / n**2
    return expected


def _products(
    factors: Sequence[Codes], counts: Sequence[Array], w: Array
) -> dict[tuple[int, int], Array]:
    small = [f for f, count in enumerate(counts) if len(count) <= _MOST_LEVELS]
    products = {}
    for f in small:
        for h in small:
            shape = len(counts[f]), len(counts[h])
            both = np.bincount(factors[f] * shape[1] + factors[h], w, shape[0] * shape[1])
            products[f, h] = both.reshape(shape) - np.outer(counts[f], counts[h]) / len(w)
    return products


def _moments(one: Part) -> Array:
    """Return K, shape (k, k, k, k): the sums of squares of normal effects have covariance c'Kc.

    `c` are the components. Factors of more than `_MOST_LEVELS` levels count as responses, but for
    the variances of their own sums of squares.
    """
    k, large = (
        len(one.levels),
        [f for f in range(len(one.levels) - 1) if (f, f) not in one.products],
    )
    small = [f for f in range(k - 1) if f not in large]
    block = np.repeat(np.eye(len(small)), [one.levels[f] for f in small], axis=0)
    whole = np.block([[one.products[f, h] for h in small] for f in small]) if small else np.eye(0)
    paths = [whole[:, own] @ whole[own] for own in block.T.astype(bool)] + [whole]
    crossed = np.array([[block.T @ (p * q) @ block for q in paths] for p in paths])
    traces = np.array([np.diag(p) @ block for p in paths])
    found = np.zeros((k, k, len(paths), len(paths)))
    found[np.ix_(small, small)] = crossed.transpose(2, 3, 0, 1)
    for place, f in enumerate(small):
        found[f, -1, -1] = found[-1, f, -1] = traces[:, place]
        found[f, -1, :-1] = found[-1, f, :-1] = crossed[:, -1, place].T
        found[-1, -1, place] = traces[:, place]
        found[-1, -1, place, -1] += traces[-1, place]
    found[-1, -1, -1, -1] = one.size - 1
    taken = np.zeros((len(paths), k))
    taken[range(len(small)), small] = 1.0
    taken[-1, [*large, -1]] = one.shares[[*large, -1]] / one.shares[-1]
    found = taken.T @ found @ taken
    for f in large:
        found[f, f] = np.outer(one.expected[f], one.expected[f]) / (one.levels[f] - 1)
    return np.asarray(2.0 * found)


@dataclass(frozen=True)
class Moderated:
    """Variances of the means of stereotypes, each moderated by the others.

    A variance is ``scale × floor + weights @ squares``. But for its squares and its scale, nothing
    in it depends on the scores of the stereotype itself.
    """

    variances: Array  # (stereotypes,)
    df: Array  # (stereotypes,)
    joint_df: Array  # (stereotypes,), of the joint variance, which no df exceeds
    floors: Array  # (stereotypes,), as parts of the scale
    weights: Array  # (stereotypes, k)
    components: Array  # (k,), of all stereotypes, as parts of the scale


class _Page:
    """What stereotypes are moderated by, an array each, with stereotypes first."""

    def __init__(self, parts: Sequence[Part], scales: Array) -> None:
        self.parts, self.scales = parts, scales
        self.sizes = np.array([one.size for one in parts], float)
        self.several = np.array([one.levels for one in parts]) > 1
        self.shares = np.array([one.shares for one in parts])
        self.expected = np.array([one.expected for one in parts])
        self.squares = np.array([one.squares for one in parts]) / scales[:, None]
        self.moments = np.array([_moments(one) for one in parts])

    def components(self, used: NDArray[np.bool_]) -> Array:
        """Estimate the components from some of the stereotypes."""
        each = used / self.sizes
        return _solve(np.tensordot(each, self.expected, 1), each @ self.squares)

    def ratios(self, components: Array) -> _Ratios:
        """Compare the variance of each stereotype with what components make of it."""
        by_factor = self.shares * components
        expected = self.expected @ components
        seen = self.several & (expected > _NOTHING)
        weights = np.divide(by_factor, expected, out=np.zeros_like(expected), where=seen)
        mean = (weights * expected).sum(axis=1)
        known = (self.sizes > 1) & (mean > 0)
        weights = np.divide(weights, mean[:, None], where=known[:, None], out=0.0 * weights)
        covariances = self.covariances(components)
        variance = np.einsum("sf,sfg,sg->s", weights, covariances, weights)
        return _Ratios(
            joint=(by_factor * self.several).sum(axis=1),
            lent=(by_factor * ~self.several).sum(axis=1),
            weights=weights,
            observed=np.where(known, (weights * self.squares).sum(axis=1), 1.0),
            df=np.divide(2.0, variance, where=known, out=np.zeros_like(variance)),
            covariances=covariances,
        )

    def covariances(self, components: Array) -> Array:
        """Return the covariance of the sums of squares of each stereotype."""
        return self.moments @ components @ components

    def joint_df(self, place: int, used: NDArray[np.bool_], components: Array, of: Array) -> float:
        """Return the df of a joint variance, from the error of the components; `of` the squares."""
        kept = np.flatnonzero(components > 0)
        at = np.ix_(kept, kept)
        each = used / self.sizes
        solved = np.linalg.pinv(np.tensordot(each, self.expected, 1)[at], 1e-9, hermitian=True)
        errors = solved @ np.tensordot(each**2, of, 1)[at] @ solved
        share = self.shares[place, kept]
        variance = max(float(share @ errors @ share), 1e-300)
        alike = [one for one, use in zip(self.parts, used, strict=True) if use]
        return (
            2.0
            * float(share @ components[kept]) ** 2
            / variance
            / _design_effect(alike, self.scales[used])
        )


@dataclass(frozen=True)
class _Ratios:
    """Variances of stereotypes, in units of what the components of others make of them."""

    joint: Array  # due to factors of several levels
    lent: Array  # due to factors with one level
    weights: Array  # (stereotypes, k), of the sums of squares in `observed`
    observed: Array
    df: Array
    covariances: Array  # (stereotypes, k, k)


def moderate(parts: Sequence[Part], scales: Array) -> Moderated | None:
    """Estimate the variances of the means of `parts`, which have the same factors.

    `scales`, shape (stereotypes,), are what variances are proportional to: on a bounded scale
    (mean − low)(high − mean), as of shares, else 1. None with fewer than `FEWEST` stereotypes that
    have a variance to be estimated from.
    """
    if sum(one.size > 1 for one in parts) < FEWEST:
        return None
    page = _Page(parts, scales)
    components = page.components(np.ones(len(parts), bool))
    if components.sum() <= _NOTHING:
        return None
    found = [_by_others(page, place) for place in range(len(parts))]
    floors, weights, df, joint_df = (np.array(column) for column in zip(*found, strict=True))
    squares = np.array([one.squares for one in parts])
    variances = scales * floors + (weights * squares).sum(axis=1)
    return Moderated(variances, df, joint_df, floors, weights, components)


def _by_others(page: _Page, place: int) -> tuple[float, Array, float, float]:
    """Return floor, weights, df and joint df of a stereotype, from the other stereotypes."""
    others = np.arange(len(page.sizes)) != place
    components = page.components(others)
    if components.sum() <= _NOTHING:
        components = page.components(~others)
    of = page.ratios(components)
    prior, centre = _prior(of.observed[others], of.df[others])
    own, lent_prior = of.df[place], min(prior, _LENT)
    joint, lent = of.joint[place] / (prior + own), of.lent[place] / (lent_prior + own)
    floor = centre * (joint * prior + lent * lent_prior)
    joint_df = page.joint_df(place, others, components, of.covariances)
    df = max(min(prior + own, joint_df), 1.0)
    return floor, of.weights[place] * own * (joint + lent), df, joint_df


def _solve(expected: Array, squares: Array) -> Array:
    """Return the components that explain the sums of squares, none below 0."""
    used = list(range(len(squares)))
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


def _prior(ratios: Array, df: Array) -> tuple[float, float]:
    """Return df and centre of the prior that makes ratios with these df most likely."""
    known = (df > 0) & (ratios > 1e-8)
    if known.sum() < FEWEST - 1:
        return float(_PRIORS[-1]), 1.0
    d, x = df[known], ratios[known]
    centres = _SCALES * np.average(x, weights=d)
    prior, scaled = _PRIORS[:, None, None], x / centres[:, None]
    density = d / 2 * np.log(d / prior) + (d / 2 - 1) * np.log(scaled) - betaln(d / 2, prior / 2)
    density -= (d + prior) / 2 * np.log1p(d * scaled / prior) + np.log(centres)[:, None]
    at, centre = np.divmod(density.sum(axis=2).argmax(), len(centres))
    return float(_PRIORS[at]), float(centres[centre])


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
    used = [(p, one.totals[factor]) for p, one in zip(shares, parts, strict=True)]
    used = [(p, totals) for p, totals in used if len(totals[0]) > 1]
    levels = {level for _, totals in used for level in totals[0].tolist()}
    if len(used) < 2 or not 1 < len(levels) <= _MOST_LEVELS:
        return 0.0, 0.0
    at = {level: place for place, level in enumerate(sorted(levels))}
    sums, counts = np.zeros((len(used), len(at))), np.zeros((len(used), len(at)))
    for row, (p, (own, deviations, fractions)) in enumerate(used):
        places = [at[level] for level in own.tolist()]
        sums[row, places], counts[row, places] = p * deviations, p * fractions
    centring = np.diag(counts.sum(axis=0)) - counts.T @ (counts / counts.sum(axis=1)[:, None])
    pooled, single = sums.sum(axis=0), (sums**2).sum()
    shared = (counts.sum(axis=0) ** 2).sum() - (counts**2).sum()
    informative = (centring**2).sum() - sum(_centred(row) for row in counts)
    if shared <= _NOTHING or informative <= _NOTHING:
        return 0.0, 0.0
    together = float(pooled @ pooled)
    df = np.trace(centring) ** 2 / (centring**2).sum()
    factor_of = shared / informative
    error = 2.0 * (factor_of * max(together, single)) ** 2 / df
    return factor_of * (together - single), error


def _centred(counts: Array) -> float:
    """Return the sum of squares of diag(c) − cc'/Σc."""
    total = counts.sum()
    squares = (counts**2).sum()
    return float(squares - 2.0 * (counts**3).sum() / total + squares**2 / total**2)
