"""What a run with looks saves beside a plan without, and what it reports."""

import pytest
from benchmarks.deciding import Condition, Row, conditions, judge
from benchmarks.worlds.pages import Figure
from benchmarks.worlds.planted import World

NONE = Figure(0.0, 0.0, 0.0)
CALM = Condition("calm, 1", World(), 1)
#: Share of leans that a plan of 2, 4, 8, 16, 24 and 40 trials a wording reports.
BY_SIZE = [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]


def test_trials_by_those_of_a_plan_that_reports_as_much():
    row = Row(CALM, NONE, NONE, detected=0.6, trials=8.0, by_size=BY_SIZE)
    assert row.ratio == pytest.approx(8 / 16)
    assert row.share == pytest.approx(0.6 / 0.4)


def test_no_plan_reports_as_much():
    assert Row(CALM, NONE, NONE, 0.9, 8.0, [0.0] * 6).ratio is None
    assert Row(CALM, NONE, NONE, 0.9, 8.0, [0.0] * 6).share is None


def test_conditions_have_names_of_their_own():
    names = [condition.name for condition in conditions()]
    assert len(names) == len({*names})


def test_a_run_ends_before_all_trials():
    row = judge(Condition("tests", World(), 1), runs=1)
    assert row.trials <= 40
    assert len(row.by_size) == 6
