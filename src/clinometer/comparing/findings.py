"""What is told of the means of a results directory, looked up by rows of estimates."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from clinometer.pieces.findings import FACTORS, Finding

__all__ = ["MeanKey", "findings_by_mean", "mean_key"]

#: What a mean is known by: its level, the kind of control that it is of, and its factors.
MeanKey = tuple[str | None, ...]


def findings_by_mean(directory: Path) -> Mapping[MeanKey, Finding]:
    """Return the findings of a results directory; none where nothing was estimated.

    Raises InputError if a table is malformed, PlanError if the plan is.
    """
    from clinometer.report.answers.summary import findings  # imports what draws

    if not (directory / "estimates.parquet").is_file():
        return {}
    return {
        (finding.level, None, *finding.about.values()): finding for finding in findings(directory)
    }


def mean_key(row: Mapping[str, Any]) -> MeanKey:
    """Return what the mean of a row, or of a change, is known by; columns of `ESTIMATES`."""
    return row["level"], row["control"], *(row[name] for name in FACTORS)
