"""Which ratios to the largest rate are compatible with the counts: a test for each, by draws.

Reference
    Intervals as the ratios that a test does not reject, and the order in which counts are rejected
    where a ratio cannot exceed 1: Feldman & Cousins (1998), Physical Review D 57, 3873–3889. Half
    of the probability of what was counted: Lancaster (1961), J. American Statistical Association
    56, 223–234. Groups taken to be alike or to have a spread: Morris (1983), same journal 78,
    47–55. Range of groups that are alike: Tukey (1949), Biometrics 5, 99–114.

Test of a ratio ρ
    The group has ρ times the largest rate of the others. Counts are drawn from these rates, whose
    log odds vary by `components`; draws in which the group itself has the largest rate are left
    out, as it then has no interval. T is the root of the ratio in a draw, in which few selections
    spread alike whatever their number. A draw is as extreme as
        R = (T − median of T at ρ)² − max(T − median of T at 1, 0)²,
    in variances as estimated in the draw: by how much ρ fits less well than the best ratio up to 1.
    So at ρ = 1 only too small ratios speak against it, far from 1 too small and too large ones, and
    what is between needs no rule. That the largest of several is too large by chance is in the
    median, whose distance from √ρ counts in standard errors too. ρ is in the interval if at least
    .05 of draws are as extreme as the data.

Rates of the others
    Those clearly below the largest, by the range of as many alike, are as in the data. The rest are
    alike in some draws, and in the others they have a spread: as often as the two explain the
    counts, with equal odds before. At ρ = 1 they are alike in all, as a ratio of 1 is of groups
    that are. Where they have one, B, the share of chance in their variance,
    is drawn from its posterior under a uniform prior, and roots of rates around means that are
    shrunken by B. Of all alike the largest would be too large by chance by more than it is where
    rates differ; of rates as in the data by less.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from clinometer.statistics.intervals import critical_value, quantile
from clinometer_measures.hiring.components import Component

__all__ = ["RatioTest"]

Array = NDArray[np.float64]

#: Draws, whose seed are the counts.
DRAWS = 500

#: Where an end lies is halved so many times on the scale of roots, and then interpolated.
_HALVINGS = 5

#: At least so many draws in which the group does not have the largest rate; else all count.
_FEWEST_DRAWS = 50

#: Rates lie between.
_SMALLEST, _LARGEST = 1e-9, 1 - 1e-9

#: Shares of chance in the variance of groups.
_SHARES = (np.arange(400) + 0.5) / 400


class RatioTest:
    """Tests of ratios to the largest rate.

    Parameters
    ----------
    selected, decided
        Counts of each group, (groups,); some are selected, and of each group some are decided.
    concentration
        By what the variance of names is multiplied in the mean of a group: (groups,).
    names, interaction
        Variances of names, and of occupations in one group.
    shared
        The variance that occupations add to all groups, and its degrees of freedom.
    """

    def __init__(
        self,
        selected: Array,
        decided: Array,
        concentration: Array,
        *,
        names: Component,
        interaction: Component,
        shared: tuple[float, int],
    ) -> None:
        self.selected, self.decided = selected, decided
        self.concentration = concentration
        self.rates = selected / decided
        self.reference = int(self.rates.argmax())
        self.variances = (names.variance, interaction.variance, shared[0])
        # Draws of other counts err by chance in another way.
        self.seed = [int(count) for count in (*selected, *decided)]
        rng = np.random.default_rng([0, *self.seed])
        shared_variances = shared[0] * rng.chisquare(shared[1], DRAWS) / shared[1]
        self.estimates = (
            names.estimates(rng, DRAWS),
            interaction.estimates(rng, DRAWS),
            shared_variances,
        )
        # The same errors of log odds in all draws: p-values are smooth in the ratio.
        sds = np.sqrt(names.variance * concentration + interaction.variance)
        errors = sds * rng.standard_normal((DRAWS, len(selected)))
        errors = errors + np.sqrt(shared[0]) * rng.standard_normal((DRAWS, 1))
        # The mean of a rate is not to depend on how much it varies.
        self.odds = np.exp(errors - errors.var(axis=0) / 2)
        self._rivals: dict[tuple[int, bool], Array] = {}

    def interval(self, group: int) -> tuple[float, float]:
        """Return the ratios of a group, not the reference, that are not rejected at .05."""
        root = float(np.sqrt(self.rates[group] / self.rates[self.reference]))
        equal_root = self.median_equal_root(group)
        middle = float(np.median(self._null(group, root**2)[0])) if root else 0.0
        # By how much the largest is too large by chance, as a ratio of roots.
        start = min(root**2 / middle, 1.0) if middle else root
        low = self._end(group, start, 0.0, equal_root) if root else 0.0
        high = 1.0 if self.may_equal(group) else self._end(group, start, 1.0, equal_root)
        return low, high

    def median_equal_root(self, group: int) -> float:
        """Return the median root of a ratio of 1, where others need not be alike."""
        return float(np.median(self._null(group, 1.0)[0]))

    def may_equal(self, group: int) -> bool:
        """Whether a ratio of 1 is not rejected."""
        null = self._null(group, 1.0, alike=True)
        return self._p_value(group, 1.0, float(np.median(null[0])), null) > 0.05

    def p_value(self, group: int, ratio: float, equal_root: float) -> float:
        """Return how many draws are as extreme as the data, of a ratio below 1.

        `equal_root`: the median root at 1.
        """
        return self._p_value(group, ratio, equal_root, self._null(group, ratio))

    def _end(self, group: int, inside: float, outside: float, equal_root: float) -> float:
        """Return the ratio between two roots at which the test begins to reject."""
        # Normal quantiles of p-values are about linear in the root.
        accepted, rejected = 0.0, float("nan")
        for _ in range(_HALVINGS):
            middle = (inside + outside) / 2
            p = self.p_value(group, middle**2, equal_root)
            z = critical_value(1 - max(p, 0.5 / DRAWS))
            if p > 0.05:
                inside, accepted = middle, z
            else:
                outside, rejected = middle, z
        limit = critical_value(0.95)
        share = 0.5 if np.isnan(rejected) else (limit - accepted) / (rejected - accepted)
        return (inside + share * (outside - inside)) ** 2

    def _p_value(
        self, group: int, ratio: float, equal_root: float, null: tuple[Array, Array]
    ) -> float:
        roots, variances = null
        middle = float(np.median(roots))
        root = np.sqrt(self.rates[group] / self.rates[self.reference])
        observed = (root - middle) ** 2 - max(root - equal_root, 0.0) ** 2
        # In other data the medians, too, would follow from the standard errors estimated there.
        ses = np.sqrt(variances)
        middles = np.sqrt(ratio) + (middle - np.sqrt(ratio)) * ses
        equal_roots = 1 + (equal_root - 1) * ses
        extremes = (roots - middles) ** 2 - np.maximum(roots - equal_roots, 0.0) ** 2
        extremes = extremes / variances
        is_equal = np.isclose(extremes, observed, rtol=0, atol=1e-12)
        return float(np.mean((extremes > observed) & ~is_equal) + np.mean(is_equal) / 2)

    def _null(self, group: int, ratio: float, *, alike: bool = False) -> tuple[Array, Array]:
        """Draw roots of the group's ratio if it is `ratio`.

        And the variance of its logarithm as estimated in each draw, by that of the data.
        """
        centres = self._rival_rates(group, alike).copy()
        largest = centres.max(axis=1)
        centres[:, group] = ratio * largest
        # As many are expected to be selected as were.
        expected = np.maximum(centres @ self.decided, _SMALLEST)
        centres *= (self.selected.sum() / expected)[:, None]
        rates = self._draw_rates(centres)
        ours = rates[:, group].copy()
        rates[:, group] = 0.0
        highest = rates.max(axis=1)
        is_used = (highest > 0) & (ours <= highest)
        if is_used.sum() < _FEWEST_DRAWS:
            is_used = highest > 0
        roots = np.sqrt(np.minimum(ours[is_used] / highest[is_used], 1.0))
        true_variance = self._variance(group, ratio, self.variances)
        estimates = self._variance(group, ratio, self.estimates)
        return roots, np.asarray(estimates / true_variance)[is_used]

    def _variance(
        self, group: int, ratio: float, variances: Sequence[Array | float]
    ) -> Array | float:
        """Return the variance of the logarithm of a ratio by the variances of log odds."""
        pair = [group, self.reference]
        top = self.rates[self.reference]
        rates = np.maximum([ratio * top, top], 0.5 / self.decided[pair])
        names, interaction, shared = variances
        # A change of log odds by 1 changes the logarithm of a rate p by 1 − p.
        slopes = np.maximum(1 - rates, _SMALLEST)
        binomial = float((slopes / (self.decided[pair] * rates)).sum())
        name_part = names * float((self.concentration[pair] * slopes**2).sum())
        shared_part = shared * float(slopes[0] - slopes[1]) ** 2
        return binomial + name_part + interaction * float((slopes**2).sum()) + shared_part

    def _draw_rates(self, centres: Array) -> Array:
        """Draw rates of counts whose expected rates are these: (draws, groups)."""
        centres = centres.clip(_SMALLEST, _LARGEST)
        odds = centres / (1 - centres) * self.odds
        rng = np.random.default_rng([1, *self.seed])
        counts = rng.binomial(self.decided.astype(np.int64), odds / (1 + odds))
        return np.asarray(counts / self.decided)

    @cached_property
    def may_be_largest(self) -> NDArray[np.bool_]:
        """Which groups are not clearly below the largest, by the range of as many alike."""
        alike = np.full((DRAWS, len(self.decided)), self.selected.sum() / self.decided.sum())
        rates = self._draw_rates(alike)
        rates = rates[rates.max(axis=1) > 0]
        roots = np.sqrt(rates / rates.max(axis=1, keepdims=True))
        mean, sd = roots.mean(axis=0), np.maximum(roots.std(axis=0), _SMALLEST)
        least = ((roots - mean) / sd).min(axis=1)
        observed = (np.sqrt(self.rates / self.rates.max()) - mean) / sd
        is_clear = (observed < quantile(least, 0.05)) & (self.rates < self.rates.max())
        return np.asarray(~is_clear)

    def _rival_rates(self, group: int, alike: bool) -> Array:
        """Draw rates of all others, before their level; 0 of the group itself."""
        if (group, alike) not in self._rivals:
            rates = np.broadcast_to(self.rates, (DRAWS, len(self.rates))).copy()
            places = np.flatnonzero(self.may_be_largest & (np.arange(len(self.rates)) != group))
            if alike:
                rates[:, places] = self.selected[places].sum() / self.decided[places].sum()
            elif len(places) > 1:
                rates[:, places] = self._alike_or_spread(places)
            rates[:, group] = 0.0
            self._rivals[group, alike] = rates
        return self._rivals[group, alike]

    def _alike_or_spread(self, places: NDArray[np.intp]) -> Array:
        """Draw the rates of some groups: alike in some draws, spread in the others."""
        rng = np.random.default_rng([2, *self.seed])
        decided = self.decided[places]
        # With ½ added, as to other rates: there is a variance where all or none are selected.
        level = (self.selected[places].sum() + 0.5) / (decided.sum() + 1)
        names, interaction, _ = self.variances
        odds = (names * self.concentration[places] + interaction) * level * (1 - level) ** 2
        # Of the root of a rate.
        variances = ((1 - level) / decided + odds) / 4
        away = np.sqrt(self.rates[places]) - np.sqrt(level)
        square = float((away**2 / variances).sum())
        # By the density where they are alike, whose logarithm may be large.
        density = (len(places) - 1) / 2 * np.log(_SHARES) + (1 - _SHARES) * square / 2
        highest = density.max()
        density = np.exp(density - highest)
        alike = 1 / (1 + density.mean() * np.exp(min(highest, 700.0)))
        share = rng.choice(_SHARES, DRAWS, p=density / density.sum())
        share[: round(alike * DRAWS)] = 1.0
        spread_share = 1 - share[:, None]
        noise = rng.standard_normal((DRAWS, len(places)))
        roots = np.sqrt(level) + spread_share * away + np.sqrt(spread_share * variances) * noise
        return np.asarray(np.maximum(roots, 0.0) ** 2)
