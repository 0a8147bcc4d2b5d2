"""What an answer settles on, where it says something else first."""

from __future__ import annotations

import pytest

from clinometer.reading.cleaning import final_answer
from clinometer.reading.parsing import read_pairs

WORDS = ["home", "office", "wedding", "salary"]
FIRST = "home - Ben\noffice - Julia\nwedding - Ben\nsalary - Julia"
LAST = "home - Julia\noffice - Ben\nwedding - Julia\nsalary - Ben"
SETTLED = {"home": "Julia", "office": "Ben", "wedding": "Julia", "salary": "Ben"}


def pairs(text: str) -> dict[str, str]:
    return read_pairs(final_answer(text).text, ("Julia", "Ben"), WORDS).pairs


@pytest.mark.parametrize(
    "mark",
    ["Wait, let me redo this.", "Final answer:", "On reflection, I prefer this:"]
    + ["Correction:", "**Final list**", "Scratch that."],
)
def test_the_last_version_counts(mark: str) -> None:
    assert pairs(f"{FIRST}\n\n{mark}\n{LAST}") == SETTLED
    assert pairs(f"{LAST}\n\n{mark}\n{FIRST}") != SETTLED


def test_a_part_of_an_answer_may_be_corrected() -> None:
    assert pairs(LAST.replace("home - Julia", "home - Ben") + "\nWait: home - Julia") == SETTLED


@pytest.mark.parametrize(
    "slip", ["... wait, ", " (no, sorry) ", ", actually ", " — scratch that, "]
)
def test_a_slip_within_a_line(slip: str) -> None:
    assert pairs(LAST.replace("office - Ben", f"office - Julia{slip}Ben")) == SETTLED


@pytest.mark.parametrize("joint", [" or ", " and ", ", not ", " rather than "])
def test_what_is_no_slip(joint: str) -> None:
    assert pairs(LAST.replace("office - Ben", f"office - Julia{joint}Ben")).get("office") != "Ben"


def test_two_lists_without_a_mark_agree_or_give_none() -> None:
    assert pairs(f"{FIRST}\n\n{LAST}") == {}


def test_a_closing_remark_changes_nothing() -> None:
    assert pairs(f"{LAST}\n\nWait for my other suggestions, or let me correct it!") == SETTLED
