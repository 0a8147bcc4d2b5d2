"""Stereotype profiles of hand-made states, against scipy and statsmodels."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

from clinometer.errors import InputError
from clinometer.results import ESTIMATES
from clinometer_measures.states.contexts import TEMPLATES
from clinometer_measures.states.dictionary import SENSES, Dictionary
from clinometer_measures.states.profiles import Profile, ProfileSetting, measure_profile
from clinometer_measures.states.readers.states import HiddenStates
from clinometer_measures.states.tables import PROFILE_TERMS
from clinometer_measures.states.words import Words, read_words

ORIGIN = {"model": "mine", "contexts": "none", "removed": 0}
WORDS = Words("people", {"a": ("Ann", "Amy", "Ada"), "b": ("Bob", "Ben", "Bo"),
                         "c": ("Cy", "Cal")}, ("they",))  # fmt: skip
N_TEMPLATES = len(TEMPLATES)

#: Axes are (1, 0) and (0, 2) in layer 0, (0, 1) and (1, 0) in layer 1.
DICTIONARY = Dictionary(
    "mine",
    pl.DataFrame(
        [
            (term, term, None, None, dimension, direction, [])
            for dimension, term, direction in (
                ("Warmth", "warm", "high"),
                ("Warmth", "cold", "low"),
                ("Competence", "able", "high"),
                ("Competence", "inept", "low"),
            )
        ],
        schema=dict(SENSES),
        orient="row",
    ),
)
POLES = HiddenStates(
    ("warm", "cold", "able", "inept"),
    ("0", "1"),
    np.array(
        [[[1, 0], [0, 1]], [[0, 0], [0, 0]], [[0, 2], [1, 0]], [[0, 0], [0, 0]]], dtype=np.float32
    ),
    np.ones(4, dtype=np.int64),
)
RNG = np.random.default_rng(7)
VALUES = RNG.normal(size=(len(WORDS.all) * N_TEMPLATES, 2, 2)).astype(np.float32)
KEYS = tuple(f"{word}|{number}" for word in WORDS.all for number in range(1, N_TEMPLATES + 1))
#: Shape (words, templates): coordinates on warmth in layer 0, and in the mean over layers.
WARMTH = VALUES[:, 0, 0].astype(float).reshape(-1, N_TEMPLATES)
MEAN = VALUES[:, [0, 1], [0, 1]].astype(float).mean(axis=1).reshape(-1, N_TEMPLATES)


def measured(values: np.ndarray = VALUES, words: Words = WORDS, draws: int = 99) -> Profile:
    states = HiddenStates(KEYS, ("0", "1"), values, np.ones(len(KEYS), dtype=np.int64))
    setting = ProfileSetting(draws=draws)
    return measure_profile(POLES, DICTIONARY, states, words, of=ORIGIN, setting=setting)


def warmth_rows(frame: pl.DataFrame, layer: str, **conditions: str) -> pl.DataFrame:
    matches = {"layer": layer, "space": "fine", "dimension": "Warmth", **conditions}
    return frame.filter(*(pl.col(name) == value for name, value in matches.items()))


def means(profile: Profile, measure: str = "profile_mean") -> pl.DataFrame:
    return profile.estimates.filter(measure=measure)


def differences(profile: Profile, method: str = "published") -> pl.DataFrame:
    return profile.estimates.filter(measure="profile_difference", method=method)


def test_the_tables_have_their_columns_and_a_row_for_everything() -> None:
    profile = measured()
    assert dict(profile.estimates.schema) == ESTIMATES
    assert dict(profile.terms.schema) == PROFILE_TERMS
    layers, dimensions = 3, 4
    assert means(profile).height == means(profile, "profile_raw").height == layers * dimensions * 3
    for method in ("published", "welch", "permutation", "placebo"):
        assert differences(profile, method).height == layers * dimensions * 3
    assert profile.terms.height == layers * dimensions * 9
    assert profile.terms["layer"].unique(maintain_order=True).to_list() == ["0", "1", "mean"]
    assert profile.estimates.select("subject", "model", "contexts", "removed", "words").row(0) == (
        "mine", "mine", "none", 0, "people",
    )  # fmt: skip


@pytest.mark.parametrize(("layer", "raw"), [("0", WARMTH), ("mean", MEAN)])
def test_groups_are_compared_in_scipys_numbers(layer: str, raw: np.ndarray) -> None:
    z = stats.zscore(raw.mean(axis=1)[:8])
    estimates = measured().estimates.filter(measure="profile_difference")
    rows = warmth_rows(estimates, layer, first="a", second="b").iter_rows(named=True)
    student, interval, shuffled, placebo = rows
    theirs = stats.ttest_ind(z[:3], z[3:6])
    welch = stats.ttest_ind(z[:3], z[3:6], equal_var=False).confidence_interval(0.95)
    for row in (student, interval, shuffled, placebo):
        assert row["estimate"] == pytest.approx(z[:3].mean() - z[3:6].mean())
        assert row["n"] == 6
    tested = (student["statistic"], student["p"], student["df"])
    assert tested == pytest.approx((theirs.statistic, theirs.pvalue, 4))
    assert (interval["ci_low"], interval["ci_high"]) == pytest.approx((welch.low, welch.high))
    assert (shuffled["n_resamples"], shuffled["test"], student["note"]) == (20, "exact", None)


def test_the_profile_of_a_group() -> None:
    z = stats.zscore(WARMTH.mean(axis=1)[:8])
    row = warmth_rows(means(measured()), "0", group="b").row(0, named=True)
    low, high = stats.t.interval(0.95, 2, z[3:6].mean(), stats.sem(z[3:6]))
    assert row["estimate"] == pytest.approx(z[3:6].mean())
    assert row["sd"] == pytest.approx(z[3:6].std())
    assert (row["ci_low"], row["ci_high"], row["n"]) == pytest.approx((low, high, 3))
    raw = warmth_rows(means(measured(), "profile_raw"), "0", group="b").row(0, named=True)
    assert raw["estimate"] == pytest.approx(WARMTH[3:6].mean())
    assert (raw["method"], raw["neutral"]) == ("descriptive", None)


def test_a_word_on_its_own_is_measured_in_the_groups_units() -> None:
    compared = WARMTH.mean(axis=1)[:8]
    scaled = (WARMTH[8] - compared.mean()) / compared.std()
    low, high = stats.t.interval(0.95, N_TEMPLATES - 1, scaled.mean(), stats.sem(scaled))
    row = warmth_rows(measured().terms, "0", term="they").row(0, named=True)
    assert row["group"] is None
    assert row["coordinate"] == pytest.approx(scaled.mean())
    assert (row["ci_low"], row["ci_high"]) == pytest.approx((low, high))
    assert row["n_contexts"] == N_TEMPLATES


def test_individuals_do_not_move_the_groups() -> None:
    without = measured(words=Words("people", WORDS.groups))
    assert without.estimates.equals(measured().estimates)


def test_p_is_adjusted_over_the_dimensions_of_a_space_and_the_pairs() -> None:
    family = differences(measured()).filter(pl.col("layer") == "1", pl.col("space") == "broad")
    assert family.height == 6
    for name, method in (("p_holm", "holm"), ("p_bh", "fdr_bh")):
        theirs = multipletests(family["p"].to_numpy(), method=method)[1]
        np.testing.assert_allclose(family[name].to_numpy(), theirs)


def test_averaged_states_have_no_interval_of_their_own() -> None:
    mean = VALUES.reshape(-1, N_TEMPLATES, 2, 2).mean(axis=1)
    states = HiddenStates(WORDS.all, ("0", "1"), mean, np.full(9, N_TEMPLATES))
    profile = measure_profile(POLES, DICTIONARY, states, WORDS, of=ORIGIN)
    expected = measured().terms
    np.testing.assert_allclose(profile.terms["coordinate"], expected["coordinate"], atol=1e-5)
    assert profile.terms["ci_low"].null_count() == profile.terms.height
    assert set(profile.terms["n_contexts"]) == {N_TEMPLATES}


def test_contexts_that_leave_a_word_as_it_is_give_no_interval() -> None:
    values = VALUES.copy()
    values[:N_TEMPLATES, 0] = 0.3  # as the embedding of a token, before any context
    row = warmth_rows(measured(values).terms, "0", term="Ann").row(0, named=True)
    assert row["coordinate"] is not None
    assert row["ci_low"] is None and row["ci_high"] is None


def test_one_coordinate_for_all_is_null_with_a_note() -> None:
    values = VALUES.copy()
    values[:, 0, 0] = 1 / 3
    profile = measured(values)
    rows = warmth_rows(profile.estimates.filter(measure="profile_difference"), "0")
    assert set(rows["note"]) == {"all words have one coordinate"}
    numbers = ("estimate", "ci_low", "statistic", "p", "p_holm", "p_bh", "effect_size")
    assert [rows[name].null_count() for name in numbers] == [12] * 7
    assert warmth_rows(means(profile), "0")["estimate"].null_count() == 3
    raw = warmth_rows(means(profile, "profile_raw"), "0")["estimate"]
    assert raw.to_list() == pytest.approx([1 / 3] * 3)
    assert warmth_rows(profile.terms, "0")["coordinate"].null_count() == 9
    competence = differences(profile).filter(
        pl.col("layer") == "0", pl.col("dimension") == "Competence"
    )
    np.testing.assert_allclose(  # adjusted for the tests there are
        competence.filter(pl.col("space") == "fine")["p_holm"],
        multipletests(competence.filter(pl.col("space") == "fine")["p"], method="holm")[1],
    )


def test_groups_that_do_not_vary_have_a_difference_and_no_test() -> None:
    values = VALUES.copy()
    values[:, 0, 0] = np.repeat([1, 1, 1, 2, 2, 2, 5, 5, 4], N_TEMPLATES)
    profile = measured(values)
    row = warmth_rows(differences(profile), "0", first="a", second="b").row(0, named=True)
    assert row["estimate"] < 0
    assert row["p"] is None and row["note"] == "no variance within groups"
    interval = warmth_rows(differences(profile, "welch"), "0", first="a", second="b")
    assert interval["ci_low"].item() is None


def test_states_far_longer_than_most_are_told_of() -> None:
    values = VALUES.copy()
    values[::N_TEMPLATES, 1] *= 50  # as at the first token of a causal model
    notes = warmth_rows(differences(measured(values)), "1")["note"].to_list()
    assert (
        notes == ["some states are over 10 times as long as most: terms that begin a context"] * 3
    )
    assert warmth_rows(differences(measured(values)), "mean")["note"].to_list() == notes
    assert warmth_rows(differences(measured(values)), "0")["note"].null_count() == 3


def test_one_group_and_individuals_have_no_differences() -> None:
    profile = measured(words=Words("one", {"a": ("Ann", "Amy", "Bob")}, ("they",)))
    assert differences(profile).is_empty()
    assert dict(profile.estimates.schema) == ESTIMATES
    assert warmth_rows(means(profile), "0")["estimate"][0] == pytest.approx(0, abs=1e-12)


def test_no_number_is_nan_and_the_same_seed_gives_the_same() -> None:
    profile = measured()
    for frame in profile:
        assert not frame.select(pl.selectors.float().is_nan().any()).row(0).count(True)
    assert profile.estimates.equals(measured().estimates)


def test_bad_settings_and_missing_words_are_named() -> None:
    with pytest.raises(InputError, match="confidence 95"):
        ProfileSetting(confidence=95)
    with pytest.raises(InputError, match="draws 0"):
        ProfileSetting(draws=0)
    with pytest.raises(InputError, match="placebos 99: at least 199, or 0 for none"):
        ProfileSetting(placebos=99)
    with pytest.raises(InputError, match="no states of 1 terms: 'Eve'"):
        measured(words=Words("people", {"a": ("Ann", "Amy"), "b": ("Eve", "Bob")}))


@pytest.mark.slow
def test_every_difference_of_names_is_the_published_one(
    cached_states: dict[str, HiddenStates], released: Dictionary, shared_data: Path
) -> None:
    """The reference is the released code's `projection` of names."""
    origin = {"model": "minilm", "contexts": "generated", "removed": 0}
    setting = ProfileSetting(draws=200)
    words = read_words("names")
    profile = measure_profile(
        cached_states["generated"],
        released,
        cached_states["names"],
        words,
        of=origin,
        setting=setting,
    )
    path = shared_data / "schuster" / "minilm_names_projection_reference.csv"
    theirs = pl.read_csv(path).with_columns(
        layer=pl.col("Model").str.extract(r"-L(\d+)$").fill_null("mean"), dimension="Dimension"
    )
    published = profile.estimates.filter(method="published")
    joint = theirs.join(published, on=["layer", "dimension"], validate="1:1")
    assert joint.height == 8 * 9
    assert (joint["diff"] - joint["estimate"]).abs().max() < 1e-4
    assert (joint["p"] / joint["diff_pvalue"] - 1).abs().max() < 1e-3
    assert published["note"].null_count() == published.height
    means = profile.estimates.filter(measure="profile_mean", group="Female Names")
    joint = theirs.join(means, on=["layer", "dimension"], validate="1:1")
    assert (joint["Female Names_mean"] - joint["estimate"]).abs().max() < 1e-4
