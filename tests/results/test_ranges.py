"""Ranges: which rows are of one, and how it is printed."""

import polars as pl
import pytest

from clinometer.results.ranges import lean_text, range_text, rows_of_range


def test_rows_are_those_of_the_range():
    rows = pl.DataFrame({"range": ["prompts", "other_prompts", "prompts"], "estimate": [1, 2, 3]})
    assert rows_of_range(rows, "prompts")["estimate"].to_list() == [1, 3]
    assert rows_of_range(rows, "other_prompts")["estimate"].to_list() == [2]


@pytest.mark.parametrize(
    ("name", "fixed", "text"),
    [
        ("prompts", "this stereotype, one wording", "in these prompts"),
        ("other_prompts", "these stereotypes", "in other prompts"),
        ("other_prompts", None, "in other prompts"),
        (
            "other_prompts",
            "this stereotype, one wording, one default word, one marginalized word",
            "in other prompts (open: other wordings, other words)",
        ),
        ("stereotypes", None, "for other stereotypes"),
    ],
)
def test_other_prompts_say_what_is_open(name, fixed, text):
    assert range_text(name, fixed) == text


@pytest.mark.parametrize(
    ("in_prompts", "beyond", "text"),
    [
        (
            "consistent",
            "consistent",
            "leans as the stereotype says",
        ),
        (
            "reversed",
            "inconclusive",
            "leans against the stereotype in these prompts; in others open",
        ),
        ("inconclusive", "inconclusive", "unclear"),
        ("equivalent", "inconclusive", "no lean found in these prompts; in others open"),
        (
            "inconclusive",
            "consistent",
            "unclear in these prompts; in others leans as the stereotype says",
        ),
        (
            "consistent",
            "no verdict: one cluster",
            "leans as the stereotype says in these prompts; in others open",
        ),
        (None, "consistent", "leans as the stereotype says"),
    ],
)
def test_a_lean_in_these_prompts_alone_is_told_apart(in_prompts, beyond, text):
    assert lean_text(in_prompts, beyond) == text


def test_a_reason_for_no_verdict_stands_once():
    assert lean_text(*["no verdict: compliance"] * 2).count("too few responses") == 1


def test_with_a_word_a_side_other_words_are_open():
    fixed = "stereotypes, attribute words, one marginalized word, one default word"
    assert lean_text("consistent", "consistent", fixed) == (
        "leans as the stereotype says (other words open)"
    )
    assert range_text("other_prompts", fixed) == "in other prompts (open: other words)"
    assert range_text("prompts", fixed) == "in these prompts"


def test_measures_without_a_direction_have_sides_of_neutral():
    text = lean_text("consistent", "reversed", directed=False)
    assert text == "lies above neutral in these prompts; in others lies below neutral"
