"""Intervals and quantiles against scipy and numpy."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy import stats

from clinometer.statistics.intervals import (
    bca_interval,
    critical_value,
    interval_around,
    mean_interval,
    percentile_columns,
    percentile_interval,
    quantile,
)

VALUES = np.array([0.3, -0.1, 0.8, 0.4, 1.1, 0.2])


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
def test_critical_values_are_those_of_scipy(confidence: float) -> None:
    assert critical_value(confidence) == pytest.approx(stats.norm.interval(confidence)[1])
    assert critical_value(confidence, 3.5) == pytest.approx(stats.t.interval(confidence, 3.5)[1])


def test_critical_values_of_several_confidences_and_degrees_of_freedom() -> None:
    errors = critical_value(np.array([0.9, 0.95]), np.array([4.0, np.nan]))
    assert errors == pytest.approx([stats.t.ppf(0.95, 4), np.nan], nan_ok=True)


def test_the_interval_of_a_column_is_that_of_its_numbers() -> None:
    table = pl.DataFrame({"x": [1.0, 2.0], "se": [0.5, None]})
    low, high = interval_around(pl.col("x"), pl.col("se"), 0.9)
    rows = table.select(low=low, high=high).rows()
    assert rows == [pytest.approx(interval_around(1.0, 0.5, 0.9)), (None, None)]


def test_the_interval_of_a_mean_is_students() -> None:
    test = stats.ttest_1samp(VALUES, 0.0)
    assert mean_interval(VALUES, 0.9) == pytest.approx(tuple(test.confidence_interval(0.9)))


@pytest.mark.parametrize("method", ["linear", "inverted_cdf"])
def test_quantiles_are_those_of_the_finite_draws(method: str) -> None:
    draws = np.array([[3.0, np.nan, 1.0, np.inf, 2.0], [1.0, 2.0, 3.0, 4.0, 5.0]])
    expected = [np.quantile(row[np.isfinite(row)], [0.1, 0.5], method=method) for row in draws]
    assert quantile(draws, [0.1, 0.5], method=method) == pytest.approx(np.transpose(expected))
    assert quantile(draws.T, 0.1, axis=0, method=method) == pytest.approx(
        [ends[0] for ends in expected]
    )


def test_too_few_finite_draws_have_no_quantile() -> None:
    draws = [[1.0, np.nan, 2.0], [np.nan, np.nan, 2.0], [np.nan, np.nan, np.nan]]
    assert quantile(draws, 0.5) == pytest.approx([1.5, 2.0, np.nan], nan_ok=True)
    assert quantile(draws, 0.5, fewest=2) == pytest.approx([1.5, np.nan, np.nan], nan_ok=True)


def test_percentiles_of_a_column_are_those_of_its_draws() -> None:
    low, high = percentile_columns(pl.col("x"), 0.9)
    row = pl.DataFrame({"x": VALUES}).select(low=low, high=high).row(0)
    assert row == pytest.approx(percentile_interval(VALUES, 0.9))


def test_bca_without_bias_and_acceleration_is_the_percentile_interval() -> None:
    draws = np.linspace(-1.0, 1.0, 201)[None]
    low, high = bca_interval(draws, np.zeros(1), np.zeros(1), 0.9)
    assert (low[0], high[0]) == pytest.approx(percentile_interval(draws[0], 0.9))


def test_draws_that_do_not_differ_have_no_bca_interval() -> None:
    draws = np.array([[1.0, 1.0, 1.0], [np.nan, np.nan, np.nan]])
    assert np.isnan(bca_interval(draws, np.ones(2), np.zeros(2), 0.9)).all()


@pytest.mark.parametrize("draws", [[], [1.0, 2.0], [1.0, 2.0, np.nan]])
def test_fewer_draws_than_needed_have_no_quantile(draws: list[float]) -> None:
    assert np.isnan(quantile(draws, [0.1, 0.9], fewest=3)).all()
    assert np.isnan(quantile(np.array([draws, draws]), 0.5, fewest=3)).all()
