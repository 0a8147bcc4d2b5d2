"""Sentences for a word: what is asked, what is read out of an answer, what is not taken."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clinometer.reading.cleaning import final_answer
from clinometer.words.wordnet import in_wordnet
from clinometer_measures.states.context_reading import (
    REASONS,
    STARTING,
    Checks,
    context_messages,
    find_fault,
    read_contexts,
)
from waiting import grows_linearly

CHECKS = Checks(frozenset({"Mary", "James", "Rose"}), lambda word: bool(in_wordnet([word])))

GOOD = [
    ("The kind neighbor carried the boxes upstairs.", "kind"),
    ("Kind people listen before they answer.", "kind"),
    ("A mother of two opened the shop.", "mother"),  # a gendered term is its own exception
    ("They met Mary at the station.", "Mary"),
    ("On Monday the French team was kind to us.", "kind"),
    ("NASA was kind enough to send a photograph.", "kind"),
    ("Rain fell on a rose and a warm stone.", "warm"),
    ("Don't be kind only when it is easy.", "kind"),
    ("The self-employed are kind to one another!", "kind"),
    ("It was kind, not generous; I thanked the human on duty.", "kind"),
    ("Their pro bono work was admired by all.", "pro  bono"),
]

BAD = [
    ("The neighbor carried the boxes upstairs.", "no_term"),
    ("Mankind is older than the kindness of one day.", "no_term"),
    ("A kind-hearted neighbor carried the boxes.", "no_term"),
    ("He was kind to the neighbor.", "gendered"),
    ("The kind neighbor said she's tired.", "gendered"),
    ("The kind businesswoman carried the boxes.", "gendered"),
    ("A kind MOTHER carried the boxes.", "gendered"),
    ("The neighbor thanked Mary for the kind words.", "name"),
    ("MARY was kind to the neighbor.", "name"),
    ("James is a kind neighbor.", "name"),
    ("Alejandro is a kind neighbor.", "name"),  # no word of the language
    ("They were kind to us in Paris.", "name"),
    ("The kind O'Brien carried the boxes.", "name"),
    ("Be kind.", "length"),
    ("kind " * 61 + "people.", "length"),
    ("The kind neighbor carried the boxes and", "unfinished"),
    ("The kind neighbor carried the boxes and...", "unfinished"),
]


@pytest.mark.parametrize(("sentence", "term"), GOOD)
def test_sentences_without_fault_are_taken(sentence: str, term: str) -> None:
    assert find_fault(sentence, term, CHECKS) is None


@pytest.mark.parametrize(("sentence", "reason"), BAD)
def test_other_sentences_are_not_and_the_reason_is_said(sentence: str, reason: str) -> None:
    assert find_fault(sentence, "kind", CHECKS) == reason


def test_first_words_are_listed_only_where_wordnet_lacks_them() -> None:
    assert not in_wordnet(STARTING)


def test_a_gendered_term_is_allowed_once() -> None:
    assert find_fault("The mother met another mother there.", "mother", CHECKS) == "gendered"


def test_a_sentence_that_is_cut_off_can_be_allowed() -> None:
    loose = Checks(CHECKS.names, finished=False)
    assert find_fault("The kind neighbor carried the boxes and", "kind", loose) is None


FIRST, SECOND = "The kind neighbor carried the boxes.", "People were kind to each other."


@pytest.mark.parametrize(
    "answer",
    [
        f"1. {FIRST}\n2. {SECOND}",
        f"Here are two sentences:\n\n1) {FIRST}\n2) {SECOND}\n\nI hope this helps:",
        f"- **{FIRST}**\n• {SECOND}",
        f'"{FIRST}"\n“{SECOND}”',
        f"{FIRST} {SECOND}",
        f'"{FIRST}" "{SECOND}"',
        f"Sentence 1: {FIRST}\r\nSentence 2: {SECOND}",
        f"The *kind* neighbor carried the boxes.\n{SECOND}",
        json.dumps([FIRST, SECOND]),
        "```json\n" + json.dumps({"sentences": [FIRST, SECOND]}) + "\n```",
        f"<think>He was kind. Mary too.</think>{FIRST}\n\n\n{SECOND}<|im_end|>",
        f"Sure! Here are 2 English sentences.\n{FIRST}\u200b\n{SECOND}",
    ],
)
def test_sentences_are_found_however_they_are_listed(answer: str) -> None:
    contexts = read_contexts(final_answer(answer).text, "kind", CHECKS)
    assert contexts.sentences == (FIRST, SECOND)
    assert contexts.rejected.total() <= 1  # "Sure!"


def test_a_sentence_counts_once() -> None:
    contexts = read_contexts(
        f"{FIRST}\n{SECOND.upper()}\n{SECOND}", "kind", CHECKS, earlier=[FIRST]
    )
    assert len(contexts.sentences) == 1 and contexts.rejected == {"repeated": 2}


@pytest.mark.parametrize(
    ("answer", "rejected"),
    [
        ("I'm sorry, but I can't help with that. It would not be right.", {"refused": 1}),
        ("", {"empty": 1}),
        ("<think>They were kind to all of them.", {"empty": 1}),
        ("He was kind to us all.\nBe kind.", {"gendered": 1, "length": 1}),
    ],
)
def test_what_is_not_taken_is_counted_by_reason(answer: str, rejected: dict[str, int]) -> None:
    contexts = read_contexts(final_answer(answer).text, "kind", CHECKS)
    assert contexts.sentences == () and contexts.rejected == rejected


def test_the_prompt_has_term_definition_number_and_what_is_there() -> None:
    _, message = context_messages("kind", "having a good heart;", 3, [FIRST])
    assert message["content"] == (
        'Write 3 English sentences with "kind".\nHere "kind" means: having a good heart.\n'
        f"Write others than these:\n- {FIRST}"
    )
    _, bare = context_messages("pro bono", None, 1)
    assert bare["content"] == 'Write 1 English sentence with "pro bono".'


@given(st.text(max_size=300), st.sampled_from(["kind", "a", "(", "pro bono", "İ"]))
def test_whatever_a_model_writes_is_read(answer: str, term: str) -> None:
    contexts = read_contexts(answer, term, CHECKS)
    assert set(contexts.rejected) <= set(REASONS)
    assert all(find_fault(sentence, term, CHECKS) is None for sentence in contexts.sentences)


@pytest.mark.parametrize(
    "piece", ["(", "a) ", "1. ", '"', "[", "kind ", "A. ", ". ", "<think>", "*"]
)
def test_long_rubbish_is_read_in_no_time(piece: str) -> None:
    assert grows_linearly(lambda size: read_contexts(piece * size, "kind", CHECKS), 20_000)


def test_the_released_sentences_pass_but_for_their_ends(shared_data: Path) -> None:
    folder = shared_data / "schuster"
    names = json.loads((folder / "names.json").read_text())
    checks = Checks(frozenset(name for group in names.values() for name in group))
    lines = (folder / "generated_examples.txt").read_text().splitlines()
    faults = Counter(
        find_fault(sentence, row["term"], checks)
        for row in map(json.loads, lines)
        for sentence in row["examples"]
    )
    assert faults.total() == 2205 and faults["no_term"] == 0
    assert faults["unfinished"] == 1129 and faults["gendered"] == 17  # businessman, women, …
    assert faults["name"] <= 13  # Carthaginians, MacGyver, Middle Ages, …
