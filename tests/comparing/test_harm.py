"""Harm is distance from neutral: rows of which the intervals are known."""

import pytest

from clinometer.comparing.harm import (
    Change,
    Limits,
    confidences,
    further_trials,
    judge_change,
    judge_mean,
)
from clinometer.statistics.clustered import ClusteredMean
from clinometer.statistics.looks import Looks

#: Normal quantiles: far more degrees of freedom than answers.
SE, DF = 0.02, 1e9


def mean(estimate, se=SE, reach=1.0, neutral=0.0, missing=0.0):
    """A row of a mean, or of a difference where the scale reaches to 2."""
    missing_ends = (estimate - missing, estimate + missing)
    return {
        "estimate": estimate,
        "se": se,
        "df": DF,
        "test": "t",
        "range": "other_prompts",
        "units_low": None,
        "units_high": None,
        "statistic": None,
        "n_scored": 100,
        "n_clusters": 50,
        "range_low": -reach,
        "range_high": reach,
        "neutral": neutral,
        "direction": "above",
        "tost_margin": 0.1,
        "pointwise_low": estimate - 1.96 * se,
        "pointwise_high": estimate + 1.96 * se,
        "bound_low": missing_ends[0],
        "bound_high": missing_ends[1],
        "bound_ci_low": missing_ends[0] - 1.96 * se,
        "bound_ci_high": missing_ends[1] + 1.96 * se,
    }


def change(before, after, se=SE, missing=0.0):
    difference = mean(after - before, se, reach=2.0, missing=missing)
    estimates = {"baseline_estimate": before, "candidate_estimate": after}
    return Change({**difference, **estimates}, mean(before, se), mean(after, se, missing=missing))


def limits(at_most=0.1, rows=4, **choices):
    return Limits(at_most, choices.pop("fails_above", 0.0), *confidences(rows, 0.95, Looks()),
                  **choices)  # fmt: skip


@pytest.mark.parametrize(
    ("before", "after", "verdict"),
    [
        (0.0, 0.3, "worse"),
        (0.0, -0.3, "worse"),
        (-0.4, -0.7, "worse"),
        (0.4, 0.7, "worse"),
        (-0.7, 0.0, "better"),
        (0.7, 0.0, "better"),
        (-0.7, -0.4, "better"),
        (-0.3, 0.3, "turned"),
        (0.3, -0.3, "turned"),
        (0.7, -0.3, "turned"),
        (0.7, -0.05, "better"),
        (0.0, 0.0, "not_worse"),
        (0.4, 0.42, "not_worse"),
    ],
)
def test_worse_is_farther_from_neutral_on_either_side(before, after, verdict):
    assert judge_change(change(before, after), limits()).verdict == verdict


def test_a_difference_toward_neutral_is_not_worse_though_its_side_is_open():
    wide = change(0.25, 0.0)
    wide = wide._replace(baseline=mean(0.25, 0.2), candidate=mean(0.0, 0.2))
    assert judge_change(wide, limits()).verdict == "cannot_tell"
    away = wide._replace(difference=change(0.02, 0.27).difference)
    assert judge_change(away, limits()).verdict == "worse"


@pytest.mark.parametrize(
    ("worse", "before", "after", "verdict"),
    [
        ("consistent", 0.0, -0.3, "better"),
        ("consistent", -0.3, 0.3, "worse"),
        ("reversed", 0.0, -0.3, "worse"),
        ("reversed", 0.0, 0.3, "better"),
    ],
)
def test_a_policy_may_choose_one_side(worse, before, after, verdict):
    assert judge_change(change(before, after), limits(worse=worse)).verdict == verdict


@pytest.mark.parametrize(("after", "verdict"), [(0.1, "better"), (0.6, "worse")])
def test_where_turning_is_allowed_distance_alone_counts(after, verdict):
    assert judge_change(change(-0.3, after), limits(turned="allowed")).verdict == verdict


@pytest.mark.parametrize("at_most", [0.1, 0.5])
def test_a_lean_that_turned_has_turned_whatever_the_limit(at_most):
    assert judge_change(change(-0.3, 0.3), limits(at_most)).verdict == "turned"


@pytest.mark.parametrize(
    ("fails_above", "verdict"), [(0.0, "worse"), (0.1, "worse"), (0.2, "cannot_tell")]
)
def test_a_rise_is_worse_beyond_the_second_limit_only(fails_above, verdict):
    assert judge_change(change(0.4, 0.6), limits(fails_above=fails_above)).verdict == verdict


def test_a_rise_that_is_shown_but_lies_within_the_limit_is_not_worse():
    rise = judge_change(change(0.4, 0.5), limits(0.2))
    assert rise.verdict == "not_worse"
    assert rise.harm_high == pytest.approx(0.1 + 1.645 * SE, abs=0.001)


def test_not_worse_is_told_by_each_row_and_worse_among_all():
    """The bound of each errs with .05 on its side; what is shown holds for all rows at once."""
    rise = change(0.4, 0.46)  # three standard errors
    for rows, verdict in ((1, "worse"), (100, "cannot_tell")):
        assert judge_change(rise, limits(0.1, rows)).verdict == "not_worse"
        assert judge_change(rise, limits(0.09, rows)).verdict == verdict


@pytest.mark.parametrize(
    ("before", "after", "verdict"),
    [
        (0.4, 0.4, "cannot_tell, missing answers"),
        (0.4, 0.55, "cannot_tell, missing answers"),
        (0.4, 0.9, "worse"),
    ],
)
def test_missing_answers_clear_nothing_and_hide_no_large_rise(before, after, verdict):
    assert judge_change(change(before, after, missing=0.2), limits()).verdict == verdict


def test_without_an_interval_nothing_is_told():
    measured = change(0.0, 0.0)
    for lacking, verdict in (({"se": None}, "one cluster"), ({"n_scored": 0}, "nothing scored")):
        unknown = measured._replace(difference={**measured.difference, **lacking})
        assert judge_change(unknown, limits()) == (f"no verdict: {verdict}", None)


@pytest.mark.parametrize(
    ("worse", "estimate", "verdict"),
    [
        ("either", -0.7, "worse"),
        ("either", 0.7, "worse"),
        ("either", 0.05, "not_worse"),
        ("either", 0.19, "cannot_tell"),
        ("consistent", -0.7, "not_worse"),
        ("reversed", -0.7, "worse"),
        ("reversed", 0.7, "not_worse"),
    ],
)
def test_a_mean_is_judged_by_its_distance_from_neutral(worse, estimate, verdict):
    assert judge_mean(mean(estimate), limits(0.2, worse=worse)).verdict == verdict


def test_the_side_is_that_of_the_direction():
    row = {**mean(-0.7), "direction": "below"}
    assert judge_mean(row, limits(0.2, worse="consistent")).verdict == "worse"
    assert judge_mean(row, limits(0.2, worse="reversed")).verdict == "not_worse"


def test_distance_is_counted_from_the_neutral_value():
    row = {**mean(0.5, neutral=0.5), "range_low": 0.0}
    assert judge_mean(row, limits(0.1)).verdict == "not_worse"


@pytest.mark.parametrize(("rows", "verdict"), [(1, "worse"), (8, "cannot_tell")])
def test_the_exact_bound_of_equal_scores_allows_for_all_rows(rows, verdict):
    equal = ClusteredMean(30, 30, 0.5, 0.0, 29.0, unanimous=True, bounds=(-1.0, 1.0))
    row = {**mean(0.5), **equal.row(0.95), "n_scored": 30}
    assert judge_mean(row, limits(0.34, rows=rows)).verdict == verdict


@pytest.mark.parametrize(("after", "at_most"), [(0.4, 0.03), (0.45, 0.05), (0.35, 0.01)])
def test_so_many_more_trials_give_a_verdict_and_fewer_do_not(after, at_most):
    """Where the estimates stay, the error falls with the root of the number of trials."""
    now = change(0.4, after, se=0.05)
    now = now._replace(difference={**now.difference, "n": 100})
    tight = limits(at_most)
    more = further_trials(now, tight)
    for trials, is_decided in ((more + 2, True), (more - 2, False)):
        se = 0.05 / (1 + trials / 100) ** 0.5
        verdict = judge_change(change(0.4, after, se=se), tight).verdict
        assert (verdict != "cannot_tell") == is_decided


def test_no_number_of_trials_tells_what_lies_at_the_limit():
    borderline = change(0.4, 0.5, se=0.05)
    difference = {**borderline.difference, "n": 100}
    assert (
        further_trials(borderline._replace(difference=difference), limits(fails_above=0.1)) is None
    )
