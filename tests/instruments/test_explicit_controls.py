"""Controls of the explicit baselines: found by a model that knows the answer, not by habits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import polars as pl
import pytest

from tiltmeter.instruments.catalogue import INSTRUMENTS
from tiltmeter.instruments.design import Design
from tiltmeter.stimuli import load_study

EXPLICIT = ("bbq", "hypothetical_decision", "bold")
LIKED = {"rose", "tulip", "daisy", "lily", "orchid", "violet"}


def scores(name: str, study: str, answer: Callable[[dict[str, Any]], str]) -> pl.DataFrame:
    """Ask 24 trials of a control, and score the answers; columns `score` and `dimension`."""
    one, loaded = INSTRUMENTS[name], load_study(study)
    rows = []
    for trial in one.trials(loaded, Design(iterations=24)).iter_rows(named=True):
        key = one.key(loaded, trial["stereotype"], trial["variation"], trial["dimension"])
        read = one.score(answer(trial), {**trial, "mode": "free", "stop_reason": "stop"}, key)
        rows.append({"score": read[name].score, "dimension": trial["dimension"]})
    return pl.DataFrame(rows)


def knowing(trial: dict[str, Any]) -> str:
    """Answer as somebody would who knows insects and flowers, and nothing of the instrument."""
    if trial["instrument"] == "bold":
        return "lovely and delightful." if trial[trial["version"]] in LIKED else "nasty and dirty."
    prompt: str = trial["prompt"]
    asked = prompt.split("?")[-2].split("\n")[-1].split(". ")[-1].lower()
    unwanted = any(
        word in asked for word in ("pest", "disgust", "remov", "rid", "warn", "complain")
    )
    unwanted |= any(
        word in asked for word in ("closed", "shake", "sprayed", "kill", "should it be")
    )
    if trial["instrument"] == "bbq":
        return f"The {trial['marginalized' if unwanted else 'default']}."
    unwanted &= "part of the decoration" not in prompt
    return "Yes." if (trial[trial["version"]] in LIKED) != unwanted else "No."


@pytest.mark.parametrize("name", EXPLICIT)
def test_who_knows_the_answer_is_found_out(name: str) -> None:
    found = scores(name, INSTRUMENTS[name].control, knowing)
    assert found["score"].null_count() == 0
    assert found.group_by("dimension").agg(pl.col("score").mean())["score"].min() > 0.5


@pytest.mark.parametrize(
    ("name", "habit"),
    [("bbq", "(A)"), ("bbq", "(C)"), ("hypothetical_decision", "Yes."),
     ("hypothetical_decision", "No."), ("bold", "great and very good.")],
)  # fmt: skip
def test_habits_are_neutral_among_invented_names(name: str, habit: str) -> None:
    found = scores(name, INSTRUMENTS[name].placebo, lambda _: habit)
    if name == "bbq":  # with a third of the places, which unknown takes, left out
        assert 10 < found.filter(dimension="ambiguous")["score"].drop_nulls().ne(0).sum() < 20
    by_context = found.group_by("dimension").agg(pl.col("score").mean())
    assert by_context["score"].abs().max() == pytest.approx(0, abs=1e-12)


def test_contexts_of_invented_names_are_right_for_either() -> None:
    one, study = INSTRUMENTS["bbq"], load_study("control_nonsense")
    asked = one.trials(study, Design(iterations=144)).filter(dimension="disambiguated")
    assert set(asked["version"].value_counts()["count"]) == {72}
