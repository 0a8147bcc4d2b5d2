"""Linear regression with a random intercept for each cluster, by restricted maximum likelihood.

Reference
    Laird & Ware (1982), Biometrics 38(4), 963–974; Patterson & Thompson (1971), Biometrika 58(3),
    545–554.

Measures
    ``y = Xβ + u_g + e`` with ``u_g ~ N(0, λσ²)`` for cluster g and ``e ~ N(0, σ²)``. The criterion
    is profiled over β and σ², so λ alone is searched, on its logarithm from −12 to 12; λ = 0 is
    tried besides. Errors are of β at the λ found.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

__all__ = ["RandomIntercept", "fit_random_intercept"]

Array = NDArray[np.float64]


class RandomIntercept(NamedTuple):
    """A fitted regression with a random intercept."""

    coefficients: Array  # (k,)
    errors: Array  # (k,), standard errors
    sd: float  # of the intercepts


def fit_random_intercept(y: Array, design: Array, member: NDArray[np.intp]) -> RandomIntercept:
    """Fit a linear regression with a random intercept.

    `y` has shape (n,); `design`, of full rank, (n, k) with k < n; `member` numbers the cluster of
    each row from 0 without gaps.

    Examples
    --------
    >>> y = np.array([1.0, 2.1, 3.0, 4.2, 2.0, 2.9])
    >>> design = np.column_stack([np.ones(6), [0, 1, 0, 1, 0, 1]])
    >>> fit = fit_random_intercept(y, design, np.repeat([0, 1, 2], 2))
    >>> [round(float(one), 3) for one in (*fit.coefficients, *fit.errors)]
    [2.0, 1.067, 0.595, 0.088]
    """
    n, k = design.shape
    sizes = np.bincount(member).astype(float)
    columns = np.column_stack([design, y])
    sums = np.zeros((len(sizes), k + 1))
    np.add.at(sums, member, columns)
    crossed = columns.T @ columns

    def solve(ratio: float) -> tuple[Array, Array, float, float]:
        """Return β, (XᵀV⁻¹X)⁻¹, σ² and the criterion at λ."""
        shrunk = crossed - (sums.T * (ratio / (1 + sizes * ratio))) @ sums
        inverse: Array = np.linalg.inv(shrunk[:k, :k]).astype(float)
        beta: Array = inverse @ shrunk[:k, k]
        variance = max(float(shrunk[k, k] - beta @ shrunk[:k, k]), 1e-300) / (n - k)
        determinant = float(np.linalg.slogdet(shrunk[:k, :k])[1])
        value = (n - k) * math.log(variance) + float(np.log1p(sizes * ratio).sum()) + determinant
        return beta, inverse, variance, value

    minimum = minimize_scalar(
        lambda log: solve(math.exp(log))[3],
        bounds=(-12.0, 12.0),
        method="bounded",
        options={"xatol": 1e-10},
    )
    ratio = math.exp(float(minimum.x))
    # The search is over log λ and never reaches 0.
    if solve(0.0)[3] <= solve(ratio)[3]:
        ratio = 0.0
    beta, inverse, variance, _ = solve(ratio)
    errors = np.sqrt(np.diag(inverse) * variance)
    return RandomIntercept(beta, errors, math.sqrt(ratio * variance))
