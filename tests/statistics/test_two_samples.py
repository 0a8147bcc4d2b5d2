"""Two groups against scipy; Wilcoxon's effect by its definition, permuted and bootstrapped."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from clinometer.errors import InputError
from clinometer.statistics.two_samples import (
    bootstrap_effects,
    compare_groups,
    margin,
    permute_columns,
    permute_groups,
    signed_rank,
    signed_rank_effect,
)

RNG = np.random.default_rng(11)
FIRST, SECOND = RNG.normal(0.4, 1.0, (6, 9)), RNG.normal(0.0, 2.0, (6, 7))


def test_t_and_p_are_scipys_students() -> None:
    found = compare_groups(FIRST, SECOND)
    theirs = stats.ttest_ind(FIRST, SECOND, axis=1)
    np.testing.assert_allclose(found.t, theirs.statistic)
    np.testing.assert_allclose(found.p, theirs.pvalue)
    np.testing.assert_allclose(found.df, theirs.df)


def test_a_far_tail_keeps_its_digits() -> None:
    first = RNG.normal(3.0, 1.0, (1, 100))
    found, theirs = compare_groups(first, SECOND[:1]), stats.ttest_ind(first[0], SECOND[0])
    far = compare_groups(first * 5, first)
    assert found.p[0] == pytest.approx(theirs.pvalue, rel=1e-9)
    assert far.p[0] == pytest.approx(stats.ttest_ind(first[0] * 5, first[0]).pvalue, rel=1e-9)
    assert far.p[0] < 1e-30


def test_the_interval_is_scipys_welch() -> None:
    found = compare_groups(FIRST, SECOND, confidence=0.9)
    theirs = stats.ttest_ind(FIRST, SECOND, axis=1, equal_var=False).confidence_interval(0.9)
    np.testing.assert_allclose(found.ci_low, theirs.low)
    np.testing.assert_allclose(found.ci_high, theirs.high)


def test_d_takes_the_pooled_spread() -> None:
    # Cohen 1988: means 5 and 3, both with sd 1 (n − 1).
    found = compare_groups(np.array([[4.0, 5.0, 6.0]]), np.array([[2.0, 3.0, 4.0]]))
    assert found.d[0] == pytest.approx(2.0)


def test_groups_that_do_not_vary_have_no_test() -> None:
    found = compare_groups(np.array([[1.0, 1.0], [1.0, 2.0]]), np.full((2, 2), 3.0))
    assert found.difference.tolist() == [-2.0, -1.5]
    for name in ("ci_low", "ci_high", "t", "p", "d"):
        assert np.isnan(getattr(found, name)).tolist() == [True, False], name


def test_rounding_is_not_variance() -> None:
    found = compare_groups(np.array([[0.1 + 0.2, 0.3]]), np.array([[0.3, 0.3]]))
    assert np.isnan(found.p[0])


def test_all_arrangements_are_scipys() -> None:
    found = permute_groups(FIRST[:2, :6], SECOND[:2, :5])
    for row in range(2):
        theirs = stats.permutation_test(
            (FIRST[row, :6], SECOND[row, :5]),
            lambda a, b: abs(np.mean(a) - np.mean(b)),
            alternative="greater",
            n_resamples=np.inf,
        )
        assert found.p[row] == pytest.approx(theirs.pvalue)
    assert found.exact and found.n_permutations == 462


def test_many_members_are_drawn_and_p_is_never_0() -> None:
    first, second = RNG.normal(5.0, 1.0, (2, 30)), RNG.normal(0.0, 1.0, (2, 30))
    found = permute_groups(first, second, draws=499, seed=3)
    assert not found.exact
    assert found.p.tolist() == [1 / 500, 1 / 500]


def test_drawn_arrangements_come_near_all_of_them() -> None:
    first, second = RNG.normal(0.5, 1.0, (3, 11)), RNG.normal(0.0, 1.0, (3, 10))
    found = permute_groups(first, second, draws=20_000, seed=1)
    theirs = stats.ttest_ind(first, second, axis=1).pvalue
    np.testing.assert_allclose(found.p, theirs, atol=0.02)  # close to normal: so is its p
    assert (found.p == permute_groups(first, second, draws=20_000, seed=1).p).all()
    assert (found.p != permute_groups(first, second, draws=20_000, seed=2).p).any()


def test_the_smaller_group_may_be_either() -> None:
    one, other = permute_groups(FIRST, SECOND), permute_groups(SECOND, FIRST)
    np.testing.assert_array_equal(one.p, other.p)


def test_a_row_without_numbers_has_no_p() -> None:
    first = np.vstack([FIRST[:1, :4], np.full((1, 4), np.nan)])
    found = permute_groups(first, SECOND[:2, :4])
    assert np.isnan(found.p).tolist() == [False, True]


def test_the_margin_is_scipys_t_interval() -> None:
    values = FIRST[0]
    low, high = stats.t.interval(0.95, 8, values.mean(), stats.sem(values))
    assert margin(values.std(ddof=1), 9) == pytest.approx((high - low) / 2)
    assert np.isnan(margin([1.0, 0.0], [1, 5])).all()


NUMBERS = st.lists(st.integers(-5, 5), min_size=3, max_size=40).filter(
    lambda d: len(set(map(abs, d)) - {0}) > 1
)


@given(d=NUMBERS)
def test_z_is_the_signed_sum_of_ranks_over_its_spread(d: list[int]) -> None:
    """Wilcoxon (1945): zeros left out, tied ranks averaged; under the null signs are a coin's."""
    known = np.array([x for x in d if x])
    ranks = stats.rankdata(np.abs(known))
    z = (np.sign(known) * ranks).sum() / np.sqrt((ranks**2).sum())
    tails = {"greater": stats.norm.sf(z), "less": stats.norm.cdf(z)}
    tails["two-sided"] = 2 * min(tails.values())
    for alternative, p in tails.items():
        found = signed_rank(d, alternative)  # type: ignore[arg-type]
        assert found.effect == pytest.approx(z / np.sqrt(len(d)), abs=1e-12)
        assert found.p == pytest.approx(p, abs=1e-12)


def test_nothing_to_rank_has_no_p() -> None:
    assert signed_rank([]).effect is None
    assert signed_rank([0.0, 0.0]).effect == 0
    assert signed_rank([0.0, 0.0]).p is None


def test_swapping_columns_is_counted_by_hand() -> None:
    d = np.array([[3.0, 1.0, 2.0], [1.5, 4.0, -0.5]])
    signs = np.array(list(itertools.product((1, -1), repeat=3)))
    effects = np.array([signed_rank_effect((d * s).ravel()) for s in signs])
    found = permute_columns(d, "greater")
    assert found.n_permutations == 8
    assert found.p == np.mean(effects >= effects[0] - 1e-12)


def test_the_least_p_of_five_pairs_is_1_in_32() -> None:
    found = permute_columns(np.ones((25, 5)) + np.arange(25)[:, None], "greater")
    assert (found.p, found.n_permutations) == (1 / 32, 32)


def test_one_column_cannot_be_permuted() -> None:
    assert permute_columns(np.ones((5, 1))).p is None


def test_many_columns_are_drawn_and_never_give_0() -> None:
    found = permute_columns(np.ones((2, 20)), "greater", seed=1)
    assert found.n_permutations == 4096
    assert found.p is not None and 1 / 4096 <= found.p < 0.01
    assert found == permute_columns(np.ones((2, 20)), "greater", seed=1)


def test_the_null_is_rejected_as_often_as_it_should_be() -> None:
    rng = np.random.default_rng(3)
    shared = rng.normal(size=(400, 5))  # what a pair of primes adds to all its targets
    p = [permute_columns(rng.normal(size=(8, 5)) + one, "greater").p for one in shared]
    assert abs(np.mean(np.array(p) <= 0.125) - 0.125) < 3 * np.sqrt(0.125 * 0.875 / 400)


def test_equal_tables_are_drawn_equally() -> None:
    d = np.random.default_rng(0).normal(size=(9, 4))
    draws = bootstrap_effects([d, d, -d], draws=200, seed=4)
    assert (draws[:, 0] == draws[:, 1]).all()
    np.testing.assert_allclose(draws[:, 2], -draws[:, 0], atol=1e-12)
    assert draws[:, 0].std() > 0


def test_the_spread_of_draws_is_that_of_samples() -> None:
    rng = np.random.default_rng(5)
    target = rng.normal(0.5, 1, size=(60, 1))
    of_samples = [signed_rank_effect(rng.normal(0.5, 1, size=60)) for _ in range(500)]
    draws = bootstrap_effects([target], draws=500)
    assert draws.std() == pytest.approx(np.std(of_samples), rel=0.25)


def test_tables_have_the_same_rows() -> None:
    with pytest.raises(InputError, match=r"tables of \[2, 3\] rows"):
        bootstrap_effects([np.ones((2, 1)), np.ones((3, 1))])
