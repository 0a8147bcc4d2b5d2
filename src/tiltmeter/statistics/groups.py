"""Two groups compared, row by row of a matrix: t tests, intervals, and shuffled membership.

Reference
    Student (1908), Biometrika 6(1), 1–25: the t test of two groups with equal variances, as
    Schuster et al. (2024) report it; Welch (1947), Biometrika 34(1/2), 28–35: the interval;
    Cohen's d with the pooled standard deviation; Phipson & Smyth (2010), Stat. Appl. Genet. Mol.
    Biol. 9(1), 39: drawn permutations count the arrangement that was found, so p is never 0.

Measures
    The difference of means, first minus second; neutral 0. d is the same in standard deviations.

Deviations
    The t test is the published one; the interval beside it does not take the variances for equal.
    The two do not always agree on whether 0 is excluded. Where neither group varies there is no
    error to judge by: interval, t, p and d are nan, for the caller to make null with a reason.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtr, stdtrit

from tiltmeter.errors import InputError

__all__ = ["Comparison", "GroupPermutation", "compare_groups", "margin", "permute_groups"]

Array = NDArray[np.float64]

#: Up to this many arrangements all are tried; above, some are drawn.
MOST_ARRANGEMENTS = 100_000
#: Numbers held at a time while arranging.
AT_ONCE = 2_000_000
#: A spread below this share of the values is due to rounding.
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Comparison:
    """Two groups compared; each field has a number per row.

    Parameters
    ----------
    difference
        Of means, first − second.
    ci_low, ci_high
        Welch's interval of it.
    t, df, p
        Student's test, equal variances, two-sided.
    d
        Cohen's, pooled standard deviation.
    """

    difference: Array
    ci_low: Array
    ci_high: Array
    t: Array
    df: Array
    p: Array
    d: Array


@dataclass(frozen=True, eq=False)
class GroupPermutation:
    """Shuffled membership: ``p``, two-sided, per row, and how many arrangements it rests on."""

    p: Array
    n_permutations: int
    exact: bool


def compare_groups(first: ArrayLike, second: ArrayLike, *, confidence: float = 0.95) -> Comparison:
    """Compare the means of two groups in every row.

    Parameters
    ----------
    first, second
        Shape (rows, members), at least 2 members each; nan where there is no number.
    confidence
        Of the interval, 0…1.

    Returns
    -------
    Comparison
        nan where a row has no number or neither group varies.

    Raises
    ------
    InputError
        If shapes do not fit, a group has fewer than 2 members, or `confidence` means nothing.

    Examples
    --------
    >>> found = compare_groups([[3.0, 4.0, 5.0]], [[1.0, 2.0, 3.0]])
    >>> found.difference[0], found.t[0].round(4), found.p[0].round(4)
    (np.float64(2.0), np.float64(2.4495), np.float64(0.0705))
    """
    a, b = _groups(first, second)
    n1, n2 = a.shape[1], b.shape[1]
    difference = a.mean(axis=1) - b.mean(axis=1)
    v1, v2 = a.var(axis=1, ddof=1), b.var(axis=1, ddof=1)
    df = np.full(len(a), n1 + n2 - 2.0)
    pooled = np.sqrt(((n1 - 1) * v1 + (n2 - 1) * v2) / df)
    size = np.maximum(np.abs(a).max(axis=1), np.abs(b).max(axis=1))
    pooled = np.where(pooled > ROUNDING * size, pooled, np.nan)
    t = difference / (pooled * math.sqrt(1 / n1 + 1 / n2))
    # Where the pooled spread is nan so is all that follows.
    e1, e2 = v1 / n1, np.where(np.isnan(pooled), np.nan, v2 / n2)
    welch = (e1 + e2) ** 2 / (e1**2 / (n1 - 1) + e2**2 / (n2 - 1))
    half = stdtrit(welch, _upper(confidence)) * np.sqrt(e1 + e2)
    p = 2.0 * stdtr(df, -np.abs(t))
    d = difference / pooled
    return Comparison(difference, difference - half, difference + half, t, df, p, d)


def permute_groups(
    first: ArrayLike, second: ArrayLike, *, draws: int = 10_000, seed: int = 0
) -> GroupPermutation:
    """Test a difference of means by shuffling who belongs to which group.

    All arrangements are tried where there are up to 100,000 of them, or else `draws` drawn ones.
    Every row meets the same arrangements.

    Parameters
    ----------
    first, second
        Shape (rows, members), at least 2 members each; nan where there is no number.
    draws
        How many arrangements are drawn where not all are tried.
    seed
        For drawing.

    Returns
    -------
    GroupPermutation
        p is the share of arrangements whose difference is at least as large, whatever its sign;
        nan where a row has no number.

    Raises
    ------
    InputError
        If shapes do not fit, a group has fewer than 2 members, or `draws` is below 1.
    """
    if draws < 1:
        raise InputError(f"draws {draws}: at least 1; 10000 is usual")
    a, b = _groups(first, second)
    values = np.concatenate([a, b], axis=1)
    values = values - values.mean(axis=1, keepdims=True)
    # Of centred values the sums of the two groups differ in sign only: the smaller will do.
    size = min(a.shape[1], b.shape[1])
    found = np.abs(values[:, : a.shape[1]].sum(axis=1))
    least = found - 1e-10 * np.abs(values).sum(axis=1)
    ways = math.comb(values.shape[1], size)
    exact = ways <= MOST_ARRANGEMENTS
    step = max(1, AT_ONCE // sum(values.shape))
    masks = _all(values.shape[1], size, step)
    if not exact:
        masks = _drawn(values.shape[1], size, draws, step, np.random.default_rng(seed))
    count = sum((np.abs(mask @ values.T) >= least).sum(axis=0) for mask in masks)
    p = count / ways if exact else (count + 1) / (draws + 1)
    p = np.where(np.isnan(found), np.nan, p)
    return GroupPermutation(np.asarray(p, dtype=np.float64), ways if exact else draws, exact)


def margin(sd: ArrayLike, n: ArrayLike, *, confidence: float = 0.95) -> Array:
    """Give half the width of Student's interval of a mean.

    Parameters
    ----------
    sd
        With n − 1.
    n
        Behind the mean; same shape, or one number.
    confidence
        0…1.

    Returns
    -------
    numpy.ndarray
        nan with fewer than 2, or where nothing varies: an error of 0 is not believed.

    Raises
    ------
    InputError
        If `confidence` means nothing.
    """
    spread, count = np.broadcast_arrays(np.asarray(sd, np.float64), np.asarray(n, np.float64))
    usable = (count >= 2) & (spread > 0)
    df = np.where(usable, count - 1, 1.0)
    half = stdtrit(df, _upper(confidence)) * spread / np.sqrt(df + 1)
    return np.asarray(np.where(usable, half, np.nan), dtype=np.float64)


def _upper(confidence: float) -> float:
    if not 0 < confidence < 1:
        raise InputError(f"confidence {confidence}: must lie between 0 and 1, as 0.95")
    return 0.5 + confidence / 2


def _groups(first: ArrayLike, second: ArrayLike) -> tuple[Array, Array]:
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if a.ndim != 2 or b.ndim != 2 or len(a) != len(b):
        raise InputError(f"groups of shapes {a.shape} and {b.shape}; expected (rows, members)")
    if min(a.shape[1], b.shape[1]) < 2:
        raise InputError(f"groups of {a.shape[1]} and {b.shape[1]}; at least 2 members are needed")
    return a, b


def _all(members: int, size: int, step: int) -> Iterator[Array]:
    """Yield every choice of `size` members, some rows of zeros and ones at a time."""
    choices = itertools.combinations(range(members), size)
    while block := list(itertools.islice(choices, step)):
        mask = np.zeros((len(block), members))
        np.put_along_axis(mask, np.array(block), 1.0, axis=1)
        yield mask


def _drawn(
    members: int, size: int, draws: int, step: int, rng: np.random.Generator
) -> Iterator[Array]:
    """Yield drawn choices of `size` members."""
    start = np.zeros(members)
    start[:size] = 1.0
    for begin in range(0, draws, step):
        count = min(step, draws - begin)
        yield rng.permuted(np.tile(start, (count, 1)), axis=1)
