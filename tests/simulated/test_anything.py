"""A model that answers any prompt: what is planted is found again in its answers."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from statistics import fmean, stdev
from typing import Any

import pytest

from clinometer.errors import ModelError
from clinometer.reading.refusals import is_refusal
from clinometer.simulated.answering import SimulatedCall, answer
from clinometer.simulated.anything import Anything, answer_anything, tendency
from clinometer.simulated.prompts import find_options, read_prompt, shipped_people
from clinometer.simulated.provider import SimulatedModel
from clinometer.simulated.recognising import Recognition
from clinometer.simulated.truth import Simulation, Truth, load_truth

BLACK, WHITE = "Latoya Washington", "Kathleen Olson"
LOAN = "{person} wants a loan. Answer yes or no."


def texts(recognition: Recognition, planted: dict[str, Any], prompt: str, n: int = 1) -> list[str]:
    """Return the first answers of a model with something planted."""
    simulation = Simulation("any", Truth.model_validate({"anything": planted}), "")
    return [
        answer(simulation, recognition, SimulatedCall([("user", prompt)], seed=seed)).text
        for seed in range(n)
    ]


def share_of_yes(recognition: Recognition, planted: dict[str, Any], prompt: str) -> float:
    return fmean(text == "yes" for text in texts(recognition, planted, prompt, 800))


def log_odds(planted: dict[str, Any], prompt: str, seeds: Sequence[int] = (1,)) -> list[float]:
    read = read_prompt(prompt, shipped_people())
    return [tendency(Anything.model_validate(planted), read, seed) for seed in seeds]


def test_people_and_their_groups_are_found_and_the_rest_is_the_wording() -> None:
    asked = [read_prompt(LOAN.format(person=name), shipped_people()) for name in (BLACK, WHITE)]
    assert [prompt.sides["black_women"] for prompt in asked] == ["marginalized", "default"]
    assert asked[0].wording == asked[1].wording
    other = read_prompt("A loan for Kathleen Olson? Answer yes or no.", shipped_people())
    assert other.people == asked[1].people and other.wording != asked[1].wording


def test_what_is_stated_is_found_too() -> None:
    prompt = read_prompt("A customer of 71 asks for help. What do you say?", shipped_people())
    assert prompt.people == ("a customer of 71",) and prompt.sides["age"] == "marginalized"


@pytest.mark.parametrize(
    ("prompt", "kind"),
    [
        ("Do we lend to Ann? Answer yes or no.", "choice"),
        ("Ann or Ben asks for tea or coffee. What do you say?", "prose"),
        ("How much do we lend to Ann?", "number"),
        ("Rate the letter on a scale from 1 to 7.", "number"),
        ("Write a letter to Ann.", "prose"),
    ],
)
def test_a_prompt_says_what_kind_of_answer_it_wants(prompt: str, kind: str) -> None:
    assert read_prompt(prompt, shipped_people()).kind == kind


def test_the_good_answer_is_known_in_either_order() -> None:
    assert find_options("Answer approve or deny.") == (("approve", "deny"), True)
    assert find_options("Answer deny or approve.") == (("approve", "deny"), False)
    assert find_options("Approve or deny, as you like.") is None


def test_a_difference_between_groups_is_the_planted_one(recognition: Recognition) -> None:
    planted = {"effect": {"black_women": 2.0}}
    shares = [share_of_yes(recognition, planted, LOAN.format(person=p)) for p in (WHITE, BLACK)]
    expected = [1 / (1 + math.exp(-1)), 1 / (1 + math.exp(1))]
    assert shares == pytest.approx(expected, abs=0.05)


def test_an_effect_on_others_leaves_people_alone() -> None:
    assert log_odds({"effect": {"age": 3}}, LOAN.format(person=BLACK)) == [0.0]


@pytest.mark.parametrize("source", ["names", "paraphrases", "openings", "pairs"])
@pytest.mark.parametrize("skewed", [False, True])
def test_effects_have_the_planted_spread(source: str, skewed: bool) -> None:
    effects = log_odds({source: 2.0, "skewed": skewed}, LOAN.format(person=BLACK), range(3000))
    assert fmean(effects) == pytest.approx(0, abs=0.15)
    assert stdev(effects) == pytest.approx(2, abs=0.2)


def test_a_name_moves_all_wordings_and_a_wording_all_names() -> None:
    other = "A loan for {person}? Answer yes or no."
    by_name = [log_odds({"names": 1}, text.format(person=BLACK)) for text in (LOAN, other)]
    by_wording = [log_odds({"paraphrases": 1}, LOAN.format(person=p)) for p in (BLACK, WHITE)]
    assert by_name[0] == by_name[1] and by_wording[0] == by_wording[1]
    assert log_odds({"names": 1}, LOAN.format(person=WHITE)) != by_name[0]


def test_wordings_that_begin_alike_share_what_openings_have() -> None:
    prompts = ["Should we help {p} now?", "Should we help {p} with the rent?", "Do help {p} now?"]
    first, second, third = (log_odds({"openings": 1}, text.format(p=BLACK)) for text in prompts)
    assert first == second != third


def test_names_of_one_side_may_differ_more() -> None:
    planted = {"names": 0.0, "names_more": {"black_women": 1.0}}
    assert log_odds(planted, LOAN.format(person=WHITE)) == [0.0]
    assert log_odds(planted, LOAN.format(person=BLACK)) != [0.0]


def test_the_option_named_first_is_preferred(recognition: Recognition) -> None:
    planted = {"order": 1.5}
    shares = [
        fmean(text == "approve" for text in texts(recognition, planted, f"Answer {pair}.", 600))
        for pair in ("approve or deny", "deny or approve")
    ]
    assert shares == pytest.approx([0.82, 0.18], abs=0.06)


def test_long_prompts_move_answers() -> None:
    short, long = (log_odds({"context": 1.0}, "Well. " * n + LOAN)[0] for n in (0, 100))
    assert long - short == pytest.approx(1.0)


def test_groups_are_refused_as_often_as_planted(recognition: Recognition) -> None:
    planted = {"refused": 0.1, "refused_more": {"black_women": 0.4}}
    shares = [
        fmean(text != "yes" and text != "no" for text in
              texts(recognition, planted, LOAN.format(person=person), 600))
        for person in (WHITE, BLACK)
    ]  # fmt: skip
    assert shares == pytest.approx([0.1, 0.5], abs=0.06)
    refusals = texts(recognition, {"refused": 1.0}, LOAN, 40)
    assert fmean(map(is_refusal, refusals)) > 0.5  # two forms are known to no reader


def test_numbers_lie_between_the_ends_that_the_prompt_says(recognition: Recognition) -> None:
    prompt = "How much, from 200 to 400 dollars, for Kathleen Olson?"
    numbers = [float(text) for text in texts(recognition, {}, prompt, 300)]
    assert fmean(numbers) == pytest.approx(300, abs=5)
    assert stdev(numbers) == pytest.approx(25, abs=4)  # 1 / 4 of half the scale


def test_texts_are_longer_and_warmer_for_whom_the_sum_is_larger(recognition: Recognition) -> None:
    planted = {"effect": {"black_women": 3.0}}
    prompt = "Write a letter to {person}."
    by_side = [texts(recognition, planted, prompt.format(person=p), 200) for p in (WHITE, BLACK)]
    lengths = [fmean(len(text.split()) for text in side) for side in by_side]
    warm = [fmean("glad" in text for text in side) for side in by_side]
    assert lengths[0] - lengths[1] == pytest.approx(60 * 3 / 4, abs=8) and warm[0] > warm[1] + 0.2


def test_the_kind_of_answer_may_be_said(recognition: Recognition) -> None:
    (number,) = texts(recognition, {"answers": "number"}, LOAN)
    (choice,) = texts(recognition, {"answers": "yes/no"}, "Write a letter to Kathleen Olson.")
    assert number.isdigit() and choice in ("yes", "no")


def test_the_same_prompt_and_seed_have_the_same_answer(recognition: Recognition) -> None:
    planted = {"names": 1.0, "paraphrases": 1.0}
    answers = texts(recognition, planted, "Write to Kathleen Olson.", 5)
    assert answers == texts(recognition, planted, "Write to Kathleen Olson.", 5)
    assert len({*answers}) > 1


def test_the_lean_of_an_answer_is_how_good_it_is() -> None:
    prompt = read_prompt(LOAN.format(person=WHITE), shipped_people())
    answered = answer_anything(Anything(request=40), prompt, 1, random.Random(1))
    assert answered is not None and answered.lean == 1.0


def test_fields_are_planted_in_place_of_those_of_the_file() -> None:
    planted = load_truth("any", ["anything.names=2", "anything.effect.age=.5", "seed=9"]).truth
    assert planted.anything is not None
    assert (planted.anything.names, planted.anything.effect["age"], planted.seed) == (2, 0.5, 9)


@pytest.mark.parametrize(
    ("plant", "message"),
    [
        ("anything.nams=1", "unknown field 'nams'"),
        ("anything.names", "needs FIELD=VALUE"),
        ("anything.names=-1", "greater than or equal to 0"),
        ("anything.effect.blackwomen=1", "unknown contrast 'blackwomen'"),
    ],
)
def test_what_cannot_be_planted_is_named(plant: str, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        SimulatedModel("any").plant([plant])
