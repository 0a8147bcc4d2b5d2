"""The paths of a layered network: how many lead through each place, and of which type they are.

Reference: Brian & Stella 2023, Physica A 626, 129074; the types as in the package of the first
author (Mindset-Streams 0.0.11, ``path_type``). They go by the tones of all words of a path, its
two ends included:

- positive, negative, neutral: every word is (there: "purely positive path", …);
- conflicting: at least one word is positive and at least one negative;
- mixed: neutral words, and positive or negative ones but not both;
- unknown: no word is rated.

Deviations: words that the lexicon lacks are passed over, where the source has every word rated;
and a path is conflicting by the tones of its words, where the source looks for a word that is
spelt "positive". No path is ever listed: counts are exact whole numbers of any size.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from decimal import Decimal
from typing import TypeVar

__all__ = ["PATH_TYPES", "TONES", "digits", "path_types", "paths_from", "paths_through"]

#: What a word can be, by its valence; unknown: not in the lexicon.
TONES = ("positive", "neutral", "negative", "unknown")

#: What a path can be.
PATH_TYPES = ("positive", "negative", "neutral", "mixed", "conflicting", "unknown")

_BITS = {"positive": 1, "negative": 2, "neutral": 4, "unknown": 0}

#: What a path is, by the sum of the bits of the tones on it.
_TYPES = (
    "unknown",
    "positive",
    "negative",
    "conflicting",
    "neutral",
    "mixed",
    "mixed",
    "conflicting",
)

Node = TypeVar("Node", bound=Hashable)


def paths_from(edges: Iterable[tuple[Node, Node]], source: Node) -> dict[Node, int]:
    """Count the paths that lead from a node to each other one; a node that none leads to is absent.

    Of `edges`, from and to, those that lead into a node stand before those that lead out of it.

    Examples
    --------
    >>> paths_from([("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")], "a")["d"]
    2
    """
    paths: defaultdict[Node, int] = defaultdict(int, {source: 1})
    for start, end in edges:
        if start in paths:
            paths[end] += paths[start]
    return dict(paths)


def paths_through(
    edges: Sequence[tuple[Node, Node]], source: Node, target: Node
) -> tuple[dict[Node, int], list[int]]:
    """Count the paths from `source` to `target` through each node and over each edge.

    `edges` are as for `paths_from`, and counted in their order.
    """
    from_source = paths_from(edges, source)
    to_target = paths_from(((end, start) for start, end in reversed(edges)), target)
    # Every way to a node goes on by every way from it.
    nodes = {}
    for node, count in from_source.items():
        if node in to_target:
            nodes[node] = count * to_target[node]
    return nodes, [from_source.get(start, 0) * to_target.get(end, 0) for start, end in edges]


def path_types(
    edges: Iterable[tuple[Node, Node]], tones: Mapping[Node, str], source: Node, target: Node
) -> dict[str, int]:
    """Count the paths from `source` to `target` of each of `PATH_TYPES`.

    `edges` are as for `paths_from`; `tones` say which of `TONES` each node is.

    Examples
    --------
    >>> tones = {"a": "neutral", "b": "positive", "c": "negative", "d": "positive"}
    >>> path_types([("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")], tones, "a", "d")
    {'positive': 0, 'negative': 0, 'neutral': 0, 'mixed': 1, 'conflicting': 1, 'unknown': 0}
    """
    # Node → the bits of the tones on a path to it → how many paths have these.
    counts: defaultdict[Node, defaultdict[int, int]] = defaultdict(lambda: defaultdict(int))
    counts[source][_BITS[tones[source]]] = 1
    for start, end in edges:
        if start in counts:
            bit = _BITS[tones[end]]
            arrivals = counts[end]
            for tones_so_far, count in counts[start].items():
                arrivals[tones_so_far | bit] += count
    types = dict.fromkeys(PATH_TYPES, 0)
    for tones_of_path, count in counts[target].items():
        types[_TYPES[tones_of_path]] += count
    return types


def digits(count: int) -> str:
    """Write a whole number of any size; `str` stops at 4,300 digits."""
    return f"{Decimal(count):f}"
