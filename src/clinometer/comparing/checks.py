"""What a check of a gate is, and how it names what it is about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from clinometer.numbers import bracketed
from clinometer.results import CONDITIONS

__all__ = [
    "WORST",
    "CheckKind",
    "GateCheck",
    "Outcome",
    "condition_text",
    "estimate_text",
    "row_name",
]

Outcome = Literal["pass", "fail", "inconclusive"]
CheckKind = Literal["rule", "run", "policy", "compliance", "control"]

#: Outcomes, the worst first: the first one that a check has is the gate's.
WORST: tuple[Outcome, ...] = ("fail", "inconclusive", "pass")

#: What names an estimate in a reason.
_NAMES = ("study", "instrument", "mode", *CONDITIONS, "dimension")


@dataclass(frozen=True)
class GateCheck:
    """One requirement, and whether it is met."""

    kind: CheckKind
    name: str
    outcome: Outcome
    reason: str
    line: int | None = None
    """Of the policy's file, where a rule begins."""


def condition_text(row: Mapping[str, Any]) -> str:
    """Say what was asked, and how."""
    return ", ".join(str(row[name]) for name in _NAMES if row[name] and row[name] != "none")


def row_name(row: Mapping[str, Any]) -> str:
    """Name an estimate by what it is about."""
    subject = row["stereotype"] or row["category"] or "all stereotypes"
    return f"{subject} ({condition_text(row)})"


def estimate_text(row: Mapping[str, Any]) -> str:
    """Name an estimate with its interval."""
    if row["ci_low"] is None:
        return row_name(row)
    return f"{row_name(row)} {bracketed(row['estimate'], row['ci_low'], row['ci_high'])}"
