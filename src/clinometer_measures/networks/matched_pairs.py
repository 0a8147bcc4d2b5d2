"""Matched pairs compared by their ranks, with what the pairs of one table share.

Reference
    Wilcoxon's signed-rank test (normal approximation, no continuity correction), as in Abramski et
    al. (2025), arXiv:2510.24488.

Range
    The effect is z / √n: close to −1…1, the more pairs the closer to ±.87; neutral 0. Differences
    of 0 have no sign and are left out of the ranks but count in n, as in the released code.

Beyond the source
    The pairs of that paper share words: 25 targets × 5 pairs of primes are not 125 independent
    observations. So beside its p stand a test that swaps the two sides of whole columns (a column:
    one pair of primes), and an interval from drawing whole rows (a row: one target) with
    replacement.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from clinometer.errors import InputError

__all__ = [
    "Alternative",
    "Permutation",
    "SignedRank",
    "bootstrap_effects",
    "effects_of_rows",
    "permute_columns",
    "signed_rank",
    "signed_rank_effect",
    "swaps",
]

Array = NDArray[np.float64]
Alternative = Literal["greater", "less", "two-sided"]

#: Up to this many columns every swap is tried; above, this many powers of two are drawn.
MOST_COLUMNS = 12
#: Numbers in memory at a time while swapping or drawing.
MOST_NUMBERS = 2_000_000


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
    size = max(1, MOST_NUMBERS // d.size)
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
    size = max(1, MOST_NUMBERS // max(1, picks.shape[1] * table.shape[1]))
    parts = (picks[begin : begin + size] for begin in range(0, len(picks), size))
    return np.concatenate(
        [signed_rank_effect(table[rows].reshape(len(rows), -1)) for rows in parts]
    )
