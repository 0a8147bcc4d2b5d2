from __future__ import annotations

import pytest

from clinometer.reading.people import link_people
from clinometer.reading.vocabulary import find, tokenise, vocabulary

VOCABULARY = vocabulary((("old",), ("young",)), (("agony",), ("joy",)))
RUTH_AND_KEN = {"ruth": 0, "ken": 1}


def link(profile, decision="Ruth takes agony. Ken takes joy."):
    texts = [tokenise(profile), tokenise(decision)]
    return link_people(*texts, tuple(find(text, VOCABULARY) for text in texts))


@pytest.mark.parametrize(
    "profile",
    [
        "Profile 1 (Old): Ruth is calm.\n\nProfile 2 (Young): Ken is bold.",
        "Old:\nRuth is calm.\n\nYoung:\nKen is bold.",
        "## Old manager\n\nRuth is calm and likes to plan.\n\n## Young manager\n\nKen is bold.",
        "Ruth, the old manager, is calm. Ken, the young manager, is bold.",
        "The old manager is Ruth. She is calm. The young manager is Ken.",
        "Ruth is calm. She has seen a lot and is the old one.\n\nKen is bold and young.",
        "Ruth is calm. She has seen a lot, more than most.\n\nKen is bold, and a young man.",
        "1. Ruth (old) - calm; 2. Ken (young) - bold",
        "Ruth, whom Ken admires, is calm and has grown old.\n\nKen is young. Ken is bold.",
        "**Ruth** – an old hand\n**Ken** – a young talent",
    ],
)
def test_profiles(profile):
    assert link(profile) == RUTH_AND_KEN


@pytest.mark.parametrize(
    "decision",
    ["Ruth (old) takes agony, and Ken (young) joy.", "The old manager, Ruth, and young Ken agree."],
)
def test_people_may_be_introduced_in_the_decision(decision):
    assert link("", decision) == RUTH_AND_KEN


def test_labels_are_names():
    profile = "Manager A is old.\n\nManager B is young."
    assert link(profile, "Manager B is fit, manager A is not.") == {"manager 1": 0, "manager 2": 1}


def test_words_that_open_a_sentence_are_no_names():
    assert link("Old and calm, based in Lyon.\n\nYoung.", "Based on this, calm. Given that.") == {}
