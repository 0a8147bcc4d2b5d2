"""Controls: stimuli whose answer is known, and what follows where a model gets it wrong."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from tiltmeter.report.plan import Plan
from tiltmeter.report.prose import interval, number, verdict_kind
from tiltmeter.report.tables import Table, estimate_table

__all__ = ["CONTROLS", "control_table", "failed_control", "warnings"]

#: What a control is for, by its kind.
CONTROLS = {
    "positive": "In {study} the association is known to be there; without a positive mean the "
    "instrument does not work on the model in that mode.",
    "negative": "In {study} there is none to be found; a mean apart from neutral is the "
    "instrument's own error.",
}


def failed_control(row: Mapping[str, Any], expected: str, plan: Plan) -> str:
    """Say that a control failed; empty where it did not.

    `row`: the estimate of a control.
    `expected`: ``"positive"``: an association is known to be there; ``"negative"``: known not to
        be.
    """
    kind = verdict_kind(row["verdict"])
    works = {"positive": kind == "consistent", "negative": kind not in ("consistent", "reversed")}
    if works.get(expected, True):
        return ""
    value = f"{number(row['estimate'])} ({plan.interval} {interval(row['ci_low'], row['ci_high'])})"
    means = (
        "a known association does not show, so that no result of this mode can be relied on, "
        "least of all the absence of a bias."
        if expected == "positive"
        else "an association shows where there can be none; results of its size mean nothing."
    )
    label = plan.of(row["study"]).label(row["stereotype"])
    return f"The {expected} control fails ({label}: {value}): {means}"


def warnings(checks: pl.DataFrame, plan: Plan) -> dict[tuple[str, str], str]:
    """Say of each model and mode which controls it fails.

    `checks`: the estimates of the controls, one row each.
    `plan`: which control expects what.
    Result: model and mode → plain text; only those that fail one. A control has no dimension, and
        speaks of all dimensions of its mode: look it up by ``control_mode``.
    """
    expected = dict(plan.pairs("controls"))
    failed: dict[tuple[str, str], list[str]] = {}
    for row in checks.iter_rows(named=True):
        if text := failed_control(row, expected.get(row["study"], ""), plan):
            failed.setdefault((row["model"], row["control_mode"]), []).append(text)
    return {key: " ".join(texts) for key, texts in failed.items()}


def control_table(checks: pl.DataFrame, plan: Plan) -> Table | None:
    """Set out the estimates of the controls; None where there are none.

    `checks`: the estimates of the controls, one row each.
    `plan`: what each control is for, and labels by study.
    """
    if checks.is_empty():
        return None
    caption = "Controls: stimuli whose answer is known beforehand. " + " ".join(
        CONTROLS[kind].format(study=study)
        for study, kind in plan.pairs("controls")
        if kind in CONTROLS and study in checks["study"]
    )
    return estimate_table(checks, plan, caption)
