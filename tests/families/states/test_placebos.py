"""Profiles on axes whose pole labels are shuffled, and tests with shuffled attributes."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
import pytest

from clinometer_measures.states.association import test_associations as associate
from clinometer_measures.states.axes import build_axes
from clinometer_measures.states.dictionary import SENSES, Dictionary
from clinometer_measures.states.placebos import shuffle_poles
from clinometer_measures.states.profiles import ProfileSetting, measure_profile
from clinometer_measures.states.readers.states import HiddenStates
from clinometer_measures.states.word_tests import TestSetting, WordSet, WordTest
from clinometer_measures.states.words import Words

ORIGIN = {"model": "mine", "contexts": "none", "removed": 0}
DIMENSIONS = ("Warmth", "Competence", "Politics")


def dictionary_of(n_high: int, n_low: int, swap: dict[str, str] | None = None) -> Dictionary:
    """Make a dictionary of words named by dimension and number; `swap` changes their poles."""
    rows = []
    for dimension in DIMENSIONS:
        for number in range(n_high + n_low):
            word = f"{dimension}{number}"
            direction = (swap or {}).get(word, "high" if number < n_high else "low")
            rows.append((word, word, None, None, dimension, direction, []))
    return Dictionary("mine", pl.DataFrame(rows, schema=dict(SENSES), orient="row"))


def states_of(words: Any, values: np.ndarray) -> HiddenStates:
    layers = tuple(map(str, range(values.shape[1])))
    return HiddenStates(
        tuple(words), layers, values.astype(np.float32), np.ones(len(words), np.int64)
    )


def people(count: int) -> Words:
    return Words("people", {g: tuple(f"{g}{n}" for n in range(count)) for g in "ab"})


def stretched(
    rng: np.random.Generator, words: int, layers: int = 1, first: float = 4.0
) -> np.ndarray:
    """Draw states that vary in a few directions, as those of models do."""
    return rng.normal(size=(words, layers, 40)) * np.geomspace(first, 0.4, 40)


def placebo_rows(
    poles: HiddenStates, dictionary: Dictionary, states: HiddenStates, words: Words
) -> Any:
    setting = ProfileSetting(draws=1, placebos=199)
    estimates = measure_profile(
        poles, dictionary, states, words, of=ORIGIN, setting=setting
    ).estimates
    return estimates.filter(measure="profile_difference")


def test_shuffles_are_the_axes_of_dictionaries_with_other_poles() -> None:
    """Against the least squares axes of all relabelled dictionaries, in the unit of the first."""
    rng, dictionary = np.random.default_rng(1), dictionary_of(2, 3)
    poles = states_of(dictionary.terms, stretched(rng, 15, layers=2))
    point = stretched(rng, 1, layers=2)
    shuffled = shuffle_poles(poles, dictionary, point, draws=300, seed=0)[:, :, 0]
    broad = len(dictionary.broad)
    assert shuffled.shape == (3, broad + 3, 300)
    for row, dimension in enumerate(DIMENSIONS, broad):
        expected = []
        for high in combinations(range(5), 2):
            swap = {f"{dimension}{n}": "high" if n in high else "low" for n in range(5)}
            inverse = build_axes(poles, dictionary_of(2, 3, swap)).inverse[:, row]
            lengths = 1 / (inverse**2).sum(axis=1)
            expected.append((inverse * point[0]).sum(axis=1) * lengths)
            if high == (0, 1):  # as labelled
                unit = lengths
        layers = np.transpose(expected) / unit[:, None]
        for layer, values in enumerate([*layers, layers.mean(axis=0)]):
            assert set(shuffled[layer, row].round(5)) == set(values.round(5))


def test_p_is_uniform_where_labels_say_nothing_and_the_t_test_is_not() -> None:
    rng, words = np.random.default_rng(2), people(15)
    dictionary = dictionary_of(8, 8)
    tables = []
    for _ in range(60):
        poles = states_of(dictionary.terms, stretched(rng, 48))
        values = stretched(rng, 30)
        values[:15] += stretched(rng, 1)  # groups differ, in a direction without meaning
        rows = placebo_rows(poles, dictionary, states_of(words.all, values), words)
        tables.append(rows.filter(space="fine", layer="0"))
    p = {m: pl.concat(tables).filter(method=m)["p"].to_numpy() for m in ("published", "placebo")}
    assert len(p["placebo"]) == 180 and np.mean(p["published"] <= 0.05) > 0.25
    # 3 tests of one draw of states are related; 60 draws of .05 give more than 8 once in 100
    assert np.mean(p["placebo"] <= 0.05) <= 8 / 60
    assert 0.35 <= np.mean(p["placebo"] <= 0.5) <= 0.65


def planted() -> tuple[HiddenStates, Dictionary, HiddenStates, Words]:
    rng, words = np.random.default_rng(3), people(15)
    dictionary = dictionary_of(8, 8)
    values, compared = stretched(rng, 48, first=1.0), stretched(rng, 30, first=1.0)
    values[:8, :, 30] += 3.0  # warm words and the first group share a direction
    compared[:15, :, 30] += 3.0
    return states_of(dictionary.terms, values), dictionary, states_of(words.all, compared), words


def test_a_planted_difference_is_found_on_its_dimension_only() -> None:
    rows = placebo_rows(*planted()).filter(space="fine", layer="0", method="placebo")
    p = dict(rows.select("dimension", "p").rows())
    assert p["Warmth"] <= 0.01 < 0.05 < min(p["Competence"], p["Politics"])
    warm = rows.row(0, named=True)
    assert warm["estimate"] > warm["placebo_high"] > 0 > warm["placebo_low"]
    assert (warm["n_resamples"], warm["alternative"]) == (199, "two-sided")
    assert warm["p_holm"] == pytest.approx(3 * warm["p"])


def test_rotated_and_scaled_states_have_the_same_p() -> None:
    poles, dictionary, states, words = planted()
    rotation = np.linalg.qr(np.random.default_rng(4).normal(size=(40, 40)))[0] * 3.0
    turned = [replace(s, values=(s.values @ rotation).astype(np.float32)) for s in (poles, states)]
    plain = placebo_rows(poles, dictionary, states, words).filter(method="placebo")
    again = placebo_rows(turned[0], dictionary, turned[1], words).filter(method="placebo")
    assert again["p"].to_list() == plain["p"].to_list()
    np.testing.assert_allclose(again["placebo_low"], plain["placebo_low"], atol=1e-4)


def test_the_groups_exchanged_turn_the_signs() -> None:
    poles, dictionary, states, words = planted()
    exchanged = Words("people", {g: words.groups[g] for g in "ba"})
    straight, turned = (
        placebo_rows(poles, dictionary, states, w).filter(method="placebo")
        for w in (words, exchanged)
    )
    assert turned["p"].to_list() == straight["p"].to_list()
    np.testing.assert_allclose(turned["placebo_mean"], -straight["placebo_mean"], atol=1e-9)
    np.testing.assert_allclose(turned["placebo_low"], -straight["placebo_high"], atol=1e-9)


def weat_rows(values: np.ndarray, sizes: tuple[int, ...], method: str = "weat") -> pl.DataFrame:
    names = ("x", "y", "s", "t")
    sets = [
        WordSet(n, tuple(f"{n}{i}" for i in range(k))) for n, k in zip(names, sizes, strict=True)
    ]
    states = states_of([w for word_set in sets for w in word_set.words], values)
    setting = TestSetting(draws=0, placebos=399)
    return associate(
        states, [WordTest("mine", "one", *sets)], of=ORIGIN, method=method, setting=setting
    ).estimates  # fmt: skip


def test_attributes_without_meaning_pass_the_permutation_test_but_not_the_placebo() -> None:
    rng, tables = np.random.default_rng(5), []
    for _ in range(80):
        values = stretched(rng, 32)
        values[:8] += stretched(rng, 1)  # the targets differ, in a direction without meaning
        tables.append(weat_rows(values, (8, 8, 8, 8)).filter(alternative="two-sided"))
    p = {m: pl.concat(tables).filter(method=m)["p"].to_numpy() for m in ("permutation", "placebo")}
    assert np.mean(p["permutation"] <= 0.05) > 0.15
    assert np.mean(p["placebo"] <= 0.05) <= 10 / 80  # more come up less than once in 100
    assert 28 / 80 <= np.mean(p["placebo"] <= 0.5) <= 52 / 80


def placed(tables: list[pl.DataFrame], method: str) -> np.ndarray:
    return pl.concat(tables).filter(method=method, alternative="two-sided")["p"].to_numpy()


def test_groups_without_a_difference_pass_the_test_of_mac_but_not_the_placebo() -> None:
    """All words, of either group, are nearer to the first attributes than to the second."""
    rng, tables = np.random.default_rng(8), []
    for _ in range(60):
        values, common = stretched(rng, 32), stretched(rng, 1)
        values[:24] += common
        values[24:] -= common
        tables.append(weat_rows(values, (8, 8, 8, 8), "mac"))
    assert np.mean(placed(tables, "permutation") <= 0.05) > 0.5
    p = placed(tables, "placebo")
    assert len(p) == 120  # the two groups of a test mirror each other: 60 of .05 or .5
    assert 0 < np.mean(p <= 0.05) <= 8 / 60 and 21 / 60 <= np.mean(p <= 0.5) <= 39 / 60


def test_a_group_unlike_the_other_is_found_by_mac() -> None:
    values = stretched(np.random.default_rng(9), 32, first=1.0)
    values[:8, :, 30] += 4.0
    values[16:24, :, 30] += 4.0
    row = weat_rows(values, (8, 8, 8, 8), "mac").filter(method="placebo").row(0, named=True)
    assert row["p"] <= 0.02 and row["estimate"] > row["placebo_high"]
    assert (row["first"], row["second"], row["n_resamples"]) == ("x", None, 399)


def ceat_rows(values: np.ndarray) -> pl.DataFrame:
    """Estimate CEAT of 8 words a set; `values` has the shape (32, contexts, 40)."""
    sets = [WordSet(n, tuple(f"{n}{i}" for i in range(8))) for n in ("x", "y", "s", "t")]
    keys = [
        f"{word}|{n}"
        for word_set in sets
        for word in word_set.words
        for n in range(values.shape[1])
    ]
    states = states_of(keys, values.reshape(len(keys), 1, -1))
    setting = TestSetting(samples=50, placebos=399)
    return associate(
        states, [WordTest("mine", "one", *sets)], of=ORIGIN, method="ceat", setting=setting
    ).estimates  # fmt: skip


def test_attributes_without_meaning_pass_the_test_of_ceat_but_not_the_placebo() -> None:
    rng, tables = np.random.default_rng(10), []
    for _ in range(60):
        values = stretched(rng, 32) + 0.5 * stretched(rng, 32, layers=3)
        values[:8] += stretched(rng, 1)  # the targets differ, in a direction without meaning
        tables.append(ceat_rows(values))
    assert np.mean(placed(tables, "random_effects") <= 0.05) > 0.5
    p = placed(tables, "placebo")
    assert len(p) == 60 and 0 < np.mean(p <= 0.05) <= 8 / 60
    assert 21 / 60 <= np.mean(p <= 0.5) <= 39 / 60


def test_placebos_of_words_in_one_state_are_those_of_weat() -> None:
    """All contexts of a word are alike: all draws are, and CEAT is WEAT."""
    values = stretched(np.random.default_rng(11), 32)
    weat = weat_rows(values, (8, 8, 8, 8)).filter(method="placebo")
    ceat = ceat_rows(np.repeat(values, 3, axis=1)).filter(method="placebo")
    for name in ("estimate", "p", "placebo_mean", "placebo_low", "placebo_high"):
        assert ceat[name].item() == pytest.approx(weat[name].item(), abs=1e-5)


def test_attributes_that_mean_something_are_found() -> None:
    values = stretched(np.random.default_rng(6), 32, first=1.0)
    values[:8, :, 30] += 4.0
    values[16:24, :, 30] += 4.0
    row = weat_rows(values, (8, 8, 8, 8)).filter(method="placebo").row(0, named=True)
    assert row["p"] <= 0.02 and row["estimate"] > row["placebo_high"] > 0.5
    assert abs(row["placebo_mean"]) < 0.3 and row["n_resamples"] == 399


@pytest.mark.parametrize(
    ("method", "sizes"), [("weat", (8, 8, 1, 1)), ("mac", (2, 2, 8, 8)), ("ripa", (1, 1, 8, 8))]
)
def test_few_words_to_shuffle_leave_a_note(method: str, sizes: tuple[int, ...]) -> None:
    values = stretched(np.random.default_rng(7), sum(sizes))
    row = weat_rows(values, sizes, method).filter(method="placebo").row(0, named=True)
    assert (row["p"], row["n_resamples"]) == (None, None)
    assert row["note"] == "too few words to shuffle between two sets"
