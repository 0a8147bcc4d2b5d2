from dataclasses import replace

import pytest

from clinometer.pieces.prose import (
    SCORE_VERDICTS,
    file_names,
    mean_text,
    short_names,
    verdict,
    verdict_class,
    verdict_counts,
    verdict_kind,
)
from clinometer.results import Measure
from clinometer.results.verdicts import VERDICTS, explained, print_mean_verdict


@pytest.mark.parametrize(
    ("code", "text", "style"),
    [
        ("consistent", "▲ leans as the stereotype says", "consistent"),
        ("reversed, within margin", "▼ leans against the stereotype, within margin", "reversed"),
        ("no verdict: compliance", "– no verdict: compliance", ""),
        ("something new", "something new", ""),
        (None, "n/a", ""),
    ],
)
def test_verdicts(code, text, style):
    assert (verdict(code), verdict_class(code)) == (text, style)


def test_a_verdict_without_a_direction_names_the_side_of_neutral():
    codes = ["consistent, within margin", "reversed", "equivalent"]
    labels = ["▲ lies above neutral, within margin", "▼ lies below neutral", "■ no lean found"]
    assert [verdict(code, directed=False) for code in codes] == labels


def test_short_names_still_differ():
    assert short_names(["a/x", "b/y"]) == {"a/x": "x", "b/y": "y"}
    assert short_names(["a/x", "b/x"]) == {"a/x": "a/x", "b/x": "b/x"}


def test_file_names_are_safe_and_differ():
    assert file_names(["free", "as released, exact"]) == ["free", "as-released-exact"]
    assert file_names(["../a", "a"]) == ["1", "2"] and file_names(["مرحبا"]) == ["1"]


DIRECTED = Measure("m", "M", -1.0, 1.0, 0.0, "positive: with it", "")
UNDIRECTED = replace(DIRECTED, directed=False)


@pytest.mark.parametrize("code", [c for c in VERDICTS if verdict_kind(c) in SCORE_VERDICTS])
def test_every_verdict_is_printed_as_whether_the_mean_leans(code):
    sentence = print_mean_verdict(code)
    words = {
        "consistent": "as the stereotype",
        "reversed": "against",
        "equivalent": "no lean found",
        "inconclusive": "unclear",
        "no verdict": "no verdict: ",
    }
    assert words[verdict_kind(code)] in sentence
    assert ("within" in code) == ("less than the margin" in sentence)
    assert ("scored answers only" in code) == ("in the scored answers" in sentence)
    without_direction = print_mean_verdict(code, directed=False)
    assert "stereotype" not in without_direction + explained(code, directed=False)
    words |= {"consistent": "lies above neutral", "reversed": "lies below neutral"}
    assert words[verdict_kind(code)] in without_direction


def test_means_are_counted_in_the_words_of_their_measure():
    codes = ["consistent", "consistent, for this order", "reversed", "inconclusive", None]
    rows = [{"verdict": code, "conditional_on": "stereotypes, attribute words"} for code in codes]
    counts = "2 lean as the stereotype says, 1 leans against the stereotype, 1 unclear"
    assert verdict_counts(rows, DIRECTED) == f"{counts}, 1 without a verdict"
    assert verdict_counts(rows[:3], UNDIRECTED) == "2 lie above neutral, 1 lies below neutral"


def test_a_lean_with_one_word_for_a_group_is_counted_apart():
    """Other words may not lean so; what is unclear stays unclear, and one wording is no word."""
    rows = [
        {"verdict": "consistent", "conditional_on": "attribute words, one default word"},
        {"verdict": "reversed", "conditional_on": "attribute words, one marginalized word"},
        {"verdict": "inconclusive", "conditional_on": "attribute words, one marginalized word"},
        {"verdict": "consistent", "conditional_on": "attribute words, one wording"},
    ]
    assert verdict_counts(rows, DIRECTED) == (
        "1 leans as the stereotype says, 1 unclear, 2 lean with the words asked, others open"
    )


def test_a_mean_has_both_intervals():
    row = {"estimate": 0.5, "ci_low": 0.0, "ci_high": 0.68}
    assert mean_text(row) == "0.50 [0.00 to 0.68 in other prompts]"
    bounded = {**row, "ci_low_bounded": 0.39, "ci_high_bounded": 0.58}
    assert (
        mean_text(bounded) == "0.50 [0.39 to 0.58 in these prompts; 0.00 to 0.68 in other prompts]"
    )


def test_a_mean_without_a_verdict_does_not_lean():
    assert print_mean_verdict(None) == "no verdict"
    assert print_mean_verdict("no verdict: compliance").startswith("no verdict: too few responses")
