"""The figures of a report: which rows each shows, what it says in words, and its files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import vl_convert

from clinometer.numbers import interval, number, percent
from clinometer.pieces.drawing.charts import Axis, Row, measured
from clinometer.pieces.drawing.intervals import range_text
from clinometer.pieces.drawing.svg import draw, for_file, for_page
from clinometer.pieces.prose import category_title, file_names, short_names, verdict
from clinometer.results import Measure
from clinometer.texts import write_bytes, write_text


@dataclass(frozen=True)
class Figure:
    """One figure: a file name, a caption, its content in words, and its drawing."""

    name: str
    caption: str
    summary: str
    spec: dict[str, Any]


def around_zero(title: str, frame: pl.DataFrame, measure: Measure) -> Axis:
    """Make the axis of a difference of scores: as wide as `estimate` and interval need."""
    span = (measure.high - measure.low) / 2
    ends = frame.select(
        pl.max_horizontal(pl.col("estimate", "ci_low", "ci_high").abs()).max()
    ).item()
    # A difference reaches at most from one end of the scale to the other: twice the span.
    share = next((s for s in (0.25, 0.5, 1.0) if ends is not None and ends <= s * span), 2.0)
    reach = share * span
    return Axis(title, -reach, reach, 0)


def write_drawing(figure: Figure, path: Path) -> None:
    """Write a figure as ``.svg`` or ``.png``, in the light scheme."""
    _write(for_file(draw(figure.spec)), path)


def _write(svg: str, path: Path) -> None:
    if path.suffix == ".png":
        write_bytes(path, vl_convert.svg_to_png(svg, scale=2))
    else:
        write_text(path, svg)


def write_figures(figures: Iterable[Figure], folder: Path) -> dict[str, str]:
    """Write each figure as SVG and PNG, in the light scheme.

    `figures`: figures with distinct names.
    `folder`: where they go; made if absent.
    Result: name → SVG for the page.
    """
    drawings = {}
    for figure in figures:
        drawing = draw(figure.spec)
        svg = for_file(drawing)
        for ending in (".svg", ".png"):
            _write(svg, folder / f"{figure.name}{ending}")
        drawings[figure.name] = for_page(drawing, figure.name)
    return drawings


def per_mode(
    name: str,
    caption: str,
    frame: pl.DataFrame,
    chart: Callable[[list[Row]], Row],
    summarise: Callable[[list[Row]], str] = range_text,
) -> tuple[Figure, ...]:
    """Make one figure per mode and a column per model; for one model a column per mode.

    `frame`: one row per mark, with the factors, in the order of the plan.
    `chart`: from rows to a specification.
    `summarise`: from rows to the content in words; by default lowest and highest mean.
    Empty where there is nothing to draw.
    """
    models = list(frame["model"].drop_nulls().unique(maintain_order=True))
    short = short_names(models) if models[1:] else None
    parts = [(name, caption, frame)]
    if short:
        modes = list(frame["mode"].drop_nulls().unique(maintain_order=True))
        parts = [
            (f"{name}-{file}", f"{caption} Mode: {mode}.", frame.filter(mode=mode))
            for mode, file in zip(modes, file_names(modes), strict=True)
        ]
    figures = []
    for part_name, part_caption, part in parts:
        rows = [
            mark_row(row, short[row["model"]] if short else row["mode"])
            for row in part.iter_rows(named=True)
        ]
        # There is something to draw: a mean, or answers to count.
        if any(row["mean"] is not None or row.get("n") for row in rows):
            figures.append(Figure(part_name, part_caption, summarise(rows), chart(rows)))
    return tuple(figures)


def mark_row(row: Mapping[str, Any], panel: str | None) -> Row:
    """Return what a chart needs of a row, with the texts of its tooltip.

    `row`: a row with ``model, mode, category, stereotype``, what it is ``about``, and any of the
        columns of ESTIMATES; a ``label`` stands for what it is about.
    `panel`: the column it is drawn in.
    """
    key = row["stereotype"]
    in_prompts = row.get("ci_low_bounded"), row.get("ci_high_bounded")
    category = category_title(row["category"]) if row["category"] else "All"
    low, high = row.get("bound_low"), row.get("bound_high")
    placebo_low, placebo_high = row.get("placebo_low"), row.get("placebo_high")
    has_placebo = placebo_low is not None and placebo_high is not None
    return {
        **measured(row),
        "label": row.get("label") or (row["about"] if key else category),
        "category": category,
        "block": category if key else "",
        "panel": panel or "all",
        "model": row["model"],
        "mode": row["mode"],
        "variation": row.get("variation"),
        "inner_low": in_prompts[0],
        "inner_high": in_prompts[1],
        "interval_in_prompts": interval(*in_prompts),
        "bound_low": low,
        "bound_high": high,
        "bounds": interval(low, high),
        "placebo_low": placebo_low,
        "placebo_high": placebo_high,
        "placebo": interval(placebo_low, placebo_high) if has_placebo else None,
        "n": row.get("n"),
        # Only the rows of bars have counts.
        **({"counts": row["counts"]} if "counts" in row else {}),
        "answers": f"{row.get('n')} ({row.get('n_scored')})",
        "compliance": percent(row.get("compliance")),
        "df": number(row.get("df"), 1),
        "verdict": verdict(row.get("verdict"), directed=row.get("directed", True)),
    }
