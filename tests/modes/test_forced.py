from __future__ import annotations

import math

import pytest

from clinometer.modes.forced import option_logprobs


def test_the_tokens_of_an_option_add_up() -> None:
    tokens = [("old", math.log(0.2)), (" Old", math.log(0.1)), ("young", math.log(0.4))]
    old, young = option_logprobs(tokens, ["old", "young"])
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
    tokens = [("old", -1e-4), ("young", never), ("The", -12.5)]
    old, young = option_logprobs(tokens, ["old", "young"])
    assert old == pytest.approx(-1e-4) and young == max(never, -9999.0)


def test_an_option_that_is_not_listed_has_the_least_that_is() -> None:
    assert option_logprobs([("old", -0.1), ("The", -3.0)], ["old", "young"]) == [-0.1, -3.0]
    assert option_logprobs([("The", -0.1), ("A", -3.0)], ["old", "young"]) == [None, None]
