"""The corrected mean: unbiased whatever the reader's errors, and covering, also in clusters."""

import numpy as np
import polars as pl
import pytest

from clinometer.papers.corrected import corrected_mean
from clinometer.papers.kappa import agreement


def drawn(rng, n, labelled, wrong, clusters=20):
    """Draw decisions of clusters, read with errors that lean, some of them labelled."""
    cluster = rng.integers(0, clusters, n)
    chance = np.clip(0.6 + 0.15 * rng.normal(0, 1, clusters), 0, 1)
    truth = (rng.random(n) < chance[cluster]).astype(float)
    wrong = rng.random(n) < np.where(truth == 1, *wrong)
    read = np.where(wrong, 1 - truth, truth)
    label = np.where(rng.random(n) < labelled, truth, np.nan)
    return read, label, cluster


@pytest.mark.parametrize("wrong", [(0.0, 0.0), (0.2, 0.0), (0.0, 0.3), (0.5, 0.5)])
def test_errors_that_lean_do_not_move_it_and_its_interval_covers(wrong):
    rng = np.random.default_rng(3)
    found, covered, raw, own = [], 0, [], []
    for _ in range(1000):
        read, label, cluster = drawn(rng, 1000, 0.2, wrong)
        one = corrected_mean(read, label, cluster)
        found.append(one.mean - 0.6)
        raw.append(read.mean() - 0.6)
        own.append(np.nanmean(label) - 0.6)
        covered += one.low <= 0.6 <= one.high
    assert abs(np.mean(found)) < 0.006
    assert 0.925 < covered / 1000 < 0.97
    assert np.std(found) < 1.05 * np.std(own)  # no wider than the labels alone
    if wrong == (0.2, 0.0):
        assert np.mean(raw) < -0.1 and np.std(found) < 0.9 * np.std(own)


def test_without_errors_it_is_the_mean_of_all():
    read = np.array([1.0, 0, 1, 1, 0, 0, 1, 1] * 25)
    label = np.where(np.arange(200) % 2 == 0, read, np.nan)
    one = corrected_mean(read, label, np.arange(200))
    assert one.mean == pytest.approx(read.mean(), abs=0.05)
    assert 0 < one.weight <= 1


def test_too_few_labels_have_no_interval():
    assert corrected_mean([1, 0], [np.nan, np.nan], ["a", "b"]).mean is None
    one = corrected_mean([1, 0, 1], [1, np.nan, np.nan], ["a", "b", "c"])
    assert (one.mean, one.low) == (1.0, None)


def test_agreement_states_it_where_answers_have_no_label():
    rng = np.random.default_rng(4)
    read, label, cluster = drawn(rng, 600, 0.3, (0.1, 0.0))
    frame = pl.DataFrame({"score": read, "label": label, "stereotype": cluster}).fill_nan(None)
    rows = agreement(frame, cluster="stereotype", by="stereotype").estimates
    row = rows.filter(measure="corrected_mean", part="all").row(0, named=True)
    expected = corrected_mean(read, label, cluster)
    assert row["estimate"] == pytest.approx(expected.mean)
    assert (row["ci_low"], row["df"]) == (pytest.approx(expected.low), expected.df)
    assert rows.filter(measure="corrected_mean").height == 1 + frame["stereotype"].n_unique()
    whole = agreement(frame.drop_nulls("label"))
    assert whole.estimates.filter(measure="corrected_mean").is_empty()
