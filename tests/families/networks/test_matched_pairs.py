"""Wilcoxon's effect by its definition, permuted and bootstrapped."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from clinometer.errors import InputError
from clinometer_measures.networks.matched_pairs import (
    bootstrap_effects,
    permute_columns,
    signed_rank,
    signed_rank_effect,
)

NUMBERS = st.lists(st.integers(-5, 5), min_size=3, max_size=40).filter(
    lambda d: len(set(map(abs, d)) - {0}) > 1
)


@given(d=NUMBERS)
def test_z_is_the_signed_sum_of_ranks_over_its_spread(d: list[int]) -> None:
    """Wilcoxon (1945): zeros left out, tied ranks averaged; under the null signs are a coin's."""
    differences = np.array([x for x in d if x])
    ranks = stats.rankdata(np.abs(differences))
    z = (np.sign(differences) * ranks).sum() / np.sqrt((ranks**2).sum())
    tails = {"greater": stats.norm.sf(z), "less": stats.norm.cdf(z)}
    tails["two-sided"] = 2 * min(tails.values())
    for alternative, p in tails.items():
        ranked = signed_rank(d, alternative)  # type: ignore[arg-type]
        assert ranked.effect == pytest.approx(z / np.sqrt(len(d)), abs=1e-12)
        assert ranked.p == pytest.approx(p, abs=1e-12)


def test_nothing_to_rank_has_no_p() -> None:
    assert signed_rank([]).effect is None
    assert signed_rank([0.0, 0.0]).effect == 0
    assert signed_rank([0.0, 0.0]).p is None


def test_swapping_columns_is_counted_by_hand() -> None:
    d = np.array([[3.0, 1.0, 2.0], [1.5, 4.0, -0.5]])
    signs = np.array(list(itertools.product((1, -1), repeat=3)))
    effects = np.array([signed_rank_effect((d * s).ravel()) for s in signs])
    permuted = permute_columns(d, "greater")
    assert permuted.n_permutations == 8
    assert permuted.p == np.mean(effects >= effects[0] - 1e-12)


def test_the_least_p_of_five_pairs_is_1_in_32() -> None:
    permuted = permute_columns(np.ones((25, 5)) + np.arange(25)[:, None], "greater")
    assert (permuted.p, permuted.n_permutations) == (1 / 32, 32)


def test_one_column_cannot_be_permuted() -> None:
    assert permute_columns(np.ones((5, 1))).p is None


def test_many_columns_are_drawn_and_never_give_0() -> None:
    permuted = permute_columns(np.ones((2, 20)), "greater", seed=1)
    assert permuted.n_permutations == 4096
    assert permuted.p is not None and 1 / 4096 <= permuted.p < 0.01
    assert permuted == permute_columns(np.ones((2, 20)), "greater", seed=1)


def test_the_null_is_rejected_as_often_as_it_should_be() -> None:
    rng = np.random.default_rng(3)
    shared = rng.normal(size=(400, 5))  # what a pair of primes adds to all its targets
    p = [permute_columns(rng.normal(size=(8, 5)) + offset, "greater").p for offset in shared]
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
    effects = [signed_rank_effect(rng.normal(0.5, 1, size=60)) for _ in range(500)]
    draws = bootstrap_effects([target], draws=500)
    assert draws.std() == pytest.approx(np.std(effects), rel=0.25)


def test_tables_have_the_same_rows() -> None:
    with pytest.raises(InputError, match=r"tables of \[2, 3\] rows"):
        bootstrap_effects([np.ones((2, 1)), np.ones((3, 1))])
