"""Random coefficients against lme4, and their quadrature against an integral and a fine sum."""

import math

import numpy as np
import pytest
import scipy.integrate
import scipy.optimize
import scipy.stats
import statsmodels.api as sm
from scipy.special import expit, xlogy

from clinometer.papers.logit import by_cluster, fit_logit, standardise
from clinometer.papers.random_effects import _Likelihood, fit_mixed

#: Lesnoff et al. (2004), Preventive Veterinary Medicine 64, 27–40, as `cbpp` in R's lme4: cases,
#: animals and periods of 15 herds.
CASES = [2, 3, 4, 0, 3, 1, 1, 8, 2, 0, 2, 2, 0, 2, 0, 5, 0, 0, 1, 3, 0, 0, 1, 8, 1, 3, 0, 12]
CASES += [2, 0, 0, 0, 1, 1, 0, 2, 0, 5, 3, 1, 2, 1, 0, 0, 1, 2, 0, 0, 11, 0, 0, 0, 1, 1, 1, 0]
SIZES = [14, 12, 9, 5, 22, 18, 21, 22, 16, 16, 20, 10, 10, 9, 6, 18, 25, 24, 4, 17, 17, 18, 20]
SIZES += [16, 10, 9, 5, 34, 9, 6, 8, 6, 22, 22, 18, 22, 25, 27, 22, 22, 10, 8, 6, 5, 21, 24, 19]
SIZES += [23, 19, 2, 3, 2, 19, 15, 15, 15]
PERIODS = [4, 3, 4, 4, 4, 4, 4, 1, 4, 4, 4, 4, 4, 4, 4]


def test_mixed_is_lme4():
    """`glmer(…, nAGQ = 25)` of lme4's tests/lmer-1.R: fixed effects, and deviance to 1e-9."""
    cases, sizes = np.array(CASES), np.array(SIZES)
    y = np.concatenate(
        [np.r_[np.ones(k), np.zeros(n - k)] for k, n in zip(cases, sizes, strict=True)]
    )
    herd = np.repeat(np.repeat(np.arange(15), PERIODS), sizes)
    period = np.repeat(np.concatenate([np.arange(k) for k in PERIODS]), sizes)
    design, back = standardise((period[:, None] == [1, 2, 3]).astype(float))
    fit = fit_mixed(y, design, herd)
    expected = [-1.39922533406847, -0.991407294757321, -1.12782184600404, -1.57946627431248]
    assert back @ fit.coefficients == pytest.approx(expected, rel=1e-5)
    saturated = (xlogy(cases, cases / sizes) + xlogy(sizes - cases, 1 - cases / sizes)).sum()
    assert 2 * (saturated - fit.log_likelihood) == pytest.approx(100.010030538022, rel=1e-9)


@pytest.mark.parametrize("theta", [(0.2, 0.5, 0.7), (-1.0, 2.0, 3.0), (0.0, 0.0, 0.1)])
def test_quadrature_is_the_integral_and_its_derivatives(draw_decisions, theta):
    frame = draw_decisions(60, 6)
    y, member = frame["decision"].to_numpy().astype(float), frame["cluster"].to_numpy()
    design = sm.add_constant(frame["score"].to_numpy())
    theta = np.array(theta)

    def cluster_integral(g):
        eta, outcome = design[member == g] @ theta[:2], y[member == g]

        def density(u):
            p = expit(eta + theta[2] * u)
            return scipy.stats.norm.pdf(u) * np.prod(np.where(outcome == 1, p, 1 - p))

        return math.log(scipy.integrate.quad(density, -12, 12, epsabs=0, epsrel=1e-12)[0])

    value, score, information = _Likelihood(y, design, member).evaluate(theta)
    assert value == pytest.approx(sum(cluster_integral(g) for g in range(6)), rel=1e-8)
    for i, step in enumerate(np.eye(3) * 1e-5):
        above = _Likelihood(y, design, member).evaluate(theta + step)
        below = _Likelihood(y, design, member).evaluate(theta - step)
        assert score.sum(axis=0)[i] == pytest.approx((above[0] - below[0]) / 2e-5, abs=1e-4)
        assert information[i] == pytest.approx((below[1] - above[1]).sum(axis=0) / 2e-5, abs=1e-3)


def test_mixed_where_clusters_hardly_vary_within(draw_decisions):
    """At σ̂ = 4 a cluster's outcomes are nearly all alike; the integral by a fine sum."""
    frame = draw_decisions(300, 30, sd=4, slope=1, seed=2)
    y, member = frame["decision"].to_numpy().astype(float), frame["cluster"].to_numpy()
    design, _ = standardise(frame["score"].to_numpy()[:, None])
    fit = fit_mixed(y, design, member)
    assert fit.converged
    assert fit.sds[0] > 3

    def summed(beta, sd):
        u = np.linspace(-12, 12, 24001)
        eta = (design @ beta)[:, None] + sd * u
        rows = y[:, None] * eta - np.logaddexp(0, eta)
        joint = np.array([rows[member == g].sum(axis=0) for g in np.unique(member)])
        return np.log(np.exp(joint) @ scipy.stats.norm.pdf(u) * 0.001).sum()

    best = summed(fit.coefficients, fit.sds[0])
    assert fit.log_likelihood == pytest.approx(best, abs=1e-5)
    for step in (0.02, -0.02):
        assert summed(fit.coefficients + [step, 0], fit.sds[0]) < best
        assert summed(fit.coefficients + [0, step], fit.sds[0]) < best
        assert summed(fit.coefficients, fit.sds[0] + 5 * step) < best


def varied(rng: np.random.Generator, clusters: int, rows: int, slope_sd: float):
    """Draw decisions whose slope on a centred predictor differs between clusters."""
    member = np.repeat(np.arange(clusters), rows)
    x = rng.normal(size=(clusters, rows))
    x = (x - x.mean(axis=1, keepdims=True)).ravel()
    slope = 0.8 + slope_sd * rng.normal(size=clusters)[member]
    eta = -0.2 + 0.7 * rng.normal(size=clusters)[member] + slope * x
    return (rng.random(len(x)) < expit(eta)).astype(float), standardise(x[:, None])[0], member


@pytest.mark.parametrize("theta", [(0.2, 0.5, 0.7, 0.4), (-1.0, 1.0, 1.5, 2.0), (0, 0, 0.1, 0.0)])
def test_quadrature_of_two_coefficients_is_a_fine_sum_and_its_derivatives(theta):
    y, design, member = varied(np.random.default_rng(1), 5, 12, 0.8)
    u = np.linspace(-9, 9, 361)
    pair = np.stack(np.meshgrid(u, u), axis=-1).reshape(-1, 2)
    eta = (design @ theta[:2])[:, None] + (design * theta[2:]) @ pair.T
    joint = np.array([(y * eta.T - np.logaddexp(0, eta.T)).T[member == g].sum(0) for g in range(5)])
    density = scipy.stats.norm.pdf(pair).prod(axis=1) * (u[1] - u[0]) ** 2
    theta = np.array(theta)
    value, score, information = _Likelihood(y, design, member, (0, 1), 21).evaluate(theta)
    assert value == pytest.approx(np.log(np.exp(joint) @ density).sum(), abs=1e-5)
    for i, step in enumerate(np.eye(4) * 1e-5):
        above = _Likelihood(y, design, member, (0, 1), 21).evaluate(theta + step)
        below = _Likelihood(y, design, member, (0, 1), 21).evaluate(theta - step)
        assert score.sum(axis=0)[i] == pytest.approx((above[0] - below[0]) / 2e-5, abs=1e-4)
        assert information[i] == pytest.approx((below[1] - above[1]).sum(axis=0) / 2e-5, abs=1e-3)


def test_random_slopes_are_found():
    y, design, member = varied(np.random.default_rng(4), 300, 20, 0.9)
    fit = fit_mixed(y, design, member, (0, 1))
    spread = 0.975  # sd of the centred predictor: √(19/20)
    assert fit.converged
    assert fit.coefficients[1] / spread == pytest.approx(0.8, abs=0.2)
    assert fit.sds == pytest.approx([0.7, 0.9 * spread], abs=0.12)
    assert fit.score.sum(axis=0) == pytest.approx(0, abs=1e-3)


def test_without_spread_it_is_the_plain_regression():
    """Every cluster has the same rows, so none differs from another."""
    y, design, _ = varied(np.random.default_rng(2), 1, 30, 0)
    alike = np.tile(y, 5), np.tile(design, (5, 1)), np.repeat(np.arange(5), 30)
    fit, plain = fit_mixed(*alike, (0, 1)), fit_logit(*alike[:2])
    assert fit.sds == pytest.approx(0, abs=1e-3)
    assert fit.coefficients == pytest.approx(plain.params, rel=1e-5)
    assert fit.log_likelihood == pytest.approx(plain.llf, rel=1e-8)
    _, information = by_cluster(*alike[:2], plain.params, alike[2])
    assert fit.information == pytest.approx(information, rel=1e-4)


def test_information_is_that_of_the_linearised_model():
    """``XᵀV⁻¹X`` with ``V = W⁻¹ + ZDZᵀ`` (Breslow & Clayton 1993), modes by another optimiser."""
    y, design, member = varied(np.random.default_rng(7), 6, 25, 1.0)
    fit = fit_mixed(y, design, member, (0, 1))
    for g in range(6):
        group_design, outcome = design[member == g], y[member == g]

        def loss(u, group_design=group_design, outcome=outcome):
            eta = group_design @ (fit.coefficients + fit.sds * u)
            return np.logaddexp(0, eta).sum() - outcome @ eta + u @ u / 2

        u = scipy.optimize.minimize(loss, np.zeros(2), tol=1e-10).x
        p = expit(group_design @ (fit.coefficients + fit.sds * u))
        v = np.diag(1 / (p * (1 - p))) + (group_design * fit.sds**2) @ group_design.T
        assert fit.information[g] == pytest.approx(
            group_design.T @ np.linalg.solve(v, group_design), rel=1e-4
        )
