"""Heat maps of activation: each target by each prime.

Reference: Abramski, Rossetti & Stella 2025, arXiv:2510.24488.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt
import polars as pl

from clinometer.numbers import number
from clinometer.pieces.drawing.cells import between, class_colors
from clinometer.pieces.drawing.charts import Row, bare, only, tooltips, vega_lite
from clinometer.pieces.drawing.figures import Figure
from clinometer.pieces.drawing.theme import ACTIVATION
from clinometer.pieces.sections import name_figures
from clinometer_measures.networks.report.results import Networks

__all__ = ["heat_maps"]

#: Above this many cells a network has no heat map; above this many networks the others have none.
MOST_CELLS = 6_000
MOST_MAPS = 6

_CELL_WIDTH, _CELL_HEIGHT = 30, 17


def heat_maps(networks: Networks) -> tuple[tuple[Figure, ...], str]:
    """Draw the activations behind the effects of stereotypes.

    Result: a figure per identity and network, and what is not drawn; empty where all are.
    """
    n_maps = 0
    figures = []
    for frame in networks.by_identity("network_activations"):
        rows = frame.drop_nulls(["normalised", "prime"])
        for (network,), part in rows.group_by("network", maintain_order=True):
            n_maps += 1
            if part.height <= MOST_CELLS and network in networks.names[:MOST_MAPS]:
                figures.append(_figure(part, frame["label"][0], str(network)))
    n_omitted = n_maps - len(figures)
    note = ""
    if n_omitted:
        note = (
            f"{n_omitted} of {n_maps} heat maps are left out, for their size or number; "
            "network_activations.parquet has every value."
        )
    return name_figures("network-activations", figures), note


def _figure(part: pl.DataFrame, label: str, network: str) -> Figure:
    largest = max(part["normalised"].to_list())
    # All of 0 to 1 where that uses at least half of the colours.
    top = 1.0 if 0.5 < largest <= 1 or largest <= 0 else largest
    steps = _steps(top)
    cells: list[Row] = []
    for row in part.iter_rows(named=True):
        # The largest value belongs to the last class, not to one beyond it.
        step = min(int(max(row["normalised"], 0) / top * len(steps)), len(steps) - 1)
        cell = {
            "set": f"{row['targets']} targets",
            "target": row["target"],
            "category": f"{row['group']} primes",
            "prime": row["prime"],
            "value": round(row["normalised"], 4),
            "step": steps[step],
        }
        cells.append(cell)
    caption = (
        f"Normalised activation of each target by each prime: {label}, {network}. Rows: targets, "
        "one column of panels per set; columns: primes, grouped by category. Range 0 (light; dark "
        f"in the dark scheme) to {number(top, 2 if top >= 0.1 else 3)}; no neutral value and no "
        "interval. Stereotype-consistent: cells are darker (brighter) where targets and primes are "
        "of the same category. A column that stands out: one prime makes much of the effect."
    )
    blocks = []
    for name in dict.fromkeys(cell["set"] for cell in cells):
        blocks.append(_block([cell for cell in cells if cell["set"] == name], name, steps))
    drawing = vega_lite({"hconcat": blocks, "spacing": 24}, cells)
    return Figure("", caption, _summary(part), drawing)


def _steps(top: float) -> list[str]:
    """Name the classes of colour."""
    digits = 1
    if top != 1:
        digits = 2 if top >= 0.1 else 3
    places = range(len(ACTIVATION) + 1)
    return between([number(top * place / len(ACTIVATION), digits) for place in places])


def _distinct(rows: Sequence[Row], key: str) -> list[Any]:
    return list(dict.fromkeys(row[key] for row in rows))


def _block(rows: Sequence[Row], name: str, steps: Sequence[str]) -> Row:
    """Draw one set of targets: a panel per category of primes, side by side."""
    categories, primes, targets = (_distinct(rows, key) for key in ("category", "prime", "target"))
    header = {"title": None, "labelAnchor": "start", "labelPadding": 4, "labelFontSize": 12}
    column = {"field": "category", "type": "nominal", "sort": categories, "header": header}
    across = alt.Axis(title=None, labelAngle=-45, grid=False, orient="bottom")
    down = alt.Axis(title=None, grid=False, ticks=False, labelPadding=5)
    tips = tooltips(rows, ("Target", "target"), ("Prime", "prime"), ("Category", "category"))
    cell = alt.Chart().mark_rect(stroke="var(--paper)", strokeWidth=0.6)
    chart = cell.encode(
        x=alt.X("prime:N", sort=primes, axis=across),
        y=alt.Y("target:N", sort=targets, axis=down),
        color=class_colors(steps, ACTIVATION, "Normalised activation"),
        tooltip=[*tips, alt.Tooltip("value:Q", title="Normalised activation", format=".3f")],
    )
    size = {"width": {"step": _CELL_WIDTH}, "height": {"step": _CELL_HEIGHT}}
    return {
        "title": name,
        **only("set", name),
        "facet": {"column": column},
        "spacing": 7,
        "resolve": {"scale": {"x": "independent"}},
        "spec": {**bare(chart), **size},
    }


def _summary(part: pl.DataFrame) -> str:
    """Say which category activates which targets more, on average and how often."""
    sentences = []
    for (targets,), rows in part.group_by("targets", maintain_order=True):
        means = rows.group_by("group", maintain_order=True).agg(pl.col("normalised").mean())
        texts = []
        for category, mean in means.iter_rows():
            texts.append(f"{number(mean, 3)} by {category} primes")
        means_text = " and ".join(texts)
        most = means.sort("normalised", descending=True)
        by_word = rows.group_by("target", "group").agg(pl.col("normalised").mean())
        top = by_word.filter(pl.col("normalised") == pl.col("normalised").max().over("target"))
        often = top.filter(group=most["group"][0]).height
        sentences.append(
            f"Targets {targets}: activated {means_text} on average; {often} of "
            f"{rows['target'].n_unique()} most by {most['group'][0]} ones."
        )
    return " ".join(sentences)
