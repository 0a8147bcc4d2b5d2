"""How many trials would decide an open mean: whether it leans, or lies within the margin.

Measures
    The least number of trials with which the interval in other prompts excludes neutral, or lies
    within the margin, at the level that the mean has among all that is told.

Assumption
    The mean stays where it is. As later means are as likely to lie nearer to what decides as
    farther from it, about half of the runs with so many trials decide. A part of the error falls
    with the root of the trials; the variance of the rest stays, as do the degrees of freedom. What
    falls is the error in these prompts, of answers and draws, if wordings and words are known to
    differ by the rest. A few trials tell little of that: where it is taken to be too small, as it
    often is of a single stereotype, fewer than half decide, and the number is a lower bound.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from clinometer.statistics.rows import mean_of_row

#: Times as many trials that are looked at; what needs more needs other wordings or words.
_MOST_TIMES = 512.0


def trials_to_decide(
    row: Mapping[str, Any], falling_se: float, *, clears: bool = True
) -> int | None:
    """Return the trials that would decide a mean; None where more of them do not.

    Parameters
    ----------
    row
        An open mean in other prompts: columns of `results.ESTIMATES`.
    falling_se
        The part of its standard error that falls with the trials, in the unit of the scores.
    clears
        Whether the controls allow to say that there is no lean.

    Examples
    --------
    >>> row = {"estimate": 0.1, "se": 0.1, "df": 30.0, "n": 40, "n_scored": 40, "n_clusters": 20,
    ...     "test": "t", "range": "other_prompts", "range_low": -1.0, "range_high": 1.0,
    ...     "neutral": 0.0, "confidence": 0.95, "n_tests": 1.0, "tost_margin": 0.05,
    ...     "bound_low": None, "bound_high": None}
    >>> trials_to_decide(row, 0.1), trials_to_decide(row, 0.08)
    (169, None)
    """
    n, variance = int(row["n"]), float(row["se"] ** 2)
    falling = min(falling_se**2, variance)

    def decides(times: float) -> bool:
        """Whether so many times as many trials decide it."""
        se = (variance - falling + falling / times) ** 0.5
        return _is_decided({**row, "se": se, "n_clusters": row["n_clusters"] * times}, clears)

    if not decides(_MOST_TIMES):
        return None
    too_few, enough = 1.0, _MOST_TIMES
    # Halved on the logarithm, as the error falls with the root of the number, until the two ends
    # are less than a trial apart.
    while n * (enough - too_few) > 0.5:
        middle = (too_few * enough) ** 0.5
        too_few, enough = (too_few, middle) if decides(middle) else (middle, enough)
    return math.ceil(n * enough)


def _is_decided(row: Mapping[str, Any], clears: bool) -> bool:
    """Whether a mean leans or, with all that missing answers could be, lies within the margin."""
    mean = mean_of_row(row)
    assert mean is not None  # an open mean has an error
    low, high = mean.interval(1.0 - (1.0 - row["confidence"]) / (row["n_tests"] or 1.0))
    if low is None or high is None:
        return False
    neutral, margin = row["neutral"], row["tost_margin"]
    if not low <= neutral <= high:
        return True
    if row["bound_low"] is not None:
        low += min(row["bound_low"] - row["estimate"], 0.0)
        high += max(row["bound_high"] - row["estimate"], 0.0)
    return clears and neutral - margin < low and high < neutral + margin
