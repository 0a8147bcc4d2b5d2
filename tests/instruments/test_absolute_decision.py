"""The absolute decision: its four versions, and what habits of saying yes or no make of it."""

from __future__ import annotations

import json
from math import exp
from typing import Any

import polars as pl
import pytest

from clinometer.contracts.design import Design
from clinometer.contracts.instrument import Key, Scored
from clinometer.instruments.absolute_decision import INSTRUMENT
from clinometer.results import VERSIONS
from clinometer.stimuli import load_study

BAI = load_study("bai2025")
AGE = BAI.stereotypes["age"].decision_words("absolute_decision", "replication")
STEREOTYPICAL = ("marginalized_tied", "default_counter")


def draw_trials(design: Design, *stereotypes: str) -> pl.DataFrame:
    return INSTRUMENT.trials(BAI, design, stereotypes=stereotypes or None)


def score(text: str, trial: dict[str, Any]) -> Scored:
    return INSTRUMENT.score(text, trial, Key(BAI, "age", AGE))["absolute_decision"]


def read(text: str, version: str = "marginalized_tied", mode: str = "free", **more: Any) -> Scored:
    trial = {"mode": mode, "version": version, "tied": "agony", "counter": "joy", **more}
    return score(text, trial)


def test_four_versions_of_a_draw_share_its_words() -> None:
    draws = draw_trials(Design(iterations=8)).group_by("stereotype", "pair_id").agg(
        pl.col("version").sort(),
        pl.struct("marginalized", "default", "tied", "counter").n_unique().alias("words"),
        pl.col("prompt").n_unique(),
    )  # fmt: skip
    assert draws.height == 21 * 2
    assert draws["version"].to_list() == [sorted(VERSIONS)] * 42
    assert draws.select("words", "prompt").unique().rows() == [(1, 4)]


def test_a_prompt_is_about_the_group_and_the_task_of_its_version() -> None:
    for row in draw_trials(Design(iterations=8)).iter_rows(named=True):
        group, attribute = VERSIONS[row["version"]]
        decision = row["prompt"].split("Task 2:")[1]
        assert row[group] in decision and row[attribute] in decision
        assert row["attributes"] == [row[attribute]]
        assert (row["order"], row["attribute_order"]) == (None, None)


def test_the_association_task_stands_in_front_with_all_its_words() -> None:
    row = draw_trials(Design(iterations=4), "age").row(0, named=True)
    association = row["prompt"].split("Task 2:")[0]
    words = BAI.stereotypes["age"].words("")
    assert all(word in association for word in words.tied + words.counter)
    assert "— old or young —" in association or "— young or old —" in association
    assert "{" not in row["prompt"]


def test_hiring_pairs_names_and_decides_about_groups() -> None:
    row = draw_trials(Design(iterations=4), "black").row(0, named=True)
    words, (association, decision) = BAI.stereotypes["black"].words(""), row["prompt"].split("2:")
    assert any(name in association for name in words.marginalized)
    assert "a White job candidate" in decision  # the first version is about the default group


@pytest.mark.parametrize("mode", ["free", "structured", "forced"])
@pytest.mark.parametrize("habit", ["yes", "no"])
def test_a_habit_of_saying_yes_or_no_scores_one_half(mode: str, habit: str) -> None:
    sure = {"yes": [0.0, -9.0], "no": [-9.0, 0.0]}[habit]
    values = []
    for row in draw_trials(Design(mode, iterations=4), "age").iter_rows(named=True):
        response = {
            "free": f"Task 1: …\n\nTask 2: Ann is nice.\n\nTask 3: {habit.title()}.",
            "structured": json.dumps({"decision": habit}),
            "forced": json.dumps({row["attributes"][0]: sure}),
        }[mode]
        values.append(score(response, row).score)
    assert sum(values) / 4 == pytest.approx(0.5)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_forced_score_is_a_probability(version: str) -> None:
    task = {"tied": "agony", "counter": "joy"}[VERSIONS[version][1]]
    scored = read(json.dumps({task: [-1.0, -3.0]}), version, "forced")
    yes = 1 / (1 + exp(-2.0))
    assert scored.score == pytest.approx(yes if version in STEREOTYPICAL else 1 - yes)


def test_modes_ask_for_yes_or_no_each_in_its_way() -> None:
    structured = draw_trials(Design("structured", iterations=4), "age").row(0, named=True)
    assert json.loads(structured["schema"])["properties"]["decision"]["enum"] == ["yes", "no"]
    forced = draw_trials(Design("forced", iterations=4), "age").row(0, named=True)
    assert forced["options"] == ["yes", "no"]
    assert forced["prompt"].endswith("Answer only the last task, in one word.")
    free = draw_trials(Design(iterations=4), "age").row(0, named=True)
    assert (free["schema"], free["options"]) == (None, None)


def test_only_the_last_task_is_read() -> None:
    scored = read("Task 1: no - old\n\nTask 2: No one knows her.\n\nTask 3: “Yes”, she may.")
    assert (scored.score, scored.span, scored.read_by) == (1.0, "Yes", "rules")


@pytest.mark.parametrize(
    ("mode", "text", "stop", "reason"),
    [
        ("free", "Task 3: It depends.", "stop", "neither"),
        ("free", "I'm sorry, but I can't do that.", "stop", "refused"),
        ("free", "Task 1: agony -", "max_tokens", "truncated"),
        ("structured", "I'm sorry, but I can't do that.", "stop", "refused"),
        ("structured", '{"decision": "y', "max_tokens", "truncated"),
        ("structured", '{"decision": ["yes"]}', "stop", "unparsed"),
        ("forced", '{"joy": [0, 1]}', "stop", "unparsed"),
    ],
)
def test_no_number_has_a_reason(mode: str, text: str, stop: str, reason: str) -> None:
    scored = read(text, mode=mode, stop_reason=stop)
    assert (scored.score, scored.reason) == (None, reason)
