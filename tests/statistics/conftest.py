from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest
import scipy.stats
from scipy.special import expit
from statsmodels.stats.proportion import proportion_confint, proportions_ztest

from clinometer.results import SCORES, Measure
from clinometer.statistics.clustered import ClusteredMean
from clinometer.statistics.crossed import CROSSED
from clinometer.statistics.settings import USUAL, USUAL_DRAWN

ROW: dict[str, Any] = {
    "model": "m",
    "study": "s",
    "instrument": "word_association",
    "mode": "free",
    "category": "health",
    "stereotype": "age",
    "variation": "replication",
    "word_list": "plain",
    "order": "marginalized_first",
    "marginalized": "old",
    "default": "young",
    "coverage": 1.0,
    "one_sided": False,
    "first_share": 0.5,
    "scoring": "exact",
}


@pytest.fixture(scope="session")
def measure() -> Measure:
    return Measure("word_association", "", -1.0, 1.0, 0.0, "positive: consistent", "")


@pytest.fixture(scope="session")
def scores_of() -> Callable[..., pl.DataFrame]:
    """Return a maker of scores: one row per dict, over the values of `ROW`."""

    def make(*rows: dict[str, Any]) -> pl.DataFrame:
        filled = []
        for row in rows:
            full = {**dict.fromkeys(SCORES), **ROW, **row}
            if full["score"] is None:
                full |= {"reason": row.get("reason", "refused"), "one_sided": None}
            filled.append(full)
        return pl.DataFrame(filled, schema=SCORES)

    return make


@pytest.fixture(scope="session")
def pair_of() -> Callable[..., list[dict[str, Any]]]:
    """Return a maker of mirrored pairs: the two rows of one draw."""

    def make(pair_id: str, first: float | None, second: float | None, **row: Any):
        orders = {"marginalized_first": first, "default_first": second}
        return [{"pair_id": pair_id, "order": o, "score": s, **row} for o, s in orders.items()]

    return make


@pytest.fixture(scope="session")
def drawn() -> Callable[..., pl.DataFrame]:
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


@pytest.fixture(scope="session")
def on_a_scale() -> Callable[..., tuple[float, float, float, float]]:
    """Return a maker of statistic, p and interval of a `ClusteredMean`, by statsmodels.

    The mean is a share of as many independent answers as give it the error `se`, where it lies one
    of `units` nearer to the middle. Wilson's interval then has t's quantile for the normal one.
    """

    def tested(one, units, bounds=(-1.0, 1.0), confidence=0.95):
        low, span = bounds[0], bounds[1] - bounds[0]
        share, error = (one.mean - low) / span, one.se / span
        nearer = (units * share + 0.5) / (units + 1)
        n = nearer * (1 - nearer) / error**2
        neutral = -low / span
        statistic, _ = proportions_ztest(share * n, n, neutral, prop_var=neutral)
        alpha = 2 * scipy.stats.norm.sf(scipy.stats.t.ppf(0.5 + confidence / 2, one.df))
        ends = proportion_confint(share * n, n, alpha, method="wilson")
        p = 2 * scipy.stats.t.sf(abs(statistic), one.df)
        return statistic, p, *(low + span * end for end in ends)

    return tested


@pytest.fixture(scope="session")
def by_usual() -> Callable[..., ClusteredMean]:
    """Return a maker of the mean of a column by usual components of variance, by dense matrices."""

    def of(frame: pl.DataFrame, value: str, bounds: tuple[float, float], share: float, **factors):
        y, n = frame[value].to_numpy(), frame.height
        middle, c = sum(bounds) / 2, np.eye(n) - 1 / n
        shrunken = (n * y.mean() + middle) / (n + 1)
        scale = (shrunken - bounds[0]) * (bounds[1] - shrunken)
        usual = dict(zip(CROSSED, share * np.array(USUAL), strict=True))
        same = {}
        for name, columns in factors.items():
            level = frame.select(pl.struct(columns).rank("dense")).to_series().to_numpy()
            if len(set(level)) > 1:
                same[name] = np.equal.outer(level, level).astype(float)  # ZZ'
        covariance = scale * sum(usual[f] * z for f, z in same.items())
        own = {f: scale * usual[f] * z.sum() / n**2 for f, z in same.items()}
        forms = {f: c @ z @ c / np.trace(c @ z @ c @ covariance) for f, z in same.items()}
        ratio = sum(own[f] * forms[f] for f in same) / sum(own.values())
        df = 1 / np.trace(ratio @ covariance @ ratio @ covariance)
        of_response = (3 * scale * share * USUAL_DRAWN / n + (n - 1) * y.var(ddof=1) / n) / (n + 2)
        crossed = sum(own.values()) * (3 + df * (y @ ratio @ y)) / (3 + df)
        return ClusteredMean(n, n, y.mean(), (crossed + of_response) ** 0.5, 3 + df)

    return of
