"""The smallest limit that a design decides, against simulation."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import stdtrit

from clinometer.statistics.limits import RowErrors, with_times
from clinometer.statistics.prompts import BoundedMean, bounded_mean, unpaired_difference

QUICK = np.array([24, 32, 40, 72])  # mirrored pairs of the categories of bai2025


def baselines(variance, pairs=QUICK, mean=0.0):
    """Return means of answers with a variance; a pair has two of them."""
    ses = np.sqrt(variance / (2.0 * pairs))
    return [
        BoundedMean(mean, se, int(n), n, n, (-1.0, 1.0)) for se, n in zip(ses, pairs, strict=True)
    ]


def changes_of(variance, pairs=QUICK, mean=0.0):
    return RowErrors.from_changes(baselines(variance, pairs, mean), [0.0] * len(pairs))


@pytest.mark.parametrize(("variance", "times", "limit"), [(0.53, 1, 0.51), (0.53, 2.5, 0.31)])
def test_a_category_of_gpt4o_is_decided_from_so_much_on(variance, times, limit):
    """Simulated limits of models that lean, with answers of this variance."""
    errors = changes_of(variance, QUICK * times, mean=0.5)
    assert errors.smallest_limit() == pytest.approx(limit, rel=0.1)


@pytest.mark.parametrize(("mean", "two_sided"), [(0.0, True), (0.6, False)])
def test_a_model_that_did_not_change_passes_in_nine_of_ten(mean, two_sided):
    rng = np.random.default_rng(1)
    share = (1.0 + mean) / 2.0
    scores = rng.choice([-1.0, 1.0], (2, 600, 4, 24), p=[1.0 - share, share])
    groups = np.ones(24), np.zeros(24), np.zeros(24), (-1.0, 1.0)
    passes = []
    for before, after in zip(*scores, strict=True):
        means = [[bounded_mean(row, *groups) for row in run] for run in (before, after)]
        limit = RowErrors.from_changes(means[0], [0.0] * 4).smallest_limit()
        ends = [unpaired_difference(*pair).interval(0.9) for pair in zip(*means, strict=True)]
        passes.append(all(high <= limit and (-low <= limit or not two_sided) for low, high in ends))
    # Near the end of the scale scores cannot rise as far as they can fall.
    assert 0.88 <= np.mean(passes) <= (0.95 if two_sided else 1.0)


def test_a_baseline_with_a_side_takes_a_smaller_limit():
    with_side, without = changes_of(0.4, mean=0.6), changes_of(0.4, mean=0.0)
    assert not with_side.two_sided.any() and without.two_sided.all()
    forced = replace(with_side, two_sided=True)
    assert with_side.smallest_limit() < forced.smallest_limit()


def test_more_rows_and_fewer_degrees_of_freedom_take_a_larger_limit():
    single, four = (
        RowErrors.from_means(np.full(rows, 0.1), np.inf).smallest_limit() for rows in (1, 4)
    )
    few = RowErrors.from_means(np.full(4, 0.1), 5.0).smallest_limit()
    assert single < four < few
    # One row: its bound, and the estimate that 9 of 10 stay within.
    assert single == pytest.approx(0.2 * stdtrit(np.inf, 0.95), rel=1e-6)


def test_answers_that_are_always_the_same_pass_beyond_their_reach():
    errors = RowErrors(np.zeros(3), np.array([0.17, 0.1, 0.05]))
    assert errors.smallest_limit() == pytest.approx(0.17, abs=1e-6)
    assert (errors.chance_to_pass(0.16), errors.chance_to_pass(0.18)) == (0.0, 1.0)


def test_four_times_the_units_halve_the_error():
    (mean,) = baselines(0.5, np.array([20]))
    more = with_times(mean, 4.0)
    assert more.se == pytest.approx(mean.se / 2.0)
    assert (more.n_clusters, more.n_low, more.n_high) == (80, 80, 80)
