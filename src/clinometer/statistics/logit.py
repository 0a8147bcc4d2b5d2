"""Logistic regression of outcomes and of shares: fit, cluster-robust covariance, separation.

Reference
    McCaffrey & Bell (2006), Statistics in Medicine 25(23), 4081–4098: CR2, the bias-reduced
    sandwich, for logit models with clusters, with Satterthwaite degrees of freedom; Pustejovsky
    & Tipton (2018), J. Business & Economic Statistics 36(4), 672–683, whose notation is used.
    Separation: Albert & Anderson (1984), Biometrika 71(1), 1–10; its linear programme is that of
    Konis (2007), D.Phil. thesis, Oxford, chapter 4. Shares: Papke & Wooldridge (1996), J. Applied
    Econometrics 11(6), 619–632, the logit fitted to shares by quasi-likelihood.

Measures
    Coefficients on the scale of log odds. For the covariance the logit is linearised where it was
    fitted: least squares of ``(y − p)/√v`` on ``X̃ = √v·X``, with ``v = p(1 − p)``. With
    ``M = (X̃ᵀX̃)⁻¹ = LLᵀ`` and ``Z = X̃L`` the hat matrix is ``ZZᵀ``, and the adjustment
    ``(I − Z_g Z_gᵀ)^(−1/2)`` of cluster g meets only ``Z_g``, so that the eigenvectors of the
    k × k matrix ``G_g = Z_gᵀZ_g`` suffice: time and memory are linear in the rows. Only the score
    and the information of each cluster enter, so that the same error serves a fit with random
    coefficients. The slopes of shares are consistent whatever their distribution, but their
    standard errors in a binomial GLM are not, so those of the sandwich (HC1) stand beside them.

Deviations from the source
    The square root is taken of the standardised matrix, as written above. R's clubSandwich takes
    another root, ``Dᵀ(D(I − H)Φ(I − H)ᵀDᵀ)^(−1/2)D``, which is cubic in the size of a cluster.
    Both make the variance unbiased under the working model of independence.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from scipy.special import chdtrc, expit

__all__ = [
    "Logit",
    "Slopes",
    "Wald",
    "by_cluster",
    "equal_slopes",
    "fit_logit",
    "fit_shares",
    "log_likelihood",
    "robust_covariance",
    "separation",
    "standardise",
]

Array = NDArray[np.float64]

#: Newton's method doubles its digits at every step; one that needs more has no maximum.
_STEPS = 50

#: A step that would raise the log-likelihood by less is the last.
_DECREMENT = 1e-12

#: Newton's method reaches `_DECREMENT` at smaller log odds, in absolute terms, only at a maximum;
#: where outcomes are separated it goes further.
_NEAR = 15.0

#: A cluster with a leverage this close to 1 fits itself and tells nothing.
_LEVERAGE = 1e-10


@dataclass(frozen=True)
class Logit:
    """A fitted logistic regression; `converged` is false where there is no maximum."""

    coefficients: Array  # (k,), log odds
    covariance: Array  # (k, k), the inverse of the information
    log_likelihood: float
    converged: bool


@dataclass(frozen=True, eq=False)
class Slopes:
    """Slopes of shares, log odds, and what two estimates of their variance say."""

    slopes: Array  # (columns,)
    covariance: Array  # (columns, columns), of a binomial GLM
    robust: Array  # (columns, columns), the sandwich HC1


@dataclass(frozen=True)
class Wald:
    """A Wald test: χ², its degrees of freedom and p."""

    statistic: float
    df: int
    p: float


def standardise(x: Array) -> tuple[Array, Array]:
    """Return a design with intercept and standardised columns, and the way back.

    `x` has shape (n, predictors), none of them constant; ``back @ coefficients`` are those of an
    intercept and the columns of `x`.
    """
    centre, spread = x.mean(axis=0), x.std(axis=0)
    back = np.eye(1 + x.shape[1])
    back[1:, 1:] /= spread
    back[0, 1:] = -centre / spread
    return np.column_stack([np.ones(len(x)), (x - centre) / spread]), back


def log_likelihood(y: Array, eta: Array) -> Array:
    """Return the log-likelihood of each outcome (0 or 1) at log odds `eta`."""
    return np.asarray(y * eta - np.logaddexp(0.0, eta))


def fit_logit(y: Array, design: Array) -> Logit:
    """Fit a logistic regression by Newton's method.

    `y`, shape (n,), may be shares; `design`, shape (n, k), has the intercept and columns of
    comparable scale (`standardise`). Its numbers mean nothing unless it converged, or where the
    outcomes are separated.

    Examples
    --------
    >>> import numpy as np
    >>> fit = fit_logit(np.array([0.0, 0, 0, 1]), np.ones((4, 1)))
    >>> round(float(fit.coefficients[0]), 4), round(fit.log_likelihood, 4)
    (-1.0986, -2.2493)
    """
    beta = np.zeros(design.shape[1])
    value, converged = float(log_likelihood(y, design @ beta).sum()), False
    for _ in range(_STEPS):
        score, information = _derivatives(y, design, beta)
        if np.linalg.cond(information) > 1e14:
            break
        step = np.asarray(np.linalg.solve(information, score), dtype=np.float64)
        converged = bool(score @ step < _DECREMENT)
        beta, value = _ascend(y, design, beta, step, value)
        if converged:
            break
    _, information = _derivatives(y, design, beta)
    covariance = np.linalg.pinv(information, hermitian=True)
    return Logit(beta, np.asarray(covariance, dtype=np.float64), value, converged)


def _derivatives(y: Array, design: Array, beta: Array) -> tuple[Array, Array]:
    p = expit(design @ beta)
    return design.T @ (y - p), (design.T * (p * (1.0 - p))) @ design


def _ascend(y: Array, design: Array, beta: Array, step: Array, value: float) -> tuple[Array, float]:
    """Go along `step`, halved until the log-likelihood does not fall."""
    for halving in range(30):
        candidate = beta + step / 2**halving
        reached = float(log_likelihood(y, design @ candidate).sum())
        if reached >= value - 1e-12 * abs(value):
            return candidate, reached
    return beta, value


def separation(y: Array, x: Array) -> str | None:
    """Say whether the predictors separate the outcomes, so that no maximum exists.

    ``"complete separation"`` where a threshold, or plane, parts the ones from the zeros;
    ``"quasi-complete separation"`` where some rows of both lie on it; else null. No column of `x`,
    shape (n, predictors), is constant.
    """
    if x.shape[1] > 1:
        return _separating_plane(y, x)
    ones, zeros = x[y == 1, 0], x[y == 0, 0]
    if zeros.max() < ones.min() or ones.max() < zeros.min():
        return "complete separation"
    if zeros.max() == ones.min() or ones.max() == zeros.min():
        return "quasi-complete separation"
    return None


def _separating_plane(y: Array, x: Array) -> str | None:
    design, _ = standardise(x)
    fit = fit_logit(y, design)
    if fit.converged and np.abs(design @ fit.coefficients).max() < _NEAR:
        return None
    signed = design * np.where(y == 1, 1.0, -1.0)[:, None]
    if _best(signed.sum(axis=0), signed) < 1e-6 * (len(y) + 1):
        return None
    widest = np.append(np.zeros(signed.shape[1]), 1.0)
    margin = _best(widest, np.column_stack([signed, -np.ones(len(y))]))
    return "complete separation" if margin > 1e-6 else "quasi-complete separation"


def _best(objective: Array, rows: Array) -> float:
    """Return the largest ``objective @ b`` with ``rows @ b ≥ 0`` and ``|b| ≤ 1``."""
    from scipy.optimize import linprog  # slow to import

    solved = linprog(-objective, -rows, np.zeros(len(rows)), bounds=(-1, 1))
    return float(objective @ np.asarray(solved.x))


def by_cluster(
    y: Array, design: Array, fit: Logit, member: NDArray[np.intp]
) -> tuple[Array, Array]:
    """Return the score and the information of each cluster, shapes (clusters, k) and (…, k, k).

    `member` numbers the cluster of each row from 0 without gaps.
    """
    p = expit(design @ fit.coefficients)
    z = design * np.sqrt(p * (1.0 - p))[:, None]
    information = sum_by(z[:, :, None] * z[:, None, :], member)
    return sum_by(design * (y - p)[:, None], member), information


def robust_covariance(score: Array, information: Array, contrasts: Array) -> tuple[Array, Array]:
    """Return the cluster-robust (CR2) covariance, and degrees of freedom of some contrasts.

    `score` and `information` have a row per cluster, as of `by_cluster`; `contrasts` has shape
    (contrasts, k), a row of the identity is a coefficient. The Satterthwaite degrees of freedom
    are nan where there are none.
    """
    root = np.linalg.cholesky(np.linalg.inv(information.sum(axis=0)))
    gram = root.T @ information @ root
    leverage, vectors = np.linalg.eigh(gram)
    remaining = 1.0 - leverage
    shrink = np.where(remaining > _LEVERAGE, np.maximum(remaining, _LEVERAGE) ** -0.5, 0.0)
    adjust = np.einsum("gij,gj,gkj->gik", vectors, shrink, vectors)
    meat = np.einsum("gij,gj->gi", adjust, score @ root)
    half = contrasts @ root
    covariance = half @ (meat.T @ meat) @ half.T
    return covariance, np.array([_satterthwaite(gram, adjust @ contrast) for contrast in half])


def _satterthwaite(gram: Array, weight: Array) -> float:
    """Return tr(Ω)²/tr(Ω²) for ``Ω = diag(a) − VVᵀ``; `weight` has a row per cluster."""
    v = np.einsum("gij,gj->gi", gram, weight)
    a = np.einsum("gi,gi->g", weight, v)
    lost = np.sum(v**2, axis=1)
    cross = v.T @ v
    below = float(np.sum(a**2) - 2.0 * np.sum(a * lost) + np.sum(cross**2))
    trace = float(np.sum(a - lost))
    return trace**2 / below if below > 0 and trace > 0 else float("nan")


def sum_by(values: Array, member: NDArray[np.intp]) -> Array:
    """Return the sums of `values` over its first axis, one for each cluster."""
    order = np.argsort(member, kind="stable")
    starts = np.flatnonzero(np.diff(member[order], prepend=-1))
    return np.asarray(np.add.reduceat(values[order], starts, axis=0))


def fit_shares(shares: Array, x: Array) -> Slopes | None:
    """Fit shares, each 0 to 1, on the columns of `x`, shape (rows, columns), and an intercept.

    None where the slopes are not identified: too few rows, a column that follows from the others
    and the intercept, or no maximum.

    Examples
    --------
    >>> fit = fit_shares(np.array([0.2, 0.4, 0.5, 0.9]), np.arange(4.0)[:, None])
    >>> float(fit.slopes[0].round(3)), float(fit.covariance[0, 0] ** 0.5).__round__(3)
    (1.032, 1.141)
    """
    n, width = x.shape
    if n < width + 2 or not (np.ptp(x, axis=0) > 0).all():
        return None
    design, back = standardise(x)
    if np.linalg.cond(design.T @ design / n) > 1e12:
        return None
    fit = fit_logit(shares, design)
    if not fit.converged:
        return None
    score = design * (shares - expit(design @ fit.coefficients))[:, None]
    meat = score.T @ score * n / (n - width - 1)
    robust = fit.covariance @ meat @ fit.covariance
    covariance, sandwich = ((back @ c @ back.T)[1:, 1:] for c in (fit.covariance, robust))
    return Slopes((back @ fit.coefficients)[1:], covariance, sandwich)


def equal_slopes(slopes: Array, covariance: Array) -> Wald | None:
    """Test that all slopes are the same; None of a single one, or without variance."""
    width = len(slopes)
    if width < 2:
        return None
    contrast = np.column_stack([np.ones(width - 1), -np.eye(width - 1)])
    difference, variance = contrast @ slopes, contrast @ covariance @ contrast.T
    try:
        statistic = float(difference @ linalg.solve(variance, difference, assume_a="pos"))
    except linalg.LinAlgError:
        return None
    return Wald(statistic, width - 1, float(chdtrc(width - 1, statistic)))
