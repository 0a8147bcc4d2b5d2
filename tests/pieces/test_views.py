"""The name of a mode tells apart what no table pools over."""

import polars as pl
import pytest

from clinometer.pieces.frames import in_order, name_rows
from clinometer.pieces.plan import Labels, PlanFacts, Stimuli
from clinometer.report.answers.reading import varying_factors

PLAN = PlanFacts(
    modes=("free", "forced"),
    interventions=(("none", ""), ("fair", "Be fair.")),
    studies={"mist2025": Stimuli(dimensions=Labels(warm="Warmth", able="Ability"))},
)
ROW = {"model": "m", "study": "mist2025", "mode": "forced", "dimension": "able",
       "intervention": "none", "word_list": "plain", "scoring": "exact"}  # fmt: skip


def frame(*changes):
    return pl.DataFrame([{**ROW, **change} for change in changes])


@pytest.mark.parametrize(
    ("change", "mode", "control"),
    [
        ({}, "forced, Ability", "forced"),
        ({"dimension": None}, "forced", "forced"),
        ({"study": "other"}, "forced, able", "forced"),
        ({"intervention": "fair"}, "forced, Ability, fair", "forced, fair"),
        ({"word_list": "as_released"}, "forced, Ability, as_released", "forced, as_released"),
    ],
)
def test_a_mode_is_named_with_its_dimension_and_a_control_without(change, mode, control):
    factors = ["intervention", "word_list"]
    names = name_rows(frame(change), factors, PLAN).row(0, named=True)
    if "word_list" not in change:
        mode, control = (f"{mode}, plain", f"{control}, plain")
    assert (names["mode"], names["control_mode"], names["plain_mode"]) == (mode, control, "forced")


def test_only_what_differs_is_named():
    assert varying_factors(frame({}, {"scoring": "published"}, {"word_list": None})) == ["scoring"]


def test_modes_then_dimensions_then_system_prompts():
    rows = frame({}, {"dimension": "warm", "intervention": "fair"}, {"dimension": "warm"},
                 {"mode": "free"})  # fmt: skip
    ordered = in_order(name_rows(rows, ["intervention"], PLAN), PLAN.for_study("mist2025"))
    assert ordered["mode"].to_list() == [
        "free, Ability", "forced, Warmth", "forced, Warmth, fair", "forced, Ability"
    ]  # fmt: skip
