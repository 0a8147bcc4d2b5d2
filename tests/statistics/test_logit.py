"""The fit where Newton's steps overshoot; its robust error; shares against statsmodels' GLM."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
import statsmodels.api as sm
from scipy.special import expit

from clinometer.statistics import clustered_mean
from clinometer.statistics.logit import (
    by_cluster,
    equal_slopes,
    fit_logit,
    fit_shares,
    robust_covariance,
    separation,
    standardise,
)

RNG = np.random.default_rng(0)
X = RNG.gamma(2, 0.1, size=(300, 3))
Y = 1 / (1 + np.exp(-(X @ [1.0, -2.0, 0.5] + RNG.normal(size=300) * 0.4)))


def test_a_maximum_that_whole_steps_miss_is_found() -> None:
    """statsmodels 0.15 gives up (Logit), or reports coefficients of 1e15 as converged (GLM)."""
    rng = np.random.default_rng(1071)
    x = rng.lognormal(0, 2, size=(50, 3))
    y = (rng.random(50) < expit(x[:, 0] - 2)).astype(float)
    assert separation(y, x) is None
    design, _ = standardise(x)
    fit = fit_logit(y, design)
    assert fit.converged
    assert design.T @ (y - expit(design @ fit.coefficients)) == pytest.approx(0, abs=1e-9)


def test_slopes_and_covariances_are_statsmodels() -> None:
    found = fit_shares(Y, X)
    assert found is not None
    glm = sm.GLM(Y, sm.add_constant(X), family=sm.families.Binomial())
    theirs, robust = glm.fit(tol=1e-12), glm.fit(cov_type="HC0", tol=1e-12)
    np.testing.assert_allclose(found.slopes, theirs.params[1:], rtol=1e-8)
    np.testing.assert_allclose(found.covariance, theirs.cov_params()[1:, 1:], rtol=1e-8)
    adjusted = robust.cov_params()[1:, 1:] * 300 / 296  # its HC1 of a GLM is its HC0
    np.testing.assert_allclose(found.robust, adjusted, rtol=1e-8)


def test_the_wald_test_is_statsmodels() -> None:
    found = fit_shares(Y, X)
    assert found is not None
    wald = equal_slopes(found.slopes, found.covariance)
    glm = sm.GLM(Y, sm.add_constant(X), family=sm.families.Binomial()).fit(tol=1e-12)
    theirs = glm.wald_test("x1 = x2, x1 = x3", scalar=True)
    assert wald is not None and wald.df == 2
    assert wald.statistic == pytest.approx(theirs.statistic, rel=1e-8)
    assert wald.p == pytest.approx(theirs.pvalue, rel=1e-6)


def test_columns_that_add_up_to_a_constant_have_no_slopes() -> None:
    rows = X / X.sum(axis=1, keepdims=True)  # as after the L1 norm
    assert fit_shares(Y, rows) is None
    assert fit_shares(Y, rows[:, :2]) is not None


def test_a_constant_column_or_too_few_rows_have_no_slopes() -> None:
    assert fit_shares(Y, np.ones((300, 1))) is None
    assert fit_shares(Y[:4], X[:4]) is None


def test_one_slope_is_not_compared() -> None:
    assert equal_slopes(np.array([1.0]), np.eye(1)) is None


def test_an_intercept_alone_is_the_mean_of_clusters(drawn):
    """The error of a share on the scale of log odds: that of `clustered_mean` over p(1 − p)."""
    frame = drawn(80, 7)
    y, member = frame["decision"].to_numpy().astype(float), frame["cluster"].to_numpy()
    fit = fit_logit(y, np.ones((80, 1)))
    covariance, df = robust_covariance(*by_cluster(y, np.ones((80, 1)), fit, member), np.eye(1))
    expected = clustered_mean(y, member)
    assert covariance[0, 0] ** 0.5 * y.mean() * (1 - y.mean()) == pytest.approx(expected.se)
    assert df[0] == pytest.approx(expected.df)


def test_clustered_interval_covers_and_published_does_not():
    """A predictor and an outcome that both differ between 14 clusters and are unrelated."""
    rng = np.random.default_rng(3)
    member = np.repeat(np.arange(14), 25)
    covered = {"published": 0, "clustered": 0}
    for _ in range(400):
        x = rng.normal(0, 1, 14)[member] + 0.3 * rng.normal(0, 1, 350)
        y = (rng.random(350) < expit(rng.normal(0, 1, 14)[member])).astype(float)
        design, back = standardise(x[:, None])
        fit = fit_logit(y, design)
        slope = (back @ fit.coefficients)[1]
        covariance, df = robust_covariance(*by_cluster(y, design, fit, member), back)
        half = scipy.stats.t.ppf(0.975, df[1]) * covariance[1, 1] ** 0.5
        covered["clustered"] += abs(slope) <= half
        naive = (back @ fit.covariance @ back.T)[1, 1] ** 0.5
        covered["published"] += abs(slope) <= 1.96 * naive
    assert 0.92 <= covered["clustered"] / 400 <= 0.99
    assert covered["published"] / 400 < 0.75
