"""The latest earlier audit of the same models, whose means a report sets beside those of now."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import polars as pl

from clinometer.directory.results import read_estimates
from clinometer.errors import ClinometerError
from clinometer.pieces.plan import PlanFacts, read_plan
from clinometer.pieces.prose import as_argument


class EarlierAudit(NamedTuple):
    """An earlier audit of the same models and stereotypes."""

    name: str  # of its directory
    argument: str  # the directory as commands take it
    created: str
    means: pl.DataFrame  # over all stereotypes: columns of ESTIMATES


def read_earlier(directory: Path, plan: PlanFacts) -> EarlierAudit | None:
    """Read the latest earlier audit in the same folder as `directory`; None where there is none."""
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
    try:
        rows = read_estimates(folder)
    except ClinometerError:
        return None
    of_answers = rows.filter(family="answers", level="model", method="clustered")
    means = of_answers.filter(pl.col("factor").is_null(), pl.col("control").is_null())
    return EarlierAudit(folder.name, as_argument(directory.parent / folder.name), created, means)
