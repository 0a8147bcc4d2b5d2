"""Fractions of a full factorial: few framings in which the levels of all factors are balanced.

Reference
    Xu (2002), Technometrics 44(4), 356–368: J₂, the sum over pairs of runs of the square of what
    they have in common, each factor weighted by its number of levels. It is smallest where every
    two factors are orthogonal; a fraction near that is nearly orthogonal.

Deviations from the source
    All factors are improved in turns, from several starts, instead of one after the other. All
    numbers are whole, so that a fraction is the same on every machine.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

__all__ = ["balanced_fraction", "effect_columns"]

Levels = NDArray[np.int64]
Array = NDArray[np.float64]

#: Starts, and turns over all factors from each.
_STARTS, _TURNS = 12, 30

#: What two runs that must not be alike weigh, beyond any square of what runs have in common.
_ALIKE = 10_000


@lru_cache(maxsize=32)
def balanced_fraction(
    n_levels: tuple[int, ...], n_runs: int, distinct: tuple[int, ...] = ()
) -> tuple[tuple[int, ...], ...]:
    """Return the runs of a fraction: of each, the level of every factor.

    Every level of a factor stands equally often, or once more. `n_levels`: of each factor.
    `distinct`: the factors in which no two runs may be alike, as far as there are so many
    combinations.

    Examples
    --------
    >>> balanced_fraction((2, 2), 4) == balanced_fraction((2, 2), 4)
    True
    >>> sorted(balanced_fraction((2, 2), 4))
    [(0, 0), (0, 1), (1, 0), (1, 1)]
    """
    fractions = []
    for start in range(_STARTS):
        rng = random.Random(f"{n_levels}/{n_runs}/{start}")
        columns = [rng.sample([k % n for k in range(n_runs)], k=n_runs) for n in n_levels]
        runs = np.array(columns, dtype=np.int64).T
        value = _improve(runs, n_levels, distinct)
        fractions.append((value, sorted(map(tuple, runs.tolist()))))
    return tuple(min(fractions)[1])


def _improve(runs: Levels, n_levels: Sequence[int], distinct: Sequence[int]) -> int:
    """Exchange levels between runs as long as it lowers J₂; return the J₂ reached."""
    same = [runs[:, k][:, None] == runs[:, k] for k in range(len(n_levels))]
    for _ in range(_TURNS):
        is_changed = False
        for k in range(len(n_levels)):
            weights = _weights(same, n_levels, distinct, k)
            while _exchange(runs[:, k], weights, n_levels[k]):
                is_changed = True
            same[k] = runs[:, k][:, None] == runs[:, k]
        if not is_changed:
            break
    common = sum(n * s.astype(np.int64) for n, s in zip(n_levels, same, strict=True))
    alike = np.logical_and.reduce([same[k] for k in distinct]) if distinct else np.eye(len(runs))
    upper = np.triu_indices(len(runs), 1)
    return int((common[upper] ** 2).sum() + _ALIKE * np.asarray(alike)[upper].sum())


def _weights(
    same: Sequence[NDArray[np.bool_]], n_levels: Sequence[int], distinct: Sequence[int], k: int
) -> Levels:
    """Return what J₂ gains if two runs have the same level of factor k: (runs, runs)."""
    weighted_matches = [
        n * s.astype(np.int64)
        for i, (n, s) in enumerate(zip(n_levels, same, strict=True))
        if i != k
    ]
    shape = same[k].shape
    # Σ (w + c)² − Σ w² = c² + 2wc; c² is the same for all, as levels stay balanced.
    weights = 2 * n_levels[k] * sum(weighted_matches, np.zeros(shape, np.int64))
    if k in distinct:
        rest = [same[i] for i in distinct if i != k]
        alike = np.logical_and.reduce(rest) if rest else np.ones(shape, bool)
        weights = weights + _ALIKE * alike
    np.fill_diagonal(weights, 0)
    return weights


def _exchange(levels: Levels, weights: Levels, n: int) -> bool:
    """Exchange the levels of the two runs for which this gains most; False where nothing does."""
    # Of each run and level, what the run would have in common with those that have the level.
    in_common = weights @ (levels[:, None] == np.arange(n)).astype(np.int64)
    stays = in_common[np.arange(len(levels)), levels]
    moves = in_common[:, levels]  # run a to the level of run b
    gain = moves + moves.T - 2 * weights - stays[:, None] - stays
    gain[levels[:, None] == levels] = 0
    place = int(gain.argmin())
    if gain.flat[place] >= 0:
        return False
    a, b = divmod(place, len(levels))
    levels[a], levels[b] = levels[b], levels[a]
    return True


def effect_columns(runs: Levels | Sequence[Sequence[int]], n_levels: Sequence[int]) -> list[Array]:
    """Return the columns of each factor: of levels but the first, 1, or −1 at the first level.

    Each has shape (runs, levels − 1). Coefficients are departures from the mean over levels.
    """
    table = np.asarray(runs, dtype=np.int64)
    columns = []
    for k, n in enumerate(n_levels):
        codes = np.eye(n)[table[:, k]]
        columns.append(codes[:, 1:] - codes[:, :1])
    return columns
