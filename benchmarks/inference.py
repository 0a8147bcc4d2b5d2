"""The clustered mean beside statsmodels.

Question
    How long does it take as values and clusters grow, and does it agree with others?
Peer
    `statsmodels.OLS` on a constant with ``cov_type="cluster"``, the usual CR1 estimate.
Ours
    `clustered_mean`: CR2 with Satterthwaite degrees of freedom, in closed form.
How
    The same values and whole-number clusters to both, in turn, in one process. With clusters
    of equal size CR1 and CR2 of a mean are the same number, so the two must agree; with unequal
    ones CR2 is checked against its definition, an eigendecomposition per cluster, in numpy.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from statistics import median

import numpy as np
from numpy.typing import NDArray
from statsmodels.api import OLS

from benchmarks.measuring import Result, Value, ratio
from clinometer.statistics.clustered import clustered_mean, mean_of_clusters

SIZES = ((1_000, 20), (10_000, 200), (100_000, 2_000), (1_000_000, 20_000), (1_000_000, 200_000))
REPETITIONS = 7
DEFINITION = 12
MORE_CLUSTERS = 1.5
LINEAR = 6.0
Array = NDArray[np.float64]
Labels = NDArray[np.int64]


def run() -> Result:
    rng = np.random.default_rng(0)
    rows: list[Sequence[Value]] = []
    apart, per_value = 0.0, []
    for n, groups in SIZES:
        labels = np.repeat(np.arange(groups), n // groups)
        values = _values(labels, rng)
        shuffled = rng.permutation(n)
        values, labels = values[shuffled], labels[shuffled]
        ours, peer = _interleaved(
            lambda v=values, g=labels: clustered_mean(v, g), lambda v=values, g=labels: _ols(v, g)
        )
        se = clustered_mean(values, labels).se
        assert se is not None
        difference = abs(se / _ols(values, labels) - 1)
        apart = max(apart, difference)
        per_value.append(median(ours) / n)
        times = (1e3 * median(ours), 1e3 * median(peer), ratio(ours, peer))
        rows.append([f"{n:,} values", groups, *times, 1e9 * per_value[-1], f"{difference:.0e}"])
    labels = np.repeat(np.arange(DEFINITION), np.arange(2, 2 + DEFINITION) ** 2)
    values = _values(labels, rng)
    se, df = clustered_mean(values, labels).se, clustered_mean(values, labels).df
    assert se is not None and df is not None
    defined_se, defined_df = _by_definition(values, labels)
    cr2 = max(abs(se / defined_se - 1), abs(df / defined_df - 1))
    summed, growth = _growth_of_summed(rng), per_value[3] / per_value[2]
    return Result(
        "The clustered mean beside statsmodels' OLS with cov_type='cluster'",
        ("data", "clusters", "ours ms", "peer ms", "ours ÷ peer", "ours ns/value", "error apart"),
        rows,
        {
            "standard errors agree to 1e-9 with clusters of equal size": apart < 1e-9,
            "CR2 error and df agree to 1e-9 with their definition, unequal sizes": cr2 < 1e-9,
            f"ten times the clusters, as many values: under {MORE_CLUSTERS} times the time": (
                per_value[4] < MORE_CLUSTERS * per_value[3]
            ),
            f"four times the clusters, already summed: under {LINEAR:.0f} times the time": summed
            < LINEAR,
            "faster than the peer at every size": all(float(row[4] or 0) < 1 for row in rows),
        },
        [
            "already summed clusters, which estimates are made from, 4 million by 1 million: "
            f"{summed:.1f} times the time",
            f"1,000,000 values by 100,000, not summed: {10 * growth:.1f} times the time; labels "
            "are sorted, and leave the processor's cache",
            f"definition: {DEFINITION} clusters of 4 to {(1 + DEFINITION) ** 2} values, apart by "
            f"{cr2:.0e}; CR1 is {_ols(values, labels) / se:.3f} of CR2 there",
            f"medians of {REPETITIONS}",
        ],
    )


def _growth_of_summed(rng: np.random.Generator) -> float:
    """Time of 4,000,000 summed clusters by that of 1,000,000, too many for a processor's cache."""
    sizes = rng.integers(1, 20, 4_000_000)
    totals = sizes * rng.normal(0.3, 0.4, len(sizes))
    few, many = _interleaved(
        lambda: mean_of_clusters(sizes[:1_000_000], totals[:1_000_000]),
        lambda: mean_of_clusters(sizes, totals),
    )
    return ratio(many, few)


def _values(labels: Labels, rng: np.random.Generator) -> Array:
    """Scores that lean together within a cluster."""
    shared = rng.normal(0.3, 0.4, labels.max() + 1)[labels]
    return np.clip(shared + rng.normal(0, 0.5, len(labels)), -1, 1)


def _ols(values: Array, labels: Labels) -> float:
    model = OLS(values, np.ones(len(values)))
    return float(model.fit(cov_type="cluster", cov_kwds={"groups": labels}).bse[0])


def _by_definition(values: Array, labels: Labels) -> tuple[float, float]:
    """CR2 of Pustejovsky & Tipton (2018), with the whole hat matrix."""
    n = len(values)
    residual = values - values.mean()
    annihilator = np.eye(n) - 1.0 / n
    variance, directions = 0.0, []
    for label in np.unique(labels):
        member = labels == label
        size, vectors = np.linalg.eigh(annihilator[np.ix_(member, member)])
        adjusted = (vectors * size**-0.5) @ vectors.T @ np.ones(member.sum()) / n
        variance += float(adjusted @ residual[member]) ** 2
        directions.append(annihilator[:, member] @ adjusted)
    gram = np.array(directions) @ np.array(directions).T
    return variance**0.5, float(np.trace(gram) ** 2 / np.sum(gram**2))


def _interleaved(*calls: Callable[[], object]) -> list[list[float]]:
    times: list[list[float]] = [[] for _ in calls]
    for repetition in range(REPETITIONS + 1):
        for call, own in zip(calls, times, strict=True):
            start = time.perf_counter()
            call()
            if repetition:  # the first is the warm-up
                own.append(time.perf_counter() - start)
    return times
