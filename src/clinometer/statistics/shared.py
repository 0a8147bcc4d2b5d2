"""Means over several stereotypes: what their variances, and what they share, add up to.

Measures
    The variance of a mean over stereotypes is the sum of the variances of their means times the
    squares of their shares, plus what the levels of a factor add that several of them have: a
    wording that raises all stereotypes raises their mean. The standard deviation that they share is
    half-Cauchy before the run, as those of `variances` are. It is judged by the sum of squares of
    the levels' totals over stereotypes, χ²-distributed, beside the sum of each stereotype's.

    A stereotype with one level of a factor that others have several of is charged with the factor's
    variance, since a mean is about other words, too. Where no member has several levels, nothing is
    charged: that facet is open.

    For other stereotypes the variance between stereotypes is added. The share of the dispersion of
    their means that is error is uniform before the run (Daniels 1999, Canadian J. Statistics 27(3),
    567–578: uniform shrinkage).

Method
    Given what is usual in the run the variances have a mean and a variance, and the mean of the
    group a t: that of a scaled inverse χ² of the same mean and variance. Over what is usual it is a
    mixture (`variances.student`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clinometer.statistics.clustered import Array
from clinometer.statistics.designs import CROSSED, SHARED, CrossedDesign
from clinometer.statistics.variances import Variances, even_points, inverse_chi2, student

#: The shared standard deviations that are tried, relative to that of responses.
_RATIOS = np.geomspace(1e-3, 30.0, 120)

#: Squares of deviations below this are none; they are parts of the scale.
_NOTHING = 1e-12

#: The shares of error in the dispersion of means, evenly in logs: with many answers it is small.
_SHARES_OF_ERROR = np.geomspace(1e-5, 1.0, 60)


@dataclass(frozen=True)
class SharedFactor:
    """A factor whose levels several stereotypes of a run have."""

    place: int  # in `CROSSED`
    deviations: Array  # (stereotypes, levels), what each adds to the mean; 0 with one level
    weights: Array  # (stereotypes, levels), of the levels in the mean
    several: NDArray[np.bool_]  # (stereotypes,), which have several levels

    def correlation(self) -> float:
        """Return the correlation of the levels' deviations over stereotypes, 0 to 1.

        Of what is seen, with the noise of answers in it.
        """
        squares = (self.deviations**2).sum(axis=1)
        levels = (self.weights > 0) & self.several[:, None]
        at_most = float(((levels @ levels.sum(axis=0)) / self._n_levels - 1.0) @ squares)
        joint = float((self.deviations.sum(axis=0) ** 2).sum() - squares.sum())
        return min(max(joint / at_most, 0.0), 1.0) if at_most > 0 else 0.0

    @property
    def _n_levels(self) -> Array:
        return np.asarray(np.maximum((self.weights > 0).sum(axis=1), 1.0))

    def tempering(self) -> float:
        """Return how much a stereotype's squares tell of others', 1 where nothing is alike.

        Deviations that correlate by ρ tell as few independent ones would: 1 / (1 + (S − 1) ρ²).
        """
        stereotypes = int(self.several.sum())
        return 1.0 / (1.0 + max(stereotypes - 1, 0) * self.correlation() ** 2)

    def added(self, deviations: Array, shares: Array) -> float:
        """Return what the factor adds to the variance of a mean if it moves all alike.

        `deviations`: (stereotypes,), its sd in each; `shares`: (stereotypes,), of the mean.
        """
        moved = (deviations * shares)[:, None] * self.weights
        return float((moved.sum(axis=0) ** 2).sum() - (moved**2).sum())

    def variances(self, deviations: Array, ratio: float, uniform: Array) -> Array:
        """Return draws of the variance that stereotypes share, relative to that of responses.

        Parameters
        ----------
        deviations
            (stereotypes,), the sd of responses.
        ratio
            The scale of the half-Cauchy prior of its sd.
        uniform
            (draws,), numbers from 0 to 1 at which the distribution is taken.
        """
        observed = float((self.deviations.sum(axis=0) ** 2).sum())
        alone = float((self.deviations**2).sum())
        # What is shared is in each stereotype's own squares, too.
        common = max(observed - alone, 0.0) / max(int(self.several.sum()) - 1, 1)
        alone -= min(common, 0.5 * alone)
        within = self.weights * self.several[:, None]
        # The trace of the product of two stereotypes' centring matrices, diag(w) − ww'.
        joint = within @ within.T
        joint = joint - (within**2) @ within.T - within @ (within**2).T + joint**2
        np.fill_diagonal(joint, 0.0)
        crossed = float(deviations @ joint @ deviations)
        expected = np.maximum(alone + crossed * _RATIOS**2, _NOTHING)
        centred = np.diag(within.sum(axis=0)) - within.T @ within
        df = np.trace(centred) ** 2 / float((centred**2).sum())
        log_prior = -np.log1p((_RATIOS / ratio) ** 2) + np.log(_RATIOS)  # on a grid of logs
        logs = -0.5 * df * (np.log(expected) + observed / expected) + log_prior
        below = np.cumsum(np.exp(logs - logs.max()))
        return np.asarray(np.interp(uniform * below[-1], below, _RATIOS) ** 2)


def shared_factors(
    designs: Sequence[CrossedDesign], values: Sequence[Array], scales: Array
) -> list[SharedFactor]:
    """Return the factors whose levels several stereotypes have; code 0 is a level not recorded.

    `values`: (units,) of each stereotype; `scales`: (stereotypes,), what variances are parts of.
    """
    return [
        factor
        for place in range(len(SHARED))
        if (factor := _shared_factor(place, designs, values, scales)) is not None
    ]


def _shared_factor(
    place: int, designs: Sequence[CrossedDesign], values: Sequence[Array], scales: Array
) -> SharedFactor | None:
    codes = [crossed.levels[place] for crossed in designs]
    shared_levels = np.unique(np.concatenate(codes))
    shared_levels = shared_levels[shared_levels > 0]
    several = np.array([bool(crossed.used[place] and crossed.varies[place]) for crossed in designs])
    weights, deviations = np.zeros((2, len(designs), len(shared_levels)))
    for row, (crossed, y) in enumerate(zip(designs, values, strict=True)):
        recorded = crossed.levels[place] > 0
        columns = np.searchsorted(shared_levels, crossed.levels[place][recorded])
        weights[row, columns] = crossed.level_weights(place, crossed.weights)[recorded]
        if several[row]:
            moved = crossed.weights * (y - crossed.weights @ y) / scales[row] ** 0.5
            deviations[row, columns] = crossed.level_weights(place, moved)[recorded]
    # By stereotypes that have several levels: one that has a single level tells of none.
    is_shared = (((weights > 0) & several[:, None]).sum(axis=0) > 1).any()
    if not is_shared:
        return None
    return SharedFactor(place, deviations, weights, several)


def tempering_of(factors: Sequence[SharedFactor]) -> Array:
    """Return how much each source tells stereotypes of each other, (sources,)."""
    tempering = np.ones(len(CROSSED) + 1)
    for factor in factors:
        tempering[factor.place] = factor.tempering()
    return tempering


def shared_variances(
    factors: Sequence[SharedFactor], variances: Variances, ratio: float
) -> list[tuple[SharedFactor, Array]]:
    """Return each factor with draws of the variance that is shared, one for each of what is usual.

    `ratio`: `Prior.shared`.
    """
    deviations = variances.responses**0.5
    uniform = even_points(len(variances.usual), len(SHARED))
    return [
        (factor, factor.variances(deviations, ratio, uniform[:, factor.place]))
        for factor in factors
    ]


@dataclass(frozen=True)
class GroupErrors:
    """Errors of the means of groups, (groups,) each."""

    se: Array
    df: Array
    wider_se: Array  # for other stereotypes; nan with one, and where no means tell
    wider_df: Array


class Group(NamedTuple):
    """A group of stereotypes, of which a mean is taken."""

    shares: Array  # (stereotypes,), which add up to 1, or to 0 in a difference
    charge: Array | tuple[float, float] = (0.0, 0.0)
    """Mean and variance of what each member varies by besides, as parts of its scale."""


def group_errors(
    designs: Sequence[CrossedDesign],
    variances: Variances,
    shared: Sequence[tuple[SharedFactor, Array]],
    scales: Array,
    groups: Sequence[Group],
    means: Array | None,
) -> GroupErrors:
    """Return the errors of means over several stereotypes.

    Parameters
    ----------
    designs, variances, shared, scales
        Of all stereotypes of the run; `shared` of `shared_variances`.
    groups
        Those whose means are meant.
    means
        (stereotypes,), which tell how stereotypes differ; None where that is not wanted.
    """
    deviations = (variances.responses * scales) ** 0.5
    narrow, wide = [], []
    for shares, charge in groups:
        members = np.flatnonzero(shares).tolist()
        charged = _charged_shares([designs[place] for place in members])
        mean, uncertain = variances.variance_of_means(members, charged)
        squares = shares[members] ** 2 * scales[members]
        variance = mean @ squares
        spread = uncertain @ squares**2
        for factor, relative in shared:
            variance = variance + relative * factor.added(deviations, shares)
        variance = np.maximum(variance, 1e-3 * (mean @ squares))
        # What members are charged with is not known better for many than for one.
        total = float(squares.sum())
        variance, spread = variance + charge[0] * total, spread + charge[1] * total**2
        narrow.append((variance, spread))
        if means is not None:
            between, between_spread = _between(means[members], variance, mean * scales[members])
            wide.append((variance + between, spread + between_spread))
    nothing = np.full((2, len(narrow)), np.nan)
    return GroupErrors(
        *(_fit_t(variances.usual, narrow) if narrow else nothing),
        *(_fit_t(variances.usual, wide) if wide else nothing),
    )


def _fit_t(usual: Array, moments: Sequence[tuple[Array, Array]]) -> tuple[Array, Array]:
    """Return se and df, (groups,) each, of groups by mean and variance of their variance.

    `usual`: (draws,), weights; moments have a number for each draw.
    """
    variance, spread = (np.array(columns).T for columns in zip(*moments, strict=True))
    weights = np.broadcast_to(usual[:, None], variance.shape)
    return student(weights, *inverse_chi2(variance, spread))


def _charged_shares(members: Sequence[CrossedDesign]) -> Array:
    """Return the shares of the members of a group, (members, sources).

    A member with one level of a factor is charged with it where another has several.
    """
    shares = np.array([crossed.shares for crossed in members])
    several = np.array([crossed.varies & crossed.used[:-1] for crossed in members])
    single = np.array([[len(codes) == 1 for codes in crossed.levels] for crossed in members])
    charged = single & several.any(axis=0)
    charged[:, len(SHARED) :] = False  # cells and draws are of words and answers
    shares[:, :-1][charged] = 1.0
    return shares


def _between(means: Array, variance: Array, errors: Array) -> tuple[Array, Array]:
    """Return mean and variance of what other stereotypes would add, (draws,) each.

    `means`: (members,); `variance`: (draws,), of their mean; `errors`: (draws, members).
    """
    members = len(means)
    if members < 2:
        nothing = np.full_like(variance, np.nan)
        return nothing, nothing
    dispersion = float(((means - means.mean()) ** 2).sum())
    error = errors.mean(axis=1)[:, None]
    expected = error / _SHARES_OF_ERROR
    # Steps are in proportion to the share.
    logs = np.log(_SHARES_OF_ERROR) - 0.5 * (members - 1.0) * np.log(expected)
    logs -= 0.5 * dispersion / expected
    weights = np.exp(logs - logs.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    added = (expected - error) / members
    mean = (weights * added).sum(axis=1)
    return mean, (weights * added**2).sum(axis=1) - mean**2
