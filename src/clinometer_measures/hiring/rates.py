"""Selection rates, impact ratios against the most selected group, and shrunken intersections.

Reference
    Impact ratio and four-fifths rule: 29 CFR 1607.4 D; 6 RCNY 5-301 (Local Law 144). Logarithm of a
    rate with ½ added: Walter (1975), Biometrika 62, 371–374. Two crossed sources of variation:
    Cameron, Gelbach & Miller (2011), J. Business & Economic Statistics 29, 238–249, here with
    variances of the jackknife. Shrinkage: James & Stein (1961), 4th Berkeley Symposium 1, 361–379;
    positive part and toward a fit: Efron & Morris (1973), J. American Statistical Association 68,
    117–130.

Values
    Counts have the shape (names, occupations): selected, and decided about. A group is a set of
    names. Its rate is selected / decided, over all its names and occupations.

Ratios
    The interval of an impact ratio has the ratios that a test does not reject (`ratios`), whose
    draws vary over names and occupations by `components`.

Shares
    The variance of the difference of two logarithms is V(names) + V(occupations) − V(cells), by
    deleting one at a time. What occupations do to all groups alike cancels. Both are pooled: V of
    names as a multiple, not below 1, of that of independent answers, V of occupations as it is.
    Intervals take the quantiles of the error, in standard errors, from draws of counts (`draws`).

Intersections
    Log odds of race × gender are shrunken toward race + gender by min((n − 2) / χ², 1): χ² is the
    sum of squared departures by the variances that chance makes, at the rates that race + gender
    give, and n its degrees of freedom. Whatever the true departures are, that is no worse on
    average than not to shrink. With n of 2 or less no rule is, and nothing is shrunken.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clinometer_measures.hiring.components import (
    Component,
    interaction_component,
    names_component,
    shared_variance,
)
from clinometer_measures.hiring.draws import log_rate, share_quantiles
from clinometer_measures.hiring.ratios import RatioTest

__all__ = [
    "FOUR_FIFTHS",
    "ImpactRatio",
    "SelectionCounts",
    "impact_ratios",
    "share_intervals",
    "shrink_intersections",
]

Array = NDArray[np.float64]

FOUR_FIFTHS = 0.8

#: Variances are those at fitted rates, which are fitted again with them.
_REFITS = 3


@dataclass(frozen=True)
class SelectionCounts:
    """How many candidates were selected, by name and occupation, and which names are of a group."""

    selected: Array
    """(names, occupations)."""
    decided: Array
    """(names, occupations): without those about whom nothing was decided."""
    groups: Sequence[NDArray[np.intp]]
    """The names of each group."""
    intersections: NDArray[np.intp]
    """The intersection of each name, within which names are a sample."""

    @cached_property
    def by_occupation(self) -> tuple[Array, Array]:
        """How many of each group were selected, and decided about: (groups, occupations) each."""
        selected = np.array([self.selected[group].sum(axis=0) for group in self.groups])
        decided = np.array([self.decided[group].sum(axis=0) for group in self.groups])
        return selected, decided

    @cached_property
    def totals(self) -> tuple[Array, Array]:
        """How many of each group were selected, and decided about: (groups,) each."""
        selected = np.array([self.selected[group].sum() for group in self.groups])
        decided = np.array([self.decided[group].sum() for group in self.groups])
        return selected, decided

    @cached_property
    def logs(self) -> Array:
        """The logarithm of each group's rate."""
        return log_rate(*self.totals)

    @cached_property
    def independent(self) -> Array:
        """The variance that each has if answers were independent."""
        selected, decided = self.totals
        return 1 / (selected + 0.5) - 1 / (decided + 1)

    @cached_property
    def name_variances(self) -> Array:
        """The variance of each over its names, which are a sample of their intersection."""
        selected, decided = self.selected.sum(axis=1), self.decided.sum(axis=1)
        return np.array([self._jackknife(selected, decided, group) for group in self.groups])

    @cached_property
    def cell_variances(self) -> Array:
        """The variance of each over the cells of its names and occupations."""
        return np.array([self._jackknife(self.selected, self.decided, g) for g in self.groups])

    def _jackknife(self, selected: Array, decided: Array, group: NDArray[np.intp]) -> float:
        """Return the variance of the logarithm by deleting units, an intersection at a time."""
        without = _log_without(selected[group], decided[group])
        is_used = decided[group] > 0
        total = is_used.sum()
        variance = 0.0
        for intersection in np.unique(self.intersections[group]):
            rows = self.intersections[group] == intersection
            values = without[rows][is_used[rows]]
            n = len(values)
            if n > 1:
                squares = float(((values - values.mean()) ** 2).sum())
                # Each is deleted from the whole group; of one intersection it is (n − 1) / n.
                variance += n / (n - 1) * ((total - 1) / total) ** 2 * squares
        return variance

    @cached_property
    def occupation_variance(self) -> float:
        """The variance of the difference of two groups over occupations, beyond that of cells.

        What occupations do to all groups alike cancels.
        """
        selected, decided = self.by_occupation
        without = np.array([_log_without(*pair) for pair in zip(selected, decided, strict=True)])
        n, k = int((decided.sum(axis=0) > 0).sum()), len(self.groups)
        centred = without - without.mean(axis=1, keepdims=True)
        covariance = (n - 1) / max(n, 1) * centred @ centred.T
        mean_variance = covariance.trace() / k
        mean_covariance = (covariance.sum() - covariance.trace()) / (k * (k - 1)) if k > 1 else 0.0
        return float(max(2 * (mean_variance - mean_covariance - self.cell_variances.mean()), 0.0))

    @cached_property
    def dispersion(self) -> float:
        """The variance over names by that of independent answers, over all groups; at least 1."""
        return float(max((self.name_variances / self.independent).mean(), 1.0))

    @cached_property
    def unshared_variances(self) -> Array:
        """The variance of each that groups do not share."""
        return self.dispersion * self.independent

    @cached_property
    def names(self) -> Component:
        """The variance of the log odds of names within their intersection."""
        selected, decided = self.selected.sum(axis=1), self.decided.sum(axis=1)
        return names_component(selected, decided, self.intersections)

    @cached_property
    def interaction(self) -> Component:
        """The variance of the log odds of one group over occupations."""
        return interaction_component(*self.by_occupation)

    @cached_property
    def shared(self) -> tuple[float, int]:
        """The variance that occupations add to all groups, and its degrees of freedom."""
        return shared_variance(self.selected.sum(axis=0), self.decided.sum(axis=0))

    @cached_property
    def concentration(self) -> Array:
        """By what the variance of names is multiplied in the mean of each group: 1 / names."""
        sizes = [self.decided[group].sum(axis=1) for group in self.groups]
        squares = [(name_sizes**2).sum() / max(name_sizes.sum(), 1) ** 2 for name_sizes in sizes]
        return np.array(squares)

    @cached_property
    def ratio_test(self) -> RatioTest:
        """Tests of ratios to the largest rate; some are selected, and in each group decided."""
        return RatioTest(
            *self.totals,
            self.concentration,
            names=self.names,
            interaction=self.interaction,
            shared=self.shared,
        )

    @cached_property
    def degrees(self) -> tuple[int, int]:
        """The degrees of freedom of the variances over names, and over occupations."""
        names, occupations = self.selected.shape
        name_df = names - len(np.unique(self.intersections))
        return max(name_df, 1), max((occupations - 1) * (len(self.groups) - 1), 1)


def _log_without(selected: Array, decided: Array) -> Array:
    """Return the logarithm of the rate of all without each."""
    return log_rate(selected.sum() - selected, decided.sum() - decided)


class ImpactRatio(NamedTuple):
    """The rate of a group by that of the most selected; nan where there is none."""

    rate: float
    ratio: float
    low: float
    high: float
    is_reference: bool
    """Whether it is the most selected group, whose ratio is 1 by definition."""


def impact_ratios(counts: SelectionCounts) -> list[ImpactRatio]:
    """Return the rate and the impact ratio of each group, with 95% intervals of ratios."""
    selected, decided = counts.totals
    with np.errstate(invalid="ignore", divide="ignore"):
        rates = selected / decided
    if not np.isfinite(rates).all() or not rates.max() > 0:
        nothing = float("nan")
        return [ImpactRatio(float(rate), nothing, nothing, nothing, False) for rate in rates]
    reference = int(rates.argmax())
    test = counts.ratio_test
    ratios = []
    for group, rate in enumerate(rates):
        ratio = float(rate / rates[reference])
        if group == reference:
            ratios.append(ImpactRatio(float(rate), 1.0, float("nan"), float("nan"), True))
            continue
        low, high = test.interval(group)
        ratios.append(ImpactRatio(float(rate), ratio, min(low, ratio), max(high, ratio), False))
    return ratios


def share_intervals(counts: SelectionCounts) -> list[tuple[float, float]]:
    """Return the 95% interval of the rate of each group, where the rate of all is fixed.

    With the share w of each group among the selected, the logarithm of a rate then errs as it does
    less the mean, weighted by w, of the errors of all.
    """
    selected, decided = counts.totals
    # With ½ added, as to rates: no group has all.
    contrasts = np.eye(len(selected)) - (selected + 0.5) / (selected + 0.5).sum()
    lower, upper = share_quantiles(
        counts.logs,
        decided,
        counts.dispersion,
        counts.occupation_variance,
        counts.degrees,
        contrasts=contrasts,
    )
    se = np.sqrt(contrasts**2 @ (counts.unshared_variances + counts.occupation_variance / 2))
    lows, highs = np.exp(counts.logs - lower * se), np.exp(counts.logs + upper * se)
    return [(float(low), min(float(high), 1.0)) for low, high in zip(lows, highs, strict=True)]


def shrink_intersections(counts: SelectionCounts, levels: Sequence[tuple[str, str]]) -> Array:
    """Return the rates of intersections, shrunken toward the sum of the two factors.

    `levels`: race and gender of each group. nan where groups do not tell the two apart.
    """
    design = _additive(levels)
    n, k = design.shape
    if n <= k or np.linalg.matrix_rank(design) < k:
        return np.full(n, np.nan)
    selected, decided = counts.totals
    rates = (selected + 0.5) / (decided + 1)
    logits = fitted = np.log(rates / (1 - rates))
    for _ in range(_REFITS):
        expected = 1 / (1 + np.exp(-fitted))
        binomial = 1 / (np.maximum(decided, 1) * expected * (1 - expected))
        variances = binomial + counts.names.variance * counts.concentration
        fitted = _fit(design, logits, 1 / variances)
    square = float(((logits - fitted) ** 2 / variances).sum())
    # Positive part: none is shrunken beyond the fit, and with two departures or fewer none at all.
    share = min(max(n - k - 2, 0) / square, 1.0) if square > 0 else 0.0
    shrunken = logits - share * (logits - fitted)
    return np.asarray(1 / (1 + np.exp(-shrunken)))


def _additive(levels: Sequence[tuple[str, str]]) -> Array:
    """Return the design of race + gender: (groups, 1 + races − 1 + genders − 1)."""
    columns = [np.ones(len(levels))]
    for place in (0, 1):
        names = sorted({level[place] for level in levels})
        columns += [
            np.array([level[place] == name for level in levels], float) for name in names[1:]
        ]
    return np.column_stack(columns)


def _fit(design: Array, values: Array, weights: Array) -> Array:
    """Return the values fitted by weighted least squares."""
    weighted = design * weights[:, None]
    fitted: Array = design @ np.linalg.solve(design.T @ weighted, weighted.T @ values)
    return fitted
