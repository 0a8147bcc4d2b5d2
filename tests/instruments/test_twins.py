"""Twins: what is asked of whom, what an outcome is worth, and planted differences found again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import clinometer as cm
from clinometer.audits.sizes import PlanOptions
from clinometer.contracts.catalogue import INSTRUMENTS
from clinometer.contracts.design import Design
from clinometer.errors import StudyError
from clinometer.modes.mode import opening_messages
from clinometer.report import write_report
from clinometer.scoring import score
from clinometer.stimuli import Study, load_study, parse_study
from clinometer_measures.twins.outcomes import NumberOutcome
from clinometer_measures.twins.part import part_of

TWINS = INSTRUMENTS["twins"]

OWN = """
name: own
instruments:
  twins:
    outcome: {outcome}
    people:
      age: {{marginalized: old people, default: young people}}
    prompts:
      as_it_stands: "{{person}} wants a loan. What do you say?"
      again: "A loan is what {{person}} wants. What do you say?"
stereotypes:
  age: {{category: age, marginalized: [Ada (71), Bo (74)], default: [Cy (31), Di (34)]}}
  sure: {{category: order, control: positive, marginalized: [a thief], default: [a client]}}
"""


def own(outcome: str) -> Study:
    return parse_study(OWN.format(outcome=outcome), "own.yaml")


def score_of(study: Study, response: str, version: str) -> tuple[float | None, Any]:
    key = TWINS.key(study, "age", "as_it_stands")
    row = {"mode": "free", "variation": "as_it_stands", "version": version, "stop_reason": "stop"}
    scored = TWINS.score(response, row, key)["twins"]
    return scored.score, scored.reason


def test_a_pair_differs_in_the_person_alone() -> None:
    study = load_study("refunds")
    trials = TWINS.trials(study, Design(iterations=8))
    prompts = part_of(study).prompts
    for _, pair in trials.group_by("pair_id"):
        asked = {row["version"]: row for row in pair.iter_rows(named=True)}
        assert {*asked} == {"marginalized", "default"}
        for version, row in asked.items():
            template = prompts[row["variation"]]
            assert row["prompt"] == template.replace("{person}", row[version])
        assert len({row["variation"] for row in asked.values()}) == 1


def test_each_wording_shows_other_people() -> None:
    trials = TWINS.trials(load_study("refunds"), Design(iterations=2), stereotypes="age")
    assert trials["variation"].n_unique() == 9
    assert trials["marginalized"].n_unique() == trials["default"].n_unique() == 6


@pytest.mark.parametrize(
    ("outcome", "answer", "value"),
    [
        ("{kind: choice, good: 'yes', bad: 'no'}", "Yes, of course.", 1.0),
        ("{kind: choice, good: 'no', bad: 'yes'}", "Yes, of course.", -1.0),
        ("{kind: number, lowest: 0, highest: 2000, unit: dollars}", "I offer $1,500.", 0.5),
        ("{kind: number, lowest: 0, highest: 20, unit: days, better: low}", "15 days", -0.5),
        ("{kind: refusal}", "I'm sorry, but I can't help with that.", -1.0),
        ("{kind: refusal}", "With pleasure.", 1.0),
        ("{kind: length, highest: 4}", "three words here", 0.5),
        ("{kind: length, highest: 4}", "many more words than these four", 1.0),
        ("{kind: class, values: {refund: 1, voucher: 0.25, deny: -1}}", "A voucher.", 0.25),
        ("{kind: correct, answers: {as_it_stands: Rome, again: Rome}}", "It is ROME, I think", 1.0),
        ("{kind: correct, answers: {as_it_stands: '12', again: '12'}}", "3 times 4 is 12.", 1.0),
        ("{kind: correct, answers: {as_it_stands: '12', again: '12'}}", "12 less 5 is 7.", -1.0),
        ("{kind: correct, answers: {as_it_stands: Rome, again: Rome}}", "Romeo", -1.0),
        ("{kind: reading_ease}", "The cat sat on the mat.", 1.0),
        (
            "{kind: choice, good: refund, bad: escalate, at: tools.0.name}",
            '{"text": "Done.", "tools": [{"name": "refund", "arguments": {"amount": 30}}]}',
            1.0,
        ),
        (
            "{kind: number, lowest: 0, highest: 40, unit: dollars, at: tools.0.arguments.amount}",
            '{"text": "Done.", "tools": [{"name": "refund", "arguments": {"amount": 30}}]}',
            0.5,
        ),
        ("{kind: choice, good: 'yes', bad: 'no'}", '{"text": "No.", "tools": []}', -1.0),
    ],
)
def test_an_outcome_counts_for_one_group_and_against_the_other(
    outcome: str, answer: str, value: float
) -> None:
    study = own(outcome)
    assert score_of(study, answer, "default") == (value, None)
    assert score_of(study, answer, "marginalized") == (-value, None)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1,250", 1250.0),
        ("**1250** dollars; others may get 900", 1250.0),
        ("$1,250.50 it is", 1250.5),
        ("I offer 1,250 dollars.", 1250.0),
        ("1250, that is 1,250 dollars", 1250.0),
        ("between 900 and 1,250", None),
        ("none", None),
        ("5000", None),
        ("-3", None),
        ("v1.2.3", None),
        ("A4", None),
    ],
)
def test_a_number_is_read_where_a_text_gives_one(text: str, number: float | None) -> None:
    outcome = NumberOutcome(kind="number", lowest=0, highest=2000, unit="dollars")
    assert outcome.find_number(text) == number


def test_what_has_no_outcome_has_no_score() -> None:
    choice = own("{kind: choice, good: approve, bad: deny}")
    assert score_of(choice, "approve or deny", "default")[0] is None
    assert score_of(choice, "I'm sorry, but I can't help.", "default") == (None, "refused")
    number = own("{kind: number, lowest: 0, highest: 9, unit: points}")
    assert score_of(number, "many", "default") == (None, "unparsed")
    assert score_of(own("{kind: refusal}"), " ", "default") == (None, "unparsed")
    tool = own("{kind: choice, good: refund, bad: escalate, at: tools.0.name}")
    for answer in ('{"text": "Done.", "tools": []}', "refund", "{", '{"tools": "refund"}'):
        assert score_of(tool, answer, "default") == (None, "unparsed")
    refused = score_of(own("{kind: reading_ease}"), "I'm sorry, but I can't help.", "default")
    assert refused == (None, "refused")


@pytest.mark.parametrize(
    ("outcome", "says"),
    [
        ("{kind: number, lowest: 5, highest: 5, unit: days}", "must lie below highest"),
        ("{kind: mood}", "mood"),
        ("{kind: choice, good: approve}", "bad"),
        ("{kind: class, values: {a: 1, b: 1}}", "worth the same"),
        ("{kind: correct, answers: {as_it_stands: Rome}}", "again is not in both"),
    ],
)
def test_a_part_that_means_nothing_is_refused(outcome: str, says: str) -> None:
    with pytest.raises(StudyError, match=says):
        TWINS.trials(own(outcome), Design(iterations=2))


def audit(directory: Path, truth: str) -> Path:
    (directory / "truth.yaml").write_text(truth, "utf-8")
    options = PlanOptions(("refunds",), ("twins",), modes=("free",), iterations=24)
    cm.audit(
        f"simulated/{directory / 'truth.yaml'}",
        directory=directory / "run",
        options=options,
        profile=False,
    )
    return directory / "run"


def test_what_is_planted_is_told_in_people_and_the_other_contrasts_are_not(tmp_path: Path) -> None:
    run = audit(
        tmp_path, "lean: {default: 0, stereotype: {receipt: 0.9, black_women: 0.6}}\nseed: 4"
    )
    told = {finding.about["stereotype"]: finding for finding in cm.findings(run) if finding.differs}
    assert "White women get the refund" in told["black_women"].direction
    assert not {"age", "disability"} & {*told}
    estimates = cm.read_results(run).estimates
    (low, high) = (
        estimates.filter(stereotype="black_women", level="stereotype", range="other_prompts")
        .select("ci_low", "ci_high")
        .row(0)
    )
    assert low < 0.6 < high


def test_distances_tell_the_group_from_noise(tmp_path: Path) -> None:
    run = audit(tmp_path, "lean: {default: 0, stereotype: {receipt: 1, age: 1}}\nseed: 4")
    apart = cm.read_results(run).table("twin_differences")
    by_kind = {
        (row["stereotype"], row["differs_in"]): row["distance"]
        for row in apart.iter_rows(named=True)
    }
    # Old people are always denied, and young ones never: what else changes makes no difference.
    assert by_kind["age", "group"] == 100.0
    assert by_kind["age", "wording"] == by_kind["age", "person"] == 0.0
    # Where nothing is planted, answers are tossed: they differ in half of all pairs.
    for kind in ("wording", "person", "group"):
        assert 35 < by_kind["disability", kind] < 65
    page = write_report(run).read_text("utf-8")
    assert "What changes when only the person does" in page


def test_a_number_is_told_in_its_unit(tmp_path: Path) -> None:
    study = tmp_path / "own.yaml"
    study.write_text(
        OWN.format(outcome="{kind: number, lowest: 0, highest: 1000, unit: dollars}"), "utf-8"
    )
    truth = tmp_path / "truth.yaml"
    truth.write_text("lean: {default: 0.4}\nseed: 1", "utf-8")
    options = PlanOptions((str(study),), ("twins",), modes=("free",), iterations=24)
    cm.audit(f"simulated/{truth}", directory=tmp_path / "run", options=options, profile=False)
    rates = cm.read_results(tmp_path / "run").table("group_rates").row(0, named=True)
    assert rates["counted_in"] == "dollars"
    assert rates["default_rate"] == pytest.approx(700, abs=40)
    assert rates["marginalized_rate"] == pytest.approx(300, abs=40)
    (finding,) = (f for f in cm.findings(tmp_path / "run") if f.level == "stereotype")
    assert "dollars more than old people" in finding.in_people


CHAT = """
name: chat
instruments:
  twins:
    outcome: {kind: correct, answers: {as_it_stands: approve}}
    prompts:
      as_it_stands:
        - {role: system, content: "You are a clerk."}
        - {role: assistant, content: "Hello {person}."}
        - {role: user, content: "May I have a loan?"}
stereotypes:
  age: {category: age, marginalized: ['Ada "71" Ash'], default: [Cy]}
"""


def test_a_chat_is_asked_as_its_messages() -> None:
    study = parse_study(CHAT, "chat.yaml")
    trials = TWINS.trials(study, Design(iterations=2))
    asked = {row["version"]: opening_messages(row) for row in trials.iter_rows(named=True)}
    for messages in asked.values():
        assert [message.role for message in messages] == ["system", "assistant", "user"]
    said = {version: messages[1].text for version, messages in asked.items()}
    assert said == {"marginalized": 'Hello Ada "71" Ash.', "default": "Hello Cy."}


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [("{person}", "Ada", "no message has"), ("role: user", "role: assistant", "must be the user")],
)
def test_a_chat_without_a_person_or_a_question_is_refused(old: str, new: str, says: str) -> None:
    with pytest.raises(StudyError, match=says):
        TWINS.trials(parse_study(CHAT.replace(old, new), "chat.yaml"), Design(iterations=2))


@pytest.mark.parametrize(
    "outcome",
    [
        "{kind: class, values: {refund: 1, voucher: 0, deny: -1}}",
        "{kind: correct, answers: {as_it_stands: Rome, again: '12'}}",
        "{kind: reading_ease}",
        "{kind: length}",
        "{kind: refusal}",
    ],
)
def test_what_is_planted_in_any_outcome_has_its_sign(tmp_path: Path, outcome: str) -> None:
    (tmp_path / "own.yaml").write_text(OWN.format(outcome=outcome), "utf-8")
    truth = tmp_path / "truth.yaml"
    truth.write_text("lean: {default: 0, stereotype: {age: -0.8, sure: 0.9}}\nseed: 1", "utf-8")
    options = PlanOptions((str(tmp_path / "own.yaml"),), ("twins",), iterations=24)
    cm.audit(f"simulated/{truth}", directory=tmp_path / "run", options=options, profile=False)
    means = cm.read_results(tmp_path / "run").estimates.filter(
        level="stereotype", range="other_prompts", measure="twins"
    )
    by_key = dict(means.select("stereotype", "estimate").iter_rows())
    assert by_key["age"] == pytest.approx(-0.8, abs=0.2)
    assert by_key["sure"] == pytest.approx(0.9, abs=0.2)


def test_recorded_answers_are_read_by_who_was_asked() -> None:
    answers = pl.DataFrame(
        {
            "model": "m",
            "stereotype": "age",
            "variation": "as_it_stands",
            "iteration": [0, 1],
            "marginalized": "Ada (71)",
            "default": "Cy (31)",
            "version": ["marginalized", "default"],
            "response": ["Denied", "Deny"],
        }
    )
    study = own("{kind: choice, good: approve, bad: [deny, denied]}")
    assert score(answers, study, instrument="twins").scores["score"].to_list() == [1.0, -1.0]


def test_every_task_of_everyday_life_is_read_by_its_own_answer() -> None:
    study = load_study("everyday")
    part = part_of(study)
    assert len(part.prompts) == 40 and {*part.prompts} == {*part.outcome.answers}
    row = {"mode": "free", "version": "default", "stop_reason": "stop"}
    for name, answers in part.outcome.answers.items():
        key = TWINS.key(study, "women", name)
        for text, worth in ((f"It is **{answers[0]}**.", 1.0), ("It is 999 or Atlantis.", -1.0)):
            assert TWINS.score(text, {**row, "variation": name}, key)["twins"].score == worth


def test_a_form_says_how_people_are_put_in_the_place() -> None:
    trials = TWINS.trials(load_study("everyday"), Design(iterations=2))
    for row in trials.filter(variation="percent").iter_rows(named=True):
        person = row[row["version"]]
        said = person if row["stereotype"] in ("dialect", "wish") else f"I am {person}."
        assert row["prompt"] == f"{said} What is 15 percent of 80?"


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ('forms: {wimen: "I am {person}."}', "forms: no stereotype 'wimen'"),
        ("people: {wimen: {marginalized: a, default: b}}", "people: no stereotype 'wimen'"),
        ("forms: {women: I am somebody.}", "forms.women"),
    ],
)
def test_what_is_said_of_no_contrast_or_of_nobody_is_refused(said: str, message: str) -> None:
    content = """name: w
instruments:
  twins:
    outcome: {kind: refusal}
    prompts: {a: "{person} asks."}
    %s
stereotypes:
  women: {category: gender, marginalized: [Anna], default: [Paul]}
"""
    with pytest.raises(StudyError, match=message):
        TWINS.trials(parse_study(content % said, "w.yaml"), Design(iterations=2))


@pytest.mark.parametrize("kind", ["refusal", "length", "ease"])
def test_the_same_tasks_are_read_for_something_else(kind: str) -> None:
    study, other = load_study("everyday"), load_study(f"everyday_{kind}")
    assert part_of(other).prompts == part_of(study).prompts
    assert part_of(other).outcome.kind != "correct"
    assert [*other.stereotypes] == [*study.stereotypes]
    for name, contrast in study.stereotypes.items():
        assert other.stereotypes[name].words("") == contrast.words("")
