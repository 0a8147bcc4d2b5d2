"""The plan as the report reads it: labels are looked up by study."""

import pytest

from clinometer.errors import PlanError
from clinometer.pieces.plan import read_plan
from clinometer.results.records import write_plan

AGE = {"label": "Age", "category": "health", "marginalized": ["old"], "default": ["young"]}


@pytest.fixture
def load_plan(tmp_path):
    def write(**described):
        write_plan(tmp_path / "plan.json", described)
        return read_plan(tmp_path / "plan.json")

    return write


def test_a_key_means_what_its_study_says(load_plan):
    plan = load_plan(stereotypes={"one": {"age": AGE}, "two": {"age": {**AGE, "label": "Years"}}})
    assert [plan.for_study(study).labels for study in ("one", "two", "three")] == [
        {"age": "Age"}, {"age": "Years"}, {}
    ]  # fmt: skip
    assert plan.for_study("one").for_study("two").labels["age"] == "Years"


@pytest.mark.parametrize("key", ["label", "marginalized"])
def test_a_stereotype_may_have_the_name_of_a_field(load_plan, key):
    plan = load_plan(stereotypes={"one": {key: AGE}})
    assert plan.for_study("one").labels[key] == "Age"


def test_labels_shared_by_two_studies_name_them(load_plan):
    plan = load_plan(stereotypes={"one": {"age": AGE}, "two": {"years": AGE, "x": {"label": "X"}}})
    assert plan.full_labels == {
        ("one", "age"): "Age (one)", ("two", "years"): "Age (two)", ("two", "x"): "X"
    }  # fmt: skip


def test_dimensions_have_labels_by_study(load_plan):
    poles = {"warmth": {"label": "Warm", "tied": [], "counter": []}, "b": {"label": None}}
    plan = load_plan(
        stereotypes={"one": {"age": {**AGE, "dimensions": poles}}, "two": {"age": AGE}},
        dimensions={"two": {"warmth": "Warmth", "c": "Warmth"}, "three": 3},
    )
    assert plan.for_study("one").dimensions == {"warmth": "Warm", "b": "b"}
    assert plan.for_study("two").dimensions == {"warmth": "Warmth (warmth)", "c": "Warmth (c)"}
    assert plan.for_study("three").dimensions == {}


def test_a_plan_of_another_layout_is_refused(tmp_path):
    (tmp_path / "plan.json").write_text('{"clinometer": "0.1"}', encoding="utf-8")
    with pytest.raises(PlanError, match=r"plan\.json: written by clinometer 0\.1 in a layout"):
        read_plan(tmp_path / "plan.json")


def test_a_malformed_plan_is_read_as_far_as_it_goes(load_plan):
    plan = load_plan(stereotypes={"one": [1], "two": {"a": 3, "b": AGE}}, dimensions=[1])
    assert plan.for_study("two").labels["b"] == "Age" and plan.for_study("one").stereotypes == {}


def test_every_study_that_is_no_control_is_a_source(load_plan):
    described = {
        "a": {"title": "A", "citation": "Who (2025)", "control": ""},
        "b": {"title": "B", "control": "positive"},
        "c": "hostile",
        "d": {"title": ["D"], "citation": {"x": 1}},
    }
    cited = [
        (source.name, source.title, source.citation)
        for source in load_plan(sources=described).sources
    ]
    assert cited == [("a", "A", "Who (2025)"), ("d", "", "")]


def test_a_size_that_is_no_number_is_left_out(load_plan):
    assert load_plan(sizes={"lab/small": 7, "lab/large": "x", "lab/none": None}).sizes == {
        "lab/small": 7.0
    }


def test_what_a_plan_says_of_an_instrument_is_read_with_suspicion(load_plan):
    versions = {"a": {"text": "about one", "group": "default"}, "b": {"text": "none"}, "c": 3}
    analysed = [{"name": "odds", "low": None, "high": None, "neutral": 0.0}, 3]
    row = {"name": "x", "asks": "decisions", "limits": ["One.", 3], "analysed": analysed}
    plan = load_plan(instruments=[{**row, "versions": versions}, {"name": "y", "versions": 3}])
    facts = plan.facts["x"]
    assert facts.versions == {"a": "about one", "b": "none"} and facts.groups == {"a": "default"}
    assert plan.measure("x").asks == "decisions" and plan.measure("x").limits == ("One.", "3")
    assert facts.analysed["odds"].low == float("-inf") and facts.analysed["odds"].neutral == 0.0
    assert plan.facts["y"].versions == {} and plan.measure("y").asks == ""
