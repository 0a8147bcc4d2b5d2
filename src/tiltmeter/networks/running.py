"""Running primes: each on its own, or led by those it neighbours.

Words whose activation follows from that of their neighbours need no run. After its first step a
prime v has kept a share q of its activation and given the rest to its neighbours u. What those
pass on is what they would pass on as primes, only later. With M the matrix of one
step and s = M[u, v] what v gives to u::

    Mᵀ e_v = qᵀ e_v + Σ_u s · W_T(u),    W_T(u) = Σ_k q^(T−1−k) M^k e_u

(T an exponent). W obeys W_{k+1} = M·W_k + q^k e_u, so a prime with followers runs as any other
does, one step longer, and its own activation is W_{T+1} − q·W_T. All of it is exact. Where all
words are primes, half of them can follow, and the time halves.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

if TYPE_CHECKING:
    from tiltmeter.networks.spreading import Spreading

__all__ = ["BLOCK", "HOLD", "Following", "find_followers", "run_all"]

Array = NDArray[np.float64]
Places = NDArray[np.intp]
#: Which primes, and their activation, shape (nodes, primes of the block).
Block = tuple[Places, Array]

#: Primes worked on at a time: their activations and the network then stay in the cache.
BLOCK = 24

#: How much longer an entry takes in a sparse product than in one with an array.
SPARSELY = 8

#: Bytes held so that half of many primes need not run; none where only targets are kept.
HOLD = 1_200_000_000


@dataclass(frozen=True, eq=False)
class Following:
    """Which primes run, which follow, and what a follower gives to whom.

    Column v of `given` is what v gives to its neighbours in a step; `leaders` and `others` run,
    with followers and without, and `of` lists a leader's followers.
    """

    given: sp.csc_array
    leaders: Places
    others: Places
    of: dict[int, list[int]]

    def gives(self, follower: int) -> Iterator[tuple[int, float]]:
        """Yield the neighbours of a follower and what each is given."""
        at = slice(self.given.indptr[follower], self.given.indptr[follower + 1])
        yield from zip(self.given.indices[at].tolist(), self.given.data[at].tolist(), strict=True)


def find_followers(step: sp.csc_array, places: Places, kept: float, most: int) -> Following:
    """Choose primes that need no run: no two of them are neighbours, and all neighbours run.

    Words with few neighbours are taken first. Leaders are held until their last follower is made,
    at most `most` at a time; followers with many neighbours are left out as far as that helps.
    `kept` is what a word without a self-loop keeps of its activation in a step.
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


def run_all(step: sp.csc_array, places: Places, how: Spreading, hold: int) -> Iterator[Block]:
    """Run primes in blocks, those near each other in the matrix together.

    `step` is the matrix of one step, `places` are the primes in it; `hold` bytes may be held so
    that some primes need not run.
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
    """Run the primes that others follow; yield those, and the others once all theirs have run."""
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
    """Give the activation of followers: what they kept, and what their neighbours passed on."""
    block = np.zeros((following.given.shape[0], len(made)), order="F")
    for i, follower in enumerate(made.tolist()):
        for leader, weight in following.gives(follower):
            block[:, i] += share * weight * activations[leader]
        block[follower, i] += own
    return block


def _run(step: sp.csc_array, places: Places, how: Spreading) -> Array:
    """Spread from each of `places`, sparsely while few words are reached."""
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
    """Take from activations, in place, what a step loses."""
    if how.decay:
        values *= 1 - how.decay
    if how.suppress:
        values[values < how.suppress] = 0
