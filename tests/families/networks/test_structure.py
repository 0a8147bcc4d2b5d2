"""Structure of networks, against Abramski et al. (2025), networkx and scipy."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import shortest_path

from clinometer.errors import InputError
from clinometer_measures.networks import structure
from clinometer_measures.networks.hops import distances
from clinometer_measures.networks.network import Network
from clinometer_measures.networks.structure import (
    clustering,
    describe,
    diameter,
    largest_component,
    mean_path_length,
    overlap,
)
from clinometer_measures.networks.tables import NETWORKS, OVERLAPS


def make(*edges: str, directed: bool = False, name: str = "") -> Network:
    """Make a network of edges like "ab"."""
    rows = [(edge[0], edge[1], 1.0) for edge in edges]
    frame = pl.DataFrame(rows, schema=["src", "tgt", "wt"], orient="row")
    return Network.from_edges(frame, directed=directed, name=name)


@st.composite
def networks(draw: st.DrawFn) -> Network:
    """Draw a network of up to 14 nodes, self-loops and several components among them."""
    directed = draw(st.booleans())
    letters = st.sampled_from("abcdefghijklmn")
    pairs = draw(st.lists(st.tuples(letters, letters), min_size=1, max_size=30))
    edges = {pair if directed else tuple(sorted(pair)) for pair in pairs}
    return make(*map("".join, sorted(edges)), directed=directed)


def hops(network: Network) -> np.ndarray:
    """Count the hops between all nodes with scipy."""
    return shortest_path(network.weights, directed=network.directed, unweighted=True)


@given(networks())
def test_distances_are_those_of_scipy(network: Network) -> None:
    expected = hops(network)
    computed = distances(network, np.arange(len(network)))
    assert computed.dtype == np.int32
    assert (computed == np.where(np.isinf(expected), -1, expected)).all()


@given(networks())
def test_diameter_and_mean_are_those_of_scipy(network: Network) -> None:
    part = hops(largest_component(network))
    lengths = part[np.isfinite(part) & ~np.eye(len(part), dtype=bool)]
    assert diameter(network) == (lengths.max() if lengths.size else 0)
    mean, _ = mean_path_length(network)
    assert mean == (pytest.approx(lengths.mean()) if lengths.size else None)


def test_more_sources_than_fit_into_a_word() -> None:
    path = [f"w{place}" for place in range(200)]
    frame = pl.DataFrame({"src": path[:-1], "tgt": path[1:], "wt": 1})
    network = Network.from_edges(frame)
    places = np.arange(200)
    computed = distances(network, places)
    assert (computed == abs(places[:, None] - places)).all()
    assert diameter(network) == 199


def test_paths_of_the_published_network(haiku: Network) -> None:
    assert diameter(haiku) == 11
    # Breadth-first search from all 15,596 nodes, by another program.
    assert mean_path_length(haiku)[0] == pytest.approx(4.977216665333167, abs=1e-12)


def test_a_sample_of_sources_comes_near(haiku: Network, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(structure, "EXACT_NODES", 320)
    monkeypatch.setattr(structure, "SAMPLED_SOURCES", 320)
    mean, n_sources = mean_path_length(haiku, seed=1)
    assert n_sources == 320
    assert mean != mean_path_length(haiku, seed=2)[0]
    assert mean == mean_path_length(haiku, seed=1)[0]
    assert mean == pytest.approx(4.9772, abs=0.15)


def test_a_large_network_is_sampled_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(structure, "EXACT_NODES", 2)
    monkeypatch.setattr(structure, "SAMPLED_SOURCES", 1)
    assert describe(make("ab", "bc"))["path_sources"].item() == 1


def test_directed_paths_lead_forwards() -> None:
    network = make("ab", "bc", "cd", "bd", directed=True)
    assert distances(network, network.places(["b"])).tolist() == [[-1, 0, 1, 1]]
    assert diameter(network) == 2
    assert mean_path_length(network)[0] == pytest.approx((1 + 2 + 2 + 1 + 1 + 1) / 6)


def test_of_components_of_one_size_that_with_the_first_word() -> None:
    assert largest_component(make("xy", "cd", "ab")).words == ("x", "y")
    assert largest_component(make("xy", "cd", "de", "ab")).words == ("c", "d", "e")


def test_clustering_is_that_of_networkx(haiku: Network) -> None:
    # networkx.average_clustering of the same list of edges
    assert clustering(haiku) == pytest.approx(0.1856578060697681, abs=1e-14)


@pytest.mark.parametrize(
    ("edges", "expected"),
    [(["ab", "bc", "ac"], 1), (["ab", "bc"], 0), (["ab", "bc", "ac", "cd"], (1 + 1 + 1 / 3) / 4),
     (["ab", "bc", "ac", "aa"], 1)],
)  # fmt: skip
def test_clustering_of_little_networks(edges: list[str], expected: float) -> None:
    assert clustering(make(*edges)) == pytest.approx(expected)


def test_clustering_takes_few_rows_at_a_time(
    monkeypatch: pytest.MonkeyPatch, little: Network
) -> None:
    undivided = clustering(little)
    monkeypatch.setattr(structure, "WEDGES", 0)
    assert clustering(little) == undivided > 0


def test_clustering_leaves_direction_out() -> None:
    assert clustering(make("ab", "bc", "ca", directed=True)) == 1


def test_the_published_row(haiku: Network) -> None:
    row = describe(haiku).row(0, named=True)
    assert list(row) == list(NETWORKS)
    assert (row["nodes"], row["edges"], row["components"]) == (15_596, 64_599, 1)
    # FA_graphs_filtered_summary.csv of LWOW
    assert row["density"] == 0.0005311989221922146
    assert row["average_degree"] == 8.284047191587586
    assert row["path_sources"] is None


def test_paths_are_left_out_where_asked() -> None:
    row = describe(make("ab"), paths=False).row(0, named=True)
    assert row["diameter"] is row["mean_path_length"] is row["path_sources"] is None


def test_a_directed_row_without_self_loops() -> None:
    row = describe(make("ab", "ba", "bc", "cc", directed=True)).row(0, named=True)
    assert (row["directed"], row["edges"]) == (True, 4)
    assert row["density"] == pytest.approx(3 / 6)
    assert row["average_degree"] == pytest.approx(2 * 3 / 3)


def test_overlap_compares_edges_between_shared_nodes() -> None:
    table = overlap(make("ab", "bc", "cd", name="A"), make("cb", "ca", "ce", name="B"))
    nodes, edges = table.iter_rows(named=True)
    assert table.schema == pl.Schema(OVERLAPS)
    assert (nodes["n_a"], nodes["n_b"], nodes["n_shared"]) == (4, 4, 3)
    assert nodes["shared"] == pytest.approx(3 / 5)
    assert (edges["n_a"], edges["n_b"], edges["n_shared"]) == (2, 2, 1)
    assert (edges["only_a"], edges["shared"]) == (pytest.approx(1 / 2), pytest.approx(1 / 3))


@given(networks(), networks())
def test_overlap_is_that_of_sets(a: Network, b: Network) -> None:
    if a.directed != b.directed:
        with pytest.raises(InputError, match="is directed and"):
            overlap(a, b)
        return
    common = set(a.words) & set(b.words)
    pairs = [
        {tuple(e if n.directed else sorted(e)) for e in n.edges().select("src", "tgt").iter_rows()
         if set(e) <= common} for n in (a, b)
    ]  # fmt: skip
    edges = overlap(a, b).row(1, named=True)
    assert (edges["n_a"], edges["n_b"]) == (len(pairs[0]), len(pairs[1]))
    assert edges["n_shared"] == len(pairs[0] & pairs[1])


def test_networks_that_share_nothing() -> None:
    edges = overlap(make("ab"), make("cd")).row(1, named=True)
    assert edges["shared"] is edges["only_a"] is None
