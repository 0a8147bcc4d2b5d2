"""Networks rewired at random, effects beside theirs, and the published priming check."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clinometer.errors import InputError
from clinometer.results import ESTIMATES
from clinometer_measures.networks import Network
from clinometer_measures.networks.bias import measure_bias
from clinometer_measures.networks.controls import (
    absent_words,
    check_priming,
    compare_with_rewired,
    rewire,
    triplets,
)
from clinometer_measures.networks.lexicons import Lexicons
from clinometer_measures.networks.setting import Setting
from clinometer_measures.networks.study import NetworkStudy

FEW = Setting(missing="skip", draws=100, rewirings=19)


def network_of_edges(edges: dict[tuple[int, int], float], *, directed: bool = False) -> Network:
    rows = [(str(a), str(b), weight) for (a, b), weight in edges.items()]
    frame = pl.DataFrame(rows, schema=["src", "tgt", "wt"], orient="row")
    return Network.from_edges(frame, directed=directed, name="made")


#: Weights of up to 25 edges among nine words.
PAIRS = st.tuples(st.integers(0, 8), st.integers(0, 8))
EDGES = st.dictionaries(
    PAIRS.filter(lambda pair: pair[0] < pair[1]), st.floats(0.5, 9), min_size=1, max_size=25
)
ARROWS = st.dictionaries(PAIRS, st.floats(0.5, 9), min_size=1, max_size=25)


@given(EDGES, st.integers(0, 9))
def test_words_keep_their_number_of_edges_and_weights_stay(
    edges: dict[tuple[int, int], float], seed: int
) -> None:
    network = network_of_edges(edges)
    rewired = rewire(network, np.random.default_rng(seed))
    assert (rewired.words, rewired.name, rewired.n_loops) == (network.words, network.name, 0)
    before, after = network.weights.toarray(), rewired.weights.toarray()
    np.testing.assert_array_equal(after, after.T)
    np.testing.assert_array_equal((before > 0).sum(axis=0), (after > 0).sum(axis=0))
    np.testing.assert_array_equal(np.sort(before, axis=None), np.sort(after, axis=None))


@given(ARROWS, st.integers(0, 9))
def test_directed_edges_keep_where_they_start_and_loops_stay(
    edges: dict[tuple[int, int], float], seed: int
) -> None:
    network = network_of_edges(edges, directed=True)
    rewired = rewire(network, np.random.default_rng(seed))
    before, after = network.weights.toarray(), rewired.weights.toarray()
    np.testing.assert_array_equal(np.diag(before), np.diag(after))
    for axis in (0, 1):
        np.testing.assert_array_equal((before > 0).sum(axis=axis), (after > 0).sum(axis=axis))
    np.testing.assert_array_equal(np.sort(before, axis=1), np.sort(after, axis=1))


def test_who_is_joined_with_whom_is_left_to_chance() -> None:
    rng = np.random.default_rng(1)
    pairs = {tuple(sorted(pair)) for pair in rng.integers(0, 300, size=(900, 2)).tolist()}
    network = network_of_edges({(a, b): 1.0 for a, b in pairs if a != b})
    rewired = [rewire(network, np.random.default_rng(seed)) for seed in (0, 0, 1)]
    assert (rewired[0].weights != rewired[1].weights).nnz == 0
    for first, second in ((network, rewired[0]), (rewired[0], rewired[2])):
        shared = first.weights.multiply(second.weights).nnz / first.weights.nnz
        assert shared < 0.05  # by chance, about twice edges / nodes² = .02


def test_where_no_swap_is_possible_the_network_stays() -> None:
    complete = network_of_edges({(a, b): float(a + b) for a in range(5) for b in range(a + 1, 5)})
    assert (rewire(complete, np.random.default_rng(0)).weights != complete.weights).nnz == 0
    pair = network_of_edges({(0, 1): 2.0})
    assert (rewire(pair, np.random.default_rng(0)).weights != pair.weights).nnz == 0


def test_effects_stand_beside_those_of_the_rewired(
    little: Network, study: NetworkStudy, lexicons: Lexicons
) -> None:
    estimates = compare_with_rewired(little, study, lexicons=lexicons, setting=FEW)
    assert estimates.schema == ESTIMATES and set(estimates["method"]) == {"rewired"}
    rng, setting = np.random.default_rng(0), FEW.within(little)
    original, *rewired = (
        measure_bias([subject], study, lexicons=lexicons, setting=setting).estimates.filter(
            method="published"
        )
        for subject in (little, *(rewire(little, rng) for _ in range(19)))
    )
    alarms = estimates.filter(measure="false_alarm_rate")
    assert alarms["neutral"].unique().to_list() == [0.05]
    placed = estimates.filter(pl.col("measure") != "false_alarm_rate")
    keys = ("identity", "measure", "targets", "prime", "estimate", "direction", "n")
    assert placed.select(keys).equals(original.select(keys))
    sides = {"female": "greater", "male": "less", "girl": "two-sided", None: "greater"}
    contents = placed.select(pl.coalesce("targets", "prime")).to_series().to_list()
    for name, side in sides.items():
        place = contents.index(name)
        row = placed.row(place, named=True)
        effects = np.array(
            [e for subject in rewired if (e := subject["estimate"][place]) is not None]
        )
        ps = np.array([p for subject in rewired if (p := subject["p"][place]) is not None])
        above = (1 + np.count_nonzero(effects >= row["estimate"])) / (1 + len(effects))
        below = (1 + np.count_nonzero(effects <= row["estimate"])) / (1 + len(effects))
        p = {"greater": above, "less": below, "two-sided": min(1.0, 2 * min(above, below))}
        assert (row["alternative"], row["n_resamples"]) == (side, len(effects))
        assert row["p"] == pytest.approx(p[side])
        assert row["placebo_mean"] == pytest.approx(effects.mean())
        assert row["placebo_low"] == pytest.approx(np.quantile(effects, 0.025))
        matching = alarms.filter(
            pl.coalesce("targets", "prime").eq_missing(pl.lit(name, pl.String)),
            identity=row["identity"],
        )
        assert matching["estimate"].to_list() == [pytest.approx((ps <= 0.05).mean())]


def test_without_an_effect_there_is_no_p(little: Network, study: NetworkStudy) -> None:
    far = replace(little, words=tuple(word + "_" for word in little.words))
    estimates = compare_with_rewired(far, study, approaches=["stereotypes"], setting=FEW)
    assert (
        estimates.height == estimates["estimate"].null_count() == estimates["p"].null_count() == 2
    )


def test_haikus_stereotypes_are_beyond_chance(haiku: Network) -> None:
    estimates = compare_with_rewired(haiku, approaches=["stereotypes"], setting=FEW)
    placed = estimates.filter(measure="activation_effect")
    assert placed["p"].to_list() == [0.05, 0.05]
    assert (placed["placebo_mean"].abs() < 0.3).all() and (placed["n_resamples"] == 19).all()


def test_too_few_are_refused(little: Network, study: NetworkStudy) -> None:
    with pytest.raises(InputError, match="rewirings 5: at least 19"):
        Setting(rewirings=5)
    with pytest.raises(InputError, match="rewirings 0: at least 19 rewired networks"):
        compare_with_rewired(little, study, setting=replace(FEW, rewirings=0))


def test_haiku_is_primed_as_published(haiku: Network, shared_data: Path) -> None:
    correlation, effect = check_priming(haiku).iter_rows(named=True)
    tests = shared_data / "lwow" / "tests"
    with (tests / "corrLDT.csv").open(newline="") as file:
        r, p = (float(line["Haiku"]) for line in csv.DictReader(file))
    with (tests / "wilcoxonLDT.csv").open(newline="") as file:
        published_p, published = (float(line["Haiku"]) for line in csv.DictReader(file))
    assert correlation["n"] == effect["n"] == 50 and absent_words(haiku) == []
    assert correlation["measure"] == "priming_correlation"
    assert correlation["estimate"] == pytest.approx(r, abs=1e-10)
    assert correlation["p"] == pytest.approx(p, rel=1e-6)
    assert effect["measure"] == "priming_effect"
    assert effect["estimate"] == pytest.approx(published, abs=1e-10)
    assert effect["p"] == pytest.approx(published_p, rel=1e-6)


def test_the_triplets_are_the_published_ones(shared_data: Path) -> None:
    with (shared_data / "lwow" / "LDT_50_triplets.csv").open(newline="") as file:
        rows = [tuple(row) for row in csv.reader(file)][1:]
    assert triplets().cast(pl.String).rows() == rows


def test_a_network_without_the_words_has_no_number(little: Network) -> None:
    priming = check_priming(little)
    assert priming.select("n", "estimate").rows() == [(0, None), (0, None)]
    assert priming["note"].str.contains("fewer than three triplets").all()
    assert "britain" in absent_words(little)
