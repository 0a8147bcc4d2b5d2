"""Logistic regression: the fit of statsmodels, and the checks and the error that it lacks.

Reference
    McCaffrey & Bell (2006), Statistics in Medicine 25(23), 4081–4098: CR2, the bias-reduced
    sandwich, for logit models with clusters, with Satterthwaite degrees of freedom; Pustejovsky
    & Tipton (2018), J. Business & Economic Statistics 36(4), 672–683, whose notation is used.
    Separation: Albert & Anderson (1984), Biometrika 71(1), 1–10; its linear programme is that of
    Konis (2007), D.Phil. thesis, Oxford, chapter 4.

Measures
    Coefficients on the scale of log odds. For the covariance the logit is linearised where it was
    fitted: least squares of ``(y − p)/√v`` on ``X̃ = √v·X``, with ``v = p(1 − p)``. With
    ``M = (X̃ᵀX̃)⁻¹ = LLᵀ`` and ``Z = X̃L`` the hat matrix is ``ZZᵀ``, and the adjustment
    ``(I − Z_g Z_gᵀ)^(−1/2)`` of cluster g meets only ``Z_g``, so that the eigenvectors of the
    k × k matrix ``G_g = Z_gᵀZ_g`` suffice: time and memory are linear in the rows. Only the score
    and the information of each cluster enter, so that the same error serves a fit with random
    coefficients.

What is not statsmodels'
    Its cluster-robust errors (CR0, CR1) are too small with few clusters. Where outcomes are
    quasi-separated its `Logit` gives a slope of 25 with a standard error of 110,000, by some of its
    optimisers as converged. Its Newton steps miss maxima that a trust region finds.

Deviations from the source
    The square root is taken of the standardised matrix, as written above. R's clubSandwich takes
    another root, ``Dᵀ(D(I − H)Φ(I − H)ᵀDᵀ)^(−1/2)D``, which is cubic in the size of a cluster.
    Both make the variance unbiased under the working model of independence.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

Array = NDArray[np.float64]

#: A step smaller than this, of any coefficient, is the last.
_TOLERANCE = 1e-10

#: Newton's method doubles its digits at every step; where tails are long it needs many to begin.
_STEPS = 100

#: Log odds that a fit to separated outcomes always exceeds.
_NEAR = 15.0

#: A cluster with a leverage this close to 1 fits itself and tells nothing.
_LEVERAGE = 1e-10


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


def fit_logit(y: Array, design: Array) -> Any:
    """Fit a logistic regression by maximum likelihood, with statsmodels.

    Parameters
    ----------
    y
        Outcomes, 0 or 1, or shares: (n,).
    design
        An intercept and columns of comparable scale (`standardise`): (n, k).

    Returns
    -------
    statsmodels.discrete.discrete_model.BinaryResults
        None where no maximum was reached. It means nothing where the outcomes are separated.

    Examples
    --------
    >>> import numpy as np
    >>> fit = fit_logit(np.array([0.0, 0, 0, 1]), np.ones((4, 1)))
    >>> float(fit.params[0].round(4))
    -1.0986
    """
    from statsmodels.discrete.discrete_model import Logit
    from statsmodels.tools.sm_exceptions import ModelWarning

    model = Logit(y, design)
    with warnings.catch_warnings(), np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        warnings.simplefilter("ignore", ModelWarning)  # what went wrong, `converged` says
        fit = _take_newton_steps(model, None)
        if fit is None:
            # Whole steps overshoot where predictors have long tails; a trust region comes near.
            near = model.fit(method="minimize", min_method="trust-exact", disp=False)
            fit = _take_newton_steps(model, near.params)
    return fit


def _take_newton_steps(model: Any, start: Array | None) -> Any:
    """Fit a model of statsmodels from `start`, or from 0; None where it does not converge."""
    try:
        fit = model.fit(start, tol=_TOLERANCE, maxiter=_STEPS, disp=False)
    except np.linalg.LinAlgError:  # so far off that no curvature is left
        return None
    return fit if fit.mle_retvals["converged"] else None


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
    if fit is not None and np.abs(design @ fit.params).max() < _NEAR:
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
    y: Array, design: Array, coefficients: Array, member: NDArray[np.intp]
) -> tuple[Array, Array]:
    """Return the score and the information of each cluster, shapes (clusters, k) and (…, k, k).

    `member` numbers the cluster of each row from 0 without gaps.
    """
    p = expit(design @ coefficients)
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
