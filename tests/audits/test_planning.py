"""What a plan can tell: whose components are used, and which design is best."""

from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

import polars as pl
import pytest

import clinometer as cm
from clinometer.asking.plan import Plan
from clinometer.audits.planning import (
    SEARCHED,
    allocate_plan,
    median_effect,
    planned_scores,
    power_of_plan,
    read_pilot,
    trials_for,
)
from clinometer.audits.sizes import PlanOptions, build_plan, sized_plan
from clinometer.errors import InputError
from clinometer.results import SCORES
from clinometer.results.schemas import ALLOCATION, POWER
from clinometer.statistics.sources import read_sources

AGES = cm.PlanOptions(studies=["bai2025"], stereotypes="age,weight", iterations=2)
FIVE = "age,weight,disability,mentalill,eating"
PLAN = build_plan(["openai/x"], cm.PlanOptions(stereotypes=FIVE))
SHIPPED = cm.reference.load_components()


def test_every_shipped_run_has_all_components():
    for _, run_rows in SHIPPED.group_by("model", "study", "instrument", "mode", "dimension"):
        read_sources(run_rows)


def test_the_components_of_the_same_measure_and_mode_come_first():
    bai_power = cm.power("openai/gpt-4o", size=None, options=AGES)
    assert bai_power.schema == POWER
    assert bai_power["planned_from"][0] == "shipped: gpt-4o, bai2025, word_association, free"
    mist_key = next(iter(cm.load_study("mist2025").stereotypes))
    free = cm.PlanOptions(studies=["mist2025"], stereotypes=mist_key, iterations=2)
    mist_power = cm.power("openai/gpt-4o", size=None, options=free)
    assert mist_power["planned_from"].unique().to_list() == [
        "shipped, nearest: gpt-4o, bai2025, word_association, free"
    ]


def test_beside_arbitrary_words_a_single_word_is_planned_with_what_words_vary_by():
    options = cm.PlanOptions(studies=["bai2025"], stereotypes="age,weight", iterations=4)
    alone, with_placebos = (
        cm.power("openai/gpt-4o", size=None, options=replace(options, controls=controls))
        for controls in (False, True)
    )
    ours = pl.col("control").is_null(), pl.col("stereotype") == "age"
    open_words, placebo_se = (table.filter(*ours)["se"][0] for table in (alone, with_placebos))
    variances = SHIPPED.filter(model="gpt-4o", instrument="word_association")
    words = variances.filter(pl.col("error_source").is_in(["marginalized", "default"]))
    assert placebo_se**2 - open_words**2 == pytest.approx(
        words["relative_variance"].sum(), rel=1e-6
    )


def test_a_pilot_comes_before_what_is_shipped():
    doubled = SHIPPED.filter(model="gpt-4o").with_columns(
        pl.col("relative_variance") * 4, model=pl.lit("m")
    )
    ours, shipped = (
        cm.power("openai/x", size=None, options=AGES, pilot=pilot) for pilot in (doubled, None)
    )
    assert ours["planned_from"][0].startswith("pilot: m")
    assert ours["se"].to_list() == pytest.approx([2 * se for se in shipped["se"]])


def test_more_calls_never_tell_less():
    few, many = (allocate_plan(PLAN, calls, runs=8) for calls in (120, 480))
    assert few.schema == ALLOCATION
    assert few["n_calls"].max() <= 120
    assert many["n_calls"].max() <= 480
    assert many["smallest_effect_model"][0] < few["smallest_effect_model"][0]


def test_where_wordings_differ_more_of_them_are_best_for_the_model():
    source = pl.col("error_source")
    variance = pl.when(source.is_in(["variation", "response"])).then(0.02).otherwise(0.0)
    wordings = SHIPPED.filter(model="gpt-4o").with_columns(relative_variance=variance)
    allocations = allocate_plan(PLAN, 80, wordings, runs=20)
    best = allocations.sort("smallest_effect_model", nulls_last=True)["n_variations"].to_list()
    assert best[:2] == [4, 3]  # of two the test has one degree of freedom


def test_the_median_of_effects_beyond_the_scale_is_none():
    assert median_effect(pl.Series([0.2, 0.3, None])) == 0.3
    assert median_effect(pl.Series([0.2, None, None])) is None


@pytest.mark.parametrize(
    ("calls", "options", "says"),
    [
        (1, AGES, "calls 1: fewer than a mirrored pair"),
        (99, cm.PlanOptions(studies=["bai2025", "mist2025"]), "one study, one instrument"),
    ],
)
def test_what_cannot_be_allocated_is_one_line(calls, options, says):
    with pytest.raises(InputError, match=says):
        cm.allocate("openai/x", calls, options=options)


def test_a_pilot_without_scores_is_one_line():
    with pytest.raises(InputError, match="missing column"):
        read_pilot(pl.DataFrame({"a": [1]}))
    with pytest.raises(InputError, match="no scores"):
        read_pilot(pl.DataFrame(schema=SCORES))


def test_controls_are_planned_too():
    plan = sized_plan("quick", ["openai/x"], cm.PlanOptions(stereotypes="age"))
    planned = power_of_plan(plan, runs=2)
    assert {"positive", "negative", None} == {*planned["control"]}


def test_each_plan_is_counted():
    plan = sized_plan("quick", ["openai/x"], cm.PlanOptions(stereotypes="age"))
    numbers, steps = [], []

    @contextmanager
    def counting(number):
        numbers.append(number)
        yield lambda: steps.append(1)

    power_of_plan(plan, runs=2, counting=counting)
    assert numbers == [len(steps)] == [len([*planned_scores(plan)])]


@pytest.mark.parametrize("make_plan", [build_plan, partial(sized_plan, "quick")])
def test_names_are_a_list_or_a_text(make_plan: Callable[..., Plan]) -> None:
    listed = PlanOptions(instruments=["relative_decision"], stereotypes=["age", "power"])
    text = replace(listed, stereotypes="age,power")
    plans = [make_plan(models=["openai/x"], options=options) for options in (listed, text)]
    assert plans[0].identity() == plans[1].identity()


def test_what_a_design_is_predicted_to_find_takes_no_more_trials_than_it_has():
    options = PlanOptions(stereotypes="age,black,science", iterations=12)
    plan = build_plan(["openai/gpt-4o"], options)
    smallest = median_effect(power_of_plan(plan).filter(level="stereotype")["smallest_effect"])
    rows = trials_for(plan, 1.05 * smallest).filter(level="stereotype")
    assert rows["n_iterations"].item() <= 12


def test_a_larger_effect_takes_fewer_trials_and_they_do_find_it() -> None:
    options = PlanOptions(
        instruments=["relative_decision"],
        stereotypes="racism,guilt,skintone,black,science,career,power,age,weight,disability",
    )
    plan = build_plan(["openai/gpt-4o"], options)
    small, large = (
        {row["level"]: row for row in trials_for(plan, effect).iter_rows(named=True)}
        for effect in (0.3, 0.5)
    )
    levels = ("model", "category", "stereotype")
    assert tuple(small) == levels
    assert all(large[level]["n_iterations"] <= small[level]["n_iterations"] for level in levels)
    assert small["model"]["n_iterations"] <= small["stereotype"]["n_iterations"]
    for row in (small["category"], large["category"]):
        planned = build_plan(["openai/gpt-4o"], replace(options, iterations=row["n_iterations"]))
        smallest = power_of_plan(planned, runs=SEARCHED).filter(level="category")["smallest_effect"]
        # Interpolated between sizes, and drawn anew.
        assert median_effect(smallest) <= 1.05 * row["effect"]
        assert row["n_trials"] == row["n_calls"] == planned.trials().height and row["usd"] > 0


def test_what_no_number_of_trials_finds_is_null() -> None:
    plan = build_plan(["openai/gpt-4o"], PlanOptions(stereotypes="age,power,science"))
    rows = trials_for(plan, 0.05).filter(level="stereotype")
    assert rows["n_iterations"].to_list() == [None] and rows["usd"].to_list() == [None]


@pytest.mark.parametrize("effect", [0.0, -0.1])
def test_an_effect_is_a_distance(effect: float) -> None:
    plan = build_plan(["openai/gpt-4o"], PlanOptions(stereotypes="age"))
    with pytest.raises(InputError, match="above 0"):
        trials_for(plan, effect)


def test_controls_of_a_study_have_the_trials_that_a_size_has_for_controls() -> None:
    options = PlanOptions(instruments=["emergent"], modes=["structured"])
    plan = sized_plan("quick", ["simulated/neutral"], options)
    trials = {key: part.iterations for part in plan.selections for key in part.stereotypes}
    assert (trials["harbour"], trials["own_skills"], trials["dealt_names"]) == (2, 6, 4)
    # A size without a number for them asks them as the stereotypes, and a user's number is theirs.
    standard = sized_plan("standard", ["simulated/neutral"], options)
    assert {part.iterations for part in standard.selections} == {6}
    sized = sized_plan("quick", ["simulated/neutral"], replace(options, iterations=4))
    assert {part.iterations for part in sized.selections} == {4}
