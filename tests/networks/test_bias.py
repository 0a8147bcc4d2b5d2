"""Bias in networks against the published effects, and what is said where words are missing."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import statsmodels.api as sm

from tiltmeter.errors import InputError
from tiltmeter.networks import Network
from tiltmeter.networks.bias import Lexicons, measure_bias, vary_setting
from tiltmeter.networks.setting import Setting
from tiltmeter.networks.spreading import Spreading, activate
from tiltmeter.results.networks import (
    ACTIVATIONS,
    COEFFICIENTS,
    DIFFERENCES,
    EFFECTS,
    SENSITIVITY,
)
from tiltmeter.stimuli import NetworkStudy
from tiltmeter.stimuli.network_study import parse_network_study

SKIP = Setting(missing="skip", draws=200)


def published(folder: Path, name: str, row: str) -> float:
    with (folder / "lwow" / "tests" / name).open(newline="") as file:
        return next(float(line["Haiku"]) for line in csv.DictReader(file) if line[""] == row)


def test_haikus_stereotypes_are_the_published_ones(haiku: Network, shared_data: Path) -> None:
    found = measure_bias([haiku], approaches=["stereotypes"]).effects
    for targets, name in (("female", "wilxoconGenderF.csv"), ("male", "wilxoconGenderM.csv")):
        row = found.row(by_predicate=pl.col("targets") == targets, named=True)
        assert row["effect"] == pytest.approx(published(shared_data, name, "effect"), abs=1e-9)
        assert row["p"] == pytest.approx(published(shared_data, name, "p"), rel=1e-6)
        assert (row["n"], row["time_steps"]) == (125, 22)
    assert found["stereotype"].to_list() == pytest.approx([0.669406247, 0.412442401])


def test_the_published_p_stands_beside_one_of_32_arrangements(haiku: Network) -> None:
    found = measure_bias([haiku], approaches=["stereotypes"]).effects
    assert found["n_permutations"].to_list() == [32, 32]
    assert found["p_permutation"].to_list() == [1 / 32, 3 / 32]
    assert (found["ci_low"] < found["effect"]).all() and (found["effect"] < found["ci_high"]).all()


def test_without_draws_there_are_no_intervals(little: Network, study: NetworkStudy) -> None:
    pair = [little, replace(little, name="other")]
    drawn, bare = (
        measure_bias(pair, study, approaches=["stereotypes"], setting=how)
        for how in (SKIP, replace(SKIP, draws=0))
    )
    for table, given in (("effects", ("ci_low", "ci_high")),
                         ("differences", ("ci_low", "ci_high", "p", "p_holm"))):  # fmt: skip
        full, less = getattr(drawn, table), getattr(bare, table)
        assert full.select(given).null_count().row(0) == (0,) * len(given)
        assert less.select(given).null_count().row(0) == (less.height,) * len(given)
        assert less.drop(given).equals(full.drop(given))
    with pytest.raises(InputError, match="draws 50: at least 100, or 0 for no intervals"):
        Setting(draws=50)


def test_tables_have_their_columns(
    little: Network, study: NetworkStudy, lexicons: Lexicons
) -> None:
    other = replace(little, name="other")
    found = measure_bias([little, other], study, lexicons=lexicons, setting=SKIP)
    assert found.effects.schema == EFFECTS
    assert found.coefficients.schema == COEFFICIENTS
    assert found.differences.schema == DIFFERENCES
    assert found.activations.schema == ACTIVATIONS
    varied = vary_setting(little, study, lexicons=lexicons, setting=SKIP)
    assert varied.schema == SENSITIVITY


def test_an_effect_is_turned_to_the_stereotype(little: Network, study: NetworkStudy) -> None:
    found = measure_bias([little], study, approaches=["stereotypes"], setting=SKIP).effects
    female, male = found.iter_rows(named=True)
    assert female["effect"] > 0 > male["effect"]
    assert male["stereotype"] == -male["effect"] and female["stereotype"] == female["effect"]
    assert (female["alternative"], male["alternative"]) == ("greater", "less")


def test_differences_of_activation_by_hand(little: Network, study: NetworkStudy) -> None:
    made = measure_bias([little], study, approaches=["stereotypes"], setting=SKIP)
    primes = ["woman", "man", "girl", "boy", "mother", "father"]
    raw = activate(little, primes).values
    columns = raw / np.sqrt((raw**2).sum(axis=0))
    rows = columns / np.sqrt((columns**2).sum(axis=1, keepdims=True))
    kind = rows[little.words.index("kind")]
    found = made.activations.filter(target="kind").sort("prime")["normalised"]
    assert found.to_list() == pytest.approx(kind[np.argsort(primes)].tolist())


def test_absent_targets_are_an_error_or_listed(little: Network, study: NetworkStudy) -> None:
    with pytest.raises(InputError, match="target not in network 'little': 'bold'.*skip"):
        measure_bias([little], study, approaches=["stereotypes"])
    found = measure_bias([little], study, approaches=["stereotypes"], setting=SKIP).effects
    assert found["missing"].to_list() == [[], ["bold"]]
    assert found["n"].to_list() == [6, 6]


def test_a_pair_of_primes_is_left_out_whole(little: Network, study_file: str) -> None:
    text = study_file.replace("{female: girl, male: boy}", "{female: lass, male: boy}")
    made = parse_network_study(text, "little.yaml")
    found = measure_bias([little], made, approaches=["stereotypes"], setting=SKIP)
    assert found.effects["n"].to_list() == [4, 4]
    assert found.effects["missing"].to_list() == [["lass"], ["lass", "bold"]]
    assert "boy" not in found.activations["prime"]


def test_no_pair_leaves_a_note_and_no_number(little: Network, study_file: str) -> None:
    text = study_file.replace("woman", "queen").replace("girl", "lass").replace("mother", "mum")
    made = parse_network_study(text, "little.yaml")
    found = measure_bias([little], made, approaches=["stereotypes"], setting=SKIP).effects
    assert found["effect"].to_list() == [None, None]
    assert found["note"].str.contains("no pair of primes").all()


def test_emotions_compare_two_primes(
    little: Network, study: NetworkStudy, lexicons: Lexicons
) -> None:
    found = measure_bias([little], study, approaches=["emotions"], lexicons=lexicons).effects
    rows = {row["targets"]: row for row in found.iter_rows(named=True)}
    assert rows["trust"]["effect"] > 0 > rows["fear"]["effect"]
    assert rows["trust"]["stereotype"] is None and rows["trust"]["norm"] == "l1"
    assert rows["joy"]["effect"] is None and rows["joy"]["note"]
    assert rows["trust"]["note"] == "one pair of primes: nothing to swap"


def test_valence_is_a_binomial_glm(
    little: Network, study: NetworkStudy, lexicons: Lexicons
) -> None:
    found = measure_bias([little], study, approaches=["valence"], lexicons=lexicons)
    ratings = lexicons.valence or {}
    rated = [word for word in little.words if word in ratings]
    x = activate(little, ["woman", "man", "girl"], targets=rated).normalised()
    y = [ratings[word] for word in rated]
    family = sm.families.Binomial()
    alone = [sm.GLM(y, sm.add_constant(x[:, [c]]), family=family).fit(tol=1e-13) for c in range(3)]
    slopes = found.coefficients.drop_nulls("prime")
    assert slopes["coefficient"].to_list() == pytest.approx([fit.params[1] for fit in alone])
    assert slopes["p"].to_list() == pytest.approx([fit.pvalues[1] for fit in alone])
    joint = sm.GLM(y, sm.add_constant(x), family=family).fit(tol=1e-13)
    wald = joint.wald_test("x1 = x2, x1 = x3", scalar=True)
    row = found.coefficients.row(by_predicate=pl.col("prime").is_null(), named=True)
    assert row["wald"] == pytest.approx(wald.statistic, rel=1e-6)
    assert row["effect"] == pytest.approx(np.sqrt(wald.statistic / len(rated)), rel=1e-6)
    assert (row["n"], row["n_nodes"]) == (len(rated), len(little))


def test_equal_networks_do_not_differ(little: Network, study: NetworkStudy) -> None:
    pair = [little, replace(little, name="twin")]
    found = measure_bias(pair, study, approaches=["stereotypes"], setting=SKIP).differences
    assert found["difference"].to_list() == [0, 0]
    assert found["p"].to_list() == [1, 1]
    assert found["correlation"].to_list() == pytest.approx([1, 1])


def test_a_difference_is_that_of_the_effects(haiku: Network) -> None:
    flat = Network(haiku.words, haiku.weights.astype(bool).astype(float), name="unweighted")
    found = measure_bias([haiku, flat], approaches=["stereotypes"])
    effects = found.effects.partition_by("network", as_dict=True)
    expected = effects["Haiku",]["effect"] - effects["unweighted",]["effect"]
    assert found.differences["difference"].to_list() == pytest.approx(expected.to_list())
    assert (found.differences["ci_low"] <= found.differences["difference"]).all()


def test_the_setting_is_varied_one_thing_at_a_time(little: Network, study: NetworkStudy) -> None:
    found = vary_setting(little, study, approaches=["stereotypes"], setting=SKIP)
    default = found.filter(varied="nothing")
    assert default.height == 2 and not default["turned"].any()
    steps = found.filter(varied="time_steps")
    assert steps["time_steps"].n_unique() == 5 and steps["norm"].unique().to_list() == ["l2"]
    assert found.filter(varied="weights")["weighted"].to_list() == [False, False]
    assert set(found.filter(varied="retention")["retention"]) == {0.0, 0.25, 0.75}
    effect = measure_bias(
        [little], study, approaches=["stereotypes"], setting=replace(SKIP, norm="l1")
    ).effects["effect"]
    l1 = found.filter(varied="norm", norm="l1")["effect"]
    assert l1.to_list() == effect.to_list()


def test_an_approach_needs_its_lexicon(little: Network, study: NetworkStudy) -> None:
    with pytest.raises(InputError, match="approach 'valence' needs a lexicon of valence"):
        measure_bias([little], study, approaches=["valence"])
    with pytest.raises(InputError, match="unknown approach 'feelings'"):
        measure_bias([little], study, approaches=["feelings"])
    assert measure_bias([little], study, setting=SKIP).coefficients.is_empty()


def test_networks_are_told_apart_by_name(little: Network, study: NetworkStudy) -> None:
    with pytest.raises(InputError, match="name 'little' stands twice"):
        measure_bias([little, little], study, setting=SKIP)


def test_the_same_seed_gives_the_same_intervals(little: Network, study: NetworkStudy) -> None:
    first, again = (
        measure_bias([little], study, approaches=["stereotypes"], setting=SKIP).effects
        for _ in range(2)
    )
    assert first.equals(again)


def test_spreading_reaches_the_effects(little: Network, study: NetworkStudy) -> None:
    how = replace(SKIP, spreading=Spreading(retention=0.2, time_steps=3))
    found = measure_bias([little], study, approaches=["stereotypes"], setting=how).effects
    assert found.select("retention", "time_steps", "norm").row(0) == (0.2, 3, "l2")


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ({"norm": "l7"}, "norm 'l7'"),
        ({"missing": "ignore"}, "missing 'ignore'"),
        ({"confidence": 95}, "confidence 95"),
        ({"draws": 3}, "draws 3"),
    ],
)
def test_meaningless_settings_are_refused(setting: dict[str, object], said: str) -> None:
    with pytest.raises(InputError, match=said):
        Setting(**setting)  # type: ignore[arg-type]
