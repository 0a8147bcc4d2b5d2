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
    What moderation takes from one stereotype it need not give to another: means over several have
    the sum of the stereotypes' own variances where it is larger (`pooling`).

Deviations from the source
    A ratio weighs each sum of squares by the part its factor has in the variance of the mean.
    Stereotypes that share wordings or group words are not independent: the variance of a component
    is multiplied by 1 + (S − 1)ρ² for S stereotypes whose levels are the same and correlate by ρ. A
    prior, which is estimated, counts a part of its degrees of freedom (`PRIOR_KNOWN`).

Few stereotypes
    Fewer than `FEWEST` tell too little about each other: see `usual`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln

from clinometer.statistics.clustered import Array
from clinometer.statistics.settings import (
    CORNER,
    FEWEST,
    LENT,
    MANY,
    PRIOR_KNOWN,
    PRIORS,
    SCALES,
)
from clinometer.statistics.shared import SHARED, Used, design_effect, deviations_by_level
from clinometer.statistics.squares import Codes, StratumSquares, moments

__all__ = ["CROSSED", "NOTHING", "Informed", "Moderated", "OfMean", "Strata", "excess", "inform",
           "moderate", "slope_of_excess"]  # fmt: skip

#: Sources of variation, beside the single response.
CROSSED = ("variation", "marginalized", "default", "cell", "draw")

#: Below this a relative variance is none.
NOTHING = 1e-14

#: Expected sums of squares below this part of the largest are due to rounding.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Moderated:
    """Variances of the means of stereotypes, each moderated by the others.

    They follow from the sums of squares as `OfMean` says. But for its squares and its scale,
    nothing in it depends on the scores of the stereotype itself, unless a factor has one level
    there; with `usual`, also the noise does.
    """

    variances: Array  # (stereotypes,)
    scales: Array  # (stereotypes,)
    df: Array  # (stereotypes,)
    own: Array  # (stereotypes,), variances by the scores of each, which have no bias
    own_df: Array  # (stereotypes,)
    joint_df: Array  # (stereotypes,), of the joint variance, which no df exceeds
    floors: Array  # (stereotypes,), as parts of the scale
    weights: Array  # (stereotypes, k)
    noise: Array  # (stereotypes,), what answers add to the weighted squares, as parts of the scale
    components: Array  # (k,), of all stereotypes, as parts of the scale
    unbiased: Array  # (k,), the same, where negative ones stay
    uncertain: Array  # (k,), variances of the components, as parts of their squares; 0: held
    usual: bool = False  # moderated by `USUAL`
    lends: bool = True  # a factor with one level has the variance of the others

    def of_mean(self, place: int) -> OfMean:
        """Return how the variance of the mean of a stereotype follows from its scores."""
        return OfMean(float(self.floors[place]), self.weights[place], float(self.noise[place]))


@dataclass(frozen=True)
class OfMean:
    """How the variance of a mean follows from the sums of squares S of the factors.

    It is ``scale × floor + w_k S_k + excess(Σ w_f S_f, scale × noise)``, with the sum over all
    factors but the last, the response.
    """

    floor: float
    weights: Array  # (k,)
    noise: float


class Strata:
    """What stereotypes are moderated by, an array each, with stereotypes first."""

    def __init__(self, strata: Sequence[StratumSquares], scales: Array) -> None:
        self.strata, self.scales = strata, scales
        self.sizes = np.array([stratum.size for stratum in strata], float)
        self.several = np.array([stratum.levels for stratum in strata]) > 1
        self.shares = np.array([stratum.shares for stratum in strata])
        self.expected = np.array([stratum.expected for stratum in strata])
        self.observed = np.array([stratum.observed for stratum in strata]) / scales[:, None]

    @cached_property
    def moments(self) -> Array:
        """The moments of all, which take long and are not needed where no score varies."""
        return np.array([moments(stratum) for stratum in self.strata])

    @cached_property
    def deviations(self) -> list[tuple[Array, Array] | None]:
        """The deviations by level of each component, of those whose levels may be shared."""
        deviations: list[tuple[Array, Array] | None] = []
        for factor in self.strata[0].totals:
            shared = factor in SHARED
            deviations.append(
                deviations_by_level(self.strata, self.scales, factor) if shared else None
            )
        return [*deviations, None]  # None: no two stereotypes share a response

    @property
    def alone(self) -> Array:
        """The weights of the squares that give the variances of means of responses."""
        expected = self.expected[:, -1, -1]
        weights = np.zeros_like(self.shares)
        np.divide(self.shares[:, -1], expected, out=weights[:, -1], where=expected > NOTHING)
        return weights

    def variances(self, floors: Array, weights: Array, noise: Array) -> Array:
        """Return the variances that these make of the squares, (stereotypes,); see `OfMean`."""
        weighted = weights * self.observed
        relative = floors + weighted[:, -1] + excess(weighted[:, :-1].sum(axis=1), noise)
        return np.asarray(self.scales * np.where(relative > NOTHING, relative, 0.0))

    def components(self, used: Used) -> Array:
        """Estimate the components from choices of the stereotypes, (choices, k)."""
        return _solve(*self.equations(used))

    def equations(self, used: Used) -> tuple[Array, Array]:
        """Return the expected and the observed sums of squares of choices of the stereotypes."""
        per_unit = used / self.sizes
        return np.tensordot(per_unit, self.expected, 1), per_unit @ self.observed


class _Compared:
    """Variances of all stereotypes, in units of what some components make of them.

    There may be several choices of components, shape (choices, k); each has a row.
    """

    def __init__(self, page: Strata, components: Array) -> None:
        self.page, self.components = page, components
        by_factor = page.shares * components[:, None]  # (choices, stereotypes, k)
        expected = np.moveaxis(np.tensordot(page.expected, components.T, 1), -1, 0)
        self.joint = (by_factor * page.several).sum(axis=2)
        # c'Kc in two steps, as the tensor of all choices at once would be large.
        once = np.tensordot(page.moments, components.T, 1)
        self.covariances = np.einsum("sfgac,ca->csfg", once, components)
        self._compare(by_factor, expected, self.covariances)

    def _compare(self, by_factor: Array, expected: Array, covariances: Array) -> None:
        """Set the ratios of observed to expected variances, with df and weights of the squares."""
        usable = self.page.several & (expected > NOTHING)
        weights = np.divide(by_factor, expected, out=np.zeros_like(expected), where=usable)
        total = (weights * expected).sum(axis=2)
        estimable = (self.page.sizes > 1) & (total > 0)
        self.weights = np.divide(
            weights, total[..., None], where=estimable[..., None], out=np.zeros_like(weights)
        )
        variance = np.einsum("csf,csfg,csg->cs", self.weights, covariances, self.weights)
        self.ratios = np.where(estimable, (self.weights * self.page.observed).sum(axis=2), 1.0)
        # A ratio of mean 1 whose variance is 2/df is χ²/df; 0 df where it is not known.
        self.df = np.divide(2.0, variance, where=estimable, out=np.zeros_like(variance))

    def moderated(
        self, choices: Codes, lent: Array, prior: Array, counted: Array, centre: Array
    ) -> tuple[Array, Array, Array]:
        """Return floor, weights and df of all stereotypes, by priors with df and centres.

        Each is moderated by the choice of components in `choices`; `lent`, of the same shape, is
        the variance of its factors with one level. `counted` are the prior's df that count in those
        of the result.
        """
        of_each = choices, np.arange(len(choices))
        own_df, joint = self.df[of_each], self.joint[of_each]
        weight = np.minimum(prior, LENT)
        ratio = (weight * centre + own_df * self.ratios[of_each]) / (weight + own_df)
        lent = lent * ratio
        # As of a sum of `weight` of the prior's and `own_df` of its own, each times its part.
        lent_uncertain = (own_df + weight**2 / counted) / (weight + own_df) ** 2
        uncertain = joint**2 / (counted + own_df) + lent**2 * lent_uncertain
        df = np.divide(
            (joint + lent) ** 2, uncertain, out=np.zeros_like(joint), where=uncertain > 0
        )
        by_prior = joint * prior / (prior + own_df)
        by_own = joint * own_df / (prior + own_df)
        return centre * by_prior + lent, self.weights[of_each] * by_own[:, None], df

    def own(self, choices: Codes, lent: Array) -> tuple[Array, Array]:
        """Return the variances by the scores of each stereotype, with df, 0 where none is told."""
        of_each = choices, np.arange(len(choices))
        joint = self.joint[of_each] + lent
        return self.page.scales * joint * self.ratios[of_each], self.df[of_each]


class Informed:
    """What choices of the stereotypes, shape (choices, stereotypes), tell of the variances of all.

    All choices are computed at once: to leave out each stereotype in turn takes as long as one.
    """

    def __init__(self, page: Strata, used: Used, components: Array) -> None:
        self.used = used
        self.compared = _Compared(page, components)
        self.errors = self._errors()
        effects = []
        for deviations in page.deviations:
            if deviations is None:
                effects.append(np.ones(len(used)))
            else:
                effects.append(design_effect(*deviations, used))
        inflation = np.sqrt(np.array(effects).T)  # (choices, k)
        self.errors *= inflation[:, :, None] * inflation[:, None]
        # df 0 of a stereotype that is not used: its ratio does not count.
        self.priors, self.centres = _prior(self.compared.ratios, self.compared.df * used)

    def _errors(self) -> Array:
        """Return the covariances of the components, shape (choices, k, k)."""
        page = self.compared.page
        positive = self.compared.components > 0
        both_positive = positive[:, :, None] & positive[:, None]
        per_unit = self.used / page.sizes
        # A component that is held at 0 has no error, and gives none to the others.
        expected = np.where(both_positive, np.tensordot(per_unit, page.expected, 1), 0.0)
        solved = np.linalg.pinv(expected, 1e-9, hermitian=True)
        squares = np.einsum("cs,csfg->cfg", per_unit**2, self.compared.covariances)
        return np.asarray(solved @ squares @ solved)

    def moderate(self, *, lend: bool) -> Moderated:
        """Moderate the variances of all stereotypes, each by a choice of the others.

        A factor with one level is lent its variance by the others or, without `lend`, held fixed.
        Where nothing is known to vary that a stereotype has several levels of, its own scores have
        to tell.
        """
        compared, page = self.compared, self.compared.page
        places = np.arange(len(page.strata))
        # Choice 0 has all stereotypes, choice 1 + i, if there are any, all but the i-th.
        choices = np.minimum(places + 1, len(self.used) - 1)
        shares = page.shares
        if not lend:  # the response, the last, always has its variance
            shares = np.column_stack([(shares * page.several)[:, :-1], shares[:, -1]])
        joint_df = self._df(np.zeros_like(choices), shares)
        components_df = self._df(choices, shares)
        lent = (shares * ~page.several * compared.components[choices]).sum(axis=1)
        # A prior is no surer than the components that its variances are computed from.
        priors = self.priors[choices]
        prior = np.minimum(priors, components_df)
        counted = np.minimum(PRIOR_KNOWN * priors, components_df)
        floors, weights, df = compared.moderated(
            choices, lent, prior, counted, self.centres[choices]
        )
        df = np.maximum(np.minimum(df, joint_df), 1.0)
        varies = compared.joint[choices, places] + lent > 0.0
        (unbiased,) = _solve(*page.equations(self.used[:1]), least=-np.inf)
        components, errors = compared.components[0], np.diag(self.errors[0])
        floors = np.where(varies, floors, 0.0)
        weights = np.where(varies[:, None], weights, page.alone)
        noise = np.zeros_like(floors)
        variances = page.variances(floors, weights, noise)
        df = np.where(varies, df, np.maximum(page.sizes - 1.0, 1.0))
        own, own_df = compared.own(choices, lent)
        return Moderated(
            variances=variances,
            scales=page.scales,
            floors=floors,
            weights=weights,
            noise=noise,
            df=df,
            own=np.where(own_df > 0, own, variances),
            own_df=np.where(own_df > 0, own_df, df),
            joint_df=np.where(varies, joint_df, np.inf),
            components=components,
            unbiased=unbiased,
            uncertain=np.divide(errors, components**2, out=0.0 * errors, where=components > 0),
            lends=lend,
        )

    def _df(self, choices: Codes, shares: Array) -> Array:
        """Return the df of the variances by some choices of components, one per stereotype."""
        variance = (shares * self.compared.components[choices]).sum(axis=1)
        error = np.einsum("sf,sfg,sg->s", shares, self.errors[choices], shares)
        # Where nothing varies, nothing is uncertain.
        df = 2.0 * variance**2 / np.maximum(error, 1e-300)
        return np.where(variance > 0, df, np.inf)


def moderate(
    strata: Sequence[StratumSquares], scales: Array, *, lend: bool = True
) -> Moderated | None:
    """Moderate the variances of the means of `strata` by each other: `inform`, in one step."""
    informed = inform(strata, scales)
    return None if informed is None else informed.moderate(lend=lend)


def inform(strata: Sequence[StratumSquares], scales: Array) -> Informed | None:
    """Estimate what the variances of the means of `strata`, of the same factors, are like.

    `scales`, shape (stereotypes,), are what variances are proportional to: on a bounded scale
    (mean − low)(high − mean), as of shares, else 1. None with fewer than `FEWEST` stereotypes that
    have a variance to be estimated from. Of more than `MANY`, each is moderated by all.
    """
    if sum(stratum.size > 1 for stratum in strata) < FEWEST:
        return None
    page = Strata(strata, scales)
    number = len(strata)
    all_of_them = np.ones((1, number), bool)
    without_one = np.zeros((0, number), bool) if number > MANY else ~np.eye(number, dtype=bool)
    used = np.concatenate([all_of_them, without_one])
    components = page.components(used)
    nothing = components.sum(axis=1) <= NOTHING
    if nothing[0]:
        return None
    # Where nothing varies among the others, by the components of all.
    components[nothing] = components[0]
    return Informed(page, used, components)


def excess(squares: Array | float, noise: Array | float) -> Array:
    """Return what squares have above `noise`, and 0 below it, with a round corner.

    It is convex and rises with the squares, which `monotone` needs; without noise it is `squares`.
    """
    above = np.asarray(squares) - noise
    return np.asarray((above + np.hypot(above, CORNER * noise)) / 2.0)


def slope_of_excess(squares: float, noise: float) -> float:
    """Return by how much `excess` rises with the squares, from 0 to 1; 1 without noise."""
    above = squares - noise
    corner = float(np.hypot(above, CORNER * noise))
    return (1.0 + above / corner) / 2.0 if corner > 0.0 else 1.0


def _solve(expected: Array, squares: Array, least: float = 0.0) -> Array:
    """Return the components that explain sums of squares, none below `least`, 0 or −∞.

    `expected`, shape (choices, k, k), is symmetric; `squares` and the result are (choices, k).
    """
    diagonal = np.einsum("ckk->ck", expected)
    varying = diagonal > _ROUNDING * diagonal.max(axis=1, keepdims=True)  # factors that vary
    solution = np.zeros_like(squares)
    # The last factor that varies, the response as a rule, is never set to 0.
    last = varying.shape[1] - 1 - varying[:, ::-1].argmax(axis=1)
    rows = np.arange(len(varying))  # choices that are not solved yet
    while rows.size:
        active = varying[rows]
        block = np.where(active[:, :, None] & active[:, None], expected[rows], 0.0)
        observed = np.where(active, squares[rows], 0.0)[..., None]
        solution[rows] = (np.linalg.pinv(block, 1e-9, hermitian=True) @ observed)[..., 0]
        sizes = np.where(active, solution[rows] * np.sqrt(diagonal[rows].clip(0.0)), np.inf)
        sizes[np.arange(len(rows)), last[rows]] = np.inf
        worst = sizes.argmin(axis=1)
        too_small = sizes.min(axis=1) < least
        rows = rows[too_small]
        varying[rows, worst[too_small]] = False  # the most negative one is 0, and the others anew
    return np.where(varying, np.maximum(solution, least), 0.0)


def _prior(ratios: Array, df: Array) -> tuple[Array, Array]:
    """Return df and centre of the prior that makes ratios with these df most likely.

    Both have shape (choices, stereotypes); ratios with df 0 are not known. Result: two of shape
    (choices,).

    For a prior df the likelihood has one maximum over centres, since log F has a log-concave
    density; it is found by halving.
    """
    usable = (df > 0) & (ratios > 1e-8)  # a ratio of 0 has no logarithm
    d = np.where(usable, df, 0.0)
    x = np.where(usable, ratios, 0.0)
    total = d.sum(axis=1)
    mean = np.divide((d * x).sum(axis=1), total, out=np.ones_like(total), where=total > 0)
    centres = mean[:, None] * SCALES  # (choices, centres)
    prior = PRIORS[:, None]
    half = (d[:, None] + prior) / 2.0  # (choices, priors, stereotypes)
    squares = (d * x)[:, None]
    rows = np.arange(len(d))[:, None]
    beta = betaln(np.maximum(d, 1e-300)[:, None] / 2, prior / 2)
    constants = np.where(usable[:, None], beta, 0.0).sum(axis=2)
    power = -total[:, None] / 2

    def likelihood(position: NDArray[np.intp]) -> Array:
        """Return the log-likelihood of each prior df with a centre, (choices, priors)."""
        spread = PRIORS * centres[rows, position]
        terms = (half * np.log1p(squares / spread[..., None])).sum(axis=-1)
        return np.asarray(power * np.log(spread) - constants - terms)

    # The places of the centres that the maximum lies between, of each choice and prior df.
    low = np.zeros((len(d), len(PRIORS)), np.intp)
    high = np.full_like(low, len(SCALES) - 1)
    while (low < high).any():
        middle = (low + high) // 2
        rising = likelihood(np.minimum(middle + 1, high)) > likelihood(middle)
        low = np.where(rising, middle + 1, low)
        high = np.where(rising, high, middle)
    best = likelihood(low).argmax(axis=1)
    enough = usable.sum(axis=1) >= FEWEST - 1
    prior_df = np.where(enough, PRIORS[best], PRIORS[-1])
    choices = rows[:, 0]
    return prior_df, np.where(enough, centres[choices, low[choices, best]], 1.0)
