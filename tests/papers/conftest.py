"""Draws that regressions are tried on."""

from collections.abc import Callable

import numpy as np
import polars as pl
import pytest
from scipy.special import expit


@pytest.fixture(scope="session")
def draw_decisions() -> Callable[..., pl.DataFrame]:
    """Decisions with a random intercept for each cluster, and a predictor that varies in both."""

    def frame_of(
        n: int = 240, clusters: int = 12, *, sd: float = 0.8, slope: float = 0.9, seed: int = 0
    ) -> pl.DataFrame:
        rng = np.random.default_rng(seed)
        member = rng.integers(0, clusters, n)
        score = rng.normal(0, 0.5, clusters)[member] + rng.normal(0, 0.7, n)
        odds = 0.3 + slope * score + sd * rng.normal(0, 1, clusters)[member]
        decision = (rng.random(n) < expit(odds)).astype(int)
        return pl.DataFrame({"score": score, "decision": decision, "cluster": member})

    return frame_of
