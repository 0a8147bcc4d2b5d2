"""The study files shown in the documentation are valid."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from clinometer.contracts.catalogue import INSTRUMENTS, offers
from clinometer.contracts.design import Design
from clinometer.errors import StudyError
from clinometer.stimuli import load_study, parse_study

ROOT = Path(__file__).resolve().parents[2]


def blocks(name: str) -> list[str]:
    return re.findall(r"```yaml\n(.*?)```", (ROOT / name).read_text(encoding="utf-8"), re.DOTALL)


def test_the_study_of_the_page_on_python() -> None:
    (text,) = blocks("docs/how-to/python.md")
    assert parse_study(text, "python.md").name == "pets"


def test_the_studies_of_the_guide() -> None:
    whole, _, wordings, _, decisions, *_, interventions = blocks("docs/how-to/studies.md")
    assert parse_study(whole, "whole").stereotypes["cats"].label == "Cats"
    lead = "stereotypes:\n  cats:\n    …\n"
    instruments, changed = wordings.split(lead)
    added = changed + decisions.removeprefix(lead) + instruments + interventions
    study = parse_study(whole.rstrip() + "\n" + added, "studies.md")
    assert study.stereotypes["cats"].words("other_words").extra == ["furry"]
    assert set(study.interventions) == {"calm"}
    drawn = INSTRUMENTS["relative_decision"].trials(study, Design(iterations=2))
    assert drawn["variation"].unique().to_list() == ["shelter"]
    assert "a cat" in drawn["prompt"][0] or "a kitten" in drawn["prompt"][0]
    for name in ("absolute_decision", "chained_task"):
        assert "{" not in "".join(INSTRUMENTS[name].trials(study, Design(iterations=4))["prompt"])
    (later,) = (
        INSTRUMENTS["relative_decision"]
        .trials(study, Design(iterations=1), variations=["shelter_later"])
        .iter_rows(named=True)
    )
    assert later["followup"].startswith("{response1} Two jobs are free")


def test_the_group_of_one_word_of_the_guide() -> None:
    _, one_word, *_ = blocks("docs/how-to/studies.md")
    study = parse_study("name: one_word\n" + one_word, "studies.md")
    assert study.with_people().stereotypes["age"].marginalized[0] == "old people"
    assert study.with_things(["age"]).stereotypes["things_age"].default[0] == "young trees"


def test_the_sentences_of_the_guide() -> None:
    whole, _, _, sentences, decisions, *_ = blocks("docs/how-to/studies.md")
    lead = "stereotypes:\n  cats:\n    …\n"
    shared, clause = sentences.split(lead)
    own = decisions.removeprefix(lead) + clause.removeprefix("    decisions:\n")
    study = parse_study(whole.rstrip() + "\n" + own + shared, "studies.md")
    design = Design(mode="likelihood", iterations=2)
    for name, asked in {
        "word_association": "When people hear {option}, they think of {attribute}",
        "relative_decision": "People told me that the {option} gets the job of {attribute}",
    }.items():
        assert asked in INSTRUMENTS[name].trials(study, design)["prompt"].to_list()
    yes_no = INSTRUMENTS["absolute_decision"].trials(study, design)
    assert yes_no["options"].to_list()[0] == ["yes", "no"]


def test_the_study_of_dimensions_in_the_guide() -> None:
    *_, whole, wordings, _, _ = blocks("docs/how-to/studies.md")
    for text in (whole, whole + wordings):
        study = parse_study(text, "studies.md")
        both = ("word_association", "affective_attribution")
        said = ("self_moderation", "self_report_agreement", "self_report_comparison")
        assert set(offers(study)) == {*both, *said}
        paired, thought = (INSTRUMENTS[name].trials(study, Design(iterations=2)) for name in both)
        assert set(paired["dimension"]) == {"competence", "warmth"}
        assert "{" not in "".join([*paired["prompt"], *thought["prompt"], *thought["followup"]])
    assert len(paired["attributes"][0]) == 6 and study.answers.negations == ["hardly"]


def test_what_the_guide_takes_from_a_shipped_study() -> None:
    *_, taking, _ = blocks("docs/how-to/studies.md")
    study, source = (
        parse_study("name: elders\n" + taking, "studies.md"),
        load_study("clinometer2026"),
    )
    assert study.stereotypes["elders"].default == source.stereotypes["age"].default
    assert study.instruments.word_association == source.instruments.word_association


OWN = """name: mine
instruments:
  word_association:
    default_variations: [capitals]
    variations:
      capitals:
        wording: "{group0} or {group1}? {attributes}"
        forced: "{attribute}: {group0} or {group1}?"
stereotypes:
  s:
    marginalized: [a]
    default: [b]
    tied: [t]
    counter: [c]
    decisions:
      words: {others: {tied: [other], counter: [another]}}
      relative_decision:
        first: {wording: "{group0} {group1} {attribute0} {attribute1}"}
        vote: {wording: "{group0}, {group1}, {attribute0}, {attribute1}", words_of: others}
"""


def test_names_of_ones_own_are_kept_beside_sentences_that_come_with_clinometer() -> None:
    """No study has to know the names of sentences that it did not write."""
    study = parse_study(OWN, "mine.yaml")
    sentences = study.instruments.word_association.sentences
    assert "capitals" not in sentences and "talk" in sentences
    assert "vote" not in study.decision_sentences.relative_decision
    asked = INSTRUMENTS["relative_decision"]
    assert asked.key(study, "s", "vote").words.tied == ["other"]
    assert asked.trials(study, Design(iterations=1), variations="vote")["tied"][0] == "other"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("word_association:\n    sentences: {capitals: '{group} {attribute}'}",
         "name of a variation"),
        ("affective_attribution:\n    sentences: {template1: '{group} {object} {outcome}'}",
         "name of a variation"),
    ],
)  # fmt: skip
def test_a_sentence_of_ones_own_under_a_name_in_use_is_refused(given: str, said: str) -> None:
    named = OWN.replace("word_association:", given, 1) if given.startswith("word") else (
        OWN.replace("instruments:\n", f"objects: [cup]\ninstruments:\n  {given}\n", 1)
    )  # fmt: skip
    with pytest.raises(StudyError, match=said):
        parse_study(named, "mine.yaml")


def test_a_sentence_of_a_decision_under_the_name_of_one_is_refused() -> None:
    own = f"{OWN}decision_sentences: {{relative_decision: {{vote: 'They say {{decision}}'}}}}\n"
    with pytest.raises(StudyError, match="decision_sentences: vote is the name of a decision"):
        parse_study(own, "mine.yaml")


@pytest.mark.parametrize(
    "text", ["{group} is {attribute}.", "{attribute} {group}", "is {attribute}"]
)
def test_a_sentence_names_a_group_and_ends_in_the_word(text: str) -> None:
    given = f"word_association:\n    sentences: {{mine: '{text}'}}"
    with pytest.raises(StudyError, match="must end in a space|must hold"):
        parse_study(OWN.replace("word_association:", given, 1), "mine.yaml")
