"""What a terminal shows of a comparison and of a gate: a row a mean, and a row a check."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from clinometer.comparing.checks import GateCheck
from clinometer.comparing.comparison import Comparison
from clinometer.comparing.deciding import Decision
from clinometer.comparing.gating import Gated
from clinometer.numbers import interval, number, signed
from clinometer.pieces.facts import spaced
from clinometer.pieces.prose import SIGNS, category_title, counted, verdict_kind
from clinometer.pieces.tables import ROW, TableColumn, TableSpec
from clinometer.results import CONDITIONS
from clinometer.results.verdicts import PRINTED_CHANGES

__all__ = ["CHANGES", "CHECKS", "change_rows", "gate_rows"]

#: Rows of categories or stereotypes that are shown, the worst first.
MOST = 12

_ASKED = ("study", "instrument", "mode", *CONDITIONS, "dimension")


def change_rows(comparison: Comparison, decision: Decision) -> Iterator[dict[str, Any]]:
    """Yield the change of each mean over all, and below it those a decision is about."""
    means = comparison.means(decision.candidate)
    profile = decision.rows.head(MOST)
    asked = pl.concat([means.select(_ASKED), profile.select(_ASKED)]).unique(maintain_order=True)
    several = [name for name in _ASKED if name != "instrument" and asked[name].n_unique() > 1]
    for run in asked.iter_rows(named=True):
        is_run = [pl.col(name).eq_missing(pl.lit(value)) for name, value in run.items()]
        over_all = means.filter(*is_run)
        details = [run[name] for name in several if run[name]]
        name = spaced(run["instrument"]) + (f" ({', '.join(details)})" if details else "")
        for row in over_all.head(1).iter_rows(named=True):
            yield {**row, "name": name}
        if over_all.is_empty():
            yield {**dict.fromkeys(profile.columns), "name": name}
        for row in profile.filter(*is_run).iter_rows(named=True):
            yield {**row, "name": f"  {row['stereotype'] or category_title(row['category'])}"}


def _change_verdict(row: Mapping[str, Any]) -> str:
    """Write the verdict of a change as sign and words."""
    if row["verdict"] is None:
        return ""
    sign, _ = SIGNS.get(verdict_kind(row["verdict"]), ("○", ""))
    return f"{sign} {PRINTED_CHANGES.get(row['verdict'], row['verdict'])}"


#: With rows from `change_rows`.
CHANGES = TableSpec(
    "Distance from neutral counts, on either side. Intervals: in these prompts, of all at once.",
    (
        TableColumn("", "name", align="head"),
        TableColumn("Before", "baseline_estimate", number, missing=""),
        TableColumn("After", "candidate_estimate", number, missing=""),
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
