"""Logistic regression with random coefficients for each cluster, by maximum likelihood.

Reference
    Pinheiro & Bates (1995), J. Computational & Graphical Statistics 4(1), 12–35: adaptive
    Gauss–Hermite quadrature; Louis (1982), JRSS B 44(2), 226–233: the observed information;
    Breslow & Clayton (1993), JASA 88(421), 9–25: the linearised model of the information.

Measures
    ``log odds = Xβ + Σ σ_q·u_gq·X_q`` with independent ``u_gq ~ N(0, 1)`` for each cluster g and
    each column q whose coefficient varies between clusters, as the intercept. β is that of a
    typical cluster, hence further from 0 than the coefficient that ignores clusters. The
    likelihood integrates over u with nodes centred and scaled at the mode of each cluster. A
    random intercept has 21 nodes, or 101 where σ exceeds 1.5: errors of about 1e-6 at σ = 7 and
    1e-3 at 15. Of two random coefficients each has 9, or 31. Beyond σ = 20 no number is given.
    statsmodels has no maximum likelihood of this model; its Bayesian fits have other estimates.
    scipy's general optimisers take 3 to 4 times as long as the Newton steps here, and stop short
    of the maximum where clusters differ much.

Deviations from the source
    The random coefficients are independent, as ``(x || g)`` in lme4: a correlation cannot be
    estimated from a few clusters, and the cluster-robust errors that are taken of the fit do not
    need it. σ may be negative on the way, as the likelihood is even in it; what is returned is
    ``|σ|``. Where it is 0 the clusters do not differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logsumexp

from clinometer.papers.logit import Array, log_likelihood

#: Nodes per random coefficient, by the number of these, for σ up to `_WIDE`, and beyond, where the
#: integrand is far from normal.
_NODES = {1: (21, 101), 2: (9, 31)}
_WIDE = 1.5

#: σ below this, in log odds, is 0: its square is lost in the rounding of the likelihood.
_NO_SPREAD = 1e-4

#: Beyond this σ, in log odds, a cluster's outcomes are all alike, and the quadrature fails.
_TOO_WIDE = 20.0

#: The log-likelihood may fall by this: what the quadrature errs by far from the maximum.
_SLACK = 1e-3

#: A step to a mode that lowers the integrand's logarithm by more is halved.
_ROUNDING = 1e-9

_STEPS, _HALVINGS = 100, 30


@dataclass(frozen=True)
class Mixed:
    """A fitted regression with random coefficients, and what each cluster adds to it."""

    coefficients: Array  # (k,), log odds
    sds: Array  # (varying,), of the random coefficients, log odds
    log_likelihood: float
    converged: bool
    score: Array  # (clusters, k), of the coefficients; they sum to 0
    information: Array  # (clusters, k, k), of the coefficients, linearised at the modes


class _Likelihood:
    """The likelihood of (β, σ) with its derivatives; keeps the modes as a start for the next."""

    def __init__(
        self,
        y: Array,
        design: Array,
        member: NDArray[np.intp],
        varying: Sequence[int] = (0,),
        nodes: int = 21,
    ) -> None:
        order = np.argsort(member, kind="stable")
        self.y, self.design, self.member = y[order], design[order], member[order]
        self.varying = list(varying)
        self.z = self.design[:, self.varying]
        self.starts = np.flatnonzero(np.diff(self.member, prepend=-1))
        self.modes = np.zeros((len(self.starts), len(self.varying)))
        self.nodes, self.log_weights = _grid(nodes, len(self.varying))

    def sums(self, values: Array) -> Array:
        """Add up values over the rows of each cluster, on the first axis."""
        return np.asarray(np.add.reduceat(values, self.starts, axis=0))

    def evaluate(self, theta: Array) -> tuple[float, Array, Array]:
        """Return log-likelihood, scores of the clusters and observed information at θ = (β, σ)."""
        k = self.design.shape[1]
        fixed, scaled = self.design @ theta[:k], self.z * theta[k:]
        u, log_prior = self._nodes(fixed, scaled)
        eta = fixed[:, None] + np.einsum("nq,nmq->nm", scaled, u[self.member])
        joint = self.sums(log_likelihood(self.y[:, None], eta)) + log_prior
        total = logsumexp(joint, axis=1)
        posterior = np.exp(joint - total[:, None])
        p = expit(eta)
        score = self._scores(self.y[:, None] - p, u)
        mean = np.einsum("gm,gmi->gi", posterior, score)
        information = self._complete_information(p * (1.0 - p), u, posterior)
        information += mean.T @ mean - np.einsum("gm,gmi,gmj->ij", posterior, score, score)
        return float(total.sum()), mean, information

    def _nodes(self, fixed: Array, scaled: Array) -> tuple[Array, Array]:
        """Return the nodes of each cluster, and weight times density of u, as a logarithm."""
        self.find_modes(fixed, scaled)
        _, curvature = self._curvature(fixed, scaled)
        root = np.linalg.cholesky(np.linalg.inv(curvature))
        u = self.modes[:, None] + np.sqrt(2.0) * np.einsum("gij,mj->gmi", root, self.nodes)
        volume = np.log(np.einsum("gii->gi", root)).sum(axis=1)
        return u, self.log_weights + volume[:, None] - 0.5 * np.sum(u**2, axis=2)

    def find_modes(self, fixed: Array, scaled: Array) -> None:
        """Move the modes to where the integrand of each cluster is highest."""
        height = self._height(fixed, scaled, self.modes)
        for _ in range(_STEPS):
            residual, curvature = self._curvature(fixed, scaled)
            slope = self.sums(residual[:, None] * scaled) - self.modes
            step = np.linalg.solve(curvature, slope[:, :, None])[:, :, 0]
            if np.abs(step).max() < 1e-6:
                break
            for _ in range(_HALVINGS):
                reached = self._height(fixed, scaled, self.modes + step)
                if not (lower := reached < height - _ROUNDING).any():
                    break
                step[lower] /= 2.0
            self.modes, height = self.modes + step, reached

    def _height(self, fixed: Array, scaled: Array, u: Array) -> Array:
        """Return the logarithm of the integrand of each cluster at u."""
        eta = fixed + np.sum(scaled * u[self.member], axis=1)
        return np.asarray(self.sums(log_likelihood(self.y, eta)) - 0.5 * np.sum(u**2, axis=1))

    def _curvature(self, fixed: Array, scaled: Array) -> tuple[Array, Array]:
        """Return y − p at the modes, and how the integrand of each cluster is curved there."""
        p = expit(fixed + np.sum(scaled * self.modes[self.member], axis=1))
        weighted = (p * (1.0 - p))[:, None] * scaled
        products = self.sums(weighted[:, :, None] * scaled[:, None, :])
        return self.y - p, np.eye(len(self.varying)) + products

    def _scores(self, residual: Array, u: Array) -> Array:
        """Return the score of each cluster at each node, shape (clusters, nodes, k + varying)."""
        columns = [self.sums(residual * column[:, None]) for column in self.design.T]
        fixed = np.stack(columns, axis=2)
        return np.concatenate([fixed, u * fixed[:, :, self.varying]], axis=2)

    def _complete_information(self, weight: Array, u: Array, posterior: Array) -> Array:
        """Return the information if the random coefficients u were known, averaged over them."""
        k = self.design.shape[1]
        factors = np.concatenate([np.ones_like(u[:, :, :1]), u], axis=2)
        weighted = weight * posterior[self.member]
        moments = np.empty((len(weight), factors.shape[2], factors.shape[2]))
        for i, j in np.ndindex(moments.shape[1:]):
            product = factors[:, :, i] * factors[:, :, j]
            moments[:, i, j] = np.einsum("nm,nm->n", weighted, product[self.member])
        # Of each parameter the factor of its column: 1 of β, u of a random coefficient.
        factor_indices = [0] * k + list(range(1, factors.shape[2]))
        columns = np.column_stack([self.design, self.z])
        expanded = moments[:, factor_indices][:, :, factor_indices]
        return np.asarray(np.einsum("ni,nj,nij->ij", columns, columns, expanded))

    def linearised(self, theta: Array) -> Array:
        """Return the information on β that each cluster has, with weights at its mode."""
        k = self.design.shape[1]
        fixed, scaled = self.design @ theta[:k], self.z * theta[k:]
        p = expit(fixed + np.sum(scaled * self.modes[self.member], axis=1))
        weighted = (p * (1.0 - p))[:, None] * self.design
        plain = self.sums(weighted[:, :, None] * self.design[:, None, :])
        crossed = self.sums(weighted[:, :, None] * scaled[:, None, :])
        _, curvature = self._curvature(fixed, scaled)
        absorbed = crossed @ np.linalg.solve(curvature, crossed.swapaxes(1, 2))
        return np.asarray(plain - absorbed)


def _grid(nodes: int, dimensions: int) -> tuple[Array, Array]:
    """Return the nodes of a normal integral, shape (m, dimensions), and their log weights."""
    axis, weights = np.polynomial.hermite.hermgauss(nodes)
    grid = np.stack(np.meshgrid(*[axis] * dimensions), axis=-1).reshape(-1, dimensions)
    # Gauss–Hermite's weight exp(−x²) is taken out again, as the integrand has its own density.
    logs = np.log(weights) + axis**2 - 0.5 * np.log(np.pi)
    per_axis = np.stack(np.meshgrid(*[logs] * dimensions), axis=-1)
    return grid, per_axis.reshape(-1, dimensions).sum(axis=1)


def fit_mixed(
    y: Array,
    design: Array,
    member: NDArray[np.intp],
    varying: Sequence[int] = (0,),
    start: Array | None = None,
) -> Mixed:
    """Fit a logistic regression with random coefficients.

    `design`, shape (n, k), is as of `logit.fit_logit`; `member` numbers the cluster of each row
    from 0 without gaps; `varying` are the one or two columns of the design whose coefficients vary
    between clusters; `start` are coefficients near the maximum, (k,), 0 where not given. The
    numbers mean nothing unless it converged.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.array([0.0, 0, 0, 0, 1, 1, 1, 0])
    >>> fit = fit_mixed(y, np.ones((8, 1)), np.repeat([0, 1], 4))
    >>> round(float(fit.sds[0]), 2), round(fit.log_likelihood, 2), fit.converged
    (2.52, -4.37, True)
    """
    k = design.shape[1]
    theta = np.append(np.zeros(k) if start is None else start, np.ones(len(varying)))
    for nodes in _NODES[len(varying)]:
        likelihood = _Likelihood(y, design, member, varying, nodes)
        theta, value, score, converged = _climb(likelihood, theta)
        if np.abs(theta[k:]).max() <= _WIDE:
            break
    sds = np.where(np.abs(theta[k:]) < _NO_SPREAD, 0.0, np.abs(theta[k:]))
    converged = converged and bool(sds.max() <= _TOO_WIDE)
    information = likelihood.linearised(theta)
    return Mixed(theta[:k], sds, value, converged, score[:, :k], information)


def _climb(likelihood: _Likelihood, theta: Array) -> tuple[Array, float, Array, bool]:
    """Return θ where the score is 0, with log-likelihood and scores; and whether it is."""
    k = likelihood.design.shape[1]
    value, score, information = likelihood.evaluate(theta)
    for _ in range(_STEPS):
        total = score.sum(axis=0)
        step = _uphill(information, total)
        if total @ step < 1e-9:
            return theta, value, score, True
        theta, (value, score, information) = _ascend(likelihood, theta, step, value)
        if np.abs(theta[k:]).max() > _TOO_WIDE:
            break
    return theta, value, score, False


def _uphill(information: Array, score: Array) -> Array:
    """Return Newton's step, with the curvature made positive where it is not."""
    values, vectors = np.linalg.eigh(information)
    curvature = np.maximum(np.abs(values), 1e-6)
    step = vectors @ ((vectors.T @ score) / curvature)
    # No longer than 3: far from the maximum the curvature says little about the way there.
    return np.asarray(step * min(1.0, 3.0 / max(float(np.linalg.norm(step)), 1e-300)))


def _ascend(
    likelihood: _Likelihood, theta: Array, step: Array, value: float
) -> tuple[Array, tuple[float, Array, Array]]:
    """Go along `step`, halved until the log-likelihood does not fall."""
    for halving in range(_HALVINGS):
        candidate = theta + step / 2**halving
        reached = likelihood.evaluate(candidate)
        if reached[0] >= value - _SLACK:
            return candidate, reached
    return theta, likelihood.evaluate(theta)
