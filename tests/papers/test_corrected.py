"""The corrected mean: unbiased whatever the reader's errors, and covering, also in clusters."""

import numpy as np
import polars as pl
import pytest

from clinometer.papers.corrected import corrected_mean
from clinometer.papers.kappa import agreement


def draw_readings(rng, n, labelled, wrong, clusters=20):
    """Draw decisions of clusters, read with errors that lean, some of them labelled."""
    cluster = rng.integers(0, clusters, n)
    chance = np.clip(0.6 + 0.15 * rng.normal(0, 1, clusters), 0, 1)
    truth = (rng.random(n) < chance[cluster]).astype(float)
    wrong = rng.random(n) < np.where(truth == 1, *wrong)
    readings = np.where(wrong, 1 - truth, truth)
    label = np.where(rng.random(n) < labelled, truth, np.nan)
    return readings, label, cluster


@pytest.mark.parametrize("wrong", [(0.0, 0.0), (0.2, 0.0), (0.0, 0.3), (0.5, 0.5)])
def test_errors_that_lean_do_not_move_it_and_its_interval_covers(wrong):
    rng = np.random.default_rng(3)
    errors, covered, raw, labels_alone = [], 0, [], []
    for _ in range(1000):
        readings, label, cluster = draw_readings(rng, 1000, 0.2, wrong)
        corrected = corrected_mean(readings, label, cluster)
        errors.append(corrected.mean - 0.6)
        raw.append(readings.mean() - 0.6)
        labels_alone.append(np.nanmean(label) - 0.6)
        covered += corrected.low <= 0.6 <= corrected.high
    assert abs(np.mean(errors)) < 0.006
    assert 0.925 < covered / 1000 < 0.97
    assert np.std(errors) < 1.05 * np.std(labels_alone)  # no wider than the labels alone
    if wrong == (0.2, 0.0):
        assert np.mean(raw) < -0.1 and np.std(errors) < 0.9 * np.std(labels_alone)


def test_without_errors_it_is_the_mean_of_all():
    readings = np.array([1.0, 0, 1, 1, 0, 0, 1, 1] * 25)
    label = np.where(np.arange(200) % 2 == 0, readings, np.nan)
    corrected = corrected_mean(readings, label, np.arange(200))
    assert corrected.mean == pytest.approx(readings.mean(), abs=0.05)
    assert 0 < corrected.weight <= 1


def test_too_few_labels_have_no_interval():
    assert corrected_mean([1, 0], [np.nan, np.nan], ["a", "b"]).mean is None
    corrected = corrected_mean([1, 0, 1], [1, np.nan, np.nan], ["a", "b", "c"])
    assert (corrected.mean, corrected.low) == (1.0, None)


def test_agreement_states_it_where_answers_have_no_label():
    rng = np.random.default_rng(4)
    readings, label, cluster = draw_readings(rng, 600, 0.3, (0.1, 0.0))
    frame = pl.DataFrame({"score": readings, "label": label, "stereotype": cluster}).fill_nan(None)
    rows = agreement(frame, cluster="stereotype", by="stereotype").estimates
    row = rows.filter(measure="corrected_mean", part="all").row(0, named=True)
    expected = corrected_mean(readings, label, cluster)
    assert row["estimate"] == pytest.approx(expected.mean)
    assert (row["ci_low"], row["df"]) == (pytest.approx(expected.low), expected.df)
    assert rows.filter(measure="corrected_mean").height == 1 + frame["stereotype"].n_unique()
    labelled = agreement(frame.drop_nulls("label"))
    assert labelled.estimates.filter(measure="corrected_mean").is_empty()
