"""What the benchmark of doses says of tables whose truth is known."""

import polars as pl
import pytest
from benchmarks.doses import CONDITIONS, DOSES, _disturbed, _errors, _moves, _smallest

SEEDS = range(4)


def dose_estimates(
    *, estimate=lambda dose, seed: dose, consistent=lambda dose, seed: True, category="c"
):
    """Make the rows of a category at every dose."""
    return pl.DataFrame([
        {"dose": dose, "seed": seed, "truth": dose, "category": category,
         "estimate": estimate(dose, seed), "consistent": consistent(dose, seed)}
        for dose in DOSES for seed in SEEDS
    ])  # fmt: skip


def test_the_smallest_dose_is_found_often_enough_as_are_all_larger_ones():
    assert _smallest(dose_estimates()) == DOSES[1]
    assert _smallest(dose_estimates(consistent=lambda dose, seed: dose >= 0.2)) == 0.2
    # One of four models misses the dose, and a smaller one that all find does not count.
    assert _smallest(dose_estimates(consistent=lambda dose, seed: dose != 0.2 or seed > 0)) == 0.4
    assert _smallest(dose_estimates(consistent=lambda dose, seed: dose < DOSES[-1])) is None


def test_bias_is_the_largest_mean_error_of_a_dose():
    errors = _errors(
        dose_estimates(estimate=lambda dose, seed: dose - 0.3 * (dose == 0.8) + 0.01 * seed)
    )
    assert errors["bias"] == pytest.approx(-0.3 + 0.015)
    assert errors["in s.e."] == pytest.approx(0.285 / (0.0129 / 2), rel=0.01)
    assert errors["slope"] < 0.8
    halved = _errors(dose_estimates(estimate=lambda dose, seed: -dose / 2))
    assert halved["slope"] == pytest.approx(-0.5) and halved["steps down"] == len(DOSES) - 1


def test_another_category_that_moves_is_told_by_the_one_that_moves_most():
    still = dose_estimates(estimate=lambda dose, seed: 0.1 * seed, category="still")
    moving = dose_estimates(estimate=lambda dose, seed: -dose / 4, category="moving")
    assert _moves(still) == 0
    assert _moves(pl.concat([still, moving])) == pytest.approx(-DOSES[-1] / 4)


def test_what_a_disturbance_does_not_change_is_left_open():
    rows = pl.DataFrame([
        {"condition": number, "seed": seed,
         "estimate": condition.dose + 0.1 * seed - 0.2 * (condition.disturbance == "forms")}
        for number, condition in enumerate(CONDITIONS) for seed in SEEDS
    ])  # fmt: skip
    changes = _disturbed(rows)
    assert changes.pop("forms") == pytest.approx(-0.2)
    assert set(changes.values()) == {None}
