"""Fitted probabilities and their bands, against statsmodels."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
import statsmodels.api as sm
from scipy.special import expit

from clinometer.papers import regress
from clinometer_measures.replication.chained_task.curves import curve


def test_a_curve_is_the_prediction_of_statsmodels() -> None:
    rng = np.random.default_rng(0)
    x, grid = rng.normal(size=240), np.array([-2.0, 0.0, 0.5, 3.0])
    y = (rng.random(240) < expit(0.3 + 0.9 * x)).astype(float)
    regression = regress(pl.DataFrame({"score": x, "decision": y}), "score", confidence=0.9)
    row = regression.estimates.row(0, named=True) | regression.fits.row(0, named=True)
    points = curve(row, grid)
    glm = sm.GLM(y, sm.add_constant(x), family=sm.families.Binomial()).fit(tol=1e-12)
    expected = glm.get_prediction(sm.add_constant(grid)).summary_frame(alpha=0.1)
    for ours, theirs in {"mean": "mean", "low": "mean_ci_lower", "high": "mean_ci_upper"}.items():
        assert points[ours].to_numpy() == pytest.approx(expected[theirs].to_numpy(), rel=1e-6)
