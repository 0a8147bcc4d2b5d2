"""Figures over simulated pages, and pages as the tool estimates them."""

import polars as pl
import pytest
from benchmarks.worlds.pages import (
    Figure,
    average,
    covered_and_width,
    estimate_pages,
    simulate_controls,
)
from benchmarks.worlds.planted import World
from benchmarks.worlds.simulation import Simulation
from polars.testing import assert_frame_equal


def test_the_interval_of_a_share_is_wilsons():
    # Wilson (1927), 5 of 10: statsmodels' proportion_confint(5, 10, method="wilson").
    rows = pl.DataFrame({"model": range(10), "covered": [True, False] * 5})
    figure = average(rows, "covered")
    assert figure == pytest.approx((0.5, 0.23659, 0.76341), abs=1e-4)


def test_means_of_a_page_that_agree_count_as_one():
    rows = pl.DataFrame({"model": [0, 0, 1, 1] * 5, "covered": [True, True, False, False] * 5})
    assert average(rows, "covered").high - average(rows, "covered").low > 0.5


@pytest.mark.parametrize(
    ("least", "most", "missed"), [(0.95, 1.0, True), (0.9, 1.0, False), (0.0, 0.8, True)]
)
def test_a_target_is_missed_where_the_interval_excludes_it(least, most, missed):
    assert Figure(0.9, 0.85, 0.94).misses(least, most) is missed


def test_coverage_and_width():
    ends = {"pointwise_low": [0.0, -1.0], "pointwise_high": [0.4, -0.6], "truth": [0.1, 0.1]}
    covered, width = covered_and_width(pl.DataFrame({"model": ["a", "b"], **ends}), 0.1)
    assert covered.value == 0.5
    assert width.value == pytest.approx(2.0)


def test_pages_are_estimated_with_their_truths():
    rows = estimate_pages(Simulation(World(stereotypes=3, answers=4, lean=0.3)), 2, seed=0)
    rows = rows.filter(range="other_prompts")
    assert rows["level"].value_counts().sort("level").rows() == [
        ("category", 2),
        ("model", 2),
        ("stereotype", 6),
    ]
    assert rows["truth"].unique().to_list() == [pytest.approx(0.3)]


def test_pages_are_the_same_with_controls():
    world = World(stereotypes=2, answers=4)
    alone, accompanied = (
        estimate_pages(Simulation(world), 1, seed=0, controls=controls)
        for controls in ([], simulate_controls(world))
    )
    assert alone["estimate"].to_list() == pytest.approx(accompanied["estimate"].to_list())


def test_pages_of_one_call_do_not_know_each_other(monkeypatch):
    simulation = Simulation(World(stereotypes=3, answers=4, lean=0.3))
    tables = []
    for batch in (1, 2):
        monkeypatch.setattr("benchmarks.worlds.pages.BATCH", batch)
        rows = estimate_pages(simulation, 2, seed=0).sort("model", "range", "level", "stereotype")
        tables.append(rows.select("se", "ci_low", "ci_high", "verdict"))
    assert_frame_equal(*tables)
