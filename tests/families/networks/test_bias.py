"""Bias in networks against the published effects, and what is said where words are missing."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import statsmodels.api as sm

from clinometer.errors import InputError
from clinometer.results import ESTIMATES
from clinometer.results.estimates import KEYS
from clinometer_measures.networks import Network
from clinometer_measures.networks.bias import measure_bias, vary_setting
from clinometer_measures.networks.lexicons import Lexicons
from clinometer_measures.networks.setting import Setting
from clinometer_measures.networks.spreading import Spreading, activate
from clinometer_measures.networks.study import NetworkStudy, parse_network_study
from clinometer_measures.networks.tables import ABSENCES, ACTIVATIONS

SKIP = Setting(missing="skip", draws=200)


def effects(networks: Sequence[Network], method: str = "published", **options: Any) -> pl.DataFrame:
    """Give the effects of stereotypes in networks, by one method."""
    estimates = measure_bias(networks, approaches=["stereotypes"], **options).estimates
    return estimates.filter(pl.col("factor").is_null(), method=method)


def released(folder: Path, name: str, row: str) -> float:
    with (folder / "lwow" / "tests" / name).open(newline="") as file:
        return next(float(line["Haiku"]) for line in csv.DictReader(file) if line[""] == row)


def test_haikus_stereotypes_are_the_published_ones(haiku: Network, shared_data: Path) -> None:
    estimates = effects([haiku])
    for targets, name in (("female", "wilxoconGenderF.csv"), ("male", "wilxoconGenderM.csv")):
        row = estimates.row(by_predicate=pl.col("targets") == targets, named=True)
        assert row["estimate"] == pytest.approx(released(shared_data, name, "effect"), abs=1e-9)
        assert row["p"] == pytest.approx(released(shared_data, name, "p"), rel=1e-6)
        assert (row["n"], row["time_steps"]) == (125, 22)
    assert estimates["estimate"].to_list() == pytest.approx([0.669406247, -0.412442401])
    assert estimates["direction"].to_list() == ["above", "below"]


def test_the_published_p_stands_beside_one_of_32_arrangements(haiku: Network) -> None:
    estimates = measure_bias([haiku], approaches=["stereotypes"]).estimates
    swapped = estimates.filter(method="permutation")
    assert swapped["n_resamples"].to_list() == [32, 32]
    assert swapped["p"].to_list() == [1 / 32, 3 / 32]
    bootstrap = estimates.filter(method="bootstrap")
    assert bootstrap["n_resamples"].to_list() == [2_000, 2_000]
    assert bootstrap.select("n_clusters", "clustered_by").rows() == [(25, "target")] * 2
    assert (bootstrap["ci_low"] < bootstrap["estimate"]).all()
    assert (bootstrap["estimate"] < bootstrap["ci_high"]).all()


def test_without_draws_there_are_no_intervals(little: Network, study: NetworkStudy) -> None:
    pair = [little, replace(little, name="other")]
    resampled, bare = (
        measure_bias(pair, study, approaches=["stereotypes"], setting=setting).estimates
        for setting in (SKIP, replace(SKIP, draws=0))
    )
    bounds = ("ci_low", "ci_high")
    intervals = resampled.filter(method="bootstrap")
    assert intervals.height == 6 and intervals.select(bounds).null_count().row(0) == (0, 0)
    assert bare.filter(method="bootstrap").is_empty()
    tested = pl.col("method").is_in(["published", "permutation"])
    assert bare.filter(tested).equals(resampled.filter(tested))
    with_draws, without = (table.filter(factor="subject", measure="activation_effect")
                           for table in (resampled, bare))  # fmt: skip
    assert without["p"].null_count() == without["ci_low"].null_count() == 2
    assert without["estimate"].equals(with_draws["estimate"])
    with pytest.raises(InputError, match="draws 50: at least 100, or 0 for no intervals"):
        Setting(draws=50)


def test_tables_have_their_columns(
    little: Network, study: NetworkStudy, lexicons: Lexicons
) -> None:
    renamed = replace(little, name="other")
    bias = measure_bias([little, renamed], study, lexicons=lexicons, setting=SKIP)
    varied = vary_setting(little, study, lexicons=lexicons, setting=SKIP)
    assert bias.estimates.schema == varied.schema == ESTIMATES
    assert bias.activations.schema == ACTIVATIONS
    assert bias.absences.schema == ABSENCES
    rows = pl.concat([bias.estimates, varied])
    assert not rows.select(*KEYS, "method").is_duplicated().any()


def test_an_effect_says_which_side_is_the_stereotype(little: Network, study: NetworkStudy) -> None:
    female, male = effects([little], study=study, setting=SKIP).iter_rows(named=True)
    assert female["estimate"] > 0 > male["estimate"]
    assert (female["direction"], male["direction"]) == ("above", "below")
    assert (female["range_low"], female["neutral"], female["range_high"]) == (-1, 0, 1)
    assert (female["alternative"], male["alternative"]) == ("greater", "less")


def test_differences_of_activation_by_hand(little: Network, study: NetworkStudy) -> None:
    bias = measure_bias([little], study, approaches=["stereotypes"], setting=SKIP)
    primes = ["woman", "man", "girl", "boy", "mother", "father"]
    raw = activate(little, primes).values
    columns = raw / np.sqrt((raw**2).sum(axis=0))
    rows = columns / np.sqrt((columns**2).sum(axis=1, keepdims=True))
    kind = rows[little.words.index("kind")]
    differences = bias.activations.filter(target="kind").sort("prime")["normalised"]
    assert differences.to_list() == pytest.approx(kind[np.argsort(primes)].tolist())


def test_absent_targets_are_an_error_or_listed(little: Network, study: NetworkStudy) -> None:
    with pytest.raises(InputError, match="target not in network 'little': 'bold'.*skip"):
        measure_bias([little], study, approaches=["stereotypes"])
    bias = measure_bias([little], study, approaches=["stereotypes"], setting=SKIP)
    assert bias.absences.rows() == [("little", "little_study", "gender", "male", ["bold"])]
    assert bias.estimates.filter(method="published")["n"].to_list() == [6, 6]


def test_a_pair_of_primes_is_left_out_whole(little: Network, study_file: str) -> None:
    text = study_file.replace("{female: girl, male: boy}", "{female: lass, male: boy}")
    shortened = parse_network_study(text, "little.yaml")
    bias = measure_bias([little], shortened, approaches=["stereotypes"], setting=SKIP)
    assert bias.estimates.filter(method="published")["n"].to_list() == [4, 4]
    assert bias.absences["absent"].to_list() == [["lass"], ["lass", "bold"]]
    assert "boy" not in bias.activations["prime"]


def test_no_pair_leaves_a_note_and_no_number(little: Network, study_file: str) -> None:
    text = study_file.replace("woman", "queen").replace("girl", "lass").replace("mother", "mum")
    shortened = parse_network_study(text, "little.yaml")
    estimates = effects([little], study=shortened, setting=SKIP)
    assert estimates["estimate"].to_list() == [None, None]
    assert estimates["note"].str.contains("no pair of primes").all()


def test_emotions_compare_two_primes(
    little: Network, study: NetworkStudy, lexicons: Lexicons
) -> None:
    estimates = measure_bias([little], study, approaches=["emotions"], lexicons=lexicons).estimates
    rows = {(row["targets"], row["method"]): row for row in estimates.iter_rows(named=True)}
    trust = rows["trust", "published"]
    assert trust["estimate"] > 0 > rows["fear", "published"]["estimate"]
    assert (trust["measure"], trust["norm"]) == ("emotion_effect", "l1")
    assert trust["direction"] is None
    assert rows["joy", "published"]["estimate"] is None and rows["joy", "published"]["note"]
    assert rows["trust", "permutation"]["note"] == "one pair of primes: nothing to swap"


def test_valence_is_a_binomial_glm(
    little: Network, study: NetworkStudy, lexicons: Lexicons
) -> None:
    bias = measure_bias([little], study, approaches=["valence"], lexicons=lexicons)
    ratings = lexicons.valence or {}
    rated = [word for word in little.words if word in ratings]
    x = activate(little, ["woman", "man", "girl"], targets=rated).normalised()
    y = [ratings[word] for word in rated]
    family = sm.families.Binomial()
    alone = [sm.GLM(y, sm.add_constant(x[:, [c]]), family=family).fit(tol=1e-13) for c in range(3)]
    published = bias.estimates.filter(method="published")
    slopes = published.filter(measure="valence_slope")
    assert slopes["prime"].to_list() == ["woman", "man", "girl"]
    assert slopes["estimate"].to_list() == pytest.approx([fit.params[1] for fit in alone])
    assert slopes["p"].to_list() == pytest.approx([fit.pvalues[1] for fit in alone])
    joint = sm.GLM(y, sm.add_constant(x), family=family).fit(tol=1e-13)
    wald = joint.wald_test("x1 = x2, x1 = x3", scalar=True)
    row = published.row(by_predicate=pl.col("measure") == "valence_joint", named=True)
    assert (row["statistic"], row["df"]) == (pytest.approx(wald.statistic, rel=1e-6), 2)
    assert row["estimate"] == pytest.approx(np.sqrt(wald.statistic / len(rated)), rel=1e-6)
    assert (row["n"], row["level"], row["prime"]) == (len(rated), "identity", None)
    robust = bias.estimates.filter(method="robust")
    assert robust["estimate"].equals(published["estimate"])
    inside = robust.drop_nulls("prime").select(
        (pl.col("ci_low") < pl.col("estimate")) & (pl.col("estimate") < pl.col("ci_high"))
    )
    assert inside.height == 3 and inside.to_series().all()


def test_equal_networks_do_not_differ(little: Network, study: NetworkStudy) -> None:
    pair = [little, replace(little, name="twin")]
    estimates = measure_bias(pair, study, approaches=["stereotypes"], setting=SKIP).estimates
    change = estimates.filter(factor="subject", method="bootstrap")
    assert change["estimate"].to_list() == [0, 0]
    assert change["p"].to_list() == [1, 1]
    assert change.select("range_low", "range_high").row(0) == (-2, 2)
    alike = estimates.filter(measure="rank_correlation")["estimate"]
    assert alike.to_list() == pytest.approx([1, 1])


def test_a_difference_is_that_of_the_effects(haiku: Network) -> None:
    flat = Network(haiku.words, haiku.weights.astype(bool).astype(float), name="unweighted")
    estimates = measure_bias([haiku, flat], approaches=["stereotypes"]).estimates
    by_subject = estimates.filter(method="published").partition_by("subject", as_dict=True)
    first, second = by_subject["Haiku",]["estimate"], by_subject["unweighted",]["estimate"]
    change = estimates.filter(factor="subject", measure="activation_effect")
    assert change.select("candidate", "baseline").unique().rows() == [("Haiku", "unweighted")]
    assert change["estimate"].to_list() == pytest.approx((first - second).to_list())
    assert change["candidate_estimate"].to_list() == pytest.approx(first.to_list())
    assert change["direction"].to_list() == ["above", "below"]
    assert (change["ci_low"] <= change["estimate"]).all()


def test_the_setting_is_varied_one_thing_at_a_time(little: Network, study: NetworkStudy) -> None:
    estimates = vary_setting(little, study, approaches=["stereotypes"], setting=SKIP)
    assert set(estimates["method"]) == {"published"} and estimates["varied"].null_count() == 0
    steps = estimates.filter(varied="time_steps")
    assert steps["time_steps"].n_unique() == 5 and steps["norm"].unique().to_list() == ["l2"]
    assert estimates.filter(varied="weights")["weighted"].to_list() == [False, False]
    assert set(estimates.filter(varied="retention")["retention"]) == {0.0, 0.25, 0.75}
    expected = effects([little], study=study, setting=replace(SKIP, norm="l1"))
    l1 = estimates.filter(varied="norm", norm="l1")
    assert l1["estimate"].to_list() == expected["estimate"].to_list()
    assert l1["p"].to_list() == expected["p"].to_list()


def test_an_approach_needs_its_lexicon(little: Network, study: NetworkStudy) -> None:
    with pytest.raises(InputError, match="approach 'valence' needs a lexicon of valence"):
        measure_bias([little], study, approaches=["valence"])
    with pytest.raises(InputError, match="unknown approach 'feelings'"):
        measure_bias([little], study, approaches=["feelings"])
    estimates = measure_bias([little], study, setting=SKIP).estimates
    assert set(estimates["measure"]) == {"activation_effect"}


def test_networks_are_told_apart_by_name(little: Network, study: NetworkStudy) -> None:
    with pytest.raises(InputError, match="name 'little' stands twice"):
        measure_bias([little, little], study, setting=SKIP)


def test_the_same_seed_gives_the_same_intervals(little: Network, study: NetworkStudy) -> None:
    first, again = (
        measure_bias([little], study, approaches=["stereotypes"], setting=SKIP).estimates
        for _ in range(2)
    )
    assert first.equals(again)


def test_spreading_reaches_the_effects(little: Network, study: NetworkStudy) -> None:
    setting = replace(SKIP, spreading=Spreading(retention=0.2, time_steps=3))
    estimates = effects([little], study=study, setting=setting)
    spread = estimates.select("retention", "time_steps", "norm", "weighted").row(0)
    assert spread == (0.2, 3, "l2", True)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"norm": "l7"}, "norm 'l7'"),
        ({"missing": "ignore"}, "missing 'ignore'"),
        ({"confidence": 95}, "confidence 95"),
        ({"draws": 3}, "draws 3"),
    ],
)
def test_meaningless_settings_are_refused(setting: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Setting(**setting)  # type: ignore[arg-type]
