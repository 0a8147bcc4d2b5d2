"""Scales that the name of a column of ratings states; names in messages."""

from __future__ import annotations

import pytest

from clinometer.errors import InputError, find_scale, shortened, unknown


@pytest.mark.parametrize(
    ("column", "low", "high"),
    [
        ("rating 1 to 7", 1, 7),
        ("Rating (0-100)", 0, 100),
        ("rating_1_7", 1, 7),
        ("rating −3 to 3", -3, 3),
        ("rating -2.5 to +2.5", -2.5, 2.5),
    ],
)
def test_a_stated_scale(column: str, low: float, high: float) -> None:
    assert find_scale(["group", column], "rating") == (column, low, high)


@pytest.mark.parametrize("column", ["rating", "ratings 1 to 7", "rating of 7", "arousal 1 to 9"])
def test_no_scale(column: str) -> None:
    assert find_scale([column], "rating") is None


def test_a_scale_that_ends_before_it_begins() -> None:
    with pytest.raises(InputError, match="'rating 7 to 1': a scale that ends before"):
        find_scale(["rating 7 to 1"], "rating")


def test_a_long_name_ends_at_a_word_with_a_mark() -> None:
    question = "How much do you agree with the following statement?"
    assert shortened(["model", question]) == "model, How much do you agree with the following…"
    assert shortened(["x" * 41]) == "x" * 40 + "…"
    assert f"{'x' * 40}…" in unknown("column", "x" * 41, ["model"])
