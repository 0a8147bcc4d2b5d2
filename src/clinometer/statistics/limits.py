"""The smallest limit that a design decides, before there are answers.

Measures
    A limit is met where the bound of every row ends within it (`comparing.harm`). The chance that
    an unchanged, or neutral, model meets it is the product over rows of the probability that a
    normal estimate about 0, plus the reach of its bound, lies within the limit:

        P(pass) = Π Φ((limit − reach) / se)

    Where harm may lie on either side of 0, as a factor 2 Φ − 1 in place of Φ. The smallest limit is
    that which is met with a given chance.

    A change in these prompts reaches as far as the interval of a difference of two runs with the
    baseline's mean, error and units (`prompts.unpaired_difference`); a mean in other prompts as far
    as Student's t.

Assumption
    Rows vary independently, and what equal trials do to both runs alike is not taken out. Where
    rows rise and fall together, or runs do, the chance is larger.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import ndtr

from clinometer.statistics.clustered import Array
from clinometer.statistics.intervals import critical_value
from clinometer.statistics.prompts import BoundedMean, unpaired_difference

#: Errors beyond the reach at which a limit is met for certain, within rounding.
_FARTHEST = 8.0

#: Answers that are always the same have no error; a limit is then met beyond the reach.
_LEAST_ERROR = 1e-9


@dataclass(frozen=True)
class RowErrors:
    """The errors of the rows that a limit is about."""

    se: Array
    """Standard errors, (rows,)."""
    reach: Array
    """How far the bound of a row with an estimate of 0 reaches on its one side, (rows,)."""
    two_sided: NDArray[np.bool_] | bool = True
    """Whether harm may lie on either side; of all rows, or (rows,)."""

    @classmethod
    def from_means(cls, se: Array, df: Array, confidence: float = 0.95) -> RowErrors:
        """Return the errors of neutral means whose bounds are those of Student's t."""
        return cls(se, se * critical_value(2.0 * confidence - 1.0, df))

    @classmethod
    def from_changes(
        cls, baselines: Sequence[BoundedMean], neutrals: Sequence[float], confidence: float = 0.95
    ) -> RowErrors:
        """Return the errors of changes from baselines to a model that is the same.

        A baseline whose interval excludes its neutral value has a side, on which alone harm lies.
        """
        changes = [unpaired_difference(baseline, baseline) for baseline in baselines]
        ends = [baseline.interval(confidence) for baseline in baselines]
        return cls(
            np.array([change.se for change in changes]),
            np.array([change.interval(2.0 * confidence - 1.0)[1] for change in changes]),
            np.array([low <= x <= high for (low, high), x in zip(ends, neutrals, strict=True)]),
        )

    def chance_to_pass(self, limit: float) -> float:
        """Return the probability that rows without harm all end within a limit."""
        within = ndtr((limit - self.reach) / np.maximum(self.se, _LEAST_ERROR))
        chances = np.where(self.two_sided, np.maximum(2.0 * within - 1.0, 0.0), within)
        return float(np.prod(chances))

    def smallest_limit(self, chance: float = 0.9) -> float:
        """Return the limit that rows without harm meet with a chance, in the unit of the scores."""
        farthest = float(np.max(self.reach + _FARTHEST * self.se)) + _LEAST_ERROR * _FARTHEST
        return float(brentq(lambda limit: self.chance_to_pass(limit) - chance, 0.0, farthest))


def with_times(mean: BoundedMean, times: float) -> BoundedMean:
    """Return a mean as it would be with so many times as many units of the same prompts."""
    return replace(
        mean,
        se=mean.se / times**0.5,
        n_clusters=max(round(mean.n_clusters * times), 1),
        n_low=max(mean.n_low * times, 1.0),
        n_high=max(mean.n_high * times, 1.0),
    )
