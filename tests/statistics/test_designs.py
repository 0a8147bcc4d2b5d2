"""Sums of squares by factor: against ordinary least squares, on an unbalanced design."""

from __future__ import annotations

import numpy as np
import pytest

from clinometer.statistics.clustered import Array
from clinometer.statistics.designs import CROSSED, Codes, CrossedDesign, design


def unbalanced(seed: int = 0, units: int = 40) -> tuple[list[Codes], Array]:
    """Return levels of units that are drawn at random, by factor, and numbers of answers."""
    rng = np.random.default_rng(seed)
    wording, marginalized, default, draw = (rng.integers(1, k, units) for k in (5, 4, 3, 12))
    cell = 100 * wording + 10 * marginalized + default
    weights = rng.integers(1, 3, units).astype(float)
    return [wording, marginalized, default, cell, draw], weights


def dummies(levels: Codes) -> Array:
    return np.equal.outer(levels, np.unique(levels[levels >= 0])).astype(float)


@pytest.mark.parametrize("seed", range(3))
def test_squares_are_what_each_factor_explains_beyond_those_before(seed: int) -> None:
    codes, weights = unbalanced(seed)
    values = np.random.default_rng(seed).normal(size=len(weights))
    columns = [np.ones((len(values), 1)), *(dummies(levels) for levels in codes)]
    models = [np.hstack(columns[: k + 1]) for k in range(len(columns))]
    fitted = [model @ np.linalg.lstsq(model, values, rcond=None)[0] for model in models]
    residuals = np.array([((values - fit) ** 2).sum() for fit in fitted])
    ranks = [np.linalg.matrix_rank(model) for model in models]
    crossed = design(codes, weights)
    assert crossed.squares(values) == pytest.approx([*-np.diff(residuals), residuals[-1]])
    assert crossed.df.tolist() == [*np.diff(ranks), len(values) - ranks[-1]]


def effect_mean_squares(crossed: CrossedDesign, levels: Codes) -> Array:
    """Return the expected mean squares under effects of variance 1 of each level: Σ_l q(z_l)."""
    squares = sum(crossed.squares(column) for column in dummies(levels).T)
    return np.divide(squares, crossed.df, out=np.zeros_like(crossed.df), where=crossed.df > 0)


@pytest.mark.parametrize("seed", range(3))
def test_expected_mean_squares_are_those_of_the_effects_of_each_level(seed: int) -> None:
    """A quadratic form q(y) has the expectation Σ_l q(z_l), with z_l the units of a level."""
    codes, weights = unbalanced(seed)
    crossed = design(codes, weights)
    for place, levels in enumerate([*codes, np.arange(len(weights))]):
        expected = effect_mean_squares(crossed, levels)
        assert crossed.expected[:, place] == pytest.approx(expected, abs=1e-9)


def test_expected_mean_squares_are_those_of_simulated_scores() -> None:
    codes, weights = unbalanced(units=60)
    crossed, rng = design(codes, weights), np.random.default_rng(1)
    sds = np.array([0.5, 0.4, 0.3, 0.2, 0.6, 0.7])
    effects = [dummies(levels) for levels in (*codes, np.arange(60))]
    squares = np.zeros((4000, len(sds)))
    for row in squares:
        parts = zip(effects, sds, strict=True)
        row[:] = crossed.squares(sum(z @ rng.normal(0, sd, z.shape[1]) for z, sd in parts))
    error = squares.std(axis=0) / len(squares) ** 0.5
    expected = crossed.df * (crossed.expected @ sds**2)
    assert (np.abs(squares.mean(axis=0) - expected) < 3.5 * error).all()


def test_shares_are_the_squares_of_the_weights_of_levels() -> None:
    codes, weights = unbalanced()
    crossed = design(codes, weights)
    by_level = [dummies(levels).T @ weights / weights.sum() for levels in codes]
    responses = weights / weights.sum()
    expected = [(shares**2).sum() for shares in (*by_level, responses)]
    assert crossed.shares == pytest.approx(expected)
    some = codes[0] == 1
    word_shares = dummies(codes[1][some]).T @ weights[some] / weights[some].sum()
    assert crossed.shares_of(some)[1] == pytest.approx((word_shares**2).sum())


def test_a_factor_that_tells_nothing_has_no_variance() -> None:
    """With one pair of words a cell is a wording, and a draw of each unit is a response."""
    wording, word = np.repeat([1, 2, 3], 4), np.ones(12, int)
    crossed = design([wording, word, word, 10 * wording, np.arange(12)], np.ones(12))
    assert dict(zip(CROSSED, crossed.used, strict=False)) == {
        "variation": True, "marginalized": False, "default": False, "cell": False, "draw": False
    }  # fmt: skip
    assert crossed.df.tolist() == [2, 0, 0, 0, 0, 9]
    assert crossed.shares[1:-1].tolist() == [0, 0, 0, 0]


def test_units_without_a_level_are_not_moved_by_it() -> None:
    """Answers about one person have a word of one group; the other group's words move others."""
    codes, weights = unbalanced()
    codes[1][::2] = -1
    crossed = design(codes, weights)
    expected = effect_mean_squares(crossed, codes[1])
    assert crossed.expected[:, 1] == pytest.approx(expected, abs=1e-9)
    assert crossed.level_weights(1, crossed.weights).sum() == pytest.approx(
        crossed.weights[1::2].sum()
    )
