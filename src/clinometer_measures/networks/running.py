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
    from clinometer_measures.networks.spreading import Spreading

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

    Column v of `shares` has the shares of its activation that v passes to its neighbours in a
    step. `leaders` run and have followers, listed in `followers`; `unfollowed` run and have none.
    """

    shares: sp.csc_array
    leaders: Places
    unfollowed: Places
    followers: dict[int, list[int]]

    def neighbours(self, follower: int) -> Iterator[tuple[int, float]]:
        """Yield the neighbours of a follower and the share passed to each."""
        column = slice(self.shares.indptr[follower], self.shares.indptr[follower + 1])
        nodes = self.shares.indices[column].tolist()
        yield from zip(nodes, self.shares.data[column].tolist(), strict=True)


def find_followers(step: sp.csc_array, places: Places, retention: float, most: int) -> Following:
    """Choose followers: primes that need not run, since all their neighbours run.

    No two followers are neighbours. Words with few neighbours are chosen first. Results of leaders
    stay in memory until their last follower is computed, at most `most` at a time; to stay within
    it, followers with many neighbours are dropped. `retention` is the share of activation that a
    word without a self-loop keeps in a step.
    """
    shares = step.copy()
    # A word with a self-loop keeps more than `retention`: the formula does not hold for it.
    no_loop = np.isclose(step.diagonal(), retention, rtol=1e-12, atol=0.0)
    shares.setdiag(0.0)
    shares.eliminate_zeros()
    degree = np.diff(shares.indptr)
    is_prime = np.zeros(step.shape[0], dtype=bool)
    is_prime[places] = True
    candidates = places[(no_loop & (degree > 0))[places]]
    # Most neighbours that a follower may have: first any number, then fewer until memory suffices.
    limits = sorted({*range(1, 9), int(degree.max(initial=1))}, reverse=True)
    for limit in limits:
        following = _choose_followers(
            shares, places, candidates[degree[candidates] <= limit], is_prime
        )
        if limit == 1 or _count_simultaneous(following) <= most:
            break
    return following


def _choose_followers(
    shares: sp.csc_array, places: Places, candidates: Places, is_prime: NDArray[np.bool_]
) -> Following:
    starts, indices = shares.indptr, shares.indices
    leads = np.zeros(is_prime.size, dtype=bool)
    follows = np.zeros(is_prime.size, dtype=bool)
    followers: dict[int, list[int]] = {}
    by_degree = np.argsort(np.diff(starts)[candidates], kind="stable")
    for place in candidates[by_degree].tolist():
        near = indices[starts[place] : starts[place + 1]]
        if leads[place] or follows[near].any() or not is_prime[near].all():
            continue
        follows[place] = True
        leads[near] = True
        for leader in near.tolist():
            followers.setdefault(leader, []).append(place)
    unfollowed = places[~leads[places] & ~follows[places]]
    return Following(shares, places[leads[places]], unfollowed, followers)


def _count_simultaneous(following: Following) -> int:
    """Count the leaders in memory at once if each stays until its last follower is computed."""
    turns = {int(leader): turn for turn, leader in enumerate(following.leaders)}
    # Follower → the turn of its last leader, at which it is computed.
    ready: dict[int, int] = {}
    for leader, turn in turns.items():
        for follower in following.followers[leader]:
            ready[follower] = turn  # turns increase: the last one stays
    change = np.zeros(len(turns) + 1, dtype=np.int64)
    for leader, turn in turns.items():
        change[turn] += 1
        change[max(ready[follower] for follower in following.followers[leader]) + 1] -= 1
    return int(np.cumsum(change).max(initial=0))


def run_all(step: sp.csc_array, places: Places, spreading: Spreading, hold: int) -> Iterator[Block]:
    """Run primes in blocks of neighbouring matrix rows.

    `step` is the matrix of one step, `places` are the indices of the primes in it, and `hold` is
    the memory in bytes for results of leaders.
    """
    prime_indices = np.empty(step.shape[0], dtype=np.intp)  # row of the matrix → index of the prime
    prime_indices[places] = np.arange(len(places))
    remaining = np.sort(places)
    # The formula above needs one retention and linear steps, which suppression is not.
    if len(places) > BLOCK and np.ndim(spreading.retention) == 0 and not spreading.suppress:
        retention = float(np.asarray(spreading.retention))
        following = find_followers(step, remaining, retention, hold // (8 * step.shape[0]))
        for batch, block in _lead(step, following, retention, spreading):
            yield prime_indices[batch], block
        remaining = following.unfollowed
    for begin in range(0, len(remaining), BLOCK):
        batch = remaining[begin : begin + BLOCK]
        yield prime_indices[batch], _run(step, batch, spreading)


def _lead(
    step: sp.csc_array, following: Following, retention: float, spreading: Spreading
) -> Iterator[Block]:
    """Run and yield leaders; yield each follower once all its leaders have run."""
    share = 1.0 - spreading.decay
    retained_share = share * retention
    retained_start = (spreading.start or 0.0) * retained_share ** (spreading.time_steps or 0)
    # Follower → leaders that have not run; leader → followers that still need it.
    waits: dict[int, int] = {}
    needed: dict[int, int] = {}
    for leader, followers in following.followers.items():
        needed[leader] = len(followers)
        for follower in followers:
            waits[follower] = waits.get(follower, 0) + 1
    activations: dict[int, Array] = {}
    for begin in range(0, len(following.leaders), BLOCK):
        batch = following.leaders[begin : begin + BLOCK]
        passed_activation, block = _run_leaders(step, batch, spreading, retained_share)
        activations |= {
            int(leader): passed_activation[:, i].copy() for i, leader in enumerate(batch)
        }
        # Their own activation: W_{T+1} − q·W_T.
        passed_activation *= retained_share
        block -= passed_activation
        yield batch, block
        ready = []
        for leader in batch.tolist():
            for follower in following.followers[leader]:
                waits[follower] -= 1
                ready += [follower] * (waits[follower] == 0)
        for first in range(0, len(ready), BLOCK):
            computed = np.array(ready[first : first + BLOCK])
            yield computed, _follow(computed, following, activations, retained_start, share)
        for follower in ready:
            for leader, _ in following.neighbours(follower):
                needed[leader] -= 1
                if not needed[leader]:
                    del activations[leader]


def _run_leaders(
    step: sp.csc_array, leaders: Places, spreading: Spreading, retained_share: float
) -> tuple[Array, Array]:
    """Return W_T and W_{T+1} of the formula above, shape (nodes, leaders)."""
    start = spreading.start or 0.0
    share = 1.0 - spreading.decay
    columns = np.arange(len(leaders))
    before = block = np.zeros((step.shape[0], len(leaders)))
    block[leaders, columns] = start
    for k in range(1, (spreading.time_steps or 0) + 1):
        before, block = block, step @ block
        block *= share
        block[leaders, columns] += start * retained_share**k
    return before, block


def _follow(
    batch: Places,
    following: Following,
    activations: dict[int, Array],
    retained_start: float,
    share: float,
) -> Array:
    """Return the activation of followers: the part kept plus the parts passed on by neighbours."""
    # Written column by column.
    block = np.zeros((following.shares.shape[0], len(batch)), order="F")
    for i, follower in enumerate(batch.tolist()):
        for leader, weight in following.neighbours(follower):
            block[:, i] += share * weight * activations[leader]
        block[follower, i] += retained_start
    return block


def _run(step: sp.csc_array, places: Places, spreading: Spreading) -> Array:
    """Spread from each of `places`, with sparse matrices while few words are reached."""
    columns = np.arange(len(places))
    activations = np.full(len(places), spreading.start)
    reached = sp.csc_array((activations, (places, columns)), shape=(step.shape[0], len(places)))
    steps = spreading.time_steps or 0
    passes = np.diff(step.indptr)  # per word, how many it passes activation to
    # As long as a sparse product with the words reached costs less than one with all of them.
    while steps and SPARSELY * passes[reached.indices].sum() < step.nnz * len(places):
        reached = step @ reached
        _lose(reached.data, spreading)
        steps -= 1
    block: Array = reached.toarray(order="C")
    for _ in range(steps):
        block = step @ block
        _lose(block, spreading)
    return block


def _lose(values: Array, spreading: Spreading) -> None:
    """Apply decay, suppression and loss of self-loops to activations, in place."""
    if spreading.decay:
        values *= 1 - spreading.decay
    if spreading.suppress:
        values[values < spreading.suppress] = 0
