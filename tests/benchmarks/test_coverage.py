"""What the benchmark of coverage asks, and the rows that it makes."""

import numpy as np
import pytest
from benchmarks.coverage import Condition, conditions, cover, set_target
from benchmarks.worlds.planted import WORLDS, World


def test_conditions_have_names_of_their_own():
    names = [condition.name for condition in conditions()]
    assert len(names) == len({*names})


@pytest.mark.parametrize(
    ("name", "level", "target"),
    [
        ("medium, 1", "stereotype", (0.94, 0.99, 1.45)),
        ("medium, 5", "stereotype", (0.93, 0.99, 1.35)),
        ("calm, 5", "stereotype", (0.93, 1.0, 1.65)),
        ("wordings, 21", "model", (0.92, 1.0, 1.5)),
        ("unequal, 21", "stereotype", (0.93, 1.0, np.inf)),
        ("±1, lean of 0.95", "stereotype", (0.92, 1.0, np.inf)),
    ],
)
def test_targets_in_other_prompts(name, level, target):
    (condition,) = [condition for condition in conditions() if condition.name == name]
    assert set_target(condition, level, "other_prompts") == target


def test_rows_of_levels_that_differ_and_standard_errors_with_controls():
    world = World(stereotypes=2, answers=4, lean=0.3)
    rows = cover(Condition("calm, 2", "four worlds", world, controls=True), runs=2)
    rows = [row for row in rows if row.range == "other_prompts"]
    assert [row.level for row in rows] == ["stereotype", "model"]
    assert all(row.by_company >= 1 for row in rows)


def test_the_stricter_level_is_asked_of_these_prompts_alone():
    condition = Condition("strict", "strict", WORLDS["calm"], confidence=0.99)
    assert {row.range for row in cover(condition, runs=1)} <= {"prompts"}
