import pytest

from tiltmeter.report.answers.instrument import failed_control
from tiltmeter.report.plan import Plan


@pytest.mark.parametrize(
    ("expected", "code", "fails"),
    [
        ("positive", "consistent", False),
        ("positive", "inconclusive", True),
        ("positive", "no verdict: one cluster", True),
        ("negative", "equivalent", False),
        ("negative", "inconclusive", False),
        ("negative", "reversed, within margin", True),
    ],
)
def test_a_control_fails_in_words(expected, code, fails):
    row = {"verdict": code, "estimate": 0.05, "ci_low": -0.1, "ci_high": 0.2,
           "study": "control", "stereotype": "insects"}  # fmt: skip
    text = failed_control(row, expected, Plan())
    assert bool(text) == fails
    assert not fails or f"The {expected} control fails" in text
