"""A section of the report: a heading, sentences, figures and tables."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from tiltmeter.report.drawing.figures import Figure
from tiltmeter.report.plan import Plan
from tiltmeter.report.tables import Table

__all__ = ["Section", "in_order"]


@dataclass(frozen=True)
class Section:
    """One section; tables whose summary is empty stand open, the others fold."""

    key: str
    title: str
    short: str  # for the contents
    text: tuple[str, ...] = ()
    figures: tuple[Figure, ...] = ()
    tables: tuple[tuple[str, Table], ...] = ()
    notes: tuple[str, tuple[str, ...]] = ("", ())  # what they are, and each

    def numbered(self, place: int) -> Section:
        """End the names of the figures in a number, to tell parts apart."""
        return replace(
            self, figures=tuple(replace(f, name=f"{f.name}-{place}") for f in self.figures)
        )


def in_order(frame: pl.DataFrame, plan: Plan) -> pl.DataFrame:
    """Sort as the plan lists categories, stereotypes, models, modes and dimensions."""
    listed: dict[str, Any] = {
        "category": list(dict.fromkeys(item.category for item in plan.stereotypes.values())),
        "stereotype": list(plan.stereotypes),
        "model": list(plan.texts("models")),
        "plain_mode": list(plan.texts("modes")),
        "dimension": list(plan.dimensions),
        "intervention": [name for name, _ in plan.pairs("interventions")],
    }
    places = [
        _place(name, known).alias(f"place_{name}")
        for name, known in listed.items()
        if known and name in frame.columns
    ]
    placed = frame.with_columns(places)
    by = [name for name in placed.columns if name.startswith("place_")]
    return placed.sort(by, maintain_order=True).drop(by) if by else frame


def _place(name: str, known: list[str]) -> pl.Expr:
    places = {key: place for place, key in enumerate(known)}
    return pl.col(name).replace_strict(places, default=len(known), return_dtype=pl.Int64)
