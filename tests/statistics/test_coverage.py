"""Does the interval hold what it says? Clustered data with a known mean."""

import numpy as np
import pytest
import scipy.stats

from tiltmeter.statistics.clustered import mean_of_clusters

REPLICATIONS = 3000
MEAN = 0.2


@pytest.mark.parametrize(
    ("clusters", "smallest", "icc"), [(84, 30, 0.3), (84, 5, 0.05), (12, 5, 0.3), (8, 5, 0.1)]
)
def test_clustered_interval_covers_and_naive_does_not(clusters, smallest, icc):
    rng = np.random.default_rng([clusters, smallest])
    sizes = rng.integers(smallest, 51, clusters)
    starts, n = np.r_[0, np.cumsum(sizes)[:-1]], sizes.sum()
    covered = naive = 0
    for _ in range(REPLICATIONS):
        effects = rng.normal(MEAN, icc**0.5, clusters)
        y = np.repeat(effects, sizes) + rng.normal(0, (1 - icc) ** 0.5, n)
        low, high = mean_of_clusters(sizes, np.add.reduceat(y, starts)).interval(0.95)
        covered += low <= MEAN <= high
        half = scipy.stats.norm.ppf(0.975) * y.std(ddof=1) / n**0.5
        naive += abs(y.mean() - MEAN) <= half
    assert 0.93 <= covered / REPLICATIONS <= 0.97
    assert naive / REPLICATIONS < 0.8
