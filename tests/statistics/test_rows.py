"""Means as rows of a table, and back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clinometer.results import ESTIMATES
from clinometer.statistics import rows
from clinometer.statistics.clustered import ClusteredMean
from clinometer.statistics.prompts import bounded_mean, unpaired_difference
from clinometer.statistics.rows import Mean, mean_of_row, position_product


def table_row(mean: Mean, n: int, ends: tuple[float | None, float | None]) -> dict[str, Any]:
    """Return what the table has of a mean."""
    row = {**dict.fromkeys(ESTIMATES), **rows.tested_row(mean, 0.95), "estimate": mean.mean}
    return {**row, "range": "prompts", "n_scored": n, "range_low": ends[0], "range_high": ends[1]}


@given(st.floats(-1, 1), st.floats(0.001, 0.5), st.floats(1, 100), st.floats(0.5, 0.999))
def test_the_interval_of_a_row_is_that_of_its_mean_at_any_confidence(
    estimate: float, se: float, df: float, confidence: float
) -> None:
    scale = position_product(estimate, 24, (-1.0, 1.0)) * 4
    mean = ClusteredMean(48, 24, estimate, se, df, bounds=(-1.0, 1.0), scale=scale)
    rebuilt = mean_of_row(table_row(mean, 48, (-1.0, 1.0)))
    assert rebuilt == mean
    assert rebuilt.interval(confidence) == mean.interval(confidence)


@pytest.mark.parametrize("shift", [0.0, 0.5])
def test_the_mean_of_these_prompts_is_rebuilt_too(shift: float) -> None:
    rng = np.random.default_rng(1)
    values = rng.choice([-1.0, 0.0, 1.0], 24)
    plain = bounded_mean(values, [2] * 24, ["age"] * 24, [0, 1, 2] * 8, (-1.0, 1.0))
    shifted = (values + shift).clip(-1, 1)
    shifted_mean = bounded_mean(shifted, [2] * 24, ["age"] * 24, [0, 1, 2] * 8, (-1.0, 1.0))
    assert mean_of_row(table_row(plain, 48, (-1.0, 1.0))) == plain
    change = unpaired_difference(plain, shifted_mean)
    assert mean_of_row(table_row(change, 48, (-2.0, 2.0))) == change


def test_a_scale_without_ends_and_a_row_without_error() -> None:
    mean = ClusteredMean(48, 24, 0.4, 0.1, 7.0)
    row = table_row(mean, 48, (None, None))
    assert mean_of_row(row) == mean
    assert mean_of_row({**row, "se": None}) is None


def test_the_product_of_a_position_has_a_unit_in_the_middle_more() -> None:
    """Three of four units at the upper end, and half a unit: q = 3.5 / 5."""
    assert position_product(0.5, 4, (-1.0, 1.0)) == pytest.approx(0.7 * 0.3)
    assert position_product(1.0, 4, (-1.0, 1.0)) == pytest.approx(0.9 * 0.1)
    assert position_product(7.0, 4, (-1.0, 1.0)) == position_product(1.0, 4, (-1.0, 1.0))
