"""What a check of a gate is, and how it names what it is about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from clinometer.numbers import bracketed
from clinometer.results import CONDITIONS

__all__ = [
    "NAMES",
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


def row_name(row: Mapping[str, Any], names: Sequence[str] = NAMES) -> str:
    """Name an estimate by what it is about, and by `names`, which tell it from others."""
    subject = row["stereotype"] or row["category"] or "all stereotypes"
    condition = condition_text(row, names)
    return f"{subject} ({condition})" if condition else str(subject)


def estimate_text(row: Mapping[str, Any], names: Sequence[str] = NAMES) -> str:
    """Name an estimate, as `row_name` does, with its interval."""
    name = row_name(row, names)
    if row["ci_low"] is None:
        return name
    return f"{name} {bracketed(row['estimate'], row['ci_low'], row['ci_high'])}"
