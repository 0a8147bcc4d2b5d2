"""Reliability: whether another measurement would put the stereotypes in the same order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from clinometer.numbers import bracketed, count, number, percent, plain_text
from clinometer.pieces.paragraphs import Paragraphs
from clinometer.pieces.plan import PlanFacts
from clinometer.pieces.sections import Section
from clinometer.pieces.tables import FROM, TableColumn, TableSpec
from clinometer.pieces.views import InstrumentResults
from clinometer.statistics.reliability import FACETS

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
    coefficients = _coefficient_rows(rows.filter(~is_correlation))
    tables = [("", _COEFFICIENT_TABLE.render(coefficients))]
    if not correlations.is_empty():
        titled = _with_titles(correlations, results.plan)
        table = _CORRELATION_TABLE.render(titled, interval=results.plan.interval)
        tables.append(("Table of correlations", table))
    text = Paragraphs("reliability")
    return Section("reliability", "Reliability", text, tables=tuple(tables))


#: What a row of coefficients has: measure → title, and the sources of the variance.
_MEASURES = {
    "split_half": "Split halves",
    "generalisability": "Generalisability",
    "dependability": "Dependability",
}
_SOURCES = ("stereotypes", "wordings", "interaction", "draws")

_COEFFICIENT_TABLE = TableSpec(
    _COEFFICIENTS,
    (
        *FROM,
        TableColumn("Stereotypes", "n", count),
        *(TableColumn(title, name, plain_text, "number") for name, title in _MEASURES.items()),
        *(TableColumn(f"Variance: {name}", name, percent, missing="") for name in _SOURCES),
        "note",
    ),
)


def _coefficient_rows(rows: pl.DataFrame) -> list[dict[str, Any]]:
    """Put the coefficients of each model and mode in a row, each under the name of its measure."""
    return [_wide_row(part) for part in rows.partition_by("model", "mode", maintain_order=True)]


def _wide_row(part: pl.DataFrame) -> dict[str, Any]:
    coefficients = {row["measure"]: row for row in part.iter_rows(named=True)}
    notes = part["note"].drop_nulls().unique(maintain_order=True)
    return {
        **{measure: _coefficient(coefficients.get(measure)) for measure in _MEASURES},
        **_variance_shares(part),
        "model": part["model"][0],
        "mode": part["mode"][0],
        "n": part["n"].max(),
        "note": "; ".join(notes),
    }


def _coefficient(row: Mapping[str, Any] | None) -> str:
    if row is None or row["estimate"] is None:
        return ""
    return bracketed(row["estimate"], row["ci_low"], row["ci_high"])


def _variance_shares(part: pl.DataFrame) -> dict[str, float | None]:
    """Return the share of the variance that is due to each source; None where it is not known."""
    rows = part.filter(measure="variance_component").select("component", "estimate").rows()
    components = dict(rows)
    shares: dict[str, float | None] = {}
    for source in _SOURCES:
        value = components.get("stereotypes × wordings" if source == "interaction" else source)
        shares[source] = None if value is None else value / sum(components.values())
    return shares


_CORRELATION_TABLE = TableSpec(
    _CORRELATIONS,
    (
        TableColumn("Between", "measure", lambda measure: f"{_COMPARED[measure]}s", "head"),
        "first",
        "second",
        *FROM,
        TableColumn("Stereotypes", "n", count),
        TableColumn("r", "estimate", number),
        "interval",
        "p",
    ),
)


def _with_titles(rows: pl.DataFrame, plan: PlanFacts) -> pl.DataFrame:
    """Name instruments by their titles; a wording, an order and a mode stay as they are."""
    titles = {name: measure.title for name, measure in plan.instruments.items()}
    return rows.with_columns(pl.col("first", "second").replace(titles))
