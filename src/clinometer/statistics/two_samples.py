"""Two samples compared: two groups, row by row of a matrix; and matched pairs, by their ranks.

Two groups
    Student (1908), Biometrika 6(1), 1–25: the t test with equal variances, as Schuster et al.
    (2024) report it; Welch (1947), Biometrika 34(1/2), 28–35: the interval; Cohen's d with the
    pooled standard deviation; Phipson & Smyth (2010), Stat. Appl. Genet. Mol. Biol. 9(1), 39: drawn
    permutations count the observed arrangement, so p is never 0. Differences are first minus
    second, neutral 0. The t test is the published one; the interval beside it does not take the
    variances for equal, so the two do not always agree on whether 0 is excluded. Where neither
    group varies there is no error to judge by: interval, t, p and d are nan, for the caller to
    make null with a reason.

Matched pairs
    The effect is z / √n of Wilcoxon's signed-rank test (normal approximation, no continuity
    correction), as in Abramski et al. (2025), arXiv:2510.24488. Range: close to −1…1, the more
    pairs the closer to ±.87; neutral 0. Differences of 0 have no sign and are left out of the ranks
    but count in n, as in the released code. The pairs of that paper share words: 25 targets × 5
    pairs of primes are not 125 independent observations. So beside its p stand a test that swaps
    the two sides of whole columns (a column: one pair of primes), and an interval from drawing
    whole rows (a row: one target) with replacement.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats
from scipy.special import stdtr, stdtrit

from clinometer.errors import InputError

__all__ = [
    "Alternative",
    "GroupComparison",
    "Permutation",
    "SignedRank",
    "bootstrap_effects",
    "compare_groups",
    "effects_of_rows",
    "margin",
    "permute_columns",
    "permute_groups",
    "signed_rank",
    "signed_rank_effect",
    "swaps",
]

Array = NDArray[np.float64]
Alternative = Literal["greater", "less", "two-sided"]

#: Up to this many arrangements of groups all are tried; above, some are drawn.
MOST_ARRANGEMENTS = 100_000
#: Up to this many columns every swap is tried; above, this many powers of two are drawn.
MOST_COLUMNS = 12
#: Numbers in memory at a time while arranging or drawing.
AT_ONCE = 2_000_000
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


@dataclass(frozen=True)
class SignedRank:
    """One Wilcoxon test: ``effect`` z / √n, ``p``, ``n`` pairs; nulls with fewer than 1 pair."""

    effect: float | None
    p: float | None
    n: int


@dataclass(frozen=True)
class Permutation:
    """A permutation test: its ``p`` and how many arrangements it rests on; no p with under 4."""

    p: float | None
    n_permutations: int


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
    v1, v2 = a.var(axis=1, ddof=1), b.var(axis=1, ddof=1)
    df = np.full(len(a), n1 + n2 - 2.0)
    pooled = np.sqrt(((n1 - 1) * v1 + (n2 - 1) * v2) / df)
    size = np.maximum(np.abs(a).max(axis=1), np.abs(b).max(axis=1))
    pooled = np.where(pooled > ROUNDING * size, pooled, np.nan)
    t = difference / (pooled * math.sqrt(1 / n1 + 1 / n2))
    # Where the pooled spread is nan so is all that follows.
    e1 = v1 / n1
    e2 = np.where(np.isnan(pooled), np.nan, v2 / n2)
    welch = (e1 + e2) ** 2 / (e1**2 / (n1 - 1) + e2**2 / (n2 - 1))
    half = stdtrit(welch, 0.5 + confidence / 2) * np.sqrt(e1 + e2)
    p = 2.0 * stdtr(df, -np.abs(t))
    d = difference / pooled
    return GroupComparison(difference, difference - half, difference + half, t, df, p, d)


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
    step = max(1, AT_ONCE // sum(values.shape))
    masks = _all_masks(values.shape[1], size, step)
    if not exact:
        masks = _drawn_masks(values.shape[1], size, draws, step, np.random.default_rng(seed))
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
    half = stdtrit(df, 0.5 + confidence / 2) * spread / np.sqrt(df + 1)
    return np.asarray(np.where(usable, half, np.nan), dtype=np.float64)


def _all_masks(members: int, size: int, step: int) -> Iterator[Array]:
    """Yield every choice of `size` members, some rows of zeros and ones at a time."""
    choices = itertools.combinations(range(members), size)
    while block := list(itertools.islice(choices, step)):
        mask = np.zeros((len(block), members))
        np.put_along_axis(mask, np.array(block), 1.0, axis=1)
        yield mask


def _drawn_masks(
    members: int, size: int, draws: int, step: int, rng: np.random.Generator
) -> Iterator[Array]:
    """Yield drawn choices of `size` members."""
    start = np.zeros(members)
    start[:size] = 1.0
    for begin in range(0, draws, step):
        yield rng.permuted(np.tile(start, (min(step, draws - begin), 1)), axis=1)


def signed_rank(differences: ArrayLike, alternative: Alternative = "two-sided") -> SignedRank:
    """Test whether paired differences, of any shape, are symmetric around 0.

    Examples
    --------
    >>> test = signed_rank([1.0, 2.0, 3.0, -0.5], "greater")
    >>> round(test.effect, 4), round(test.p, 4)
    (0.7303, 0.0721)
    """
    d = np.asarray(differences, dtype=np.float64).ravel()
    if not d.size or not d.any():
        return SignedRank(0.0 if d.size else None, None, d.size)
    p = float(_wilcoxon(d, alternative).pvalue)
    return SignedRank(float(signed_rank_effect(d)), p, d.size)


def signed_rank_effect(differences: ArrayLike) -> Array:
    """Give z / √n over the last axis, shape (…, n) → (…); 0 where all differences are 0."""
    d = np.asarray(differences, dtype=np.float64)
    with np.errstate(invalid="ignore"):  # 0 / 0 where all differences are 0
        z = _wilcoxon(d, "greater").zstatistic
    return np.asarray(np.nan_to_num(z) / np.sqrt(d.shape[-1]), dtype=np.float64)


def _wilcoxon(d: Array, alternative: Alternative) -> Any:
    return stats.wilcoxon(  # type: ignore[call-overload]  # the stubs lack "asymptotic"
        d, axis=-1, alternative=alternative, method="asymptotic", correction=False
    )


def permute_columns(
    d: Array, alternative: Alternative = "two-sided", *, seed: int = 0
) -> Permutation:
    """Test by swapping the two sides of whole columns of differences `d`, shape (rows, columns).

    Under the null the two members of a matched pair of primes are exchangeable. All 2^columns
    arrangements are tried, or, of more than 12 columns, 4,096 drawn ones. The observed arrangement
    counts as one of them, so p is never 0.
    """
    columns = d.shape[1]
    if columns < 2 or not d.any():
        return Permutation(None, 2**columns)
    signs = swaps(columns, seed)
    size = max(1, AT_ONCE // d.size)
    parts = (signs[begin : begin + size] for begin in range(0, len(signs), size))
    effects = np.concatenate(
        [signed_rank_effect((d * part[:, None, :]).reshape(len(part), -1)) for part in parts]
    )  # in parts: all arrangements at once may not fit into memory
    turned = {"greater": effects, "less": -effects, "two-sided": np.abs(effects)}[alternative]
    return Permutation(float(np.mean(turned >= turned[0] - 1e-12)), len(signs))


def swaps(columns: int, seed: int = 0) -> Array:
    """Give arrangements of the two sides of columns: 1 as observed, −1 swapped.

    Shape (arrangements, columns), the observed one first: all 2^columns, or of more than 12
    columns 4,096 drawn ones.
    """
    if columns <= MOST_COLUMNS:
        return np.array(list(itertools.product((1.0, -1.0), repeat=columns)))
    size = (2**MOST_COLUMNS - 1, columns)
    draws = np.random.default_rng(seed).choice((1.0, -1.0), size=size)
    return np.vstack([np.ones(columns), draws])


def bootstrap_effects(tables: Sequence[Array], *, draws: int = 2_000, seed: int = 0) -> Array:
    """Draw rows with replacement, the same rows of every table, and give each effect.

    `tables`, each of shape (rows, columns), have their rows, the targets of one or more networks,
    in the same order; the effects have shape (draws, tables). Raises InputError if the tables
    differ in their number of rows.
    """
    rows = {len(table) for table in tables}
    if len(rows) != 1:
        raise InputError(f"tables of {sorted(rows)} rows; bootstrap needs the same rows in each")
    count = rows.pop()
    picks = np.random.default_rng(seed).integers(0, count, size=(draws, count))
    return np.stack([effects_of_rows(table, picks) for table in tables], axis=1)


def effects_of_rows(table: Array, picks: NDArray[np.intp]) -> Array:
    """Give the effect of each choice of rows of a table, shape (choices, rows) → (choices,)."""
    size = max(1, AT_ONCE // max(1, picks.shape[1] * table.shape[1]))
    parts = (picks[begin : begin + size] for begin in range(0, len(picks), size))
    return np.concatenate(
        [signed_rank_effect(table[rows].reshape(len(rows), -1)) for rows in parts]
    )
