"""Predicted power is asked about the world that is simulated."""

import pytest
from benchmarks.planning import Condition, components_of_world, conditions, judge
from benchmarks.worlds.planted import World


def test_a_world_as_a_pilot():
    world = World(0.5, wording=0.2, shared_wording=0.1, word=0.4, cell=0.2, pair=0.6)
    table = components_of_world(world)
    variances = dict(table.select("error_source", "relative_variance").iter_rows())
    assert variances == pytest.approx(
        {
            "variation": 0.25 * 0.05,
            "shared_variation": 0.25 * 0.01,
            "marginalized": 0.25 * 0.16,
            "default": 0.25 * 0.16,
            "cell": 0.25 * 0.04,
            "draw": 0.25 * 0.36,
            "response": 0.25,
        }
    )


def test_conditions_have_names_of_their_own():
    names = [condition.name for condition in conditions()]
    assert len(names) == len({*names})


def test_leans_that_are_predicted_are_simulated():
    rows = judge(Condition("calm, 2", World(), 2), runs=4)
    assert [row.name for row in rows] == ["calm, 2, stereotype", "calm, 2, model"]
    assert 0 < rows[1].lean < rows[0].lean
    assert all(row.found.value > 0 for row in rows)
