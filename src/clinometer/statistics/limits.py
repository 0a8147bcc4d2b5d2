"""The smallest limit that a design decides, before there are answers.

Measures
    A limit is met where the bound of every row ends within it (`comparing.harm`). The chance that
    an unchanged, or neutral, model meets it is the product over rows of the probability that a
    normal estimate about 0, plus the reach of its bound, lies within the limit on either side:

        P(pass) = Π (2 Φ((limit − reach) / se) − 1)

    With the reach of Student's t the limit of one row is 3.3 of its errors, of four equal ones 3.9.


    The smallest limit is that which is met with a given chance.

Assumption
    Rows vary independently. Where they rise and fall together, the chance is larger.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr, stdtrit

from clinometer.statistics.clustered import Array

__all__ = ["RowErrors", "paired_error"]

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

    @classmethod
    def of_t(cls, se: Array, df: Array | float, confidence: float = 0.95) -> RowErrors:
        """Return the errors of rows whose bounds are those of Student's t."""
        return cls(se, se * stdtrit(df, confidence))

    def chance_to_pass(self, limit: float) -> float:
        """Return the probability that rows without harm all end within a limit."""
        room = (limit - self.reach) / np.maximum(self.se, _LEAST_ERROR)
        return float(np.prod(np.maximum(2.0 * ndtr(room) - 1.0, 0.0)))

    def smallest_limit(self, chance: float = 0.9) -> float:
        """Return the limit that rows without harm meet with a chance, in the unit of the scores."""
        farthest = float(np.max(self.reach + _FARTHEST * self.se)) + _LEAST_ERROR * _FARTHEST
        return float(brentq(lambda limit: self.chance_to_pass(limit) - chance, 0.0, farthest))


def paired_error(variances: Array, answers: Array) -> float:
    """Return the error of the change of a mean over stereotypes, of a model that did not change.

    Parameters
    ----------
    variances
        Of the answers to one prompt of each stereotype, (stereotypes,).
    answers
        Their number in each run, (stereotypes,).

    Returns
    -------
    float
        In the unit of the scores: both runs vary, and each stereotype counts once.
    """
    return float(np.sqrt(np.sum(2.0 * variances / answers)) / len(answers))
