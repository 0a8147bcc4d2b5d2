"""The interval of a row at any confidence is that of the mean it was made from."""

import pytest

from clinometer.comparing.intervals import interval_of_row
from clinometer.statistics.clustered import ClusteredMean, bonferroni_confidence
from clinometer.statistics.prompts import bounded_mean
from clinometer.statistics.rows import position_product
from clinometer.statistics.rows import tested_row as row_of_test

SCALE = {"range_low": -1.0, "range_high": 1.0, "neutral": 0.0}


def row_of(mean, range_name="other_prompts"):
    row = {"estimate": mean.mean, "n_scored": mean.n_clusters, "range": range_name}
    return {**row, **row_of_test(mean, 0.95), **SCALE}


def clustered(estimate, units):
    scale = 4.0 * position_product(estimate, units, (-1.0, 1.0))
    return ClusteredMean(units, units, estimate, 0.1, 19.0, bounds=(-1.0, 1.0), scale=scale)


@pytest.mark.parametrize("confidence", [0.9, bonferroni_confidence(0.95, 8)])
@pytest.mark.parametrize(
    "mean",
    [
        *(clustered(estimate, 20) for estimate in (0.4, 0.9, 0.0)),
        ClusteredMean(30, 30, 0.5, 0.0, 29.0, unanimous=True, bounds=(-1.0, 1.0)),
        bounded_mean([0.2, 0.9, 1.0, 0.4] * 4, [2] * 16, [0] * 16, [0, 1] * 8, (-1.0, 1.0)),
    ],
)
def test_an_interval_follows_from_its_row(mean, confidence):
    assert interval_of_row(row_of(mean), confidence) == pytest.approx(mean.interval(confidence))


def test_a_row_without_an_error_has_no_interval():
    assert interval_of_row(row_of(ClusteredMean(1, 1, 0.5, None, None)), 0.95) is None
