"""Words whose activation follows from that of their neighbours, so that they need no run.

After its first step a prime v has kept a share q of its activation and given the rest to its
neighbours u. What those pass on is what they would pass on as primes, only later. With M the
matrix of one step and s = M[u, v] what v gives to u::

    Mᵀ e_v = qᵀ e_v + Σ_u s · W_T(u),    W_T(u) = Σ_k q^(T−1−k) M^k e_u

(T an exponent). W obeys W_{k+1} = M·W_k + q^k e_u, so a prime with followers runs as any other
does, one step longer, and its own activation is W_{T+1} − q·W_T. All of it is exact. Where all
words are primes, half of them can follow, and the time halves.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

__all__ = ["Following", "find_followers"]

Places = NDArray[np.intp]
Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Following:
    """Which primes run, which follow, and what a follower gives to whom.

    Parameters
    ----------
    given
        Column v: what v gives to its neighbours in a step.
    kept
        The share q that a follower keeps.
    leaders, others
        Places of primes that run, with followers and without.
    of
        Leader → its followers.
    """

    given: sp.csc_array
    kept: float
    leaders: Places
    others: Places
    of: dict[int, list[int]]

    def gives(self, follower: int) -> Iterator[tuple[int, float]]:
        """Yield the neighbours of a follower and what each is given."""
        at = slice(self.given.indptr[follower], self.given.indptr[follower + 1])
        yield from zip(self.given.indices[at].tolist(), self.given.data[at].tolist(), strict=True)


def find_followers(step: sp.csc_array, places: Places, kept: float, most: int) -> Following:
    """Choose primes that need no run: no two of them are neighbours, and all neighbours run.

    Words with few neighbours are taken first. Leaders are held until their last follower is made;
    followers with many neighbours are left out as far as that keeps the number held down.

    Parameters
    ----------
    step
        The matrix of one step, shape (nodes, nodes).
    places
        The primes.
    kept
        What a word without a self-loop keeps of its activation in a step.
    most
        Leaders held at a time.

    Returns
    -------
    Following
    """
    given = step.copy()
    alike = np.isclose(step.diagonal(), kept, rtol=1e-12, atol=0.0)
    given.setdiag(0.0)
    given.eliminate_zeros()
    degree = np.diff(given.indptr)
    asked = np.zeros(step.shape[0], dtype=bool)
    asked[places] = True
    may = places[(alike & (degree > 0))[places]]
    limits = sorted({*range(1, 9), int(degree.max(initial=1))}, reverse=True)
    for limit in limits:
        following = _choose(given, kept, places, may[degree[may] <= limit], asked)
        if limit == 1 or _held(following, places) <= most:
            break
    return following


def _choose(
    given: sp.csc_array, kept: float, places: Places, may: Places, asked: NDArray[np.bool_]
) -> Following:
    starts, indices = given.indptr, given.indices
    leads, follows = np.zeros(asked.size, dtype=bool), np.zeros(asked.size, dtype=bool)
    of: dict[int, list[int]] = {}
    for place in may[np.argsort(np.diff(starts)[may], kind="stable")].tolist():
        near = indices[starts[place] : starts[place + 1]]
        if leads[place] or follows[near].any() or not asked[near].all():
            continue
        follows[place], leads[near] = True, True
        for leader in near.tolist():
            of.setdefault(leader, []).append(place)
    others = places[~leads[places] & ~follows[places]]
    return Following(given, kept, places[leads[places]], others, of)


def _held(following: Following, places: Places) -> int:
    """Count the leaders held at once, run in their order, each until its last follower is made."""
    turn = {int(leader): at for at, leader in enumerate(following.leaders)}
    made = {
        follower: max(turn[leader] for leader, _ in following.gives(follower))
        for followers in following.of.values()
        for follower in followers
    }
    change = np.zeros(len(turn) + 1, dtype=np.int64)
    for leader, at in turn.items():
        change[at] += 1
        change[max(made[follower] for follower in following.of[leader]) + 1] -= 1
    return int(np.cumsum(change).max(initial=0))
