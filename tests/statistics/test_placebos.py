"""Values among their placebos: by hand, and uniform where there is nothing to find."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from clinometer.statistics.placebos import place


def test_p_is_the_rank_of_the_distance_from_the_median() -> None:
    placed = place([5.0, 3.0, 0.0, 6.0], [[1.0, 2.0, 4.0, 9.0]] * 4)
    # with 5: median 4, distances 1 of (1, 3, 2, 0, 5); 3 is the median; 0: 2 of (2, 1, 0, 2, 7)
    assert placed.p.tolist() == [4 / 5, 1.0, 3 / 5, 4 / 5]
    assert placed.mean.tolist() == [4.0] * 4
    assert placed.low.tolist() == pytest.approx([1.075] * 4)


def test_p_is_never_0_and_ties_count() -> None:
    assert float(place(1e9, np.zeros(99)).p) == 1 / 100
    assert float(place(2.0, [2.0] * 9).p) == 1.0
    assert float(place(0.1 + 0.2, [0.3] * 9).p) == 1.0


def test_no_number_stays_none() -> None:
    placed = place([np.nan, 1.0], np.zeros((2, 19)))
    assert np.isnan([field[0] for field in placed]).all()
    assert float(placed.p[1]) == 0.05


@pytest.mark.parametrize("middle", [0.0, 0.3])
def test_p_is_uniform_where_the_value_is_one_of_the_placebos(middle: float) -> None:
    draws = np.random.default_rng(5).gumbel(middle, size=(4_000, 200))
    p = place(draws[:, 0], draws[:, 1:]).p
    assert stats.kstest(p, "uniform").pvalue > 0.01
    assert 0.04 < np.mean(p <= 0.05) < 0.06


def test_p_does_not_depend_on_unit_sign_or_origin() -> None:
    rng = np.random.default_rng(6)
    values, placebos = rng.normal(size=5), rng.normal(size=(5, 99))
    turned = place(3 - 2 * values, 3 - 2 * placebos)
    assert turned.p.tolist() == place(values, placebos).p.tolist()
    np.testing.assert_allclose(turned.low, 3 - 2 * place(values, placebos).high)
