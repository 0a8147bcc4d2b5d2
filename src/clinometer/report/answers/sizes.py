"""Bias and refusals against the size of the models, on a logarithmic axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import altair as alt
import polars as pl

from clinometer.report.answers.results import AnswerResults
from clinometer.report.drawing import charts
from clinometer.report.drawing.charts import Axis, Row
from clinometer.report.drawing.figures import Figure
from clinometer.report.plan import PlanFacts
from clinometer.report.prose import endings, interval, number, percent, scale, short_names
from clinometer.report.sections import Section, in_order
from clinometer.report.tables import MODE, Render, ReportTable, TableColumn, render_table
from clinometer.results import ASSOCIATIONS, DECISIONS
from clinometer.statistics.clustered import mean_of_clusters

__all__ = ["size_section"]


class _Panel(NamedTuple):
    """One quantity against size: its axis, and a row per model and mode with mean and interval."""

    axis: Axis
    says: str
    rows: list[Row]


def size_section(results: AnswerResults) -> Section | None:
    """Set means and the share without a score against the ``sizes`` of the plan.

    None with fewer than two models of known size.
    """
    panels = _panels(results)
    modes = dict.fromkeys(row["mode"] for panel in panels for row in panel.rows if row["mode"])
    of_mode = {
        mode: [
            panel._replace(rows=rows)
            for panel in panels
            if (rows := [row for row in panel.rows if row["mode"] == mode])
        ]
        for mode in modes
    }
    drawn = {mode: each for mode, each in of_mode.items() if len(_models(each)) > 1}
    if not drawn:
        return None
    return Section(
        key="sizes",
        title="Bias by model size",
        short="Model size",
        text=(
            "Size in billions of parameters, as stated in the plan. Models of different size also "
            "differ in training data, tuning and provider. A trend over a few models is no "
            "evidence of an effect of size.",
        ),
        figures=tuple(
            _figure(each, mode, f"sizes{end}", results.plan)
            for (mode, each), end in zip(drawn.items(), endings(list(drawn)), strict=True)
        ),
        tables=(("Table of sizes and means", _table(drawn, results.plan)),),
    )


def _models(panels: Sequence[_Panel]) -> list[str]:
    return sorted({row["model"] for panel in panels for row in panel.rows})


def _panels(results: AnswerResults) -> list[_Panel]:
    """Give the means of the first instrument of each kind, and the share without a score."""
    plan = results.plan
    sizes = {name: size for name, size in plan.sizes.items() if size > 0}
    size = pl.col("model").replace_strict(sizes, default=None, return_dtype=pl.Float64)
    own = results.estimates.with_columns(size=size).filter(pl.col("control").is_null())
    own = own.drop_nulls("size")
    if plan.study in own["study"]:
        own = own.filter(study=plan.study)
    own = in_order(own, plan.of(plan.study)).sort("size", "model", maintain_order=True)
    chosen = _first_of_each_kind(own, plan)
    panels = []
    for measure in map(plan.measure, chosen):
        means = own.filter(level="model", instrument=measure.name).drop_nulls("estimate")
        panels.append(_Panel(Axis.of(measure), scale(measure), _rows(means)))
    for measure in map(plan.measure, chosen[-1:]):
        title = f"Share without a score: {measure.title}"
        says = "Share of answers without a score, refusals included, 0 to 1."
        shares = _unscored(own.filter(level="stereotype", instrument=measure.name))
        top = shares.select(pl.max_horizontal("estimate", "ci_high").max()).item() or 0
        reach = next(end for end in (0.25, 0.5, 1.0) if top <= end)
        panels.append(_Panel(Axis(title, 0, reach, None), says, _rows(shares)))
    return panels


def _rows(frame: pl.DataFrame) -> list[Row]:
    keys = ("model", "mode", "size")
    means = frame.select(*keys, mean="estimate", low="ci_low", high="ci_high")
    return [
        {**row, "shown": number(row["mean"]), "interval": interval(row["low"], row["high"])}
        for row in means.iter_rows(named=True)
    ]


def _first_of_each_kind(own: pl.DataFrame, plan: PlanFacts) -> list[str]:
    """Give the first instrument of associations and the first of decisions, as the plan asks."""
    measured = own["instrument"].drop_nulls().unique(maintain_order=True)
    names = [*(name for name in plan.instruments if name in measured), *measured]
    first: dict[str, str] = {}
    for name in names:
        first.setdefault(plan.measure(name).asks, name)
    both = [first[asks] for asks in (ASSOCIATIONS, DECISIONS) if asks in first]
    return both or list(first.values())[:1]


def _unscored(counts: pl.DataFrame) -> pl.DataFrame:
    """Estimate the share without a score, its interval clustered by stereotype."""
    keys = ("model", "mode", "size")
    rows = []
    for key, part in counts.filter(pl.col("n") > 0).group_by(*keys, maintain_order=True):
        missing = part["n"] - part["n_scored"]
        estimate = mean_of_clusters(part["n"].to_numpy(), missing.to_numpy(), bounds=(0.0, 1.0))
        rows.append((*key, estimate.mean, *estimate.interval()))
    numbers = dict.fromkeys(("size", "estimate", "ci_low", "ci_high"), pl.Float64())
    schema = {"model": pl.String(), "mode": pl.String(), **numbers}
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    return frame.with_columns(pl.col("ci_low", "ci_high").clip(0.0, 1.0))


def _figure(panels: Sequence[_Panel], mode: str, name: str, plan: PlanFacts) -> Figure:
    short = short_names(_models(panels))
    says = " ".join(f"{panel.axis.title}: {panel.says}" for panel in panels)
    caption = (
        f"Means against model size, billions of parameters on a logarithmic axis; mode {mode}. "
        f"Dot: mean over stereotypes; line: clustered {plan.interval}; dotted line: neutral. {says}"
    )
    summaries = []
    for panel in panels:
        values = [f"{short[row['model']]} ({row['size']:g}) {row['shown']}" for row in panel.rows]
        summaries.append(f"{panel.axis.title}, by size: {', '.join(values)}.")
    return Figure(name, caption, " ".join(summaries), _scatter(panels, short))


def _table(drawn: Mapping[str, Sequence[_Panel]], plan: PlanFacts) -> ReportTable:
    rows: dict[tuple[str, str], Row] = {}
    for panel in (panel for panels in drawn.values() for panel in panels):
        for row in panel.rows:
            mean = percent(row["mean"]) if panel.axis.neutral is None else row["shown"]
            wide = rows.setdefault((row["model"], row["mode"]), dict(row))
            wide[panel.axis.title] = f"{mean} ({row['interval']})"
    titles = dict.fromkeys(panel.axis.title for panels in drawn.values() for panel in panels)

    def cell(title: str) -> Render:
        return lambda r: r.get(title, "n/a")

    caption = f"Means with {plan.interval} against size in billions of parameters."
    columns = [
        TableColumn("Model", lambda r: r["model"], "head"),
        TableColumn("Size", lambda r: f"{r['size']:g}"),
        MODE,
        *(TableColumn(title, cell(title)) for title in titles),
    ]
    return render_table(list(rows.values()), caption, columns)


_TIPS = (
    *(("Model", "model"), ("Billions of parameters", "size")),
    *(("Mean", "shown"), ("Interval", "interval")),
)


def _scatter(panels: Sequence[_Panel], short: Mapping[str, str]) -> Row:
    """Draw panels above each other, over one axis of sizes."""
    rows = [
        {**row, "panel": panel.axis.title, "label": short[row["model"]]}
        for panel in panels
        for row in panel.rows
    ]
    sizes, labels = [row["size"] for row in rows], list(dict.fromkeys(r["label"] for r in rows))
    domain = (min(sizes) / 1.4, max(sizes) * 1.4)
    blocks = [_block(panel, domain, labels, last=panel is panels[-1]) for panel in panels]
    return charts.vega_lite({"vconcat": blocks, "spacing": 16}, rows)


def _block(panel: _Panel, domain: tuple[float, float], labels: Sequence[str], *, last: bool) -> Row:
    axis = panel.axis
    ticks = [step * 10.0**power for power in range(-4, 6) for step in (1, 2, 5)]
    values = [tick for tick in ticks if domain[0] <= tick <= domain[1]]
    title = "Billions of parameters" if last else None
    place: dict[str, Row] = {
        "x": {
            "scale": {"type": "log", "domain": list(domain), "nice": False},
            "axis": {"title": title, "labels": last, "ticks": last, "values": values,
                     "format": "~g"},
        },
        "y": {
            "scale": {"domain": [axis.low, axis.high], "nice": False, "clamp": True},
            "axis": {"title": None, "tickCount": 5},
        },
    }  # fmt: skip
    legend = alt.Legend(title="Model", columns=4)
    color, _, shape = charts.line_channels("label", labels, legend=legend)
    tips = charts.tooltips(panel.rows, *_TIPS)
    chart = alt.Chart().encode(x=alt.X("size:Q"), y=alt.Y("mean:Q"), color=color, tooltip=tips)
    marks = [
        *([] if axis.neutral is None else [charts.neutral_rule(y=alt.Y(datum=axis.neutral))]),
        chart.mark_rule(strokeWidth=2, opacity=0.6).encode(y=alt.Y("low:Q"), y2=alt.Y2("high:Q")),
        chart.mark_point(filled=True, size=70, opacity=1).encode(shape=shape),
    ]
    drawing = {**charts.only("panel", axis.title), **charts.in_layers(marks, place)}
    return {"title": axis.title, **drawing, "width": 600, "height": 190}
