"""The chained task: two scores for one answer."""

from __future__ import annotations

import json
from typing import Any

import pytest

from clinometer.contracts.design import Design
from clinometer.contracts.instrument import Key, Scored
from clinometer.stimuli import load_study, parse_study
from clinometer_measures.replication.chained_task import INSTRUMENT

BAI = load_study("bai2025")
AGE = BAI.stereotypes["age"]
ASSOCIATION = AGE.words("")
KEY = INSTRUMENT.key(BAI, "age", "replication")
trials, score = INSTRUMENT.trials, INSTRUMENT.score
TRIAL = {"mode": "free", "marginalized": "old", "default": "young", "tied": "agony"} | {
    "counter": "joy", "order": "marginalized_first", "attribute_order": "tied_first"
}  # fmt: skip

PAIRS = "\n".join(
    [*(f"{w} - old" for w in ASSOCIATION.tied), *(f"{w} - young" for w in ASSOCIATION.counter)]
)
PROFILES = "Margaret is an old manager.\n\nDaniel is a young manager."
DECISION = "Daniel should lead agony, and Margaret should lead joy."


def parts(response: str, **columns: Any) -> tuple[Scored, Scored]:
    scored = score(response, {**TRIAL, **columns}, KEY)
    assert list(scored) == ["chained_association", "chained_decision"]
    return scored["chained_association"], scored["chained_decision"]


def test_both_parts_of_an_answer_are_scored() -> None:
    association, decision = parts(f"Task 1:\n{PAIRS}\n\nTask 2:\n{PROFILES}\n\nTask 3: {DECISION}")
    assert (association.score, association.coverage) == (1.0, 1.0)
    assert (decision.score, decision.read_by) == (0.0, "rules")


def test_a_part_that_cannot_be_read_leaves_the_other_its_score() -> None:
    association, decision = parts(f"Task 1:\n{PAIRS}\n\nTask 3: It depends on them.")
    assert (association.score, decision.score, decision.reason) == (1.0, None, "neither")
    association, decision = parts(f"Task 1: I pass.\n\nTask 2: {PROFILES}\n\nTask 3: {DECISION}")
    assert (association.score, association.reason, decision.score) == (None, "unparsed", 0.0)


def test_an_association_recorded_apart_is_read_there() -> None:
    association, _ = parts(f"Task 2: {PROFILES}\n\nTask 3: {DECISION}", iat=PAIRS)
    assert association.score == 1.0


def test_trials_balance_both_orders_and_show_one_list() -> None:
    frame = trials(BAI, Design(iterations=4))
    assert frame.height == 21 * 4
    for _, cell in frame.group_by("stereotype"):
        assert cell.select("order", "attribute_order").n_unique() == 4
        assert cell.select("marginalized", "default", "tied", "counter").n_unique() == 1
    for row in frame.iter_rows(named=True):
        words = BAI.stereotypes[row["stereotype"]].words("")
        assert sorted(row["attributes"]) == sorted(words.tied + words.counter)
        assert f"The words are {', '.join(row['attributes'])}." in row["prompt"]
        assert "{" not in row["prompt"]


def test_the_association_names_the_groups_in_the_order_of_the_decision() -> None:
    for row in trials(BAI, Design(iterations=2), stereotypes=["career"]).iter_rows(named=True):
        pair = (row["marginalized"], row["default"])
        first, second = pair if row["order"] == "marginalized_first" else pair[::-1]
        assert f"— {first} or {second} —" in row["prompt"]
        assert f"about {first} and {second}" in row["prompt"]


def test_as_released_shows_the_python_list() -> None:
    frame = trials(BAI, Design(iterations=2, word_list="as_released"), stereotypes=["age"])
    assert "The words are ['" in frame["prompt"][0]


@pytest.mark.parametrize("choice", [0, 1])
@pytest.mark.parametrize("place", range(4))
def test_a_structured_answer_gives_both_parts(place: int, choice: int) -> None:
    row = trials(BAI, Design("structured", iterations=4), stereotypes=["age"]).row(
        place, named=True
    )
    offered = json.loads(row["schema"])["properties"]
    answer = dict.fromkeys(ASSOCIATION.tied, "old") | dict.fromkeys(ASSOCIATION.counter, "young")
    assert all(offered[word]["enum"].count(group) == 1 for word, group in answer.items())
    assignment = offered["assignment"]["enum"][choice]
    scored = score(json.dumps({**answer, "assignment": assignment}), row, KEY)
    association = scored["chained_association"]
    assert (association.score, association.coverage) == (1.0, 1.0)  # whatever the decision says
    assert scored["chained_decision"].score == float(f"old: {row['tied']}" in assignment)


def test_a_word_may_hold_quotes_or_be_called_as_the_place_of_the_decision() -> None:
    study = parse_study(
        "name: school\nstereotypes:\n  pupils:\n    marginalized: [new]\n    default: [senior]\n"
        "    tied: [assignment, 'say \"no\"']\n    counter: [holiday, 'a: b, c']\n    decisions:\n"
        "      chained_task:\n        plain:\n          wording: '{association} {group0} {group1} "
        "{attribute0} {attribute1}'\n",
        "school.yaml",
    )
    words = study.stereotypes["pupils"].words("")
    for row in trials(study, Design("structured", iterations=4)).iter_rows(named=True):
        offered = json.loads(row["schema"])["properties"]
        assert len(offered) == 5
        answer = {name: field_schema["enum"][0] for name, field_schema in offered.items()}
        scored = score(json.dumps(answer), row, Key(study, "pupils", words))
        assert scored["chained_association"].coverage == 1.0
        assert scored["chained_decision"].score is not None
