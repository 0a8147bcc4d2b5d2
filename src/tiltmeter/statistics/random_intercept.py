"""Logistic regression with a random intercept for each cluster, by maximum likelihood.

Reference
    Pinheiro & Bates (1995), J. Computational & Graphical Statistics 4(1), 12–35: adaptive
    Gauss–Hermite quadrature; Louis (1982), JRSS B 44(2), 226–233: the observed information.

Measures
    ``log odds = Xβ + σ·u_g`` with ``u_g ~ N(0, 1)`` for each cluster g. β is that of a given
    cluster, hence further from 0 than the coefficient that ignores clusters. The likelihood
    integrates over u with 21 nodes centred and scaled at the mode of each cluster, or with 101
    where σ exceeds 1.5: errors of about 1e-6 at σ = 7 and 1e-3 at 15. Beyond 20 no number is
    given.

Deviations from the source
    σ may be negative on the way, as the likelihood is even in it; what is returned is ``|σ|``.
    Where it is 0 the clusters do not differ, and the fit is that of the plain regression.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logsumexp

from tiltmeter.statistics.logit import Array, Logit, fit_logit, log_likelihood

__all__ = ["fit_mixed"]

#: Nodes for σ up to `_WIDE`, and beyond, where the integrand is far from normal.
_FEW, _MANY = 21, 101
_WIDE = 1.5

#: σ below this, in log odds, is 0: its square is lost in the rounding of the likelihood.
_NO_SPREAD = 1e-4

#: Beyond this σ, in log odds, a cluster's outcomes are all alike, and the quadrature fails.
_TOO_WIDE = 20.0

#: The log-likelihood may fall by this: what the quadrature errs by far from the maximum.
_SLACK = 1e-3

_STEPS = 100


class _Likelihood:
    """The likelihood of (β, σ) with its derivatives; keeps the modes as a start for the next."""

    def __init__(
        self, y: Array, design: Array, member: NDArray[np.intp], nodes: int = _FEW
    ) -> None:
        order = np.argsort(member, kind="stable")
        self.y, self.design, self.member = y[order], design[order], member[order]
        self.starts = np.flatnonzero(np.diff(self.member, prepend=-1))
        self.modes = np.zeros(len(self.starts))
        self.nodes, weights = np.polynomial.hermite.hermgauss(nodes)
        self.log_weights = np.log(weights) + self.nodes**2 + 0.5 * np.log(2.0)

    def sums(self, values: Array) -> Array:
        return np.asarray(np.add.reduceat(values, self.starts, axis=0))

    def at(self, theta: Array) -> tuple[float, Array, Array]:
        """Return log-likelihood, score and observed information at θ = (β, σ)."""
        fixed, sigma = self.design @ theta[:-1], theta[-1]
        u, log_prior = self._nodes(fixed, sigma)
        eta = fixed[:, None] + sigma * u[self.member]
        joint = self.sums(log_likelihood(self.y[:, None], eta)) + log_prior
        total = logsumexp(joint, axis=1)
        posterior = np.exp(joint - total[:, None])
        p = expit(eta)
        score = self._scores(self.y[:, None] - p, u)
        mean = np.einsum("gk,gki->gi", posterior, score)
        information = self._complete_information(p * (1.0 - p), u, posterior)
        information += mean.T @ mean - np.einsum("gk,gki,gkj->ij", posterior, score, score)
        return float(total.sum()), mean.sum(axis=0), information

    def _nodes(self, fixed: Array, sigma: float) -> tuple[Array, Array]:
        """Return the nodes of each cluster, and weight times density of u, as a logarithm."""
        spread = self._find_modes(fixed, sigma)
        u = self.modes[:, None] + np.sqrt(2.0) * spread[:, None] * self.nodes
        density = -0.5 * u**2 - 0.5 * np.log(2.0 * np.pi)
        return u, self.log_weights + np.log(spread)[:, None] + density

    def _find_modes(self, fixed: Array, sigma: float) -> Array:
        """Move the modes to where the integrand is highest; return its width there."""
        for _ in range(_STEPS):
            p = expit(fixed + sigma * self.modes[self.member])
            curvature = 1.0 + sigma**2 * self.sums(p * (1.0 - p))
            step = (sigma * self.sums(self.y - p) - self.modes) / curvature
            self.modes = self.modes + np.clip(step, -1.0, 1.0)
            if np.abs(step).max() < 1e-6:
                break
        return np.asarray(curvature**-0.5)

    def _scores(self, residual: Array, u: Array) -> Array:
        """Return the score of each cluster at each node, shape (clusters, nodes, k + 1)."""
        fixed = [self.sums(residual * column[:, None]) for column in self.design.T]
        return np.stack([*fixed, u * self.sums(residual)], axis=2)

    def _complete_information(self, weight: Array, u: Array, posterior: Array) -> Array:
        k = self.design.shape[1]
        information = np.empty((k + 1, k + 1))
        per_row = np.einsum("nk,nk->n", weight, posterior[self.member])
        information[:k, :k] = (self.design.T * per_row) @ self.design
        crossed = np.einsum("nk,nk->n", weight, (posterior * u)[self.member])
        information[k, :k] = information[:k, k] = self.design.T @ crossed
        information[k, k] = np.sum(self.sums(weight) * posterior * u**2)
        return information


def fit_mixed(y: Array, design: Array, member: NDArray[np.intp]) -> Logit:
    """Fit a logistic regression with a random intercept.

    `design`, shape (n, k), is as of `logit.fit_logit`; `member` numbers the cluster of each row
    from 0 without gaps. The numbers mean nothing unless it converged.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.array([0.0, 0, 0, 0, 1, 1, 1, 0])
    >>> fit = fit_mixed(y, np.ones((8, 1)), np.repeat([0, 1], 4))
    >>> round(fit.sd, 2), round(fit.log_likelihood, 2), fit.converged
    (2.52, -4.37, True)
    """
    theta = np.append(fit_logit(y, design).coefficients, 1.0)
    for nodes in (_FEW, _MANY):
        likelihood = _Likelihood(y, design, member, nodes)
        theta, value, information, converged = _climb(likelihood, theta)
        if abs(theta[-1]) <= _WIDE:
            break
    sd = abs(float(theta[-1]))
    converged = converged and sd <= _TOO_WIDE
    return Logit(theta[:-1], _covariance(information, sd), value, converged, sd)


def _climb(likelihood: _Likelihood, theta: Array) -> tuple[Array, float, Array, bool]:
    """Return θ where the score is 0, with log-likelihood and information; and whether it is."""
    value, score, information = likelihood.at(theta)
    for _ in range(_STEPS):
        step = _uphill(information, score)
        if score @ step < 1e-9:
            return theta, value, information, True
        theta, (value, score, information) = _ascend(likelihood, theta, step, value)
        if abs(theta[-1]) > _TOO_WIDE:
            break
    return theta, value, information, False


def _uphill(information: Array, score: Array) -> Array:
    """Return Newton's step, with the curvature made positive where it is not."""
    values, vectors = np.linalg.eigh(information)
    curvature = np.maximum(np.abs(values), 1e-6)
    step = vectors @ ((vectors.T @ score) / curvature)
    return np.asarray(step * min(1.0, 3.0 / max(float(np.linalg.norm(step)), 1e-300)))


def _ascend(
    likelihood: _Likelihood, theta: Array, step: Array, value: float
) -> tuple[Array, tuple[float, Array, Array]]:
    for halving in range(30):
        there = theta + step / 2**halving
        reached = likelihood.at(there)
        if reached[0] >= value - _SLACK:
            return there, reached
    return theta, likelihood.at(theta)


def _covariance(information: Array, sd: float) -> Array:
    """Return the covariance of β; without spread between clusters σ is no parameter."""
    k = len(information) - 1
    free = information[:k, :k] if sd < _NO_SPREAD else information
    return np.asarray(np.linalg.pinv(free, hermitian=True)[:k, :k], dtype=np.float64)
