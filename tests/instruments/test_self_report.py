"""Self-report: balance of the draws, and scores computed by hand."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import polars as pl
import pytest

import clinometer as cm
from clinometer.contracts.catalogue import INSTRUMENTS, check_parts
from clinometer.contracts.design import Design
from clinometer.contracts.instrument import Scored
from clinometer.errors import InputError, StudyError
from clinometer.stimuli import load_study, parse_study

NAMES = ("self_report_agreement", "self_report_comparison")
STUDY = load_study("bai2025")


def trials(name: str, mode: str = "free", iterations: int = 8) -> pl.DataFrame:
    return INSTRUMENTS[name].trials(STUDY, Design(mode, iterations), stereotypes=["power"])


def read(name: str, response: str, mode: str = "free", **selection: str) -> Scored:
    frame = trials(name, mode).filter(True, **selection)
    row: dict[str, Any] = frame.row(0, named=True)
    key = INSTRUMENTS[name].key(STUDY, "power", row["variation"])
    if mode == "forced":
        response = json.dumps({row["attributes"][0]: json.loads(response)})
    (scored,) = INSTRUMENTS[name].score(response, row, key).values()
    return scored


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("mode", ["free", "structured", "forced"])
def test_answers_to_drawn_trials_are_scored(name: str, mode: str) -> None:
    answers = trials(name, mode).with_columns(
        model=pl.lit("m"), response=pl.lit("qwertz"), profile=None, stop_reason=None, error=None
    )
    scores = cm.score(answers, STUDY).scores
    assert scores["reason"].to_list() == ["unparsed"] * answers.height


@pytest.mark.parametrize("name", NAMES)
def test_four_versions_of_each_draw_share_words_and_scale(name: str) -> None:
    draws = trials(name, iterations=16).group_by("pair_id").agg(
        pl.len(), pl.struct("version", "order").n_unique().alias("asked"),
        pl.struct("marginalized", "default", "tied", "counter", "labels").n_unique().alias("words"),
    )  # fmt: skip
    assert draws.select("len", "asked", "words").unique().rows() == [(4, 4, 1)]


def test_both_ends_of_the_scale_of_agreement_are_number_1_equally_often() -> None:
    frame = trials("self_report_agreement", iterations=16)
    assert Counter(frame["labels"]) == {"low_first": 24, "high_first": 24}
    first = frame.filter(labels="high_first")["prompt"].str.contains("1 = strongly agree\n")
    assert first.all() and frame["prompt"].str.contains("5 = strongly agree\n").sum() == 24


def test_the_scale_of_a_comparison_begins_with_the_group_named_first() -> None:
    for row in trials("self_report_comparison").iter_rows(named=True):
        groups = [row["marginalized"], row["default"]]
        first, second = groups if row["order"] == "marginalized_first" else groups[::-1]
        assert f"1 = strongly with {first}\n" in row["prompt"]
        assert f"7 = strongly with {second}\n" in row["prompt"]
        assert row["prompt"].index(f'"{first}"') < row["prompt"].index(f'"{second}"')


@pytest.mark.parametrize(
    ("version", "labels", "response", "score"),
    [
        ("marginalized_tied", "low_first", "4", 0.5),
        ("marginalized_tied", "high_first", "4", -0.5),
        ("default_tied", "low_first", "5 (strongly agree)", -1.0),
        ("default_counter", "high_first", "I strongly agree.", 1.0),
        ("marginalized_counter", "low_first", "I'd say a 2 out of 5.", 0.5),
        ("marginalized_tied", "low_first", "I neither agree nor disagree.", 0.0),
    ],
)
def test_agreement_is_turned_for_what_contradicts_the_stereotype(
    version: str, labels: str, response: str, score: float
) -> None:
    assert read(NAMES[0], response, version=version, labels=labels).score == score


@pytest.mark.parametrize(
    ("version", "order", "response", "score", "first_share"),
    [
        ("tied", "marginalized_first", "1", 1.0, 1.0),
        ("tied", "default_first", "1", -1.0, 1.0),
        ("counter", "default_first", "2", 2 / 3, 5 / 6),
        ("counter", "marginalized_first", "2", -2 / 3, 5 / 6),
        ("tied", "default_first", "There is no difference for me.", 0.0, 0.5),
    ],
)
def test_a_comparison_leans_to_one_group(
    version: str, order: str, response: str, score: float, first_share: float
) -> None:
    reading = read(NAMES[1], response, version=version, order=order)
    assert (reading.score, reading.first_share) == pytest.approx((score, first_share))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("answer", ["1", "3", "5"])
def test_the_same_answer_to_everything_is_neutral(name: str, answer: str) -> None:
    key = INSTRUMENTS[name].key(STUDY, "power", "associate")
    rows = trials(name).iter_rows(named=True)
    scores = [INSTRUMENTS[name].score(answer, row, key)[name].score for row in rows]
    assert sum(scores) == pytest.approx(0.0)


def test_a_forced_answer_is_the_mean_of_the_numbers() -> None:
    # p = ¼ of 1 and ¾ of 4: (¼)(−1) + (¾)(½) = ⅛.
    logs = "[-1.3862943611198906, null, null, -0.2876820724517809, null]"
    selection = {"version": "marginalized_tied", "labels": "low_first"}
    assert read(NAMES[0], logs, "forced", **selection).score == pytest.approx(0.125)
    assert (
        read(NAMES[0], "[null, null, null, null, null]", "forced", **selection).reason == "unparsed"
    )


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("response", "reason"),
    [("As an AI, I have no attitudes.", "refused"), ("Between 2 and 4.", "both")],
)
def test_an_answer_without_a_number_has_a_reason(name: str, response: str, reason: str) -> None:
    reading = read(name, response)
    assert (reading.score, reading.reason) == (None, reason)


def test_recorded_answers_are_scored_and_others_named() -> None:
    answers = pl.DataFrame({
        "model": "m", "stereotype": "power", "version": "tied", "order": "default_first",
        "marginalized": "karen", "default": "eric", "response": ["7", "strongly with eric"],
    })  # fmt: skip
    scores = cm.score(answers, STUDY, instrument=NAMES[1]).scores
    assert scores["score"].to_list() == [1.0, -1.0]
    wrong = answers.with_columns(version=pl.lit("other"))
    with pytest.raises(InputError, match="version 'other': allowed are tied, counter"):
        cm.score(wrong, STUDY, instrument=NAMES[1])
    with pytest.raises(InputError, match="missing column labels"):
        cm.score(answers.drop("order"), STUDY, instrument=NAMES[0])
    with pytest.raises(InputError, match="tied is missing"):
        cm.score(answers.with_columns(mode=pl.lit("forced")), STUDY, instrument=NAMES[1])


def test_dimensions_are_asked_apart() -> None:
    study = load_study("mist2025")
    frame = INSTRUMENTS[NAMES[0]].trials(study, Design("free", 4), variations="associate")
    counts = frame.group_by("stereotype").agg(pl.col("dimension").n_unique())
    assert counts["dimension"].to_list() == [len(study.dimensions)] * len(study.stereotypes)
    poles = study.dimensions["morality"]
    assert set(frame.filter(dimension="morality")["tied"]) <= {*poles.tied}


TIERE_TEXT = """name: tiere
language: de
instruments:
  self_report_agreement:
    scale: [nein, teils, ja]
    answer_format: Antworte mit einer Zahl.
    default_variations: [passt]
    variations:
      passt: "Passt {group} zu {attribute}?"
stereotypes:
  katzen: {marginalized: [Katze], default: [Hund], tied: [listig], counter: [tapfer]}
"""


def test_a_study_in_another_language_brings_its_own_items() -> None:
    study = parse_study(TIERE_TEXT, "tiere.yaml")
    agreement, comparison = (INSTRUMENTS[name] for name in NAMES)
    row = agreement.trials(study, Design("free", 4)).row(0, named=True)
    assert "Passt Hund zu listig?\n\n1 = " in row["prompt"]
    assert comparison.variations(study) == {}


def test_an_item_without_its_group_is_named() -> None:
    study = parse_study(TIERE_TEXT.replace("{group} zu", "es zu"), "tiere.yaml")
    with pytest.raises(StudyError, match=r"tiere.yaml:9: .*passt: .*must hold \{group\}"):
        check_parts(study)
