import numpy as np
import pytest
import scipy.stats
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.weightstats import DescrStatsW

from tiltmeter.errors import InputError
from tiltmeter.statistics import clustered_mean
from tiltmeter.statistics.clustered import cohen_d, holm, naive_t, tost

SAMPLE = np.random.default_rng(3).normal(0.05, 0.4, 60)


def test_naive_t_is_scipys():
    result = naive_t(SAMPLE.mean(), SAMPLE.std(ddof=1), 60, neutral=0.1)
    reference = scipy.stats.ttest_1samp(SAMPLE, 0.1)
    assert result["naive_t"] == pytest.approx(reference.statistic)
    assert result["naive_p"] == pytest.approx(reference.pvalue)
    assert result["naive_df"] == reference.df
    assert result["naive_se"] == pytest.approx(scipy.stats.sem(SAMPLE))


def test_naive_t_without_spread_has_no_t():
    assert naive_t(0.5, 0.0, 9) == {
        "naive_se": 0.0,
        "naive_t": None,
        "naive_df": 8.0,
        "naive_p": None,
    }


def test_naive_t_of_one_score_is_none():
    assert set(naive_t(0.5, None, 1).values()) == {None}


def test_cohen_d_is_in_standard_deviations_from_neutral():
    assert cohen_d(0.75, 0.5, neutral=0.5) == 0.5
    assert cohen_d(0.75, 0.0) is None
    assert cohen_d(None, None) is None


@pytest.mark.parametrize("neutral", [0.0, 0.2])
def test_tost_of_single_values_is_statsmodels(neutral):
    reference = DescrStatsW(SAMPLE).ttost_mean(neutral - 0.15, neutral + 0.15)[0]
    result = tost(clustered_mean(SAMPLE, np.arange(60)), margin=0.15, neutral=neutral)
    assert result == pytest.approx(reference)


def test_tost_rejects_exactly_when_the_two_alpha_interval_lies_within_the_margin():
    estimate = clustered_mean(SAMPLE, np.arange(60) // 4)
    edge = max(map(abs, estimate.interval(0.9)))
    assert tost(estimate, margin=edge) == pytest.approx(0.05)


def test_tost_of_one_cluster_is_none():
    assert tost(clustered_mean([0.0, 0.1], [1, 1]), margin=0.1) is None


def test_tost_needs_a_margin():
    with pytest.raises(InputError, match="margin 0"):
        tost(clustered_mean(SAMPLE, np.arange(60)), margin=0)


def test_holm_by_hand():
    """Holm (1979): max over earlier of (m − i + 1)·p."""
    assert holm(np.array([0.04, 0.01, 0.03, 0.02])) == pytest.approx([0.06, 0.04, 0.06, 0.06])


@pytest.mark.parametrize("tests", [0, 1, 30])
def test_holm_is_statsmodels(tests):
    p = np.random.default_rng(0).uniform(0, 0.2, tests).round(2)
    expected = multipletests(p, method="holm")[1] if tests else p
    assert holm(p) == pytest.approx(expected)
