"""Mindset streams against paths that are listed one by one, scipy's distances, and the paper."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import shortest_path

from clinometer.errors import InputError
from clinometer.words.lexicons import read_valence
from clinometer_measures.networks import Network
from clinometer_measures.networks.streams import Stream, several, stream, stream_tables, tone
from clinometer_measures.networks.tables import STREAM_EDGES, STREAM_NODES

Edges = dict[tuple[str, str], int]

NODES = [f"w{place}" for place in range(8)]
VALENCE = st.dictionaries(st.sampled_from(NODES), st.sampled_from([0.1, 0.5, 0.9]))


def graphs(directed: bool) -> Any:
    pair = st.tuples(st.sampled_from(NODES), st.sampled_from(NODES))
    if not directed:
        pair = pair.map(lambda ends: (min(ends), max(ends)))
    return st.dictionaries(pair, st.integers(1, 5), min_size=1, max_size=24)


def network_of_edges(edges: Edges, directed: bool = False, name: str = "made") -> Network:
    rows = [(a, b, weight) for (a, b), weight in edges.items()]
    frame = pl.DataFrame(rows, schema=["src", "tgt", "wt"], orient="row")
    return Network.from_edges(frame, directed=directed, name=name)


def listed(edges: Edges, source: str, target: str, directed: bool) -> list[list[str]]:
    """All shortest paths, one by one."""
    steps = {*edges, *(() if directed else ((b, a) for a, b in edges))}
    paths = [[source]]
    for _ in NODES:
        paths = [[*p, b] for p in paths for a, b in steps if a == p[-1] and b not in p]
        arrived = [path for path in paths if path[-1] == target]
        if arrived:
            return arrived
    return []


def kind(path: list[str], valence: dict[str, float]) -> str:
    tones = {tone(valence.get(word)) for word in path} - {"unknown"}
    if len(tones) == 1:
        return tones.pop()
    if {"positive", "negative"} <= tones:
        return "conflicting"
    return "mixed" if tones else "unknown"


def pairs_of(paths: list[list[str]]) -> Iterator[tuple[str, str]]:
    for path in paths:
        yield from zip(path, path[1:], strict=False)


@pytest.mark.parametrize("directed", [False, True])
@given(data=st.data())
def test_a_stream_is_the_union_of_all_shortest_paths(directed: bool, data: Any) -> None:
    edges = data.draw(graphs(directed))
    valence = data.draw(VALENCE)
    words = sorted({word for edge in edges for word in edge})
    source, target = data.draw(st.sampled_from(words)), data.draw(st.sampled_from(words))
    paths = listed(edges, source, target, directed) if source != target else []
    if not paths:
        with pytest.raises(InputError, match="no path|joins two words"):
            stream(network_of_edges(edges, directed), source, target)
        return
    union = stream(network_of_edges(edges, directed), source, target, valence=valence)
    assert (union.length, union.n_paths) == (len(paths[0]) - 1, len(paths))
    assert [set(layer) for layer in union.layers] == [set(c) for c in zip(*paths, strict=True)]
    through = Counter(word for path in paths for word in path)
    assert dict(union.nodes.select("word", "paths").iter_rows()) == {
        word: str(count) for word, count in through.items()
    }
    assert {
        (a, b): int(n) for a, b, n in union.edges.select("src", "tgt", "paths").iter_rows()
    } == (Counter(pairs_of(paths)))
    types = {name: count for name, count in union.types.items() if count}
    assert types == Counter(kind(path, valence) for path in paths)


@given(graphs(False), st.integers(1, 6))
def test_what_is_shown_are_whole_paths_up_to_the_cap(edges: Edges, most: int) -> None:
    words = sorted({word for edge in edges for word in edge})
    paths = listed(edges, words[0], words[-1], False) if len(words) > 1 else []
    if not paths:
        return
    capped = stream(network_of_edges(edges), words[0], words[-1], most_nodes=most)
    words_shown = set(capped.nodes.filter("shown")["word"])
    assert len(words_shown) - 2 <= max(most, capped.length - 1)
    paths_shown = [path for path in paths if set(path) <= words_shown]
    assert {word for path in paths_shown for word in path} == words_shown
    best = max(paths, key=lambda path: strength(path, edges))
    assert strength(best, edges) in {strength(path, edges) for path in paths_shown}
    edges_shown = capped.edges.filter("shown").select("src", "tgt").iter_rows()
    assert set(edges_shown) == set(pairs_of(paths_shown))


def strength(path: list[str], edges: Edges) -> tuple[int, int]:
    weights = [edges[min(pair), max(pair)] for pair in pairs_of([path])]
    return min(weights), sum(weights)


def test_the_paths_of_the_strongest_links_are_shown() -> None:
    edges = {("s", "a"): 9, ("a", "t"): 2, ("s", "b"): 3, ("b", "t"): 3, ("s", "c"): 3,
             ("c", "t"): 4}  # fmt: skip
    capped = stream(network_of_edges(edges), "s", "t", most_nodes=2)
    assert set(capped.nodes.filter("shown")["word"]) == {"s", "b", "c", "t"}
    capped = stream(network_of_edges(edges), "s", "t", most_nodes=1)
    assert set(capped.nodes.filter("shown")["word"]) == {"s", "c", "t"}


def test_a_chain_longer_than_the_cap_is_shown_whole() -> None:
    chain = {(f"{place:04}", f"{place + 1:04}"): 1 for place in range(40)}
    capped = stream(network_of_edges(chain), "0000", "0040", most_nodes=5)
    assert (capped.length, capped.nodes["shown"].all()) == (40, True)


def test_counts_are_exact_beyond_the_numbers_of_a_machine() -> None:
    """A chain of diamonds doubles the paths with each."""
    edges = {}
    for place in range(300):
        for side in "ab":
            edges[f"{place}", f"{place}{side}"] = 1
            edges[f"{place}{side}", f"{place + 1}"] = 1
    ladder = stream(network_of_edges(edges), "0", "300")
    assert ladder.n_paths == 2**300 == ladder.types["unknown"]
    assert ladder.nodes["paths"][0] == str(2**300)
    assert ladder.edges["paths"].unique().to_list() == [str(2**299)]


def test_edges_are_followed_forward_in_a_directed_network() -> None:
    network = network_of_edges({("a", "b"): 1, ("b", "c"): 1}, directed=True)
    assert stream(network, "a", "c").layers == (("a",), ("b",), ("c",))
    with pytest.raises(InputError, match="'c' to 'a' in network 'made', following its directed"):
        stream(network, "c", "a")


def test_a_direct_edge_is_a_stream_of_one_hop() -> None:
    direct = stream(network_of_edges({("a", "b"): 4, ("a", "c"): 1, ("c", "b"): 1}), "a", "b")
    assert (direct.length, direct.n_paths, direct.edges["weight"].to_list()) == (1, 1, [4.0])


def test_words_that_no_lexicon_rates_are_not_neutral() -> None:
    network = network_of_edges({("a", "b"): 1, ("b", "c"): 1})
    rated = stream(network, "a", "c", valence={"a": 0.5, "b": float("nan")}).nodes
    assert rated["tone"].to_list() == ["neutral", "unknown", "unknown"]
    assert rated["valence"].to_list() == [0.5, None, None]


@pytest.mark.parametrize(
    ("valence", "expected"),
    [(0.0, "negative"), (0.333, "negative"), (0.334, "neutral"), (0.5, "neutral"),
     (0.666, "neutral"), (0.667, "positive"), (1.0, "positive"), (None, "unknown")],
)  # fmt: skip
def test_tones_are_those_of_the_polar_subset_of_nrc_vad(
    valence: float | None, expected: str
) -> None:
    """Its README: negative up to 0.3333, positive from 0.6667; scores have three decimals."""
    assert tone(valence) == expected


@pytest.mark.parametrize(
    ("source", "target", "message"),
    [
        ("femine", "b", r"source not in network 'made': 'femine' \(did you mean feminine"),
        ("feminine", "x", "target not in network 'made': 'x'"),
        ("b", "b", "source and target are both 'b'"),
        ("b", "far", "no path from 'b' to 'far' in network 'made'; choose another"),
    ],
)
def test_a_pair_without_a_stream_is_one_line(source: str, target: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        stream(network_of_edges({("feminine", "b"): 1, ("far", "away"): 1}), source, target)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"most_nodes": 0}, "most_nodes 0: expected"),
        ({"neutral": (0.7, 0.3)}, "neutral 0.7, 0.3: expected"),
    ],
)
def test_wrong_parameters_are_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        stream(network_of_edges({("a", "b"): 1}), "a", "b", **options)


def test_several_skips_what_a_network_lacks_and_says_so() -> None:
    network = network_of_edges({("a", "b"): 1, ("c", "d"): 1})
    pairs = [("a", "b"), ("a", "c"), ("a", "x"), ("a", "b")]
    streams, skipped = several(network, pairs, skip=True)
    assert [(path.source, path.target) for path in streams] == [("a", "b")]
    assert skipped == [
        "no path from 'a' to 'c' in network 'made'; choose another pair",
        "target not in network 'made': 'x'",
    ]
    with pytest.raises(InputError, match="no path from 'a' to 'c'"):
        several(network, pairs)


def test_tables_hold_all_networks_and_pairs() -> None:
    edges = {("a", "b"): 1, ("b", "c"): 1}
    networks = [network_of_edges(edges, name="one"), network_of_edges({("a", "b"): 1}, name="two")]
    nodes, links = stream_tables(networks, [("a", "b"), ("a", "c")])
    assert (nodes.schema, links.schema) == (pl.Schema(STREAM_NODES), pl.Schema(STREAM_EDGES))
    assert links.select("network", "source", "target", "src", "tgt").rows() == [
        ("one", "a", "b", "a", "b"),
        ("one", "a", "c", "a", "b"),
        ("one", "a", "c", "b", "c"),
        ("two", "a", "b", "a", "b"),
    ]
    empty = stream_tables([], [("a", "b")])
    assert [frame.height for frame in empty] == [0, 0]


def test_streams_of_the_paper(haiku: Network, shared_data: Path) -> None:
    """Figure 9, as far as it can be read: stereotype-consistent pairs are nearer."""
    valence = read_valence(shared_data / "nrc" / "vad_v1" / "v.scores")

    def stream_between(source: str, target: str) -> Stream:
        return stream(haiku, source, target, valence=valence)

    assert stream_between("feminine", "compassionate").layers == (
        ("feminine",),
        ("gentle",),
        ("compassionate",),
    )
    assert stream_between("masculine", "forceful").layers == (
        ("masculine",),
        ("strong",),
        ("forceful",),
    )
    far = stream_between("feminine", "forceful"), stream_between("masculine", "compassionate")
    assert [path.length for path in far] == [4, 4]
    tones = [Counter(path.nodes["tone"].to_list()) for path in far]
    assert "aggressive" in far[0].layers[3]
    assert tones[0]["negative"] > tones[1]["negative"]


def test_nodes_lie_between_the_ends_by_the_distances_of_scipy(haiku: Network) -> None:
    places = random.Random(0).sample(range(len(haiku)), 12)
    hops = shortest_path(haiku.weights, unweighted=True, indices=places)
    for place in range(0, 12, 2):
        path = stream(haiku, *(haiku.words[n] for n in places[place : place + 2]))
        from_source, from_target = hops[place], hops[place + 1]
        length = from_source[places[place + 1]]
        between = np.flatnonzero(from_source + from_target == length)
        assert path.length == length
        assert set(path.nodes["word"]) == {haiku.words[n] for n in between}
