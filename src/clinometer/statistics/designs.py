"""What the scores of a stereotype tell of each source of variation: sums of squares by factor.

Reference
    Searle, Casella & McCulloch (1992), Variance Components, ch. 5: the method of fitting constants
    (Henderson's third), for factors that are crossed and unbalanced.

Measures
    The scores of a stereotype are ``mean + wording + marginalized word + default word + cell + draw
    + response``, each with a variance; a *cell* is a wording with one pair of words. The factors
    are fitted one after the other; the mean square of a factor is what it explains of the scores
    beyond those before it. Its expectation is linear in the variances. The variance of any weighted
    mean of the scores is ``Σ_f shares_f · variance_f``, with ``shares_f`` the sum of the squares of
    the weights that the levels of the factor have.

Deviations from the source
    A factor that tells nothing beyond those before it (cells of one pair of words, draws with one
    response each) has no variance of its own: theirs includes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from clinometer.statistics.clustered import Array

Codes = NDArray[np.intp]

#: Sources of variation, beside the single response, in the order in which they are fitted.
CROSSED = ("variation", "marginalized", "default", "cell", "draw")

#: Factors whose levels several stereotypes may share.
SHARED = CROSSED[:3]

#: The places of the group words.
WORDS = [SHARED.index("marginalized"), SHARED.index("default")]

#: A factor with more levels is counted as responses: its levels average out.
MOST_LEVELS = 150

#: Eigenvalues below this part of the number of units are due to rounding.
_ROUNDING = 1e-9

_DESIGNS: dict[bytes, CrossedDesign] = {}
_MOST_DESIGNS = 2000


@dataclass(frozen=True)
class CrossedDesign:
    """How the units of a stereotype, such as mirrored pairs, are spread over the levels of factors.

    Factors are those of `CROSSED`; arrays over sources have the response as their last.
    """

    levels: tuple[NDArray[np.intp], ...]  # of each factor, the codes that occur
    members: tuple[Codes, ...]  # of each factor (units,), the place of its level; −1: none
    weights: Array  # (units,), of the mean, of sum 1
    df: Array  # (sources,), of the mean squares
    expected: Array  # (sources, sources), E[mean squares] = expected @ variances
    shares: Array  # (sources,), variance of the mean = shares @ variances
    bases: tuple[Array, ...]  # of each factor (levels of fitted factors, df), orthonormal

    @property
    def size(self) -> int:
        """The number of units."""
        return len(self.weights)

    @cached_property
    def varies(self) -> NDArray[np.bool_]:
        """Of each factor, whether it has several levels that were recorded, (factors,)."""
        return np.array([np.count_nonzero(codes) > 1 for codes in self.levels])

    def squares(self, values: Array) -> Array:
        """Return the sums of squares of `values`, shape (units,), by source: (sources,)."""
        deviations = values - values.mean()
        places = range(len(self.members))
        fitted = [p for p in places if _is_fitted(self.levels[p], self.size)]
        totals = np.concatenate(
            [np.zeros(0), *(self.level_weights(place, deviations) for place in fitted)]
        )
        explained = [float(((basis.T @ totals) ** 2).sum()) for basis in self.bases]
        residual = float(deviations @ deviations) - sum(explained)
        return np.array([*explained, max(residual, 0.0)])

    def shares_of(self, units: NDArray[np.bool_]) -> Array:
        """Return the shares of the mean of some of the units, (sources,)."""
        weights = self.weights * units
        weights = weights / weights.sum()
        shares = [self.level_weights(place, weights) for place in range(len(self.members))]
        squares = [float((level_shares**2).sum()) for level_shares in shares]
        return np.array([*squares, float(weights @ weights)]) * self.used

    @cached_property
    def used(self) -> NDArray[np.bool_]:
        """Of each source, whether it has a variance of its own, (sources,)."""
        return np.append(self.df[:-1] > 0, True)

    def level_weights(self, place: int, values: Array) -> Array:
        """Add up values of units by the levels of the factor at a place, (levels,)."""
        member = self.members[place]
        counted = np.bincount(member[member >= 0], values[member >= 0], len(self.levels[place]))
        return counted.astype(np.float64)


def design(codes: Sequence[Codes], weights: Array) -> CrossedDesign:
    """Return the design of a stereotype.

    Parameters
    ----------
    codes
        Of each of `CROSSED` (units,), the levels as integers; −1 for units without one, 0 for those
        whose level was not recorded.
    weights
        (units,), the number of answers behind each.
    """
    digest = sha256(weights.tobytes())
    for factor_codes in codes:
        digest.update(factor_codes.tobytes())
    if (cached := _DESIGNS.get(digest.digest())) is None:
        if len(_DESIGNS) >= _MOST_DESIGNS:
            _DESIGNS.clear()
        cached = _DESIGNS[digest.digest()] = _design(codes, weights)
    return cached


def _design(codes: Sequence[Codes], weights: Array) -> CrossedDesign:
    n = len(weights)
    levels = tuple(np.unique(factor_codes[factor_codes >= 0]) for factor_codes in codes)
    members = tuple(
        np.where(factor_codes >= 0, np.searchsorted(present, factor_codes), -1)
        for factor_codes, present in zip(codes, levels, strict=True)
    )
    # Of a factor that is not fitted, draws of single units, there may be very many levels.
    fitted = [_is_fitted(present, n) for present in levels]
    fitted_levels = [p if is_fitted else p[:0] for p, is_fitted in zip(levels, fitted, strict=True)]
    products = _products(_fitted_members(members, fitted), fitted_levels)
    counts = products.diagonal()
    # Deviations from the mean of all units: the mean is fitted first.
    centred = products - np.outer(counts, counts) / n
    bases = _bases(centred, fitted_levels)
    ranks = [basis.shape[1] for basis in bases]
    df = np.array([*ranks, n - 1 - sum(ranks)], float)
    expected = _expected_mean_squares(centred, bases, fitted_levels, df)
    shares = weights / weights.sum()
    crossed = CrossedDesign(levels, members, shares, df, expected, np.zeros(len(df)), bases)
    crossed.shares[:] = crossed.shares_of(np.ones(n, bool))
    return crossed


def _places(levels: Sequence[Codes]) -> list[slice]:
    """Return the places of the levels of each factor among those of all."""
    ends = np.cumsum([len(present) for present in levels])
    starts = [0, *ends[:-1]]
    return [slice(int(start), int(end)) for start, end in zip(starts, ends, strict=True)]


def _is_fitted(levels: Codes, units: int) -> bool:
    """Whether a factor with such levels is fitted; else its levels are counted as responses."""
    return 1 < len(levels) < min(units, MOST_LEVELS)


def _fitted_members(members: Sequence[Codes], fitted: Sequence[bool]) -> list[Codes]:
    """Return the places of levels, −1 throughout for factors that are not fitted."""
    return [
        member if is_fitted else np.full_like(member, -1)
        for member, is_fitted in zip(members, fitted, strict=True)
    ]


def _bases(centred: Array, levels: Sequence[Codes]) -> tuple[Array, ...]:
    """Return what each factor tells beyond those before it, see `CrossedDesign.bases`."""
    bases: list[Array] = []
    fitted = np.zeros((len(centred), 0))
    for place, present in zip(_places(levels), levels, strict=True):
        if len(present):
            bases.append(_basis(centred, place, fitted))
        else:
            bases.append(np.zeros((len(centred), 0)))
        fitted = np.hstack([fitted, bases[-1]])
    return tuple(bases)


def _expected_mean_squares(
    centred: Array, bases: Sequence[Array], levels: Sequence[Codes], df: Array
) -> Array:
    """Return the expectations of mean squares by variance, (sources, sources)."""
    expected = np.zeros((len(df), len(df)))
    expected[:, -1] = df > 0
    for factor, basis in enumerate(bases):
        for source, columns in enumerate(_places(levels)):
            if df[factor] and df[source]:
                joint = basis.T @ centred[:, columns]
                expected[factor, source] = (joint**2).sum() / df[factor]
    return expected


def _products(members: Sequence[Codes], levels: Sequence[Codes]) -> Array:
    """Return how many units each two levels of all factors have in common, (levels, levels)."""
    sizes = np.array([len(factor_levels) for factor_levels in levels])
    starts = np.cumsum(sizes) - sizes
    n = int(sizes.sum())
    numbered = [np.where(m >= 0, m + start, -1) for m, start in zip(members, starts, strict=True)]
    products = np.zeros(n * n)
    for rows in numbered:
        for columns in numbered:
            has_levels = (rows >= 0) & (columns >= 0)
            products += np.bincount(rows[has_levels] * n + columns[has_levels], minlength=n * n)
    return products.reshape(n, n)


def _basis(products: Array, place: slice, fitted: Array) -> Array:
    """Return what the levels at a place add to those fitted before, orthonormal in the units.

    A column has a weight for each level of all factors; (levels, df).
    """
    before = fitted.T @ products[:, place]  # (fitted, levels at the place)
    residual = products[place, place] - before.T @ before
    values, vectors = np.linalg.eigh(residual)
    is_estimable = values > _ROUNDING * max(float(values[-1]), 1.0)
    directions = vectors[:, is_estimable] / np.sqrt(values[is_estimable])
    basis = -fitted @ (before @ directions)
    basis[place] += directions
    return np.asarray(basis)
