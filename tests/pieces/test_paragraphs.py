"""Paragraphs of the page that templates hold."""

import pytest
from jinja2 import UndefinedError

from clinometer.pieces.paragraphs import Paragraphs, fill_paragraphs

SPLITS = {"direction": "positive: {{7*7}}", "has_splits": True, "fewest_splits": 19}


def test_paragraphs_are_on_a_line_each_and_values_stay_text():
    reading, splits = fill_paragraphs(Paragraphs("stereotypes", SPLITS))
    assert "above neutral (positive: {{7*7}}). A mean whose interval crosses the line" in reading
    assert splits.startswith("Random splits") and "with 19 splits or more" in splits


def test_what_is_not_so_is_left_out():
    assert len(fill_paragraphs(Paragraphs("stereotypes", {**SPLITS, "has_splits": False}))) == 1


def test_a_value_that_is_missing_is_an_error():
    with pytest.raises(UndefinedError, match="has_splits"):
        fill_paragraphs(Paragraphs("stereotypes", {"direction": "up"}))


def test_sentences_stay_as_they_are():
    assert fill_paragraphs(("One.", "Two\nlines.")) == ("One.", "Two\nlines.")
