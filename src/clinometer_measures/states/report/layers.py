"""Layer by layer: how well directions place the terms of a dictionary, and how groups differ.

Reference: Schuster et al. 2024, arXiv:2411.16527, table 2.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import polars as pl

from clinometer.numbers import count, interval, number
from clinometer.pieces.drawing.charts import Axis
from clinometer.pieces.drawing.figures import Figure
from clinometer.pieces.drawing.intervals import around
from clinometer.pieces.prose import interval_title
from clinometer.pieces.sections import Section, name_figures
from clinometer.pieces.tables import ReportTable, TableColumn, TableSpec, head
from clinometer.reference import load_published
from clinometer_measures.states.report.curves import layer_figure
from clinometer_measures.states.report.results import (
    IS_SINGLE_LAYER,
    READING,
    READING_COLUMNS,
    States,
    by_layer,
    first_reading,
    in_words,
    keep_summary_layer,
    layer_name,
    layers,
    pair_label,
    split,
)
from clinometer_measures.states.tables import COLUMNS

__all__ = ["direction_finding", "direction_section", "layer_section"]

_ACCURACY = (
    "Does a direction generalise? Terms that were not used to make it, rated high or low on its "
    "dimension in the dictionary, are placed on it: is a friendly word on the warm side? Accuracy "
    "is the share of terms on the right side, 0 to 1. Dashed line: the majority baseline, always "
    "naming the more frequent side. A direction with an accuracy below it does not predict at this "
    "cut, and profiles on it mean little. Balanced accuracy: mean of the accuracies for high and "
    "for low terms; at chance 0.5."
)
_BY_LAYER = (
    "A profile is a mean over layers, in which opposite signs cancel. Here each layer has its own "
    "directions and its own standardisation. Filled points: p (Holm) below .05, both in the t "
    "test and beside its placebos (grey: directions with shuffled terms), adjusted for the "
    "dimensions and pairs of one layer, not for the number of layers; among many layers a few are "
    "significant by chance."
)


def direction_section(states: States) -> Section | None:
    """Show how well directions place terms, by layer; None where it was not measured."""
    parts = states.by_model("directions")
    if not parts:
        return None
    tables = []
    figures = []
    for part in parts:
        # A single table stands open: it has no summary.
        summary = f"Table of accuracies: {part['model'][0]}" if len(parts) > 1 else ""
        tables.append((summary, _direction_table(part)))
        space = _figure_space(part)
        if len(layers(space)) > 1:
            figures.append(_direction_figure(space))
    published = _PUBLISHED.render(_published_accuracies(pl.concat(parts)["dimension"]))
    if published.rows:
        tables.append(("Table of published accuracies", published))
    key, title = "representation-directions", "Accuracy of the directions"
    return Section(key, title, (_ACCURACY,), name_figures(key, figures), tuple(tables))


def _published_accuracies(dimensions: pl.Series) -> pl.DataFrame:
    """Return what the models of the paper reach on the same dimensions."""
    accuracy = pl.col("accuracy")
    return (
        load_published("schuster2024", "directions")
        .filter(pl.col("dimension").is_in(dimensions.unique().implode()))
        .group_by("dimension", maintain_order=True)
        .agg(models=pl.len(), least=accuracy.min(), median=accuracy.median(), most=accuracy.max())
    )


_PUBLISHED = TableSpec(
    "Schuster et al. 2024, Table 2: accuracy at a cut of zero, mean over layers, of words in "
    "generated contexts that were not released. For context, not as a benchmark.",
    (
        head("dimension"),
        TableColumn("Models", "models", count),
        TableColumn("Lowest", "least", number),
        TableColumn("Median", "median", number),
        TableColumn("Highest", "most", number),
    ),
)


def _figure_space(part: pl.DataFrame) -> pl.DataFrame:
    """Keep the single layers of the broad space, or of another where that is not there."""
    rows = part.filter(IS_SINGLE_LAYER)
    broad = rows.filter(space="broad")
    return rows if broad.is_empty() else broad


def _direction_figure(part: pl.DataFrame) -> Figure:
    """Draw accuracies by layer: lines are kinds of contexts if there are several, else cuts."""
    several_kinds = part["contexts"].n_unique() > 1
    # What is a line cannot tell panels apart.
    panel_columns = ("removed", "cut") if several_kinds else READING
    panels = []
    for reading, reading_rows in split(by_layer(part), *panel_columns):
        for _, rows in split(reading_rows, "space", "dimension"):
            title = _dimension_title(rows["dimension"][0])
            panels.append(((title, reading), rows.with_columns(reference="neutral")))
    caption = (
        f"Accuracy of the directions by layer: {part['model'][0]}. Share of terms on the right "
        f"side, 0 to 1. Band: {interval_title(part)} (Wilson); dashed line: majority baseline."
    )
    axis = Axis("Accuracy", 0, 1, None)
    line = "contexts" if several_kinds else "cut"
    return layer_figure(
        panels, lambda row: in_words(line, row[line]), lambda _: axis, caption, digits=3
    )


def _dimension_title(name: str) -> str:
    """Name a dimension, or all of them."""
    return "All dimensions" if name == "all" else name


_ACCURACIES = TableSpec(
    "{model}, {layer}: accuracy with its {interval} (Wilson), balanced accuracy, and the majority "
    "baseline. All dimensions: each term on its own dimension.",
    (
        TableColumn("Dimension", "dimension", _dimension_title, "head"),
        "space",
        TableColumn("Cut", "cut", partial(in_words, "cut"), "text"),
        *READING_COLUMNS,
        TableColumn("Accuracy", "estimate", number, digits=3),
        TableColumn("{interval}", "ci_low ci_high", interval, digits=3),
        TableColumn("Balanced", "estimate_balanced", number, digits=3),
        TableColumn("Majority", "neutral", number, digits=3),
        TableColumn("Terms", "n", count),
        "n_high",
    ),
    COLUMNS,
)


def _direction_table(part: pl.DataFrame) -> ReportTable:
    """Set out the accuracies of a model, at one layer."""
    frame = keep_summary_layer(part)
    return _ACCURACIES.render(
        frame,
        interval=interval_title(frame),
        model=part["model"][0],
        layer=layer_name(frame["layer"][0]),
    )


def layer_section(states: States) -> Section | None:
    """Show the differences of each pair of groups over the layers.

    None where no model has two layers with differences.
    """
    broad = IS_SINGLE_LAYER & (pl.col("space") == "broad")
    differences = states.by_model("differences", "words", where=broad)
    parts = [part for part in differences if len(layers(part)) > 1]
    if not parts:
        return None
    figures = name_figures("representation-layers", map(_difference_figure, parts))
    return Section("representation-layers", "Layer by layer", (_BY_LAYER,), figures)


def _difference_figure(part: pl.DataFrame) -> Figure:
    """Draw differences by layer, a panel for each pair of groups, a line for each dimension."""
    panels = []
    for reading, reading_rows in split(by_layer(part), *READING):
        for _, rows in split(reading_rows, "first", "second"):
            panels.append(((pair_label(rows.row(0, named=True)), reading), rows))
    caption = (
        f"Difference between groups by layer: {part['model'][0]}, {part['words'][0]}. Unit: "
        "standard deviations of the compared words at that layer; dotted line: neutral 0. Above: "
        "the group named first is nearer to the high pole. Band: "
        f"{interval_title(part)}; grey: that of the placebos; filled points: p (Holm) below .05."
    )
    return layer_figure(
        panels,
        lambda r: str(r["dimension"]),
        lambda rows: around("Difference (standard deviations)", rows, 0.5),
        caption,
    )


def direction_finding(part: pl.DataFrame) -> str:
    """Say how well the directions place terms, beside the majority baseline."""
    accuracies = first_reading(keep_summary_layer(part).filter(dimension="all"))
    accuracies = accuracies.filter(pl.col("space") == pl.col("space").first())
    rows = accuracies.drop_nulls("estimate").to_dicts()
    if not rows:
        return ""
    shares = [
        f"{number(row['estimate'], 3)} {in_words('cut', row['cut'])}{_baseline_verdict(row)}"
        for row in rows
    ]
    return (
        f"Share of {rows[0]['n'] or 0:,} terms on the side where the dictionary has them, "
        f"{layer_name(rows[0]['layer'])}: {'; '.join(shares)}. The majority baseline, always the "
        f"more frequent side, has {number(rows[0]['neutral'], 3)}."
    )


def _baseline_verdict(row: Mapping[str, Any]) -> str:
    """Say whether the interval of an accuracy lies above, below or around the baseline."""
    low, high, majority = row["ci_low"], row["ci_high"], row["neutral"]
    if None in (low, high, majority):
        return ""
    if low > majority:
        return " (better than the majority baseline)"
    side = "worse than" if high < majority else "not distinguishable from"
    return f" ({side} the majority baseline)"
