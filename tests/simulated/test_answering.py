"""Planted values are found again by asking, reading and scoring, for every instrument and mode."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import polars as pl
import pytest

from clinometer.contracts.catalogue import INSTRUMENTS
from clinometer.contracts.design import Design
from clinometer.contracts.simulation import SimulatedAnswer
from clinometer.scoring import score
from clinometer.simulated.answering import _say
from clinometer.simulated.recognising import Recognition
from clinometer.simulated.tables import answer_trials
from clinometer.simulated.truth import FORMATS, Simulation
from clinometer.simulated.writing import REFUSALS
from clinometer.stimuli import load_study

Plant = Callable[..., Simulation]
STUDIES = {
    "affective_attribution": "mist2025",
    "bbq": "bbq",
    "bold": "control_insects",
    "framings": "framings",
    "emergent": "emergent",
    "even_handed": "shen2025",
    "group_traits": "cao2022",
    "hiring": "hiring",
    "hypothetical_decision": "discrim_eval",
    "matched_guise": "hofmann2024",
    "reasoning_cost": "rmiat2025",
    "twins": "refunds",
}
CASES = [(name, mode) for name, instrument in INSTRUMENTS.items() for mode in instrument.modes]
LEAN = 0.2

#: Its lean is how far it stratifies: no lean has two sides (`tests/instruments/test_emergent.py`).
SINGLE_SIDED = ("emergent",)


def draw_trials(
    name: str, mode: str, iterations: int = 8, stereotypes: str | None = None
) -> pl.DataFrame:
    study = load_study(STUDIES.get(name, "bai2025"))
    return INSTRUMENTS[name].trials(study, Design(mode, iterations), stereotypes=stereotypes)


def scored(trials: pl.DataFrame, planted: Simulation, recognition: Recognition) -> pl.DataFrame:
    responses = answer_trials(trials, planted, recognition)
    return score(responses, load_study(str(trials["study"][0]))).scores


def lean(scores: pl.DataFrame, measure: str) -> tuple[float, float]:
    """Return the mean lean of a measure and its standard error, over pairs of trials."""
    (target,) = (
        m for instrument in INSTRUMENTS.values() for m in instrument.measures if m.name == measure
    )
    scored_rows = scores.filter(instrument=measure).drop_nulls("score")
    half = (target.high - target.low) / 2
    middle = (target.high + target.low) / 2
    pairs = scored_rows.group_by("pair_id").agg(
        n=pl.len(), mean=(pl.col("score").mean() - middle) / half
    )
    mean = float((pairs["mean"] * pairs["n"]).sum() / pairs["n"].sum())
    return mean, float(pairs["mean"].std() or 0.0) / math.sqrt(pairs.height)  # type: ignore[arg-type]


@pytest.mark.parametrize(("name", "mode"), [case for case in CASES if case[0] not in SINGLE_SIDED])
@pytest.mark.parametrize("planted", [LEAN, -LEAN])
def test_a_planted_lean_is_found_again(
    name: str, mode: str, planted: float, plant: Plant, recognition: Recognition
) -> None:
    # In hiring a name has the lean of the placebo, too, and all wordings have the same names.
    few = {"bold": 72, "hypothetical_decision": 72, "bbq": 24, "hiring": 8}
    iterations = few.get(name, 8 if planted > 0 else 2)
    # Controls have leans of their own where none is planted by name.
    study = load_study(STUDIES.get(name, "bai2025"))
    leans = {"stereotype": dict.fromkeys(study.stereotypes, planted)}
    scores = scored(draw_trials(name, mode, iterations), plant(lean=leans, seed=7), recognition)
    assert scores["score"].null_count() == 0
    for measure in INSTRUMENTS[name].measures:
        estimate, se = lean(scores, measure.name)
        expected = 0.0 if measure.name == "reasoning_refusals" else planted
        assert abs(estimate - expected) <= 4 * se + 1e-9, measure.name


@pytest.mark.parametrize(
    "name", ["word_association", "relative_decision", "self_report_agreement", "matched_guise"]
)
@pytest.mark.parametrize("mode", ["free", "forced"])
@pytest.mark.parametrize("planted", [-1.0, 1.0])
def test_the_ends_of_the_scale_are_reached(
    name: str, mode: str, planted: float, plant: Plant, recognition: Recognition
) -> None:
    scores = scored(draw_trials(name, mode, 2), plant(lean={"default": planted}), recognition)
    # An option that is never chosen has a probability next to 0.
    assert lean(scores, name) == (pytest.approx(planted), pytest.approx(0, abs=1e-6))
    assert scores["score"].null_count() == 0


@pytest.mark.parametrize(
    "name",
    [
        n
        for n, instrument in INSTRUMENTS.items()
        if "likelihood" in instrument.modes and n not in SINGLE_SIDED
    ],
)
def test_in_sentences_an_end_that_is_never_chosen_is_unlikely(
    name: str, plant: Plant, recognition: Recognition
) -> None:
    # In hiring the leans of a name add up, so that two of them may cancel.
    stereotypes = "better_resume" if name == "hiring" else None
    trials = draw_trials(name, "likelihood", 2, stereotypes)
    if name == "hiring":  # the ends of a scale do not add up
        trials = trials.filter(dimension="callback")
    study = load_study(STUDIES.get(name, "bai2025"))
    leans = {"stereotype": dict.fromkeys(study.stereotypes, 1.0)}
    scores = scored(trials, plant(lean=leans), recognition)
    assert lean(scores, name)[0] == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize("mode", ["free", "structured", "forced"])
@pytest.mark.parametrize("name", ["word_association", "relative_decision"])
def test_a_habit_of_order_cancels_and_is_seen(
    name: str, mode: str, plant: Plant, recognition: Recognition
) -> None:
    scores = scored(
        draw_trials(name, mode), plant(lean={"default": LEAN}, order=0.4, seed=3), recognition
    )
    estimate, se = lean(scores, name)
    assert abs(estimate - LEAN) <= 4 * se
    first = scores["first_share"].drop_nulls()
    if (name, mode) != ("relative_decision", "forced"):  # the habit cancels in its score
        assert first.mean() == pytest.approx(0.7, abs=0.06)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("name", ["word_association", "relative_decision", "absolute_decision"])
def test_every_single_answer_is_read_as_it_was_meant(
    name: str, form: str, plant: Plant, recognition: Recognition, monkeypatch: pytest.MonkeyPatch
) -> None:
    meant: list[float] = []

    def noted(*arguments: Any) -> SimulatedAnswer:
        meant.append((reply := _say(*arguments)).lean)
        return reply

    monkeypatch.setattr("clinometer.simulated.answering._say", noted)
    (measure,) = INSTRUMENTS[name].measures
    scores = scored(draw_trials(name, "free", 4), plant(format=form), recognition)["score"]
    half, middle = (measure.high - measure.low) / 2, (measure.high + measure.low) / 2
    assert ((scores - middle) / half).to_list() == pytest.approx(meant)


#: Instruments whose words and tasks stand in the form itself: each form is read of every word.
FORMED = ("word_association", "relative_decision")


@pytest.mark.parametrize(
    ("name", "forms"),
    [
        *((name, [form]) for name in FORMED for form in FORMATS),
        *((name, [*FORMATS]) for name in INSTRUMENTS if name not in FORMED),
    ],
)
def test_every_form_of_answer_is_read(
    name: str, forms: list[str], plant: Plant, recognition: Recognition
) -> None:
    trials = draw_trials(name, "free", 2 if name in FORMED else 4)
    scores = scored(trials, plant(format=forms), recognition)
    assert scores["score"].is_not_null().all()


def test_forms_are_drawn_from_a_list(plant: Plant, recognition: Recognition) -> None:
    answers = answer_trials(
        draw_trials("word_association", "free", 2), plant(format=["lines", "table"]), recognition
    )["response"]
    tables = answers.str.contains("|", literal=True).mean()
    assert tables == pytest.approx(0.5, abs=0.15)


@pytest.mark.parametrize(
    ("where", "refused"),
    [("consistent", lambda s: s > 0), ("inconsistent", lambda s: s < 0)],
)
def test_refusals_may_depend_on_the_answer(
    where: str, refused: Callable[[float], bool], plant: Plant, recognition: Recognition
) -> None:
    trials = draw_trials("word_association", "free", 8)
    would = scored(trials, plant(lean={"default": LEAN}), recognition)
    refused_scores = scored(
        trials, plant(lean={"default": LEAN}, refusals={"rate": 1, "where": where}), recognition
    )
    joint = would.join(refused_scores, on="trial_id", suffix="_given")
    for row in joint.iter_rows(named=True):
        assert (row["score_given"] is None) == refused(row["score"])


@pytest.mark.parametrize("name", ["hypothetical_decision", "bbq"])
def test_what_is_refused_as_consistent_leaves_the_others_without_a_lean_too(
    name: str, plant: Plant, recognition: Recognition
) -> None:
    insects = load_study("control_insects")
    trials = INSTRUMENTS[name].trials(insects, Design(iterations=24))
    none = {"stereotype": {"insects": 0}}
    planted = plant(lean=none, refusals={"rate": 1, "where": "consistent"})
    remaining = scored(trials, planted, recognition)["score"].drop_nulls()
    assert remaining.max() <= 0 and remaining.len() > 5  # type: ignore[operator]


@pytest.mark.parametrize("side", ["marginalized", "default"])
def test_refusals_may_depend_on_the_group_named_first(
    side: str, plant: Plant, recognition: Recognition
) -> None:
    planted = plant(refusals={"rate": 1, "where": side})
    scores = scored(draw_trials("word_association", "free", 2), planted, recognition)
    refused = scores.filter(pl.col("score").is_null())
    assert set(refused["order"]) == {f"{side}_first"}
    assert refused.height == scores.height / 2


def test_a_rate_of_refusals_is_kept(plant: Plant, recognition: Recognition) -> None:
    for mode in ("free", "structured", "forced"):
        planted = plant(refusals={"rate": 0.3})
        scores = scored(draw_trials("relative_decision", mode, 8), planted, recognition)
        n = scores.height
        missing = scores["score"].null_count() / n
        # In forced mode a trial has two calls, each refused or not.
        expected = 1 - 0.7**2 if mode == "forced" else 0.3
        assert abs(missing - expected) <= 4 * math.sqrt(expected * (1 - expected) / n)


@pytest.mark.parametrize("text", REFUSALS)
@pytest.mark.parametrize("name", ["word_association", "relative_decision", "self_report_agreement"])
def test_no_refusal_has_a_score_and_each_is_read_as_such(
    name: str, text: str, plant: Plant, recognition: Recognition
) -> None:
    planted = plant(refusals={"rate": 1, "texts": [text]})
    scores = scored(draw_trials(name, "free", 1, stereotypes="age"), planted, recognition)
    assert scores["score"].null_count() == scores.height
    assert set(scores["reason"]) == {"refused"}


def test_a_text_of_ones_own_declines(plant: Plant, recognition: Recognition) -> None:
    planted = plant(refusals={"rate": 1, "texts": ["Nein."]})
    answers = answer_trials(draw_trials("bbq", "free", 2), planted, recognition)
    assert set(answers["response"]) == {"Nein."}


def test_the_same_call_has_the_same_answer_whatever_the_order(
    plant: Plant, recognition: Recognition
) -> None:
    trials, planted = draw_trials("word_association", "free", 2), plant(lean={"default": LEAN})
    forth = answer_trials(trials, planted, recognition)
    back = answer_trials(trials.reverse(), planted, Recognition())
    assert forth.sort("trial_id").equals(back.sort("trial_id"))


def test_another_seed_gives_other_answers(plant: Plant, recognition: Recognition) -> None:
    trials = draw_trials("word_association", "free", 2)
    first, second = (answer_trials(trials, plant(seed=seed), recognition) for seed in (1, 2))
    assert (first["response"] != second["response"]).mean() > 0.9
