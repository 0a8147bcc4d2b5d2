"""The fit where Newton's steps overshoot, and its cluster-robust error."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
from scipy.special import expit

from clinometer.papers.logit import (
    by_cluster,
    fit_logit,
    robust_covariance,
    separation,
    standardise,
)
from clinometer.statistics import clustered_mean


def test_a_maximum_that_whole_steps_miss_is_found() -> None:
    """statsmodels' Logit gives up here; its GLM reports coefficients of 1e15 as converged."""
    rng = np.random.default_rng(1071)
    x = rng.lognormal(0, 2, size=(50, 3))
    y = (rng.random(50) < expit(x[:, 0] - 2)).astype(float)
    assert separation(y, x) is None
    design, _ = standardise(x)
    fit = fit_logit(y, design)
    assert design.T @ (y - expit(design @ fit.params)) == pytest.approx(0, abs=1e-9)


def test_an_intercept_alone_is_the_mean_of_clusters(draw_decisions):
    """The error of a share on the scale of log odds: that of `clustered_mean` over p(1 − p)."""
    frame = draw_decisions(80, 7)
    y, member = frame["decision"].to_numpy().astype(float), frame["cluster"].to_numpy()
    fit = fit_logit(y, np.ones((80, 1)))
    by_member = by_cluster(y, np.ones((80, 1)), fit.params, member)
    covariance, df = robust_covariance(*by_member, np.eye(1))
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
        slope = (back @ fit.params)[1]
        covariance, df = robust_covariance(*by_cluster(y, design, fit.params, member), back)
        half = scipy.stats.t.ppf(0.975, df[1]) * covariance[1, 1] ** 0.5
        covered["clustered"] += abs(slope) <= half
        naive = (back @ fit.cov_params() @ back.T)[1, 1] ** 0.5
        covered["published"] += abs(slope) <= 1.96 * naive
    assert 0.92 <= covered["clustered"] / 400 <= 0.99
    assert covered["published"] / 400 < 0.75
