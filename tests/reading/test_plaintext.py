from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clinometer.reading.plaintext import split_tasks
from waiting import grows_linearly

HEADINGS = ["Task {}:", "**Task {}:**", "**Task {}**", "### Task {}", "Task {} -", "TASK {}."]
HEADINGS += [
    "Task {}",
    "Task {} –",
    "* Task {}:",
    "> **Task {}**:",
    "[Task {}]",
    "__Task {}__",
    "Task #{}:",
]
HEADINGS += ["  Task {}:", "task {})", "## **Task {}:**"]


@pytest.mark.parametrize("heading", HEADINGS)
def test_headings(heading):
    parts = [f"{heading.format(n)}\n{body}\n" for n, body in ((1, "a - b"), (2, "Yes."))]
    text = "Sure!\n\n" + "\n".join(parts)
    assert {n: text[slice(*span)] for n, span in split_tasks(text).items()} == {
        1: "a - b",
        2: "Yes.",
    }


def test_a_body_may_stand_beside_its_heading():
    text = "Task 1: a - b\n**Task 2:** Yes"
    assert {n: text[slice(*span)] for n, span in split_tasks(text).items()} == {
        1: "a - b",
        2: "Yes",
    }


def test_a_task_in_a_sentence_is_no_heading():
    assert split_tasks("As for Task 1: I pass.\nTask 2 asks for more.\nTasks 3: none") == {}


def test_the_last_heading_of_a_number_counts():
    text = "Task 1: no\nTask 2: no\nTask 2: yes"
    assert text[slice(*split_tasks(text)[2])] == "yes"


@given(st.lists(st.sampled_from(["Task 1:", "\nTask", "**", " 2", "\n", ":", "x"]) | st.text()))
def test_bodies_lie_in_the_text(pieces):
    text = "".join(pieces)
    assert all(0 <= start <= end <= len(text) for start, end in split_tasks(text).values())


@pytest.mark.parametrize("piece", ["\n", " ", "#", "* ", "Task 1", "\nTask 1:", "\n[*_-"])
def test_time_is_linear(piece):
    assert grows_linearly(lambda size: split_tasks(piece * (size // len(piece))), 200_000)
