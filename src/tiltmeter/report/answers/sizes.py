"""Bias and refusals against the size of the models, on a logarithmic axis."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import altair as alt
import polars as pl

from tiltmeter.report.answers.results import Results
from tiltmeter.report.drawing.charts import Row, bare, tooltips, vega_lite
from tiltmeter.report.drawing.figures import Figure
from tiltmeter.report.plan import Plan
from tiltmeter.report.prose import cut, file_names, interval, number, percent, scale, short_names
from tiltmeter.report.sections import Section, in_order
from tiltmeter.report.tables import MODE, Column, Render, Table, render_table
from tiltmeter.statistics.clustered import mean_of_clusters

__all__ = ["size_section"]


@dataclass(frozen=True)
class _Panel:
    """One quantity against size: its axis, and rows of model, mode, size, mean and interval."""

    title: str
    says: str
    low: float
    high: float
    neutral: float | None
    frame: pl.DataFrame

    def rows(self) -> list[dict[str, Any]]:
        """Give a row per model, with its mean and interval as texts."""
        return [
            {
                **row,
                "shown": number(row["mean"]),
                "interval": interval(row["low"], row["high"]),
            }
            for row in self.frame.iter_rows(named=True)
        ]


def size_section(results: Results) -> Section | None:
    """Set means and the share without a score against the ``sizes`` of the plan.

    None with fewer than two models of known size.
    """
    panels = _panels(results)
    modes = dict.fromkeys(m for panel in panels for m in panel.frame["mode"].drop_nulls())
    of_mode = {
        mode: [
            replace(panel, frame=part)
            for panel in panels
            if not (part := panel.frame.filter(mode=mode)).is_empty()
        ]
        for mode in modes
    }
    drawn = {mode: each for mode, each in of_mode.items() if len(_models(each)) > 1}
    if not drawn:
        return None
    ends = [f"-{file}" for file in file_names(list(drawn))] if len(drawn) > 1 else [""]
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
            for (mode, each), end in zip(drawn.items(), ends, strict=True)
        ),
        tables=(("Table of sizes and means", _table(drawn, results.plan)),),
    )


def _models(panels: Sequence[_Panel]) -> list[str]:
    return sorted({model for panel in panels for model in panel.frame["model"]})


def _panels(results: Results) -> list[_Panel]:
    """Give the means of the first instrument of each scale, and the share without a score."""
    plan = results.plan
    sizes = {name: size for name, size in plan.numbers("sizes").items() if size > 0}
    size = pl.col("model").replace_strict(sizes, default=None, return_dtype=pl.Float64)
    own = results.estimates.with_columns(size=size).filter(
        ~pl.col("study").is_in(plan.controls()).fill_null(False), pl.col("size").is_not_null()
    )
    if plan.text("study") in own["study"]:
        own = own.filter(study=plan.text("study"))
    own = in_order(own, plan.of(plan.text("study"))).sort("size", "model", maintain_order=True)
    chosen = _first_of_each_scale(own, plan)
    panels = []
    for measure in map(plan.measure, chosen):
        means = own.filter(level="model", instrument=measure.name).drop_nulls("estimate")
        frame = means.select("model", "mode", "size", mean="estimate", low="ci_low", high="ci_high")
        ends = (measure.low, measure.high, measure.neutral)
        panels.append(_Panel(measure.title, scale(measure), *ends, frame))
    for name in chosen[-1:]:
        title = f"Share without a score: {plan.measure(name).title}"
        says = "Share of answers without a score, refusals included, 0 to 1."
        shares = _unscored(own.filter(level="stereotype", instrument=name))
        top = shares.select(pl.max_horizontal("mean", "high").max()).item() or 0
        reach = next(end for end in (0.25, 0.5, 1.0) if top <= end)
        panels.append(_Panel(title, says, 0, reach, None, shares))
    return panels


def _first_of_each_scale(own: pl.DataFrame, plan: Plan) -> list[str]:
    """Give the first instrument of associations and the first of decisions, as the plan asks."""
    measured = own["instrument"].drop_nulls().unique(maintain_order=True)
    names = [*(name for name in plan.instruments if name in measured), *measured]
    first: dict[float, str] = {}
    for name in names:
        first.setdefault(plan.measure(name).low, name)
    return list(first.values())[:2]


def _unscored(counts: pl.DataFrame) -> pl.DataFrame:
    """Estimate the share without a score, its interval clustered by stereotype."""
    keys, text = ("model", "mode", "size"), pl.String()
    rows = []
    for key, part in counts.filter(pl.col("n") > 0).group_by(*keys, maintain_order=True):
        missing = part["n"] - part["n_scored"]
        estimate = mean_of_clusters(part["n"].to_numpy(), missing.to_numpy(), bounds=(0.0, 1.0))
        rows.append((*key, estimate.mean, *estimate.interval()))
    kinds = dict.fromkeys((*keys, "mean", "low", "high"), pl.Float64()) | dict.fromkeys(
        ("model", "mode"), text
    )
    frame = pl.DataFrame(rows, schema=kinds, orient="row")
    return frame.with_columns(pl.col("low", "high").clip(0.0, 1.0))


def _figure(panels: Sequence[_Panel], mode: str, name: str, plan: Plan) -> Figure:
    short = short_names(_models(panels))
    says = " ".join(f"{panel.title}: {panel.says}" for panel in panels)
    caption = (
        f"Means against model size, billions of parameters on a logarithmic axis; mode {mode}. "
        f"Dot: mean over stereotypes; line: clustered {plan.interval}; dotted line: neutral. {says}"
    )
    values = {
        panel.title: ", ".join(
            f"{short[row['model']]} ({row['size']:g}) {row['shown']}" for row in panel.rows()
        )
        for panel in panels
    }
    summary = " ".join(f"{title}, by size: {shown}." for title, shown in values.items())
    return Figure(name, caption, summary, _scatter(panels, short))


def _table(drawn: Mapping[str, Sequence[_Panel]], plan: Plan) -> Table:
    rows = []
    for mode, panels in drawn.items():
        for panel in panels:
            for row in panel.rows():
                mean = percent(row["mean"]) if panel.neutral is None else row["shown"]
                at = {"model": row["model"], "mode": mode, "size": row["size"]}
                rows.append({**at, "panel": panel.title, "text": f"{mean} ({row['interval']})"})
    titles = list(dict.fromkeys(row["panel"] for row in rows))
    wide = pl.DataFrame(rows).pivot("panel", index=["model", "mode", "size"], values="text")

    def cell(title: str) -> Render:
        return lambda r: r[title] or "n/a"

    return render_table(
        wide,
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
_TIPS = (
    *(("Model", "model"), ("Billions of parameters", "size")),
    *(("Mean", "shown"), ("Interval", "interval")),
)

Box = tuple[float, float, float, float]  # left, top, right, bottom


def _scatter(panels: Sequence[_Panel], short: Mapping[str, str]) -> Row:
    """Draw panels above each other, over one axis of sizes."""
    sizes = [size for panel in panels for size in panel.frame["size"]]
    domain = (min(sizes) / 1.4, max(sizes) * (max(sizes) / min(sizes)) ** 0.22 * 1.4)
    placed = [_placed(panel, short, domain) for panel in panels]
    blocks = [
        _block(panel, rows, domain, last=panel is panels[-1])
        for panel, rows in zip(panels, placed, strict=True)
    ]
    data = {"$schema": alt.SCHEMA_URL, "data": {"name": "rows"}}
    rows = [row for part in placed for row in part]
    return vega_lite({**data, "vconcat": blocks, "spacing": 16}, rows)


def _placed(panel: _Panel, short: Mapping[str, str], domain: tuple[float, float]) -> list[Row]:
    """Give each dot a label that lies on no other label or dot, as far as there is room."""

    def up(mean: float) -> float:
        return _HEIGHT * (panel.high - mean) / (panel.high - panel.low)

    across = _WIDTH / math.log(domain[1] / domain[0])
    rows = panel.rows()
    places = [(across * math.log(row["size"] / domain[0]), up(row["mean"])) for row in rows]
    taken: list[Box] = [(x - 5, y - 5, x + 5, y + 5) for x, y in places]
    if panel.neutral is not None:
        taken.append((0.0, up(panel.neutral) - 1, float(_WIDTH), up(panel.neutral) + 1))
    for row, (x, y) in zip(rows, places, strict=True):
        label = cut(short[row["model"]], 28)
        boxes: dict[int, Box] = {
            lift: (x + 11, y + lift - 7, x + 11 + _LETTER * len(label), y + lift + 7)
            for lift in _LIFTS
        }
        inside = (lift for lift in _LIFTS if 0 <= y + lift <= _HEIGHT)
        lift = next((one for one in inside if not _hits(boxes[one], taken)), 0)
        taken.append(boxes[lift])
        row |= {"panel": panel.title, "label": label, "lift": lift}
    return rows


def _hits(box: Box, taken: Sequence[Box]) -> bool:
    left, top, right, bottom = box
    return any(a < right and c > left and b < bottom and d > top for a, b, c, d in taken)


def _block(panel: _Panel, rows: Sequence[Row], domain: tuple[float, float], *, last: bool) -> Row:
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
    up = {
        "scale": alt.Scale(domain=[panel.low, panel.high], nice=False, clamp=True),
        "axis": alt.Axis(title=None, tickCount=5),
    }
    chart = alt.Chart().encode(x=x, y=alt.Y("mean:Q", **up), tooltip=tooltips(rows, *_TIPS))
    rule = chart.mark_rule(strokeWidth=2, color="var(--gender)", opacity=0.6)
    layers = [
        rule.encode(y=alt.Y("low:Q", **up), y2="high:Q"),
        *_labels(chart),
        chart.mark_point(filled=True, size=70, opacity=1, color="var(--gender)"),
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


def _labels(chart: Any) -> list[Any]:
    """Write the names, with a thin line to those that had to be moved."""
    lift = alt.ExprRef("datum.lift")
    name = chart.mark_text(align="left", dx=11, dy=lift, fontSize=12, color="var(--ink)")
    lead = chart.mark_rule(x2Offset=9, y2Offset=lift, color="var(--soft)", strokeWidth=0.8)
    lead = lead.transform_filter("datum.lift !== 0").encode(x2="size:Q", y2="mean:Q")
    return [name.encode(text="label:N"), lead]
