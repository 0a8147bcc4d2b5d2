"""What levels that stereotypes share add to the variance of their mean."""

import numpy as np
import pytest

from clinometer.statistics.shared import (
    design_effect,
    deviations_by_level,
    greatest_shared_variance,
    shared_variance,
    single_level_variance,
)
from clinometer.statistics.squares import stratum_squares


def shared_layout(seed: int) -> tuple[list[np.ndarray], list[np.ndarray], np.ndarray]:
    """Return the wordings and weights of four stereotypes, which share some, and their parts."""
    rng = np.random.default_rng(seed)
    codes = [rng.choice([0, 1, 2, 3, 4][start : start + 4], 12) for start in (0, 0, 1, 1)]
    weights = [rng.integers(1, 4, 12).astype(float) for _ in codes]
    answers = np.array([w.sum() for w in weights])
    return codes, weights, answers / answers.sum()


def parts_of(values, codes, weights):
    of = np.repeat(np.arange(len(values)), [len(y) for y in values])
    joined = (np.concatenate(one).astype(float) for one in (values, weights))
    return stratum_squares(*joined, {"variation": np.concatenate(codes)}, of)


@pytest.mark.parametrize("seed", range(4))
def test_common_is_unbiased_by_dense_matrices(seed):
    """A quadratic form q(y) has the expectation Σ_l q(z_l) under effects of variance 1.

    z_l is 1 where a score is of wording l. Shared effects add Σ_l (Σ_s p_s c_sl)² − Σ_ls (p_s
    c_sl)² to the variance of the mean, c_sl being the part of level l in stereotype s.
    """
    codes, weights, shares = shared_layout(seed)
    fractions = np.array(
        [
            [w[own == level].sum() / w.sum() for level in range(5)]
            for own, w in zip(codes, weights, strict=True)
        ]
    )
    pooled = shares[:, None] * fractions
    added = (pooled.sum(axis=0) ** 2).sum() - (pooled**2).sum()
    expected = sum(
        shared_variance(
            parts_of([own == level for own in codes], codes, weights), shares, "variation"
        )[0]
        for level in range(5)
    )
    assert expected == pytest.approx(added)


@pytest.mark.parametrize("seed", range(4))
def test_effects_of_one_stereotype_are_no_common_ones(seed):
    codes, weights, shares = shared_layout(seed)
    for only in range(4):
        values = [np.random.default_rng(seed).normal(size=12) * (s == only) for s in range(4)]
        found, _ = shared_variance(parts_of(values, codes, weights), shares, "variation")
        assert found == pytest.approx(0, abs=1e-15)


def test_common_is_unbiased_in_a_simulation_and_its_variance_is_near():
    rng, runs, levels, stereotypes = np.random.default_rng(12), 400, 8, 6
    codes = [np.repeat(np.arange(levels), 2)] * stereotypes
    weights, shares = [np.ones(16)] * stereotypes, np.full(stereotypes, 1 / stereotypes)
    found = np.empty((runs, 2))
    for run in range(runs):
        effects = rng.normal(0, 0.5, levels) + rng.normal(0, 0.5, (stereotypes, levels))
        values = [
            own[one] + rng.normal(0, 0.5, 16) for own, one in zip(effects, codes, strict=True)
        ]
        found[run] = shared_variance(parts_of(values, codes, weights), shares, "variation")
    added = 0.25 / levels * (1 - 1 / stereotypes)
    assert found[:, 0].mean() == pytest.approx(added, abs=3.5 * found[:, 0].std() / runs**0.5)
    assert 0.8 < found[:, 1].mean() / found[:, 0].var() < 2.0


def test_nothing_shared_adds_nothing():
    codes, weights, shares = shared_layout(0)
    rng = np.random.default_rng(0)
    apart = [own + 10 * place for place, own in enumerate(codes)]
    values = [rng.normal(size=12) for _ in codes]
    assert shared_variance(parts_of(values, apart, weights), shares, "variation") == (0.0, 0.0)
    assert (
        shared_variance(parts_of(values[:1], codes[:1], weights[:1]), np.ones(1), "variation")[0]
        == 0.0
    )


def test_stereotypes_that_move_alike_tell_as_much_as_one():
    rng, codes = np.random.default_rng(2), np.repeat(np.arange(4), 3)
    alike = [np.repeat(rng.normal(size=4), 3)] * 5
    stratum_squares = parts_of(alike, [codes] * 5, [np.ones(12)] * 5)
    every = np.ones((1, 5), bool)
    assert design_effect(
        *deviations_by_level(stratum_squares, np.ones(5), "variation"), every
    ) == pytest.approx(5)
    apart = parts_of(alike, [codes + 4 * k for k in range(5)], [np.ones(12)] * 5)
    assert design_effect(*deviations_by_level(apart, np.ones(5), "variation"), every) == 1.0


def test_what_levels_add_at_most_is_what_they_add_where_they_move_alike():
    rng, codes, shares = np.random.default_rng(3), np.repeat(np.arange(4), 3), np.full(5, 0.2)
    values = [size * np.repeat(rng.normal(size=4), 3) for size in (1.0,) * 5]
    variances = shares**2 * np.array([1.0, 4.0, 1.0, 4.0, 1.0])
    stratum_squares = parts_of(values, [codes] * 5, [np.ones(12)] * 5)
    assert greatest_shared_variance(stratum_squares, variances, "variation") == pytest.approx(
        (0.2 * 7) ** 2 - variances.sum()
    )
    apart = parts_of(values, [codes + 4 * k for k in range(5)], [np.ones(12)] * 5)
    assert greatest_shared_variance(apart, variances, "variation") == 0.0


def test_what_has_one_level_that_others_share_is_charged_as_if_it_moved_all_alike():
    """The sum over pairs of stereotypes of the products of their parts of each level.

    Two stereotypes have both words, a third has one of them and a fourth one that is not recorded.
    """
    codes = [np.repeat([1, 2], 6), np.repeat([1, 2], 6), np.ones(12, int), np.zeros(12, int)]
    values = [np.random.default_rng(4).normal(0, 0.1, 12) for _ in codes]
    stratum_squares = parts_of(values, codes, [np.ones(12)] * 4)
    variances = np.array([0.02, 0.02, 0.09, 0.09])  # with two words each has half of .04
    among = 2 * 2 * 0.1 * 0.1
    assert greatest_shared_variance(stratum_squares, variances, "variation") == pytest.approx(
        among + 2 * 2 * 0.1 * 0.3
    )
    assert single_level_variance(stratum_squares, variances, "variation") == pytest.approx(
        2 * 2 * 0.1 * 0.3
    )
    assert single_level_variance(stratum_squares[:2], variances[:2], "variation") == 0.0
