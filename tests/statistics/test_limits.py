"""The smallest limit that a design decides, against simulation."""

import numpy as np
import pytest
from scipy.special import stdtrit

from clinometer.statistics.limits import RowErrors, paired_error

QUICK = np.array([48.0, 64.0, 80.0, 144.0])  # answers of the categories of bai2025


def errors_of(variance, answers=QUICK):
    return RowErrors.of_t(np.sqrt(2.0 * variance / answers), np.inf)


@pytest.mark.parametrize(("variance", "answers"), [(0.53, QUICK), (0.1, QUICK), (0.53, QUICK[:1])])
def test_a_model_that_did_not_change_passes_the_smallest_limit_in_nine_of_ten(variance, answers):
    errors = errors_of(variance, answers)
    limit = errors.smallest_limit()
    estimates = np.random.default_rng(1).normal(0, errors.se, (20_000, len(answers)))
    passes = (np.abs(estimates) + errors.reach <= limit).all(axis=1).mean()
    assert passes == pytest.approx(0.9, abs=0.01)
    assert errors.chance_to_pass(limit) == pytest.approx(0.9)


def test_the_limit_follows_from_the_smallest_category():
    """3.35 √(2σ² / answers), where one direction counts; both take a little more."""
    for variance in (0.53, 0.3, 0.1):
        ratio = errors_of(variance).smallest_limit() / np.sqrt(2 * variance / QUICK[0])
        assert 3.3 < ratio < 3.7


def test_more_rows_and_fewer_degrees_of_freedom_take_a_larger_limit():
    one, four = (RowErrors.of_t(np.full(rows, 0.1), np.inf).smallest_limit() for rows in (1, 4))
    few = RowErrors.of_t(np.full(4, 0.1), 5.0).smallest_limit()
    assert one < four < few
    # One row: its bound, and the estimate that 9 of 10 stay within.
    assert one == pytest.approx(0.1 * (stdtrit(np.inf, 0.95) + stdtrit(np.inf, 0.95)), rel=1e-6)


def test_answers_that_are_always_the_same_pass_beyond_their_reach():
    errors = RowErrors(np.zeros(3), np.array([0.17, 0.1, 0.05]))
    assert errors.smallest_limit() == pytest.approx(0.17, abs=1e-6)
    assert (errors.chance_to_pass(0.16), errors.chance_to_pass(0.18)) == (0.0, 1.0)


def test_the_error_of_a_change_is_that_of_both_runs():
    rng = np.random.default_rng(2)
    changes = np.zeros(20_000)
    for sd, answers in ((0.7, 16), (0.4, 8)):
        before, after = rng.normal(0, sd, (2, len(changes), answers)).mean(axis=2)
        changes += (after - before) / 2.0  # each of two stereotypes counts once
    error = paired_error(np.array([0.49, 0.16]), np.array([16.0, 8.0]))
    assert error == pytest.approx(changes.std(), rel=0.03)
