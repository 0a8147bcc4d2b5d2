"""Bias and refusals against the size of the models, on a logarithmic axis."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import altair as alt
import polars as pl

from tiltmeter.report.answers.results import Results
from tiltmeter.report.drawing.charts import Row, bare, vega_lite
from tiltmeter.report.drawing.figures import Figure
from tiltmeter.report.plan import Plan
from tiltmeter.report.prose import file_names, interval, number, percent, scale, short_names
from tiltmeter.report.sections import Section, in_order
from tiltmeter.report.tables import MODE, Column, Render, Table, render_table
from tiltmeter.statistics.clustered import mean_of_clusters

__all__ = ["Panel", "scatter", "size_section"]


def size_section(results: Results) -> Section | None:
    """Set means and the share without a score against the size of the models.

    `results`: a results directory whose plan has ``sizes``, in billions of parameters.
    None with fewer than two models of known size.
    """
    plan = results.plan
    sizes = {name: size for name, size in plan.numbers("sizes").items() if size > 0}
    panels = [panel for panel in _panels(results, sizes) if panel.frame.height]
    modes = list(
        dict.fromkeys(mode for panel in panels for mode in panel.frame["mode"].drop_nulls())
    )
    each = [(mode, _of_mode(panels, mode)) for mode in modes]
    drawn = [(mode, of_mode) for mode, of_mode in each if len(_models(of_mode)) > 1]
    if not drawn:
        return None
    files = file_names([mode for mode, _ in drawn])
    return Section(
        key="sizes",
        title="Bias by model size",
        short="Model size",
        text=(
            "Size in billions of parameters, as the plan states it. Models of different size "
            "differ in much else: training data, tuning, provider. A trend over a few models is "
            "no evidence of an effect of size.",
        ),
        figures=tuple(
            _figure(of_mode, mode, f"sizes-{file}" if drawn[1:] else "sizes", plan)
            for (mode, of_mode), file in zip(drawn, files, strict=True)
        ),
        tables=(("Table of sizes and means", _table(drawn, plan)),),
    )


def _of_mode(panels: Sequence[Panel], mode: str) -> list[Panel]:
    kept = [replace(panel, frame=panel.frame.filter(mode=mode)) for panel in panels]
    return [panel for panel in kept if panel.frame.height]


def _models(panels: Sequence[Panel]) -> list[str]:
    return sorted({model for panel in panels for model in panel.frame["model"]})


def _panels(results: Results, sizes: Mapping[str, float]) -> list[Panel]:
    plan = results.plan
    own = results.estimates.filter(
        ~pl.col("study").is_in(plan.controls()).fill_null(False), pl.col("model").is_in(list(sizes))
    )
    if plan.text("study") in own["study"]:
        own = own.filter(study=plan.text("study"))
    own = in_order(own, plan.of(plan.text("study")))
    chosen = _first_of_each_scale(own, plan)
    panels = []
    for name in chosen:
        measure = plan.measure(name)
        frame = _sized(own.filter(level="model", instrument=name), sizes)
        means = frame.select("model", "mode", "size", mean="estimate", low="ci_low", high="ci_high")
        ends = (measure.low, measure.high, measure.neutral)
        panels.append(Panel(measure.title, scale(measure), *ends, means.drop_nulls("mean")))
    if not chosen:
        return []
    counts = own.filter(level="stereotype", instrument=chosen[-1])
    title = f"Share without a score: {plan.measure(chosen[-1]).title}"
    says = "Share of answers refused or without a score otherwise, 0 to 1."
    shares = _sized(_unscored(counts), sizes)
    top = shares.select(pl.max_horizontal("mean", "high").max()).item() or 0
    reach = next(end for end in (0.25, 0.5, 1.0) if top <= end)
    return [*panels, Panel(title, says, 0, reach, None, shares)]


def _first_of_each_scale(own: pl.DataFrame, plan: Plan) -> list[str]:
    """Give the first instrument of associations and the first of decisions, as the plan asks."""
    measured = list(own["instrument"].drop_nulls().unique(maintain_order=True))
    asked = [name for name in plan.instruments if name in measured]
    names = asked + [name for name in measured if name not in asked]
    first: dict[float, str] = {}
    for name in names:
        first.setdefault(plan.measure(name).low, name)
    return list(first.values())[:2]


def _sized(frame: pl.DataFrame, sizes: Mapping[str, float]) -> pl.DataFrame:
    size = pl.col("model").replace_strict(sizes, default=None, return_dtype=pl.Float64)
    return frame.with_columns(size=size).drop_nulls("size").sort("size", "model")


def _unscored(counts: pl.DataFrame) -> pl.DataFrame:
    """Estimate the share without a score, its interval clustered by stereotype."""
    rows = []
    asked = counts.filter(pl.col("n") > 0)
    for (model, mode), part in asked.group_by("model", "mode", maintain_order=True):
        missing = part["n"] - part["n_scored"]
        estimate = mean_of_clusters(part["n"].to_numpy(), missing.to_numpy(), bounds=(0.0, 1.0))
        low, high = estimate.interval()
        rows.append((model, mode, estimate.mean, low, high))
    text, float_ = pl.String(), pl.Float64()
    kinds = {"model": text, "mode": text, "mean": float_, "low": float_, "high": float_}
    frame = pl.DataFrame(rows, schema=kinds, orient="row")
    return frame.with_columns(pl.col("low", "high").clip(0.0, 1.0))


def _figure(panels: Sequence[Panel], mode: str, name: str, plan: Plan) -> Figure:
    short = short_names(_models(panels))
    says = " ".join(f"{panel.title}: {panel.says}" for panel in panels)
    caption = (
        f"Means against model size, billions of parameters on a logarithmic axis; mode {mode}. "
        f"Dot: mean over stereotypes; line: clustered {plan.interval}; dotted line: neutral. {says}"
    )
    return Figure(name, caption, _summary(panels, short), scatter(panels, short))


def _summary(panels: Sequence[Panel], short: Mapping[str, str]) -> str:
    parts = []
    for panel in panels:
        values = [f"{short[r['model']]} ({r['size']:g}) {number(r['mean'])}" for r in panel.rows()]
        parts.append(f"{panel.title}, by size: {', '.join(values)}.")
    return " ".join(parts)


def _table(drawn: Sequence[tuple[str, list[Panel]]], plan: Plan) -> Table:
    named: dict[tuple[str, str], dict[str, Any]] = {}
    titles = list(dict.fromkeys(panel.title for _, panels in drawn for panel in panels))
    for mode, panels in drawn:
        for panel in panels:
            for row in panel.rows():
                key = (row["model"], mode)
                entry = named.setdefault(key, {"model": row["model"], "mode": mode})
                shown = percent(row["mean"]) if panel.neutral is None else number(row["mean"])
                ends = interval(row["low"], row["high"])
                entry |= {"size": row["size"], panel.title: f"{shown} ({ends})"}
    frame = pl.DataFrame([{**dict.fromkeys(titles), **row} for row in named.values()])

    def cell(title: str) -> Render:
        return lambda r: r[title] or "n/a"

    return render_table(
        frame,
        f"Means with {plan.interval} against size in billions of parameters.",
        [
            Column("Model", lambda r: r["model"], "head"),
            Column("Size", lambda r: f"{r['size']:g}"),
            MODE,
            *(Column(title, cell(title)) for title in titles),
        ],
    )


_WIDTH, _HEIGHT = 600, 190
_LETTER = 6.4  # width of a letter of a label, in pixels
#: How far a label may be moved up or down, in pixels, the least first.
_LIFTS = (0, *(sign * step for step in range(15, 106, 15) for sign in (-1, 1)))


@dataclass(frozen=True)
class Panel:
    """One quantity against size: its axis, and rows of model, mode, size, mean and interval."""

    title: str
    says: str
    low: float
    high: float
    neutral: float | None
    frame: pl.DataFrame

    def rows(self) -> list[dict[str, Any]]:
        """Give a row per model."""
        return list(self.frame.iter_rows(named=True))


def scatter(panels: Sequence[Panel], short: Mapping[str, str]) -> Row:
    """Draw panels above each other, over one axis of sizes.

    `short`: model → the name by its dot.
    """
    sizes = [size for panel in panels for size in panel.frame["size"]]
    domain = (min(sizes) / 1.4, max(sizes) * (max(sizes) / min(sizes)) ** 0.22 * 1.4)
    placed = {panel.title: _rows(panel, short, domain) for panel in panels}
    blocks = [
        _block(panel, placed[panel.title], domain, last=panel is panels[-1]) for panel in panels
    ]
    data = {"$schema": alt.SCHEMA_URL, "data": {"name": "rows"}}
    rows = [row for part in placed.values() for row in part]
    return vega_lite({**data, "vconcat": blocks, "spacing": 16}, rows)


def _rows(panel: Panel, short: Mapping[str, str], domain: tuple[float, float]) -> list[Row]:
    """Give each dot a label that lies on no other label or dot, as far as there is room."""
    places = [(_across(r["size"], domain), _up(r["mean"], panel)) for r in panel.rows()]
    taken = [(x - 5, y - 5, x + 5, y + 5) for x, y in places]
    if panel.neutral is not None:
        line = _up(panel.neutral, panel)
        taken.append((0.0, line - 1, float(_WIDTH), line + 1))
    rows = []
    for row, (x, y) in zip(panel.rows(), places, strict=True):
        label = short[row["model"]]
        label = label if len(label) <= 28 else f"{label[:27]}…"
        end = x + 11 + _LETTER * len(label)
        boxes = {lift: (x + 11, y + lift - 7, end, y + lift + 7) for lift in _LIFTS}
        inside = [lift for lift in _LIFTS if 0 <= y + lift <= _HEIGHT]
        lift = next((one for one in inside if not _hits(boxes[one], taken)), 0)
        taken.append(boxes[lift])
        shown = {"shown": number(row["mean"]), "interval": interval(row["low"], row["high"])}
        rows.append({**row, **shown, "panel": panel.title, "label": label, "lift": lift})
    return rows


def _across(size: float, domain: tuple[float, float]) -> float:
    low, high = (math.log(end) for end in domain)
    return _WIDTH * (math.log(size) - low) / (high - low)


def _up(mean: float, panel: Panel) -> float:
    return _HEIGHT * (panel.high - mean) / (panel.high - panel.low)


def _hits(
    box: tuple[float, float, float, float], taken: Sequence[tuple[float, float, float, float]]
) -> bool:
    left, top, right, bottom = box
    return any(a < right and c > left and b < bottom and d > top for a, b, c, d in taken)


def _block(panel: Panel, rows: Sequence[Row], domain: tuple[float, float], *, last: bool) -> Row:
    ticks = [step * 10.0**power for power in range(-4, 6) for step in (1, 2, 5)]
    x = alt.X(
        "size:Q",
        scale=alt.Scale(type="log", domain=list(domain), nice=False),
        axis=alt.Axis(
            title="Billions of parameters" if last else None,
            labels=last,
            ticks=last,
            values=[tick for tick in ticks if domain[0] <= tick <= domain[1]],
            format="~g",
        ),
    )
    y_scale = alt.Scale(domain=[panel.low, panel.high], nice=False, clamp=True)
    y_axis = alt.Axis(title=None, tickCount=5)
    y = alt.Y("mean:Q", scale=y_scale, axis=y_axis)
    tips = [
        alt.Tooltip(f"{field}:N", title=title)
        for title, field in (
            ("Model", "model"),
            ("Billions of parameters", "size"),
            ("Mean", "shown"),
            ("Interval", "interval"),
        )
    ]
    chart = alt.Chart().encode(x=x, tooltip=tips)
    rule = chart.mark_rule(strokeWidth=2, color="var(--gender)", opacity=0.6)
    layers = [
        rule.encode(y=alt.Y("low:Q", scale=y_scale, axis=y_axis), y2="high:Q"),
        *_labels(chart, y, sorted({row["lift"] for row in rows})),
        chart.mark_point(filled=True, size=70, opacity=1, color="var(--gender)").encode(y=y),
    ]
    if panel.neutral is not None:
        once = alt.Chart().transform_aggregate(count="count()")
        line = once.mark_rule(color="var(--neutral)", strokeDash=[2, 3], strokeWidth=1.5)
        layers.insert(0, line.encode(y=alt.Y(datum=panel.neutral)))
    return {
        "title": panel.title,
        "transform": [{"filter": {"field": "panel", "equal": panel.title}}],
        "layer": [bare(layer) for layer in layers],
        "width": _WIDTH,
        "height": _HEIGHT,
    }


def _labels(chart: Any, y: alt.Y, lifts: Sequence[int]) -> list[Any]:
    """Write the names, with a thin line to those that had to be moved."""
    layers = []
    for lift in lifts:
        wanted = alt.FieldEqualPredicate(field="lift", equal=lift)
        name = chart.mark_text(align="left", dx=11, dy=lift, fontSize=12, color="var(--ink)")
        layers.append(name.transform_filter(wanted).encode(y=y, text="label:N"))
        if lift:
            lead = chart.mark_rule(x2Offset=9, y2Offset=lift, color="var(--soft)", strokeWidth=0.8)
            ends = {"x2": alt.X2("size:Q"), "y2": alt.Y2("mean:Q")}
            layers.append(lead.transform_filter(wanted).encode(y=y, **ends))
    return layers
