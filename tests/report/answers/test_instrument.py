import polars as pl
import pytest

from tiltmeter.report import write_report
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


def test_means_stand_beside_random_splits(make_results):
    directory = make_results(modes=["forced"])
    path = directory / "estimates.parquet"
    placebo = (pl.col("method") == "placebo") & (pl.col("stereotype") == "age")
    known = {"p": 0.031, "placebo_low": -0.23, "placebo_high": 0.24}
    filled = (pl.when(placebo).then(v).otherwise(c).alias(c) for c, v in known.items())
    pl.read_parquet(path).with_columns(filled).write_parquet(path)
    write_report(directory)
    page = (directory / "report.html").read_text("utf-8")
    assert "Random splits assign" in page
    assert "−0.23 to 0.24, p .031" in page
    assert "grey bar: 95% interval of random splits" in page
