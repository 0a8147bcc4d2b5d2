"""What changed since the latest earlier audit of the same models."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from clinometer.directory.results import read_estimates
from clinometer.errors import ClinometerError
from clinometer.report.answers.brief import FACTORS, NAMED
from clinometer.report.answers.results import InstrumentResults
from clinometer.report.plan import PlanFacts, read_plan
from clinometer.report.prose import as_argument, number

__all__ = ["changes"]


def changes(
    directory: Path, plan: PlanFacts, instruments: Mapping[str, InstrumentResults]
) -> Iterator[str]:
    """Say how means moved since the latest earlier audit of the same models and stereotypes.

    `instruments`: name → results; earlier audits stand in the same folder as `directory`.
    """
    audit = _earlier_audit(directory, plan)
    if audit is None:
        return
    earlier, created = audit
    try:
        rows = read_estimates(earlier).filter(
            pl.col("factor").is_null(), family="answers", level="model", method="clustered"
        )
    except ClinometerError:
        return
    moves = []
    for name, results in instruments.items():
        for row in results.over_all.drop_nulls("estimate").iter_rows(named=True):
            before = rows.filter(_is_same_mean(row))["estimate"].drop_nulls()
            if before.len() == 1:
                moves.append(f"{name} {number(before[0])} to {number(row['estimate'])}")
    if moves:
        arguments = f"{as_argument(directory.parent / earlier.name)} {as_argument(directory)}"
        yield (
            f"Since {created[:10]} ({earlier.name}): {', '.join(moves[:NAMED])}. Whether that is a "
            f"change: clinometer compare {arguments}"
        )


def _is_same_mean(row: Mapping[str, Any]) -> list[pl.Expr]:
    """Match the rows of another audit that are about the same as a mean over all stereotypes."""
    # Null matches null: a mean without a dimension is the same as another without one.
    same_factors = [
        pl.col(factor).eq_missing(pl.lit(row[column], pl.String))
        for factor, column in FACTORS.items()
        if factor != "stereotype"
    ]
    return [*same_factors, pl.col("measure") == row["measure"]]


def _earlier_audit(directory: Path, plan: PlanFacts) -> tuple[Path, str] | None:
    """Find the latest earlier results of the same models and stereotypes beside a directory."""
    audits = []
    for path in directory.resolve().parent.glob("*/plan.json"):
        if path.parent == directory.resolve() or not (path.parent / "estimates.parquet").is_file():
            continue
        try:
            earlier = read_plan(path)
        except ClinometerError:
            continue
        # Dates are ISO 8601 in UTC, so texts sort as times do.
        is_earlier = bool(earlier.created) and earlier.created < plan.created
        if is_earlier and earlier.content() == plan.content():
            audits.append((earlier.created, path.parent))
    if not audits:
        return None
    created, folder = max(audits)
    return folder, created
