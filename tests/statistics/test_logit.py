"""The fit where Newton's steps overshoot; slopes of shares against statsmodels' binomial GLM."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.special import expit

from tiltmeter.statistics.logit import equal_slopes, fit_logit, fit_shares, separation, standardise

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
