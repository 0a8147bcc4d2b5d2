"""Two groups of words compared, row by row of a matrix: t tests, and shuffled membership.

Reference
    Student (1908), Biometrika 6(1), 1–25: the t test with equal variances, as Schuster et al.
    (2024) report it; Welch (1947), Biometrika 34(1/2), 28–35: the interval; Cohen's d with the
    pooled standard deviation; Phipson & Smyth (2010), Stat. Appl. Genet. Mol. Biol. 9(1), 39: drawn
    permutations count the observed arrangement, so p is never 0.

Range
    Differences are first minus second, neutral 0. The t test is the published one; the interval
    beside it does not take the variances for equal, so the two do not always agree on whether 0 is
    excluded. Where neither group varies there is no error to judge by: interval, t, p and d are
    nan, for the caller to make null with a reason.
"""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from clinometer.statistics.intervals import critical_value

__all__ = ["ROUNDING", "GroupComparison", "compare_groups", "margin", "permute_groups"]

Array = NDArray[np.float64]

#: Up to this many arrangements of groups all are tried; above, some are drawn.
MOST_ARRANGEMENTS = 100_000
#: Numbers in memory at a time while arranging.
MOST_NUMBERS = 2_000_000
#: A spread below this share of the values is due to rounding.
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class GroupComparison:
    """Two groups compared; each field has a number per row."""

    difference: Array  # of means, first − second
    ci_low: Array  # Welch's
    ci_high: Array
    t: Array  # Student's, equal variances
    df: Array
    p: Array  # two-sided
    d: Array  # Cohen's, pooled standard deviation


@dataclass(frozen=True, eq=False)
class GroupPermutation:
    """Shuffled membership: ``p``, two-sided, per row, and how many arrangements it rests on."""

    p: Array
    n_permutations: int
    exact: bool


def compare_groups(a: Array, b: Array, *, confidence: float = 0.95) -> GroupComparison:
    """Compare the means of two groups, shape (rows, members), in every row.

    Each has 2 members or more; nan where a row has no number or neither group varies.

    Examples
    --------
    >>> compared = compare_groups(np.array([[3.0, 4.0, 5.0]]), np.array([[1.0, 2.0, 3.0]]))
    >>> compared.difference[0], compared.t[0].round(4), compared.p[0].round(4)
    (np.float64(2.0), np.float64(2.4495), np.float64(0.0705))
    """
    n1, n2 = a.shape[1], b.shape[1]
    difference = a.mean(axis=1) - b.mean(axis=1)
    squares = (n1 - 1) * a.var(axis=1, ddof=1) + (n2 - 1) * b.var(axis=1, ddof=1)
    pooled = np.sqrt(squares / (n1 + n2 - 2))
    size = np.maximum(np.abs(a).max(axis=1), np.abs(b).max(axis=1))
    pooled = np.where(pooled > ROUNDING * size, pooled, np.nan)
    # A row in which neither group varies has no numbers. scipy warns where one group does not.
    a, b = (np.where(np.isnan(pooled)[:, None], np.nan, group) for group in (a, b))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        student: Any = stats.ttest_ind(a, b, axis=1)
        welch: Any = stats.ttest_ind(a, b, axis=1, equal_var=False)
    low, high = welch.confidence_interval(confidence)
    df = np.full(len(a), n1 + n2 - 2.0)
    t, p, d = student.statistic, student.pvalue, difference / pooled
    return GroupComparison(difference, low, high, t, df, p, d)


def permute_groups(a: Array, b: Array, *, draws: int = 10_000, seed: int = 0) -> GroupPermutation:
    """Test a difference of means by shuffling who belongs to which group.

    All arrangements are tried where there are up to 100,000 of them, or else `draws` drawn ones;
    every row meets the same. p is the share of arrangements whose difference is at least as large,
    whatever its sign; nan where a row has no number. Groups are as of `compare_groups`.
    """
    values = np.concatenate([a, b], axis=1)
    values = values - values.mean(axis=1, keepdims=True)
    # Of centred values the sums of the two groups differ in sign only: the smaller will do.
    size = min(a.shape[1], b.shape[1])
    observed = np.abs(values[:, : a.shape[1]].sum(axis=1))
    # As large but for rounding, which differs with the order of the sum.
    least = observed - 1e-10 * np.abs(values).sum(axis=1)
    arrangements = math.comb(values.shape[1], size)
    exact = arrangements <= MOST_ARRANGEMENTS
    step = max(1, MOST_NUMBERS // sum(values.shape))
    masks = _all_masks(values.shape[1], size, step)
    if not exact:
        masks = _random_masks(values.shape[1], size, draws, step, np.random.default_rng(seed))
    count = sum((np.abs(mask @ values.T) >= least).sum(axis=0) for mask in masks)
    p = count / arrangements if exact else (count + 1) / (draws + 1)
    p = np.where(np.isnan(observed), np.nan, p)
    return GroupPermutation(
        np.asarray(p, dtype=np.float64), arrangements if exact else draws, exact
    )


def margin(sd: ArrayLike, n: ArrayLike, *, confidence: float = 0.95) -> Array:
    """Give half the width of Student's interval of a mean of `n`, whose `sd` has n − 1.

    nan with fewer than 2, or where nothing varies: an error of 0 is not believed.
    """
    spread, count = np.broadcast_arrays(np.asarray(sd, np.float64), np.asarray(n, np.float64))
    usable = (count >= 2) & (spread > 0)
    df = np.where(usable, count - 1, 1.0)
    half = critical_value(confidence, df) * spread / np.sqrt(df + 1)
    return np.asarray(np.where(usable, half, np.nan), dtype=np.float64)


def _all_masks(members: int, size: int, step: int) -> Iterator[Array]:
    """Yield every choice of `size` members, some rows of zeros and ones at a time."""
    choices = itertools.combinations(range(members), size)
    while block := list(itertools.islice(choices, step)):
        mask = np.zeros((len(block), members))
        np.put_along_axis(mask, np.array(block), 1.0, axis=1)
        yield mask


def _random_masks(
    members: int, size: int, draws: int, step: int, rng: np.random.Generator
) -> Iterator[Array]:
    """Yield drawn choices of `size` members."""
    start = np.zeros(members)
    start[:size] = 1.0
    for begin in range(0, draws, step):
        yield rng.permuted(np.tile(start, (min(step, draws - begin), 1)), axis=1)
