"""Mindset streams: all shortest paths between two words of a network, and their valence.

Reference: Brian & Stella 2023, Physica A 626, 129074; Abramski, Rossetti & Stella 2025,
arXiv:2510.24488, "Stereotypes approach", figures 8 and 9. A stream is the union of all paths with
the fewest hops from a source to a target, weights ignored; its words have human ratings of valence.
Length counts hops, 1 or more. Types of paths: `clinometer_measures.networks.layered_paths`.

Valence is divided into thirds as by the lexicon's author: up to 0.3333 negative, from 0.6667
positive, between them neutral (README of the NRC VAD Lexicon v1, August 2022; Abramski et al. only
say that positive words are blue and negative ones red). A word that the lexicon lacks is unknown,
not neutral.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

import polars as pl

from clinometer.errors import InputError
from clinometer_measures.networks.hops import ShortestPaths, strongest
from clinometer_measures.networks.layered_paths import digits, path_types, paths_through
from clinometer_measures.networks.network import Network, check_networks
from clinometer_measures.networks.tables import STREAM_EDGES, STREAM_NODES

__all__ = ["NEUTRAL", "Stream", "several", "stream", "stream_tables", "tone"]

#: Valence up to the first value is negative, from the second positive.
NEUTRAL = (1 / 3, 2 / 3)

#: Number of inner words that a drawing shows.
MOST_NODES = 60


@dataclass(frozen=True)
class Stream:
    """All shortest paths from one word to another.

    Parameters
    ----------
    network, source, target
        The network, and the first and last word.
    length
        Hops of each path.
    n_paths
        Number of paths.
    types
        Type of path → number of paths; the sum is `n_paths`.
    layers
        The words by hops from the source; within a layer by number of paths, descending.
    nodes, edges
        Tables with the columns STREAM_NODES and STREAM_EDGES.
    """

    network: str
    source: str
    target: str
    length: int
    n_paths: int
    types: dict[str, int]
    layers: tuple[tuple[str, ...], ...]
    nodes: pl.DataFrame
    edges: pl.DataFrame


def tone(valence: float | None, neutral: tuple[float, float] = NEUTRAL) -> str:
    """Return whether a word is positive, neutral, negative or, without valence, unknown.

    Valence is 0 to 1; up to the first of `neutral` a word is negative, from the second on positive.
    """
    if valence is None:
        return "unknown"
    low, high = neutral
    if valence >= high:
        return "positive"
    return "negative" if valence <= low else "neutral"


def stream(
    network: Network,
    source: str,
    target: str,
    *,
    valence: Mapping[str, float] | None = None,
    neutral: tuple[float, float] = NEUTRAL,
    most_nodes: int = MOST_NODES,
) -> Stream:
    """Find all shortest paths between two words.

    Parameters
    ----------
    network
        The network; directed edges are followed from cue to answer.
    source, target
        Two nodes of the network.
    valence
        Word → valence, 0 to 1 (`clinometer.words.lexicons.read_valence`); None: no ratings.
    neutral
        As for `tone`.
    most_nodes
        Maximum number of inner words that are marked as `shown`. Complete paths are chosen, at
        least one: first those whose weakest edge is strongest, then those with the largest sum of
        weights.

    Returns
    -------
    Stream

    Raises
    ------
    InputError
        If a word is not a node, both are the same, or no path joins them.

    Examples
    --------
    >>> edges = pl.DataFrame(
    ...     {"src": ["a", "a", "b", "c"], "tgt": ["b", "c", "d", "d"], "wt": [2, 3, 4, 5]}
    ... )
    >>> found = stream(Network.from_edges(edges), "a", "d", valence={"b": 0.9, "c": 0.2})
    >>> found.length, found.n_paths, found.layers
    (2, 2, (('a',), ('b', 'c'), ('d',)))
    >>> {name: count for name, count in found.types.items() if count}
    {'positive': 1, 'negative': 1}
    """
    (only_stream,), _ = several(
        network, [(source, target)], valence=valence, neutral=neutral, most_nodes=most_nodes
    )
    return only_stream


def several(
    network: Network,
    pairs: Iterable[tuple[str, str]],
    *,
    valence: Mapping[str, float] | None = None,
    neutral: tuple[float, float] = NEUTRAL,
    most_nodes: int = MOST_NODES,
    skip: bool = False,
) -> tuple[list[Stream], list[str]]:
    """Find the streams of several pairs of words as `stream` does, each pair once.

    Returns the streams, and a line per missing stream that says why. Raises InputError as `stream`;
    with `skip`, a pair without a stream is missing instead.
    """
    check_networks(network)
    low, high = neutral
    if not 0 <= low < high <= 1:
        raise InputError(f"neutral {low:g}, {high:g}: expected two increasing numbers from 0 to 1")
    if most_nodes < 1:
        raise InputError(f"most_nodes {most_nodes}: expected a whole number of 1 or more")
    search = ShortestPaths(network)
    streams = []
    skipped = []
    for source, target in dict.fromkeys(pairs):
        try:
            streams.append(_stream(search, source, target, valence or {}, neutral, most_nodes))
        except InputError as error:
            if not skip:
                raise
            skipped.append(str(error))
    return streams, skipped


def stream_tables(
    networks: Iterable[Network],
    pairs: Sequence[tuple[str, str]],
    valence: Mapping[str, float] | None = None,
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Tabulate the streams of several pairs of words in several networks of distinct names.

    Pairs without a stream are skipped. Returns nodes and edges: tables with the columns
    STREAM_NODES and STREAM_EDGES.
    """
    nodes, edges = [pl.DataFrame(schema=STREAM_NODES)], [pl.DataFrame(schema=STREAM_EDGES)]
    for network in networks:
        streams, _ = several(network, pairs, valence=valence, skip=True)
        nodes += [pair_stream.nodes for pair_stream in streams]
        edges += [pair_stream.edges for pair_stream in streams]
    return pl.concat(nodes), pl.concat(edges)


def _stream(
    search: ShortestPaths,
    source: str,
    target: str,
    valence: Mapping[str, float],
    neutral: tuple[float, float],
    most_nodes: int,
) -> Stream:
    words = search.network.words
    keys = search.network.name, source, target
    start, end = _find_ends(search.network, source, target)
    edges = search.edges(start, end)
    if not edges:
        raise InputError(_no_path_text(search.network, source, target))
    steps = [edge[:2] for edge in edges]
    hops = {start: 0}
    for near, far in steps:
        hops[far] = hops[near] + 1
    paths_of_node, paths_of_edge = paths_through(steps, start, end)
    order = sorted(hops, key=lambda node: (hops[node], -paths_of_node[node], words[node]))
    ratings = {node: _rating(valence.get(words[node])) for node in order}
    tones = {node: tone(rating, neutral) for node, rating in ratings.items()}
    many = len(order) - 2 > most_nodes
    marked = strongest(edges, start, end, most_nodes) if many else set(order)
    node_rows = []
    for node in order:
        attributes = words[node], hops[node], ratings[node], tones[node]
        node_rows.append((*keys, *attributes, digits(paths_of_node[node]), node in marked))
    # Edges in the order of their first word, then of their second, as words are listed.
    rank = {node: number for number, node in enumerate(order)}
    counted = zip(edges, paths_of_edge, strict=True)
    edge_rows = []
    for (a, b, weight), paths in sorted(counted, key=lambda c: (rank[c[0][0]], rank[c[0][1]])):
        is_marked = a in marked and b in marked
        edge_rows.append((*keys, words[a], words[b], weight, digits(paths), is_marked))
    layers = []
    for _, layer in groupby(order, hops.get):
        layers.append(tuple(words[node] for node in layer))
    return Stream(
        *keys,
        length=hops[end],
        n_paths=paths_of_node[end],
        types=path_types(steps, tones, start, end),
        layers=tuple(layers),
        nodes=pl.DataFrame(node_rows, schema=STREAM_NODES, orient="row"),
        edges=pl.DataFrame(edge_rows, schema=STREAM_EDGES, orient="row"),
    )


def _rating(valence: float | None) -> float | None:
    """Return a valence as a number; None also for nan, as tables of ratings may have it."""
    return None if valence is None or math.isnan(valence) else float(valence)


def _find_ends(network: Network, source: str, target: str) -> tuple[int, int]:
    (start,), (end,) = network.places([source], "source"), network.places([target], "target")
    if start == end:
        raise InputError(f"source and target are both {source!r}; a stream joins two words")
    return int(start), int(end)


def _no_path_text(network: Network, source: str, target: str) -> str:
    place = f" in network {network.name!r}" if network.name else ""
    along = ", following its directed edges" if network.directed else ""
    return f"no path from {source!r} to {target!r}{place}{along}; choose another pair"
