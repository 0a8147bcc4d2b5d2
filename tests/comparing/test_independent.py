"""Differences of estimates of networks and hidden states, by hand."""

import pytest
from scipy.stats import norm

from clinometer.comparing.comparison import compare
from clinometer.comparing.independent import compare_estimates
from clinometer.directory.results import write_results
from clinometer.results.estimates import Measure, as_estimates

WEAT = Measure("weat", "", -2.0, 2.0, 0.0, "", "")
ROW = {"measure": "weat", "level": "layer", "method": "bootstrap", "confidence": 0.95, "n": 10}


def estimates(subject, *rows):
    return as_estimates(
        [{**ROW, "subject": subject, **row} for row in rows], {"weat": WEAT}, "states"
    )


def test_variances_add_up_and_intervals_give_errors():
    ours = estimates("a", {"layer": "1", "estimate": 0.2, "ci_low": 0.0, "ci_high": 0.4})
    theirs = estimates("b", {"layer": "1", "estimate": 0.9, "se": 0.3})
    row = compare_estimates(ours, theirs, ("a", "b"), 0.95).row(0, named=True)
    se = ((0.2 / norm.ppf(0.975)) ** 2 + 0.3**2) ** 0.5
    assert (row["estimate"], row["se"]) == pytest.approx((0.7, se))
    assert row["p"] == pytest.approx(2 * norm.sf(0.7 / se))
    assert (row["ci_low"], row["ci_high"]) == pytest.approx(norm.interval(0.95, 0.7, se))
    assert (row["baseline"], row["candidate"], row["matched_by"]) == ("a", "b", "estimate")


def test_what_only_one_has_and_tests_of_a_single_run_are_left_out():
    rows = [{"layer": str(k), "estimate": 0.1, "se": 0.1} for k in range(3)]
    permuted = {"layer": "0", "estimate": 0.1, "method": "permutation", "p": 0.01}
    differences = compare_estimates(
        estimates("a", *rows[:2], permuted), estimates("b", *rows[1:], permuted), ("a", "b"), 0.95
    )
    assert differences["layer"].to_list() == ["1"]


def test_without_an_error_there_is_a_difference_and_no_test():
    tables = (
        estimates(name, {"layer": "1", "estimate": value})
        for name, value in (("a", 0.1), ("b", 0.4))
    )
    row = compare_estimates(*tables, ("a", "b"), 0.95).row(0, named=True)
    assert row["estimate"] == pytest.approx(0.3)
    assert [row[c] for c in ("se", "p", "ci_low", "test", "confidence")] == [None] * 5


def test_directories_without_answers_are_compared(tmp_path):
    for name, value in (("a", 0.1), ("b", 0.9)):
        table = estimates(name, {"layer": "1", "estimate": value, "se": 0.1})
        write_results(tmp_path / name, "states", table, {})
    compared = compare(tmp_path / "a", tmp_path / "b")
    assert compared.decisions() == []
    assert compared.estimates.select("estimate", "baseline", "candidate").row(0) == (
        pytest.approx(0.8), "a", "b",
    )  # fmt: skip
