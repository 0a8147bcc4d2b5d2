"""Spread activation from many primes; some follow exactly from their neighbours' results.

A prime need not be run if the results of all its neighbours are known. After its first step a prime
v has kept a share q of its activation and passed the rest to its neighbours u. They pass it on as
if they were primes, one step later. With M the matrix of one step and s = M[u, v] the share that v
passes to u::

    Mᵀ e_v = qᵀ e_v + Σ_u s · W_T(u),    W_T(u) = Σ_k q^(T−1−k) M^k e_u

(T an exponent). W obeys W_{k+1} = M·W_k + q^k e_u, so a prime with followers runs one step longer
than others, and its own activation is W_{T+1} − q·W_T. The result is exact. If all words are
primes, half of them can follow, which halves the time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

if TYPE_CHECKING:
    from clinometer.families.networks.spreading import Spreading

__all__ = ["BLOCK", "HOLD", "Following", "find_followers", "run_all"]

Array = NDArray[np.float64]
Places = NDArray[np.intp]
#: Indices of primes, and their activation, shape (nodes, primes of the block).
Block = tuple[Places, Array]

#: Primes per block, so that their activations and the network fit into the cache.
BLOCK = 24

#: Time per entry of a sparse product relative to a product with an array.
SPARSELY = 8

#: Bytes for results of leaders, which save running half of the primes (unused with `targets`).
HOLD = 1_200_000_000


@dataclass(frozen=True, eq=False)
class Following:
    """Which primes run, which follow, and what followers pass to their neighbours.

    Column v of `given` has what v passes to its neighbours in a step. `leaders` run and have
    followers, listed in `of`; `others` run and have none.
    """

    given: sp.csc_array
    leaders: Places
    others: Places
    of: dict[int, list[int]]

    def gives(self, follower: int) -> Iterator[tuple[int, float]]:
        """Yield the neighbours of a follower and the share passed to each."""
        at = slice(self.given.indptr[follower], self.given.indptr[follower + 1])
        yield from zip(self.given.indices[at].tolist(), self.given.data[at].tolist(), strict=True)


def find_followers(step: sp.csc_array, places: Places, kept: float, most: int) -> Following:
    """Choose followers: primes that need not run, since all their neighbours run.

    No two followers are neighbours. Words with few neighbours are chosen first. Results of leaders
    stay in memory until their last follower is computed, at most `most` at a time; to stay within
    it, followers with many neighbours are dropped. `kept` is the share of activation that a word
    without a self-loop keeps in a step.
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
        following = _choose(given, places, may[degree[may] <= limit], asked)
        if limit == 1 or _held(following) <= most:
            break
    return following


def _choose(
    given: sp.csc_array, places: Places, may: Places, asked: NDArray[np.bool_]
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
    return Following(given, places[leads[places]], others, of)


def _held(following: Following) -> int:
    """Count the leaders in memory at once if each stays until its last follower is computed."""
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


def run_all(step: sp.csc_array, places: Places, how: Spreading, hold: int) -> Iterator[Block]:
    """Run primes in blocks of neighbouring matrix rows.

    `step` is the matrix of one step, `places` are the indices of the primes in it, and `hold` is
    the memory in bytes for results of leaders.
    """
    which = np.empty(step.shape[0], dtype=np.intp)
    which[places] = np.arange(len(places))
    others = np.sort(places)
    if len(places) > BLOCK and np.ndim(how.retention) == 0 and not how.suppress:
        kept = float(np.asarray(how.retention))
        following = find_followers(step, others, kept, hold // (8 * step.shape[0]))
        for at, block in _lead(step, following, kept, how):
            yield which[at], block
        others = following.others
    for begin in range(0, len(others), BLOCK):
        at = others[begin : begin + BLOCK]
        yield which[at], _run(step, at, how)


def _lead(
    step: sp.csc_array, following: Following, retention: float, how: Spreading
) -> Iterator[Block]:
    """Run and yield leaders; yield each follower once all its leaders have run."""
    steps, start, share = how.time_steps or 0, how.start or 0.0, 1.0 - how.decay
    kept = share * retention
    waits = {f: sum(1 for _ in following.gives(f)) for fs in following.of.values() for f in fs}
    needed = {leader: len(followers) for leader, followers in following.of.items()}
    activations: dict[int, Array] = {}
    for begin in range(0, len(following.leaders), BLOCK):
        at = following.leaders[begin : begin + BLOCK]
        columns = np.arange(len(at))
        before = block = np.zeros((step.shape[0], len(at)))
        block[at, columns] = start
        for k in range(1, steps + 1):
            before, block = block, step @ block
            block *= share
            block[at, columns] += start * kept**k
        activations |= {int(leader): before[:, i].copy() for i, leader in enumerate(at)}
        before *= kept
        block -= before
        yield at, block
        ready = []
        for leader in at.tolist():
            for follower in following.of[leader]:
                waits[follower] -= 1
                ready += [follower] * (waits[follower] == 0)
        for first in range(0, len(ready), BLOCK):
            made = np.array(ready[first : first + BLOCK])
            yield made, _follow(made, following, activations, start * kept**steps, share)
        for follower in ready:
            for leader, _ in following.gives(follower):
                needed[leader] -= 1
                if not needed[leader]:
                    del activations[leader]


def _follow(
    made: Places, following: Following, activations: dict[int, Array], own: float, share: float
) -> Array:
    """Return the activation of followers: the part kept plus the parts passed on by neighbours."""
    block = np.zeros((following.given.shape[0], len(made)), order="F")
    for i, follower in enumerate(made.tolist()):
        for leader, weight in following.gives(follower):
            block[:, i] += share * weight * activations[leader]
        block[follower, i] += own
    return block


def _run(step: sp.csc_array, places: Places, how: Spreading) -> Array:
    """Spread from each of `places`, with sparse matrices while few words are reached."""
    given = np.full(len(places), how.start), (places, np.arange(len(places)))
    reached = sp.csc_array(given, shape=(step.shape[0], len(places)))
    steps, passes = how.time_steps or 0, np.diff(step.indptr)
    while steps and SPARSELY * passes[reached.indices].sum() < step.nnz * len(places):
        reached = step @ reached
        _lose(reached.data, how)
        steps -= 1
    block: Array = reached.toarray(order="C")
    for _ in range(steps):
        block = step @ block
        _lose(block, how)
    return block


def _lose(values: Array, how: Spreading) -> None:
    """Apply decay, suppression and loss of self-loops to activations, in place."""
    if how.decay:
        values *= 1 - how.decay
    if how.suppress:
        values[values < how.suppress] = 0
