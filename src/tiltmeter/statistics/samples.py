"""The complete rows of a group, and one logistic regression of them.

Every reason not to give a number is found here, before or after the fit, and said in a note:

- ``fewer than 10 rows``, ``outcome does not vary``, ``predictor does not vary``,
  ``predictors are collinear``;
- ``complete separation``, ``quasi-complete separation``: the coefficient would be infinite;
- ``fewer than 2 clusters``, ``no variance between clusters``: no cluster-robust error;
- ``outcome does not vary within clusters``: the spread of a random intercept would be infinite;
- ``did not converge``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tiltmeter.errors import InputError
from tiltmeter.statistics.logit import (
    Array,
    fit_logit,
    robust_covariance,
    separation,
    standardise,
)
from tiltmeter.statistics.random_intercept import fit_mixed

__all__ = ["Fit", "Sample", "fit", "samples"]

#: Fewer complete rows are not fitted: the bias of maximum likelihood exceeds what it finds.
FEWEST_ROWS = 10

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
    df: Array | None = None  # (k,), clustered
    sd: float | None = None  # mixed: sd of the clusters' intercepts, log odds
    note: str | None = None

    @property
    def n_parameters(self) -> int:
        """Number of parameters that were estimated."""
        return len(self.coefficients) + (self.sd is not None)

    @property
    def se(self) -> Array:
        """Standard errors of the coefficients."""
        return np.asarray(np.sqrt(np.diag(self.covariance)))

    def criteria(self, n: int) -> dict[str, float]:
        """Return AIC and BIC for a sample of `n`."""
        twice = 2.0 * self.log_likelihood
        return {
            "aic": 2.0 * self.n_parameters - twice,
            "bic": math.log(n) * self.n_parameters - twice,
        }


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
    data = _valid(frame, predictors, response_variable, clusters, by)
    yield _sample(data, "all")
    if by is not None:
        for (group,), part in data.sort("by").group_by("by", maintain_order=True):
            yield _sample(part, str(group))


def fit(sample: Sample, x: Array, method: str) -> Fit:
    """Fit a logistic regression by one method, or say why there is none.

    `x` has the predictors, shape (n, predictors), none for the intercept alone; the fit is in their
    units. `method`: ``published``, ``clustered`` or ``mixed``.
    """
    note = _obstacle(sample, x) or _cluster_obstacle(sample, method)
    if note is not None:
        return _without(note)
    design, back = standardise(x)
    if method == "mixed":
        mixed = fit_mixed(sample.y, design, sample.member)
        covariance = back @ mixed.covariance @ back.T
        found = Fit(back @ mixed.coefficients, covariance, mixed.log_likelihood, sd=mixed.sd)
        return found if mixed.converged else _without("did not converge")
    plain = fit_logit(sample.y, design)
    if not plain.converged:
        return _without("did not converge")
    covariance, df = back @ plain.covariance @ back.T, None
    if method == "clustered":
        naive = np.diag(covariance)
        covariance, df = robust_covariance(sample.y, design, plain, sample.member, back)
        if np.isnan(df).any() or (np.diag(covariance) <= _ROUNDING**2 * naive).any():
            return _without("no variance between clusters")
    return Fit(back @ plain.coefficients, covariance, plain.log_likelihood, df)


def _without(note: str) -> Fit:
    return Fit(np.empty(0), np.empty((0, 0)), math.nan, note=note)


def _obstacle(sample: Sample, x: Array) -> str | None:
    """Say why no regression on `x` has a maximum; null where it has."""
    if len(sample.y) < FEWEST_ROWS:
        return f"fewer than {FEWEST_ROWS} rows"
    if np.ptp(sample.y) == 0:
        return "outcome does not vary"
    if (np.ptp(x, axis=0) <= 1e-12 * np.abs(x).max(axis=0)).any():
        return "predictor does not vary"
    if x.shape[1] > 1 and np.linalg.matrix_rank(standardise(x)[0], rtol=1e-9) <= x.shape[1]:
        return "predictors are collinear"
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


def _valid(
    frame: pl.DataFrame,
    predictors: Sequence[str],
    response_variable: str,
    clusters: str | None,
    by: str | None,
) -> pl.DataFrame:
    """Return the columns `x0`, `x1`, …, `y`, `cluster` and `by`, or say what is wrong."""
    labels = {name: column for name, column in (("cluster", clusters), ("by", by)) if column}
    numbers = {**{f"x{i}": column for i, column in enumerate(predictors)}, "y": response_variable}
    missing = [c for c in (*numbers.values(), *labels.values()) if c not in frame.columns]
    if missing:
        raise InputError(f"missing column {', '.join(missing)}; has {', '.join(frame.columns)}")
    if response_variable in predictors:
        raise InputError(f"outcome {response_variable!r} is also a predictor; name another column")
    for column in numbers.values():
        _check_numbers(frame[column])
    if not frame[response_variable].cast(pl.Float64).drop_nulls().is_in([0.0, 1.0]).all():
        raise InputError(f"outcome {response_variable!r}: allowed are 1, 0 and null")
    for column in labels.values():
        if frame[column].null_count():
            raise InputError(f"{column}: null in {frame[column].null_count()} rows; needs a label")
    if by is not None and (frame[by].cast(pl.String) == "all").any():
        raise InputError(f"{by}: a group is called 'all', the name of all rows; rename it")
    return frame.select(
        *(pl.col(column).cast(pl.Float64).alias(name) for name, column in numbers.items()),
        *(pl.col(column).alias(name) for name, column in labels.items()),
    )


def _check_numbers(values: pl.Series) -> None:
    if not (values.dtype.is_numeric() or values.dtype in (pl.Boolean, pl.Null)):
        raise InputError(f"{values.name}: needs numbers, has {values.dtype}")
    if not values.cast(pl.Float64).drop_nulls().is_finite().all():
        raise InputError(f"{values.name}: nan or infinite; a missing number is null")


def _sample(data: pl.DataFrame, group: str) -> Sample:
    complete = data.drop_nulls()
    member = np.arange(complete.height)
    if "cluster" in data.columns:
        member = complete["cluster"].rank("dense").to_numpy().astype(np.intp) - 1
    x = complete.select(pl.col(r"^x\d+$")).to_numpy()
    return Sample(group, data.height - complete.height, x, complete["y"].to_numpy(), member)
