"""Differential association: the number that WEAT, RIPA and MAC share, and its interval.

Items (as target words) stand beside references (as attribute words); a product, as the cosine,
says how close an item is to a reference. The association of an item is its mean product with the
first references minus that with the second. The effect is the difference of the mean association
of the first and of the second items, divided by the standard deviation (ddof 0) over all items:
−2…2, neutral 0.

The interval is a BCa bootstrap (Efron & Tibshirani 1993, An Introduction to the Bootstrap, ch.
14) with all sets of words resampled, each on its own: it says how the effect would vary with
other words like these. Few words make it wide. Resampled words are weights, so that all draws
and layers are one product of matrices.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

__all__ = ["Differential"]

Array = NDArray[np.float64]

#: Numbers held at a time while drawing.
_AT_ONCE = 4_000_000
#: A spread this small beside the largest association is rounding.
_FLAT = 1e-12


@dataclass(frozen=True, eq=False)
class Differential:
    """Products of items with references.

    Parameters
    ----------
    products
        Shape (layers, items, references).
    n_items, n_references
        How many of them are of the first set; all references for one set without a contrast.
    standardised
        Whether the effect is in standard deviations of the items.
    """

    products: Array
    n_items: int
    n_references: int
    standardised: bool = True

    @property
    def associations(self) -> Array:
        """The association of each item, shape (layers, items)."""
        first = self.products[..., : self.n_references].mean(axis=-1)
        if self.n_references == self.products.shape[2]:
            return np.asarray(first)
        return np.asarray(first - self.products[..., self.n_references :].mean(axis=-1))

    def effect(self) -> Array:
        """Give the effect of each layer, shape (layers,); nan where all items are alike."""
        found = self.associations
        difference = found[:, : self.n_items].mean(axis=1) - found[:, self.n_items :].mean(axis=1)
        if not self.standardised:
            return np.asarray(difference)
        return _divide(difference, found.std(axis=1), np.abs(found).max(axis=1))

    def interval(self, confidence: float, draws: int, seed: int) -> tuple[Array, Array]:
        """Draw words with replacement.

        Parameters
        ----------
        confidence
            Of the interval.
        draws
            How often.
        seed
            For drawing.

        Returns
        -------
        low, high : numpy.ndarray
            Shape (layers,); nan where draws have no effect or do not differ.
        """
        rng = np.random.default_rng(seed)
        drawn, found = (
            self._weighted([_resample(n, draws, rng) for n in self._sizes()]),
            self.effect(),
        )
        acceleration = self._acceleration()
        below = (drawn < found[:, None]).mean(axis=1) + (drawn == found[:, None]).mean(axis=1) / 2
        bias = ndtri(np.clip(below, 0.5 / draws, 1 - 0.5 / draws))
        with np.errstate(invalid="ignore", divide="ignore"):
            ends = []
            for tail in (0.5 - confidence / 2, 0.5 + confidence / 2):
                shifted = bias + ndtri(tail)
                at = ndtr(bias + shifted / (1 - acceleration * shifted))
                ends.append([_quantile(row, share) for row, share in zip(drawn, at, strict=True)])
        return np.array(ends[0]), np.array(ends[1])

    def _sizes(self) -> tuple[int, int, int, int]:
        _, items, references = self.products.shape
        return self.n_items, items - self.n_items, self.n_references, references - self.n_references

    def _weighted(self, weights: list[Array]) -> Array:
        """Give the effect under weights of each set's words, shape (layers, draws)."""
        layers, items, references = self.products.shape
        flat = self.products.reshape(layers * items, references)
        signed = np.concatenate([weights[2], -weights[3]], axis=1)
        size = max(1, _AT_ONCE // (layers * items))
        parts = []
        for begin in range(0, len(signed), size):
            at = slice(begin, begin + size)
            found = (flat @ signed[at].T).reshape(layers, items, -1)
            first, second = weights[0][at].T, weights[1][at].T
            one = np.einsum("lid,id->ld", found[:, : self.n_items], first)
            other = np.einsum("lid,id->ld", found[:, self.n_items :], second)
            if not self.standardised:
                parts.append(one - other)
                continue
            share = self.n_items / items
            pooled = np.concatenate([share * first, (1 - share) * second])
            middle = share * one + (1 - share) * other
            spread = np.einsum("lid,id->ld", (found - middle[:, None]) ** 2, pooled)
            parts.append(_divide(one - other, np.sqrt(spread), np.abs(found).max(axis=1)))
        return np.concatenate(parts, axis=1)

    def _acceleration(self) -> Array:
        """Give the acceleration of each layer from effects that leave out one word at a time."""
        sizes = self._sizes()
        cubes = squares = np.zeros(len(self.products))
        for place, n in enumerate(sizes):
            if n < 2:
                continue
            weights = [np.full((n, max(k, 1)), 1 / max(k, 1))[:, :k] for k in sizes]
            weights[place] = (1 - np.eye(n)) / (n - 1)
            left = self._weighted(weights)
            influence = (n - 1) * (left.mean(axis=1, keepdims=True) - left) / n
            cubes = cubes + (influence**3).sum(axis=1)
            squares = squares + (influence**2).sum(axis=1)
        return np.divide(cubes, 6 * squares**1.5, out=np.zeros_like(cubes), where=squares > 0)


def _resample(words: int, draws: int, rng: np.random.Generator) -> Array:
    """Draw as many words as there are, with replacement: a mean's weights, shape (draws, words)."""
    if not words:
        return np.empty((draws, 0))
    return np.asarray(rng.multinomial(words, np.full(words, 1 / words), size=draws) / words)


def _divide(difference: Array, spread: Array, largest: Array) -> Array:
    """Divide by a spread; nan where it is none."""
    out = np.full(difference.shape, np.nan)
    np.divide(difference, spread, out=out, where=spread > _FLAT * largest)
    return out


def _quantile(drawn: Array, share: float) -> float:
    drawn = drawn[np.isfinite(drawn)]
    if not np.isfinite(share) or not drawn.size or drawn.min() == drawn.max():
        return float("nan")
    return float(np.quantile(drawn, share))
