"""Distances between words in hops, and all shortest paths between two words.

Distances come from breadth-first search from 64 words at a time. Each node has 64 bits, one per
source, and a level of the search is one bitwise OR over the neighbours of every node (Then et al.
2014, "The more the merrier: efficient multi-source graph traversal", PVLDB 8(4)); 64 sources cost
as much as one. Weights and self-loops are ignored. Shortest paths are not enumerated: functions
return the edges of all of them, by hop, and the nodes of the strongest.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from clinometer.families.networks.network import Network

__all__ = ["SOURCES", "ShortestPaths", "count_by_hops", "distances", "strongest"]

#: Sources per search: the bits of a word.
SOURCES = 64
#: The distance of an unreachable node.
UNREACHABLE = -1


def distances(network: Network, sources: NDArray[np.integer]) -> NDArray[np.int32]:
    """Count the hops from some nodes (indices of `Network.places`) to all nodes.

    Shape (sources, nodes), int32; −1 where there is no path. Edges of a directed network are
    followed forwards.
    """
    edges = _arrivals(network)
    hops = np.full((len(sources), len(network)), UNREACHABLE, dtype=np.int32)
    for first in range(0, len(sources), SOURCES):
        starts, part = sources[first : first + SOURCES], hops[first : first + SOURCES]
        part[np.arange(len(starts)), starts] = 0
        for level, reached in _levels(edges, starts):
            part[_unpack(reached)[: len(starts)]] = level
    return hops


class Arrivals(NamedTuple):
    """The edges of a network, in the order of the nodes they lead to."""

    size: int
    targets: NDArray[np.intp]  # nodes with incoming edges
    first: NDArray[np.intp]  # for each, the index of its first edge
    origins: NDArray[np.intp]  # source of each edge


def _arrivals(network: Network) -> Arrivals:
    """Sort the edges of a network by the nodes they lead to."""
    matrix = sp.csr_array(network.weights.T) if network.directed else network.weights
    # reduceat gives an empty row the next row's first entry: rows without entries are left out.
    targets = np.flatnonzero(np.diff(matrix.indptr))
    first = matrix.indptr[targets].astype(np.intp)
    return Arrivals(len(network), targets, first, matrix.indices.astype(np.intp))


def _levels(
    edges: Arrivals, starts: NDArray[np.integer]
) -> Iterator[tuple[int, NDArray[np.uint64]]]:
    """Search from at most 64 nodes, level by level.

    Yields the hops (from 1), and per node a word whose bit j is set where the node is first reached
    from source j at this level.
    """
    bits = np.uint64(1) << np.arange(len(starts), dtype=np.uint64)
    seen = np.zeros(edges.size, dtype=np.uint64)
    np.bitwise_or.at(seen, starts, bits)
    front, hops = seen.copy(), 0
    while edges.targets.size:
        reached = np.bitwise_or.reduceat(front[edges.origins], edges.first)
        if reached.size < edges.size:
            everywhere = np.zeros_like(seen)
            everywhere[edges.targets] = reached
            reached = everywhere
        reached &= ~seen
        if not reached.any():
            return
        hops += 1
        yield hops, reached
        seen |= reached
        front = reached


def _unpack(words: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Convert a word per node to a row of booleans per bit."""
    octets = words.astype("<u8").view(np.uint8).reshape(-1, 8)
    return np.unpackbits(octets, axis=1, bitorder="little").T.astype(bool)


def count_by_hops(network: Network, starts: NDArray[np.integer]) -> NDArray[np.int64]:
    """Count the ordered pairs (source, reached node) by distance; entry h: pairs h hops apart."""
    edges, counts = _arrivals(network), [0]
    for first in range(0, len(starts), SOURCES):
        for hops, reached in _levels(edges, starts[first : first + SOURCES]):
            if hops == len(counts):
                counts.append(0)
            counts[hops] += int(np.bitwise_count(reached).sum())
    return np.array(counts, dtype=np.int64)


#: From, to, weight.
Edge = tuple[int, int, float]

_Index = NDArray[np.intp]


class ShortestPaths:
    """The shortest paths of a network, by bidirectional search.

    In a directed network edges are followed from cue to answer.
    """

    def __init__(self, network: Network) -> None:
        self.network = network
        forward = network.weights
        self._ways = (forward, forward.T.tocsr() if network.directed else forward)
        self._mark = np.empty(len(network), dtype=np.intp)

    def edges(self, source: int, target: int) -> list[Edge]:
        """List the edges of all shortest paths between two different nodes, hop by hop."""
        hops = np.full((2, len(self.network)), -1, dtype=np.int32)
        hops[0, source] = hops[1, target] = 0
        fronts = [np.array([source]), np.array([target])]
        depth = [0, 0]
        met = fronts[0][:0]
        while not met.size:
            side = int(fronts[1].size < fronts[0].size)
            _, ends, _ = self._steps(side, fronts[side])
            front = self._once(ends[hops[side][ends] < 0])
            if not front.size:
                return []
            depth[side] += 1
            hops[side][front] = depth[side]
            fronts[side] = front
            met = front[hops[1 - side][front] >= 0]
        back, on = self._walk(1, hops[0], met, depth[0]), self._walk(0, hops[1], met, depth[1])
        turned = [(start, end, weight) for layer in reversed(back) for end, start, weight in layer]
        return turned + [edge for layer in on for edge in layer]

    def _walk(
        self, side: int, hops: NDArray[np.int32], met: _Index, depth: int
    ) -> list[list[Edge]]:
        """From the nodes where both searches met, follow only edges on shortest paths."""
        layers = []
        for left in range(depth - 1, -1, -1):
            starts, ends, weights = self._steps(side, met)
            nearer = np.flatnonzero(hops[ends] == left)
            columns = (values[nearer].tolist() for values in (starts, ends, weights))
            layers.append(list(zip(*columns, strict=True)))
            met = self._once(ends[nearer])
        return layers

    def _steps(self, side: int, nodes: _Index) -> tuple[_Index, _Index, NDArray[np.float64]]:
        """Return all edges from some nodes; on side 1, against their direction."""
        ways: sp.csr_array = self._ways[side]
        first = ways.indptr[nodes]
        count = ways.indptr[nodes + 1] - first
        until = np.cumsum(count)
        at = np.arange(until[-1]) + np.repeat(first - until + count, count)
        return np.repeat(nodes, count), ways.indices[at].astype(np.intp), ways.data[at]

    def _once(self, nodes: _Index) -> _Index:
        """Drop duplicates without sorting."""
        order = np.arange(nodes.size)
        self._mark[nodes] = order
        kept: _Index = nodes[self._mark[nodes] == order]
        return kept


def strongest(edges: Sequence[Edge], source: int, target: int, most: int) -> set[int]:
    """Select the strongest paths, each complete, up to `most` inner nodes.

    The strength of a path is the weight of its weakest edge; ties are broken by the sum of weights.
    At least one path is selected, even if it has more nodes. Returns the nodes of the paths, ends
    included.
    """
    turned = [(end, start, weight) for start, end, weight in reversed(edges)]
    to, onward = _weakest(edges, source), _weakest(turned, target)
    strength = {node: min(to[node], onward[node]) for node in to}
    shown: set[int] = {source, target}
    for least in sorted(set(strength.values()), reverse=True):
        before = _largest([edge for edge in edges if edge[2] >= least], source)
        after = _largest([edge for edge in turned if edge[2] >= least], target)
        new = [node for node, value in strength.items() if value == least]
        for node in sorted(new, key=lambda node: (-before[node][0] - after[node][0], node)):
            path = _trace(before, node) | _trace(after, node)
            if len(shown) > 2 and len(shown | path) > most + 2:
                return shown
            shown |= path
    return shown


def _weakest(edges: Sequence[Edge], source: int) -> dict[int, float]:
    """Return, per node, the weakest edge of the strongest path to it."""
    best: defaultdict[int, float] = defaultdict(float, {source: math.inf})
    for start, end, weight in edges:
        best[end] = max(best[end], min(best[start], weight))
    return best


def _largest(edges: Sequence[Edge], source: int) -> dict[int, tuple[float, int]]:
    """Return, per node, the largest sum of weights on a path to it, and its predecessor."""
    best = {source: (0.0, source)}
    for start, end, weight in edges:
        if start in best:
            total = best[start][0] + weight
            if end not in best or total > best[end][0]:
                best[end] = (total, start)
    return best


def _trace(best: Mapping[int, tuple[float, int]], node: int) -> set[int]:
    """Follow predecessors back to the source."""
    path = {node}
    while best[node][1] != node:
        node = best[node][1]
        path.add(node)
    return path
