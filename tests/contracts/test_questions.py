"""What the answers to a closed question are worth, of each kind."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clinometer.contracts.instrument import Key, Scored
from clinometer.contracts.questions import (
    ClosedQuestion,
    Option,
    choose_step,
    choose_yes_no,
    closed_readers,
)
from clinometer.modes import CHOICES, LIKELIHOODS, LOGITS, MODES, TEXT
from clinometer.stimuli import load_study

WARM_OR_COLD = ClosedQuestion([Option("warm", 1.0, "praise"), Option("cold", -1.0, "blame")])
PICK = ClosedQuestion(
    [Option("Ann", -1.0), Option("Bea", 1.0), Option("neither of them", None)],
    offered=["Bea", "Ann", "neither of them"],
    ordered=True,
)
TWO = ["the group", "people"]


@pytest.fixture(scope="module")
def key() -> Key:
    study = load_study("control_insects")
    stereotype = next(iter(study.stereotypes))
    return Key(study, stereotype, study.words(stereotype))


def read(question: ClosedQuestion, kind: str, response: str, key: Key, **trial: Any) -> Scored:
    readers = closed_readers(lambda *_: question, sentences=True)
    scored = readers[kind](response, {"attributes": ["q"], **trial}, key)
    assert isinstance(scored, Scored)
    return scored


def logprobs(*rows: list[float | None], subjects: list[str] | None = None) -> str:
    return json.dumps(dict(zip(subjects or ["q"], rows, strict=True)))


def test_an_answer_in_words_has_the_value_of_its_option(key: Key) -> None:
    assert read(WARM_OR_COLD, TEXT, "Cold.", key).score == -1.0
    structured = read(WARM_OR_COLD, CHOICES, '{"answer": "warm"}', key)
    assert (structured.score, structured.outcome) == (1.0, "praise")


def test_two_options_score_the_difference_of_their_probabilities(key: Key) -> None:
    scored = read(WARM_OR_COLD, LOGITS, logprobs([math.log(0.75), math.log(0.25)]), key)
    assert scored.score == pytest.approx(0.5)
    assert scored.logit == pytest.approx(math.log(3))
    assert scored.outcome == "praise"


def test_options_of_0_and_1_score_a_probability(key: Key) -> None:
    question = ClosedQuestion([Option("yes", 0.0), Option("no", 1.0)])
    scored = read(question, LOGITS, logprobs([math.log(0.75), math.log(0.25)]), key)
    assert scored.score == pytest.approx(0.25)
    assert scored.logit == pytest.approx(-math.log(3))


def test_a_scale_scores_its_mean_under_the_probabilities(key: Key) -> None:
    steps = [Option(str(number), (number - 2) / 2.0) for number in range(5)]
    row: list[float | None] = [math.log(p) for p in (0.1, 0.1, 0.1, 0.2, 0.5)]
    question = ClosedQuestion(steps, ordered=True, text_reader=choose_step)
    scored = read(question, LOGITS, logprobs(row), key)
    assert scored.score == pytest.approx(0.45)
    assert scored.first_share == pytest.approx(0.275)
    assert read(question, TEXT, "I'd say 3.", key).score == 0.5


@given(st.lists(st.floats(-40, 0), min_size=3, max_size=3))
def test_the_order_shown_never_reaches_the_score(row: list[float]) -> None:
    options = [Option("a", -1.0), Option("b", 0.0), Option("c", 1.0)]
    recorded = json.dumps({"q": row})
    scores = set()
    for offered in ("abc", "cba", "bac"):
        question = ClosedQuestion(options, offered=[*offered], ordered=True)
        scores.add(question.score_logprobs(recorded, ["q"]).score)
    (score,) = scores
    assert score is not None and -1 <= score <= 1


def test_an_abstention_that_is_likelier_than_each_option_is_no_score(key: Key) -> None:
    scored = read(PICK, LOGITS, logprobs([-1.5, -1.4, -1.0]), key)
    assert (scored.score, scored.reason, scored.coverage) == (None, "neither", 0.0)
    assert read(PICK, TEXT, "Neither of them.", key).reason == "neither"
    assert read(PICK, CHOICES, '{"answer": "neither of them"}', key).reason == "neither"


def test_options_are_scored_without_an_abstention_that_is_less_likely(key: Key) -> None:
    row: list[float | None] = [math.log(p) for p in (0.15, 0.45, 0.4)]
    scored = read(PICK, LOGITS, logprobs(row), key)
    assert scored.score == pytest.approx(0.5)  # (.45 − .15) / (.45 + .15)
    assert scored.first_share == pytest.approx(0.75)


def test_abstentions_are_ignored_where_a_published_rule_does(key: Key) -> None:
    question = ClosedQuestion(PICK.options, ignores_abstentions=True)
    row: list[float | None] = [math.log(p) for p in (0.02, 0.06, 0.92)]
    assert read(question, LOGITS, logprobs(row), key).score == pytest.approx(0.5)
    alone: list[float | None] = [None, None, 0.0]
    assert read(question, LOGITS, logprobs(alone), key).reason == "neither"


@pytest.mark.parametrize(("averages", "score"), [(False, 0.5), (True, math.tanh(math.log(3) / 4))])
def test_log_odds_of_two_subjects_are_subtracted(averages: bool, score: float, key: Key) -> None:
    question = ClosedQuestion(WARM_OR_COLD.options, subjects=TWO, averages_subjects=averages)
    recorded = logprobs([-1.0, -1.0 - math.log(3)], [-2.0, -2.0], subjects=TWO)
    scored = read(question, LIKELIHOODS, recorded, key)
    assert scored.score == pytest.approx(score)
    assert scored.logit == pytest.approx(math.log(3))
    assert (scored.outcome, scored.first_share) == (None, None)


def test_of_a_scale_two_subjects_differ_by_half_their_means(key: Key) -> None:
    steps = [Option(str(number), number - 1.0) for number in range(3)]
    question = ClosedQuestion(steps, subjects=TWO)
    recorded = logprobs([None, None, -1.0], [None, -1.0, None], subjects=TWO)
    assert read(question, LIKELIHOODS, recorded, key).score == 0.5


@pytest.mark.parametrize("options", [WARM_OR_COLD.options, PICK.options])
def test_missing_subjects_are_low_coverage_and_none_is_unparsed(
    options: list[Option], key: Key
) -> None:
    question = ClosedQuestion(options, subjects=TWO)
    row: list[float | None] = [-1.0] * len(options)
    half = read(question, LIKELIHOODS, json.dumps({"people": row}), key)
    assert (half.reason, half.coverage) == ("low_coverage", 0.5)
    nothing = read(question, LIKELIHOODS, "{}", key)
    assert (nothing.reason, nothing.coverage) == ("unparsed", 0.0)


def test_what_is_not_offered_is_read_in_a_text_alone(key: Key) -> None:
    question = ClosedQuestion(
        [Option("yes", 1.0), Option("no", -1.0)],
        unlisted=[Option("undecided", None)],
        field="decision",
        text_reader=choose_yes_no,
    )
    assert read(question, TEXT, "It depends.", key).reason == "neither"
    assert read(question, CHOICES, '{"decision": "undecided"}', key).reason == "unparsed"
    offered = ClosedQuestion(
        question.options, question.unlisted, ("yes", "no", "undecided"), "decision"
    )
    assert read(offered, CHOICES, '{"decision": "undecided"}', key).reason == "neither"


def test_a_question_closes_a_prompt_in_its_two_orders() -> None:
    letters = ClosedQuestion(
        [Option("Ann", 1.0, token="B"), Option("Bea", -1.0, token="A")], offered=["Bea", "Ann"]
    )
    closed = letters.close(MODES["structured"])
    schema = json.loads(closed["schema"])
    assert schema["properties"]["answer"]["enum"] == ["Bea", "Ann"]
    forced = letters.close(MODES["forced"], "The answer is option")
    assert forced == {"options": ["B", "A"], "opening": "The answer is option"}
