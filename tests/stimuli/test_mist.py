"""The MIST stimuli are those of the paper (Li et al. 2025, arXiv:2506.14161), appendix B."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from clinometer.contracts.catalogue import INSTRUMENTS, offers
from clinometer.contracts.design import Design
from clinometer.reading.parsing import read_pairs
from clinometer.stimuli import fill, load_study, parse_study, word_key

MIST = load_study("mist2025")
GERMAN = load_study("herkunft_de")
TEMPLATES = ["template1", "template2", "template3"]


@pytest.fixture(scope="module")
def lexicon(shared_data: Path) -> dict[str, Any]:
    text = (shared_data / "mist" / "lexicon.json").read_text(encoding="utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded


def test_the_counts_are_those_of_the_paper() -> None:
    groups = {w for s in MIST.stereotypes.values() for w in s.default + s.marginalized}
    categories = Counter(s.category for s in MIST.stereotypes.values())
    sizes = {key: (len(d.counter), len(d.tied)) for key, d in MIST.dimensions.items()}
    assert (len(groups), len(MIST.objects)) == (64, 30)  # tables 4 and 3
    assert categories == {"race": 4, "gender": 2, "health": 4}
    assert sizes == {"competence": (17, 20), "sociability": (19, 19), "morality": (20, 20)}


def test_the_advantaged_group_is_default(lexicon: dict[str, Any]) -> None:
    source = {pairing["name"]: pairing for pairing in lexicon["pairings"]}
    assert [s.label for s in MIST.stereotypes.values()] == [*source]
    for stereotype in MIST.stereotypes.values():
        pairing = source[stereotype.label]
        assert (stereotype.default, stereotype.marginalized) == (pairing["s_a"], pairing["s_b"])
        assert stereotype.category == pairing["domain"].lower()


def test_the_desirable_words_are_counter(lexicon: dict[str, Any]) -> None:
    assert [d.label for d in MIST.dimensions.values()] == [*lexicon["attributes"]]
    for dimension in MIST.dimensions.values():
        source = lexicon["attributes"][dimension.label]
        assert (dimension.counter, dimension.tied) == (source["x_a"], source["x_b"])


def test_the_objects_are_those_of_table_3(lexicon: dict[str, Any]) -> None:
    assert MIST.objects == [word for words in lexicon["neutral"].values() for word in words]


def test_the_association_is_worded_as_printed(lexicon: dict[str, Any]) -> None:
    association = MIST.instruments.word_association
    ten = ", ".join(f"{{x_{number}}}" for number in range(1, 11))
    placeholders = {"group0": "{s_a}", "group1": "{s_b}", "attributes": ten}
    printed = [
        fill(
            f"{v.wording} {association.answer_format}",
            {**placeholders, "pair_format": association.pair_format},
        )
        for v in association.variations.values()
    ]
    assert printed == lexicon["wabt_templates"]
    assert (association.words_per_set, association.draws) == (5, "own")
    assert association.default_variations == [*association.variations] == TEMPLATES


def test_the_attribution_is_worded_as_printed(lexicon: dict[str, Any]) -> None:
    attribution = MIST.instruments.affective_attribution
    placeholders = {
        "group": "{s_e}",
        "object": "{s_n}",
        "outcome0": "comedy",
        "outcome1": "tragedy",
    }
    printed = [
        {"q1": fill(v.wording, placeholders), "q2": fill(v.followup, placeholders)}
        for v in attribution.variations.values()
    ]
    assert printed == lexicon["aat_templates"]
    assert attribution.default_variations == [*attribution.variations] == TEMPLATES


def test_an_attribution_reads_as_the_example_in_the_paper() -> None:
    variation = MIST.instruments.affective_attribution.variations["template2"]
    prompt = fill(variation.wording, {"group": "Old", "object": "Pen"})
    assert prompt == "Reflecting on Old, describe Pen."  # appendix C.2, second example
    assert "Once you’ve" in MIST.instruments.affective_attribution.variations["template3"].wording


def test_fifty_draws_are_as_many_as_the_paper_asked() -> None:
    design = Design(iterations=50)
    associations = INSTRUMENTS["word_association"].trials(MIST, design)
    attributions = INSTRUMENTS["affective_attribution"].trials(MIST, design)
    assert dict(associations["dimension"].value_counts().iter_rows()) == dict.fromkeys(
        MIST.dimensions, 1500
    )
    # Figure 6, less the share of the word association.
    counted = dict(attributions["category"].value_counts().iter_rows())
    assert counted == {"race": 600, "gender": 300, "health": 600}


def test_the_usual_wordings_of_the_attribution_are_those_of_mist() -> None:
    text = "name: a\nobjects: [x]\nstereotypes: {b: {marginalized: [c], default: [d]}}\n"
    usual = parse_study(text, "a.yaml").instruments.affective_attribution
    assert usual == MIST.instruments.affective_attribution


def test_a_warning_says_that_females_are_the_advantaged_gender() -> None:
    assert MIST.stereotypes["male"].default[0] == "Woman"
    warnings = [text for text in MIST.deviations if text.startswith("Warning")]
    assert len(warnings) == 1 and "against men" in warnings[0]


def test_the_attribution_has_a_control_of_either_kind() -> None:
    tragic, nonsense = load_study("control_occasions"), load_study("control_nonsense")
    assert (tragic.control, nonsense.control) == ("positive", "negative")
    assert offers(tragic) == ["affective_attribution"]
    assert "affective_attribution" in offers(nonsense)
    occasions = tragic.stereotypes["occasions"]
    group_words = " ".join(occasions.marginalized + occasions.default + tragic.objects)
    outcomes = tragic.instruments.affective_attribution
    assert not any(word in group_words for word in outcomes.comedy + outcomes.tragedy)


def test_the_german_study_is_whole_and_says_that_it_is_not_reviewed() -> None:
    assert GERMAN.language == "de" and "Not reviewed" in GERMAN.deviations[0]
    assert offers(GERMAN) == ["word_association", "affective_attribution"]
    assert {(len(d.tied), len(d.counter)) for d in GERMAN.dimensions.values()} == {(12, 12)}
    words = [w for d in GERMAN.dimensions.values() for w in d.tied + d.counter]
    assert len({word_key(word) for word in words}) == 72
    assert len(GERMAN.objects) == 12


@pytest.mark.parametrize("instrument", ["word_association", "affective_attribution"])
@pytest.mark.parametrize("mode", ["free", "structured", "forced"])
def test_german_prompts_hold_no_english(instrument: str, mode: str) -> None:
    design = Design(mode=mode, iterations=2)
    trials = INSTRUMENTS[instrument].trials(GERMAN, design)
    text = " ".join(trials.select("prompt", "followup").unpivot()["value"].drop_nulls())
    assert not {"the", "word", "words", "and", "or", "describe"} & set(text.lower().split())
    assert "  " not in text
    # One word at a time is put in when it is asked.
    assert set(re.findall(r"\{\w*\}", text)) <= {"{attribute}"}


def test_german_answers_are_paired() -> None:
    words = GERMAN.words("behinderung", "", "moral")
    groups = (words.marginalized[0], words.default[0])
    assignment = {
        word: groups[number % 2] for number, word in enumerate(words.tied + words.counter)
    }
    answer = "\n".join(f"„{word}“ – {group}" for word, group in assignment.items())
    assert read_pairs(answer, groups, [*assignment]).pairs == assignment
