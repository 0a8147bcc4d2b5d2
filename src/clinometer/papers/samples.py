"""The complete rows of a group, and one logistic regression of them.

Every reason not to give a number is stated here, before or after the fit, as a note:

- ``fewer than 10 rows``, ``outcome does not vary``, ``predictor does not vary``,
  ``predictors are collinear``;
- ``predictor does not vary within clusters``, ``… between clusters``: this part has no coefficient;
- ``complete separation``, ``quasi-complete separation``: the coefficient would be infinite;
- ``fewer than 2 clusters``, of the between part ``fewer than 3 clusters``, ``no variance between
  clusters``: no cluster-robust error;
- ``outcome does not vary within clusters``: the spread of a random intercept would be infinite;
- ``did not converge``;
- ``needs statsmodels, …``: the extra ``papers`` is not installed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.special import ndtr, stdtr

from clinometer.errors import InputError
from clinometer.papers.library import NOT_INSTALLED, has_statsmodels
from clinometer.papers.logit import (
    Array,
    by_cluster,
    fit_logit,
    log_likelihood,
    robust_covariance,
    separation,
    standardise,
)
from clinometer.papers.random_effects import fit_mixed
from clinometer.results.tables import need_columns
from clinometer.statistics.intervals import interval_around

#: Fewer complete rows are not fitted: the bias of maximum likelihood exceeds what it finds.
FEWEST_ROWS = 10

NOT_CONVERGED = "did not converge"
NO_ERROR = "no variance between clusters"

#: An error smaller than this share of the naive one is due to rounding.
_ROUNDING = 1e-7


@dataclass(frozen=True)
class Sample:
    """The complete rows of one group."""

    group: str
    n_missing: int
    x: Array  # (n, predictors)
    y: Array  # (n,), 0 or 1
    member: NDArray[np.intp]  # (n,), the cluster of each row; without clusters its own

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return int(self.member.max(initial=-1)) + 1

    def components(self) -> dict[str, Array]:
        """Split the first predictor into its deviation from the cluster's mean, and this mean."""
        x = self.x[:, 0]
        sizes = np.bincount(self.member)
        between = (np.bincount(self.member, weights=x) / sizes)[self.member]
        return {"within": x - between, "between": between}

    def counts(self) -> dict[str, Any]:
        """Return `part`, `n`, `n_scored`, `n_missing` and `n_ones`."""
        return {
            "part": self.group,
            "n": len(self.y) + self.n_missing,
            "n_scored": len(self.y),
            "n_missing": self.n_missing,
            "n_ones": int(self.y.sum()),
        }


@dataclass(frozen=True)
class Fit:
    """A regression in the units of its predictors; all else is null where there is a note."""

    coefficients: Array  # (k,), the intercept first, log odds
    covariance: Array  # (k, k)
    log_likelihood: float
    df: Array | None = None  # (k,), cluster-robust; nan where a coefficient has no error
    sds: Array | None = None  # mixed: sds of the random coefficients, the intercept's first
    note: str | None = None

    @property
    def n_parameters(self) -> int:
        """Number of parameters that were estimated."""
        return len(self.coefficients) + (0 if self.sds is None else len(self.sds))

    @property
    def se(self) -> Array:
        """Standard errors of the coefficients; nan where there is none."""
        return np.asarray(np.sqrt(np.diag(self.covariance)))

    def coefficient(self, position: int, confidence: float) -> dict[str, Any]:
        """Return a coefficient, its test against 0 and its interval, or a note."""
        if self.note is not None:
            return {"note": self.note}
        estimate, se = float(self.coefficients[position]), float(self.se[position])
        df = None if self.df is None else float(self.df[position])
        if df is not None and math.isnan(df):
            return {"note": NO_ERROR}
        tail = -abs(estimate / se)
        low, high = interval_around(estimate, se, confidence, df)
        return {
            "estimate": estimate,
            "se": se,
            "test": "z" if df is None else "t",
            "statistic": estimate / se,
            "df": df,
            "p": 2.0 * float(ndtr(tail) if df is None else stdtr(df, tail)),
            "ci_low": low,
            "ci_high": high,
        }

    def criteria(self, n: int) -> dict[str, float]:
        """Return AIC and BIC for a sample of `n`."""
        twice, k = 2.0 * self.log_likelihood, self.n_parameters
        return {"aic": 2.0 * k - twice, "bic": math.log(n) * k - twice}


def samples(
    frame: pl.DataFrame,
    predictors: Sequence[str],
    response_variable: str,
    clusters: str | None,
    by: str | None,
) -> Iterator[Sample]:
    """Yield the complete rows of all groups together (``"all"``), then those of each group.

    `predictors` and `response_variable` are columns of numbers, the latter's 1 and 0, and may be
    null; `clusters` and `by` are columns of labels, never null, or none. Raises InputError if a
    column is missing or holds what it must not.
    """
    need_columns(frame, [*predictors, response_variable, *filter(None, (clusters, by))], "answers")
    if response_variable in predictors:
        raise InputError(f"outcome {response_variable!r} is also a predictor; name another column")
    columns = {f"x{i}": _numbers(frame[column]) for i, column in enumerate(predictors)}
    columns["y"] = binary(frame[response_variable])
    if clusters is not None:
        columns["cluster"] = _labels(frame[clusters])
    if by is not None:
        columns["by"] = part_labels(frame[by])
    data = pl.DataFrame(columns)
    yield _sample(data, "all")
    if by is not None:
        for (group,), part in data.sort("by").group_by("by", maintain_order=True):
            yield _sample(part, str(group))


def fit(sample: Sample, x: Array, method: str, slopes: Sequence[int] = ()) -> Fit:
    """Fit a logistic regression by one method, or say why there is none.

    `x` has the predictors, shape (n, predictors), none for the intercept alone; the fit is in their
    units. `method`: ``published``, ``clustered`` or ``mixed``, which has a random intercept and
    random coefficients of the columns `slopes` of `x`, each with mean 0 in every cluster.
    """
    note = obstacle(sample, x) or _cluster_obstacle(sample, method)
    if note is not None:
        return _no_fit(note)
    design, back = standardise(x)
    fitted = fit_logit(sample.y, design)
    if fitted is None:
        return _no_fit(NOT_CONVERGED)
    if method == "mixed":
        varying = (0, *(1 + column for column in slopes))
        return _mixed(sample, design, back, varying, fitted.params)
    coefficients = back @ fitted.params
    # Not statsmodels' own, which is infinite where a fitted probability is 1 but for rounding.
    likelihood = float(log_likelihood(sample.y, design @ fitted.params).sum())
    if method == "published":
        return Fit(coefficients, back @ fitted.cov_params() @ back.T, likelihood)
    covariance, df = _robust(*by_cluster(sample.y, design, fitted.params, sample.member), back)
    return Fit(coefficients, covariance, likelihood, df)


def _mixed(
    sample: Sample, design: Array, back: Array, varying: tuple[int, ...], start: Array
) -> Fit:
    """Fit random coefficients; the error is cluster-robust, as slopes may differ otherwise too."""
    fitted = fit_mixed(sample.y, design, sample.member, varying, start)
    if not fitted.converged:
        return _no_fit(NOT_CONVERGED)
    covariance, df = _robust(fitted.score, fitted.information, back)
    sds = fitted.sds * np.diag(back)[list(varying)]
    return Fit(back @ fitted.coefficients, covariance, fitted.log_likelihood, df, sds)


def _robust(score: Array, information: Array, back: Array) -> tuple[Array, Array]:
    """Return the cluster-robust covariance and df; df is nan where the error is due to rounding."""
    covariance, df = robust_covariance(score, information, back)
    naive = np.diag(back @ np.linalg.inv(information.sum(axis=0)) @ back.T)
    return covariance, np.where(np.diag(covariance) <= _ROUNDING**2 * naive, np.nan, df)


def _no_fit(note: str) -> Fit:
    return Fit(np.empty(0), np.empty((0, 0)), math.nan, note=note)


def obstacle(sample: Sample, x: Array) -> str | None:
    """Say why there is no regression on `x`; null where it has a maximum."""
    if len(sample.y) < FEWEST_ROWS:
        return f"fewer than {FEWEST_ROWS} rows"
    if np.ptp(sample.y) == 0:
        return "outcome does not vary"
    if (np.ptp(x, axis=0) <= 1e-12 * np.abs(x).max(axis=0)).any():
        return "predictor does not vary"
    if x.shape[1] > 1 and np.linalg.matrix_rank(standardise(x)[0], rtol=1e-9) <= x.shape[1]:
        return "predictors are collinear"
    if not has_statsmodels():
        return NOT_INSTALLED
    return separation(sample.y, x) if x.shape[1] else None


def _cluster_obstacle(sample: Sample, method: str) -> str | None:
    """Say why the clusters carry no error or random intercept; null where they do."""
    if method == "published":
        return None
    if sample.n_clusters < 2:
        return "fewer than 2 clusters"
    sizes, ones = np.bincount(sample.member), np.bincount(sample.member, weights=sample.y)
    if method == "mixed" and ((ones == 0) | (ones == sizes)).all():
        return "outcome does not vary within clusters"
    return None


def _numbers(values: pl.Series) -> pl.Series:
    if not (values.dtype.is_numeric() or values.dtype in (pl.Boolean, pl.Null)):
        raise InputError(f"{values.name}: needs numbers, has {values.dtype}")
    numbers = values.cast(pl.Float64)
    if not numbers.drop_nulls().is_finite().all():
        raise InputError(f"{values.name}: nan or infinite; a missing number is null")
    return numbers


def binary(values: pl.Series) -> pl.Series:
    """Return a column of 1, 0 and null as numbers; raises InputError if it holds anything else."""
    numbers = _numbers(values)
    wrong = numbers.filter(~numbers.is_in([0.0, 1.0]))
    if len(wrong):
        raise InputError(f"{values.name}: {wrong[0]} is not allowed; 1, 0 and null are")
    return numbers


def _labels(values: pl.Series) -> pl.Series:
    if values.null_count():
        raise InputError(f"{values.name}: null in {values.null_count()} rows; needs a label")
    return values


def part_labels(values: pl.Series) -> pl.Series:
    """Return the column that parts rows; raises InputError if one is null or called "all"."""
    if (values.cast(pl.String) == "all").any():
        raise InputError(f"{values.name}: a group is called 'all', the name of all rows; rename it")
    return _labels(values)


def _sample(data: pl.DataFrame, group: str) -> Sample:
    complete = data.drop_nulls()
    member = np.arange(complete.height)
    if "cluster" in data.columns:
        member = complete["cluster"].rank("dense").to_numpy().astype(np.intp) - 1
    x = complete.select(pl.col(r"^x\d+$")).to_numpy()
    return Sample(group, data.height - complete.height, x, complete["y"].to_numpy(), member)
