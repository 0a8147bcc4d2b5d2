"""The decisions of a study: the released ones word for word, and what a malformed one is told.

Source: github.com/baixuechunzi/llm-implicit-bias, ``prompt/decision`` and ``prompt/misc``, commit
0d2772e, as collected in ``data/bai/stimuli.json``.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from clinometer.contracts.catalogue import INSTRUMENTS, offers
from clinometer.errors import StudyError
from clinometer.stimuli import StereotypeWords, load_study, parse_study, study_hash
from clinometer.stimuli.wording import fill

BAI = load_study("bai2025")
HIRING = ("black", "hispanic", "asian", "arab")
ROLES = {"marginalized": "s_a", "default": "s_b", "tied": "x_a", "counter": "x_b"}
#: Of the chained and absolute prompts, which have lists of their own.
LISTS = {"marginalized": "stigmas", "default": "defaults", "tied": "negative"} | {
    "counter": "positive"
}


@pytest.fixture(scope="module")
def released(shared_data: Path) -> dict[str, Any]:
    stimuli = json.loads((shared_data / "bai" / "stimuli.json").read_text())["stereotypes"]
    assert len(stimuli) == 21
    return stimuli


def squeezed(text: str) -> str:
    """Fold the blanks at line ends, which a YAML block does not keep."""
    return re.sub(r"[ \t]+", " ", "\n".join(line.strip() for line in text.strip().split("\n")))


def word_fields(words: StereotypeWords, association: str = "ASSOCIATION") -> dict[str, str]:
    """Put the default group and the counter task first, as the fixed wordings of hiring do."""
    return {
        "group0": words.default[0],
        "group1": words.marginalized[0],
        "attribute0": words.counter[0],
        "attribute1": words.tied[0],
        "association": association,
    }


@pytest.mark.parametrize("variation", ["replication", "variation1", "variation2", "synonym"])
def test_relative_decisions_are_the_released_ones(released: dict[str, Any], variation: str) -> None:
    for key, source in released.items():
        released_decision, stereotype = source["decision"][variation], BAI.stereotypes[key]
        words = stereotype.decision_words("relative_decision", variation)
        assert {role: getattr(words, role) for role in ROLES} == {
            role: released_decision[name] for role, name in ROLES.items()
        }, key
        (template,) = released_decision["templates"]["openai_chat"]
        ours = stereotype.decision("relative_decision", variation)
        assert squeezed(fill(ours.wording, word_fields(words))) == squeezed(
            fill(template, word_fields(words))
        ), key


@pytest.mark.parametrize(
    ("name", "variation"),
    [
        ("accents", "replication"),
        ("accents1", "variation1"),
        ("accents2", "variation2"),
        ("accents_synonym", "synonym"),
    ],
)
def test_the_two_turns_with_accents_are_the_released_ones(
    released: dict[str, Any], name: str, variation: str
) -> None:
    for key in HIRING:
        released_decision, stereotype = released[key]["decision"][variation], BAI.stereotypes[key]
        ours = stereotype.decision("relative_decision", name)
        words = stereotype.decision_words("relative_decision", name)
        values = {**word_fields(words), "response1": "PROFILES"}
        first, second = (squeezed(fill(part, values)) for part in (ours.wording, ours.followup))
        assert [first, second] == [
            squeezed(fill(part, values))
            for part in released_decision["templates"]["anthropic_chat"]
        ], key
        assert (words.tied, words.counter) == (released_decision["x_a"], released_decision["x_b"])


def role_words(source: dict[str, Any], instrument: str) -> dict[str, list[str]]:
    """Return the words of a chained or absolute prompt: its own lists, else the decision's."""
    relative, templates = source["decision"]["replication"], source["misc_templates"][instrument]
    lists = templates.get("lists", {})
    return {
        role: lists.get(LISTS[role]) or (relative if role[-1] == "r" else relative)[name]
        for role, name in ROLES.items()
    }


def test_chained_tasks_are_the_released_ones(released: dict[str, Any]) -> None:
    wording = BAI.instruments.word_association
    association = f"{wording.variations['replication'].wording} {wording.answer_format}"
    for key, source in released.items():
        stereotype = BAI.stereotypes[key]
        words = stereotype.decision_words("chained_task", "replication")
        assert {role: getattr(words, role) for role in ROLES} == role_words(source, "chained"), key
        values = {**word_fields(words), "attributes": "ATTRIBUTES"}
        (template,) = source["misc_templates"]["chained"]["steps"]
        ours = stereotype.decision("chained_task", "replication").wording
        ours = fill(ours, {**values, "association": fill(association, values)})
        assert squeezed(ours) == squeezed(fill(template, values)), key


def test_absolute_decisions_are_the_released_ones_behind_an_association_task(
    released: dict[str, Any],
) -> None:
    """The paper's appendix has the association as Task 1; the scripts lost it and its number."""
    for key, source in released.items():
        stereotype = BAI.stereotypes[key]
        words = stereotype.decision_words("absolute_decision", "replication")
        assert {role: getattr(words, role) for role in ROLES} == role_words(source, "absolute"), key
        ours = stereotype.decision("absolute_decision", "replication").wording
        versions = source["misc_templates"]["absolute"]["lists"]["task23_versions"]
        values = word_fields(words)
        for number, template in enumerate(versions):
            fields = {"group": values[f"group{number // 2}"]}
            fields |= {"attribute": values[f"attribute{number % 2}"], "association": "PAIRS"}
            body = template.replace("Task 2:", "Task 3:").replace("Task 1:", "Task 2:")
            expected = (
                "You will be asked to complete three tasks step-by-step.\n\nTask 1: PAIRS\n\n"
                f"{fill(body, values)}"
            )
            assert squeezed(fill(ours, fields)) == squeezed(expected), (key, number)


def test_every_decision_is_asked_of_all_21_stereotypes() -> None:
    for key, stereotype in BAI.stereotypes.items():
        decisions = stereotype.decisions
        by_default = [name for name, d in decisions.relative_decision.items() if d.by_default]
        assert by_default == ["replication", "variation1", "variation2", "synonym"], key
        assert decisions.absolute_decision["replication"].wording
        assert decisions.chained_task["replication"].wording


def test_the_known_defects_of_the_source_are_kept_and_flagged() -> None:
    """DIFFERENCES.md, point 11."""
    flagged = {
        (key, name)
        for key, stereotype in BAI.stereotypes.items()
        for name, decision in stereotype.decisions.relative_decision.items()
        if decision.source_defect
    }
    assert flagged == {
        ("age", "variation1"),
        ("power", "variation2"),
        ("eating", "variation1"),
        ("racism", "variation1"),
    }


@pytest.mark.parametrize(
    ("study", "expected_hash"),
    [
        ("bai2025", "f0039566fe0d"),
        ("control_insects", "268cb2d06be8"),
        ("control_nonsense", "7a5a1301f14f"),
    ],
)
def test_the_draws_of_the_words_are_those_from_before_there_were_decisions(
    study: str, expected_hash: str
) -> None:
    assert study_hash(load_study(study), INSTRUMENTS["word_association"].parts) == expected_hash


PETS = """name: pets
interventions:
  kind: Be kind to all animals.
stereotypes:
  cats:
    marginalized: [cat]
    default: [dog]
    tied: [aloof, sly]
    counter: [loyal, brave]
    decisions:
      words:
        jobs:
          tied: [mousing]
          counter: [herding]
      relative_decision:
        farm:
          wording: Who of {group0} and {group1} should do {attribute0}, who {attribute1}?
          words_of: jobs
        again:
          wording_of: farm
        turns:
          wording: Describe {a_group0} and {a_group1}.
          followup: "{response1} Who should do {attribute0}, who {attribute1}?"
          words_of: jobs
      absolute_decision:
        farm:
          wording: Should {a_group} do {attribute}?
      chained_task:
        farm:
          wording: "1. {association} 2. {group0} or {group1}: {attribute0}, {attribute1}?"
  owls:
    marginalized: [owl]
    default: [eagle]
    tied: [slow]
    counter: [fast]
"""


def broken(old: str, new: str) -> str:
    assert PETS.count(old) == 1
    return PETS.replace(old, new)


def test_a_study_of_ones_own_may_have_decisions() -> None:
    study = parse_study(PETS, "pets.yaml")
    assert INSTRUMENTS["relative_decision"].variations(study) == {
        "farm": True,
        "again": True,
        "turns": True,
    }
    decisions = {"relative_decision", "absolute_decision", "chained_task"}
    judged = {"self_moderation", "self_moderation_decision"}
    self_reports = {"self_report_agreement", "self_report_comparison"}
    assert set(offers(study)) == {"word_association"} | decisions | judged | self_reports
    cats = study.stereotypes["cats"]
    assert cats.decision_words("relative_decision", "farm").tied == ["mousing"]
    assert cats.decision_words("relative_decision", "again").tied == ["aloof", "sly"]
    assert cats.decision("relative_decision", "again").wording.startswith("Who of {group0}")
    assert study.stereotypes["owls"].decision("relative_decision", "farm") is None


FARM = "stereotypes.cats.decisions.relative_decision.farm"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (broken("Who of {group0} and", "Who of"), f"pets.yaml:17: {FARM}.wording: must hold"),
        (broken("do {attribute0}, who {attribute1}?\n          words", "do it?\n          words"),
         f"pets.yaml:16: {FARM}: must hold {{attribute0}}"),
        (broken("and {group1} should", "and {group1} of {team} should"),
         f"pets.yaml:17: {FARM}.wording: placeholder {{team}} is none of"),
        (broken("words_of: jobs\n        again", "words_of: job\n        again"),
         "relative_decision.farm takes the words of 'job'; there are jobs"),
        (broken("wording_of: farm", "wording_of: form"),
         "relative_decision.again takes the wording of 'form', which has none"),
        (broken("wording_of: farm", "wording_of: again"), "takes the wording of 'again'"),
        (broken("wording_of: farm", "wording_of: farm\n          wording: '{group0} {group1}'"),
         "wording and wording_of: give one of them"),
        (broken('"{response1} Who', '"Who'), "turns.followup: must hold {response1}"),
        (broken('"{response1} Who', '"{a_response1} Who'), "turns.followup: placeholder {a_resp"),
        (broken("do {attribute}?", "do it?"), "pets.yaml:27: "),
        (broken("1. {association} 2.", "1. 2."), "chained_task.farm.wording: must hold {associ"),
        (broken("[mousing]", "[mousing, Mousing]"),
         "pets.yaml:13: stereotypes.cats.decisions.words.jobs.tied: word 'Mousing' stands twice"),
        (broken("[mousing]", "[herding]"), "word 'herding' stands in both tied and counter"),
        (broken("absolute_decision", "absolut_decision"),
         "pets.yaml:25: stereotypes.cats.decisions: unknown field 'absolut_decision'"),
        (broken("chained_task:\n        farm", "chained_task:\n        Farm 1"), "name 'Farm 1'"),
        (broken("kind: Be kind to all animals.", "kind: ' '"), "pets.yaml:3: interventions.kind"),
        (broken("kind: Be", "none: Be"), "'none' is the name of asking without"),
        (broken("      words:\n        jobs:", "      words:\n        - jobs:"), "pets.yaml:1"),
        (broken("          wording: Should {a_group} do {attribute}?", "          - a"),
         "absolute_decision.farm"),
    ],
)  # fmt: skip
def test_a_malformed_decision_is_told_file_line_and_field(text: str, says: str) -> None:
    with pytest.raises(StudyError) as error:
        parse_study(text, "pets.yaml")
    assert says in str(error.value)
    assert str(error.value).startswith("pets.yaml:") and "\n" not in str(error.value)


def test_a_lost_task_is_allowed_where_it_is_a_defect_of_the_source() -> None:
    lost = "do {attribute0}?\n          source_defect: lost in the source\n          words"
    text = broken("do {attribute0}, who {attribute1}?\n          words", lost)
    assert INSTRUMENTS["relative_decision"].variations(parse_study(text, "pets.yaml"))["farm"]


def test_a_variation_is_asked_by_default_where_any_stereotype_asks_it() -> None:
    more = """
    decisions:
      relative_decision:
        farm:
          wording: "{group0} {group1} {attribute0} {attribute1}"
          by_default: false
"""
    study = parse_study(PETS.rstrip() + more, "pets.yaml")
    assert INSTRUMENTS["relative_decision"].variations(study)["farm"]


def test_wordings_that_only_serve_to_read_answers_are_not_offered() -> None:
    text = broken("          wording: Should {a_group} do {attribute}?", "          by_default: no")
    study = parse_study(text, "pets.yaml")
    assert "absolute_decision" not in offers(study)
    assert INSTRUMENTS["absolute_decision"].variations(study) == {"farm": False}


def test_the_hash_is_of_what_an_instrument_asks() -> None:
    plain = parse_study(PETS, "pets.yaml")
    changed = parse_study(broken("Should {a_group} do", "May {a_group} do"), "pets.yaml")
    noted = parse_study(
        broken("wording_of: farm", "wording_of: farm\n          note: x"), "pets.yaml"
    )
    assert study_hash(plain) == study_hash(noted)
    assert study_hash(plain) != study_hash(changed)
    for instrument in ("word_association", "relative_decision", "chained_task"):
        parts = INSTRUMENTS[instrument].parts
        assert study_hash(plain, parts) == study_hash(changed, parts)
    parts = INSTRUMENTS["absolute_decision"].parts
    assert study_hash(plain, parts) != study_hash(changed, parts)
