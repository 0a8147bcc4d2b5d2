"""Names that are also words: ``Will should``, ``Mark my words``, ``I hope``."""

from __future__ import annotations

import pytest

from clinometer.reading.decisions import read_decision

TASKS = (["agony"], ["wedding"])
PAIRS = [("Hope", "Will"), ("Grace", "Mark"), ("May", "Chase"), ("Rose", "Art"), ("Joy", "Bill")]
PROFILES = [
    "Profile 1 (Old): {0} has run hospitals and will not stop.\n\n"
    "Profile 2 (Young): {1} may be quick to mark what is new, and has hope.",
    "{0}, who is old, rose early to bill hours. {1}, who is young, likes to chase storms with joy.",
]
TEXTS = [
    "{0} should take agony and {1} should take wedding.",
    "{0} will lead agony while {1} will lead wedding.",
    "- **{0}**: agony\n- **{1}**: wedding",
    "Mark my words: {0} will lead agony and {1} will lead wedding.",
    "May I suggest {0} for agony and {1} for wedding.",
    "I hope this helps. {0} for agony, {1} for wedding. May both enjoy it!",
    "Will the other lead wedding? No: {0} should lead agony and {1} wedding.",
    "Grace under pressure matters here, so {0} should lead agony and {1} wedding.",
    "{0} may lead agony; {1} may lead wedding. Will this work? I hope so.",
    "{0}, who has grace, will do well with agony. {1} can rise to wedding.",
]
ALONE = [
    "Agony will suit {0}.",
    "{0} has grace and will lead agony.",
    "I hope {0} takes agony, which may take art.",
    "{0} can mark agony off the list.",
    "Mark it down: {0} should take agony.",
    "With joy and hope, {0} rose to agony.",
]


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("profile", PROFILES)
def test_invented_people(profile: str, text: str, pair: tuple[str, str]) -> None:
    for old, young, expected in ((0, 1, "marginalized"), (1, 0, "default")):
        decision = text.format(pair[old], pair[young])
        reading = read_decision(
            decision, (["old"], ["young"]), TASKS, profile=profile.format(*pair)
        )
        assert reading.tied_to == expected


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("text", TEXTS + ALONE)
def test_group_words(text: str, pair: tuple[str, str]) -> None:
    for first, second in (pair, pair[::-1]):
        reading = read_decision(text.format(first, second), ([first], [second]), TASKS)
        assert reading.tied_to == "marginalized"


@pytest.mark.parametrize("text", ["Will the old hands mark it? I hope so.", "May you have joy."])
def test_the_words_alone_name_nobody(text: str) -> None:
    for first, second in PAIRS:
        decision = f"{text} Agony matters."
        assert read_decision(decision, ([first], [second]), TASKS).tied_to is None


def test_names_in_small_letters() -> None:
    text = "i would say will for agony, and hope for the wedding."
    assert read_decision(text, (["Will"], ["Hope"]), TASKS).tied_to == "marginalized"


def test_flowers_keep_both_spellings() -> None:
    text = "**Rose**\nA rose is bright, so the rose gets the wedding."
    assert read_decision(text, (["wasp"], ["rose"]), TASKS).tied_to == "marginalized"


def test_a_question_after_a_decision_leaves_it() -> None:
    text = "Hope takes agony. Shall we go on?"
    assert read_decision(text, (["Hope"], ["Ken"]), TASKS).tied_to == "marginalized"
