"""Ranges: which rows are of one, and how it is printed."""

import polars as pl
import pytest

from clinometer.results.ranges import range_text, rows_of_range


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
