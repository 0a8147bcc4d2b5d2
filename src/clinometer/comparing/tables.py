"""What a terminal shows of a comparison and of a gate: a row a mean, and a row a check."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from clinometer.comparing.checks import (
    NAMES,
    GateCheck,
    instrument_name,
    subject_name,
    telling_names,
)
from clinometer.comparing.comparison import Comparison
from clinometer.comparing.deciding import (
    Decision,
    Runs,
    any_finding,
    findings_of,
    means_of_runs,
)
from clinometer.comparing.gating import Gated
from clinometer.numbers import interval, number, signed
from clinometer.pieces.prose import SIGNS, capital, counted, verdict_kind
from clinometer.pieces.tables import ROW, TableColumn, TableSpec
from clinometer.results.verdicts import PRINTED_CHANGES

__all__ = ["CHANGES", "CHECKS", "change_rows", "gate_rows"]

#: Rows of categories or stereotypes that are shown, the worst first.
MOST = 12


def change_rows(comparison: Comparison, decision: Decision) -> Iterator[dict[str, Any]]:
    """Yield the change of each mean over all, and below it those a decision is about."""
    means = comparison.means(decision.candidate)
    profile = decision.rows.head(MOST)
    asked = pl.concat([means.select(NAMES), profile.select(NAMES)]).unique(maintain_order=True)
    names = telling_names(asked.iter_rows(named=True))
    for run in asked.iter_rows(named=True):
        is_run = [pl.col(name).eq_missing(pl.lit(value)) for name, value in run.items()]
        over_all, parts = (rows.filter(*is_run).rows(named=True) for rows in (means, profile))
        first = (over_all or parts)[0]
        title = capital(instrument_name(first, names, any_finding(first, decision.runs)))
        if over_all:
            yield {**_with_means(over_all[0], decision.runs), "name": title}
        else:
            yield {**dict.fromkeys(profile.columns), "before": None, "after": None, "name": title}
        for row in parts:
            subject = subject_name(row, any_finding(row, decision.runs))
            yield {**_with_means(row, decision.runs), "name": f"  {subject}"}


def _with_means(row: dict[str, Any], runs: Runs) -> dict[str, Any]:
    """Add the means of both runs by themselves to a change."""
    before, after = means_of_runs(row, findings_of(row, runs))
    return {**row, "before": before, "after": after}


def _change_verdict(row: Mapping[str, Any]) -> str:
    """Write the verdict of a change as sign and words."""
    if row["verdict"] is None:
        return ""
    sign, _ = SIGNS.get(verdict_kind(row["verdict"]), ("○", ""))
    return f"{sign} {PRINTED_CHANGES.get(row['verdict'], row['verdict'])}"


#: With rows from `change_rows`.
CHANGES = TableSpec(
    "Distance from neutral counts, on either side. Before, After: each run by itself. Change: over "
    "the trials that both scored, in these prompts; intervals of all at once.",
    (
        TableColumn("", "name", align="head"),
        TableColumn("Before", "before", number, missing=""),
        TableColumn("After", "after", number, missing=""),
        TableColumn("Change", "estimate", signed, missing=""),
        TableColumn("Interval", "ci_low ci_high", interval, missing=""),
        TableColumn("", ROW, _change_verdict, align="verdict"),
    ),
)

#: Outcome of a check → its sign, and the verdict whose colour it has.
_OUTCOMES = {
    "pass": ("✓ pass", "passed"),
    "fail": ("✗ fail", "failed"),
    "inconclusive": ("○ inconclusive", "inconclusive"),
}

#: With rows from `gate_rows`.
CHECKS = TableSpec(
    "",
    (
        TableColumn("Outcome", ROW, lambda row: str(row["outcome"]), "verdict"),
        TableColumn("Check", "name"),
        TableColumn("Why", "reason"),
    ),
)


def gate_rows(gated: Gated) -> list[dict[str, str]]:
    """Return a row for each check of a gate, and one for all controls that pass."""
    rows = []
    for check in _with_passed_controls(gated.checks):
        outcome, verdict = _OUTCOMES[check.outcome]
        texts = {"outcome": outcome, "verdict": verdict}
        rows.append({**texts, "name": check.name, "reason": check.reason})
    return rows


def _with_passed_controls(checks: Sequence[GateCheck]) -> Iterator[GateCheck]:
    """Yield the checks, and last one for all controls that pass, by what they say."""
    passed: Counter[str] = Counter()
    for check in checks:
        if (check.kind, check.outcome) == ("control", "pass"):
            passed[check.reason.split(":")[0]] += 1
        else:
            yield check
    if passed:
        reasons = ", ".join(f"{count} {reason}" for reason, count in passed.items())
        yield GateCheck("control", counted(passed.total(), "control"), "pass", reasons)
