"""Pairs of versions whose difference is known, and what is concluded about them."""

from dataclasses import replace

import numpy as np
import pytest
from benchmarks.comparing import Condition, conditions, judge
from benchmarks.worlds.planted import WORLDS, World


def test_conditions_have_names_of_their_own():
    names = [condition.name for condition in conditions()]
    assert len(names) == len({*names})


def test_the_limit_follows_from_the_answers_of_the_smallest_category():
    world = World(0.5**0.5, stereotypes=21, wordings=4, answers=10)
    # five stereotypes of 40 answers, differences of variance 2 × .5
    assert Condition("standard", "", world).limit == pytest.approx(3.35 * (1 / 200) ** 0.5)


@pytest.mark.parametrize(("rise", "decision"), [(0.8, "worse"), (-0.8, "better")])
def test_a_large_change_is_told(rise, decision):
    lean = 0.1 if rise > 0 else 0.9
    world = replace(WORLDS["calm"], answers=8, lean=lean)
    row = judge(Condition("small", "all", world, rise=rise), runs=2)
    assert row.decided[decision].value == 1.0
    assert np.isfinite(row.intervals["category"][1].value)
