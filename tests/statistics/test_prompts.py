from dataclasses import asdict

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

from clinometer.errors import InputError
from clinometer.statistics.prompts import (
    BoundedMean,
    bounded_mean,
    paired_difference,
    unpaired_difference,
)

SCALE = (-1.0, 1.0)

score_lists = st.lists(st.floats(-1, 1), min_size=1, max_size=30)


def estimate(values, wordings=None, bounds=SCALE) -> BoundedMean:
    """Return the mean of units of one stereotype, with the same weight."""
    n = len(values)
    return bounded_mean(values, np.ones(n), np.zeros(n), wordings or [0] * n, bounds)


def compare(baseline, candidate, wordings=None) -> BoundedMean:
    n = len(baseline)
    labels = np.zeros(n), wordings or [0] * n
    return paired_difference(baseline, candidate, np.ones(n), *labels, SCALE)


@pytest.mark.parametrize(("ones", "n"), [(13, 20), (0, 16), (48, 48), (99, 100), (1, 2)])
def test_two_values_are_clopper_and_pearson(ones, n):
    share = estimate([1.0] * ones + [0.0] * (n - ones), bounds=(0.0, 1.0))
    for level in (0.05, 0.05 / 21):
        expected = proportion_confint(ones, n, alpha=level, method="beta")
        assert share.interval(1 - level) == pytest.approx(expected, nan_ok=True)
    greater = scipy.stats.binomtest(ones, n, 0.3, "greater").pvalue
    assert share.p_above(0.3) == pytest.approx(greater)


def test_beta_has_the_moments_of_gaffkes_weighted_mean():
    """Gaffke's bound, simulated as Learned-Miller & Thomas (2019), algorithm 1, define it."""
    values = np.array([-0.4, 0.1, 0.2, 0.2, 0.5, 0.6, 0.8, 0.9])
    weights = np.random.default_rng(0).dirichlet(np.ones(9), 200_000)
    weighted = weights @ np.append(values, 1.0)
    low, high = estimate(values).interval(0.9)
    assert high == pytest.approx(np.quantile(weighted, 0.95), abs=0.01)
    assert low == pytest.approx(-estimate(-values).interval(0.9)[1])


@pytest.mark.parametrize(("units", "low"), [(48, 0.852), (24, 0.715)])
def test_units_that_are_all_alike_have_a_width(units, low):
    mean = estimate([1.0] * units, wordings=[0, 1, 2, 3] * (units // 4))
    assert mean.interval(0.95) == (pytest.approx(low, abs=5e-4), 1.0)
    assert mean.p_below(1.0) == 1.0


@given(score_lists, st.floats(-1, 1))
def test_p_is_the_level_at_which_the_interval_reaches(values, null):
    mean = estimate(values)
    p = mean.p(null)
    assert 0 <= p <= 1
    if 1e-6 < p < 1:
        ends = mean.interval(1 - p)
        assert min(abs(end - null) for end in ends) < 1e-6


@given(score_lists)
def test_interval_holds_the_mean_within_the_scale(values):
    mean = estimate(values)
    low, high = mean.interval(0.9)
    assert -1 <= low <= mean.mean + 1e-9
    assert mean.mean - 1e-9 <= high <= 1
    assert BoundedMean(**asdict(mean)).interval(0.9) == (low, high)


def test_a_mean_within_rounding_of_an_end_is_at_it():
    near, limit = (BoundedMean(far, 0.0, 4, 4.0, 4.0, (0.0, 1.0)) for far in (1e-170, 0.0))
    assert near.interval() == pytest.approx(limit.interval())
    assert near.p_above(0.0) == limit.p_above(0.0) == 1.0
    assert near.p_above(0.5) == limit.p_above(0.5)


def test_wordings_with_different_means_widen_nothing():
    noise = np.tile([-0.2, -0.1, 0.1, 0.2, 0.0], 4)
    wordings = np.repeat([0, 1, 2, 3], 5)
    differing = np.repeat([-0.3, 0.3, -0.1, 0.1], 5)
    mean = estimate(noise + differing, list(wordings))
    assert mean.se == pytest.approx(estimate(noise, list(wordings)).se)
    assert estimate(noise + differing).se > 1.5 * mean.se


def test_wordings_at_opposite_ends_count_the_units_that_can_move():
    mean = estimate([1.0] * 15 + [-1.0] * 5, list(np.repeat([0, 1, 2, 3], 5)))
    assert mean.se == 0
    assert (mean.n_low, mean.n_high) == (pytest.approx(15), pytest.approx(5))
    assert mean.interval()[1] > 0.7


def test_wordings_of_single_units_join_the_next():
    values = [0.1, 0.3, 0.5, 0.9, 0.7]
    lone = estimate(values, [0, 1, 2, 3, 4])
    assert lone == estimate(values, [0, 0, 1, 1, 1])
    assert 0 < lone.se < estimate(values).se


def test_a_stereotype_with_a_single_unit_joins_the_next():
    mean = bounded_mean([0.9, 0.1, 0.3], [1] * 3, ["age", "race", "race"], [0] * 3, SCALE)
    assert mean.mean == pytest.approx(0.55)
    assert mean.se > 0.2


def test_each_stereotype_counts_once():
    values, stereotypes = [0.0] * 4 + [1.0] * 12, ["age"] * 4 + ["race"] * 12
    mean = bounded_mean(values, [2] * 16, stereotypes, [0] * 16, SCALE)
    assert mean.mean == pytest.approx(0.5)
    assert mean.n_low < 16  # the units of the first weigh more


def test_a_pair_that_lacks_an_answer_counts_half():
    mean = bounded_mean([0.0, 0.0, 0.0, 0.6], [2, 2, 2, 1], ["age"] * 4, [0] * 4, SCALE)
    assert mean.mean == pytest.approx(0.6 / 7)


def test_stereotypes_that_always_answer_alike_have_a_width_together():
    values, stereotypes = np.repeat([1.0, -1.0, 0.5], 8), np.repeat(["a", "b", "c"], 8)
    low, high = bounded_mean(values, np.ones(24), stereotypes, [0] * 24, SCALE).interval()
    assert low < 1 / 6 < high
    assert high - low > 0.2


@pytest.mark.parametrize("scores", [[0.0] * 24, [0.6, -0.6] * 12])
def test_the_same_answers_twice_are_no_change_within_what_the_units_show(scores):
    same = compare(scores, scores)
    low, high = same.interval(0.9)
    assert (same.mean, same.se, low) == (0, 0, pytest.approx(-high))
    assert 0.1 < high < 0.2
    assert same.tost(0.2) < 0.05


def test_prompts_that_both_runs_answer_differently_can_move_further():
    differing, middle = [0.6, -0.6] * 12, [0.0] * 24
    assert compare(differing, differing).n_high < 0.8 * compare(middle, middle).n_high


@pytest.mark.parametrize(("score", "n_low"), [(0.0, 40), (1.0, 20)])
def test_at_the_end_of_the_scale_only_the_units_of_the_candidate_can_fall(score, n_low):
    same = compare([score] * 20, [score] * 20)
    assert same.n_low == pytest.approx(n_low)
    assert same.n_clusters == 20


def test_pairs_without_anything_in_common_are_as_wide_as_other_trials():
    rng = np.random.default_rng(1)
    baseline, candidate = rng.uniform(-1, 1, (2, 400))
    pooled = compare(baseline, candidate).interval()
    separate = unpaired_difference(estimate(baseline), estimate(candidate)).interval()
    assert pooled == pytest.approx(separate, abs=0.02)


def test_a_difference_turns_its_sign_with_its_runs():
    baseline, candidate = estimate([0.9, 0.5, 1.0, 0.7]), estimate([0.1, -0.2, 0.3])
    change = unpaired_difference(baseline, candidate)
    turned = unpaired_difference(candidate, baseline)
    assert change.mean == pytest.approx(candidate.mean - baseline.mean)
    assert change.p_below(0.1) == pytest.approx(turned.p_above(-0.1))


def test_sixteen_units_near_the_end_are_covered():
    """Where t covers .6; see `python -m benchmarks prompts` for other conditions."""
    rng, truth = np.random.default_rng(2), 0.95
    answers = np.where(rng.random((500, 16)) < (1 + truth) / 2, 1.0, -1.0)
    ends = np.array([estimate(row, [0, 1, 2, 3] * 4).interval() for row in answers])
    assert ((ends[:, 0] <= truth) & (truth <= ends[:, 1])).mean() >= 0.95


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"values": [0.1, np.nan]}, "values: shape"),
        ({"weights": [1, 0]}, "weights: none, or not above 0"),
        ({"bounds": (0.0, np.inf)}, "bounds 0.0, inf: needs the lower and the upper end"),
        ({"wordings": [0]}, r"shapes \(2,\), \(2,\), \(1,\)"),
    ],
)
def test_refuses_what_is_no_unit(changed, message):
    units = {"values": [0.1, 0.2], "weights": [1, 1], "stereotypes": [0, 0], "wordings": [0, 0]}
    with pytest.raises(InputError, match=message):
        bounded_mean(**{**units, "bounds": SCALE, **changed})
