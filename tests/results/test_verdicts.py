"""The rule that gives the verdict, and the positive control that withdraws one."""

from __future__ import annotations

import itertools
from typing import Any

import polars as pl
import pytest

from clinometer.results import ESTIMATES, Measure, as_estimates
from clinometer.results.controls import controls_of
from clinometer.results.judging import judge
from clinometer.results.verdicts import (
    BECAUSE,
    DOUBTS,
    PRINTED_CHANGES,
    VERDICTS,
    verdict_kind,
)

ABOVE = Measure("word_association", "", -1, 1, 0, "", "")
DECISION = Measure("relative_decision", "", 0, 1, 0.5, "", "")

#: A mean whose tests show neither a lean nor its absence.
ROW: dict[str, Any] = {
    "model": "m",
    "study": "s",
    "instrument": "word_association",
    "measure": "word_association",
    "level": "stereotype",
    "mode": "free",
    "intervention": "none",
    "method": "clustered",
    "range": "other_prompts",
    "estimate": 0.3,
    "n_scored": 20,
    "compliance": 1.0,
    "p": 0.2,
    "p_bonferroni": 0.2,  # decides on differences
    "p_bh": 0.2,  # decides on means
    "adjusted_over": "the stereotypes of a model",
    "confidence": 0.95,
    "ci_low": -0.5,
    "ci_high": 0.5,
    "tost_margin": 0.1,
}
LEAN = {"p_bonferroni": 0.01, "p_bh": 0.01}
WITHIN = {"ci_low": -0.08, "ci_high": 0.08}
EQUIVALENT = {**WITHIN, "estimate": 0.0}
DIFFERENCE = {"factor": "intervention", "baseline": "none", "candidate": "kind",
              "tost_margin": None, "compliance": None}  # fmt: skip


def judged(*rows: dict[str, Any], measure: Measure = ABOVE, **options: Any) -> pl.DataFrame:
    labels = {"measure": measure.name, "instrument": measure.name}
    return judge(as_estimates([{**ROW, **labels, **row} for row in rows], {measure.name: measure}),
                 **options)  # fmt: skip


def verdict(measure: Measure = ABOVE, **row: Any) -> str | None:
    """The verdict of one row alone."""
    return judged(row, measure=measure)["verdict"].item()


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({}, "inconclusive"),
        (LEAN, "consistent"),
        ({**LEAN, "estimate": -0.3}, "reversed"),
        ({**LEAN, **WITHIN, "estimate": 0.05}, "consistent, within margin"),
        ({**LEAN, **WITHIN, "estimate": -0.05}, "reversed, within margin"),
        ({**LEAN, "bound_ci_low": -0.1, "bound_ci_high": 0.5}, "consistent, scored answers only"),
        ({**LEAN, **WITHIN, "estimate": -0.3, "bound_ci_low": -0.5, "bound_ci_high": 0.1},
         "reversed, scored answers only"),
        ({**LEAN, "bound_ci_low": 0.1, "bound_ci_high": 0.5}, "consistent"),
        (EQUIVALENT, "no verdict: positive control"),
        ({**LEAN, "compliance": 0.79}, "no verdict: compliance"),
        ({**LEAN, "compliance": 0.8}, "consistent"),
        ({"p": None, "p_bh": None, "ci_low": None, "ci_high": None},
         "no verdict: one cluster"),
        ({"n_scored": 0, "compliance": 0.0, "estimate": None, "p": None},
         "no verdict: nothing scored"),
        ({"p_bh": 0.051}, "inconclusive"),
        ({"p_bh": 0.08, "confidence": 0.9}, "consistent"),
        ({"p": 0.01}, "inconclusive"),  # p counts once it is adjusted
        ({"p_bonferroni": 0.01}, "inconclusive"),
    ],
)  # fmt: skip
def test_the_verdict_on_a_mean(row: dict[str, Any], expected: str) -> None:
    assert verdict(**row) == expected


def test_the_side_is_told_from_neutral() -> None:
    assert verdict(DECISION, **LEAN, estimate=0.4) == "reversed"
    assert verdict(DECISION, **LEAN, estimate=0.6) == "consistent"


@pytest.mark.parametrize(("estimate", "expected"), [(-0.3, "consistent"), (0.3, "reversed")])
def test_direction_below_turns_the_verdict(estimate: float, expected: str) -> None:
    assert verdict(**LEAN, estimate=estimate, direction="below") == expected
    within = {**LEAN, **WITHIN, "estimate": estimate / 6}
    assert verdict(**within, direction="below") == f"{expected}, within margin"


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({}, "inconclusive"),
        (LEAN, "higher"),
        ({**LEAN, "estimate": -0.3}, "lower"),
        ({**LEAN, "estimate": -0.3, "direction": "below"}, "lower"),
        ({"p": None, "p_bonferroni": None}, "no verdict: one cluster"),
        ({"n_scored": 0, "estimate": None, "p": None}, "no verdict: nothing scored"),
        ({"p": 0.001, "p_bonferroni": None, "adjusted_over": None}, None),
    ],
)
def test_the_verdict_on_a_comparison(row: dict[str, Any], expected: str | None) -> None:
    assert verdict(**{**DIFFERENCE, **row}) == expected


@pytest.mark.parametrize("method", ["published", "bootstrap", "descriptive", "mixed"])
def test_other_methods_are_not_judged(method: str) -> None:
    for row in ({}, DIFFERENCE):
        assert judged({**row, **LEAN, "method": method}).select("verdict", "because").rows() == [
            (None, None)
        ]


def test_what_has_no_margin_and_no_baseline_is_not_judged() -> None:
    assert verdict(**LEAN, tost_margin=None) is None


def test_the_compliance_floor_is_a_setting() -> None:
    assert judged({**LEAN, "compliance": 0.6}, compliance_floor=0.5)["verdict"].item() == (
        "consistent"
    )


# Nothing missing clears a model


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [(-0.05, 0.05, "equivalent"), (-0.05, 0.2, "no verdict: missing answers"),
     (-0.2, 0.05, "no verdict: missing answers")],
)  # fmt: skip
def test_near_neutral_needs_the_worst_that_missing_answers_could_be(
    low: float, high: float, expected: str
) -> None:
    missing = {"n": 22, "bound_ci_low": low, "bound_ci_high": high}
    assert equivalent_verdicts(missing) == [expected]
    assert equivalent_verdicts({**missing, "n": 20}) == ["equivalent"]


def test_a_lean_is_within_the_margin_only_where_missing_answers_cannot_change_it() -> None:
    lean = {**LEAN, **WITHIN, "estimate": 0.05, "bound_ci_low": 0.01, "n": 22}
    assert equivalent_verdicts({**lean, "bound_ci_high": 0.09}) == ["consistent, within margin"]
    assert equivalent_verdicts({**lean, "bound_ci_high": 0.3}) == ["consistent"]


@pytest.mark.parametrize("doubt", ["no verdict: unfinished run",
                                   "no verdict: several models served"])  # fmt: skip
def test_no_doubtful_model_is_called_near_neutral(doubt: str) -> None:
    rows = [PASSES, EQUIVALENT, {**EQUIVALENT, "model": None, "level": "overall"}, LEAN]
    verdicts = judged(*rows, doubts={"m": doubt})["verdict"].to_list()
    assert verdicts[1:] == [doubt, doubt, "consistent"]
    second_model = {**PASSES, "model": "n"}, {**EQUIVALENT, "model": "n"}
    assert judged(*second_model, doubts={"m": doubt})["verdict"].to_list()[1:] == ["equivalent"]


# Controls

CONTROL = {"study": "control_insects", "control": "positive"}
PASSES = {**CONTROL, "ci_low": 0.11, "ci_high": 0.5}
STRADDLES = {**CONTROL, "ci_low": 0.0, "ci_high": 0.5}
FAILS = {**CONTROL, "ci_low": -0.1, "ci_high": 0.09}
PLACEBO = {"study": "control_nonsense", "control": "negative", "ci_low": -0.09, "ci_high": 0.08}
WIDE = {**PLACEBO, "ci_low": -0.2, "ci_high": 0.3}
EFFECT = {**WIDE, **LEAN, "ci_low": 0.02}
WITHDRAWN = "no verdict: positive control"


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        (PASSES, "passed"),
        ({**PASSES, "ci_low": 0.1}, "not known: too few trials"),
        (STRADDLES, "not known: too few trials"),
        (FAILS, "failed"),
        ({**CONTROL, "ci_low": 0.01, "ci_high": 0.09, **LEAN}, "failed"),
        ({**PASSES, "ci_low": -0.5, "ci_high": -0.11}, "failed"),
        ({**PASSES, "bound_ci_low": 0.05}, "not known: too few trials"),
        ({**PASSES, "compliance": 0.7}, "not known: compliance"),
        ({**PASSES, "p": None}, "not known: one cluster"),
        ({**PASSES, "n_scored": 0, "p": None}, "not known: nothing scored"),
        (PLACEBO, "passed"),
        (WIDE, "not known: too few trials"),
        ({**WIDE, "control": "words"}, "passed"),
        (EFFECT, "failed"),
        ({**EFFECT, "control": "words"}, "failed"),
        ({**EFFECT, "ci_high": 0.09}, "passed"),
        ({**PLACEBO, "compliance": 0.7}, "not known: compliance"),
        ({**PLACEBO, "n_scored": 0, "p": None}, "not known: nothing scored"),
    ],
)
def test_one_rule_for_controls(row: dict[str, Any], expected: str) -> None:
    assert verdict(**row) == expected


def test_a_control_of_a_measure_below_neutral_is_mirrored() -> None:
    below = {"direction": "below", "ci_low": -0.5}
    assert verdict(**{**PASSES, **below, "ci_high": -0.11}) == "passed"
    assert verdict(**{**PASSES, **below, "ci_high": -0.09}) == "not known: too few trials"
    assert verdict(**{**PASSES, "direction": "below"}) == "failed"


def equivalent_verdicts(*rows: dict[str, Any], control: dict[str, Any] | None = None) -> list[str]:
    """The verdicts of rows whose estimate is near neutral, beside a control."""
    judgements = judged(control or PASSES, *({**EQUIVALENT, **row} for row in rows))
    return judgements["verdict"].to_list()[1:]


@pytest.mark.parametrize(
    "control",
    [FAILS, STRADDLES, {**PASSES, "compliance": 0.1}, {**PASSES, "p": None},
     {**PASSES, "n_scored": 0, "p": None}, PLACEBO],
)  # fmt: skip
def test_equivalent_needs_a_positive_control_that_passed(control: dict[str, Any]) -> None:
    assert equivalent_verdicts({}, control=control) == [WITHDRAWN]
    assert equivalent_verdicts({}) == ["equivalent"]


def test_things_have_the_verdict_of_a_mean_and_vouch_for_nothing() -> None:
    things = {**LEAN, "control": "things"}
    assert judged(PASSES, things, EQUIVALENT)["verdict"].to_list() == [
        "passed", "consistent", "equivalent"
    ]  # fmt: skip
    near = {**EQUIVALENT, "control": "things"}
    assert judged(near, EQUIVALENT)["verdict"].to_list() == [WITHDRAWN, WITHDRAWN]


def test_equivalent_needs_every_control_that_was_asked() -> None:
    verdicts = judged(PASSES, {**FAILS, "stereotype": "b"}, EQUIVALENT)["verdict"].to_list()
    assert verdicts[-1] == WITHDRAWN
    placebos = {
        "equivalent": [PLACEBO, {**EFFECT, "control": "words"}],
        "no verdict: placebo": [EFFECT, WIDE],
    }
    for expected, rows in placebos.items():
        for placebo in rows:
            assert judged(PASSES, placebo, EQUIVALENT)["verdict"].to_list()[-1] == expected


def test_a_placebo_passes_within_the_smallest_lean_that_is_told() -> None:
    """What is claimed is a lean of .5, of .3, or none: then the margin, .1."""
    large, smaller = ({**LEAN, "estimate": lean, "ci_low": lean - 0.1} for lean in (0.5, 0.3))
    too_few = "not known: too few trials"
    wide = {**WIDE, "ci_high": 0.35}
    for leans, expected in (([large], "passed"), ([large, smaller], too_few), ([{}], too_few)):
        assert judged(wide, *leans)["verdict"][0] == expected
    # Of what it does not speak for, or where other words are open, nothing counts.
    for aside in ({"model": "n"}, {"mode": "forced"}, {"range": "prompts"},
                  {"conditional_on": "one wording, one default word"}):  # fmt: skip
        assert judged(wide, large, {**smaller, **aside})["verdict"][0] == "passed"
    # Nothing is near neutral that the placebo may hide, though it passed for the lean.
    assert judged(PASSES, wide, large, EQUIVALENT)["verdict"][3] == "no verdict: placebo"


def test_a_control_speaks_for_its_construct() -> None:
    pleasant, danger = ({**PASSES, "construct": name} for name in ("pleasantness", "danger"))
    fails = {**FAILS, "construct": "danger"}
    rows = [{"construct": "pleasantness"}, {"construct": "danger"}, {}]

    def verdicts(*controls: dict[str, Any]) -> list[str]:
        near = ({**EQUIVALENT, **row} for row in rows)
        return judged(*controls, *near)["verdict"].to_list()[len(controls) :]

    assert verdicts(pleasant, danger) == ["equivalent"] * 3
    assert verdicts(pleasant, fails) == ["equivalent", WITHDRAWN, WITHDRAWN]
    assert verdicts(pleasant) == ["equivalent", WITHDRAWN, "equivalent"]
    assert verdicts(PASSES) == ["equivalent"] * 3  # it states no construct
    assert verdicts({**FAILS}, pleasant) == [WITHDRAWN] * 3


def test_a_mean_needs_the_controls_of_all_that_is_in_it() -> None:
    pleasant = {**PASSES, "construct": "pleasantness"}
    fails = {**FAILS, "construct": "danger"}
    stereotypes = [
        {**EQUIVALENT, "construct": "pleasantness", "category": "age", "stereotype": "old"},
        {**EQUIVALENT, "construct": "danger", "category": "race", "stereotype": "weapon"},
    ]
    pooled = {**EQUIVALENT, "stereotype": None}
    means = [{**pooled, "level": "category", "category": name} for name in ("age", "race")]
    means += [{**pooled, "level": "model", "category": None}]
    verdicts = judged(pleasant, fails, *stereotypes, *means)["verdict"].to_list()[2:]
    assert verdicts == ["equivalent", WITHDRAWN] * 2 + [WITHDRAWN]


@pytest.mark.parametrize(
    ("column", "label"),
    [("model", "n"), ("instrument", "other"), ("mode", "forced"), ("intervention", "kind"),
     ("word_list", "as_released"), ("scoring", "published")],
)  # fmt: skip
def test_a_control_speaks_for_its_own_model_and_way_of_asking(column: str, label: str) -> None:
    assert equivalent_verdicts({}, {column: label}) == ["equivalent", WITHDRAWN]


@pytest.mark.parametrize("column", ["study", "category", "stereotype", "dimension", "level"])
def test_a_control_speaks_for_every_study_dimension_and_level(column: str) -> None:
    assert equivalent_verdicts({column: "other"}) == ["equivalent"]
    assert equivalent_verdicts({column: "other"}, control=FAILS) == [WITHDRAWN]


def test_a_control_with_a_dimension_speaks_for_that_one() -> None:
    rows = [{"dimension": "ambiguous"}, {"dimension": "disambiguated"}]
    control = {**PASSES, "dimension": "ambiguous"}
    assert equivalent_verdicts(*rows, control=control) == ["equivalent", WITHDRAWN]
    overall = {**EQUIVALENT, "level": "overall", "model": None}
    judgements = judged(control, *({**overall, **row} for row in rows))
    assert judgements["verdict"].to_list()[1:] == ["equivalent", WITHDRAWN]


def test_a_control_in_the_wordings_of_a_study_speaks_for_that_study() -> None:
    within = {**PASSES, "study": "mine"}
    rows = [{"study": "mine"}, {"study": "other"}]
    assert equivalent_verdicts(*rows, control=within) == ["equivalent", WITHDRAWN]
    # One study beside a control study: what fails in it says nothing of the other.
    fails = {**FAILS, "study": "mine"}
    verdicts = judged(PASSES, fails, *({**EQUIVALENT, **row} for row in rows))["verdict"].to_list()
    assert verdicts[2:] == [WITHDRAWN, "equivalent"]


def test_the_controls_of_what_was_asked_are_those_that_speak_for_it() -> None:
    within = {**PASSES, "study": "mine"}
    rows = judged(within, {**EQUIVALENT, "study": "mine"}, {**EQUIVALENT, "study": "other"})
    for study, positive in (("mine", "passed"), ("other", "not asked")):
        study_rows = rows.filter(pl.col("control").is_null(), study=study)
        outcomes = [(control.kind, control.outcome) for control in controls_of(rows, study_rows)]
        assert outcomes == [("positive", positive), ("negative", "not asked")]
    main_rows = rows.filter(pl.col("control").is_null())
    kinds = [(control.kind, control.outcome) for control in controls_of(rows, main_rows)]
    assert kinds[:2] == [("positive", "not asked"), ("positive", "passed")]


def test_of_the_controls_those_count_whose_construct_is_decided_about() -> None:
    controls = [{**PASSES, "construct": "pleasantness"}, {**FAILS, "construct": "danger"}]
    stereotypes = [
        {**LEAN, "construct": "pleasantness", "category": "age", "stereotype": "old"},
        {**LEAN, "construct": "danger", "category": "race", "stereotype": "weapon"},
        {**LEAN, "construct": None, "category": "health", "stereotype": "ill"},
    ]
    pooled = {**LEAN, "stereotype": None, "construct": None}
    means = [{**pooled, "level": "category", "category": name} for name in ("age", "race")]
    means += [{**pooled, "level": "model", "category": None}]
    rows = judged(*controls, *stereotypes, *means)

    def positive(*decided: int) -> list[str]:
        """Return the outcomes of positive controls where some of the rows are decided about."""
        decided_rows = rows[[place + len(controls) for place in decided]]
        return [c.outcome for c in controls_of(rows, decided_rows) if c.kind == "positive"]

    assert positive(0) == positive(3) == ["passed"]
    assert positive(1) == positive(4) == ["failed"]
    assert positive(0, 1) == positive(2) == positive(5) == ["passed", "failed"]


def test_only_equivalent_is_withdrawn() -> None:
    rows = [LEAN, {**LEAN, "estimate": -0.3}, {}, {**LEAN, **WITHIN}]
    verdicts = judged(FAILS, *rows)["verdict"].to_list()[1:]
    assert verdicts == ["consistent", "reversed", "inconclusive", "consistent, within margin"]


def test_one_model_that_fails_speaks_for_all_models_together() -> None:
    overall = {**EQUIVALENT, "level": "overall", "model": None}
    passes = {**PASSES, "model": "n"}
    judgements = judged(FAILS, passes, {**EQUIVALENT, "model": "n"}, overall)
    assert judgements["verdict"].to_list()[2:] == ["equivalent", WITHDRAWN]
    pooled = judged(PASSES, passes, overall, {**overall, "mode": "forced"})
    assert pooled["verdict"].to_list()[2:] == ["equivalent", WITHDRAWN]


@pytest.mark.parametrize("row", [{"control": None}, {"level": "cell"}, {"level": "model"},
                                 {"method": "published"}])  # fmt: skip
def test_what_is_no_positive_control_shows_nothing(row: dict[str, Any]) -> None:
    assert equivalent_verdicts({}, control={**PASSES, **row}) == [WITHDRAWN]


# What is said of verdicts


def test_the_verdicts_given_are_those_explained() -> None:
    """Every verdict can be reached, and no other."""
    values: dict[str, tuple[Any, ...]] = {
        "n_scored": (0, 5),
        "compliance": (0.5, 1.0),
        "p": (None, 0.01),
        "p_bonferroni": (0.01, 0.2),
        "p_bh": (0.01, 0.2),
        "ci_low": (-0.08, -0.2),
        "estimate": (-0.1, 0.1),
        "bound_ci_low": (None, -0.1),
        "factor": (None, "intervention"),
        "model": ("m", "fails", "effect", "unfinished", "served"),
    }
    rows = [dict(zip(values, row, strict=True)) for row in itertools.product(*values.values())]
    rows = [
        {**row, "bound_ci_high": row["bound_ci_low"] and 0.2, "tost_margin": margin, **interval}
        for row in rows
        for low, high, margin in (
            *((-0.3, 0.3, None), (-0.3, 0.3, 0.1), (-0.05, 0.05, 0.1)),
            *((-0.2, -0.05, 0.1), (0.05, 0.2, 0.1)),
        )
        for interval in (
            {
                f"{name}_{end}": value
                for name in ("ci", "pointwise")
                for end, value in (("low", low), ("high", high))
            },
        )
        if margin or row["factor"]
    ]
    sound = [{**PASSES, "model": model} for model in ("m", "effect")]
    unsound = [{**FAILS, "model": "fails"}, {**EFFECT, "model": "effect"}, STRADDLES]
    unsound += [{**STRADDLES, **row} for row in ({"n_scored": 0}, {"compliance": 0.0}, {"p": None})]
    unsound = [{**row, "model": row.get("model", "other")} for row in unsound]
    missing = {**EQUIVALENT, "n": 30, "bound_ci_low": -0.5, "bound_ci_high": 0.5}
    doubts = dict(zip(("unfinished", "served"), DOUBTS, strict=True))
    judgements = judged(*sound, *unsound, missing, *rows, doubts=doubts)
    assert {*judgements["verdict"], *PRINTED_CHANGES} == set(VERDICTS) == set(BECAUSE)
    assert judgements.schema == ESTIMATES
    reasons = judgements.select("verdict", "because").unique()
    assert dict(reasons.iter_rows()).items() <= BECAUSE.items()
    assert reasons.height == len(BECAUSE) - len(PRINTED_CHANGES)


@pytest.mark.parametrize(
    ("verdict", "kind"),
    [("consistent, within margin", "consistent"), ("no verdict: compliance", "no verdict"),
     ("equivalent", "equivalent"), (None, None)],
)  # fmt: skip
def test_the_kind_of_a_verdict_leaves_its_reason_out(verdict: str | None, kind: str | None) -> None:
    frame = pl.DataFrame({"verdict": [verdict]}, schema={"verdict": pl.String})
    assert frame.select(verdict_kind(pl.col("verdict"))).item() == kind
