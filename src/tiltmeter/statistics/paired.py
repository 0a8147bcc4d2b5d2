"""Paired differences by ranks: Wilcoxon's effect, its permutation test and its bootstrap.

The effect is z / √n of Wilcoxon's signed-rank test (normal approximation, no continuity
correction), as in Abramski et al. 2025 (arXiv:2510.24488). Range: close to −1…1, the more pairs the
closer to ±.87; neutral 0. Differences of 0 have no sign and are left out of the ranks but count in
n, as in the released code.

The pairs of that paper share words: 25 targets × 5 pairs of primes are not 125 independent
observations. So beside its p stand a test that swaps the two sides of whole columns (a column: one
pair of primes), and an interval from drawing whole rows (a row: one target) with replacement.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from tiltmeter.errors import InputError

__all__ = [
    "Alternative",
    "Permutation",
    "SignedRank",
    "bootstrap_effects",
    "permute_columns",
    "signed_rank",
    "signed_rank_effect",
]

Array = NDArray[np.float64]
Alternative = Literal["greater", "less", "two-sided"]

#: Up to this many columns every swap is tried; above, this many powers of two are drawn.
MOST_COLUMNS = 12
#: Numbers held at a time while drawing.
AT_ONCE = 2_000_000


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
    """Test whether paired differences are symmetric around 0.

    Parameters
    ----------
    differences
        Any shape; each number is a pair.
    alternative
        What p is for.

    Returns
    -------
    SignedRank

    Examples
    --------
    >>> found = signed_rank([1.0, 2.0, 3.0, -0.5], "greater")
    >>> round(found.effect, 4), round(found.p, 4)
    (0.7303, 0.0721)
    """
    d = np.asarray(differences, dtype=np.float64).ravel()
    if not d.size or not d.any():
        return SignedRank(0.0 if d.size else None, None, d.size)
    p = float(_wilcoxon(d, alternative).pvalue)
    return SignedRank(float(signed_rank_effect(d)), p, d.size)


def signed_rank_effect(differences: ArrayLike) -> Array:
    """Give z / √n over the last axis.

    Parameters
    ----------
    differences
        Shape (…, n).

    Returns
    -------
    numpy.ndarray
        Shape (…); 0 where all differences are 0.
    """
    d = np.asarray(differences, dtype=np.float64)
    with np.errstate(invalid="ignore"):  # 0 / 0 where all differences are 0
        z = _wilcoxon(d, "greater").zstatistic
    return np.asarray(np.nan_to_num(z) / np.sqrt(d.shape[-1]), dtype=np.float64)


def _wilcoxon(d: Array, alternative: Alternative) -> Any:
    return stats.wilcoxon(  # type: ignore[call-overload]  # the stubs lack "asymptotic"
        d, axis=-1, alternative=alternative, method="asymptotic", correction=False
    )


def permute_columns(
    differences: ArrayLike, alternative: Alternative = "two-sided", *, seed: int = 0
) -> Permutation:
    """Test by swapping the two sides of whole columns.

    Under the null the two members of a matched pair of primes are exchangeable. All 2^columns
    arrangements are tried, or, of more than 12 columns, 4,096 drawn ones.

    Parameters
    ----------
    differences
        Shape (rows, columns).
    alternative
        In which direction an arrangement is at least as far out as the one found.
    seed
        For drawing arrangements.

    Returns
    -------
    Permutation
        The arrangement found counts as one of them, so p is never 0.

    Raises
    ------
    InputError
        If there are not two axes.
    """
    d = _table(differences)
    columns = d.shape[1]
    if columns < 2 or not d.any():
        return Permutation(None, 2**columns)
    if columns <= MOST_COLUMNS:
        signs = np.array(list(itertools.product((1.0, -1.0), repeat=columns)))
    else:
        drawn = np.random.default_rng(seed).choice((1.0, -1.0), size=(2**12 - 1, columns))
        signs = np.vstack([np.ones(columns), drawn])
    size = max(1, AT_ONCE // d.size)
    found = np.concatenate(
        [
            signed_rank_effect((d * part[:, None, :]).reshape(len(part), -1))
            for part in (signs[at : at + size] for at in range(0, len(signs), size))
        ]
    )
    turned = {"greater": found, "less": -found, "two-sided": np.abs(found)}[alternative]
    return Permutation(float(np.mean(turned >= turned[0] - 1e-12)), len(signs))


def bootstrap_effects(
    tables: list[ArrayLike], *, draws: int = 2_000, seed: int = 0
) -> NDArray[np.float64]:
    """Draw rows with replacement, the same rows of every table, and give each effect.

    Parameters
    ----------
    tables
        Each of shape (rows, columns), rows in the same order: the targets of one or more
        networks.
    draws
        How often rows are drawn.
    seed
        For drawing.

    Returns
    -------
    numpy.ndarray
        Shape (draws, tables).

    Raises
    ------
    InputError
        If the tables differ in their number of rows.
    """
    arrays = [_table(table) for table in tables]
    rows = {array.shape[0] for array in arrays}
    if len(rows) != 1:
        raise InputError(f"tables of {sorted(rows)} rows; bootstrap needs the same rows in each")
    count = rows.pop()
    picks = np.random.default_rng(seed).integers(0, count, size=(draws, count))
    size = max(1, AT_ONCE // max(max(array.size for array in arrays), 1))
    effects = np.empty((draws, len(arrays)))
    for begin in range(0, draws, size):
        part = picks[begin : begin + size]
        for place, array in enumerate(arrays):
            drawn = array[part].reshape(len(part), -1)
            effects[begin : begin + size, place] = signed_rank_effect(drawn)
    return effects


def _table(differences: ArrayLike) -> Array:
    d = np.asarray(differences, dtype=np.float64)
    if d.ndim != 2:
        raise InputError(f"differences have {d.ndim} axes; expected (rows, columns)")
    return d
