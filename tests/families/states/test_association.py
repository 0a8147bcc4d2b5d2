"""Association tests against reference numbers, scipy, and counts by hand."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from clinometer.errors import InputError
from clinometer.results import ESTIMATES
from clinometer_measures.states import association
from clinometer_measures.states.contexts import alone
from clinometer_measures.states.differential import Differential, permute
from clinometer_measures.states.readers.states import HiddenStates
from clinometer_measures.states.storing import read_states
from clinometer_measures.states.tables import ASSOCIATION_TESTS
from clinometer_measures.states.word_tests import TestSetting, WordSet, WordTest, load_tests

ORIGIN = {"model": "m", "contexts": "none", "removed": 0}
PLAIN = TestSetting(draws=0, placebos=0)


def random_states(words: Any, layers: int = 3, width: int = 5, seed: int = 0) -> HiddenStates:
    values = np.random.default_rng(seed).normal(size=(len(words), layers, width))
    names = tuple(str(layer) for layer in range(layers))
    counts = np.ones(len(words), dtype=np.int64)
    return HiddenStates(tuple(words), names, values.astype(np.float32), counts)


def word_test(*sizes: int, name: str = "one") -> WordTest:
    letters = "xyab"
    sets = [
        WordSet(s, tuple(f"{s}{i}" for i in range(n))) for s, n in zip(letters, sizes, strict=True)
    ]
    return WordTest("mine", name, *sets)


def words(test: WordTest) -> list[str]:
    return [word for word_set in test.sets for word in word_set.words]


def measure(test: WordTest, states: HiddenStates, **options: Any) -> pl.DataFrame:
    tested = association.test_associations(
        states, [test], of=ORIGIN, **{"setting": PLAIN, **options}
    )
    return tested.estimates


def upper_rows(estimates: pl.DataFrame) -> pl.DataFrame:
    return estimates.filter(alternative="greater")


def test_minilm_has_the_reference_effects(minilm: Any) -> None:
    """Effects with ddof 0 and exact p of the last layer, made with the paper's formulas."""
    tests = load_tests("caliskan2017")[5:8]
    states = read_states(
        minilm, alone(sorted({w for word_test in tests for w in words(word_test)}))
    )
    tested = association.test_associations(states, tests, of=ORIGIN, setting=PLAIN).estimates
    rows = upper_rows(tested).filter(layer="6")
    np.testing.assert_allclose(rows["estimate"], [0.37371, 0.77545, 0.75531], atol=1e-4)
    np.testing.assert_allclose(rows["p"], [0.242580, 0.068998, 0.074592], atol=1e-4)
    assert rows["n_resamples"].to_list() == [12_870] * 3 and set(rows["test"]) == {"exact"}


def test_rows_have_the_columns_and_an_order() -> None:
    test, second = word_test(3, 3, 2, 2), word_test(3, 3, 2, 2, name="two")
    states = random_states(words(test))
    estimates, tests = association.test_associations(states, [test, second], of=ORIGIN)
    assert dict(estimates.schema) == ESTIMATES and dict(tests.schema) == ASSOCIATION_TESTS
    methods = estimates.select("method", "alternative").rows()
    assert methods[:4] == [("permutation", "greater"), ("permutation", "two-sided"),
                           ("placebo", "two-sided"), ("bootstrap", None)]  # fmt: skip
    upper = upper_rows(estimates)
    assert upper["layer"].to_list() == ["0", "1", "2"] * 2
    assert (upper["p_holm"] >= upper["p"]).all()
    twice = np.minimum(1, 2 * upper["p"].to_numpy())
    np.testing.assert_allclose(upper["p_holm"], twice)
    assert estimates.filter(pl.col("p_holm").is_not_null()).height == upper.height
    assert tests.select("first", "n_first", "n_against").row(0) == ("x", 3, 2)


def test_weat_is_the_papers_formula() -> None:
    test = word_test(4, 3, 2, 5)
    states = random_states(words(test))
    row, two_sided = measure(test, states).filter(layer="1").iter_rows(named=True)
    x, y, a, b = (states.of(word_set.words)[:, 1] for word_set in test.sets)

    def s(word: Any) -> float:
        near = [[word @ v / np.linalg.norm(word) / np.linalg.norm(v) for v in vs] for vs in (a, b)]
        return float(np.mean(near[0]) - np.mean(near[1]))

    first, second = [s(word) for word in x], [s(word) for word in y]
    spread = np.std([*first, *second])
    assert row["estimate"] == pytest.approx((np.mean(first) - np.mean(second)) / spread)
    assert row["statistic"] == pytest.approx(sum(first) - sum(second))
    means = [
        np.mean(part) - (sum([*first, *second]) - sum(part)) / 3
        for part in itertools.combinations([*first, *second], 4)
    ]
    assert row["p"] == pytest.approx(np.mean(np.array(means) >= means[0] - 1e-12))
    wide = np.mean(np.abs(means) >= abs(means[0]) - 1e-12)
    assert two_sided["p"] == pytest.approx(wide)


@settings(max_examples=25)
@given(st.integers(2, 5), st.integers(2, 5), st.integers(0, 99))
def test_exact_p_is_that_of_scipy(first: int, second: int, seed: int) -> None:
    values = np.random.default_rng(seed).integers(0, 4, size=first + second) / 8

    def statistic(x: Any, y: Any) -> float:
        return float(np.mean(x) - np.mean(y))

    theirs = stats.permutation_test(
        (values[:first], values[first:]), statistic, alternative="greater", n_resamples=np.inf
    )
    permuted = permute(values[None], first, TestSetting())
    assert permuted.exact and permuted.p[0] == pytest.approx(theirs.pvalue)


def test_drawn_partitions_come_near_the_exact_p() -> None:
    values = np.random.default_rng(1).normal(size=(2, 20))
    exact = permute(values, 8, TestSetting())
    sampled = permute(values, 8, TestSetting(most_partitions=1_000, drawn_partitions=50_000))
    assert (exact.exact, sampled.exact, sampled.n_partitions) == (True, False, 50_001)
    np.testing.assert_allclose(sampled.p, exact.p, atol=0.005)
    np.testing.assert_allclose(sampled.p_two_sided, exact.p_two_sided, atol=0.005)


def test_partitions_are_drawn_without_replacement() -> None:
    """All but one of 70 are drawn: with the one found, that is the exact p."""
    values = np.random.default_rng(2).normal(size=(1, 8))
    some = TestSetting(most_partitions=0, drawn_partitions=68)
    sampled, exact = permute(values, 4, some), permute(values, 4, TestSetting())
    assert sampled.n_partitions == 69 and not sampled.exact
    assert abs(sampled.p[0] * 69 - exact.p[0] * 70) <= 1
    assert permute(values, 4, TestSetting(most_partitions=0)).exact


def test_a_large_test_never_has_a_p_of_0() -> None:
    values = np.repeat([[1.0, 0.0]], 25, axis=1)
    permuted = permute(values, 25, TestSetting(drawn_partitions=999))
    assert permuted.p[0] == pytest.approx(1 / 1000)


def test_the_interval_is_that_of_scipy() -> None:
    """BCa of scipy.stats.bootstrap on indices of words, with as many draws."""
    rng = np.random.default_rng(3)
    products = rng.normal(size=(1, 9, 11))
    products[0, :4, :5] += 0.5
    differential = Differential(products, 4, 5)

    def effect(*places: Any) -> float:
        x, y, a, b = (place.astype(int) for place in places)
        s = products[0][:, a].mean(axis=1) - products[0][:, b].mean(axis=1)
        return float((s[x].mean() - s[y].mean()) / s[np.concatenate([x, y])].std())

    sets = (np.arange(4), np.arange(4, 9), np.arange(5), np.arange(5, 11))
    theirs = stats.bootstrap(
        sets, effect, vectorized=False, n_resamples=4_000, rng=np.random.default_rng(0)
    ).confidence_interval
    low, high = differential.interval(0.95, 4_000, 0)
    assert differential.effect()[0] == pytest.approx(effect(*sets))
    np.testing.assert_allclose([low[0], high[0]], theirs, atol=0.06)


def test_a_seed_gives_the_same_interval_and_another_does_not() -> None:
    test = word_test(4, 4, 4, 4)
    states = random_states(words(test))
    same = [measure(test, states, setting=TestSetting(draws=200, seed=seed)) for seed in (0, 0, 1)]
    assert same[0].equals(same[1])
    intervals = [estimates.filter(method="bootstrap") for estimates in same]
    assert not intervals[0]["ci_low"].equals(intervals[2]["ci_low"])
    assert (intervals[0]["ci_low"] < intervals[0]["ci_high"]).all()
    assert set(intervals[0]["n_resamples"]) == {200}


def test_swapped_targets_turn_the_sign() -> None:
    test = word_test(4, 4, 3, 3)
    turned = WordTest("mine", "one", test.second, test.first, test.toward, test.against)
    states = random_states(words(test))
    for method in ("weat", "ripa"):
        straight, reversed_ = (measure(t, states, method=method) for t in (test, turned))
        np.testing.assert_allclose(straight["estimate"], -reversed_["estimate"])


def test_templates_make_it_seat_over_mean_states() -> None:
    test = word_test(2, 3, 2, 2)
    separate = random_states([f"{word}|{n}" for word in words(test) for n in range(4)])
    means = separate.values.reshape(-1, 4, 3, 5).mean(axis=1)
    averaged = HiddenStates(tuple(words(test)), separate.layers, means, np.full(9, 4))
    setting = {"of": ORIGIN | {"contexts": "templates"}, "setting": PLAIN}
    estimates = [
        association.test_associations(states, [test], **setting).estimates
        for states in (separate, averaged)
    ]
    assert set(estimates[0]["measure"]) == {"seat"}
    np.testing.assert_allclose(estimates[0]["estimate"], estimates[1]["estimate"], atol=1e-5)


def test_ripa_projects_attributes_on_the_line_between_the_groups() -> None:
    test = word_test(1, 1, 3, 4)
    states = random_states(words(test))
    row = upper_rows(measure(test, states, method="ripa")).row(2, named=True)
    x, y, a, b = (states.of(word_set.words)[:, 2] for word_set in test.sets)
    line = (x[0] - y[0]) / np.linalg.norm(x[0] - y[0])
    along = np.concatenate([a, b]) @ line
    expected = (along[:3].mean() - along[3:].mean()) / along.std()
    assert row["estimate"] == pytest.approx(expected)
    assert row["n_resamples"] == 35


def test_mac_tells_which_group_is_associated() -> None:
    test = word_test(2, 2, 3, 3)
    values = np.random.default_rng(4).normal(size=(10, 1, 40))
    values[:2] += 3 * values[4:7].mean(axis=0)
    states = HiddenStates(tuple(words(test)), ("0",), values.astype(np.float32), np.ones(10, int))
    first, second = upper_rows(measure(test, states, method="mac")).iter_rows(named=True)
    assert (first["first"], first["second"], second["first"]) == ("x", None, "y")
    assert first["estimate"] > 0.3 > abs(second["estimate"])
    assert (first["p"], first["n_resamples"]) == (0.05, 20)
    assert second["toward"] == "b"


def test_a_group_of_one_word_has_no_weat_and_a_reason() -> None:
    test = word_test(1, 1, 3, 3)
    estimates = measure(test, random_states(words(test)))
    assert (
        estimates["estimate"].null_count()
        == estimates["p_holm"].null_count()
        == estimates.height
        == 6
    )
    assert estimates["note"][0] == "too few words for the test: x has 1"


def test_words_that_are_all_alike_have_no_effect_and_a_reason() -> None:
    test = word_test(2, 2, 2, 2)
    values = np.ones((8, 1, 3), dtype=np.float32)
    states = HiddenStates(tuple(words(test)), ("0",), values, np.ones(8, dtype=np.int64))
    estimates = measure(test, states, setting=TestSetting(draws=50))
    assert estimates.height == 4
    assert [estimates[name].null_count() for name in ("estimate", "p", "ci_low")] == [4] * 3
    assert set(estimates["note"]) == {"no word is closer than another"}


def test_what_cannot_be_tested_is_told() -> None:
    test = word_test(2, 2, 2, 2)
    states = random_states(words(test))
    with pytest.raises(InputError, match="no states of 1 terms: 'b1'"):
        measure(test, random_states(words(test)[:-1]))
    with pytest.raises(InputError, match="method 'wefat': allowed are weat"):
        measure(test, states, method="wefat")
    states.values[2, 1] = 0
    with pytest.raises(InputError, match="the state of 'y0' at layer 1 is all zero"):
        measure(test, states)


@pytest.mark.parametrize(
    "wrong", [{"confidence": 1.0}, {"draws": -1}, {"drawn_partitions": 0}, {"samples": 1}]
)
def test_settings_that_mean_nothing_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=next(iter(wrong))):
        TestSetting(**wrong)
