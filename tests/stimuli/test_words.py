"""Words with joiners, U+200C and U+200D (Unicode TR31, 2.3, and UTS51)."""

from __future__ import annotations

import pytest

from clinometer.errors import StudyError
from clinometer.stimuli import parse_study, word_key

SPELLED = {
    "Persian": "خانه\u200cدار",
    "Persian, two words": "خانه\u200cدار و زن",
    "Hindi": "क्\u200dष",
    "Hindi, not joined": "क्\u200cष",
    "Sinhala": "ශ්\u200dරී",
    "old Malayalam": "അവന്\u200d",
    "emoji with hair": "👩🏽\u200d🦱",
    "emoji with a job": "👩\u200d⚕️",
    "emoji of a flag": "🏳️\u200d🌈",
}
REFUSED = {
    "at the start": "\u200cخانه",
    "at the end": "خانه\u200c",
    "doubled": "خانه\u200c\u200cدار",
    "at a space": "خانه\u200c دار",
    "between Latin letters": "ho\u200cme",
    "between accented letters": "é\u200dà",
    "between Chinese letters": "女\u200c人",
    "after an emoji": "👩\u200d",
    "an emoji and a letter": "👩\u200da",
    "emoji not joined": "👩\u200c👨",
    "control": "a\\x07b",
    "direction": "a\u202eb",
    "surrogate": "a\\ud800",
    "private": "a\ue000",
    "unassigned": "a\u0378",
}


def study(word: str) -> str:
    lists = f'marginalized: [cat], default: [dog], tied: ["{word}"], counter: [good]'
    return f"name: words\nstereotypes:\n  pets: {{category: age, {lists}}}"


@pytest.mark.parametrize("word", SPELLED.values(), ids=SPELLED)
def test_a_joiner_that_spells(word: str) -> None:
    assert parse_study(study(word), "words.yaml").stereotypes["pets"].tied == [word]


@pytest.mark.parametrize("word", REFUSED.values(), ids=REFUSED)
def test_a_character_that_does_not_spell(word: str) -> None:
    with pytest.raises(StudyError, match=r"words\.yaml:.*(control character|not valid YAML)"):
        parse_study(study(word), "words.yaml")


def test_words_that_differ_in_a_joiner_are_one() -> None:
    assert word_key("خانه\u200cدار") == word_key("خانهدار")
