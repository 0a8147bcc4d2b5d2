"""What a terminal shows of a comparison and of a gate."""

import pytest

from clinometer.asking.policy import Policy
from clinometer.comparing.comparison import compare
from clinometer.comparing.gating import GateCheck, Gated
from clinometer.comparing.tables import CHANGES, CHECKS, change_rows, gate_rows
from clinometer.numbers import interval, number, signed


def texts(table):
    return [[cell.text for cell in row] for row in table.rows]


@pytest.fixture(scope="module", params=["category", "stereotype"])
def shown(request, make_run):
    comparison = compare(make_run("old"), make_run("new", 0.5, seed=1, only=0), controls="ignored")
    (decision,) = comparison.decisions(request.param)
    return comparison, decision, texts(CHANGES.render([*change_rows(comparison, decision)]))


def test_the_mean_over_all_stands_first_then_each_row_of_the_decision(shown):
    comparison, decision, rows = shown
    (mean,) = comparison.means("new").rows(named=True)
    assert rows[0][:4] == [
        "Word association",
        number(mean["baseline_estimate"]),
        number(mean["candidate_estimate"]),
        signed(mean["estimate"]),
    ]
    assert len(rows) == 1 + decision.rows.height


def test_numbers_and_verdicts_are_those_of_the_decision(shown):
    _, decision, rows = shown
    assert rows[1][5].startswith("▲ worse")
    for row, cells in zip(decision.rows.iter_rows(named=True), rows[1:], strict=True):
        assert cells[0].strip().lower() == (row["stereotype"] or row["category"])
        assert cells[3:5] == [signed(row["estimate"]), interval(row["ci_low"], row["ci_high"])]


def test_controls_that_pass_share_a_row_and_others_do_not():
    rule = {"what": "mean", "at_most": 0.3}
    checks = [
        GateCheck("rule", "mean at most 0.3", "fail", "gender 0.57"),
        GateCheck("control", "positive control of a", "pass", "passed: insects 0.7"),
        GateCheck("control", "positive control of b", "pass", "passed: predators 0.7"),
        GateCheck("control", "negative control of a", "pass", "not known: nonsense 0.0"),
        GateCheck("control", "negative control of b", "inconclusive", "not asked"),
    ]
    gated = Gated(Policy(name="p", rules=[rule]), "m", None, None, checks)
    assert texts(CHECKS.render(gate_rows(gated))) == [
        ["✗ fail", "mean at most 0.3", "gender 0.57"],
        ["○ inconclusive", "negative control of b", "not asked"],
        ["✓ pass", "3 controls", "2 passed, 1 not known"],
    ]
