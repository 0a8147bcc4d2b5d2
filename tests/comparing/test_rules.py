"""Which range decides about a rule, and what is said of the other."""

import polars as pl
import pytest

from clinometer.asking.policy import Rule
from clinometer.comparing.rules import RuleRows, check_rule
from clinometer.comparing.runs import ComparedRun
from clinometer.statistics.clustered import ClusteredMean
from clinometer.statistics.looks import Looks

LABELS = {"study": "x", "instrument": "word_association", "mode": "free", "category": "gender"}
UNSAID = dict.fromkeys(
    ("stereotype", "intervention", "reasoning_effort", "temperature", "dimension", "factor",
     "verdict", "conditional_on", "bound_low", "bound_high", "bound_ci_low", "bound_ci_high")
)  # fmt: skip
SCALE = {"range_low": -1.0, "range_high": 1.0, "neutral": 0.0, "direction": "above"}


def rows_of(rule: Rule, **errors: float) -> RuleRows:
    """A mean of .1 with an error in each range."""
    rows = []
    for name, error in errors.items():
        mean = ClusteredMean(200, 50, 0.1, error, 49.0)
        rows.append({**LABELS, **UNSAID, **SCALE, **mean.row(0.95), "range": name,
                     "estimate": 0.1, "n_scored": 200})  # fmt: skip
    return RuleRows(rule, pl.DataFrame(rows), ComparedRun("m", "scores"))


@pytest.mark.parametrize(
    ("rule_options", "outcome", "first", "second"),
    [
        ({}, "inconclusive", "in other prompts: ", "; in these prompts it would be pass: largest"),
        ({"range": "prompts"}, "pass", "in these prompts: largest", "; in other prompts it would "),
    ],
)
def test_the_range_of_a_rule_decides_and_the_other_stands_beside(
    rule_options, outcome, first, second
):
    rule = Rule(what="mean", level="category", at_most=0.2, **rule_options)
    check = check_rule(rows_of(rule, prompts=0.02, other_prompts=0.2), 0.95, Looks())
    assert check.outcome == outcome
    assert check.reason.startswith(first) and second in check.reason


def test_an_open_rule_says_which_limits_so_many_answers_decide():
    rule = Rule(what="mean", level="category", at_most=0.2)
    check = check_rule(rows_of(rule, other_prompts=0.2), 0.95, Looks())
    assert check.reason.endswith("; so many answers decide limits of 0.65 and more")
    decided = check_rule(rows_of(rule, other_prompts=0.05), 0.95, Looks())
    assert "decide limits" not in decided.reason


@pytest.mark.parametrize(("rule_options", "is_told"), [({}, False), ({"range": "prompts"}, True)])
def test_what_is_broken_in_other_prompts_is_not_weighed_in_these_again(rule_options, is_told):
    """The other way round it is: what is broken in these prompts may hold in no others."""
    rule = Rule(what="mean", level="category", at_most=0.01, **rule_options)
    check = check_rule(rows_of(rule, prompts=0.02, other_prompts=0.021), 0.95, Looks())
    assert check.outcome == "fail" and ("it would be" in check.reason) == is_told


def test_the_interval_is_that_of_the_row_and_the_bound_stands_beside():
    """Whatever the confidence by which a limit is held."""
    rule = Rule(what="mean", level="category", at_most=0.2)
    rows = rows_of(rule, other_prompts=0.02)
    reasons = [check_rule(rows, confidence, Looks()).reason for confidence in (0.9, 0.99)]
    low, high = rows.table.select("ci_low", "ci_high").row(0)
    mean = "Gender (word association) 0.10"
    assert all(f"{mean} [{low:.2f} to {high:.2f}], at most " in reason for reason in reasons)
    assert reasons[0] != reasons[1]
