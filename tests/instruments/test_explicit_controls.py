"""Controls of the explicit baselines: general knowledge passes them, a habit does not."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import polars as pl
import pytest

from clinometer.audits.tabulating import estimate
from clinometer.contracts.catalogue import INSTRUMENTS
from clinometer.contracts.design import Design
from clinometer.instruments.bbq import items_of
from clinometer.scoring import score
from clinometer.stimuli import load_study

EXPLICIT = ("bbq", "hypothetical_decision", "bold")
FLOWERS = load_study("control_insects").stereotypes["insects"].words("").default
ITEMS = items_of(load_study("control_nonsense"))

#: Words of the prompts, by which a reader knows that something unpleasant is asked.
UNPLEASANT = re.compile(
    r"a pest|unpleasant\?|out of their homes\?|rid of\?|"
    r"get rid of it|pest control|spray|complain|report a problem"
)

Answer = Callable[[Mapping[str, Any]], str]


def knowing(trial: Mapping[str, Any]) -> str:
    """Answer from general knowledge, by what the prompt says."""
    question = re.sub(r"^.*(?=Which of)", "", trial["prompt"], flags=re.DOTALL)
    unpleasant = bool(UNPLEASANT.search(question))
    if trial["instrument"] == "bbq":
        return f"The {trial['marginalized' if unpleasant else 'default'].removeprefix('The ')}"
    flower = trial[trial["version"]] in FLOWERS
    if trial["instrument"] == "bold":
        return "lovely and delightful." if flower else "nasty and dirty."
    return "Yes." if flower != unpleasant else "No."


def careful(trial: Mapping[str, Any]) -> str:
    """Answer what the context says, and nothing else."""
    item = ITEMS[trial["attributes"][0]]
    return item.options[item.label]


def choose_first(trial: Mapping[str, Any]) -> str:
    """Answer what the context names first."""
    persons = [trial[group] for group in ("marginalized", "default")]
    return min(persons, key=lambda person: trial["prompt"].index(person.removeprefix("The ")))


def verdicts(name: str, kind: str, answer: Answer) -> pl.DataFrame:
    """Ask a control or placebo as a quick audit does; gives the estimates of its stereotype."""
    instrument = INSTRUMENTS[name]
    study, size = load_study(getattr(instrument, kind)), instrument.sizes["quick"]
    trials = instrument.trials(study, Design(iterations=getattr(size, kind)))
    answered = trials.with_columns(
        response=pl.Series([answer(trial) for trial in trials.iter_rows(named=True)]),
        model=pl.lit("m"),
        stop_reason=pl.lit("stop"),
        error=pl.lit(None, pl.String),
    )
    rows = estimate(score(answered, study))
    return rows.filter(level="stereotype", method="clustered", measure=name)


@pytest.mark.parametrize("name", EXPLICIT)
def test_general_knowledge_passes_a_quick_positive_control(name: str) -> None:
    judged = verdicts(name, "control", knowing)
    assert judged["compliance"].to_list() == [1.0] * judged.height
    assert set(judged["verdict"]) == {"passed"}
    assert (judged["ci_low"] > judged["tost_margin"]).all()


HABITS: list[tuple[str, Answer]] = [
    *(("bbq", lambda _, letter=letter: f"({letter})") for letter in "ABC"),
    ("bbq", choose_first),
    *(("hypothetical_decision", lambda _, word=word: word) for word in ("Yes.", "No.")),
    ("bold", lambda _: "great and very good."),
]


@pytest.mark.parametrize("kind", ["control", "placebo"])
@pytest.mark.parametrize(("name", "habit"), HABITS)
def test_a_habit_is_neutral_in_both_controls(name: str, habit: Answer, kind: str) -> None:
    judged = verdicts(name, kind, habit)
    assert judged["estimate"].to_list() == pytest.approx([0.0] * judged.height, abs=1e-12)


def test_a_careful_reader_of_invented_names_is_neutral() -> None:
    judged = verdicts("bbq", "placebo", careful)
    assert judged["estimate"].to_list() == [0.0, 0.0]
    assert judged["compliance"].to_list() == [1.0, 1.0]


def test_questions_of_the_controls_are_balanced() -> None:
    kinds = pl.DataFrame(
        {
            "category": item.category,
            "polarity": item.polarity,
            "context": item.context_kind,
            "right": item.role(item.label),
            "target": item.target,
            "first": _names_first(item.context, item.options[item.marginalized]),
        }
        for item in ITEMS.values()
    )
    counts = kinds.group_by("category", "context", "right").len()
    assert set(counts.rows()) == {
        ("Insects", "ambiguous", "unknown", 96),
        ("Insects", "disambiguated", "target", 96),
        ("Invented", "ambiguous", "unknown", 96),
        ("Invented", "disambiguated", "target", 48),
        ("Invented", "disambiguated", "other", 48),
    }
    alike = kinds.group_by("category", "polarity", "context", "right")
    assert (alike.agg(pl.col("first").mean())["first"] == 0.5).all()
    assert set(kinds["target"].value_counts()["count"]) == {128}


def _names_first(context: str, option: str) -> bool:
    return re.findall(r"\b(?:an?|about the) (\w+) and ", context) == [option.removeprefix("The ")]
