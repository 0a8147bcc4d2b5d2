"""What a check of a gate is, and how it names what it is about."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from clinometer.contracts.catalogue import measure_of
from clinometer.numbers import bracketed
from clinometer.pieces.findings import ALL, Finding
from clinometer.pieces.prose import category_title, name_in_text
from clinometer.results import CONDITIONS

__all__ = [
    "NAMES",
    "WORST",
    "CheckKind",
    "GateCheck",
    "Outcome",
    "condition_text",
    "estimate_text",
    "instrument_name",
    "row_name",
    "subject_name",
    "telling_names",
]

Outcome = Literal["pass", "fail", "inconclusive"]
CheckKind = Literal["rule", "run", "policy", "compliance", "control"]

#: Outcomes, the worst first: the first one that a check has is the gate's.
WORST: tuple[Outcome, ...] = ("fail", "inconclusive", "pass")

#: What names an estimate in a reason.
NAMES = ("study", "instrument", "mode", *CONDITIONS, "dimension")


@dataclass(frozen=True)
class GateCheck:
    """One requirement, and whether it is met."""

    kind: CheckKind
    name: str
    outcome: Outcome
    reason: str
    line: int | None = None
    """Of the policy's file, where a rule begins."""


def condition_text(row: Mapping[str, Any], names: Sequence[str] = NAMES) -> str:
    """Say what was asked, and how; `names`: as far as these columns tell."""
    return ", ".join(str(row[name]) for name in names if row[name] and row[name] != "none")


def telling_names(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return which of `NAMES` tell some rows apart."""
    values = [tuple(row[name] for name in NAMES) for row in rows]
    columns = zip(NAMES, zip(*values, strict=True), strict=False)  # without rows no columns
    return [name for name, column in columns if len(set(column)) > 1]


def row_name(
    row: Mapping[str, Any], names: Sequence[str] = NAMES, finding: Finding | None = None
) -> str:
    """Name an estimate by what it is about and its instrument, as its finding does.

    `names`: the columns that tell it from others; what of them the finding has is said once.
    """
    parts = _instrument_and_details(row, names, finding)
    return f"{subject_name(row, finding)} ({', '.join(filter(None, parts))})"


def subject_name(row: Mapping[str, Any], finding: Finding | None) -> str:
    """Name the stereotype or category that an estimate is about."""
    if finding is not None:
        return finding.subject
    return row["stereotype"] or (category_title(row["category"]) if row["category"] else ALL)


def instrument_name(row: Mapping[str, Any], names: Sequence[str], finding: Finding | None) -> str:
    """Name the instrument of an estimate, and how it was asked; `names`: as in `row_name`."""
    instrument, details = _instrument_and_details(row, names, finding)
    return f"{instrument} ({details})" if details else instrument


def _instrument_and_details(
    row: Mapping[str, Any], names: Sequence[str], finding: Finding | None
) -> tuple[str, str]:
    details = condition_text(row, [name for name in names if name not in ("study", "instrument")])
    if finding is not None:
        return finding.instrument, details
    measure = measure_of(row["instrument"])
    study = f" ({row['study']})" if "study" in names and row["study"] else ""
    return f"{name_in_text(measure.name, measure.title)}{study}", details


def estimate_text(
    row: Mapping[str, Any], names: Sequence[str] = NAMES, finding: Finding | None = None
) -> str:
    """Name an estimate, as `row_name` does, with its interval."""
    name = row_name(row, names, finding)
    if row["ci_low"] is None:
        return name
    return f"{name} {bracketed(row['estimate'], row['ci_low'], row['ci_high'])}"
