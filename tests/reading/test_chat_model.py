"""Both readers on real answers of a small chat model to the free wordings of Bai et al. 2025.

The answers are beside the repository and for tests only. Labels were set by hand before the readers
saw the answers: ``qwen_associations.csv`` has the group of each word in the order of the prompt (m
marginalized, d default, - none), or "none" where fewer than .8 of the words have a group;
``qwen_decisions.csv`` has who got the tied task, and whether that is sure.
"""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from clinometer.reading.cleaning import final_answer
from clinometer.reading.decisions import read_decision
from clinometer.reading.parsing import read_pairs

FOLDER = Path(__file__).parent
DATA = FOLDER.parents[2] / "shared" / "data" / "qwen"
pytestmark = pytest.mark.skipif(
    not DATA.is_dir(), reason="needs shared/data/qwen beside the repository"
)
KEY = ("stereotype", "variation", "iteration")


def labelled(name: str) -> list[tuple[dict[str, str], dict[str, str]]]:
    """Return answers with their labels."""
    with (FOLDER / f"qwen_{name}.csv").open(newline="") as file:
        labels = list(csv.DictReader(file))
    with (DATA / f"{name}.csv").open(newline="") as file:
        answers = list(csv.DictReader(file))
    for answer, label in zip(answers, labels, strict=True):
        assert [answer[column] for column in KEY] == [label[column] for column in KEY]
    return list(zip(answers, labels, strict=True))


def test_each_word_has_the_group_of_its_label() -> None:
    for answer, label in labelled("associations"):
        groups = (answer["marginalized"], answer["default"])
        words = answer["attributes"].split("|")
        text = final_answer(answer["response"]).text
        reading = read_pairs(text, groups, words, stop_reason=answer["stop_reason"])
        letters = {groups[0]: "m", groups[1]: "d", None: "-"}
        by_word = "".join(letters[reading.pairs.get(word)] for word in words)
        assert ("none" if reading.reason else by_word) == label["groups"], [
            label[part] for part in KEY
        ]


def test_each_decision_is_that_of_its_label() -> None:
    for answer, label in labelled("decisions"):
        groups = ([answer["marginalized"]], [answer["default"]])
        tasks = ([answer["tied"]], [answer["counter"]])
        text = final_answer(answer["response"]).text
        decision = read_decision(text, groups, tasks, stop_reason=answer["stop_reason"])
        if label["sure"] == "yes":
            assert (decision.tied_to or "none") == label["tied_to"], [label[part] for part in KEY]
