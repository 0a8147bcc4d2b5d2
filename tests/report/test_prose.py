import pytest

from clinometer.report.prose import (
    file_names,
    interval,
    number,
    p_value,
    percent,
    short_names,
    verdict,
    verdict_class,
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
    assert [p_value(p) for p in (0.00001, 0.04, 1.0, None)] == ["< .001", ".040", "1.000", "n/a"]


@pytest.mark.parametrize(
    ("code", "text", "style"),
    [
        ("consistent", "▲ consistent", "consistent"),
        ("reversed, within margin", "▼ reversed, within margin", "reversed"),
        ("no verdict: compliance", "– no verdict: compliance", ""),
        ("something new", "something new", ""),
        (None, "n/a", ""),
    ],
)
def test_verdicts(code, text, style):
    assert (verdict(code), verdict_class(code)) == (text, style)


def test_short_names_still_differ():
    assert short_names(["a/x", "b/y"]) == {"a/x": "x", "b/y": "y"}
    assert short_names(["a/x", "b/x"]) == {"a/x": "a/x", "b/x": "b/x"}


def test_file_names_are_safe_and_differ():
    assert file_names(["free", "as released, exact"]) == ["free", "as-released-exact"]
    assert file_names(["../a", "a"]) == ["1", "2"] and file_names(["مرحبا"]) == ["1"]
