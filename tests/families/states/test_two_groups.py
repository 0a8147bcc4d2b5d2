"""Two groups against scipy, and shuffled membership against all arrangements."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from clinometer_measures.states.two_groups import compare_groups, margin, permute_groups

RNG = np.random.default_rng(11)
FIRST, SECOND = RNG.normal(0.4, 1.0, (6, 9)), RNG.normal(0.0, 2.0, (6, 7))


def test_t_and_p_are_scipys_students() -> None:
    comparison = compare_groups(FIRST, SECOND)
    theirs = stats.ttest_ind(FIRST, SECOND, axis=1)
    np.testing.assert_allclose(comparison.t, theirs.statistic)
    np.testing.assert_allclose(comparison.p, theirs.pvalue)
    np.testing.assert_allclose(comparison.df, theirs.df)


def test_a_far_tail_keeps_its_digits() -> None:
    first = RNG.normal(3.0, 1.0, (1, 100))
    comparison, theirs = compare_groups(first, SECOND[:1]), stats.ttest_ind(first[0], SECOND[0])
    far = compare_groups(first * 5, first)
    assert comparison.p[0] == pytest.approx(theirs.pvalue, rel=1e-9)
    assert far.p[0] == pytest.approx(stats.ttest_ind(first[0] * 5, first[0]).pvalue, rel=1e-9)
    assert far.p[0] < 1e-30


def test_the_interval_is_scipys_welch() -> None:
    comparison = compare_groups(FIRST, SECOND, confidence=0.9)
    theirs = stats.ttest_ind(FIRST, SECOND, axis=1, equal_var=False).confidence_interval(0.9)
    np.testing.assert_allclose(comparison.ci_low, theirs.low)
    np.testing.assert_allclose(comparison.ci_high, theirs.high)


def test_d_takes_the_pooled_spread() -> None:
    # Cohen 1988: means 5 and 3, both with sd 1 (n − 1).
    comparison = compare_groups(np.array([[4.0, 5.0, 6.0]]), np.array([[2.0, 3.0, 4.0]]))
    assert comparison.d[0] == pytest.approx(2.0)


def test_groups_that_do_not_vary_have_no_test() -> None:
    comparison = compare_groups(np.array([[1.0, 1.0], [1.0, 2.0]]), np.full((2, 2), 3.0))
    assert comparison.difference.tolist() == [-2.0, -1.5]
    for name in ("ci_low", "ci_high", "t", "p", "d"):
        assert np.isnan(getattr(comparison, name)).tolist() == [True, False], name


def test_rounding_is_not_variance() -> None:
    comparison = compare_groups(np.array([[0.1 + 0.2, 0.3]]), np.array([[0.3, 0.3]]))
    assert np.isnan(comparison.p[0])


def test_all_arrangements_are_scipys() -> None:
    permuted = permute_groups(FIRST[:2, :6], SECOND[:2, :5])
    for row in range(2):
        theirs = stats.permutation_test(
            (FIRST[row, :6], SECOND[row, :5]),
            lambda a, b: abs(np.mean(a) - np.mean(b)),
            alternative="greater",
            n_resamples=np.inf,
        )
        assert permuted.p[row] == pytest.approx(theirs.pvalue)
    assert permuted.exact and permuted.n_permutations == 462


def test_many_members_are_drawn_and_p_is_never_0() -> None:
    first, second = RNG.normal(5.0, 1.0, (2, 30)), RNG.normal(0.0, 1.0, (2, 30))
    permuted = permute_groups(first, second, draws=499, seed=3)
    assert not permuted.exact
    assert permuted.p.tolist() == [1 / 500, 1 / 500]


def test_drawn_arrangements_come_near_all_of_them() -> None:
    first, second = RNG.normal(0.5, 1.0, (3, 11)), RNG.normal(0.0, 1.0, (3, 10))
    permuted = permute_groups(first, second, draws=20_000, seed=1)
    theirs = stats.ttest_ind(first, second, axis=1).pvalue
    np.testing.assert_allclose(permuted.p, theirs, atol=0.02)  # close to normal: so is its p
    assert (permuted.p == permute_groups(first, second, draws=20_000, seed=1).p).all()
    assert (permuted.p != permute_groups(first, second, draws=20_000, seed=2).p).any()


def test_the_smaller_group_may_be_either() -> None:
    straight, exchanged = permute_groups(FIRST, SECOND), permute_groups(SECOND, FIRST)
    np.testing.assert_array_equal(straight.p, exchanged.p)


def test_a_row_without_numbers_has_no_p() -> None:
    first = np.vstack([FIRST[:1, :4], np.full((1, 4), np.nan)])
    permuted = permute_groups(first, SECOND[:2, :4])
    assert np.isnan(permuted.p).tolist() == [False, True]


def test_the_margin_is_scipys_t_interval() -> None:
    values = FIRST[0]
    low, high = stats.t.interval(0.95, 8, values.mean(), stats.sem(values))
    assert margin(values.std(ddof=1), 9) == pytest.approx((high - low) / 2)
    assert np.isnan(margin([1.0, 0.0], [1, 5])).all()
