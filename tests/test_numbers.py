"""How numbers are written."""

import pytest

from clinometer.numbers import (
    FORMATS,
    bracketed,
    interval,
    number,
    p_value,
    percent,
    percent_interval,
    signed,
)


@pytest.mark.parametrize(
    ("value", "text"),
    [(-0.123, "−0.12"), (0.0, "0.00"), (-0.001, "0.00"), (None, "n/a"), (float("nan"), "n/a")],
)
def test_numbers(value, text):
    assert number(value) == text


def test_intervals_shares_and_p_values():
    assert interval(-0.1, 0.25) == "−0.10 to 0.25" and interval(None, 1) == "n/a"
    assert percent(0.824) == "82%" and percent(None) == "n/a"
    assert (
        percent_interval(0.824, 0.9, 1) == "82.4% to 90.0%" and percent_interval(None, 1) == "n/a"
    )
    assert [p_value(p) for p in (0.00001, 0.04, 1.0, None)] == ["< .001", ".040", "1.000", "n/a"]


def test_a_difference_has_its_sign_and_zero_has_none():
    assert [signed(value) for value in (0.5, -0.5, 0.001)] == ["+0.50", "−0.50", "0.00"]


def test_what_is_missing_is_said_as_its_place_does():
    assert number(None, missing="none") == "none" and signed(None, missing="–") == "–"


def test_a_value_stands_before_its_interval():
    assert bracketed(0.1, -0.1, 0.25, 1) == "0.1 [−0.1 to 0.2]"
    assert bracketed(0.1, None, 0.25) == "0.10" and bracketed(None, None, None) == "n/a"


@pytest.mark.parametrize("write", FORMATS.values())
def test_every_format_writes_what_is_missing(write):
    assert write(None) in ("n/a", "")
