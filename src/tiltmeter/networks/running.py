"""Running primes: each on its own, or led by those it neighbours."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from tiltmeter.networks.followers import Following, find_followers

if TYPE_CHECKING:
    from tiltmeter.networks.spreading import Spreading

__all__ = ["BLOCK", "HOLD", "run_all"]

Array = NDArray[np.float64]

#: Primes worked on at a time: their activations and the network then stay in the cache.
BLOCK = 24

#: How much longer an entry takes in a sparse product than in one with an array.
SPARSELY = 8

#: Bytes held so that half of many primes need not run; none where only targets are kept.
HOLD = 1_200_000_000


def run_all(
    step: sp.csc_array, places: NDArray[np.intp], how: Spreading, hold: int
) -> Iterator[tuple[NDArray[np.intp], Array]]:
    """Run primes in blocks, those near each other in the matrix together.

    Parameters
    ----------
    step
        The matrix of one step, shape (nodes, nodes).
    places
        The primes, as places in the matrix.
    how
        With steps and start.
    hold
        Bytes that may be held so that some primes need not run.

    Yields
    ------
    at : numpy.ndarray
        Which of the primes the block has.
    block : numpy.ndarray
        Shape (nodes, primes of the block): their activation.
    """
    which = np.empty(step.shape[0], dtype=np.intp)
    which[places] = np.arange(len(places))
    places = others = np.sort(places)
    if len(places) > BLOCK and np.ndim(how.retention) == 0 and not how.suppress:
        kept = float(np.asarray(how.retention))
        following = find_followers(step, places, kept, hold // (8 * step.shape[0]))
        for found, block in _lead(step, following, how):
            yield which[found], block
        others = following.others
    for begin in range(0, len(others), BLOCK):
        found = others[begin : begin + BLOCK]
        yield which[found], _run(step, found, how)


def _lead(
    step: sp.csc_array, following: Following, how: Spreading
) -> Iterator[tuple[NDArray[np.intp], Array]]:
    """Run the primes that others follow; yield those, and the others once all theirs have run."""
    steps, start, share = how.time_steps or 0, how.start or 0.0, 1.0 - how.decay
    kept = share * following.kept
    waits = {f: sum(1 for _ in following.gives(f)) for fs in following.of.values() for f in fs}
    needed = {leader: len(fs) for leader, fs in following.of.items()}
    held: dict[int, Array] = {}
    for begin in range(0, len(following.leaders), BLOCK):
        at = following.leaders[begin : begin + BLOCK]
        columns = np.arange(len(at))
        before = block = np.zeros((step.shape[0], len(at)))
        block[at, columns] = start
        for k in range(1, steps + 1):
            before, block = block, step @ block
            block *= share
            block[at, columns] += start * kept**k
        held |= {int(leader): before[:, i].copy() for i, leader in enumerate(at)}
        before *= kept
        block -= before
        yield at, block
        ready = []
        for leader in at.tolist():
            for follower in following.of[leader]:
                waits[follower] -= 1
                ready += [follower] * (waits[follower] == 0)
        for first in range(0, len(ready), BLOCK):
            made = ready[first : first + BLOCK]
            yield np.array(made), _follow(made, following, held, (start * kept**steps, share))
        for follower in ready:
            for leader, _ in following.gives(follower):
                needed[leader] -= 1
                if not needed[leader]:
                    del held[leader]


def _follow(
    made: list[int], following: Following, held: dict[int, Array], ends: tuple[float, float]
) -> Array:
    """Give the activation of followers: what they kept, and what their neighbours passed on."""
    own, share = ends
    block = np.zeros((following.given.shape[0], len(made)), order="F")
    for i, follower in enumerate(made):
        for leader, weight in following.gives(follower):
            block[:, i] += share * weight * held[leader]
        block[follower, i] += own
    return block


def _run(step: sp.csc_array, places: NDArray[np.intp], how: Spreading) -> Array:
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
