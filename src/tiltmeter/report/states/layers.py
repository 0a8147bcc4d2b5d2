"""Differences between groups layer by layer: what the mean over layers hides.

Reference: Schuster et al. 2024, arXiv:2411.16527.
"""

from __future__ import annotations

import polars as pl

from tiltmeter.report.drawing.figures import Figure
from tiltmeter.report.drawing.intervals import around
from tiltmeter.report.drawing.layer_curves import MOST_PANELS, layer_curves, point, spread_said
from tiltmeter.report.networks.results import numbered
from tiltmeter.report.sections import Section
from tiltmeter.report.states.results import (
    MEAN,
    Representation,
    interval_said,
    layers,
    pairs,
    split,
)

__all__ = ["SPACE", "layer_section"]

#: The space whose differences are drawn.
SPACE = "broad"

_METHOD = (
    "A profile is a mean over layers. Here each layer is laid on its own directions and "
    "standardised on its own: opposite signs, which cancel in the mean, show. Filled points: p "
    "(Holm) below .05, adjusted for the dimensions and pairs of one layer, not for the number of "
    "layers; of many layers a few stand out by chance."
)


def layer_section(inside: Representation) -> Section | None:
    """Show the differences of each pair of groups over the layers.

    None where no model has two layers with differences.
    """
    parts = [
        (f"{model}, {words}", part)
        for model, frame in inside.of_models("differences")
        for (words,), part in frame.filter(pl.col("layer") != MEAN, space=SPACE).group_by(
            "words", maintain_order=True
        )
        if len(layers(part)) > 1
    ]
    if not parts:
        return None
    names = numbered("representation-layers", len(parts))
    return Section(
        key="representation-layers",
        title="Layer by layer",
        short="Layer by layer",
        text=(_METHOD,),
        figures=tuple(
            _figure(part, about, name) for (about, part), name in zip(parts, names, strict=True)
        ),
    )


def _figure(part: pl.DataFrame, about: str, name: str) -> Figure:
    order = layers(part)
    places = {layer: place for place, layer in enumerate(order)}
    placed = part.sort(pl.col("layer").replace_strict(places), maintain_order=True)
    panels = [
        ((pairs(mine.row(0, named=True)), reading), mine)
        for reading, own in split(placed, "contexts", "removed")
        for _, mine in split(own, "first", "second")
    ]
    rows = [
        point(", ".join(filter(None, panel)), row["dimension"], row, "difference")
        for panel, mine in panels[:MOST_PANELS]
        for row in mine.iter_rows(named=True)
    ]
    titles = {", ".join(filter(None, panel)): panel for panel, _ in panels}
    axis = around("Difference (standard deviations)", rows, 0.5)
    left = (
        f" Drawn are the first {MOST_PANELS} of {len(panels)} panels."
        if len(panels) > MOST_PANELS
        else ""
    )
    caption = (
        f"Difference between groups by layer: {about}. In standard deviations of the compared "
        "words at that layer; dotted line: neutral 0. Above: the group named first is nearer to "
        f"the high pole. Band: {interval_said(part)}; filled points: p (Holm) below .05.{left}"
    )
    return Figure(name, caption, spread_said(rows), layer_curves(rows, axis, order, titles))
