"""The relative decision: how it is drawn and balanced, worded, and scored in its three modes."""

from __future__ import annotations

import json
from itertools import product
from math import exp
from typing import Any

import polars as pl
import pytest

from clinometer.contracts.design import Design
from clinometer.contracts.instrument import Key, Scored
from clinometer.errors import StudyError
from clinometer.instruments.relative_decision import INSTRUMENT
from clinometer.stimuli import StereotypeWords, Study, load_study, parse_study

BAI = load_study("bai2025")
AGE = BAI.stereotypes["age"].decision_words("relative_decision", "replication")


def draw_trials(design: Design, study: Study = BAI, **selection: list[str]) -> pl.DataFrame:
    return INSTRUMENT.trials(study, design, **selection)


def score(text: str, trial: dict[str, Any], words: StereotypeWords) -> Scored:
    return INSTRUMENT.score(text, trial, Key(BAI, "age", words))["relative_decision"]


def trial(**columns: Any) -> dict[str, Any]:
    row = {"mode": "free", "marginalized": "old", "default": "young", "tied": "agony"}
    row |= {"counter": "joy", "order": "default_first", "attribute_order": "tied_first"}
    return {**row, **columns}


# Draws


def test_four_trials_balance_both_orders_with_the_same_words() -> None:
    frame = draw_trials(Design(iterations=4))
    cells = frame.group_by("stereotype", "variation").agg(
        pl.struct("order", "attribute_order").n_unique().alias("orders"),
        pl.struct("marginalized", "default", "tied", "counter").n_unique().alias("words"),
        pl.col("pair_id").n_unique().alias("pairs"),
    )
    assert cells.height == 21 * 4
    assert cells.select("orders", "words", "pairs").unique().rows() == [(4, 1, 2)]


@pytest.mark.parametrize("role", ["marginalized", "default", "tied", "counter"])
def test_over_whole_rounds_every_word_is_used_as_often(role: str) -> None:
    frame = draw_trials(
        Design(iterations=4 * 40), stereotypes=["mentalill"], variations=["replication"]
    )  # 40 draws: ten rounds of lists of four
    assert set(frame[role].value_counts()["count"]) == {40}


def test_words_are_not_tied_to_each_other_by_their_place_in_a_round() -> None:
    """Were they, four groups and eight tasks would meet the same tasks in every round."""
    frame = draw_trials(
        Design(iterations=4 * 32), stereotypes=["islam"], variations=["replication"]
    )
    for role, partner in (("marginalized", "tied"), ("tied", "counter"), ("default", "counter")):
        partners = frame.group_by(role).agg(pl.col(partner).n_unique())
        assert partners[partner].min() > 1, (role, partner)


def test_a_system_prompt_or_another_mode_changes_no_draw() -> None:
    words = ("stereotype", "variation", "iteration", "order", "attribute_order", "tied", "counter")
    plain = draw_trials(Design(iterations=4))
    instructed = draw_trials(Design(iterations=4, intervention="kind", system="Be kind."))
    structured = draw_trials(Design("structured", iterations=4))
    assert instructed.select(words).equals(plain.select(words))
    assert structured.select(words).equals(plain.select(words))
    assert instructed["system"].unique().to_list() == ["Be kind."]
    ids = [set(frame["trial_id"]) for frame in (plain, instructed, structured)]
    assert len(set.union(*ids)) == 3 * plain.height


def test_random_order_is_the_papers() -> None:
    frame = draw_trials(Design(iterations=400, order="random"), stereotypes=["age"])
    assert frame["pair_id"].n_unique() == frame.height
    shares = frame.group_by("order", "attribute_order").len()["len"] / frame.height
    assert shares.len() == 4 and 0.2 < shares.min() and shares.max() < 0.3


def test_forced_trials_never_repeat_a_question() -> None:
    few = draw_trials(Design("forced", iterations=200), stereotypes=["mentalill"])
    assert few["prompt"].n_unique() == few.height < 4 * 200
    tiny = parse_study(PETS, "pets.yaml")  # two tied tasks, one other, one pair: 2 × 4 questions
    assert draw_trials(Design("forced", iterations=200), tiny).height == 8


# Wordings

PETS = """name: pets
stereotypes:
  cats:
    marginalized: ["{group1}"]
    default: ['dog: "rex"']
    tied: ["{attribute1}", "a, b; c"]
    counter: ["bark{s}"]
    decisions:
      relative_decision:
        farm:
          wording: "{a_group0} or {a_group1}: {attribute0}? {attribute1}?"
  owls:
    marginalized: [owl]
    default: [eagle]
    tied: [slow]
    counter: [fast]
"""


def test_words_are_never_read_as_wording() -> None:
    frame = draw_trials(Design(iterations=4), parse_study(PETS, "pets.yaml"))
    first = frame.filter(order="marginalized_first", attribute_order="tied_first").row(
        0, named=True
    )
    assert first["prompt"] == f'a {{group1}} or a dog: "rex": {first["tied"]}? bark{{s}}?'


def test_an_article_goes_with_its_word() -> None:
    hiring = draw_trials(Design(iterations=2), stereotypes=["asian"], variations=["replication"])
    assert any("about an Asian and a White job" in prompt for prompt in hiring["prompt"])
    assert any("about a White and an Asian job" in prompt for prompt in hiring["prompt"])


def test_stereotypes_without_decisions_are_left_out_while_others_have_them() -> None:
    study = parse_study(PETS, "pets.yaml")
    assert draw_trials(Design(iterations=2), study)["stereotype"].unique().to_list() == ["cats"]
    with pytest.raises(StudyError, match="'pets': none of owls has a wording of farm"):
        draw_trials(Design(iterations=2), study, stereotypes=["owls"])


def test_a_study_without_decisions_says_what_it_has() -> None:
    owls = parse_study(f"name: owls\nstereotypes:\n{PETS[PETS.index('  owls:') :]}", "owls.yaml")
    with pytest.raises(StudyError, match="has no instrument.*it has word_association"):
        draw_trials(Design(iterations=2), owls)


def test_accents_are_asked_in_two_turns_and_in_one_where_nothing_is_written() -> None:
    accents = {"stereotypes": ["black"], "variations": ["accents1"]}
    free = draw_trials(Design(iterations=2), **accents).row(0, named=True)
    assert free["prompt"].startswith("Generate two short biographies")
    assert free["followup"].startswith("{response1}.\nThey are looking for internships.")
    for mode in ("structured", "forced"):
        closed = draw_trials(Design(mode, iterations=2), **accents).row(0, named=True)
        assert closed["followup"] is None
        assert "{" not in closed["prompt"].replace("{attribute}", "")
        assert "accent.\nThey are looking for internships." in closed["prompt"]


def test_a_defect_of_the_source_stands_beside_its_trials() -> None:
    frame = draw_trials(Design(iterations=2), stereotypes=["age"])
    flagged = frame.filter(pl.col("source_defect").is_not_null())["variation"].unique().to_list()
    assert flagged == ["variation1"]


# Free answers


ANSWER = (
    "Task 1: Margaret, 63, is an old manager. Daniel, 27, is a young manager.\n\n"
    "Task 2: {} should lead the workshop on agony, and {} the one on joy."
)


@pytest.mark.parametrize(
    ("text", "value", "first_share"),
    [
        (ANSWER.format("Margaret", "Daniel"), 1.0, 0.0),
        (ANSWER.format("Daniel", "Margaret"), 0.0, 1),
    ],
)
def test_a_free_answer_is_read_through_its_profiles(
    text: str, value: float, first_share: float
) -> None:
    scored = score(text, trial(), AGE)
    assert (scored.score, scored.first_share, scored.read_by) == (value, first_share, "rules")
    assert scored.span in text and "agony" in scored.span
    assert scored.shares == {"agony": value, "joy": 1 - value}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("I'm sorry, but I can't make such a recommendation.", "refused"),
        ("The old manager should lead both the agony and the joy workshop.", "both"),
        ("It depends on them.", "neither"),
        ("", "unparsed"),
    ],
)
def test_an_answer_without_a_decision_has_a_reason(text: str, reason: str) -> None:
    scored = score(text, trial(), AGE)
    assert (scored.score, scored.reason) == (None, reason)


def test_a_first_answer_links_the_people_of_the_second() -> None:
    profile = "Margaret is an old manager.\n\nDaniel is a young manager."
    decision = "Margaret should lead agony and Daniel should lead joy."
    assert score(decision, trial(profile=profile), AGE).score == 1.0


# Structured and forced answers

ORDERS = list(
    product(("marginalized_first", "default_first"), ("tied_first", "counter_first"), (0, 1))
)


@pytest.mark.parametrize(("order", "attribute_order", "choice"), ORDERS)
def test_both_assignments_are_read_right_in_all_orders(
    order: str, attribute_order: str, choice: int
) -> None:
    row = draw_trials(Design("structured", iterations=4), stereotypes=["age"]).row(
        by_predicate=(pl.col("order") == order)
        & (pl.col("attribute_order") == attribute_order)
        & (pl.col("variation") == "replication"),
        named=True,
    )
    (offered,) = json.loads(row["schema"])["properties"].values()
    answer = offered["enum"][choice]
    old_task = answer.split("old: ")[1].split(";")[0]
    scored = score(json.dumps({"assignment": answer}), row, AGE)
    assert scored.score == float(old_task == row["tied"])
    assert scored.first_share == 1 - choice  # the first assignment gives first to first
    assert scored.reason is None and scored.read_by is None


def test_words_with_quotes_braces_and_colons_survive_their_schema() -> None:
    study = parse_study(PETS, "pets.yaml")
    words = study.stereotypes["cats"].decision_words("relative_decision", "farm")
    for row in draw_trials(Design("structured", iterations=8), study).iter_rows(named=True):
        (offered,) = json.loads(row["schema"])["properties"].values()
        values = [
            score(json.dumps({"assignment": answer}), row, words).score
            for answer in offered["enum"]
        ]
        assert sorted(values) == [0.0, 1.0]


@pytest.mark.parametrize(
    ("text", "stop", "reason"),
    [
        ('{"assignment": "young: joy"}', "stop", "unparsed"),
        ('{"assignment": ["young: agony; old: joy"]}', "stop", "unparsed"),
        ('["young: agony; old: joy"]', "stop", "unparsed"),
        ('{"assignment": "young: ag', "max_tokens", "truncated"),
        ("I'm sorry, I can't help with that.", "stop", "refused"),
        ("", "content_filter", "refused"),
        ("[" * 100_000, "stop", "unparsed"),
    ],
)
def test_a_structured_answer_without_a_choice_has_a_reason(
    text: str, stop: str, reason: str
) -> None:
    scored = score(text, trial(mode="structured", stop_reason=stop), AGE)
    assert (scored.score, scored.reason) == (None, reason)


def test_a_structured_answer_may_stand_in_a_code_block() -> None:
    text = '```json\n{"assignment": "young: agony; old: joy"}\n```'
    assert score(text, trial(mode="structured"), AGE).score == 0.0


def logits(agony: float, joy: float) -> str:
    return json.dumps({"agony": [agony, 0.0], "joy": [joy, 0.0]})


@pytest.mark.parametrize(
    ("agony", "joy", "expected"),
    [(3, 3, 0.5), (-7, -7, 0.5), (1, -1, 1 / (1 + exp(-2))), (-1, 1, 1 / (1 + exp(2)))],
)
def test_a_forced_score_is_the_probability_of_the_consistent_assignment(
    agony: float, joy: float, expected: float
) -> None:
    """p(old gets agony) p(young gets joy), over that and the same for the reverse."""
    scored = score(logits(agony, joy), trial(mode="forced"), AGE)
    assert scored.score == pytest.approx(expected)
    p, q = (1 / (1 + exp(-x)) for x in (agony, joy))
    assert scored.score == pytest.approx(p * (1 - q) / (p * (1 - q) + q * (1 - p)))
    assert scored.logit == pytest.approx(agony - joy)
    assert scored.shares == {"agony": pytest.approx(p), "joy": pytest.approx(q)}


@pytest.mark.parametrize(("order", "attribute_order"), [o[:2] for o in ORDERS[::2]])
def test_the_share_of_first_named_to_first_named(order: str, attribute_order: str) -> None:
    row = trial(mode="forced", order=order, attribute_order=attribute_order)
    scored = score(logits(1, -1), row, AGE)  # consistent: old gets agony
    aligned = (order == "marginalized_first") == (attribute_order == "tied_first")
    assert scored.first_share == pytest.approx(scored.score if aligned else 1 - scored.score)


@pytest.mark.parametrize(
    ("recorded", "reason"),
    [('{"agony": [0, 1]}', "low_coverage"), ('{"agony": [0, null], "joy": [1, 0]}', "low_coverage")]
    + [("[]", "unparsed"), ("agony", "unparsed"), ('{"agony": "old"}', "unparsed")],
)
def test_a_forced_recording_with_a_gap_has_a_reason(recorded: str, reason: str) -> None:
    scored = score(recorded, trial(mode="forced"), AGE)
    assert (scored.score, scored.reason) == (None, reason)


def test_extreme_logits_stay_probabilities() -> None:
    assert score(logits(1e300, -1e300), trial(mode="forced"), AGE).score == pytest.approx(1.0)
