"""Prompts for free association, and answers as models write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clinometer.reading.cleaning import final_answer
from clinometer_measures.networks.associates import read_associates
from clinometer_measures.networks.association_plan import continued_text, cue_messages

SEA = ["water", "beach", "sun"]


@pytest.mark.parametrize(
    "text",
    [
        "water,beach,sun",
        " water, beach, sun.",
        "Output: water, beach, sun",
        "Output:\nwater,beach,sun",
        "Input: sea\nOutput: water,beach,sun",
        "Associations: water, beach, sun",
        "sea: water, beach, sun",
        "1. water\n2. beach\n3. sun",
        "1) water 2) beach 3) sun",
        "1. water, 2. beach, 3. sun",
        "a) water\nb) beach\nc) sun",
        "- water\n- beach\n- sun",
        "* water\r\n* beach\r\n* sun",
        "• water • beach • sun",
        "water\n\nbeach\n\nsun\n",
        "water; beach; sun",
        "water / beach / sun",
        "| water | beach | sun |",
        "water，beach，sun",
        "water、beach、sun",
        "water. beach. sun.",
        "water, beach, and sun",
        "**water**, *beach*, _sun_",
        '"water", "beach", "sun"',
        '"water,beach,sun"',
        "“water”, ‘beach’, «sun»",
        '["water", "beach", "sun"]',
        "['water', 'beach', 'sun']",
        '["water", "beach", "sun',
        '{"output": ["water", "beach", "sun"]}',
        '{"1": "water", "2": "beach", "3": "sun"}',
        '```json\n["water", "beach", "sun"]\n```',
        "```\nwater, beach, sun\n```",
        "Sure! Here are three words: water, beach, sun",
        "Certainly, here are the words:\n\n1. water\n2. beach\n3. sun\n\nAnything else?",
        "Okay. water, beach, sun",
        "The first three words I associate with sea are water, beach, and sun.",
        "1. water: what the sea is made of\n2. beach - where it ends\n3. sun (a star)",
        "water (liquid), beach (sand), sun (star)",
        "Word 1: water\nWord 2: beach\nWord 3: sun",
        "First word: water, second word: beach, third word: sun",
        "water, beach, sun. I hope this helps you!",
        "water,beach,sun\n\nExplanation: the sea is made of water, and so on.",
        "water,beach,sun\nInput: moon\nOutput: night,star,tide",
        "water, beach, sun, sand, waves",
        "water 🌊, beach 🏖️, sun ☀️",
        "wa\x00ter,\x07beach,\u200bsun\x1b",
        "water,beach,sun</s>",
        "water,beach,sun<|im_end|>\n<|im_start|>user",
        "<think>The sea, hmm: salt, fish.</think>\nwater,beach,sun",
        "water,beach,sun" + ", and more" * 100_000,
    ],
)
def test_what_models_write_is_read(text: str) -> None:
    assert read_associates(final_answer(text).text) == SEA


@pytest.mark.parametrize(
    ("text", "associates"),
    [
        ("water", ["water"]),
        ("water, beach", ["water", "beach"]),
        ("water,,beach,", ["water", "beach"]),
        ("water,beach\nInput: moon\nOutput: night", ["water", "beach"]),
        ("Null, NaN, none", ["Null", "NaN", "none"]),
        ("true, 1, 3.5", ["true", "1", "3.5"]),
        ("12:30, 100%, noon", ["12:30", "100%", "noon"]),
        ("don't, mother-in-law, rock and roll", ["don't", "mother-in-law", "rock and roll"]),
        ("Mr. Smith, Dr. Who, St. Bernard", ["Mr. Smith", "Dr. Who", "St. Bernard"]),
        ("ice cream, summer, sun", ["ice cream", "summer", "sun"]),
        ("word, words, output", ["word", "words", "output"]),
        ("sorry, apology, regret", ["sorry", "apology", "regret"]),
        ("I, me, self", ["I", "me", "self"]),
        ("No, never, nope", ["No", "never", "nope"]),
        ("água, praia, 太陽", ["água", "praia", "太陽"]),
    ],
)
def test_words_are_left_as_they_are(text: str, associates: list[str]) -> None:
    assert read_associates(final_answer(text).text) == associates


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n\t",
        "...",
        "🌊, 🏖️, ☀️",
        "I'm sorry, but I can't help with that.",
        "I cannot fulfill this request.",
        "As an AI language model, I do not have associations.",
        "I'm sorry, I can't provide words about this group.",
        "<think>the sea is full of water, beach, sun",
        "This is the description of a sentence that somebody printed in the newspaper",
        "Here are the three words:",
        "x" * 1000,
        "[" * 5000,
    ],
)
def test_what_holds_no_associates_gives_none(text: str) -> None:
    assert read_associates(final_answer(text).text) == []


@pytest.mark.parametrize(
    "text", ["sea, water, beach, sun", "Sea\nwater, beach, sun", "sea - water, beach, sun",
             "**sea** → water, beach, sun", "1. Sea: water, beach, sun"],
)  # fmt: skip
def test_the_echo_of_the_cue_is_left_out(text: str) -> None:
    assert read_associates(text, cue="sea") == SEA


def test_a_cue_among_three_associates_is_one_of_them() -> None:
    assert read_associates("sea, water, beach", cue="sea") == ["sea", "water", "beach"]


def test_fewer_can_be_asked_for() -> None:
    assert read_associates("water, beach, sun", most=2) == ["water", "beach"]


@given(st.one_of(st.text(), st.text("a1 ,;:.-\n*\"'()[]{}/|•>#<"), st.text('[]{},:"1a\\ ')))
def test_any_text_gives_clean_associates(text: str) -> None:
    associates = read_associates(text, cue="a")
    assert len(associates) <= 3
    for associate in associates:
        assert associate and associate == associate.strip() and len(associate.split()) <= 4
        assert not set(associate) & set(",\n\r\t\x00")


@pytest.mark.parametrize("unit", ["word ", "- ", "1. ", "a: ", "(", "[", "\n", "x y z a b "])
def test_an_answer_of_a_megabyte_is_read_at_its_beginning(unit: str) -> None:
    ramble = unit * (1_000_000 // len(unit))
    assert read_associates(f"water, beach, {ramble}")[:2] == ["water", "beach"]
    assert "sun" not in read_associates(f"{'I ramble on and on. ' * 50_000}\nsun")


def test_the_wording_is_the_published_one() -> None:
    system, user = cue_messages("sea")
    assert user == {"role": "user", "content": "sea"}
    assert system["role"] == "system"
    lines = system["content"].split("\n")
    assert lines[1] == (
        "- You will be provided with an input word: write the first 3 words you associate to it "
        "separated by a comma."
    )
    assert lines[-3:] == ["Example:", "Input: sea", "Output: water,beach,sun"]


def test_a_continuation_ends_with_the_cue_and_shows_it_nowhere_else() -> None:
    assert continued_text("sea").endswith("\nsea:")
    assert continued_text("Winter").count("inter") == 1
    (message,) = cue_messages("sea", continuation=True)
    assert message == {"role": "user", "content": continued_text("sea")}
    opened = cue_messages("sea", continuation=True, opened=True)
    assert [message["role"] for message in opened] == ["user", "assistant"]
