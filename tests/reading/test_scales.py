"""The reader of ratings, on answers written by hand.

The first part was written before the reader, the second after it was finished, the third
and fourth each after mending on those before. The fifth and sixth were written by other authors,
who did not know the reader, each before the reader was mended on it.
The seventh was written while mending, a form for each rule.
The eighth is by two more such authors; only the reader of yes and no was mended on it.
"""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clinometer.reading.cleaning import final_answer
from clinometer.reading.scales import read_scale

SCALES: dict[str, dict[int, str]] = {
    "agree7": dict(enumerate(
        ("strongly disagree", "disagree", "somewhat disagree", "neither agree nor disagree",
         "somewhat agree", "agree", "strongly agree"), 1)),
    "agree5": dict(enumerate(
        ("strongly disagree", "disagree", "neutral", "agree", "strongly agree"), 1)),
    "warm100": {0: "very cold", **dict.fromkeys(range(1, 100), ""), 100: "very warm"},
    "often5": dict(enumerate(("never", "rarely", "sometimes", "often", "always"), 1)),
    "ends9": {1: "not at all", **dict.fromkeys(range(2, 9), ""), 9: "extremely"},
    "signed7": dict(enumerate(
        ("strongly prefer young people", "moderately prefer young people",
         "slightly prefer young people", "no preference", "slightly prefer old people",
         "moderately prefer old people", "strongly prefer old people"), -3)),
}  # fmt: skip


def answers(*parts: str) -> list[dict[str, str]]:
    with Path(__file__).with_name("scales.csv").open(newline="") as file:
        return [row for row in csv.DictReader(file) if row["part"] in parts]


def read(row: dict[str, str]) -> str:
    choice = read_scale(
        final_answer(row["response"].replace("\\n", "\n")).text, SCALES[row["scale"]]
    )
    return choice.outcome or choice.reason


PARTS = [(part,) for part in "first second fifth sixth seventh eighth".split()] + [
    ("third", "fourth")
]


@pytest.mark.parametrize("parts", PARTS)
def test_answers_written_by_hand(parts: tuple[str, ...]) -> None:
    rows = answers(*parts)
    wrong = [(row, read(row)) for row in rows if read(row) != row["expected"]]
    assert len(wrong) <= len(rows) // 100, wrong


@given(st.text() | st.text("0123456789 -/.,|()stronglyagree\n"))
def test_no_answer_breaks_the_reader(text: str) -> None:
    choice = read_scale(text, SCALES["agree7"])
    assert (choice.outcome is None) != (choice.reason is None)
    assert choice.outcome is None or int(choice.outcome) in SCALES["agree7"]
