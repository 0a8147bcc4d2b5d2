"""The interval of a row at any confidence is that of the mean it was made from."""

import pytest

from clinometer.comparing.intervals import interval_of_row
from clinometer.statistics.clustered import ClusteredMean, together

SCALE = {"range_low": -1.0, "range_high": 1.0, "neutral": 0.0}


def row_of(mean):
    return {"estimate": mean.mean, "n_scored": mean.n, **mean.row(0.95), **SCALE}


@pytest.mark.parametrize("confidence", [0.9, together(0.95, 8)])
@pytest.mark.parametrize(
    "mean",
    [
        ClusteredMean(40, 20, 0.4, 0.1, 19.0, bounds=(-1.0, 1.0), scale=0.7),
        ClusteredMean(40, 20, 0.9, 0.1, 19.0, bounds=(-1.0, 1.0), scale=0.7),
        ClusteredMean(40, 20, 0.0, 0.1, 19.0, bounds=(-1.0, 1.0), scale=1.0),
        ClusteredMean(30, 30, 0.5, 0.0, 29.0, unanimous=True, bounds=(-1.0, 1.0)),
    ],
)
def test_an_interval_follows_from_its_row(mean, confidence):
    assert interval_of_row(row_of(mean), confidence) == pytest.approx(mean.interval(confidence))


def test_a_row_without_an_error_has_no_interval():
    assert interval_of_row(row_of(ClusteredMean(1, 1, 0.5, None, None)), 0.95) is None
