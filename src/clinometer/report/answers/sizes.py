"""Bias and refusals against the size of the models, on a logarithmic axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from clinometer.numbers import percent
from clinometer.pieces.drawing.charts import Axis, Row
from clinometer.pieces.drawing.figures import Figure
from clinometer.pieces.drawing.scatter import Panel, scatter
from clinometer.pieces.paragraphs import Paragraphs
from clinometer.pieces.plan import PlanFacts
from clinometer.pieces.prose import endings, short_names, with_numbers
from clinometer.pieces.sections import Section
from clinometer.pieces.tables import MODE, ROW, Render, ReportTable, TableColumn, TableSpec, head
from clinometer.pieces.views import InstrumentResults
from clinometer.results import ASSOCIATIONS, DECISIONS
from clinometer.statistics.summaries import unscored_share


def size_section(plan: PlanFacts, instruments: Sequence[InstrumentResults]) -> Section | None:
    """Set means and the share without a score against the ``sizes`` of the plan.

    None with fewer than two models of known size.
    """
    panels = _panels(plan, instruments)
    modes = dict.fromkeys(row["mode"] for panel in panels for row in panel.rows if row["mode"])
    by_mode = {mode: _narrow_to_mode(panels, mode) for mode in modes}
    by_mode = {mode: panels for mode, panels in by_mode.items() if len(_models(panels)) > 1}
    if not by_mode:
        return None
    table = _table(by_mode, plan.interval)
    return Section(
        key="sizes",
        title="Bias by model size",
        short="Model size",
        text=Paragraphs("sizes"),
        figures=tuple(
            _figure(panels, mode, f"sizes{end}", plan.interval)
            for (mode, panels), end in zip(by_mode.items(), endings(list(by_mode)), strict=True)
        ),
        tables=(("Table of sizes and means", table),),
    )


def _narrow_to_mode(panels: Sequence[Panel], mode: str) -> list[Panel]:
    """Keep the rows of one mode; a panel without any is left out."""
    narrowed = []
    for panel in panels:
        rows = [row for row in panel.rows if row["mode"] == mode]
        if rows:
            narrowed.append(panel._replace(rows=rows))
    return narrowed


def _models(panels: Sequence[Panel]) -> list[str]:
    return sorted({row["model"] for panel in panels for row in panel.rows})


def _panels(plan: PlanFacts, instruments: Sequence[InstrumentResults]) -> list[Panel]:
    """Make a panel of the first instrument of each kind, and one of the share without a score."""
    sizes = {name: size for name, size in plan.sizes.items() if size > 0}  # the axis is logarithmic
    panels = []
    first = _first_of_each_kind(instruments, sizes, plan.study)
    for results in first:
        means = _with_sizes(results.by_model, sizes).drop_nulls("estimate")
        panels.append(Panel(Axis.for_measure(results.measure), results.scale, _rows(means)))
    # Of the last: there may be none, and where both kinds were asked it asks for decisions.
    for results in first[-1:]:
        title = f"Share without a score: {results.measure.title}"
        scale_text = "Share of answers without a score, refusals included, 0 to 1."
        counts = _with_sizes(results.by_stereotype, sizes)
        shares = with_numbers(unscored_share(counts, "model", "mode", "size"))
        top = shares.select(pl.max_horizontal("estimate", "ci_high").max()).item() or 0
        reach = next(end for end in (0.25, 0.5, 1.0) if top <= end)
        panels.append(Panel(Axis(title, 0, reach, None), scale_text, _rows(shares)))
    return panels


def _first_of_each_kind(
    instruments: Sequence[InstrumentResults], sizes: Mapping[str, float], study: str
) -> list[InstrumentResults]:
    """Return the first instrument of associations and the first of decisions, as the plan asks.

    `sizes`: models that count. `study`: the one that counts, if it has such models.
    """
    sized = [r for r in instruments if r.by_stereotype["model"].is_in(sizes).any()]
    study_results = [results for results in sized if results.study == study]
    first: dict[str, InstrumentResults] = {}
    for results in study_results or sized:
        first.setdefault(results.measure.asks, results)
    firsts = [first[asks] for asks in (ASSOCIATIONS, DECISIONS) if asks in first]
    return firsts or list(first.values())[:1]


def _with_sizes(estimates: pl.DataFrame, sizes: Mapping[str, float]) -> pl.DataFrame:
    """Add the sizes of models, and keep those of known size, the smallest first."""
    size = pl.col("model").replace_strict(sizes, default=None, return_dtype=pl.Float64)
    sized = estimates.with_columns(size=size).drop_nulls("size")
    return sized.sort("size", "model", maintain_order=True)


def _rows(means: pl.DataFrame) -> list[Row]:
    """Return what a chart needs of each mean."""
    keys = ("model", "mode", "size", "shown", "interval")
    return means.select(*keys, mean="estimate", low="ci_low", high="ci_high").rows(named=True)


def _figure(panels: Sequence[Panel], mode: str, name: str, interval_title: str) -> Figure:
    short = short_names(_models(panels))
    scales = " ".join(f"{panel.axis.title}: {panel.scale}" for panel in panels)
    caption = (
        f"Means against model size, billions of parameters on a logarithmic axis; mode {mode}. "
        f"Dot: mean over stereotypes; line: {interval_title} in other prompts; dotted line: "
        f"neutral. {scales}"
    )
    summaries = []
    for panel in panels:
        values = [f"{short[row['model']]} ({row['size']:g}) {row['shown']}" for row in panel.rows]
        summaries.append(f"{panel.axis.title}, by size: {', '.join(values)}.")
    return Figure(name, caption, " ".join(summaries), scatter(panels, short))


def _table(by_mode: Mapping[str, Sequence[Panel]], interval_title: str) -> ReportTable:
    """Set out the panels as columns, a row per model and mode."""
    rows: dict[tuple[str, str], Row] = {}
    all_panels = [panel for panels in by_mode.values() for panel in panels]
    for panel in all_panels:
        is_share = panel.axis.neutral is None
        for row in panel.rows:
            mean = percent(row["mean"]) if is_share else row["shown"]
            wide = rows.setdefault((row["model"], row["mode"]), dict(row))
            wide[panel.axis.title] = f"{mean} ({row['interval']})"
    titles = dict.fromkeys(panel.axis.title for panel in all_panels)

    def cell(title: str) -> Render:
        """Write the mean of a panel."""
        return lambda r: r.get(title, "n/a")

    columns = (
        head("model"),
        TableColumn("Size", "size", "{:g}".format),
        MODE,
        *(TableColumn(title, ROW, cell(title)) for title in titles),
    )
    caption = "Means with {interval} against size in billions of parameters."
    return TableSpec(caption, columns).render(list(rows.values()), interval=interval_title)
