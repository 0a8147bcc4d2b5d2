from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest
import scipy.stats
from statsmodels.stats.proportion import proportion_confint, proportions_ztest

from clinometer.results import SCORES, Measure
from clinometer.statistics.clustered import ClusteredMean
from clinometer.statistics.crossed import CROSSED
from clinometer.statistics.settings import CORNER, OWN_KNOWN, USUAL, USUAL_DRAWN, USUAL_KNOWN
from clinometer.statistics.shared import SHARED

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
        usual = dict(zip(CROSSED, share * scale * np.array(USUAL), strict=True))
        answer = share * scale * USUAL_DRAWN
        same = {}
        for name, columns in factors.items():
            level = frame.select(pl.struct(columns).rank("dense")).to_series().to_numpy()
            if len(set(level)) > 1:
                same[name] = np.equal.outer(level, level).astype(float)  # ZZ'
        levels = {f: np.linalg.matrix_rank(z) for f, z in same.items()}
        coarse = np.column_stack([np.ones(n), *(same[f] for f in same if f in SHARED)])
        residual = y - coarse @ np.linalg.pinv(coarse) @ y
        coarse_df = np.linalg.matrix_rank(coarse)

        def noise(units: np.ndarray) -> float:
            number = np.linalg.matrix_rank(units)
            df = number - coarse_df
            return residual @ units @ residual / n * number / (df + 3) if df > 0 else 0.0

        variance = (3 * answer / n + (n - 1) * y.var(ddof=1) / n) / (n + 2)
        expected, uncertain = answer / n, (answer / n) ** 2 / (n - 1)
        above = of_noise = 0.0
        for f, z in same.items():
            own, part = levels[f] - 1.0, z.sum() / n**2
            prior = 3 / own**2
            of_own = own / (own + prior)
            variance += (1 - of_own) * usual[f] * part
            expected += usual[f] * part
            alike = [h for h in same if h != f and np.array_equal(same[h], z)]
            told = f in SHARED or not (alike or levels[f] == n)
            square = np.trace(c @ z @ c @ z)
            single = np.eye(n) if f == "draw" else same.get("draw", np.eye(n))
            if told:
                above += of_own * part * (y @ c @ z @ c @ y) / square
                of_noise += of_own * part * np.trace(c @ z @ c) * noise(single) / square
            of_answers = part * np.trace(c @ z @ c) * answer / square if told else 0.0
            of_part = usual[f] * part
            known = max(OWN_KNOWN * own + USUAL_KNOWN * prior, 1.0)
            uncertain += of_part * (of_part + of_answers) / known
        above -= of_noise
        variance += (above + np.hypot(above, CORNER * of_noise)) / 2
        return ClusteredMean(n, n, y.mean(), variance**0.5, expected**2 / uncertain)

    return of
