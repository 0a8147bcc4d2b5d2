"""The network: nodes, edges, and words that are neither."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clinometer.errors import InputError
from clinometer_measures.networks import Network

WORDS = st.text("abcé '", min_size=1, max_size=3).filter(str.strip)
EDGES = st.dictionaries(
    st.frozensets(WORDS, min_size=2, max_size=2), st.integers(1, 99), min_size=1, max_size=20
)


def edges(*rows: tuple[str, str, float]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=["src", "tgt", "wt"], orient="row")


@given(EDGES)
def test_edges_come_back_as_they_went_in(weights: dict[frozenset[str], int]) -> None:
    network = Network.from_edges(edges(*[(*sorted(pair), w) for pair, w in weights.items()]))
    returned = {frozenset(row[:2]): row[2] for row in network.edges().iter_rows()}
    assert returned == weights
    assert network.n_edges == len(weights)
    assert (network.weights != network.weights.T).nnz == 0


def test_a_directed_network_keeps_both_ways_apart() -> None:
    network = Network.from_edges(edges(("a", "b", 2), ("b", "a", 3)), directed=True)
    assert network.weights.toarray().tolist() == [[0, 2], [3, 0]]
    assert network.edges().rows() == [("a", "b", 2), ("b", "a", 3)]


def test_words_that_look_like_missing_values_are_words() -> None:
    network = Network.from_edges(
        edges(("null", "nan", 1), ("none", "true", 1), ("null", "none", 1))
    )
    assert network.words == ("null", "none", "nan", "true")
    assert "nan" in network and "NaN" not in network


def test_a_loop_is_one_edge() -> None:
    network = Network.from_edges(edges(("a", "a", 2), ("a", "b", 1)))
    assert (network.n_edges, network.n_loops, len(network)) == (2, 1, 2)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([("a", "b", 0.0)], "edge 'a' – 'b': weight 0.0; weights are numbers above 0"),
        ([("a", "b", -1.0)], "weight -1.0"),
        ([("a", "b", float("inf"))], "weight inf"),
        ([("a", "b", None)], "weight None"),
        ([("a", "b", 1.0), ("b", "a", 1.0)], "edge 'b' – 'a' stands twice (an undirected edge"),
        ([("a", " ", 1.0)], "edge 1: a word is empty"),
        ([], "no edges; a network needs at least one"),
    ],
)
def test_wrong_edges_are_named(rows: list[tuple[str, str, float]], message: str) -> None:
    frame = pl.DataFrame(
        rows, schema={"src": pl.String, "tgt": pl.String, "wt": pl.Float64}, orient="row"
    )
    with pytest.raises(InputError, match=r"^net: ") as error:
        Network.from_edges(frame, name="net")
    assert message in str(error.value)


def test_a_missing_column_is_named() -> None:
    with pytest.raises(InputError, match="missing column wt; has src, tgt"):
        Network.from_edges(pl.DataFrame({"src": ["a"], "tgt": ["b"]}))


def test_an_absent_word_is_named_with_near_spellings() -> None:
    network = Network.from_edges(edges(("atheist", "god", 2)), name="Haiku")
    with pytest.raises(InputError, match=r"prime not in network 'Haiku': 'athiest' \(did you mean"):
        network.places(["god", "athiest"], "prime")
