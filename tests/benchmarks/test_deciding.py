"""What a run with looks saves beside a plan without, and what it reports."""

import numpy as np
import pytest
from benchmarks.deciding import Condition, Savings, conditions, judge
from benchmarks.worlds.planted import World

#: Share of leans that a plan of 2, 4, 8, 16, 24 and 40 trials a wording reports.
BY_SIZE = [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]


def savings(detected: float, trials: float, by_size: list[float], pages: int = 1) -> Savings:
    """Return what some pages save that are all alike."""
    arrays = (np.array([value]) for value in (detected, trials, by_size))
    return Savings(*(np.repeat(array, pages, axis=0) for array in arrays))


def test_trials_by_those_of_a_plan_that_reports_as_much():
    saved = savings(0.6, 8.0, BY_SIZE)
    assert saved.ratio() == pytest.approx(8 / 16)
    assert saved.share() == pytest.approx(0.6 / 0.4)


def test_no_plan_reports_as_much():
    assert savings(0.9, 8.0, [0.0] * 6).ratio() == 0.0
    assert savings(0.9, 8.0, [0.0] * 6).share() == np.inf


def test_an_interval_is_as_wide_as_pages_differ():
    rng = np.random.default_rng(1)
    alike = savings(0.6, 8.0, BY_SIZE, pages=20)
    assert alike.over_draws(Savings.ratio, rng) == pytest.approx((0.5, 0.5, 0.5))
    differing = alike._replace(detected=np.repeat([0.4, 0.8], 10))
    figure = differing.over_draws(Savings.ratio, rng)
    assert figure.low < figure.value < figure.high


def test_conditions_have_names_of_their_own():
    names = [condition.name for condition in conditions()]
    assert len(names) == len({*names})


def test_a_run_ends_before_all_trials():
    row = judge(Condition("tests", World(), 1), runs=1)
    assert row.trials <= 40
    assert row.ratio.low <= row.ratio.value <= row.ratio.high
