"""Spreading activation against spreadr's numbers, and what must hold of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import assume, given
from hypothesis import strategies as st

from clinometer.errors import InputError
from clinometer_measures.networks import Network
from clinometer_measures.networks.loading import read_network
from clinometer_measures.networks.running import find_followers
from clinometer_measures.networks.spreading import (
    Activation,
    Spreading,
    activate,
    spread,
    transition,
)


def network(*rows: tuple[str, str, float], directed: bool = False) -> Network:
    frame = pl.DataFrame(rows, schema=["src", "tgt", "wt"], orient="row")
    return Network.from_edges(frame, directed=directed)


PATH = network(("a", "b", 1), ("b", "c", 3))

#: Graphs of up to eight nodes, without loops.
GRAPHS = st.dictionaries(
    st.tuples(st.integers(0, 7), st.integers(0, 7)).filter(lambda e: e[0] < e[1]),
    st.floats(0.1, 50),
    min_size=1,
    max_size=20,
).map(lambda weights: network(*[(str(a), str(b), w) for (a, b), w in weights.items()]))


def test_haiku_is_activated_as_by_spreadr(shared_data: Path) -> None:
    haiku = read_network(shared_data / "lwow" / "FA_Haiku_edgelist.csv")
    theirs = pl.read_csv(shared_data / "lwow" / "Haiku_gender_activation.csv")
    primes = theirs.columns[1:]
    ours = activate(haiku, primes).frame()
    joint = theirs.select("node").join(ours, on="node", how="left", maintain_order="left")
    error = joint.select(primes).to_numpy() / theirs.select(primes).to_numpy() - 1
    assert np.abs(error).max() < 1e-12


@given(GRAPHS, st.floats(0, 1), st.integers(1, 30))
def test_mass_is_kept(net: Network, retention: float, steps: int) -> None:
    activation = activate(net, net.words[:3], Spreading(retention, steps))
    np.testing.assert_allclose(activation.values.sum(axis=0), len(net), rtol=1e-12)
    np.testing.assert_allclose(activation.l1, len(net), rtol=1e-12)


@given(GRAPHS, st.floats(0, 1), st.integers(1, 30))
def test_activation_is_symmetric_up_to_strength(net: Network, r: float, steps: int) -> None:
    activation = activate(net, net.words, Spreading(r, steps)).values
    flow = activation * np.asarray(net.weights.sum(axis=1))  # X[j, i] · d_i
    np.testing.assert_allclose(flow, flow.T, rtol=1e-9, atol=1e-9)


@given(GRAPHS, st.integers(1, 30), st.floats(0, 0.5), st.floats(0, 1))
def test_it_is_the_definition_step_by_step(
    net: Network, steps: int, decay: float, suppress: float
) -> None:
    spreading = Spreading(0.3, steps, decay=decay, suppress=suppress)
    matrix, expected = transition(net, spreading).toarray(), np.eye(len(net)) * len(net)
    for _ in range(steps):
        expected = matrix @ expected * (1 - decay)
        assume(not suppress or not np.isclose(expected, suppress, rtol=1e-9, atol=0).any())
        expected[expected < suppress] = 0
    activation = activate(net, net.words, spreading).values
    np.testing.assert_allclose(activation, expected, rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize("size", [40, 4_000])
def test_a_long_path_is_walked_as_the_definition_has_it(size: int) -> None:
    net = network(*[(str(place), str(place + 1), 1.0 + place % 7) for place in range(size)])
    activation = activate(net, ["3", "0"], Spreading(0.4, 30)).values
    expected = np.zeros((len(net), 2))
    expected[3, 0] = expected[0, 1] = len(net)
    for _ in range(30):
        expected = transition(net, Spreading(0.4)) @ expected
    np.testing.assert_allclose(activation, expected, rtol=1e-12)


def test_one_step_by_hand() -> None:
    activation = activate(PATH, ["b"], Spreading(0.4, 1, start=100)).frame()
    assert activation.rows() == [("a", pytest.approx(15)), ("b", 40), ("c", pytest.approx(45))]


def test_an_unweighted_network_shares_equally() -> None:
    activation = activate(PATH, ["b"], Spreading(0.5, 1, weighted=False, start=4)).values
    assert activation.ravel().tolist() == [1, 2, 1]


def test_decay_and_then_suppression() -> None:
    activation = activate(PATH, ["b"], Spreading(0.5, 1, start=100, decay=0.1, suppress=12)).values
    assert activation.ravel().tolist() == pytest.approx([0, 45, 33.75])  # a: 12.5 · .9 < 12


def test_retention_may_differ_by_node() -> None:
    activation = activate(PATH, ["b"], Spreading([1, 0, 1], 2, start=4)).values
    assert activation.ravel().tolist() == [1, 0, 3]


def test_a_directed_network_passes_on_along_its_edges_and_ends_keep_all() -> None:
    net = network(("a", "b", 1), ("a", "c", 3), directed=True)
    activation = activate(net, ["a"], Spreading(0.5, 2, start=4)).values
    assert activation.ravel().tolist() == [1, 0.75, 2.25]


def test_loops_keep_what_they_carry_unless_spreadr_is_asked_for() -> None:
    net = network(("a", "a", 1), ("a", "b", 1))
    with pytest.warns(UserWarning, match="1 self-loops: what they carry comes back"):
        activation = activate(net, ["a"], Spreading(0.5, 1, start=4))
    with pytest.warns(UserWarning, match="is lost, as in spreadr"):
        lost = activate(net, ["a"], Spreading(0.5, 1, start=4, spreadr_loops=True))
    assert activation.values.ravel().tolist() == [3, 1]
    assert lost.values.ravel().tolist() == [2, 1]


def sparse(count: int = 260, *, loops: bool = False, directed: bool = False) -> Network:
    """A random network with many words of one neighbour or two."""
    rng = np.random.default_rng(0)
    pairs = rng.integers(0, 200, size=(count, 2))
    rows = {tuple(sorted(pair)) for pair in pairs.tolist() if loops or pair[0] != pair[1]}
    return network(*[(str(a), str(b), a + b + 1.0) for a, b in rows], directed=directed)


@pytest.mark.parametrize("hold", [0, 40 * 8 * 200, 10**9])
@pytest.mark.parametrize(
    "spreading",
    [
        Spreading(0.5, 9),
        Spreading(0.0, 9),
        Spreading(0.9, 30, decay=0.1, start=3.0),
        Spreading(0.5, 9, suppress=0.1),
        Spreading(0.5, 9, weighted=False),
    ],
)
def test_many_primes_give_what_each_gives_alone(spreading: Spreading, hold: int) -> None:
    net = sparse()
    activation = np.full((len(net), len(net)), np.nan)
    for places, block in spread(net, net.words, spreading, hold=hold):
        activation[:, places] = block
    alone = [activate(net, [prime], spreading).values[:, 0] for prime in net.words]
    np.testing.assert_allclose(activation, np.column_stack(alone), rtol=1e-12, atol=1e-300)


@pytest.mark.filterwarnings("ignore::clinometer.errors.ClinometerWarning")
@pytest.mark.parametrize("net", [sparse(loops=True), sparse(400, directed=True)])
def test_so_they_do_with_loops_and_with_edges_of_one_direction(net: Network) -> None:
    activation = activate(net, net.words, Spreading(0.5, 9)).values
    alone = [activate(net, [prime], Spreading(0.5, 9)).values[:, 0] for prime in net.words]
    np.testing.assert_allclose(activation, np.column_stack(alone), rtol=1e-12)


def test_half_of_all_primes_follow_and_fewer_where_little_may_be_held() -> None:
    net = sparse()
    step, places = sp.csc_array(transition(net, Spreading())), np.arange(len(net))
    shares = []
    for most in (0, 20, len(net)):
        following = find_followers(step, places, 0.5, most)
        followers = {f for some in following.followers.values() for f in some}
        shares.append(len(followers))
        assert len(followers) + len(following.leaders) + len(following.unfollowed) == len(net)
        assert not followers & {*following.leaders.tolist()}
    assert shares[0] < shares[1] < shares[2] and shares[2] > 0.45 * len(net)


def test_kept_targets_are_normalised_as_all_are() -> None:
    all_words = activate(PATH, ["a", "c"], Spreading(time_steps=3))
    some = activate(PATH, ["a", "c"], Spreading(time_steps=3), targets=["c", "b"])
    for norm in ("l2", "l1", "none"):
        np.testing.assert_allclose(some.normalised(norm), all_words.normalised(norm)[[2, 1]])


def test_rows_and_columns_have_norm_1() -> None:
    activation = activate(PATH, ["a", "b"], Spreading(time_steps=4))
    np.testing.assert_allclose((activation.normalised("l2") ** 2).sum(axis=1), 1)
    np.testing.assert_allclose(activation.normalised("l1").sum(axis=1), 1)


def test_a_word_that_no_prime_reaches_stays_0() -> None:
    net = network(("a", "b", 1), ("c", "d", 1))
    activation = activate(net, ["a"], Spreading(time_steps=2), targets=["a", "b", "c", "d"])
    assert activation.normalised()[:, 0].tolist() == [1, 1, 0, 0]


def test_blocks_are_handed_over_one_at_a_time() -> None:
    blocks = [block.shape for _, block in spread(PATH, PATH.words, Spreading(time_steps=1))]
    assert blocks == [(3, 3)]


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"retention": 1.1}, "retention 1.1: allowed is 0 to 1"),
        ({"decay": -0.1}, "decay -0.1: allowed is 0 to 1"),
        ({"time_steps": 0}, "time_steps 0: at least 1"),
        ({"start": 0.0}, "start 0.0: a number above 0"),
        ({"suppress": float("nan")}, "suppress nan: 0 or more"),
    ],
)
def test_meaningless_settings_are_refused(setting: dict[str, float], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Spreading(**setting)


def test_wrong_primes_and_norms_are_refused() -> None:
    with pytest.raises(InputError, match="primes 'a': a list of words is expected"):
        activate(PATH, "a")
    with pytest.raises(InputError, match="primes: a stands twice"):
        activate(PATH, ["a", "b", "a"])
    with pytest.raises(InputError, match="retention: 2 numbers for 3 nodes"):
        activate(PATH, ["a"], Spreading([0.5, 0.5]))
    with pytest.raises(InputError, match="norm 'l3': allowed are l2, l1, none"):
        Activation((), (), np.empty((0, 0)), np.empty(0), np.empty(0)).normalised("l3")
