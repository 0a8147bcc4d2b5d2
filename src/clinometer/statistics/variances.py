"""A hierarchical model of the variances of scores, for one stereotype or many.

Reference
    Gelman (2006), Bayesian Analysis 1(3), 515–534: half-Cauchy priors of standard deviations.
    Smyth (2004), Statistical Applications in Genetics and Molecular Biology 3(1), 3: variances
    moderated across units. Patterson & Thompson (1971), Biometrika 58(3), 545–554: restricted
    likelihood, here of the mean squares of `designs`, which are taken as independent.

Measures
    Of each stereotype the variance of responses, as a part of ``(mean − low)(high − mean)``, and
    those of wordings, words, cells and draws, as ratios to it. Given the variances the mean of a
    stereotype is normal; over what they may be it is a mixture of t, which one t with `se` and `df`
    stands for (`student`).

Prior
    The standard deviation of wordings, words, cells and draws is half-Cauchy, relative to that of
    responses. Where answers are about one person at a time, that of words is a half-t of few
    degrees of freedom, which is nearly free of scale: an answer about a person has all of what the
    person's name does, and names of one group differ more than words for it. The variance of
    responses is log-normal, and at most that of scores at the two ends (`Prior`). Stereotypes
    differ from what is usual in the run: their response variances as scaled inverse χ² with d
    degrees of freedom, their log ratios as normal with the same spread; log d is uniform over
    `LIKENESS`. A lone stereotype has the same prior.
    Modes whose answers are probabilities have priors of their own, as nothing is drawn there.
    Wordings, words, cells and draws together vary by no more than scores at the two ends of the
    scale would: (mean − low)(high − mean) (Bhatia & Davis 2000, American Mathematical Monthly
    107(4), 353–357).

Method
    What is usual in the run is drawn from a t about its posterior mode and from the prior, and
    weighed by the restricted likelihood of all stereotypes; the variances of each stereotype are
    drawn given it, and weighed by the stereotype's own. A stereotype's own scores enter once. All
    draws are fixed points of low discrepancy, so that the same scores give the same numbers.

Deviations from the source
    Stereotypes that share the levels of a factor tell of its variance only as much as independent
    ones would (`tempering`). Near the ends of a scale squares say little of variances
    (`counted_near_ends`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.special import expit, gammaincinv, gammaln, ndtr, ndtri, polygamma, stdtr, stdtrit

from clinometer.statistics.clustered import Array
from clinometer.statistics.designs import CROSSED, WORDS, Codes, CrossedDesign

_K = len(CROSSED)

#: How much of the excess kurtosis of two-point scores counts near the ends of a scale. At a mean of
#: .95, intervals of ±1 answers cover 1.00 at 5 times an oracle's width with the whole of it, .99 at
#: 2.2 times with a third, .68 with a tenth (one stereotype of 48 answers).
_KURTOSIS = 1.0 / 3.0

#: Draws of what is usual in a run, and of the variances of its stereotypes for each.
_USUAL, _CONDITIONAL = 512, 8

#: Where fewer draws have nearly all the weight, as where stereotypes differ more than the prior
#: allows, the likelihood of what is usual counts for less.
_LEAST_DRAWS = 20.0

#: Degrees of freedom of the t that proposes what is usual.
_PROPOSED_DF = 5.0


def even_points(n: int, dimensions: int) -> Array:
    """Return points that fill the unit cube evenly, (n, dimensions).

    Multiples of powers of the generalised golden ratio, the root of x^(d + 1) = x + 1 (Roberts
    2018, "The unreasonable effectiveness of quasirandom sequences").
    """
    ratio = 2.0
    for _ in range(50):
        ratio = (1.0 + ratio) ** (1.0 / (dimensions + 1.0))
    steps = ratio ** -np.arange(1.0, dimensions + 1.0)
    return np.asarray((0.5 + np.arange(1.0, n + 1.0)[:, None] * steps) % 1.0)


#: Columns: ratios, response variance, likeness, the χ² of the proposal.
_POINTS = even_points(_USUAL, _K + 3).clip(1e-6, 1 - 1e-6)
_NORMAL = ndtri(even_points(_USUAL * _CONDITIONAL, _K)).reshape(_USUAL, _CONDITIONAL, _K)

#: The bounds of log ratios and of the log response variance in the search for the mode.
_LOWEST = np.array([*[-12.0] * _K, -20.0])
_HIGHEST = np.array([*[7.0] * _K, -0.02])

#: Probabilities at which a t has the quantiles of a mixture.
_QUANTILES = np.array([0.975, 0.9997])


@dataclass(frozen=True)
class Prior:
    """What is known of variances before a run."""

    ratio: float  # scale of the sd of a factor, relative to that of responses
    response: float  # median variance of responses, as a part of (mean − low)(high − mean)
    spread: float  # its log sd
    shared: float  # scale of the sd of a factor that stereotypes share (`shared`)
    words_df: float = 1.0  # degrees of freedom of the half-t of the sd of words
    sampled: bool = True  # whether answers are drawn

    def log_density(self, points: Array) -> Array:
        """Return the log density of log ratios and log response variances, (…, sources)."""
        ratios = points[..., :_K] - 2.0 * np.log(self.ratio)
        df = self._df
        # Of 2 log |T| with T Student's t, of which a Cauchy has one degree of freedom.
        tails = 0.5 * (df + 1.0) * np.logaddexp(0.0, ratios - np.log(df))
        constants = gammaln(0.5 * (df + 1.0)) - gammaln(0.5 * df) - 0.5 * np.log(df * np.pi)
        half_t = 0.5 * ratios - tails + constants
        response = (points[..., _K] - np.log(self.response)) / self.spread
        normal = -0.5 * response**2 - np.log(self.spread * np.sqrt(2.0 * np.pi) * self._possible)
        highest = points[..., _K]
        if self.words_df < 1.0:  # such a tail has no end by itself
            highest = highest + points[..., WORDS].max(axis=-1).clip(min=0.0)
        possible = np.where(highest <= 0.0, normal, -1e3)
        return np.asarray(half_t.sum(axis=-1) + possible)

    def draw(self, uniform: Array) -> Array:
        """Return draws from uniform numbers, both (draws, sources)."""
        deviations = np.tan(np.pi / 2.0 * uniform[:, :_K])
        if self.words_df != 1.0:
            deviations[:, WORDS] = stdtrit(self.words_df, (1.0 + uniform[:, WORDS]) / 2.0)
        ratios = 2.0 * np.log(self.ratio * deviations)
        response = np.log(self.response) + self.spread * ndtri(self._possible * uniform[:, _K])
        return np.column_stack([ratios, response])

    @property
    def _df(self) -> Array:
        """Degrees of freedom of the half-t of the sd of each factor, (factors,)."""
        degrees = np.ones(_K)
        degrees[WORDS] = self.words_df
        return degrees

    @property
    def _possible(self) -> float:
        """The share of the log-normal that is at most 1: scores vary by no more."""
        return float(ndtr(-np.log(self.response) / self.spread))

    @property
    def middle(self) -> Array:
        """The middle of log ratios and log response variance, (sources,)."""
        return np.array([*[2.0 * np.log(self.ratio)] * _K, np.log(self.response)])

    def slope_and_curvature(self, point: Array) -> tuple[Array, Array]:
        """Return the gradient of the log density and minus its second derivatives."""
        tails = 0.5 * (self._df + 1.0)
        above = expit(point[:_K] - 2.0 * np.log(self.ratio) - np.log(self._df))
        from_response = (point[_K] - np.log(self.response)) / self.spread**2
        # Far from the middle the density is flat in logs: a least curvature bounds the steps.
        curvature = np.append(np.maximum(tails * above * (1.0 - above), 0.1), self.spread**-2)
        return np.append(0.5 - tails * above, -from_response), curvature


#: Of answers that are drawn; of those about one person at a time; and of probabilities, which vary
#: by words and wordings alone.
SAMPLED = Prior(ratio=0.1, response=0.4, spread=1.5, shared=0.2)
ONE_PERSON = replace(SAMPLED, words_df=0.2)
EXACT = Prior(ratio=1.0, response=0.02, spread=2.0, shared=0.7, sampled=False)

#: The modes whose answers are probabilities.
_EXACT_MODES = ("forced", "likelihood")

#: The range of the degrees of freedom of how alike the stereotypes of a run are.
LIKENESS = (2.0, 20.0)

#: Those that the search for the mode assumes.
_LIKENESS_OF_MODE = 4.0


def prior_of(mode: str | None, *, one_person: bool = False) -> Prior:
    """Return the prior of the variances of answers in a mode.

    `one_person`: whether they are about one person at a time, and not about two groups.
    """
    if mode in _EXACT_MODES:
        return EXACT
    return ONE_PERSON if one_person else SAMPLED


def counted_near_ends(products: Array) -> Array:
    """Return how much the squares of each stereotype tell of its variances, (stereotypes,), 0 to 1.

    `products`: (stereotypes,), q(1 − q) of where the means lie between the ends
    (`position_product`).
    """
    excess = np.maximum(1.0 / products - 6.0, 0.0)  # the kurtosis of two-point scores
    return np.asarray(1.0 / (1.0 + _KURTOSIS * excess / 2.0))


@dataclass(frozen=True)
class Squares:
    """The sums of squares of the stereotypes of a run, as parts of their scales."""

    observed: Array  # (stereotypes, sources)
    df: Array  # (stereotypes, sources)
    expected: Array  # (stereotypes, sources, sources), see `CrossedDesign`

    @classmethod
    def from_scores(
        cls,
        designs: Sequence[CrossedDesign],
        values: Sequence[Array],
        scales: Array,
        counted: Array,
    ) -> Squares:
        """Return the squares of the values of each stereotype, (units,) each.

        `scales`: (stereotypes,), what variances are parts of; `counted`: (stereotypes,), how much
        the squares tell of variances (`counted_near_ends`).
        """
        counted = counted[:, None]
        squares = [crossed.squares(y) for crossed, y in zip(designs, values, strict=True)]
        df = np.array([crossed.df for crossed in designs])
        expected = np.array([crossed.expected for crossed in designs])
        return cls(np.array(squares) / scales[:, None] * counted, df * counted, expected)

    @cached_property
    def used(self) -> tuple[Codes, Codes]:
        """Stereotype and source of the squares that tell something, (used,) each.

        Many factors have none. Those of responses are always among them, so that no stereotype is
        without.
        """
        tells = self.df > 0
        tells[:, -1] = True
        stereotypes, sources = np.nonzero(tells)
        return stereotypes, sources

    def mean_squares(self, log_ratios: Array) -> tuple[Array, Array]:
        """Return expected mean squares, in response variances, and the relative variances.

        `log_ratios`: (…, factors) → (…, used) and (…, sources).
        """
        ones = np.ones((*log_ratios.shape[:-1], 1))
        relative = np.concatenate([np.exp(log_ratios), ones], axis=-1)
        return relative @ self._coefficients.T, relative

    def sum_used(self, values: Array) -> Array:
        """Add up values of the used squares by stereotype, (…, used) → (…, stereotypes)."""
        starts = np.flatnonzero(np.diff(self.used[0], prepend=-1))
        return np.asarray(np.add.reduceat(values, starts, axis=-1))

    @cached_property
    def _coefficients(self) -> Array:
        """The expected mean squares by variance, (used, sources); 1 where there are none."""
        coefficients = self.expected[self.used]
        coefficients[self.df[self.used] == 0, -1] = 1.0
        return coefficients


@dataclass(frozen=True)
class Variances:
    """What the variances of the stereotypes of a run may be, by weighed draws.

    Draws have two axes, what is usual and each stereotype's own given it.
    """

    weights: Array  # (usual, each, stereotypes), of sum 1 for each stereotype
    conditional_weights: Array  # the same, of sum 1 for each stereotype and draw of what is usual
    usual: Array  # (usual,), the weights of what is usual, of sum 1
    relative: Array  # (usual, each, sources), variances as ratios to that of responses
    response: Array  # (usual, each, stereotypes), variance of responses, the scale of a t
    df: Array  # (usual, stereotypes), degrees of freedom of that t

    def means(
        self, places: Sequence[int], shares: Array, added: Array | None = None
    ) -> tuple[Array, Array]:
        """Return se and df of means of single stereotypes, both (means,).

        Parameters
        ----------
        places
            The stereotype of each mean.
        shares
            (means, sources), see `CrossedDesign`.
        added
            (2, means), mean and variance of what else each varies by.
        """
        # `take` leaves draws after draws in memory.
        variances = self.response.take(places, axis=-1) * (self.relative @ shares.T)
        df = np.broadcast_to(self.df.take(places, axis=-1)[:, None], variances.shape)
        if added is not None:
            more, df_of_more = inverse_chi2(*added)
            total = variances + more
            joint = total**2 / (variances**2 / df + more**2 / df_of_more)  # Satterthwaite's
            variances, df = total, np.where(more > 0, joint, df)
        weights = self.weights.take(places, axis=-1)
        return student(*(array.reshape(-1, len(places)) for array in (weights, variances, df)))

    def variance_of_means(self, places: Sequence[int], shares: Array) -> tuple[Array, Array]:
        """Return mean and variance of the variances of means, given what is usual.

        Both (usual, means). Parameters are those of `means`.
        """
        # Of scaled inverse χ²; with few degrees of freedom they have no variance.
        df = np.maximum(self.df.take(places, axis=-1), 4.5)
        expected = self.response.take(places, axis=-1) * (self.relative @ shares.T)
        expected = expected * df[:, None] / (df[:, None] - 2.0)
        weights = self.conditional_weights.take(places, axis=-1)
        mean = (weights * expected).sum(axis=1)
        squared = (weights * expected**2).sum(axis=1)
        return mean, np.maximum(squared - mean**2, 0.0) + squared * 2.0 / (df - 4.0)

    @cached_property
    def responses(self) -> Array:
        """Return the mean variance of responses, as parts of the scales: (stereotypes,)."""
        return np.asarray((self.weights * self.response).sum(axis=(0, 1)))

    def components(self) -> Array:
        """Return the variance of each source, the mean over stereotypes of medians: (sources,)."""
        logs = np.log(self.relative[:, :, None] * self.response[..., None])
        flat = logs.reshape(-1, *logs.shape[2:])  # (draws, stereotypes, sources)
        weights = self.weights.reshape(flat.shape[0], -1)
        medians = np.empty(flat.shape[1:])
        for stereotype in range(flat.shape[1]):
            for source in range(flat.shape[2]):
                order = np.argsort(flat[:, stereotype, source])
                below = np.cumsum(weights[order, stereotype])
                middle = order[np.searchsorted(below, 0.5).clip(0, len(order) - 1)]
                medians[stereotype, source] = flat[middle, stereotype, source]
        return np.asarray(np.exp(medians).mean(axis=0))


def variances(squares: Squares, prior: Prior, tempering: Array | None = None) -> Variances:
    """Return what the variances of the stereotypes of a run may be.

    Parameters
    ----------
    squares
        Of all stereotypes that were asked alike.
    prior
        Of `prior_of`.
    tempering
        (sources,), how much the mean squares of a source tell the stereotypes of each other, 0 to
        1; by default all.
    """
    counts = np.ones(_K + 1) if tempering is None else tempering
    usual, log_weights, by_stereotype = _draw_usual(squares, prior, counts)
    likeness = _likeness(usual)
    spread = np.sqrt(polygamma(1, likeness / 2.0)).clip(0.0, 1.2)
    log_ratios = usual[:, None, :_K] + spread[:, None, None] * _NORMAL
    expected, relative = squares.mean_squares(log_ratios)
    df = likeness[:, None] + squares.df.sum(axis=1)
    prior_sum = likeness * np.exp(usual[:, _K])
    total = prior_sum[:, None, None] + squares.sum_used(squares.observed[squares.used] / expected)
    response = total / df[:, None]
    log_likelihood = (
        -0.5 * squares.sum_used(squares.df[squares.used] * np.log(expected))
        - 0.5 * df[:, None] * np.log(total)
        + (0.5 * likeness * np.log(prior_sum) - gammaln(likeness / 2.0))[:, None, None]
        + gammaln(df / 2.0)[:, None]
    )
    by_factors = response * (relative[..., :_K] @ (squares.df[:, :_K] > 0).T)
    # By so much less that such draws count only where there are no others.
    log_likelihood = np.where(by_factors <= 1.0, log_likelihood, log_likelihood - 1e3)
    # Of the others alone: a stereotype's own scores enter by its own likelihood.
    log_joint = (log_weights[:, None] - by_stereotype)[:, None] + log_likelihood
    joint = np.exp(log_joint - log_joint.max(axis=(0, 1)))
    return Variances(
        weights=joint / joint.sum(axis=(0, 1)),
        conditional_weights=_normalised(log_likelihood, axis=1),
        usual=_normalised(log_weights),
        relative=relative,
        response=response,
        df=df,
    )


def _likeness(usual: Array) -> Array:
    """Return the degrees of freedom of how alike stereotypes are, (draws,).

    The last column of what is usual stands for them; it is normal before the run.
    """
    return np.asarray(LIKENESS[0] * (LIKENESS[1] / LIKENESS[0]) ** ndtr(usual[:, -1]))


def _draw_usual(squares: Squares, prior: Prior, tempering: Array) -> tuple[Array, Array, Array]:
    """Return draws of what is usual, (draws, sources + 1), with the logs of their weights.

    And the log likelihood of each stereotype in them, (draws, stereotypes).
    """
    mode, mode_covariance = _mode(squares, prior, tempering)
    centre, covariance = np.append(mode, 0.0), np.eye(_K + 2)
    covariance[:-1, :-1] = mode_covariance
    # The first draws tell where the next are to lie.
    for _ in range(3):
        usual, log_prior = _proposed(centre, covariance, prior)
        by_stereotype = _log_likelihood_of_usual(usual, squares, tempering)
        log_weights = log_prior + by_stereotype.sum(axis=1)
        weights = _normalised(log_weights)
        while 1.0 / (weights**2).sum() < _LEAST_DRAWS:
            by_stereotype = 0.7 * by_stereotype
            log_weights = log_prior + by_stereotype.sum(axis=1)
            weights = _normalised(log_weights)
        centre = weights @ usual
        covariance = np.cov(usual.T, aweights=weights, ddof=0) + 0.01 * np.eye(_K + 2)
    return usual, log_weights, by_stereotype


def _normalised(log_weights: Array, axis: int = 0) -> Array:
    """Return weights of sum 1 along an axis."""
    weights = np.exp(log_weights - log_weights.max(axis=axis, keepdims=True))
    return np.asarray(weights / weights.sum(axis=axis, keepdims=True))


def _log_likelihood_of_usual(usual: Array, squares: Squares, tempering: Array) -> Array:
    """Return the log likelihood of what is usual, (draws, stereotypes).

    The mean squares of a stereotype are F-distributed about what is usual, as its own expected ones
    are scaled inverse χ².
    """
    expected, _ = squares.mean_squares(usual[:, :_K])
    prior_df = _likeness(usual)[:, None]
    prior_squares = prior_df * (expected * np.exp(usual[:, _K])[:, None])
    df = squares.df[squares.used]
    distinct_df, places = np.unique(df, return_inverse=True)
    density = (
        gammaln((distinct_df + prior_df) / 2.0)[:, places]
        - gammaln(prior_df / 2.0)
        - df / 2.0 * np.log(prior_squares)
        - (df + prior_df) / 2.0 * np.log1p(squares.observed[squares.used] / prior_squares)
    )
    return squares.sum_used(tempering[squares.used[1]] * np.where(df > 0, density, 0.0))


def _mode(squares: Squares, prior: Prior, tempering: Array) -> tuple[Array, Array]:
    """Return where the posterior of what is usual is largest, with its covariance there.

    By scoring: the information is the expected one.
    """
    point = prior.middle
    df, observed = squares.df[squares.used], squares.observed[squares.used]
    counts, likeness = tempering[squares.used[1]], _LIKENESS_OF_MODE
    for _ in range(30):
        expected, relative = squares.mean_squares(point[:_K])
        # Derivatives of the logs of expected mean squares, (used, parameters).
        by_source = squares.expected[squares.used] * relative / expected[:, None]
        total = by_source.sum(axis=-1, keepdims=True)
        derivatives = np.hstack([by_source[:, :_K], total])
        ratio = observed / (likeness * expected * np.exp(point[_K]))
        score = counts * 0.5 * ((df + likeness) * ratio / (1.0 + ratio) - df)
        weight = counts * 0.5 * df * likeness / (df + likeness + 2.0)
        slope, curvature = prior.slope_and_curvature(point)
        gradient = slope + score @ derivatives
        information = (weight[:, None] * derivatives).T @ derivatives + np.diag(curvature)
        step = np.linalg.solve(information, gradient)
        step /= max(1.0, float(np.abs(step).max()) / 1.5)
        point = np.clip(point + step, _LOWEST, _HIGHEST)
        if np.abs(step).max() < 0.02:
            break
    return point, np.linalg.inv(information)


def _proposed(centre: Array, covariance: Array, prior: Prior) -> tuple[Array, Array]:
    """Return draws of what is usual, (draws, sources + 1), with the logs of their prior weights.

    Three quarters are of a t about the centre, the others of the prior.
    """
    near_centre = 3 * _USUAL // 4
    n = _K + 2
    root = np.linalg.cholesky(covariance)
    chi2 = 2.0 * gammaincinv(_PROPOSED_DF / 2.0, _POINTS[:near_centre, n])
    normal = ndtri(_POINTS[:near_centre, :n])
    near = centre + (normal / np.sqrt(chi2 / _PROPOSED_DF)[:, None]) @ root.T
    rest = _POINTS[near_centre:]
    far = np.column_stack([prior.draw(rest), ndtri(rest[:, _K + 1])])
    draws = np.vstack([near, far])
    distance = (np.linalg.solve(root, (draws - centre).T) ** 2).sum(axis=0)
    log_t = (
        gammaln((_PROPOSED_DF + n) / 2.0)
        - gammaln(_PROPOSED_DF / 2.0)
        - n / 2.0 * np.log(_PROPOSED_DF * np.pi)
        - np.log(np.diag(root)).sum()
        - (_PROPOSED_DF + n) / 2.0 * np.log1p(distance / _PROPOSED_DF)
    )
    log_likeness = -0.5 * draws[:, -1] ** 2 - 0.5 * np.log(2.0 * np.pi)
    log_prior = prior.log_density(draws[:, :-1]) + log_likeness
    return draws, log_prior - np.logaddexp(np.log(0.75) + log_t, np.log(0.25) + log_prior)


def inverse_chi2(mean: Array, variance: Array) -> tuple[Array, Array]:
    """Return scale and degrees of freedom of the scaled inverse χ² of a mean and a variance."""
    # Draws of no weight have no mean.
    least = np.maximum(1e-9 * mean**2, 1e-300)
    df = 4.0 + 2.0 * mean**2 / np.maximum(variance, least)
    return mean * (df - 2.0) / df, df


def student(weights: Array, variances: Array, df: Array) -> tuple[Array, Array]:
    """Return se and df of the t that has the quantiles of a mixture of t.

    All (draws, means): weights of sum 1 over draws, the squares of the scales, and the degrees of
    freedom. Result: both (means,); where nothing varies se is 0.
    """
    varies = variances.max(axis=0) > 0
    if not varies.all():
        se, fitted = np.zeros(len(varies)), np.full(len(varies), np.inf)
        if varies.any():
            # `compress` leaves draws after draws in memory.
            varying = (np.compress(varies, array, axis=1) for array in (weights, variances, df))
            se[varies], fitted[varies] = student(*varying)
        return se, fitted
    mixture = _binned(weights, variances, df)
    near, far = (_quantile(p, *mixture) for p in _QUANTILES)
    fitted = np.interp(-far / near, -_SPREADS, _DEGREES)
    return near / stdtrit(fitted, _QUANTILES[0]), fitted


#: Degrees of freedom, and how much further out the second of `_QUANTILES` lies in their t.
_DEGREES = np.geomspace(1.0, 1e4, 500)
_SPREADS = stdtrit(_DEGREES, _QUANTILES[1]) / stdtrit(_DEGREES, _QUANTILES[0])

_BINS = 24


def _binned(weights: Array, variances: Array, df: Array) -> tuple[Array, Array, Array]:
    """Return scales, weights and degrees of freedom of a mixture, by bins of its scales.

    From (draws, means) to (bins, means).
    """
    logs = np.log(np.maximum(variances, 1e-300))
    used = weights > 1e-9 * weights.max(axis=0)
    low = np.where(used, logs, np.inf).min(axis=0)
    high = np.where(used, logs, -np.inf).max(axis=0)
    width = np.maximum(high - low, 1e-9) / _BINS
    bins = ((logs - low) / width).clip(0, _BINS - 1).astype(np.intp)
    n = weights.shape[1]
    places = bins * n + np.arange(n)
    counted = np.where(used, weights, 0.0)

    def summed(values: Array) -> Array:
        """Add up the values of draws by bin."""
        total = np.bincount(places.ravel(), values.ravel(), _BINS * n)
        return np.asarray(total.reshape(_BINS, n))

    share = summed(counted)
    filled = np.where(share > 0, share, 1.0)
    scales = np.sqrt(np.where(share > 0, summed(counted * variances) / filled, 1.0))
    # Quantiles of t are nearly linear in 1 / df.
    degrees = np.where(share > 0, filled / summed(counted / df).clip(1e-300), 1.0)
    return scales, share / share.sum(axis=0), degrees


def _quantile(p: float, scales: Array, shares: Array, df: Array) -> Array:
    """Return the quantile of mixtures of t, (bins, means) → (means,).

    By Newton's method, in logs of values and of the tail beyond them, which for a t is nearly a
    line. Five steps are exact to 1e-12 on pages; they are bounded, as a mixture may be far from it.
    """
    quantiles = scales * stdtrit(df, p)
    highest = np.log(np.where(shares > 0, quantiles, 0.0).max(axis=0))
    value = np.log((shares * quantiles).sum(axis=0))
    log_density = gammaln((df + 1.0) / 2.0) - gammaln(df / 2.0) - 0.5 * np.log(df * np.pi)
    density_at_0 = shares * np.exp(log_density)
    for _ in range(5):
        t = np.exp(value) / scales
        tail = (shares * stdtr(df, -t)).sum(axis=0)
        lost = (density_at_0 * (1.0 + t**2 / df) ** (-(df + 1.0) / 2.0) * t).sum(axis=0)
        step = np.log(tail / (1.0 - p)) * tail / lost
        value = np.minimum(value + step.clip(-1.0, 1.0), highest)
    return np.asarray(np.exp(value))
