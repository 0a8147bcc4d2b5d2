"""Selection rates, impact ratios against the most selected group, and shrunken intersections.

Reference
    Impact ratio and four-fifths rule: 29 CFR 1607.4 D; 6 RCNY 5-301 (Local Law 144). Logarithm of a
    rate with ½ added: Walter (1975), Biometrika 62, 371–374. Two crossed sources of variation:
    Cameron, Gelbach & Miller (2011), J. Business & Economic Statistics 29, 238–249, here with
    variances of the jackknife. Empirical Bayes: DerSimonian & Laird (1986), Controlled Clinical
    Trials 7, 177–188; Morris (1983), J. American Statistical Association 78, 47–55.

Values
    Counts have the shape (names, occupations): selected, and decided about. A group is a set of
    names. Its rate is selected / decided, over all its names and occupations.

Intervals
    The variance of the difference of two logarithms is V(names) + V(occupations) − V(cells), by
    deleting one at a time. What occupations do to all groups alike cancels. Both are pooled: V of
    names as a multiple, not below 1, of that of independent answers, V of occupations as it is.

    The group that is selected most in the data need not be the one that is, which makes ratios too
    small, never too large. So the ends differ. The low end is that of a ratio to a group that was
    fixed beforehand. The high end allows for the choice: groups that are not clearly below the
    largest (by the range of as many alike) are taken to be as large. Both take the quantiles of
    the error, in standard errors, from draws of counts (`draws`), as a normal distribution is too
    wide where few are selected. No true ratio to the largest rate exceeds 1.

Intersections
    Logarithms of the rates of race × gender are shrunken toward race + gender, by as much as what
    they depart from it is explained by chance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clinometer.instruments.hiring.draws import error_quantiles, log_rate, share_quantiles

__all__ = ["FOUR_FIFTHS", "ImpactRatio", "SelectionCounts", "impact_ratios", "share_intervals",
           "shrink_intersections"]  # fmt: skip

Array = NDArray[np.float64]

FOUR_FIFTHS = 0.8


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
    def logs(self) -> Array:
        """The logarithm of each group's rate."""
        totals = [(self.selected[g].sum(), self.decided[g].sum()) for g in self.groups]
        return np.array([log_rate(selected, decided) for selected, decided in totals])

    @cached_property
    def independent(self) -> Array:
        """The variance that each has if answers were independent."""
        selected = np.array([self.selected[g].sum() for g in self.groups])
        decided = np.array([self.decided[g].sum() for g in self.groups])
        return 1 / (selected + 0.5) - 1 / (decided + 1)

    @cached_property
    def over_names(self) -> Array:
        """The variance of each over its names, which are a sample of their intersection."""
        selected, decided = self.selected.sum(axis=1), self.decided.sum(axis=1)
        return np.array([self._jackknife(selected, decided, group) for group in self.groups])

    @cached_property
    def over_cells(self) -> Array:
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
    def over_occupations(self) -> float:
        """The variance of the difference of two groups over occupations, beyond that of cells.

        What occupations do to all groups alike cancels.
        """
        selected = np.array([self.selected[g].sum(axis=0) for g in self.groups])
        decided = np.array([self.decided[g].sum(axis=0) for g in self.groups])
        without = np.array([_log_without(*pair) for pair in zip(selected, decided, strict=True)])
        n, k = int((decided.sum(axis=0) > 0).sum()), len(self.groups)
        centred = without - without.mean(axis=1, keepdims=True)
        covariance = (n - 1) / max(n, 1) * centred @ centred.T
        of_one = covariance.trace() / k
        of_two = (covariance.sum() - covariance.trace()) / (k * (k - 1)) if k > 1 else 0.0
        return float(max(2 * (of_one - of_two - self.over_cells.mean()), 0.0))

    @cached_property
    def dispersion(self) -> float:
        """The variance over names by that of independent answers, over all groups; at least 1."""
        return float(max((self.over_names / self.independent).mean(), 1.0))

    @cached_property
    def of_names(self) -> Array:
        """The variance of each that groups do not share."""
        return self.dispersion * self.independent

    @cached_property
    def differences(self) -> Array:
        """The variance of the difference of any two: (groups, groups)."""
        return self.of_names[:, None] + self.of_names + self.over_occupations

    @cached_property
    def degrees(self) -> tuple[int, int]:
        """The degrees of freedom of the variances over names, and over occupations."""
        names, occupations = self.selected.shape
        of_names = names - len(np.unique(self.intersections))
        return max(of_names, 1), max((occupations - 1) * (len(self.groups) - 1), 1)


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
    selected = np.array([counts.selected[g].sum() for g in counts.groups])
    decided = np.array([counts.decided[g].sum() for g in counts.groups])
    with np.errstate(invalid="ignore", divide="ignore"):
        rates = selected / decided
    if not np.isfinite(rates).all() or not rates.max() > 0:
        nothing = float("nan")
        return [ImpactRatio(float(rate), nothing, nothing, nothing, False) for rate in rates]
    reference = int(rates.argmax())
    if len(rates) == 1:
        return [ImpactRatio(float(rates[0]), 1.0, float("nan"), float("nan"), True)]
    lower, upper = error_quantiles(
        counts.logs, decided, counts.dispersion, counts.over_occupations, counts.degrees
    )
    ratios = []
    for group, rate in enumerate(rates):
        ratio = float(rate / rates[reference])
        if group == reference:
            ratios.append(ImpactRatio(float(rate), 1.0, float("nan"), float("nan"), True))
            continue
        se = float(np.sqrt(counts.differences[group, reference]))
        middle = counts.logs[group] - counts.logs[reference]
        low, high = np.exp(middle - lower[group] * se), np.exp(middle + upper[group] * se)
        ends = (min(float(low), ratio), max(min(float(high), 1.0), ratio))
        ratios.append(ImpactRatio(float(rate), ratio, *ends, False))
    return ratios


def share_intervals(counts: SelectionCounts) -> list[tuple[float, float]]:
    """Return the 95% interval of the rate of each group, where the rate of all is fixed.

    With the share w of each group among the selected, the logarithm of a rate then errs as it does
    less the mean, weighted by w, of the errors of all.
    """
    selected = np.array([counts.selected[g].sum() for g in counts.groups])
    decided = np.array([counts.decided[g].sum() for g in counts.groups])
    # With ½ added, as to rates: no group has all.
    contrasts = np.eye(len(selected)) - (selected + 0.5) / (selected + 0.5).sum()
    lower, upper = share_quantiles(
        counts.logs,
        decided,
        counts.dispersion,
        counts.over_occupations,
        counts.degrees,
        contrasts=contrasts,
    )
    se = np.sqrt(contrasts**2 @ (counts.of_names + counts.over_occupations / 2))
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
    logs, variances = counts.logs, counts.of_names
    weights = 1 / variances
    fitted, leverage = _fit(design, logs, weights)
    excess = float((weights * (logs - fitted) ** 2).sum()) - (n - k)
    scale = float((weights * (1 - leverage)).sum())
    between = max(excess / scale, 0.0)
    fitted, _ = _fit(design, logs, 1 / (variances + between))
    shrunken = fitted + between / (between + variances) * (logs - fitted)
    rates: Array = np.minimum(np.exp(shrunken), 1.0)
    return rates


def _additive(levels: Sequence[tuple[str, str]]) -> Array:
    """Return the design of race + gender: (groups, 1 + races − 1 + genders − 1)."""
    columns = [np.ones(len(levels))]
    for place in (0, 1):
        names = sorted({level[place] for level in levels})
        columns += [
            np.array([level[place] == name for level in levels], float) for name in names[1:]
        ]
    return np.column_stack(columns)


def _fit(design: Array, values: Array, weights: Array) -> tuple[Array, Array]:
    """Return the values fitted by weighted least squares, and the leverages."""
    weighted = design * weights[:, None]
    inverse = np.linalg.inv(design.T @ weighted)
    fitted = design @ (inverse @ (weighted.T @ values))
    return fitted, np.einsum("ij,jk,ik->i", design, inverse, weighted)
