"""Effects of the words of single prompts."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from tiltmeter.errors import InputError
from tiltmeter.models.readers.states import States
from tiltmeter.states import association
from tiltmeter.states.trial_effects import trial_effects
from tiltmeter.states.word_tests import WordSet, WordTest

WORDS = ("old", "young", "agony", "hate", "joy", "love")
TRIALS = pl.DataFrame(
    {
        "stereotype": ["age", "age"],
        "trial": ["a", "b"],
        "marginalized": "old",
        "default": "young",
        "tied": [["agony", "hate"], ["agony"]],
        "counter": [["joy", "love"], ["joy"]],
    }
)


def states(seed: int = 0) -> States:
    values = np.random.default_rng(seed).normal(size=(6, 3, 5)).astype(np.float32)
    return States(WORDS, ("0", "1", "2"), values, np.ones(6, dtype=np.int64))


def test_a_trial_has_the_effect_of_a_test_with_its_words() -> None:
    found = trial_effects(states(), TRIALS).filter(trial="a")["estimate"]
    words = (("agony", "hate"), ("joy", "love"), ("old",), ("young",))
    sets = [WordSet(name, of) for name, of in zip("abcd", words, strict=True)]
    of = {"model": "m", "contexts": "none", "removed": 0}
    test = association.test_associations(states(), [WordTest("s", "age", *sets)], of=of)
    whole = test.estimates.filter(alternative="greater")
    assert found.to_list() == pytest.approx(whole["estimate"].to_list(), rel=1e-9)


def test_one_attribute_a_side_leans_fully_one_way_or_the_other() -> None:
    found = trial_effects(states(), TRIALS).filter(trial="b")["estimate"]
    assert found.abs().to_list() == pytest.approx([2.0, 2.0, 2.0])
    unit = states().of(WORDS)
    unit /= np.linalg.norm(unit, axis=2, keepdims=True)
    closer = [((unit[2] - unit[4]) * (unit[0] - unit[1])).sum(axis=1)[at] for at in range(3)]
    assert [value > 0 for value in found] == [value > 0 for value in closer]


def test_equal_words_have_no_effect_and_absent_ones_are_named() -> None:
    alike = TRIALS.head(1).with_columns(counter=pl.lit(["agony", "hate"]))
    flat = states()
    flat.values[3] = flat.values[2]
    assert trial_effects(flat, alike)["estimate"].is_null().all()
    with pytest.raises(InputError, match="no states of 'nobody'"):
        trial_effects(states(), TRIALS.with_columns(default=pl.lit("nobody")))
