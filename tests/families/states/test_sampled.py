"""Random effects over draws of contexts, against statsmodels and by simulation."""

from __future__ import annotations

import numpy as np
import pytest
from statsmodels.stats.meta_analysis import combine_effects

from clinometer.errors import InputError
from clinometer_measures.states import association
from clinometer_measures.states.readers.states import HiddenStates
from clinometer_measures.states.sampled import _variances, combine
from clinometer_measures.states.word_tests import TestSetting, WordSet, WordTest

ORIGIN = {"model": "m", "contexts": "corpus", "removed": 0}
TEST = WordTest("mine", "one", *(WordSet(s, tuple(f"{s}{i}" for i in range(4))) for s in "xyab"))
WORDS = [word for word_set in TEST.sets for word in word_set.words]


def states(contexts: int, spread: float, tied: float = 1.0) -> HiddenStates:
    """Words on their own axes, the targets of a side drawn to its attributes."""
    rng = np.random.default_rng(0)
    means = rng.normal(size=(16, 1, 30))
    means[:4] += tied * means[8:12].mean(axis=0)
    values = means[:, None] + spread * rng.normal(size=(16, contexts, 1, 30))
    keys = tuple(f"{word}|{n}" for word in WORDS for n in range(contexts))
    flat = values.reshape(16 * contexts, 1, 30).astype(np.float32)
    return HiddenStates(keys, ("0",), flat, np.ones(len(keys), dtype=np.int64))


def test_effects_are_combined_as_by_statsmodels() -> None:
    rng = np.random.default_rng(1)
    variances, effects = rng.uniform(0.05, 0.5, 30), rng.normal(0.4, 2, 30)
    theirs = combine_effects(effects, variances, method_re="chi2")
    expected = (theirs.mean_effect_re, theirs.sd_eff_w_re, theirs.tau2)
    assert combine(effects, variances) == pytest.approx(expected)


def test_effects_that_agree_are_combined_by_their_variances_alone() -> None:
    effects, variances = np.array([0.4, 0.5, 0.6]), np.array([1.0, 0.5, 0.25])
    mean = (0.4 + 2 * 0.5 + 4 * 0.6) / 7
    assert combine(effects, variances) == pytest.approx((mean, 7**-0.5, 0))


def test_the_variance_of_an_effect_is_that_of_simulated_ones() -> None:
    """The effect of normal associations, with n of 30 and 20 and d of .8."""
    rng = np.random.default_rng(2)
    x, y = rng.normal(0.8, 1, (20_000, 30)), rng.normal(0, 1, (20_000, 20))
    effects = (x.mean(axis=1) - y.mean(axis=1)) / np.hstack([x, y]).std(axis=1)
    assert _variances(effects, 30, 20).mean() == pytest.approx(effects.var(), rel=0.03)


def test_draws_of_contexts_give_a_combined_effect() -> None:
    estimates = association.test_associations(
        states(5, 0.3), [TEST], of=ORIGIN, method="ceat"
    ).estimates
    averaged = association.test_associations(states(5, 0.3), [TEST], of=ORIGIN).estimates
    row, two_sided, placed = estimates.iter_rows(named=True)
    expected = ("ceat", "random_effects", 1_000)
    assert (row["measure"], row["method"], row["n_resamples"]) == expected
    assert row["estimate"] == pytest.approx(averaged["estimate"][0], abs=0.1)
    half = 1.959964 * row["se"]
    assert row["ci_high"] - row["estimate"] == pytest.approx(half, rel=1e-5)
    assert two_sided["p"] == 2 * row["p"] < 1e-3
    assert (placed["method"], placed["estimate"]) == ("placebo", row["estimate"])


def test_contexts_that_matter_make_variance_between_draws() -> None:
    few, many = (
        association.test_associations(states(8, spread, 0.3), [TEST], of=ORIGIN, method="ceat")
        for spread in (0.01, 3.0)
    )
    assert few.tests["between_variance"][0] == 0
    assert many.estimates["se"][0] >= few.estimates["se"][0]


def test_one_context_each_is_no_sample() -> None:
    with pytest.raises(InputError, match="every word has one context"):
        association.test_associations(states(1, 0.1), [TEST], of=ORIGIN, method="ceat")


def test_a_word_without_context_is_named() -> None:
    short = states(2, 0.1)
    cut = HiddenStates(short.keys[:-2], short.layers, short.values[:-2], short.counts[:-2])
    with pytest.raises(InputError, match="'b3'"):
        association.test_associations(cut, [TEST], of=ORIGIN, method="ceat")


def test_draws_are_a_function_of_the_seed() -> None:
    first, same, reseeded = (
        association.test_associations(
            states(4, 1.0),
            [TEST],
            of=ORIGIN,
            method="ceat",
            setting=TestSetting(samples=50, seed=seed),
        ).estimates["estimate"][0]
        for seed in (0, 0, 1)
    )
    assert first == same != reseeded
