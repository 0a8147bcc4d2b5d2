"""What changed since the latest earlier audit of the same models."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import polars as pl

from clinometer.directory.results import read_estimates
from clinometer.errors import ClinometerError
from clinometer.report.answers.brief import FACTORS, NAMED
from clinometer.report.answers.results import InstrumentResults
from clinometer.report.plan import PlanFacts, read_plan
from clinometer.report.prose import as_argument, number

__all__ = ["changes"]


def changes(
    directory: Path, plan: PlanFacts, each: Mapping[str, InstrumentResults]
) -> Iterator[str]:
    """Say how means moved since the latest earlier audit of the same beside this one."""
    before = _earlier(directory, plan)
    if before is None:
        return
    other, created = before
    try:
        rows = read_estimates(other).filter(
            pl.col("factor").is_null(), family="answers", level="model", method="clustered"
        )
    except ClinometerError:
        return
    moved = []
    for name, asked in each.items():
        for row in asked.whole.drop_nulls("estimate").iter_rows(named=True):
            same = (
                pl.col(factor).eq_missing(pl.lit(row[column], pl.String))
                for factor, column in FACTORS.items()
                if factor != "stereotype"
            )
            old = rows.filter(*same, measure=row["measure"])["estimate"].drop_nulls()
            if old.len() == 1:
                moved.append(f"{name} {number(old[0])} to {number(row['estimate'])}")
    if moved:
        both = f"{as_argument(directory.parent / other.name)} {as_argument(directory)}"
        yield (
            f"Since {created[:10]} ({other.name}): {', '.join(moved[:NAMED])}. Whether that is a "
            f"change: clinometer compare {both}"
        )


def _earlier(directory: Path, plan: PlanFacts) -> tuple[Path, str] | None:
    """Find the latest earlier results of the same models and stereotypes beside a directory."""
    own, asked = plan.created, _asked(plan)
    found = []
    for path in directory.resolve().parent.glob("*/plan.json"):
        if path.parent == directory.resolve() or not (path.parent / "estimates.parquet").is_file():
            continue
        try:
            other = read_plan(path)
        except ClinometerError:
            continue
        created = other.created
        if created and created < own and _asked(other) == asked:
            found.append((created, path.parent))
    if not found:
        return None
    created, path = max(found)
    return path, created


def _asked(plan: PlanFacts) -> tuple[tuple[str, ...], dict[str, set[str]]]:
    """Say which models were asked about which stereotypes."""
    stereotypes = {name: set(study.stereotypes) for name, study in plan.studies.items()}
    return plan.models, stereotypes
