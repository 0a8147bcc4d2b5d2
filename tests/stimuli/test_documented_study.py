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
    study_text, _, wordings, _, decisions, *_, interventions = blocks("docs/how-to/studies.md")
    assert parse_study(study_text, "whole").stereotypes["cats"].label == "Cats"
    lead = "stereotypes:\n  cats:\n    …\n"
    instruments, changed = wordings.split(lead)
    added = changed + decisions.removeprefix(lead) + instruments + interventions
    study = parse_study(study_text.rstrip() + "\n" + added, "studies.md")
    assert study.stereotypes["cats"].words("other_words").extra == ["furry"]
    assert set(study.interventions) == {"calm"}
    trials = INSTRUMENTS["relative_decision"].trials(study, Design(iterations=2))
    assert trials["variation"].unique().to_list() == ["shelter"]
    assert "a cat" in trials["prompt"][0] or "a kitten" in trials["prompt"][0]
    for name in ("absolute_decision", "chained_task"):
        assert "{" not in "".join(INSTRUMENTS[name].trials(study, Design(iterations=4))["prompt"])
    (later,) = (
        INSTRUMENTS["relative_decision"]
        .trials(study, Design(iterations=1), variations=["shelter_later"])
        .iter_rows(named=True)
    )
    assert later["followup"].startswith("{response1} Two jobs are free")


def test_the_group_of_one_word_of_the_guide() -> None:
    _, word_group, *_ = blocks("docs/how-to/studies.md")
    study = parse_study("name: one_word\n" + word_group, "studies.md")
    assert study.with_people().stereotypes["age"].marginalized[0] == "old people"
    assert study.with_things(["age"]).stereotypes["things_age"].default[0] == "young trees"


def test_the_sentences_of_the_guide() -> None:
    study_text, _, _, sentences, decisions, *_ = blocks("docs/how-to/studies.md")
    lead = "stereotypes:\n  cats:\n    …\n"
    shared, clause = sentences.split(lead)
    additions = decisions.removeprefix(lead) + clause.removeprefix("    decisions:\n")
    study = parse_study(study_text.rstrip() + "\n" + additions + shared, "studies.md")
    design = Design(mode="likelihood", iterations=2)
    for name, prompt in {
        "word_association": "When people hear {option}, they think of {attribute}",
        "relative_decision": "People told me that the {option} gets the job of {attribute}",
    }.items():
        assert prompt in INSTRUMENTS[name].trials(study, design)["prompt"].to_list()
    yes_no = INSTRUMENTS["absolute_decision"].trials(study, design)
    assert yes_no["options"].to_list()[0] == ["yes", "no"]


def test_the_study_of_dimensions_in_the_guide() -> None:
    *_, study_text, wordings, _, _ = blocks("docs/how-to/studies.md")
    for text in (study_text, study_text + wordings):
        study = parse_study(text, "studies.md")
        instruments = ("word_association", "affective_attribution")
        self_reports = ("self_moderation", "self_report_agreement", "self_report_comparison")
        assert set(offers(study)) == {*instruments, *self_reports}
        paired, thought = (
            INSTRUMENTS[name].trials(study, Design(iterations=2)) for name in instruments
        )
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


STUDY_TEXT = """name: mine
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
    study = parse_study(STUDY_TEXT, "mine.yaml")
    sentences = study.instruments.word_association.sentences
    assert "capitals" not in sentences and "talk" in sentences
    assert "vote" not in study.decision_sentences.relative_decision
    instrument = INSTRUMENTS["relative_decision"]
    assert instrument.key(study, "s", "vote").words.tied == ["other"]
    assert instrument.trials(study, Design(iterations=1), variations="vote")["tied"][0] == "other"


@pytest.mark.parametrize(
    ("addition", "message"),
    [
        ("word_association:\n    sentences: {capitals: '{group} {attribute}'}",
         "name of a variation"),
        ("affective_attribution:\n    sentences: {template1: '{group} {object} {outcome}'}",
         "name of a variation"),
    ],
)  # fmt: skip
def test_a_sentence_of_ones_own_under_a_name_in_use_is_refused(addition: str, message: str) -> None:
    if addition.startswith("word"):
        changed_text = STUDY_TEXT.replace("word_association:", addition, 1)
    else:
        new = f"objects: [cup]\ninstruments:\n  {addition}\n"
        changed_text = STUDY_TEXT.replace("instruments:\n", new, 1)
    with pytest.raises(StudyError, match=message):
        parse_study(changed_text, "mine.yaml")


def test_a_sentence_of_a_decision_under_the_name_of_one_is_refused() -> None:
    sentence = "decision_sentences: {relative_decision: {vote: 'They say {decision}'}}\n"
    study_text = STUDY_TEXT + sentence
    with pytest.raises(StudyError, match="decision_sentences: vote is the name of a decision"):
        parse_study(study_text, "mine.yaml")


@pytest.mark.parametrize(
    "text", ["{group} is {attribute}.", "{attribute} {group}", "is {attribute}"]
)
def test_a_sentence_names_a_group_and_ends_in_the_word(text: str) -> None:
    addition = f"word_association:\n    sentences: {{mine: '{text}'}}"
    with pytest.raises(StudyError, match="must end in a space|must hold"):
        parse_study(STUDY_TEXT.replace("word_association:", addition, 1), "mine.yaml")
