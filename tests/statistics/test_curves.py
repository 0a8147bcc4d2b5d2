"""Fitted probabilities and their bands, against statsmodels."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
import statsmodels.api as sm

from clinometer.statistics.curves import CURVES, curve
from clinometer.statistics.logistic import regress


def test_curve_is_the_prediction_of_statsmodels(drawn):
    frame, xs = drawn(), np.array([-2.0, 0.0, 0.5, 3.0])
    points = curve(*regress(frame, "score", confidence=0.9), xs)
    fit = sm.GLM(
        frame["decision"].to_numpy(),
        sm.add_constant(frame["score"].to_numpy()),
        family=sm.families.Binomial(),
    ).fit(tol=1e-12)
    expected = fit.get_prediction(sm.add_constant(xs)).summary_frame(alpha=0.1)
    for ours, theirs in {
        "probability": "mean",
        "ci_low": "mean_ci_lower",
        "ci_high": "mean_ci_upper",
    }.items():
        assert points[ours].to_numpy() == pytest.approx(expected[theirs].to_numpy(), rel=1e-6)


def test_curve_leaves_out_what_was_not_fitted(drawn):
    frame = drawn().with_columns(category=pl.when(pl.col("cluster") > 0).then(1).otherwise(0))
    frame = frame.with_columns(decision=pl.when(category=0).then(1).otherwise("decision"))
    points = curve(*regress(frame, "score", by="category", clusters="cluster"), np.arange(2.0))
    assert set(points["part"]) == {"all", "1"}
    assert set(points["method"]) == {"published", "clustered"}
    assert points.height == 2 * 2 * 2
    assert points.schema == CURVES


def test_no_fit_is_no_curve():
    empty = pl.DataFrame(schema={"score": pl.Float64, "decision": pl.Int64})
    points = curve(*regress(empty, "score"), np.zeros(1))
    assert points.is_empty() and points.schema == CURVES
