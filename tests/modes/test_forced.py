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
