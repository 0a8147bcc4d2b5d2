"""What a plan decides of the limits of a policy."""

from dataclasses import replace

import pytest

from clinometer.asking.policy import Policy
from clinometer.audits.limits import decide_limits
from clinometer.audits.sizes import PlanOptions, sized_plan

WHERE = {"instrument": "word_association", "study": "bai2025"}


@pytest.fixture(scope="module")
def plans():
    options = PlanOptions(instruments=["word_association"], studies=["bai2025"])
    return {size: sized_plan(size, ["openai/gpt-4o"], options) for size in ("quick", "standard")}


def decided(plan, what, at_most, **where):
    rules = [{"what": what, "level": "category", "at_most": at_most, "where": {**WHERE, **where}}]
    return [*decide_limits(plan, Policy(name="p", rules=rules))]


@pytest.mark.parametrize(("size", "limit"), [("quick", 0.5), ("standard", 0.31)])
def test_a_change_of_gpt4o_is_decided_from_so_much_on(plans, size, limit):
    (small,) = decided(plans[size], "change", 0.1)
    assert small.smallest == pytest.approx(limit, rel=0.1)
    assert not small.is_decided and small.chance < 0.01
    (large,) = decided(plans[size], "change", small.smallest + 0.01)
    assert large.is_decided and large.needed == large.trials


def test_the_trials_that_decide_a_limit_decide_it(plans):
    (small,) = decided(plans["standard"], "change", 0.2)
    (part,) = plans["standard"].selections
    times = small.needed / small.trials
    enough = replace(part, iterations=2 * round(part.iterations * times / 2 + 0.5))
    (large,) = decided(replace(plans["standard"], selections=[enough]), "change", 0.2)
    assert large.is_decided
    # A wording has two orders of each draw.
    assert 0 <= large.trials - small.needed <= 2 * small.trials / part.iterations
    assert f"0.2 takes {small.needed:,} trials, about ${small.usd:,.2f}" in small.text()


def test_what_wordings_add_to_a_mean_no_number_of_trials_takes_away(plans):
    (mean,) = decided(plans["quick"], "mean", 0.1, category="gender")
    assert mean.needed is None
    assert mean.text().endswith("; 0.1 takes more wordings or group words")


def test_rules_about_what_is_not_asked_are_left_out(plans):
    assert decided(plans["quick"], "change", 0.1, mode="forced") == []
    assert decided(plans["quick"], "mean", 0.1, study="mist2025") == []
