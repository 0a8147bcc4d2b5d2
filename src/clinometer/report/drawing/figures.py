"""The figures of a report: which rows each shows, what it says in words, and its files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import vl_convert

from clinometer.report.drawing.charts import Axis, Row, measured
from clinometer.report.drawing.intervals import range_text
from clinometer.report.drawing.svg import draw, for_file, for_page
from clinometer.report.plan import PlanFacts
from clinometer.report.prose import (
    category_title,
    file_names,
    interval,
    number,
    percent,
    short_names,
    verdict,
)
from clinometer.results import Measure
from clinometer.texts import write_bytes, write_text

__all__ = ["Figure", "around_zero", "drawn", "per_mode", "write_drawing",
           "write_figures"]  # fmt: skip


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
    reach = next((r for r in (0.25, 0.5, 1.0) if ends is not None and ends <= r * span), 2.0) * span
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
    draw: Callable[[list[Row]], Row],
    plan: PlanFacts,
    summarise: Callable[[list[Row]], str] = range_text,
) -> tuple[Figure, ...]:
    """Make one figure per mode and a column per model; for one model a column per mode.

    `frame`: one row per mark, with the factors, in the order of the plan.
    `draw`: from rows to a specification.
    `summarise`: from rows to the content in words; by default lowest and highest mean.
    Empty where there is nothing to draw.
    """
    models, modes = (
        list(frame[c].drop_nulls().unique(maintain_order=True)) for c in ("model", "mode")
    )
    each, short = len(models) > 1, short_names(models)
    figures = []
    for mode, file in zip(modes, file_names(modes), strict=True) if each else [("", "")]:
        part = frame.filter(mode=mode) if each else frame
        rows = [
            drawn(row, plan, short[row["model"]] if each else row["mode"])
            for row in part.iter_rows(named=True)
        ]
        if not any(row["mean"] is not None or row.get("n") for row in rows):
            continue
        title = f"{caption} Mode: {mode}." if each else caption
        name_here = f"{name}-{file}" if each else name
        figures.append(Figure(name_here, title, summarise(rows), draw(rows)))
    return tuple(figures)


def drawn(row: Mapping[str, Any], plan: PlanFacts, panel: str | None) -> Row:
    """Give what a chart needs of a row, with the texts of its tooltip.

    `row`: a row with ``model, mode, category, stereotype``, and any of the columns of ESTIMATES; a
        ``label`` stands for that of its stereotype or category.
    `panel`: the column it is drawn in.
    """
    key, df = row["stereotype"], row.get("df")
    category = category_title(row["category"]) if row["category"] else "All"
    low, high = row.get("bound_low"), row.get("bound_high")
    placebo = (row.get("placebo_low"), row.get("placebo_high"))
    return {
        **measured(row),
        "label": row.get("label") or (plan.label(key) if key else category),
        "category": category,
        "block": category if key else "",
        "panel": panel or "all",
        "model": row["model"],
        "mode": row["mode"],
        "variation": row.get("variation"),
        "bound_low": low,
        "bound_high": high,
        "bounds": interval(low, high),
        "placebo_low": placebo[0],
        "placebo_high": placebo[1],
        "placebo": None if None in placebo else interval(*placebo),
        "n": row.get("n"),
        **({"counts": row["counts"]} if "counts" in row else {}),
        "answers": f"{row.get('n')} ({row.get('n_scored')})",
        "compliance": percent(row.get("compliance")),
        "df": number(df, 1),
        "verdict": verdict(row.get("verdict")),
    }
