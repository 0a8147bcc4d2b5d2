"""Bias and refusals against the size of the models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from tiltmeter.report.answers.results import Results
from tiltmeter.report.drawing.figures import Figure
from tiltmeter.report.drawing.scatter import Panel, scatter
from tiltmeter.report.plan import Plan
from tiltmeter.report.prose import file_names, interval, number, percent, scale, short_names
from tiltmeter.report.sections import Section, in_order
from tiltmeter.report.tables import MODE, Column, Render, Table, render_table
from tiltmeter.statistics.clustered import mean_of_clusters

__all__ = ["size_section"]

#: What is set against size, where it was measured; else whatever was.
PANELS = ("word_association", "relative_decision")


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
    drawn = [(mode, found) for mode, found in each if len(_models(found)) > 1]
    if not drawn:
        return None
    files = file_names([mode for mode, _ in drawn])
    return Section(
        key="sizes",
        title="Does size matter?",
        short="Model size",
        text=(
            "Size in billions of parameters, as the plan states it. Models of different size "
            "differ in much else: training data, tuning, provider. A trend over a few models is "
            "no effect of size.",
        ),
        figures=tuple(
            _figure(found, mode, f"sizes-{file}" if drawn[1:] else "sizes", plan)
            for (mode, found), file in zip(drawn, files, strict=True)
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
    measured = list(own["instrument"].drop_nulls().unique(maintain_order=True))
    chosen = [name for name in PANELS if name in measured] or measured[:2]
    panels = []
    for name in chosen:
        measure = plan.measure(name)
        frame = _sized(own.filter(level="model", instrument=name), sizes)
        means = frame.select("model", "mode", "size", "mean", low="ci_low", high="ci_high")
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


def _sized(frame: pl.DataFrame, sizes: Mapping[str, float]) -> pl.DataFrame:
    size = pl.col("model").replace_strict(sizes, default=None, return_dtype=pl.Float64)
    return frame.with_columns(size=size).drop_nulls("size").sort("size", "model")


def _unscored(counts: pl.DataFrame) -> pl.DataFrame:
    """Estimate the share without a score, its interval clustered by stereotype."""
    rows = []
    asked = counts.filter(pl.col("n") > 0)
    for (model, mode), part in asked.group_by("model", "mode", maintain_order=True):
        missing = part["n"] - part["n_scored"]
        found = mean_of_clusters(part["n"].to_numpy(), missing.to_numpy(), bounds=(0.0, 1.0))
        low, high = found.interval()
        rows.append((model, mode, found.mean, low, high))
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
        said = [f"{short[r['model']]} ({r['size']:g}) {number(r['mean'])}" for r in panel.rows()]
        parts.append(f"{panel.title}, by size: {', '.join(said)}.")
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
