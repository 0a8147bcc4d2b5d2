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

from clinometer_measures.networks.network import Network

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
        starts = sources[first : first + SOURCES]
        part = hops[first : first + SOURCES]  # a view: `hops` is filled through it
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
    visited = np.zeros(edges.size, dtype=np.uint64)
    np.bitwise_or.at(visited, starts, bits)
    front = visited.copy()
    hops = 0
    while edges.targets.size:
        reached = np.bitwise_or.reduceat(front[edges.origins], edges.first)
        if reached.size < edges.size:
            # Some nodes have no incoming edge: back to an entry for every node.
            all_nodes = np.zeros_like(visited)
            all_nodes[edges.targets] = reached
            reached = all_nodes
        reached &= ~visited
        if not reached.any():
            return
        hops += 1
        yield hops, reached
        visited |= reached
        front = reached


def _unpack(words: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Convert a word per node to a row of booleans per bit."""
    # Little-endian, whatever the machine: octet 0 has bits 0 to 7.
    octets = words.astype("<u8").view(np.uint8).reshape(-1, 8)
    return np.unpackbits(octets, axis=1, bitorder="little").T.astype(bool)


def count_by_hops(network: Network, starts: NDArray[np.integer]) -> NDArray[np.int64]:
    """Count the ordered pairs (source, reached node) by distance; entry h: pairs h hops apart."""
    edges = _arrivals(network)
    counts = [0]
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
        # Edges as followed from the source (side 0) and from the target (side 1).
        self._weights = (forward, forward.T.tocsr() if network.directed else forward)
        self._mark = np.empty(len(network), dtype=np.intp)

    def edges(self, source: int, target: int) -> list[Edge]:
        """List the edges of all shortest paths between two different nodes, hop by hop."""
        hops = np.full((2, len(self.network)), -1, dtype=np.int32)
        hops[0, source] = hops[1, target] = 0
        fronts = [np.array([source]), np.array([target])]
        depth = [0, 0]
        meeting = fronts[0][:0]
        while not meeting.size:
            # The smaller front goes on, so that hubs are met late.
            side = int(fronts[1].size < fronts[0].size)
            _, ends, _ = self._steps(side, fronts[side])
            front = self._distinct(ends[hops[side][ends] < 0])
            if not front.size:
                return []
            depth[side] += 1
            hops[side][front] = depth[side]
            fronts[side] = front
            meeting = front[hops[1 - side][front] >= 0]
        # From the meeting nodes back to the source, and on to the target.
        backward = self._walk(1, hops[0], meeting, depth[0])
        forward = self._walk(0, hops[1], meeting, depth[1])
        edges = []
        for layer in reversed(backward):
            edges += [(start, end, weight) for end, start, weight in layer]
        for layer in forward:
            edges += layer
        return edges

    def _walk(
        self, side: int, hops: NDArray[np.int32], nodes: _Index, depth: int
    ) -> list[list[Edge]]:
        """From the nodes where both searches met, follow only edges on shortest paths."""
        layers = []
        for level in range(depth - 1, -1, -1):
            starts, ends, weights = self._steps(side, nodes)
            nearer = np.flatnonzero(hops[ends] == level)
            layer = zip(
                starts[nearer].tolist(),
                ends[nearer].tolist(),
                weights[nearer].tolist(),
                strict=True,
            )
            layers.append(list(layer))
            nodes = self._distinct(ends[nearer])
        return layers

    def _steps(self, side: int, nodes: _Index) -> tuple[_Index, _Index, NDArray[np.float64]]:
        """Return all edges from some nodes; on side 1, against their direction."""
        weights: sp.csr_array = self._weights[side]
        starts = weights.indptr[nodes]
        count = weights.indptr[nodes + 1] - starts
        until = np.cumsum(count)
        # The entries of all rows in one array: for each row its start, start + 1, …
        entries = np.arange(until[-1]) + np.repeat(starts - until + count, count)
        return (
            np.repeat(nodes, count),
            weights.indices[entries].astype(np.intp),
            weights.data[entries],
        )

    def _distinct(self, nodes: _Index) -> _Index:
        """Drop duplicates without sorting."""
        order = np.arange(nodes.size)
        self._mark[nodes] = order  # of duplicates the last one's number stays
        distinct: _Index = nodes[self._mark[nodes] == order]
        return distinct


def strongest(edges: Sequence[Edge], source: int, target: int, most: int) -> set[int]:
    """Select the strongest paths, each complete, up to `most` inner nodes.

    The strength of a path is the weight of its weakest edge; ties are broken by the sum of weights.
    At least one path is selected, even if it has more nodes. Returns the nodes of the paths, ends
    included.
    """
    backward = [(end, start, weight) for start, end, weight in reversed(edges)]
    from_source, from_target = _weakest(edges, source), _weakest(backward, target)
    # Node → weakest edge of the strongest complete path through it.
    strength = {node: min(from_source[node], from_target[node]) for node in from_source}
    selected: set[int] = {source, target}
    for least in sorted(set(strength.values()), reverse=True):
        before = _largest([edge for edge in edges if edge[2] >= least], source)
        after = _largest([edge for edge in backward if edge[2] >= least], target)
        nodes = [node for node, weakest in strength.items() if weakest == least]
        # The largest sum of weights first; the index breaks ties.
        for node in sorted(nodes, key=lambda node: (-before[node][0] - after[node][0], node)):
            path = _trace(before, node) | _trace(after, node)
            if len(selected) > 2 and len(selected | path) > most + 2:
                return selected
            selected |= path
    return selected


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
