"""Layer by layer: how well directions place the terms of a dictionary, and how groups differ.

Reference: Schuster et al. 2024, arXiv:2411.16527, table 2.
"""

from __future__ import annotations

from collections.abc import Collection

import polars as pl

from tiltmeter.reference import load_published
from tiltmeter.report.drawing.charts import Axis
from tiltmeter.report.drawing.curves import MOST_PANELS, layer_curves, point, spread_text
from tiltmeter.report.drawing.figures import Figure
from tiltmeter.report.drawing.intervals import around
from tiltmeter.report.prose import interval, interval_title, number, numbered
from tiltmeter.report.sections import Section
from tiltmeter.report.states.results import (
    MEAN,
    Representation,
    at_one_layer,
    layer_name,
    layers,
    pairs,
    reading_columns,
    split,
)
from tiltmeter.report.tables import Column, Table, count, render_table

__all__ = ["SPACE", "cut_name", "direction_section", "layer_section"]

CUTS = {"zero": "cut at zero", "centred": "cut at the terms’ mean"}

_METHOD = (
    "Other terms than those that made the directions, rated high or low on a dimension in the "
    "dictionary, are laid on them: is a friendly word on the warm side? Accuracy is the share that "
    "is, 0 to 1. The dashed line is what always naming the more frequent side would reach; an "
    "accuracy below it says that the direction is of no use at this cut, and profiles on it say "
    "little. Balanced accuracy is the mean over high and low terms; chance is 0.5."
)


def direction_section(inside: Representation) -> Section | None:
    """Show how well directions place terms, by layer; None where it was not measured."""
    parts = inside.of_models("directions")
    if not parts:
        return None
    figures = []
    drawn = [(model, mine) for model, part in parts if len(layers(mine := _drawn(part))) > 1]
    names = numbered("representation-directions", len(drawn))
    for (model, part), name in zip(drawn, names, strict=True):
        figures.append(_figure(part, model, name))
    return Section(
        key="representation-directions",
        title="Accuracy of the directions",
        short="Accuracy of the directions",
        text=(_METHOD,),
        figures=tuple(figures),
        tables=tuple(
            (f"Table of accuracies: {model}" if len(parts) > 1 else "", _table(part, model))
            for model, part in parts
        )
        + _published({name for _, part in parts for name in part["dimension"]}),
    )


def _published(dimensions: Collection[str]) -> tuple[tuple[str, Table], ...]:
    """Set out what the models of the paper reach on the same dimensions, if there are any."""
    printed = load_published("schuster2024", "directions")
    published = (
        printed.filter(pl.col("dimension").is_in([*dimensions]))
        .group_by("dimension", maintain_order=True)
        .agg(
            models=pl.len(),
            least=pl.col("accuracy").min(),
            median=pl.col("accuracy").median(),
            most=pl.col("accuracy").max(),
        )
    )
    if published.is_empty():
        return ()
    table = render_table(
        published,
        "Schuster et al. 2024, Table 2: accuracy at a cut of zero, mean over layers, of words in "
        "generated contexts that were not released. Context, not a yardstick.",
        [
            Column("Dimension", lambda r: r["dimension"], "head"),
            Column("Models", lambda r: count(r["models"])),
            Column("Lowest", lambda r: number(r["least"], 2)),
            Column("Median", lambda r: number(r["median"], 2)),
            Column("Highest", lambda r: number(r["most"], 2)),
        ],
    )
    return (("Table of published accuracies", table),)


def cut_name(cut: str) -> str:
    """Say where the cut between high and low is."""
    return CUTS.get(cut, cut)


def _drawn(part: pl.DataFrame) -> pl.DataFrame:
    """Keep the layers of the broad space, or of another where that is not there."""
    broad = part.filter(pl.col("layer") != MEAN, space="broad")
    return part.filter(pl.col("layer") != MEAN) if broad.is_empty() else broad


def _figure(part: pl.DataFrame, model: str, name: str) -> Figure:
    order = layers(part)
    places = {layer: place for place, layer in enumerate(order)}
    placed = part.with_columns(reference="neutral").sort(
        pl.col("layer").replace_strict(places), maintain_order=True
    )
    panels = [
        ((_dimension(mine["dimension"][0]), reading), mine)
        for reading, own in split(placed, "contexts", "removed")
        for _, mine in split(own, "space", "dimension")
    ]
    rows = [
        point(", ".join(filter(None, panel)), cut_name(row["cut"]), row, "estimate", 3)
        for panel, mine in panels[:MOST_PANELS]
        for row in mine.iter_rows(named=True)
    ]
    left = (
        f" Drawn are the first {MOST_PANELS} of {len(panels)} panels."
        if len(panels) > MOST_PANELS
        else ""
    )
    caption = (
        f"Accuracy of the directions by layer: {model}. Share of terms on the side where the "
        f"dictionary has them, 0 to 1. Band: {interval_title(part)} (Wilson); dashed line: always "
        f"naming the more frequent side.{left}"
    )
    titles = {", ".join(filter(None, panel)): panel for panel, _ in panels}
    axis = Axis("Accuracy", 0, 1, None)
    return Figure(name, caption, spread_text(rows), layer_curves(rows, axis, order, titles))


def _dimension(name: str) -> str:
    return "All dimensions" if name == "all" else name


def _table(part: pl.DataFrame, model: str) -> Table:
    frame = at_one_layer(part)
    title = interval_title(frame)
    return render_table(
        frame,
        f"{model}, {layer_name(frame['layer'][0])}: accuracy with its {title} (Wilson), balanced "
        "accuracy, and the accuracy of always naming the more frequent side. All dimensions: each "
        "term on its own.",
        [
            Column("Dimension", lambda r: _dimension(r["dimension"]), "head"),
            Column("Space", lambda r: r["space"], "text"),
            Column("Cut", lambda r: cut_name(r["cut"]), "text"),
            *reading_columns(frame),
            Column("Accuracy", lambda r: number(r["estimate"], 3)),
            Column(title, lambda r: interval(r["ci_low"], r["ci_high"], 3)),
            Column("Balanced", lambda r: number(r["estimate_balanced"], 3)),
            Column("Majority", lambda r: number(r["neutral"], 3)),
            Column("Terms", lambda r: count(r["n"])),
            Column("High", lambda r: count(r["n_high"])),
        ],
    )


#: The space whose differences are drawn.
SPACE = "broad"

_BY_LAYER = (
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
        text=(_BY_LAYER,),
        figures=tuple(
            _difference_figure(part, about, name)
            for (about, part), name in zip(parts, names, strict=True)
        ),
    )


def _difference_figure(part: pl.DataFrame, about: str, name: str) -> Figure:
    order = layers(part)
    places = {layer: place for place, layer in enumerate(order)}
    placed = part.sort(pl.col("layer").replace_strict(places), maintain_order=True)
    panels = [
        ((pairs(mine.row(0, named=True)), reading), mine)
        for reading, own in split(placed, "contexts", "removed")
        for _, mine in split(own, "first", "second")
    ]
    rows = [
        point(", ".join(filter(None, panel)), row["dimension"], row, "estimate")
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
        f"the high pole. Band: {interval_title(part)}; filled points: p (Holm) below .05.{left}"
    )
    return Figure(name, caption, spread_text(rows), layer_curves(rows, axis, order, titles))
