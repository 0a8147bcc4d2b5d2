"""What two ways of asking agree in: order, level, both or neither."""

import numpy as np
import polars as pl
import pytest
from benchmarks.modes import compare_ways

RNG = np.random.default_rng(7)
STEREOTYPES = [f"s{number}" for number in range(21)]
LEANS = RNG.normal(0.2, 0.3, 21)


def mode_estimates(shares, verdicts=("inconclusive",) * 21):
    return pl.DataFrame({"stereotype": STEREOTYPES, "share": shares, "verdict": verdicts})


@pytest.mark.parametrize(
    ("shares", "agree"),
    [
        (LEANS + RNG.normal(0, 0.05, 21), "order and level"),
        (LEANS + 0.3, "order"),
        (LEANS.mean() + RNG.permutation(LEANS - LEANS.mean()) * 1e-3, "neither is shown"),
        (-LEANS, "neither is shown"),
    ],
)
def test_what_agrees(shares, agree):
    assert compare_ways(mode_estimates(LEANS), mode_estimates(shares), 0.9).comparable() == agree


def test_the_same_order_at_another_scale_has_no_level():
    comparison = compare_ways(mode_estimates(LEANS), mode_estimates(LEANS / 10), 1.0)
    assert comparison.r == pytest.approx(1.0)
    assert comparison.comparable() == "order"


def test_opposite_verdicts_are_counted_where_both_ways_have_the_stereotype():
    first = mode_estimates(
        LEANS, ("consistent, only these words", "reversed", *["inconclusive"] * 19)
    )
    second = mode_estimates(LEANS, ("reversed", "reversed", *["inconclusive"] * 19))
    assert compare_ways(first, second.head(2).vstack(second.tail(5)), 1.0).opposite == 1
    assert compare_ways(first.tail(20), second, 1.0).opposite == 0
