"""Curves of a logistic regression: the fitted probability over the predictor, with its band."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl
from scipy.special import expit

from clinometer.results import Schema, columns
from clinometer.statistics.logit import Array
from clinometer.statistics.samples import quantile

__all__ = ["CURVES", "curve"]

#: One row per group, predictor, method and value of the predictor.
CURVES: Schema = {
    **columns("part", "predictor", "method"),
    "x": pl.Float64(),  # value of the predictor
    "probability": pl.Float64(),  # of a decision of 1
    **columns("ci_low", "ci_high", "confidence"),  # pointwise
}


def curve(estimates: pl.DataFrame, fits: pl.DataFrame, x: Array) -> pl.DataFrame:
    """Return the fitted probability over the values `x` of the predictor, with a pointwise band.

    `estimates` and `fits` are of `regress`, row by row; only the component ``total`` with a fit is
    drawn. The band is that of the log odds, by the delta method, with the degrees of freedom of the
    coefficient.
    """
    names = ("part", "predictor", "method", "component", "estimate", "se", "df", "confidence")
    rows = estimates.select(names).hstack(fits.select("intercept", "intercept_se", "covariance"))
    rows = rows.filter(component="total").drop_nulls(["se", "intercept_se"])
    parts = [_curve(row, x) for row in rows.iter_rows(named=True)]
    return pl.concat([pl.DataFrame(schema=CURVES), *parts])


def _curve(row: Mapping[str, Any], x: Array) -> pl.DataFrame:
    """Return the curve of one fit, in the columns of `CURVES`."""
    eta = row["intercept"] + row["estimate"] * x
    variance = row["intercept_se"] ** 2 + 2.0 * x * row["covariance"] + (x * row["se"]) ** 2
    half = quantile(row["confidence"], row["df"]) * np.sqrt(np.maximum(variance, 0.0))
    keys = {name: row[name] for name in ("part", "predictor", "method", "confidence")}
    points = {"x": x, "probability": expit(eta)}
    band = {"ci_low": expit(eta - half), "ci_high": expit(eta + half)}
    table = pl.DataFrame({**keys, **points, **band}, schema_overrides=CURVES)
    return table.select(list(CURVES))
