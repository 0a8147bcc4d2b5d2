"""Network structure: size, density, path lengths, clustering, and the overlap of two networks.

Density, average degree and overlap are defined as by Abramski, Rossetti & Stella (2025,
arXiv:2510.24488, Table 1) and in the network comparison of their data set LWOW (Abramski et al.
2024, arXiv:2412.01330). Path lengths are in hops, without weights. Self-loops count only in the
number of edges.

The diameter is exact, without a search from every word: each search gives upper bounds for the
eccentricity of all other words (Takes & Kosters 2011, "Determining the diameter of small world
networks", CIKM), and words whose bound does not exceed the longest distance found are skipped.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from clinometer.errors import InputError
from clinometer_measures.networks.hops import SOURCES, count_by_hops, distances
from clinometer_measures.networks.network import Network, check_networks
from clinometer_measures.networks.tables import NETWORKS, OVERLAPS

__all__ = [
    "clustering",
    "describe",
    "diameter",
    "largest_component",
    "mean_path_length",
    "overlap",
]

#: Up to this number of nodes, paths are measured from every node; above it, from a sample.
EXACT_NODES = 25_000
SAMPLED_SOURCES = 4_096
#: Paths of two edges in memory at a time, per edge of the network.
WEDGES = 16


def largest_component(network: Network) -> Network:
    """Keep the largest connected component; of a directed network, weakly connected.

    Of components of equal size, the one with the network's first word.
    """
    count, labels = connected_components(network.weights, directed=True, connection="weak")
    if count == 1:
        return network
    sizes = np.bincount(labels)
    # `argmax` of booleans: the first node in a component of the largest size.
    first = np.argmax(sizes[labels] == sizes.max())
    places = np.flatnonzero(labels == labels[first])
    words = tuple(network.words[place] for place in places)
    return Network(words, network.weights[places][:, places], network.directed, network.name)


def diameter(network: Network) -> int:
    """Return the largest distance, in hops, between two words of the largest component.

    Exact; 0 if the component is a single word. In a directed network edges are followed forwards
    and pairs without a path are left out; this needs a search from every word.

    Examples
    --------
    >>> edges = pl.DataFrame({"src": ["old", "wise"], "tgt": ["wise", "owl"], "wt": [3, 2]})
    >>> diameter(Network.from_edges(edges))
    2
    """
    component = largest_component(network)
    if component.directed:
        # The counts begin with those of 0 hops.
        return len(count_by_hops(component, np.arange(len(component)))) - 1
    return _widest(component)


def _widest(network: Network) -> int:
    """Bound each node's eccentricity until no bound exceeds the longest distance measured."""
    degrees = np.diff(network.weights.indptr)
    # Hubs are close to all nodes and give tight bounds.
    sources = np.argsort(-degrees, kind="stable")[:SOURCES]
    bound = np.full(len(network), len(network))
    longest = 0
    while sources.size:
        hops = distances(network, sources)  # (sources, nodes)
        farthest = hops.max(axis=1)
        longest = max(longest, int(farthest.max()))
        # By the triangle inequality: to a source, and from there to the node farthest from it.
        bound = np.minimum(bound, (hops + farthest[:, None]).min(axis=0))
        bound[sources] = farthest
        open_nodes = np.flatnonzero(bound > longest)
        # Those with the largest bound first, of these the hubs: `lexsort` ranks by its last key.
        order = np.lexsort((-degrees[open_nodes], -bound[open_nodes]))
        sources = open_nodes[order[:SOURCES]]
    return longest


def mean_path_length(network: Network, *, seed: int = 0) -> tuple[float | None, int | None]:
    """Return the mean distance, in hops, over pairs of words of the largest component.

    In a directed network edges are followed forwards and pairs without a path are left out. Up to
    25,000 words, paths are measured from all words, above that from 4,096, drawn with `seed`.
    Returns the mean (None if there are no paths) and the number of sources (None: all words).
    """
    component = largest_component(network)
    sources = np.arange(len(component))
    sample_size = None
    if len(component) > EXACT_NODES:
        sample_size = SAMPLED_SOURCES
        sources = np.sort(np.random.default_rng(seed).choice(sources, sample_size, replace=False))
    pairs = count_by_hops(component, sources)
    hops = int(pairs @ np.arange(len(pairs)))
    return (hops / int(pairs.sum()) if pairs.any() else None), sample_size


def clustering(network: Network) -> float:
    """Return the mean local clustering coefficient of the nodes, 0 to 1.

    It is the share of pairs of neighbours that are neighbours themselves. A node with fewer than
    two neighbours counts as 0, as in networkx. Weights, self-loops and directions are ignored.
    """
    links = _links(network)
    degrees = np.diff(links.indptr)
    pairs = degrees * (degrees - 1) / 2
    triangles = _triangles(links)
    shares = np.divide(triangles, pairs, out=np.zeros(len(network)), where=pairs > 0)
    return float(shares.mean())


def _links(network: Network) -> sp.csr_array:
    """Return the adjacency matrix, 1 for two different words with an edge in either direction."""
    weights = network.weights + network.weights.T if network.directed else network.weights
    adjacency = weights.astype(bool).astype(np.int32)
    loops = sp.diags_array(adjacency.diagonal(), dtype=np.int32)
    return sp.csr_array(adjacency - loops)


def _triangles(links: sp.csr_array) -> NDArray[np.float64]:
    """Count the triangles at each node in blocks of rows; memory grows with the edges only."""
    degrees = np.diff(links.indptr).astype(np.int64)
    # Paths of two edges from all nodes before each node: what a block of rows costs.
    wedges = np.concatenate([[0], np.cumsum(links @ degrees)])
    triangles = np.zeros(links.shape[0])
    first = 0
    while first < links.shape[0]:
        until = wedges[first] + max(WEDGES * links.nnz, 1)
        # A block has one row at least, however many paths begin there.
        last = max(int(np.searchsorted(wedges, until, side="right")) - 1, first + 1)
        rows = links[first:last]
        triangles[first:last] = (rows @ links).multiply(rows).sum(axis=1)
        first = last
    return triangles / 2  # each is walked in both directions


def describe(network: Network, *, paths: bool = True, seed: int = 0) -> pl.DataFrame:
    """Describe a network in one row.

    Parameters
    ----------
    network
        A directed or undirected network.
    paths
        Whether to measure diameter and mean path length, the slowest part; else they are null.
    seed
        Seed of the sample of sources in a network of more than 25,000 words.

    Returns
    -------
    polars.DataFrame
        One row with the columns of `tables.NETWORKS`. Density is the share of possible edges that
        exist: 2m / n(n − 1), in a directed network m / n(n − 1). Average degree is 2m / n; in a
        directed network it counts edges in and out. Both exclude self-loops.
    """
    check_networks(network)
    nodes = len(network)
    edges = network.n_edges - network.n_loops
    ends = edges if network.directed else 2 * edges
    components = connected_components(network.weights, directed=True, connection="weak")[0]
    mean, path_sources = mean_path_length(network, seed=seed) if paths else (None, None)
    row = {
        "network": network.name,
        "directed": network.directed,
        "nodes": nodes,
        "edges": network.n_edges,
        "density": ends / (nodes * (nodes - 1)) if nodes > 1 else None,
        "average_degree": 2 * edges / nodes,
        "components": int(components),
        "diameter": diameter(network) if paths else None,
        "mean_path_length": mean,
        "path_sources": path_sources,
        "clustering": clustering(network),
    }
    return pl.DataFrame([row], schema=NETWORKS)


def overlap(a: Network, b: Network) -> pl.DataFrame:
    """Measure the overlap of two networks.

    Parameters
    ----------
    a, b
        Both directed or both undirected.

    Returns
    -------
    polars.DataFrame
        Two rows, for nodes and for edges, with the columns of
        `tables.OVERLAPS`. Only edges between shared nodes are compared, so
        `n_a` and `n_b` of edges are smaller than the networks' numbers of edges. A share with
        denominator 0 is null.

    Raises
    ------
    InputError
        If only one of them is directed.
    """
    check_networks(a, b)
    if a.directed != b.directed:
        directed, undirected = (a, b) if a.directed else (b, a)
        raise InputError(
            f"directed: {directed.name!r} is directed and {undirected.name!r} is not; "
            "read both alike"
        )
    shared_words = [word for word in a.words if word in b]
    edges_a, edges_b = (_edges_among(network, shared_words) for network in (a, b))
    counts = (
        ("nodes", len(a), len(b), len(shared_words)),
        ("edges", edges_a.nnz, edges_b.nnz, edges_a.multiply(edges_b).nnz),
    )
    rows = []
    for level, n_a, n_b, shared in counts:
        only_a = (n_a - shared) / n_a if n_a else None
        union = n_a + n_b - shared
        jaccard = shared / union if union else None
        only_b = (n_b - shared) / n_b if n_b else None
        rows.append((a.name, b.name, level, only_a, jaccard, only_b, n_a, n_b, shared))
    return pl.DataFrame(rows, schema=OVERLAPS, orient="row")


def _edges_among(network: Network, words: Sequence[str]) -> sp.csr_array:
    """Return the weights of the edges between some nodes, each edge once, in the order of words."""
    places = network.places(words)
    weights = network.weights[places][:, places]
    return weights if network.directed else sp.triu(weights, format="csr")
