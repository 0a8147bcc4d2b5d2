"""Mindset streams: all shortest paths between two words of a network, and their tone.

Reference: Brian & Stella 2023, Physica A 626, 129074; Abramski, Rossetti & Stella 2025,
arXiv:2510.24488, "Stereotypes approach", figures 8 and 9. A stream is the union of all paths with
the fewest hops from a source to a target, weights left aside; its words carry human ratings of
their valence. Length counts hops, 1 or more. Types of paths: `tiltmeter.statistics.paths`.

A word is positive, neutral or negative by the thirds of the scale of valence: the lexicon's
author calls words of 0.3333 and less negative, of 0.6667 and more positive, those between
neutral (README of the NRC VAD Lexicon v1, August 2022; Abramski et al. only say that positive
words are blue and negative ones red). A word that the lexicon lacks is unknown, not neutral.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

import polars as pl

from tiltmeter.errors import InputError
from tiltmeter.networks.hops import ShortestPaths, strongest
from tiltmeter.networks.network import Network, check_networks
from tiltmeter.results.schemas import STREAM_EDGES, STREAM_NODES
from tiltmeter.statistics.paths import digits, path_types, paths_through

__all__ = ["NEUTRAL", "Stream", "several", "stream", "stream_tables", "tone"]

#: Valence up to the first is negative, from the second positive.
NEUTRAL = (1 / 3, 2 / 3)

#: How many inner words a drawing shows.
MOST_NODES = 60


@dataclass(frozen=True)
class Stream:
    """All shortest paths from one word to another.

    Parameters
    ----------
    network, source, target
        What it leads through, from and to.
    length
        Hops of each path.
    n_paths
        How many paths there are.
    types
        Type of path → how many of them; together `n_paths`.
    layers
        The words by their hops from the source; in a layer first what most paths lead through.
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
    """Tell whether a word is positive, neutral, negative or, where it has no valence, unknown.

    Valence is 0 to 1; up to the first of `neutral` a word is negative, from the second on positive.
    """
    if valence is None:
        return "unknown"
    low, high = neutral
    return "positive" if valence >= high else "negative" if valence <= low else "neutral"


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
        Where to look; in a directed one edges are followed from cue to answer.
    source, target
        Two nodes of it.
    valence
        Word → valence, 0 to 1 (`tiltmeter.networks.lexicons.read_valence`); None: no word is
        rated.
    neutral
        As for `tone`.
    most_nodes
        How many inner words are marked as `shown`: those on the paths whose weakest edge is
        strongest (among equals, on those with the largest sum of weights), whole paths at a
        time and at least one, so that what is shown leads from source to target.

    Returns
    -------
    Stream

    Raises
    ------
    InputError
        If a word is no node, the two are the same, or no path joins them.

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
    (only,), _ = several(
        network, [(source, target)], valence=valence, neutral=neutral, most_nodes=most_nodes
    )
    return only


def several(
    network: Network,
    pairs: Iterable[tuple[str, str]],
    *,
    valence: Mapping[str, float] | None = None,
    neutral: tuple[float, float] = NEUTRAL,
    most_nodes: int = MOST_NODES,
    on_missing: str = "error",
) -> tuple[list[Stream], list[str]]:
    """Find the streams of several pairs of words.

    Parameters
    ----------
    network, valence, neutral, most_nodes
        As for `stream`.
    pairs
        Source and target of each; the same pair is looked at once.
    on_missing
        What to do about a pair without a stream: ``"error"``, or ``"skip"`` it.

    Returns
    -------
    tuple
        The streams, and why others are missing, a line each.

    Raises
    ------
    InputError
        As for `stream`, and if `on_missing` is not known.
    """
    if on_missing not in ("error", "skip"):
        raise InputError(f"on_missing {on_missing!r}: allowed are error, skip")
    check_networks(network)
    _check(neutral, most_nodes)
    search, drawing = ShortestPaths(network), _Drawing(valence or {}, neutral, most_nodes)
    streams, skipped = [], []
    for source, target in dict.fromkeys(pairs):
        try:
            streams.append(_stream(search, source, target, drawing))
        except InputError as error:
            if on_missing == "error":
                raise
            skipped.append(str(error))
    return streams, skipped


def stream_tables(
    networks: Iterable[Network],
    pairs: Iterable[tuple[str, str]],
    *,
    valence: Mapping[str, float] | None = None,
    on_missing: str = "error",
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Tabulate the streams of several pairs of words in several networks of distinct names.

    As `several`, which also says why a pair was skipped. Gives nodes and edges: tables with the
    columns STREAM_NODES and STREAM_EDGES.
    """
    wanted = list(pairs)
    nodes, edges = [pl.DataFrame(schema=STREAM_NODES)], [pl.DataFrame(schema=STREAM_EDGES)]
    for network in networks:
        streams, _ = several(network, wanted, valence=valence, on_missing=on_missing)
        nodes += [one.nodes for one in streams]
        edges += [one.edges for one in streams]
    return pl.concat(nodes), pl.concat(edges)


class _Drawing(NamedTuple):
    """What a stream is shown with."""

    valence: Mapping[str, float]
    neutral: tuple[float, float]
    most_nodes: int

    def rating(self, word: str) -> float | None:
        """Give the valence of a word; None where it is not rated."""
        value = self.valence.get(word)
        return None if value is None or math.isnan(value) else float(value)


def _check(neutral: tuple[float, float], most_nodes: int) -> None:
    low, high = neutral
    if not 0 <= low < high <= 1:
        raise InputError(f"neutral {low:g}, {high:g}: expected two rising numbers from 0 to 1")
    if most_nodes < 1:
        raise InputError(f"most_nodes {most_nodes}: expected a whole number of 1 or more")


def _stream(search: ShortestPaths, source: str, target: str, drawing: _Drawing) -> Stream:
    start, end = _ends(search.network, source, target)
    edges = search.edges(start, end)
    if not edges:
        raise InputError(_no_path(search.network, source, target))
    steps = [edge[:2] for edge in edges]
    hops = {start: 0}
    for near, far in steps:
        hops[far] = hops[near] + 1
    through, over = paths_through(steps, start, end)
    words, most = search.network.words, drawing.most_nodes
    order = sorted(hops, key=lambda node: (hops[node], -through[node], words[node]))
    rank = {node: number for number, node in enumerate(order)}
    rated = {node: drawing.rating(words[node]) for node in order}
    tones = {node: tone(rated[node], drawing.neutral) for node in order}
    shown = strongest(edges, start, end, most) if len(order) - 2 > most else set(order)
    of = (search.network.name, source, target)
    nodes = [
        (*of, words[n], hops[n], rated[n], tones[n], digits(through[n]), n in shown) for n in order
    ]
    links = [
        (*of, words[a], words[b], weight, digits(paths), a in shown and b in shown)
        for (a, b, weight), paths in sorted(
            zip(edges, over, strict=True), key=lambda one: (rank[one[0][0]], rank[one[0][1]])
        )
    ]
    return Stream(
        *of,
        length=hops[end],
        n_paths=through[end],
        types=path_types(steps, tones, start, end),
        layers=tuple(tuple(words[n] for n in layer) for _, layer in groupby(order, hops.get)),
        nodes=pl.DataFrame(nodes, schema=STREAM_NODES, orient="row"),
        edges=pl.DataFrame(links, schema=STREAM_EDGES, orient="row"),
    )


def _ends(network: Network, source: str, target: str) -> tuple[int, int]:
    (start,), (end,) = network.places([source], "source"), network.places([target], "target")
    if start == end:
        raise InputError(f"source and target are both {source!r}; a stream joins two words")
    return int(start), int(end)


def _no_path(network: Network, source: str, target: str) -> str:
    of = f" in network {network.name!r}" if network.name else ""
    along = ", following its directed edges" if network.directed else ""
    return f"no path from {source!r} to {target!r}{of}{along}; choose another pair"
