"""What is read of the first tokens of an answer, and when there is none."""

from __future__ import annotations

import json
import math

import pytest

import clinometer as cm
from clinometer.contracts.catalogue import INSTRUMENTS
from clinometer.contracts.instrument import Scored
from clinometer.modes.first_tokens import drop_unanswered, read_options, write_first_tokens
from clinometer.modes.tokens import ListedToken
from clinometer.stimuli import load_study

OLD = ["old", "young"]
CHINESE = ["她们", "男子"]


def option_logprobs(tokens: list[tuple[str, float]], options: list[str]) -> list[float | None]:
    return read_options([ListedToken(*token) for token in tokens], options)[0]


def test_the_tokens_of_an_option_add_up() -> None:
    tokens = [("old", math.log(0.2)), (" Old", math.log(0.1)), ("young", math.log(0.4))]
    old, young = option_logprobs(tokens, OLD)
    assert old == pytest.approx(math.log(0.3))
    assert young == pytest.approx(math.log(0.4))


@pytest.mark.parametrize(
    ("token", "expected"),
    [
        ("wash", [0.0, None]),  # the first token of a longer word
        ("j", [None, None]),  # begins both
        ("jo", [None, 0.0]),
        ('"julia', [None, None]),
        ("johnson", [None, 0.0]),
        ("oldest", [None, None]),
        ("", [None, None]),
        ("▁john", [None, 0.0]),
    ],
)
def test_a_token_counts_for_the_one_option_it_can_begin(
    token: str, expected: list[float | None]
) -> None:
    options = ["washington", "johnson"] if token != "j" else ["julia", "johnson"]
    assert option_logprobs([(token, 0.0)], options) == expected


@pytest.mark.parametrize("never", [-9.0, -100.0, -9999.0, -math.inf])
def test_an_option_that_is_never_drawn_has_a_probability(never: float) -> None:
    old, young = option_logprobs([("old", -1e-4), ("young", never), ("The", -12.5)], OLD)
    assert old == pytest.approx(-1e-4) and young == max(never, -9999.0)


def test_an_option_that_is_not_listed_has_the_least_that_is() -> None:
    assert option_logprobs([("old", -0.1), ("The", -3.0)], OLD) == [-0.1, -3.0]
    assert option_logprobs([("The", -0.1), ("A", -3.0)], OLD) == [None, None]


@pytest.mark.parametrize("token", ["\ufffd", "", " \ufffd"])
def test_an_option_that_may_begin_with_an_unreadable_token_has_no_bound(token: str) -> None:
    listed = [ListedToken("男", -0.1), ListedToken(token, -3.0, [239, 191, 189]),
              ListedToken("答", -6.0)]  # fmt: skip
    assert read_options(listed, CHINESE)[0] == [None, -0.1]
    # A word of ASCII begins with no part of a character: the bound stands.
    assert option_logprobs([("old", -0.1), (token, -3.0)], OLD) == [-0.1, -3.0]


def test_bytes_that_begin_both_options_forbid_the_bound() -> None:
    listed = [ListedToken("夫", -0.1), ListedToken("<0xE5>", -0.5), ListedToken("The", -6.0)]
    assert read_options(listed, ["夫", "妻"])[0] == [-0.1, None]


@pytest.mark.parametrize(
    ("first", "probability", "mass", "reason"),
    [
        ("<think>", 0.9999, 1.7e-5, "reasoning"),
        ("<|channel|>", 0.9999, 1e-6, "reasoning"),
        ("Sorry", 0.9999, 1e-5, "refused"),
        ("I", 0.9, 0.1, "refused"),
        ("**", 0.9999, 1e-5, "options_unlikely"),
        ("\n", 0.7, 0.2, "options_unlikely"),
        ("Task", 0.2, 0.005, "options_unlikely"),
        ("The", 0.08, 0.05, None),  # a base model: many tokens, none likely
        ("I", 0.6, 0.3, None),
        ("Sorry", 0.01, 0.98, None),
    ],
)
def test_a_question_whose_options_are_unlikely_has_no_answer(
    first: str, probability: float, mass: float, reason: str | None
) -> None:
    listed = [(first, probability), ("old", 0.6 * mass), ("young", 0.4 * mass)]
    tokens = [ListedToken(text, math.log(p)) for text, p in listed]
    logprobs, first_tokens = read_options(tokens, OLD)
    response = json.dumps({"joy": logprobs})
    answered = drop_unanswered(response, write_first_tokens({"joy": first_tokens}))
    assert answered.reason == reason
    assert answered.option_mass == pytest.approx(mass, rel=0.01)
    assert answered.response == (response if reason is None else '{"joy": [null, null]}')


def test_spellings_of_a_refusal_add_up_to_more_than_half() -> None:
    listed = [("Sorry", 0.3), (" sorry", 0.2), ("I", 0.25), ("old", 0.02), ("young", 0.02)]
    tokens = [ListedToken(text, math.log(p)) for text, p in listed]
    assert read_options(tokens, OLD)[1].why_unlikely() == "refused"


def scored(pairs: dict[str, list[float]], first_tokens: str | None) -> Scored:
    trials = cm.draw("bai2025", cm.Design(mode="forced", iterations=2), stereotypes="power")
    trial = {**trials.row(0, named=True), "first_tokens": first_tokens}
    instrument = INSTRUMENTS["word_association"]
    key = instrument.key(load_study("bai2025"), "power", trial["variation"])
    response = json.dumps({word: next(iter(pairs.values())) for word in trial["attributes"]})
    if first_tokens is not None:
        fields = json.loads(first_tokens)
        trial["first_tokens"] = json.dumps(dict.fromkeys(trial["attributes"], fields))
    return instrument.score(response, trial, key)["word_association"]


def test_a_score_has_the_mass_of_its_options_and_a_reason_where_there_is_none() -> None:
    broken = scored({"": [-11.0, -12.0]}, '{"options": 2e-05, "others": [["<think>", 0.9999]]}')
    assert (broken.score, broken.reason, broken.coverage) == (None, "reasoning", 0.0)
    assert broken.option_mass == pytest.approx(2e-5)
    working = scored({"": [-0.5, -1.0]}, '{"options": 0.974}')
    assert working.score is not None and working.option_mass == pytest.approx(0.974)


def test_whole_options_have_a_mass_and_no_floor() -> None:
    mass_row = scored({"": [-7.0, -8.0]}, None)
    assert mass_row.score is not None
    assert mass_row.option_mass == pytest.approx(math.exp(-7) + math.exp(-8))


@pytest.mark.parametrize("recorded", ["", "[", "[1]", '{"joy": 3}', '{"joy": {"options": "x"}}',
                                      '{"joy": {"options": NaN, "others": [[1], 2]}}'])  # fmt: skip
def test_malformed_first_tokens_change_nothing(recorded: str) -> None:
    response = '{"joy": [-0.5, -1.0], "pain": "x"}'
    assert drop_unanswered(response, recorded)[::2] == (response, None)
