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
    Stereotypes that share wordings or group words are not independent: the variance of a component
    is multiplied by 1 + (S − 1)ρ² for S stereotypes whose levels are the same and correlate by ρ. A
    prior, which is estimated, counts a part of its degrees of freedom (`PRIOR_KNOWN`). Fewer
    than `FEWEST` stereotypes tell too little about each other; they are moderated by what is usual
    (`USUAL`), with few degrees of freedom.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln

from clinometer.statistics.clustered import Array
from clinometer.statistics.settings import (
    EXACT,
    FEWEST,
    LENT,
    MANY,
    PRIOR_KNOWN,
    PRIORS,
    SCALES,
    USUAL,
    USUAL_DF,
    USUAL_DRAWN,
    USUAL_EXACT,
)
from clinometer.statistics.shared import SHARED, Used, design_effect, deviations_by_level
from clinometer.statistics.squares import Part, moments

__all__ = ["CROSSED", "Moderated", "moderate", "moderate_by_usual", "usual_components"]

#: Sources of variation, beside the single response.
CROSSED = ("variation", "marginalized", "default", "cell", "draw")

_NOTHING = 1e-14

#: Expected sums of squares below this part of the largest are due to rounding.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Moderated:
    """Variances of the means of stereotypes, each moderated by the others.

    A variance is ``scale × floor + weights @ squares``. But for its squares and its scale, nothing
    in it depends on the scores of the stereotype itself, unless a factor has one level there.
    """

    variances: Array  # (stereotypes,)
    scales: Array  # (stereotypes,)
    df: Array  # (stereotypes,)
    joint_df: Array  # (stereotypes,), of the joint variance, which no df exceeds
    floors: Array  # (stereotypes,), as parts of the scale
    weights: Array  # (stereotypes, k)
    components: Array  # (k,), of all stereotypes, as parts of the scale
    unbiased: Array  # (k,), the same, where negative ones stay
    uncertain: Array  # (k,), variances of the components, as parts of their squares; 0: held
    usual: bool = False  # moderated by `USUAL`
    lends: bool = True  # a factor with one level has the variance of the others


class _Page:
    """What stereotypes are moderated by, an array each, with stereotypes first."""

    def __init__(self, parts: Sequence[Part], scales: Array) -> None:
        self.parts, self.scales = parts, scales
        self.sizes = np.array([one.size for one in parts], float)
        self.several = np.array([one.levels for one in parts]) > 1
        self.shares = np.array([one.shares for one in parts])
        self.expected = np.array([one.expected for one in parts])
        self.squares = np.array([one.squares for one in parts]) / scales[:, None]

    @cached_property
    def moments(self) -> Array:
        """The moments of all, which take long and are not needed where no score varies."""
        return np.array([moments(one) for one in self.parts])

    @cached_property
    def deviations(self) -> list[tuple[Array, Array] | None]:
        """The deviations by level of each component, of those whose levels may be shared."""
        return [
            *(deviations_by_level(self.parts, self.scales, f) if f in SHARED else None
              for f in self.parts[0].totals),
            None,
        ]  # fmt: skip

    def alone(self, place: int) -> Array:
        """Return the weights of the squares that give the variance of a mean of responses."""
        weights = np.zeros(self.shares.shape[1])
        expected = self.expected[place, -1, -1]
        weights[-1] = self.shares[place, -1] / expected if expected > _NOTHING else 0.0
        return weights

    def components(self, used: Used) -> Array:
        """Estimate the components from choices of the stereotypes, (choices, k)."""
        return _solve(*self.equations(used))

    def equations(self, used: Used) -> tuple[Array, Array]:
        """Return the expected and the observed sums of squares of choices of the stereotypes."""
        each = used / self.sizes
        return np.tensordot(each, self.expected, 1), each @ self.squares


class _Compared:
    """Variances of all stereotypes, in units of what some components make of them.

    There may be several choices of components, shape (choices, k); each has a row.
    """

    def __init__(self, page: _Page, components: Array) -> None:
        self.page, self.components = page, components
        by_factor = page.shares * components[:, None]  # (choices, stereotypes, k)
        expected = np.moveaxis(np.tensordot(page.expected, components.T, 1), -1, 0)
        self.joint = (by_factor * page.several).sum(axis=2)
        self.lent = (by_factor * ~page.several).sum(axis=2)  # of factors with one level
        once = np.tensordot(page.moments, components.T, 1)
        self.covariances = np.einsum("sfgac,ca->csfg", once, components)
        self._compare(by_factor, expected, self.covariances)

    def _compare(self, by_factor: Array, expected: Array, covariances: Array) -> None:
        """Set the ratios of observed to expected variances, with df and weights of the squares."""
        seen = self.page.several & (expected > _NOTHING)
        weights = np.divide(by_factor, expected, out=np.zeros_like(expected), where=seen)
        mean = (weights * expected).sum(axis=2)
        known = (self.page.sizes > 1) & (mean > 0)
        self.weights = np.divide(
            weights, mean[..., None], where=known[..., None], out=np.zeros_like(weights)
        )
        variance = np.einsum("csf,csfg,csg->cs", self.weights, covariances, self.weights)
        self.observed = np.where(known, (self.weights * self.page.squares).sum(axis=2), 1.0)
        self.df = np.divide(2.0, variance, where=known, out=np.zeros_like(variance))

    def moderated(
        self, choice: int, place: int, prior: float, counted: float, centre: float
    ) -> tuple[float, Array, float]:
        """Return floor, weights and df of a stereotype, by a prior with df and centre.

        `counted` are the prior's df that count in those of the result.
        """
        at = choice, place
        own, joint, weight = self.df[at], self.joint[at], min(prior, LENT)
        ratio = (weight * centre + own * self.observed[at]) / (weight + own)
        lent = self.lent[at] * ratio
        # As of a sum of `weight` of the prior's and `own` of one's own, each times its part.
        of_lent = (own + weight**2 / counted) / (weight + own) ** 2 if weight + own else 1.0
        uncertain = joint**2 / (counted + own) + lent**2 * of_lent
        df = (joint + lent) ** 2 / uncertain if uncertain else 0.0
        by_prior, by_own = joint * prior / (prior + own), joint * own / (prior + own)
        return centre * by_prior + lent, self.weights[at] * by_own, df


class _Informed:
    """What choices of the stereotypes, shape (choices, stereotypes), tell of the variances of all.

    All choices are computed at once: to leave out each stereotype in turn takes as long as one.
    """

    def __init__(self, page: _Page, used: Used) -> None:
        components = page.components(used)
        nothing = components.sum(axis=1) <= _NOTHING
        components[nothing] = page.components(np.ones_like(used[:1]))
        self.used, self.compared = used, _Compared(page, components)
        self.errors = self._errors()
        effects = [np.ones(len(used)) if one is None else design_effect(*one, used)
                   for one in page.deviations]  # fmt: skip
        each = np.sqrt(np.array(effects).T)
        self.errors *= each[:, :, None] * each[:, None]
        self.priors, self.centres = _prior(self.compared.observed, self.compared.df * used)

    def _errors(self) -> Array:
        """Return the covariances of the components, shape (choices, k, k)."""
        page, kept = self.compared.page, self.compared.components > 0
        both, each = kept[:, :, None] & kept[:, None], self.used / page.sizes
        expected = np.where(both, np.tensordot(each, page.expected, 1), 0.0)
        solved = np.linalg.pinv(expected, 1e-9, hermitian=True)
        squares = np.einsum("cs,csfg->cfg", each**2, self.compared.covariances)
        return np.asarray(solved @ squares @ solved)

    def df(self, choice: int, place: int) -> float:
        """Return the df of the variance that a stereotype has by the components of a choice."""
        share = self.compared.page.shares[place]
        variance = share @ self.compared.components[choice]
        if variance <= 0:  # nothing varies
            return np.inf
        error = share @ self.errors[choice] @ share
        return 2.0 * float(variance) ** 2 / max(float(error), 1e-300)

    def moderated(
        self, choice: int, place: int, joint_df: float
    ) -> tuple[float, Array, float, float]:
        """Return floor, weights, df and joint df, which no df exceeds, of a stereotype.

        Where nothing is known to vary that it has several levels of, its own scores have to tell.
        """
        compared, page = self.compared, self.compared.page
        if compared.joint[choice, place] + compared.lent[choice, place] <= 0.0:
            return 0.0, page.alone(place), max(page.sizes[place] - 1.0, 1.0), np.inf
        known, prior = self.df(choice, place), float(self.priors[choice])
        counted, centre = min(PRIOR_KNOWN * prior, known), float(self.centres[choice])
        found = compared.moderated(choice, place, min(prior, known), counted, centre)
        floor, weights, df = found
        return floor, weights, max(min(df, joint_df), 1.0), joint_df


def moderate(parts: Sequence[Part], scales: Array, *, lend: bool = True) -> Moderated | None:
    """Estimate the variances of the means of `parts`, which have the same factors.

    A factor with one level is lent its variance by the others or, without `lend`, held fixed.

    `scales`, shape (stereotypes,), are what variances are proportional to: on a bounded scale
    (mean − low)(high − mean), as of shares, else 1. None with fewer than `FEWEST` stereotypes that
    have a variance to be estimated from. Of more than `MANY`, each is moderated by all.
    """
    if sum(one.size > 1 for one in parts) < FEWEST:
        return None
    page, number = _Page(parts, scales), len(parts)
    if not lend:
        page.shares[:, :-1] *= page.several[:, :-1]
    all_of_them = np.ones((1, number), bool)
    (components,) = page.components(all_of_them)
    if components.sum() <= _NOTHING:
        return None
    many = number > MANY
    others = np.zeros((0, number), bool) if many else ~np.eye(number, dtype=bool)
    informed = _Informed(page, np.concatenate([all_of_them, others]))
    found = [
        informed.moderated(0 if many else 1 + place, place, informed.df(0, place))
        for place in range(number)
    ]
    (unbiased,) = _solve(*page.equations(all_of_them), least=-np.inf)
    errors = np.diag(informed.errors[0])
    uncertain = np.divide(errors, components**2, out=0.0 * errors, where=components > 0)
    return replace(_moderated(page, components, unbiased, found), lends=lend, uncertain=uncertain)


def usual_components(factors: Sequence[str], mode: str | None) -> Array:
    """Return the usual components of some of `CROSSED` and of the response in a mode."""
    of = dict(zip(CROSSED, USUAL, strict=True))
    response = USUAL_EXACT if mode in EXACT else USUAL_DRAWN
    return np.array([*(of[f] for f in factors), response])


def moderate_by_usual(parts: Sequence[Part], scales: Array, usual: Array) -> Moderated | None:
    """Do the same for any number of `parts`, by components that are usual, shape (k,).

    The variance of responses is moderated apart from the others. A factor with one level is held
    fixed. None if no part has two units.
    """
    page, components = _Page(parts, scales), np.array([*usual[:-1], 0.0])
    if page.sizes.max() < 2:
        return None
    compared, n = _Compared(page, components[None]), page.sizes
    compared.lent[:] = 0.0  # nothing here says how it goes with the variance of other factors
    found = []
    for place, size in enumerate(n):
        floor, weights, df = compared.moderated(0, place, USUAL_DF, USUAL_DF, 1.0)
        known = (size - 1.0) / (size - 1.0 + USUAL_DF)
        weights[-1] += known * page.alone(place)[-1]
        floor += (1.0 - known) * usual[-1] * page.shares[place, -1]
        found.append((floor, weights, df or max(size - 1.0, 1.0), np.inf))
    return replace(_moderated(page, components, components, found), usual=True, lends=False)


def _moderated(
    page: _Page,
    components: Array,
    unbiased: Array,
    found: Sequence[tuple[float, Array, float, float]],
) -> Moderated:
    floors, weights, df, joint_df = (np.array(column) for column in zip(*found, strict=True))
    own = (weights * page.squares).sum(axis=1)
    variances = page.scales * np.where(floors + own > _NOTHING, floors + own, 0.0)
    uncertain = np.zeros_like(components)
    columns = page.scales, df, joint_df, floors, weights, components, unbiased, uncertain
    return Moderated(variances, *columns)


def _solve(expected: Array, squares: Array, least: float = 0.0) -> Array:
    """Return the components that explain sums of squares, none below `least`, 0 or −∞.

    `expected`, shape (choices, k, k), is symmetric; `squares` and the result are (choices, k).
    """
    diagonal = np.einsum("ckk->ck", expected)
    used = diagonal > _ROUNDING * diagonal.max(axis=1, keepdims=True)  # factors that vary
    rows, solution = np.arange(len(used)), np.zeros_like(squares)
    last = used.shape[1] - 1 - used[:, ::-1].argmax(axis=1)
    while rows.size:
        mine = used[rows]
        block = np.where(mine[:, :, None] & mine[:, None], expected[rows], 0.0)
        observed = np.where(mine, squares[rows], 0.0)[..., None]
        solution[rows] = (np.linalg.pinv(block, 1e-9, hermitian=True) @ observed)[..., 0]
        sizes = np.where(mine, solution[rows] * np.sqrt(diagonal[rows].clip(0.0)), np.inf)
        sizes[np.arange(len(rows)), last[rows]] = np.inf
        worst = sizes.argmin(axis=1)
        wrong = sizes.min(axis=1) < least
        rows, worst = rows[wrong], worst[wrong]
        used[rows, worst] = False  # the most negative one is 0, and the others anew
    return np.where(used, np.maximum(solution, least), 0.0)


def _prior(ratios: Array, df: Array) -> tuple[Array, Array]:
    """Return df and centre of the prior that makes ratios with these df most likely.

    Both have shape (choices, stereotypes); ratios with df 0 are not known. Result: two of shape
    (choices,).

    For a prior df the likelihood has one maximum over centres, since log F has a log-concave
    density; it is found by halving.
    """
    known = (df > 0) & (ratios > 1e-8)
    d, x = np.where(known, df, 0.0), np.where(known, ratios, 0.0)
    total = d.sum(axis=1)
    mean = np.divide((d * x).sum(axis=1), total, out=np.ones_like(total), where=total > 0)
    centres, prior = mean[:, None] * SCALES, PRIORS[:, None]
    half, squares, rows = (d[:, None] + prior) / 2.0, (d * x)[:, None], np.arange(len(d))[:, None]
    constants = np.where(known[:, None], betaln(np.maximum(d, 1e-300)[:, None] / 2, prior / 2), 0.0)
    constants, power = constants.sum(axis=2), -total[:, None] / 2

    def likelihood(at: NDArray[np.intp]) -> Array:
        """Return the log-likelihood of each prior df with a centre, (choices, priors)."""
        spread = PRIORS * centres[rows, at]
        each = (half * np.log1p(squares / spread[..., None])).sum(axis=-1)
        return np.asarray(power * np.log(spread) - constants - each)

    low = np.zeros((len(d), len(PRIORS)), np.intp)
    high = np.full_like(low, len(SCALES) - 1)
    while (low < high).any():
        middle = (low + high) // 2
        rising = likelihood(np.minimum(middle + 1, high)) > likelihood(middle)
        low, high = np.where(rising, middle + 1, low), np.where(rising, high, middle)
    best = likelihood(low).argmax(axis=1)
    enough = known.sum(axis=1) >= FEWEST - 1
    found = np.where(enough, PRIORS[best], PRIORS[-1])
    at = rows[:, 0]
    return found, np.where(enough, centres[at, low[at, best]], 1.0)
