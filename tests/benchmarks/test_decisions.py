"""Which leans count as reported, and which of them as false."""

import polars as pl
import pytest
from benchmarks.decisions import Condition, conditions, detect_leans, judge
from benchmarks.worlds.planted import World


@pytest.mark.parametrize(
    ("verdict", "truth", "detected", "false"),
    [
        ("consistent", 0.3, True, False),
        ("consistent, within margin", 0.0, True, True),
        ("reversed", 0.3, True, True),
        ("reversed", -0.3, True, False),
        ("inconclusive", 0.3, False, False),
        ("equivalent", 0.0, False, False),
    ],
)
def test_a_lean_is_false_where_there_is_none_or_the_other(verdict, truth, detected, false):
    rows = detect_leans(pl.DataFrame({"verdict": [verdict], "truth": [truth]}))
    assert rows.select("detected", "false").row(0) == (detected, false)


def test_conditions_have_names_of_their_own():
    names = [condition.name for condition in conditions()]
    assert len(names) == len({*names})


def test_large_leans_are_reported_and_not_false():
    world = World(stereotypes=2, lean=0.8)
    rows = judge(Condition("large", world, "leans"), runs=8)
    (row,) = [row for row in rows if row.range == "other_prompts"]
    assert row.detected["stereotype"].value == 1.0
    assert row.pages.value == 0.0
