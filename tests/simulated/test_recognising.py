"""Every prompt that is drawn is recognised by its text alone."""

from __future__ import annotations

import random
from contextlib import suppress
from functools import cache
from typing import Any

import polars as pl
import pytest

from clinometer.contracts.catalogue import INSTRUMENTS
from clinometer.contracts.design import Design
from clinometer.errors import ClinometerError
from clinometer.modes.likelihood import OPTION, Texts
from clinometer.simulated.recognising import Recognition
from clinometer.stimuli import load_study, parse_study

#: Instruments that can be asked of the studies that come with Clinometer, and a study of each.
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


@cache
def draw_trials(name: str, mode: str, **design: Any) -> pl.DataFrame:
    study = load_study(STUDIES.get(name, "bai2025"))
    instrument, parts = INSTRUMENTS[name], list[pl.DataFrame]()
    for variation in instrument.variations(study):
        with suppress(ClinometerError):  # a wording of recorded answers
            parts.append(
                instrument.trials(study, Design(mode, 2, **design), variations=[variation])
            )
    return pl.concat(parts)


def prompt(row: dict[str, Any]) -> str:
    if OPTION in row["prompt"]:
        return Texts.from_trial(row).beginnings[0]
    word = (row["attributes"] or [""])[0]
    return str(row["prompt"]).replace("{attribute}", word)


@pytest.mark.parametrize(("name", "mode"), CASES)
def test_every_prompt_is_recognised(name: str, mode: str, recognition: Recognition) -> None:
    for row in draw_trials(name, mode).iter_rows(named=True):
        messages = [prompt(row), row["followup"]] if row["followup"] else [prompt(row)]
        sent = messages if name.startswith("self_mod") else messages[:1]
        ends = (
            [end.strip() for end in Texts.from_trial(row).ends] if OPTION in row["prompt"] else None
        )
        question = recognition.find(sent, ends)
        assert question is not None, row["prompt"]
        assert question.instrument == name
        words = {word for word, role in question.groups}
        # A name of `emergent` is a part of a group word.
        assert name in ("bbq", "bold", "absolute_decision", "emergent") or words <= {
            row["marginalized"], row["default"]
        } or name == "hypothetical_decision"  # fmt: skip
        if name not in ("hypothetical_decision", "bold"):
            assert row["stereotype"] in (question.stereotypes or (question.stereotype,))


def test_words_have_their_roles_in_the_order_of_the_prompt(recognition: Recognition) -> None:
    for row in draw_trials("word_association", "free").iter_rows(named=True):
        question = recognition.find([row["prompt"]])
        assert question is not None
        assert question.marginalized_first == (row["order"] == "marginalized_first")
        assert [word for word, _ in question.listed] == row["attributes"]
        words = load_study("bai2025").words(row["stereotype"], row["variation"])
        tied = {word for word, role in question.listed if role == "tied"}
        assert tied == set(words.tied) & set(row["attributes"])


@pytest.mark.parametrize("design", [{"word_list": "as_released"}, {"order": "random"}])
def test_other_designs_are_recognised(design: dict[str, str], recognition: Recognition) -> None:
    for row in draw_trials("word_association", "free", **design).iter_rows(named=True):
        question = recognition.find([row["prompt"]])
        assert question is not None and row["stereotype"] in question.stereotypes


def test_labels_stand_for_groups(recognition: Recognition) -> None:
    for row in draw_trials("word_association", "forced", options="labels").iter_rows(named=True):
        question = recognition.find([prompt(row)])
        assert question is not None
        assert set(question.labels.values()) == {row["marginalized"], row["default"]}


def test_a_question_about_a_quoted_answer_has_its_groups(recognition: Recognition) -> None:
    row = draw_trials("self_moderation", "free").filter(version="blind").row(0, named=True)
    quoted = f"agony - {row['default']}\njoy - {row['marginalized']}"
    question = recognition.find([row["followup"].replace("{response1}", quoted)])
    assert question is not None and question.followup
    assert [role for _, role in question.groups] == ["default", "marginalized"]


def test_what_is_found_does_not_depend_on_what_was_asked_before() -> None:
    # Of groups that other studies have, too: what is learned of these must not change it.
    names = ["islam", "gender", "black", "racism", "science"]
    agreement = draw_trials("self_report_agreement", "free")
    rows = [*agreement.filter(pl.col("stereotype").is_in(names)).iter_rows(named=True)]
    forth, back = Recognition(), Recognition()
    prompts = [forth.find([row["prompt"]]) for row in rows]
    assert [back.find([row["prompt"]]) for row in reversed(rows)] == prompts[::-1]


@pytest.mark.parametrize(
    "text", ["", "Hello", "For each word in the list pick a colour. The words are old, young.", "⟦"]
)
def test_other_prompts_are_not_recognised(text: str, recognition: Recognition) -> None:
    assert recognition.find([text]) is None


STUDY_TEXT = """
name: own
stereotypes:
  tea:
    category: drinks
    marginalized: [coffee drinkers, cafe guests]
    default: [tea drinkers]
    tied: [nervous, hasty]
    counter: [calm, patient]
"""


def test_a_study_of_ones_own_is_known_where_it_is_named() -> None:
    study = parse_study(STUDY_TEXT, "own.yaml")
    trials = INSTRUMENTS["word_association"].trials(study, Design(iterations=4))
    sample = random.Random(1).sample(trials["prompt"].to_list(), k=4)
    for text in sample:
        question = Recognition([study]).find([text])
        assert question is not None and question.stereotype == "tea"
        assert Recognition().find([text]) is None
