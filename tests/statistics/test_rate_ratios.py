"""Ratios of two rates, against published intervals and the tables of others."""

import math

import pytest

from clinometer.statistics.rate_ratios import fisher_p, ratio_interval


@pytest.mark.parametrize(
    ("selected", "n", "reference", "ends"),
    [
        (36, 40, (16, 80), (2.94, 7.15)),  # Koopman (1984), his example
        (10, 10, (10, 10), (0.722, 1.384)),  # by symmetry the inverse of each other
    ],
)
def test_the_interval_is_that_of_the_source(selected, n, reference, ends):
    low, high = ratio_interval(selected, n, reference)
    assert (low, high) == pytest.approx(ends, abs=0.005)


def test_both_ways_round_the_interval_is_the_same():
    low, high = ratio_interval(75, 270, (300, 700))
    assert ratio_interval(300, 700, (75, 270)) == pytest.approx((1 / high, 1 / low))


def test_with_many_people_it_is_that_of_the_logarithm():
    # Katz et al. (1978): ratio · exp(±1.96 √(1/x₁ − 1/n₁ + 1/x₀ − 1/n₀)).
    se = math.sqrt(1 / 9000 - 1 / 20000 + 1 / 12000 - 1 / 20000)
    expected = (0.75 * math.exp(-1.96 * se), 0.75 * math.exp(1.96 * se))
    assert ratio_interval(9000, 20000, (12000, 20000)) == pytest.approx(expected, rel=1e-3)


def test_of_nobody_selected_the_ratio_begins_at_zero_and_without_a_benchmark_there_is_none():
    low, high = ratio_interval(0, 10, (5, 10))
    assert low == 0 and 0.5 < high < 0.7
    assert ratio_interval(3, 10, (0, 10)) is None
    assert ratio_interval(0, 0, (5, 10)) is None


def test_fishers_test_is_that_of_his_table_of_twins():
    # Fisher (1935): convictions of twins of criminals, 10 of 13 and 2 of 17; two-sided .00054.
    assert fisher_p(10, 13, (2, 17)) == pytest.approx(0.000537, abs=5e-7)
