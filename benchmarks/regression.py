"""Regression within and between clusters: whether its intervals cover what was planted.

Question
    Do the intervals of the coefficient within clusters cover it, also where slopes differ between
    clusters, and does a difference between clusters pass for one within?
Peer
    The same coefficients with the errors of independent rows (``published``).
Ours
    Methods ``clustered`` and ``mixed`` of `clinometer.papers.regress`.
How
    Scores of −1 to 1 that differ within clusters (sd .5) and between them (.4); clusters of 15 to
    100 rows; random intercepts (sd 1) and slopes. Coverage of 95% intervals over 1,000 draws a row,
    of the coefficient within unless named otherwise. The target of ``clustered`` is an average over
    clusters; it is known where nothing is planted within, which is 0 for both methods. In the last
    row intercepts and slopes correlate at .7, while the fit takes them for independent.
"""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from scipy.special import expit

from benchmarks.measuring import Result, Value
from clinometer.papers.samples import fit, samples

DRAWS = 1_000
CLUSTERS, SLOPE_SDS = (6, 10, 21), (0.0, 0.5, 1.0)
WITHIN_BAND, MOST_FALSE = (0.93, 0.97), 0.06


class Planted(NamedTuple):
    """What is true of a draw."""

    clusters: int
    slope_sd: float
    within: float
    between: float
    correlation: float = 0.0


PLANTED = (
    *(Planted(n, sd, 0.0, 1.5) for n in CLUSTERS for sd in SLOPE_SDS),
    *(Planted(n, 0.5, 1.0, 1.0) for n in CLUSTERS),
    Planted(10, 1.0, 1.0, 1.0, 0.7),
)


def run() -> Result:
    columns = (
        *("clusters", "slope sd", "within", "between", "mixed", "clustered", "published"),
        *("mixed, between", "mean b within", "ms a fit"),
    )
    rows: list[list[Value]] = []
    for planted in PLANTED:
        found = _measured(planted)
        rows.append([*planted[:4], *found])
    null = [row for row, planted in zip(rows, PLANTED, strict=True) if planted.within == 0]
    low, high = WITHIN_BAND
    false = {at: 1 - float(np.mean([_number(row[at]) for row in null])) for at in (4, 5)}
    claims: dict[str, bool | None] = {
        f"mixed covers the slope within in {low} to {high} of draws, in every row": all(
            low <= _number(row[4]) <= high for row in rows
        ),
        "clustered does so where the slope within is 0, in every row": all(
            low <= _number(row[5]) <= high for row in null
        ),
        f"nothing within: p < .05 in at most {MOST_FALSE:.0%} of draws, both methods": max(
            false.values()
        )
        <= MOST_FALSE,
        "nothing within: mean b of mixed is at most .05 from 0": all(
            abs(_number(row[8])) < 0.05 for row in null
        ),
    }
    note = (
        f"nothing within: p < .05 in {false[4]:.3f} (mixed) and {false[5]:.3f} (clustered) of "
        f"{len(null) * DRAWS:,} draws"
    )
    return Result("Regression within and between clusters", columns, rows, claims, [note])


def _number(value: Value) -> float:
    return float(value or 0.0)


def _measured(planted: Planted) -> list[Value]:
    """Give coverage by mixed, clustered and published, of between by mixed; means; time."""
    rng = np.random.default_rng(round(1000 * sum(planted)))
    covered: dict[str, list[bool]] = {key: [] for key in ("mixed", "clustered", "published", "b")}
    estimates, spent = [], 0.0
    for _ in range(DRAWS):
        (sample,) = samples(_draw(planted, rng), ["x"], "y", "cluster", None)
        parts = np.column_stack(list(sample.components().values()))
        start = time.process_time()
        fits = {"mixed": fit(sample, parts, "mixed", slopes=[0])}
        spent += time.process_time() - start
        fits |= {method: fit(sample, parts, method) for method in ("clustered", "published")}
        for method, fitted in fits.items():
            covered[method].append(_covers(fitted.coefficient(1, 0.95), planted.within))
        covered["b"].append(_covers(fits["mixed"].coefficient(2, 0.95), planted.between))
        estimates.append(fits["mixed"].coefficients[1])
    target_known = planted.within == 0
    cover = {key: float(np.mean(of)) for key, of in covered.items()}
    return [
        cover["mixed"],
        cover["clustered"] if target_known else None,
        cover["published"] if target_known else None,
        cover["b"],
        float(np.mean(estimates)),
        1e3 * spent / DRAWS,
    ]


def _covers(row: dict[str, Any], truth: float) -> bool:
    return bool(row["ci_low"] <= truth <= row["ci_high"])


def _draw(planted: Planted, rng: np.random.Generator) -> pl.DataFrame:
    sizes = rng.integers(15, 101, planted.clusters)
    member = np.repeat(np.arange(planted.clusters), sizes)
    place = rng.normal(0, 0.4, planted.clusters)[member]
    x = np.clip(place + rng.normal(0, 0.5, len(member)), -1, 1)
    mean = (np.bincount(member, x) / sizes)[member]
    intercept, other = rng.normal(0, 1, (2, planted.clusters))[:, member]
    shared = planted.correlation
    varied = planted.slope_sd * (shared * intercept + np.sqrt(1 - shared**2) * other)
    eta = 0.3 + intercept + (planted.within + varied) * (x - mean) + planted.between * mean
    y = (rng.random(len(x)) < expit(eta)).astype(np.int64)
    return pl.DataFrame({"x": x, "y": y, "cluster": member})
