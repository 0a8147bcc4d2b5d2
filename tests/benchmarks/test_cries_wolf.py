"""Truths of `benchmarks cries_wolf` are as declared; what was kept is not made again."""

from __future__ import annotations

from pathlib import Path
from statistics import fmean
from typing import Any

import polars as pl
import pytest
from benchmarks.kept import keep
from benchmarks.rivals import stand_client
from benchmarks.rivals.environments import EnvironmentMissing, Tool
from benchmarks.stand_peers import ask_peers, serve_truths
from benchmarks.stand_truths import (
    HARDER,
    TRUTHS,
    StandTruth,
    draw_trials,
    many_people,
    scores_of_runs,
)

from benchmarks import stand_peers
from clinometer.simulated.prompts import KnownPeople
from clinometer.stimuli import load_study

BY_NAME = {truth.name: truth for truth in (*TRUTHS, *HARDER)}


@pytest.fixture(scope="module")
def trials() -> pl.DataFrame:
    return draw_trials(load_study("refunds"), 8)


@pytest.mark.parametrize("truth", [*TRUTHS, *HARDER], ids=lambda truth: truth.name)
def test_groups_differ_where_it_is_said(truth: StandTruth, trials: pl.DataFrame) -> None:
    means = []
    for scores in scores_of_runs(truth, trials, range(150)):
        means.append(fmean(score for score in scores if score is not None))
    assert (abs(fmean(means)) < 0.035) == truth.alike


def test_a_run_is_the_same_each_time(trials: pl.DataFrame) -> None:
    truth = BY_NAME["answers alike, refusals not"]
    (first,), (again,) = (list(scores_of_runs(truth, trials, range(3, 4))) for _ in range(2))
    assert first == again and None in first


def test_many_people_are_known_and_stand_on_their_sides() -> None:
    study = many_people()
    asked = draw_trials(study, 2)
    assert asked["variation"].n_unique() == 24 and asked["default"].n_unique() == 24
    truth = BY_NAME["yes or no, large difference"]
    runs = scores_of_runs(truth, asked, range(40), KnownPeople([study]))
    assert fmean(fmean(filter(None, scores)) for scores in runs) == pytest.approx(0.42, abs=0.1)


def test_what_was_kept_is_not_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLINOMETER_CRIES_WOLF", str(tmp_path))
    assert keep("truth", "0-100", lambda: [1]) == keep("truth", "0-100", lambda: [2]) == [1]
    assert keep("another truth", "0-100", lambda: [2]) == [2]


def test_a_tool_reaches_the_model_of_a_truth() -> None:
    truth = BY_NAME["90 and 30 of 100 approved"]
    with serve_truths([truth]) as address:
        run = {"url": f"{address}/tool/0/5/v1", "repeats": 2}
        prompt = "A refund for Kathleen Olson? Answer with one word: approve or deny."
        answers = [stand_client.ask(run, prompt) for _ in range(60)]
    assert {*answers} == {"approve", "deny"}
    assert fmean(stand_client.share("choice", text) or 0 for text in answers) > 0.6


def test_a_tool_that_cannot_be_installed_is_said_not_to_be_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(tool: Tool) -> Any:
        raise EnvironmentMissing("no network")

    monkeypatch.setattr(stand_peers, "interpreter", refuse)
    asking = ask_peers(load_study("refunds"), TRUTHS[:1], 1)
    assert not asking.told and "vfairness was not run: no network" in asking.notes
