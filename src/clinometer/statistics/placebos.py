"""An estimate beside the same measure where there is nothing to find, its placebos.

Phipson & Smyth (2010), Stat. Appl. Genet. Mol. Biol. 9(1), 39: the observed value counts as one of
the placebos, so p is never 0, and ties count. The test is two-sided, and distances are taken from
the median of all values: a placebo distribution need not lie around the neutral value of its
measure. p is uniform if the observed value is exchangeable with the placebos.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clinometer.statistics.intervals import quantile, tails

Array = NDArray[np.float64]

#: Distances closer than this share of the largest value are ties.
_TIE = 1e-6


class Placed(NamedTuple):
    """Where values lie among their placebos; each field has a number per value."""

    p: Array  # two-sided
    mean: Array  # of the placebos
    low: Array  # ends of their percentile interval
    high: Array


def place(estimate: ArrayLike, placebos: ArrayLike, *, confidence: float = 0.95) -> Placed:
    """Find values among their placebos.

    Parameters
    ----------
    estimate
        Shape (…,); nan where there is no number, and all results are nan there.
    placebos
        Shape (…, draws): the same measure where there is nothing to find.
    confidence
        Confidence level of the interval of the placebos.

    Examples
    --------
    >>> placed = place(0.9, [0.1, 0.2, 0.3, 0.4])
    >>> float(placed.p), float(placed.mean)
    (0.2, 0.25)
    """
    observed = np.asarray(estimate, np.float64)[..., None]
    draws = np.asarray(placebos, np.float64)
    # The observed value is one of them.
    values = np.concatenate([observed, draws], axis=-1)
    p = share_as_far(values)
    low, high = quantile(draws, tails(confidence), fewest=draws.shape[-1])
    has_number = ~np.isnan(values).any(axis=-1)
    return Placed(
        p=np.where(has_number, p, np.nan),
        mean=np.where(has_number, draws.mean(axis=-1), np.nan),
        low=np.where(has_number, low, np.nan),
        high=np.where(has_number, high, np.nan),
    )


def share_as_far(values: Array) -> Array:
    """Give the share of values, shape (…, n) → (…), at least as far from the median as the first.

    This is p of an observed value that is followed by its placebos.
    """
    distance = np.abs(values - np.median(values, axis=-1, keepdims=True))
    tie = _TIE * np.abs(values).max(axis=-1, keepdims=True)
    return np.asarray(np.mean(distance >= distance[..., :1] - tie, axis=-1))


def shuffle_labels(n_first: int, n_second: int, draws: int, rng: np.random.Generator) -> Array:
    """Give weights of a difference of two means with membership shuffled.

    Shape (draws, n_first + n_second): 1 / n_first for members of the first group and −1 / n_second
    for those of the second.
    """
    labelled = np.repeat([1 / n_first, -1 / n_second], [n_first, n_second])
    return rng.permuted(np.tile(labelled, (draws, 1)), axis=1)
