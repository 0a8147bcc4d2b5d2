"""What each unit counts for in a mean over these prompts, and in which stratum it is.

Measures
    Each stereotype counts once in a mean, and within it each scored answer. Wordings are strata of
    a stereotype: what they differ by is no error where they are fixed. A single unit tells nothing
    of a variance, so that a wording with one joins the next, and the last joins the one before; a
    stereotype with one joins the next. The rule sees the order of wordings and the number of their
    units, and no answer. What joined wordings differ by widens intervals.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clinometer.errors import InputError
from clinometer.statistics.clustered import Array

Codes = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class UnitWeights:
    """How units count in a mean, whatever their values; arrays have shape (n,)."""

    shares: Array  # of the mean, 1 in total
    strata: Codes

    def stratum_means(self, values: Array) -> Array:
        """Return the mean of the stratum of each unit, (n,)."""
        sums = np.bincount(self.strata, self.shares * values)
        return (sums / np.bincount(self.strata, self.shares))[self.strata]

    def variance(self, values: Array) -> float:
        """Return the variance of the mean within strata: CR2, each unit a cluster."""
        leverage_complement = 1.0 - self.shares / np.bincount(self.strata, self.shares)[self.strata]
        residuals = self.shares * (values - self.stratum_means(values))
        several = leverage_complement > 0  # false for a single unit, which has no residual
        return float(np.sum(residuals[several] ** 2 / leverage_complement[several]))


def weigh_units(weights: ArrayLike, stereotypes: ArrayLike, wordings: ArrayLike) -> UnitWeights:
    """Give each stereotype the same share, divided among its units by their weights.

    Parameters
    ----------
    weights
        Numbers above 0, shape (n,).
    stereotypes, wordings
        Labels, shape (n,); wordings are joined in the order of theirs.

    Raises
    ------
    InputError
        If there is no unit, a weight is not above 0, or shapes differ.
    """
    counts = np.asarray(weights, dtype=np.float64)
    labels = [np.asarray(raw_labels) for raw_labels in (stereotypes, wordings)]
    if counts.ndim != 1 or any(label.shape != counts.shape for label in labels):
        shapes = ", ".join(str(array.shape) for array in (counts, *labels))
        raise InputError(
            f"weights, stereotypes, wordings: shapes {shapes}; needs one of each for every unit"
        )
    if not (len(counts) and (counts > 0).all()):
        raise InputError("weights: none, or not above 0; leave out units without a score")
    stereotype_codes, wording_codes = map(_codes, labels)
    totals = np.bincount(stereotype_codes, counts)
    shares = counts / totals[stereotype_codes] / len(totals)
    return UnitWeights(shares, _join_wordings(stereotype_codes, wording_codes))


def _codes(labels: NDArray[np.generic]) -> Codes:
    """Return labels as numbers from 0 on, in their order."""
    if (labels == labels[0]).all():
        return np.zeros(len(labels), dtype=np.intp)
    return np.asarray(np.unique(labels, return_inverse=True)[1], dtype=np.intp)


def _join_wordings(stereotypes: Codes, wordings: Codes) -> Codes:
    """Return the stratum of each unit: its wording, joined with others if it has a single unit."""
    n_wordings = int(wordings.max()) + 1
    cells, places = np.unique(stereotypes * n_wordings + wordings, return_inverse=True)
    sizes = np.bincount(places)
    if (sizes > 1).all():
        return np.asarray(places, dtype=np.intp)
    strata: list[int] = []
    for stereotype in range(int(stereotypes.max()) + 1):
        first = strata[-1] + 1 if strata else 0
        merged = _join_singles(sizes[cells // n_wordings == stereotype])
        strata += [first + stratum for stratum in merged]
    codes = np.array(strata, dtype=np.intp)[places]
    several = _join_singles(np.bincount(codes))  # over stereotypes, where one has a single unit
    return np.asarray(np.array(several)[codes], dtype=np.intp)


def _join_singles(sizes: Codes) -> list[int]:
    """Give members a number each; one of a single unit joins the next, the last the one before."""
    numbers: list[int] = []
    number = units = 0
    for size in sizes:
        numbers.append(number)
        units += size
        if units > 1:
            number, units = number + 1, 0
    last = max(number - 1, 0)
    return [min(number, last) for number in numbers]
