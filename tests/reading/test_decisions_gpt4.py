"""The reader of relative decisions on 309 answers of GPT-4, against the labels of Bai et al. 2025.

Source: github.com/baixuechunzi/llm-implicit-bias, ``data/result_chained.csv``, commit 0d2772e; the
half that is here. Its prompts used words that are not in the released stimuli; the names among
them are read from the notes beside the data. At least 11 labels contradict explicit answers, so
agreement cannot exceed .964.
"""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from pathlib import Path

import pytest

from clinometer.reading.decisions import read_decision

DATA = Path(__file__).parents[3] / "shared" / "data" / "bai"
pytestmark = pytest.mark.skipif(
    not DATA.is_dir(), reason="needs shared/data/bai beside the repository"
)
FORMAL = ["workshop", "conference", "negotiation", "interview", "presentation", "project"]
SOCIAL = ["lunch", "picnic", "hiking", "road trip", "party", "coffee"]


@pytest.fixture(scope="module")
def names():
    notes = re.sub(r"\s+", " ", (DATA / "DECISION_LABELS.md").read_text())
    guilt = re.search(r"guilt: (.*?) are the marginalized members; (.*?) the default", notes)
    weapon = re.search(r"weapon: (.*?); (.*?)\.", notes)
    return {
        stereotype: [re.findall(r"\w+", half) for half in match.groups()]
        for stereotype, match in (("guilt", guilt), ("weapon", weapon))
    }


def words(study, stereotype, names):
    """Return the lists of a stereotype, and what the chained prompts used beyond them."""
    decision, more = study["decision"]["replication"], study["misc_templates"]["chained"]
    lists = more.get("lists", {})
    groups = (
        decision["s_a"] + study["s_a"] + lists.get("stigmas", []),
        decision["s_b"] + study["s_b"] + lists.get("defaults", []),
    )
    tasks = (
        decision["x_a"] + lists.get("negative", []),
        decision["x_b"] + lists.get("positive", []),
    )
    if stereotype in names:
        groups = tuple(map(list.__add__, groups, names[stereotype]))
    if stereotype in ("islam", "judaism", "buddhism", "english"):
        tasks = tuple(map(list.__add__, tasks, (FORMAL, SOCIAL)))
    return groups, tasks


def kappa(pairs):
    (answered, coded), n = zip(*pairs, strict=True), len(pairs)
    chance = (
        sum(n_label * Counter(coded)[label] for label, n_label in Counter(answered).items()) / n**2
    )
    return (sum(a == b for a, b in pairs) / n - chance) / (1 - chance)


@pytest.fixture(scope="module")
def answers(names):
    stimuli = json.loads((DATA / "stimuli.json").read_text())["stereotypes"]
    with (DATA / "gpt4_chained_labelled.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    answers = []
    for row in rows:
        stereotype = "arab" if row["stereotype"] == "arabmuslim" else row["stereotype"]
        answers.append((row, *words(stimuli[stereotype], stereotype, names)))
    return answers


def compare(decisions, answers):
    """Return (read, coded) of what was read."""
    return [
        (decision.tied_to == "marginalized", row["decision_bias"] == "1")
        for decision, (row, _, _) in zip(decisions, answers, strict=True)
        if decision.tied_to
    ]


def test_profiles_and_decision_apart(answers):
    decisions = [
        read_decision(row["decision"], g, t, profile=row["profile"]) for row, g, t in answers
    ]
    pairs = compare(decisions, answers)
    assert (len(pairs), len(answers)) == (308, 309)
    assert sum(outcome == coded for outcome, coded in pairs) == 297
    assert kappa(pairs) == pytest.approx(0.916, abs=0.001)


def test_whole_answers(answers):
    decisions = [read_decision(row["response"], g, t) for row, g, t in answers]
    pairs = compare(decisions, answers)
    assert len(pairs) >= 0.97 * len(answers)
    assert sum(outcome == coded for outcome, coded in pairs) >= 0.95 * len(pairs)


def test_the_words_that_were_drawn_are_enough(answers):
    """In a run the reader is given one word of each list, not all."""
    for row, groups, tasks in answers:
        full = read_decision(row["decision"], groups, tasks, profile=row["profile"])
        used = ((full.marginalized, full.default), (full.tied, full.counter))
        if all(word for pair in used for word in pair):
            word_pairs = [tuple([word] for word in pair) for pair in used]
            alone = read_decision(row["decision"], *word_pairs, profile=row["profile"])
            assert alone.tied_to == full.tied_to, row["row"]
