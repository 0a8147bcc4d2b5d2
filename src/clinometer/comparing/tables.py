"""What a terminal shows of a comparison and of a gate: a row a mean, and a row a check."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from clinometer.comparing.checks import GateCheck
from clinometer.comparing.comparison import Comparison
from clinometer.comparing.deciding import Decision, difference_ends
from clinometer.comparing.gating import Gated
from clinometer.numbers import interval, number, signed
from clinometer.pieces.prose import SIGNS, category_title, counted, verdict_kind
from clinometer.pieces.tables import ROW, ReportTable, TableCell, TableColumn, TableSpec
from clinometer.results import CONDITIONS
from clinometer.results.verdicts import PRINTED_CHANGES

__all__ = ["change_table", "gate_table"]

#: Rows of categories or stereotypes that are shown, the worst first.
MOST = 12

_ASKED = ("study", "instrument", "mode", *CONDITIONS, "dimension")


def change_table(comparison: Comparison, decision: Decision) -> ReportTable:
    """Set out the change of each mean over all, and of the rows that a decision is about."""
    means = comparison.means(decision.candidate)
    rows = [*_change_rows(means, decision.rows.head(MOST))]
    more = max(decision.rows.height - MOST, 0)
    return _CHANGES.render(rows, more=f" {more} more rows: --out." if more else "")


def _change_rows(means: pl.DataFrame, profile: pl.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield the rows of the table: those of a run stand below its mean over all."""
    asked = pl.concat([means.select(_ASKED), profile.select(_ASKED)]).unique(maintain_order=True)
    several = [name for name in _ASKED if name != "instrument" and asked[name].n_unique() > 1]
    for run in asked.iter_rows(named=True):
        is_run = [pl.col(name).eq_missing(pl.lit(value)) for name, value in run.items()]
        over_all = means.filter(*is_run)
        details = [run[name] for name in several if run[name]]
        name = _words(run["instrument"]) + (f" ({', '.join(details)})" if details else "")
        for row in over_all.head(1).iter_rows(named=True):
            yield {**row, "name": name}
        if over_all.is_empty():
            yield {**dict.fromkeys(profile.columns), "name": name}
        for row in profile.filter(*is_run).iter_rows(named=True):
            yield {**row, "name": f"  {row['stereotype'] or category_title(row['category'])}"}


def _words(name: str) -> str:
    return name.replace("_", " ").capitalize()


def _ends(row: Mapping[str, Any]) -> str:
    """Write the interval that the verdict of a change rests on."""
    ends = None if row["estimate"] is None else difference_ends(row)
    return "" if ends is None else interval(*ends)


def _change_verdict(row: Mapping[str, Any]) -> str:
    """Write the verdict of a change as sign and words."""
    if row["verdict"] is None:
        return ""
    sign, _ = SIGNS.get(verdict_kind(row["verdict"]), ("○", ""))
    return f"{sign} {PRINTED_CHANGES.get(row['verdict'], row['verdict'])}"


_CHANGES = TableSpec(
    "Distance from neutral counts, on either side. Intervals: in these prompts.{more}",
    (
        TableColumn("", "name", align="head"),
        TableColumn("Before", "baseline_estimate", number, missing=""),
        TableColumn("After", "candidate_estimate", number, missing=""),
        TableColumn("Change", "estimate", signed, missing=""),
        TableColumn("Interval", ROW, _ends, align="number"),
        TableColumn("", ROW, _change_verdict, align="verdict"),
    ),
)

#: Outcome of a check → its sign and style.
_OUTCOMES = {
    "pass": ("✓ pass", "verdict passed"),
    "fail": ("✗ fail", "verdict failed"),
    "inconclusive": ("○ inconclusive", "verdict inconclusive"),
}


def gate_table(gated: Gated) -> ReportTable:
    """Set out the checks of a gate; controls that pass stand in one row."""
    heads = tuple(map(TableCell, ("Outcome", "Check", "Why")))
    return ReportTable("", heads, tuple(map(_check_cells, _gate_rows(gated.checks))))


def _gate_rows(checks: Sequence[GateCheck]) -> Iterator[GateCheck]:
    """Yield the checks, and one for all controls that pass, by what they say."""
    kept = [check for check in checks if (check.kind, check.outcome) != ("control", "pass")]
    passed = Counter(check.reason.split(":")[0] for check in checks if check not in kept)
    yield from kept
    if passed:
        reasons = ", ".join(f"{count} {reason}" for reason, count in passed.items())
        yield GateCheck("control", counted(passed.total(), "control"), "pass", reasons)


def _check_cells(check: GateCheck) -> tuple[TableCell, ...]:
    text, style = _OUTCOMES[check.outcome]
    return TableCell(text, style), TableCell(check.name), TableCell(check.reason)
