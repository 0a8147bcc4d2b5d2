"""The line that says whether an instrument is valid on a model."""

from types import SimpleNamespace

import polars as pl
import pytest

from clinometer.pieces.validity import judge_runs
from clinometer.report.answers.findings import validity
from clinometer.results import ESTIMATES


def instrument_with(*controls, modes=("free",), halves=(0.9,), constructs=()):
    """An instrument with controls (mode, kind, verdict), and its reliability per mode.

    `constructs`: of the controls.
    """
    runs = pl.DataFrame({"model": "m", "control_mode": list(modes)})
    schema = {**ESTIMATES, "control_mode": pl.String}
    row = {"model": "m", "stereotype": "s", "estimate": 0.5}
    checks = [{**row, "control_mode": m, "control": k, "verdict": v} for m, k, v in controls]
    for check, construct in zip(checks, constructs, strict=False):
        check["construct"] = construct
    halves = [{**row, "control_mode": modes[0], "estimate": r, "measure": "split_half"}
              for r in halves]  # fmt: skip
    tables = [pl.DataFrame(rows, schema=schema) for rows in (checks, halves)]
    return SimpleNamespace(validities=judge_runs(runs, *tables))


EFFECT, NOTHING = ("free", "positive", "passed"), ("free", "negative", "passed")


@pytest.mark.parametrize(
    ("verdicts", "says"),
    [
        (
            {"danger": "passed", "gender": "passed"},
            "works here as far as is known (positive control passed",
        ),
        ({"danger": "failed", "gender": "failed"}, "does not work here (positive control failed"),
        (
            {"danger": "failed", "gender": "passed", "competence": "passed"},
            "works here for some kinds (positive control failed (danger), "
            "positive control passed (gender, competence)",
        ),
        (
            {"danger": "failed", "gender": "not known: too few trials"},
            "does not work here (positive control failed (danger), "
            "positive control not known: too few trials (gender)",
        ),
        (
            {"danger": "not known: too few trials", "gender": "passed"},
            "not known whether it works here (positive control not known: too few trials (danger), "
            "positive control passed (gender)",
        ),
    ],
)
def test_controls_of_several_constructs(verdicts, says):
    controls = [("free", "positive", verdict) for verdict in verdicts.values()]
    line = validity(instrument_with(*controls, constructs=[*verdicts]))
    assert line.text.startswith(f"m, mode free: {says}, no placebo")


@pytest.mark.parametrize(
    ("controls", "says"),
    [
        ([EFFECT, NOTHING], "works here (positive control passed, placebo passed"),
        (
            [("free", "positive", "failed"), NOTHING],
            "does not work here (positive control failed, placebo passed",
        ),
        (
            [EFFECT, ("free", "negative", "failed")],
            "does not work here (positive control passed, placebo failed",
        ),
        (
            [EFFECT, NOTHING, ("free", "negative", "failed")],
            "does not work here (positive control passed, placebo failed",
        ),
        (
            [EFFECT, ("free", "negative", "not known: compliance")],
            "works here as far as is known (positive control passed, placebo not known: compliance",
        ),
        (
            [("free", "positive", "not known: too few trials"), NOTHING],
            "works here as far as is known (positive control not known: too few trials, "
            "placebo passed",
        ),
        ([EFFECT], "works here as far as is known (positive control passed, no placebo"),
        (
            [("forced", "positive", "passed")],
            "not tested whether it works here (no positive control, no placebo",
        ),
    ],
)
def test_controls_decide(controls, says):
    line = validity(instrument_with(*controls))
    assert (line.subject, line.text) == (
        "Validity",
        f"m, mode free: {says}, split-half reliability 0.90).",
    )


@pytest.mark.parametrize(
    ("halves", "says"),
    [((), "reliability not known"), ((0.5, 0.8), "split-half reliability 0.50 to 0.80")],
)
def test_reliability_stands_beside_the_controls(halves, says):
    assert says in validity(instrument_with(EFFECT, NOTHING, halves=halves)).text


def test_of_many_modes_the_verdicts_are_counted():
    line = validity(instrument_with(EFFECT, NOTHING, modes=["free", "forced", "a", "b", "c"]))
    assert (
        line.text
        == "Models and modes: works here in 1 of 5, not tested whether it works here in 4 of 5."
    )


def test_nothing_is_said_of_nothing():
    assert validity(instrument_with(modes=(), halves=())) is None
