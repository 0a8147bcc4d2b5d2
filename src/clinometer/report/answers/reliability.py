"""Reliability: whether another measurement would put the stereotypes in the same order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from clinometer.numbers import bracketed, count, interval, number, p_value, percent
from clinometer.pieces.paragraphs import Paragraphs
from clinometer.pieces.plan import PlanFacts
from clinometer.pieces.sections import Section
from clinometer.pieces.tables import FROM, NOTE, ReportTable, TableColumn, render_table
from clinometer.pieces.views import InstrumentResults
from clinometer.statistics.reliability import FACETS

__all__ = ["reliability_section"]

_COEFFICIENTS = (
    "Reliability of the means of the stereotypes. Split halves: correlation of two halves of the "
    "draws, stepped up to all draws (Spearman–Brown). Generalisability (Eρ²): the same order over "
    "wordings and draws. Dependability (Φ): the same means. Range 0 to 1. Variance: share of the "
    "variance of a draw that is due to each source; interaction: stereotypes × wordings, and draws "
    "where each wording has one."
)
_CORRELATIONS = (
    "Correlation of the means of the stereotypes between two wordings, group orders, modes or "
    "instruments. Range −1 to 1; neutral 0. Interval: by Fisher’s z."
)
#: Measure → what is compared.
_COMPARED = {measure: measure.removesuffix("_correlation") for measure in FACETS.values()}


def reliability_section(results: InstrumentResults) -> Section | None:
    """Show coefficients and correlations; None where nothing could be estimated."""
    instrument = pl.lit(results.instrument)
    is_first, is_second = (pl.col(end).eq_missing(instrument) for end in ("first", "second"))
    # A row between instruments is about no single one, so those of other pairs are here as well.
    between_instruments = pl.col("measure") == FACETS["instrument"]
    rows = results.tables.reliability.filter(~between_instruments | is_first | is_second)
    if rows["estimate"].is_null().all():
        return None
    is_correlation = pl.col("measure").is_in(list(_COMPARED))
    correlations = rows.filter(is_correlation).drop_nulls("estimate")
    tables = [("", _coefficient_table(rows.filter(~is_correlation)))]
    if not correlations.is_empty():
        tables.append(("Table of correlations", _correlation_table(correlations, results.plan)))
    text = Paragraphs("reliability")
    return Section("reliability", "Reliability", text, tables=tuple(tables))


def _coefficient_table(rows: pl.DataFrame) -> ReportTable:
    """Set out the coefficients of each model and mode, a row each."""
    parts = rows.partition_by("model", "mode", maintain_order=True)
    columns = [
        *FROM,
        TableColumn("Stereotypes", lambda r: count(r["n"])),
        TableColumn("Split halves", lambda r: _coefficient(r.get("split_half"))),
        TableColumn("Generalisability", lambda r: _coefficient(r.get("generalisability"))),
        TableColumn("Dependability", lambda r: _coefficient(r.get("dependability"))),
        *map(_variance_column, ("stereotypes", "wordings", "interaction", "draws")),
        NOTE,
    ]
    return render_table([_wide_row(part) for part in parts], _COEFFICIENTS, columns)


def _wide_row(part: pl.DataFrame) -> dict[str, Any]:
    """Put the coefficients of a model and mode in one row, each under the name of its measure."""
    coefficients = {row["measure"]: row for row in part.iter_rows(named=True)}
    variances = part.filter(measure="variance_component").select("component", "estimate")
    notes = part["note"].drop_nulls().unique(maintain_order=True)
    return {
        **coefficients,
        "model": part["model"][0],
        "mode": part["mode"][0],
        "n": part["n"].max(),
        "note": "; ".join(notes),
        "variances": dict(variances.rows()),
    }


def _coefficient(row: Mapping[str, Any] | None) -> str:
    if row is None or row["estimate"] is None:
        return ""
    return bracketed(row["estimate"], row["ci_low"], row["ci_high"])


def _variance_column(source: str) -> TableColumn:
    """Make the column of the share of the variance that is due to a source."""
    component = "stereotypes × wordings" if source == "interaction" else source

    def render(row: Mapping[str, Any]) -> str:
        """Write the share of a row."""
        components = row["variances"]
        if components.get(component) is None:
            return ""
        return percent(components[component] / sum(components.values()))

    return TableColumn(f"Variance: {source}", render)


def _correlation_table(rows: pl.DataFrame, plan: PlanFacts) -> ReportTable:
    columns = [
        TableColumn("Between", lambda r: f"{_COMPARED[r['measure']]}s", "head"),
        TableColumn("First", lambda r: _title(r["first"], plan), "text"),
        TableColumn("Second", lambda r: _title(r["second"], plan), "text"),
        *FROM,
        TableColumn("Stereotypes", lambda r: count(r["n"])),
        TableColumn("r", lambda r: number(r["estimate"])),
        TableColumn(plan.interval, lambda r: interval(r["ci_low"], r["ci_high"])),
        TableColumn("p", lambda r: p_value(r["p"])),
    ]
    return render_table(rows, _CORRELATIONS, columns)


def _title(value: str | None, plan: PlanFacts) -> str:
    """Return the title of an instrument; a wording, an order and a mode as they are."""
    measure = plan.instruments.get(value or "")
    return measure.title if measure else value or ""
