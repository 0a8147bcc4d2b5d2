"""Orders of the groups and versions of a question count the same, whatever is answered of each."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clinometer.results import Measure
from clinometer.results.estimates import KEYS
from clinometer.results.judging import judge
from clinometer.statistics import estimate_measure
from clinometer.statistics.contrasts import contrast
from clinometer.statistics.estimates import estimate_summaries
from clinometer.statistics.summaries import summarise
from clinometer.statistics.unpaired import contrast_unpaired

#: How far the group that is named first gains, and what the model leans by.
EFFECT, LEAN = 0.4, 0.1


def answers(make_scores: Any, first: int, second: int, wordings: int = 2, seed: int = 0) -> Any:
    """Single answers of six stereotypes: so many a wording in each order."""
    rng, rows = np.random.default_rng(seed), []
    for stereotype in range(6):
        for wording in range(wordings):
            for order, number in (("marginalized_first", first), ("default_first", second)):
                half = EFFECT / 2 if order == "marginalized_first" else -EFFECT / 2
                rows += [
                    {"stereotype": f"s{stereotype}", "variation": f"v{wording}", "order": order,
                     "marginalized": f"a{k % 3}", "default": f"b{k % 3}", "iteration": k,
                     "score": LEAN + half + rng.normal(0, 0.05)}
                    for k in range(number)
                ]  # fmt: skip
    return make_scores(*rows)


def row(scores: pl.DataFrame, measure: Any, level: str = "model") -> dict[str, Any]:
    """Return the mean of these prompts."""
    estimates = estimate_measure(scores, measure).filter(level=level, range="prompts")
    return estimates.row(0, named=True)


@pytest.mark.parametrize(("first", "second"), [(16, 4), (4, 16), (10, 10)])
def test_the_mean_is_that_of_the_means_in_each_order(
    make_scores: Any, measure: Any, first: int, second: int
) -> None:
    scores = answers(make_scores, first, second)
    by_order = scores.group_by("stereotype", "order").agg(pl.col("score").mean())
    estimate = row(scores, measure)
    assert estimate["estimate"] == pytest.approx(by_order["score"].mean())
    assert estimate["ci_low"] < LEAN < estimate["ci_high"]
    assert estimate["verdict"].startswith("consistent") and "order" not in estimate["verdict"]


def test_the_rarer_order_decides_how_sure_the_mean_is(make_scores: Any, measure: Any) -> None:
    even, uneven = (row(answers(make_scores, *counts), measure) for counts in ((10, 10), (18, 2)))
    assert uneven["se"] > 1.1 * even["se"]


def test_refusals_in_one_order_move_nothing(make_scores: Any, make_pair: Any, measure: Any) -> None:
    pairs = [
        make_pair(f"{s}.{w}.{k}", 0.3 if k % 3 else None, -0.1, stereotype=f"s{s}",
                variation=f"v{w}", marginalized=f"a{k}", default=f"b{k}", iteration=k)
        for s in range(6) for w in range(2) for k in range(6)
    ]  # fmt: skip
    estimate = row(make_scores(*(trial for pair in pairs for trial in pair)), measure)
    assert estimate["estimate"] == pytest.approx(0.1)
    assert estimate["bound_low"] < 0.1 < estimate["bound_high"]


def test_summaries_of_whole_pairs_are_left_alone(make_scores: Any, make_pair: Any) -> None:
    rng = np.random.default_rng(1)
    pairs = [make_pair(f"p{k}", *rng.uniform(-1, 1, 2), iteration=k) for k in range(9)]
    units = summarise(make_scores(*(trial for pair in pairs for trial in pair)))
    assert units["value"].to_list() == units["mean"].to_list()
    assert units["weight"].to_list() == units["n_scored"].to_list()


SCORED = st.sampled_from([(True, True), (True, False), (False, True)])


@given(scored=st.lists(SCORED, min_size=2, max_size=9), seed=st.integers(0, 99))
def test_whatever_is_missing_the_mean_is_that_of_the_means_in_each_order(
    make_scores: Any, make_pair: Any, scored: list[tuple[bool, bool]], seed: int
) -> None:
    rng, pairs = np.random.default_rng(seed), []
    for k, is_scored in enumerate(scored):
        values = (rng.uniform(-1, 1) if present else None for present in is_scored)
        pairs.append(make_pair(f"p{k}", *values, iteration=k))
    scores = make_scores(*(present for pair in pairs for present in pair))
    units, means = summarise(scores), scores.group_by("order").agg(pl.col("score").mean())["score"]
    weighed = units.select((pl.col("weight") * pl.col("value")).sum() / pl.col("weight").sum())
    assert weighed.item() == pytest.approx(means.drop_nulls().mean(), abs=1e-12)


def test_an_order_that_goes_with_a_wording_is_not_told_from_it(
    make_scores: Any, measure: Any
) -> None:
    scores = answers(make_scores, 6, 6)
    first = pl.col("order") == "marginalized_first"
    confounded = scores.filter(first == (pl.col("variation") == "v0"))
    units = summarise(confounded)
    assert units["value"].to_list() == units["mean"].to_list()
    cells = estimate_measure(confounded, measure).filter(level="cell", method="clustered")
    leaning = cells.filter(~pl.col("verdict").str.contains("^(inconclusive|no verdict)"))["verdict"]
    assert len(leaning) > 6 and leaning.str.ends_with(", for this order").all()


def test_one_order_is_said(make_scores: Any, measure: Any) -> None:
    estimate = row(answers(make_scores, 8, 0), measure)
    assert estimate["verdict"] == "consistent, for this order"
    assert "one order" in estimate["conditional_on"]
    unknown = answers(make_scores, 8, 0).with_columns(order=pl.lit(None, pl.String))
    assert row(unknown, measure)["verdict"] == "consistent"


DECISION = Measure("absolute_decision", "", 0.0, 1.0, 0.5, "", "")

YES = {"default_tied": 0.0, "default_counter": 1.0, "marginalized_tied": 1.0,
       "marginalized_counter": 0.0}  # fmt: skip


def decisions(make_scores: Any, scored: dict[str, int], yes: float = 0.8, seed: int = 0) -> Any:
    """Yes or no to four versions, in so many of 40 draws, by a model that says yes to a share."""
    rng, rows = np.random.default_rng(seed), []
    for k, (version, score) in product(range(40), YES.items()):
        value = score if rng.random() < yes else 1.0 - score
        rows.append(
            {"instrument": DECISION.name, "version": version, "order": None, "pair_id": f"p{k}",
             "variation": f"v{k % 4}", "marginalized": f"a{k % 5}", "default": f"b{k % 3}",
             "iteration": k, "score": value if k < scored[version] else None}
        )  # fmt: skip
    return make_scores(*rows)


def test_a_model_that_says_yes_to_most_and_refuses_about_one_group_has_no_lean(
    make_scores: Any,
) -> None:
    """Once its mean was .56: answers about the group that it refuses less counted for more."""
    few = {v: 14 if v.startswith("marginalized") else 40 for v in YES}
    means = []
    for seed in range(20):
        scores = decisions(make_scores, few, seed=seed)
        version_means = scores.group_by("version").agg(pl.col("score").mean())
        estimate = row(scores, DECISION, "stereotype")
        assert estimate["estimate"] == pytest.approx(version_means["score"].mean())
        means.append(estimate["estimate"])
    assert np.mean(means) == pytest.approx(0.5, abs=0.02)


def test_a_lean_stays_one_where_versions_are_refused(make_scores: Any) -> None:
    """Yes to consistent versions alone."""
    scores = decisions(make_scores, dict.fromkeys(YES, 40) | {"marginalized_tied": 12}, yes=1.0)
    leaning = scores.with_columns(score=pl.when(pl.col("score").is_not_null()).then(1.0))
    assert row(leaning, DECISION, "stereotype")["verdict"].startswith("consistent")


def test_one_version_is_said(make_scores: Any) -> None:
    scores = decisions(make_scores, dict.fromkeys(YES, 40))
    assert "version" not in row(scores, DECISION, "stereotype")["conditional_on"]
    single = row(scores.filter(version="default_counter"), DECISION, "stereotype")
    assert "one version" in single["conditional_on"]
    assert single["verdict"].endswith("for this version")


def test_a_version_without_answers_may_change_the_verdict(make_scores: Any) -> None:
    """A quarter is missing: compliance is below the floor, and bounds are wide."""
    scores = decisions(make_scores, dict.fromkeys(YES, 40) | {"default_tied": 0}, yes=1.0)
    estimate = row(scores, DECISION, "stereotype")
    assert estimate["estimate"] > 0.6  # saying yes to all is part of it
    assert estimate["verdict"].startswith("no verdict") and estimate["bound_ci_low"] < 0.5


@given(answered=st.lists(st.lists(st.booleans(), min_size=4, max_size=4), min_size=2, max_size=6))
def test_whatever_is_missing_the_mean_is_that_of_the_means_in_each_version(
    make_scores: Any, answered: list[list[bool]]
) -> None:
    rng = np.random.default_rng(len(answered))
    rows = [
        {"version": version, "order": None, "pair_id": f"p{k}", "iteration": k,
         "score": rng.uniform(-1, 1) if scored else None}
        for k, flags in enumerate(answered) for version, scored in zip(YES, flags, strict=True)
    ]  # fmt: skip
    scores = make_scores(*rows)
    units, means = (
        summarise(scores),
        scores.group_by("version").agg(pl.col("score").mean())["score"],
    )
    weighed = units.select((pl.col("weight") * pl.col("value")).sum() / pl.col("weight").sum())
    if means.drop_nulls().len():
        assert weighed.item() == pytest.approx(means.drop_nulls().mean(), abs=1e-12)


def test_versions_that_are_conditions_keep_their_weights(make_scores: Any) -> None:
    """A version that names no group and no attribute does not turn the question round."""
    rows = [{"version": "fair" if k < 6 else "plain", "order": None, "iteration": k,
             "score": 0.8 if k < 6 else 0.2} for k in range(8)]  # fmt: skip
    units = summarise(make_scores(*rows))
    assert units["value"].to_list() == units["mean"].to_list()


def runs(make_scores: Any, trial_counts: dict[str, int]) -> Any:
    """A baseline without an effect of order and a candidate with one, both in so many trials."""
    rng, rows = np.random.default_rng(3), []
    for s, w, k in np.ndindex(6, 2, 8):
        for order, number in trial_counts.items():
            half = EFFECT / 2 if order == "marginalized_first" else -EFFECT / 2
            for model, effect in (("old", 0.0), ("new", LEAN + half)):
                is_scored = model == "old" or k < number
                rows.append(
                    {"model": model, "stereotype": f"s{s}", "variation": f"v{w}", "order": order,
                     "marginalized": f"a{k % 3}", "default": f"b{k % 3}", "iteration": k,
                     "pair_id": f"{s}.{w}.{k}", "score": effect + rng.normal(0, 0.05)
                     if is_scored else None, "reason": None if is_scored else "refused"}
                )  # fmt: skip
    return make_scores(*rows)


@pytest.mark.parametrize("compare", [contrast, contrast_unpaired])
@pytest.mark.parametrize("second", [8, 2])
def test_a_difference_is_that_of_the_differences_in_each_order(
    make_scores: Any, measure: Any, compare: Any, second: int
) -> None:
    scores = runs(make_scores, {"marginalized_first": 8, "default_first": second})
    estimates = compare(scores, measure, factor="model", baseline="old").estimates
    rows = estimates.filter(level="model", method="clustered", measure=measure.name)
    (change,) = rows.iter_rows(named=True)
    assert change["estimate"] == pytest.approx(LEAN, abs=0.02)
    assert change["estimate"] == pytest.approx(
        change["candidate_estimate"] - change["baseline_estimate"]
    )
    assert change["ci_low"] < LEAN < change["ci_high"] and change["bound_low"] <= change["estimate"]
    assert "order" not in change["conditional_on"]


@pytest.mark.parametrize("compare", [contrast, contrast_unpaired])
def test_a_difference_in_one_order_says_so(make_scores: Any, measure: Any, compare: Any) -> None:
    scores = runs(make_scores, {"marginalized_first": 8})
    estimates = judge(compare(scores, measure, factor="model", baseline="old").estimates)
    rows = estimates.filter(level="model", method="clustered", measure=measure.name)
    assert rows["conditional_on"].str.contains("one order").all()
    assert rows["verdict"].to_list() == ["higher, for this order"]


def test_effects_of_order_stand_once_where_a_study_has_controls_of_its_own(
    make_scores: Any, make_pair: Any, measure: Any
) -> None:
    """Else a page shows each mean as often as there are kinds of stereotypes."""
    pairs = [
        make_pair(f"{control}{k}", 0.3, 0.1, stereotype=f"s{control}", control=control, iteration=k)
        for control in (None, "positive", "negative")
        for k in range(4)
    ]
    summaries = summarise(make_scores(*(trial for pair in pairs for trial in pair)))
    orders = estimate_summaries(summaries, measure).orders
    assert orders.filter(level="model")["control"].to_list() == [None, "negative", "positive"]
    assert not orders.select(name for name in orders.columns if name in KEYS).is_duplicated().any()
