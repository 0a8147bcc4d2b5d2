"""Published values beside this run: context, not a yardstick."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import polars as pl

from clinometer.numbers import interval, number
from clinometer.pieces.drawing.charts import Axis, Row
from clinometer.pieces.drawing.comparison import ticks_and_diamonds, with_published
from clinometer.pieces.drawing.figures import Figure, mark_row, per_mode
from clinometer.pieces.drawing.intervals import range_text
from clinometer.pieces.paragraphs import Paragraphs
from clinometer.pieces.printed import (
    MARKS,
    printed_values,
    run_names,
    stereotype_table,
    wording_tables,
)
from clinometer.pieces.sections import Section
from clinometer.pieces.tables import ReportTable, TableColumn, TableSpec, head
from clinometer.pieces.views import InstrumentResults
from clinometer.reference import load_published
from clinometer.reference.published import Published

#: Up to this many rows the text says the range of each.
MOST_SENTENCES = 6


class Match(NamedTuple):
    """The rows of this run and the published ones, under the same labels."""

    ours: pl.DataFrame  # label, model, mode, category, stereotype, estimate, …
    theirs: pl.DataFrame  # label, model, mean, note, …
    note: str  # in which a doubtful row of theirs is described
    per_stereotype: bool = False
    axis: Axis | None = None  # of the figure; where None, that of the measure
    scale: str = ""  # in words; where empty, that of the measure


def published_section(
    results: InstrumentResults, sources: Mapping[str, Published]
) -> Section | None:
    """Set published means beside these; None where none was published on what was asked.

    `sources`: study → where published means of the instrument stand.
    """
    source = sources.get(results.study)
    if source is None:
        return None
    published = load_published(source.study, results.instrument)
    theirs = published.filter(table=source.table)
    has_dimensions = "dimension" in theirs.columns
    match_rows = _match_dimensions if has_dimensions else _match_stereotypes
    match = match_rows(results, theirs)
    wordings = wording_tables(results, published, source.table)
    return compare_published(match, source, results, wordings)


def compare_published(
    match: Match,
    source: Published,
    results: InstrumentResults,
    further_tables: Sequence[tuple[str, ReportTable]] = (),
) -> Section | None:
    """Set published rows beside those of a run; None where either has none.

    `further_tables`: each with its summary.
    """
    if match.ours.is_empty() or match.theirs.is_empty():
        return None
    doubtful = match.theirs.drop_nulls("note").iter_rows(named=True)
    notes = dict.fromkeys(match.note.format(**row) for row in doubtful)
    return Section(
        key="published",
        title="Beside the published models",
        short="Published models",
        text=Paragraphs("published", {"tested": source.tested, "differs": source.differs}),
        figures=_figures(match, source, results),
        tables=(*_tables(match, source), *further_tables),
        notes=("Doubtful in the source, shown as printed", tuple(notes)),
        place="last",
    )


def _match_stereotypes(results: InstrumentResults, theirs: pl.DataFrame) -> Match:
    """Match the published means of stereotypes, which the source names by label."""
    label = pl.col("stereotype").replace(results.plan.labels)
    ours = results.by_stereotype.with_columns(label=label)
    theirs = theirs.filter(level="cell").rename({"stereotype": "label"})
    return Match(
        ours,
        theirs.filter(pl.col("label").is_in(list(ours["label"]))),
        "{label}, {model}: printed “{raw}”; {note}.",
        per_stereotype=True,
    )


def _match_dimensions(results: InstrumentResults, theirs: pl.DataFrame) -> Match:
    """Match the published means over all stereotypes of each dimension."""
    label = pl.col("dimension").replace(results.plan.dimensions)
    ours = results.by_model.drop_nulls("dimension").with_columns(label=label, mode="control_mode")
    return Match(
        ours,
        theirs.filter(pl.col("dimension").is_in(list(ours["dimension"]))).with_columns(label=label),
        "{model}, {label}: {note}.",
    )


def _figures(match: Match, source: Published, results: InstrumentResults) -> tuple[Figure, ...]:
    axis = match.axis or Axis.for_measure(results.measure)
    scale_text = match.scale or results.scale
    caption = f"Ticks: the published models ({source.printed}). Diamonds: this run. {scale_text}"
    ticks = [_tick(row) for row in match.theirs.iter_rows(named=True)]

    def draw(rows: list[Row]) -> Row:
        """Draw the rows of one figure, and the ticks."""
        return ticks_and_diamonds(with_published(rows, ticks), axis)

    def summarise(rows: list[Row]) -> str:
        """Say the same in words."""
        return f"{range_text(rows)} {_range_summary(ticks)}"

    if match.per_stereotype:
        return per_mode("published", caption, match.ours, draw, summarise)
    # There are but a few rows: all models of a mode share a column.
    rows = [
        {**mark_row(row, row["mode"]), "variation": row["model"]}
        for row in match.ours.iter_rows(named=True)
    ]
    return (Figure("published", caption, summarise(rows), draw(rows)),)


def _range_summary(ticks: Sequence[Row]) -> str:
    """State the range of the published means of each label, or of all of many."""
    means: dict[str, list[float]] = {}
    few = len({tick["label"] for tick in ticks}) <= MOST_SENTENCES
    for tick in ticks:
        if tick["mean"] is not None:
            label = tick["label"] if few else "all stereotypes"
            means.setdefault(label, []).append(tick["mean"])
    ranges = [
        f"{label} {number(min(values))} to {number(max(values))}" for label, values in means.items()
    ]
    return f"Published: {'; '.join(ranges)}."


def _tick(row: Mapping[str, Any]) -> Row:
    """Return what a chart needs of a published mean; few sources print intervals or counts."""
    has_interval = row.get("ci_low") is not None
    return {
        "label": row["label"],
        "who": row["model"],
        "mean": row["mean"],
        "shown": number(row["mean"], 3),
        "interval": interval(row["ci_low"], row["ci_high"], 3) if has_interval else None,
        "answers": f"{row['n']} valid" if row.get("n") is not None else None,
        "note": row["note"],
    }


def _tables(match: Match, source: Published) -> tuple[tuple[str, ReportTable], ...]:
    """Set out published values beside this run's, and the published table in full if it has tests.

    Each table has its summary.
    """
    if match.per_stereotype:
        run = f"this run ({run_names(match.ours)})"
        caption = f"Published means ({source.printed}) beside {run}. {MARKS}"
        table = stereotype_table(match.ours, match.theirs, caption)
        return (("Table of published means", table),)
    caption = f"Published values ({source.printed}) beside this run. {MARKS}"
    tables = [("Table of published values", _model_table(match.theirs, match.ours, caption))]
    if {"sd", "t", "p"} <= set(match.theirs.columns):
        in_full = _PRINTED.render(match.theirs, printed=source.printed)
        tables.append(("Published table in full", in_full))
    return tuple(tables)


#: A published table as it is printed.
_PRINTED = TableSpec(
    "{printed} as printed: n valid answers of 1,500, population SD, naive t test. † doubtful, see "
    "the notes.",
    (
        head("label", "Dimension"),
        TableColumn("Model", "model note", lambda text, note: text + "†" * bool(note), "head"),
        "n",
        TableColumn("Mean", "mean", number, digits=3),
        TableColumn("SD", "sd", number, digits=3),
        TableColumn("t", "t", number, digits=3),
        TableColumn("p", "p", lambda p: p or "–"),
    ),
)


def _model_table(theirs: pl.DataFrame, ours: pl.DataFrame, caption: str) -> ReportTable:
    """Set out published values, then this run's: a row per model and a column per label."""
    this_run = ours.select(
        "label",
        pl.col("model").fill_null("all models"),
        mean="estimate",
        note=pl.lit(None, pl.String),
        where=pl.format("this run, {}", "mode"),
    )
    printed = theirs.select("label", "model", "mean", "note", where=pl.lit("published"))
    values = pl.concat([printed, this_run])
    columns = (
        head("model"),
        head("where", "From"),
        *printed_values(values, ["model", "where"], "label", ours["label"], 3),
    )
    rows = values.unique(["model", "where"], maintain_order=True)
    return TableSpec("{caption}", columns).render(rows, caption=caption)
