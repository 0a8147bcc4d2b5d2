"""How the effects of two networks differ, on the targets they share."""

from __future__ import annotations

from collections.abc import Collection

import polars as pl

from clinometer.numbers import bracketed, count, interval, number, p_value
from clinometer.pieces.drawing.charts import LABELS
from clinometer.pieces.drawing.figures import Figure
from clinometer.pieces.drawing.intervals import around, intervals
from clinometer.pieces.prose import ALPHA, interval_title
from clinometer.pieces.sections import Section, name_figures
from clinometer.pieces.tables import TableColumn, TableSpec, head
from clinometer.reference import load_published
from clinometer_measures.networks.report.results import (
    PAGE_COLUMNS,
    PUBLISHED,
    Networks,
    dot,
    render,
)

__all__ = ["difference_section"]

#: Above this many pairs of networks only those with the first one are drawn.
MOST_PAIRS = 6
#: The width of so many columns, and of a letter above them; else pairs are lines.
_WIDTHS, _LETTER = {1: 620, 2: 400, 3: 286}, 7
#: Room for the names of two networks.
_LABELS = 330

_METHOD = (
    "Two networks are compared on the targets that both have. Each bootstrap resample draws the "
    "same targets for both, so what affects both alike cancels. p: two-sided, from the bootstrap; "
    "p (Holm): adjusted for the pairs of networks. Correlation: Spearman’s, over all pairs of "
    "prime and target; it shows whether two networks agree on which prime goes with which target, "
    "whatever the direction of the effect. An effect that is significant in one network and not in "
    "the other is no evidence of a difference; this section tests differences."
)


def difference_section(networks: Networks) -> Section | None:
    """Show how the effects of every two networks differ.

    None where no two networks were compared.
    """
    parts = []
    for approach in ("stereotypes", "emotions"):
        parts += networks.by_identity("network_differences", approach)
    if not parts:
        return None
    tables = []
    for part in parts:
        table = render(_DIFFERENCES, part, direction=_direction(part))
        tables.append((f"Table of differences: {part['label'][0]}", table))
    if networks.replicates:
        published = _PUBLISHED.render(load_published(PUBLISHED, "network_correlations"))
        tables.append(("Table of published correlations", published))
    figures = name_figures("network-differences", (_figure(part, networks) for part in parts))
    key = "network-differences"
    title = "Differences between networks"
    return Section(key, title, (_METHOD,), figures, tuple(tables), short="Differences")


def _direction(part: pl.DataFrame) -> str:
    if part["direction"].count() == part.height:
        return (
            "Signs are turned so that positive effects are stereotype-consistent. Positive "
            "difference: the network named first is more stereotype-consistent."
        )
    first = part["first"].unique()
    prime = first[0] if len(first) == 1 else "the first prime"
    return f"Positive difference: the network named first leans more towards {prime}."


def _figure(part: pl.DataFrame, networks: Networks) -> Figure | None:
    """Draw differences: sets of targets and pairs of networks, the fewer in columns."""
    measured = part.filter(pl.col("estimate").count().over("candidate", "baseline") > 0)
    if measured.is_empty():
        return None
    label = part["label"][0]
    marks = networks.marks
    emotions = part["approach"][0] == "emotions"
    first = measured["candidate"][0]
    with_first = (pl.col("candidate") == first) | (pl.col("baseline") == first)
    has_all_pairs = measured.select("candidate", "baseline").n_unique() <= MOST_PAIRS
    differences = measured if has_all_pairs else measured.filter(with_first)
    pairs = {}
    compared = differences.select("candidate", "baseline").unique(maintain_order=True)
    for candidate, baseline in compared.rows():
        pairs[candidate, baseline] = f"{marks[candidate]} − {marks[baseline]}"
    side_by_side = emotions and _fit(pairs.values())
    dots = []
    # Also cells without a difference, so that lines and columns keep their places.
    crossed = networks.cross(differences, ["label", "targets"], ["candidate", "baseline"])
    for row in crossed.iter_rows(named=True):
        targets = row["targets"]
        pair = pairs[row["candidate"], row["baseline"]]
        block = targets if emotions else f"{targets} targets"
        place = (targets, pair, "") if side_by_side else (pair, "all", block)
        dots.append(dot(row, place, "gender" if emotions else targets, "p_holm", "n_clusters"))
    caption = (
        f"Difference of effects between networks, first − second: {label}. Range −2 to 2, neutral "
        f"0. {_direction(part)} Dot: difference; line: {interval_title(part)} (bootstrap over the "
        f"shared targets).{'' if has_all_pairs else f' Only pairs with {first} are drawn.'}"
    )
    axis = around("Difference of effects", dots, 0.5)
    drawing = intervals(dots, axis, LABELS if side_by_side else _LABELS)
    return Figure("", caption, _summary(measured.drop_nulls("estimate")), drawing)


def _fit(pairs: Collection[str]) -> bool:
    """Whether pairs of networks can stand side by side, their names above the columns."""
    return len(pairs) in _WIDTHS and max(map(len, pairs)) * _LETTER <= _WIDTHS[len(pairs)]


def _summary(measured: pl.DataFrame) -> str:
    """Count the significant differences, and name the largest."""
    largest = measured.row(int(measured["turned"].abs().arg_max() or 0), named=True)
    n_small = measured.filter(pl.col("p_holm") <= ALPHA).height
    return (
        f"{n_small} of {measured.height} differences have p (Holm) of .05 or less. "
        f"The largest: {largest['candidate']} − {largest['baseline']}, {largest['targets']}, "
        f"{bracketed(largest['turned'], largest['turned_low'], largest['turned_high'])}."
    )


_DIFFERENCES = TableSpec(
    "{label}: differences of effects. {direction}",
    (
        head("targets"),
        TableColumn("Networks", "candidate baseline", "{} − {}".format, "head"),
        TableColumn("Difference", "turned", number),
        TableColumn("{interval}", "turned_low turned_high", interval),
        TableColumn("p", "p", p_value),
        "p_holm",
        TableColumn("Shared targets", "n_clusters", count),
        "correlation",
        "note",
    ),
    PAGE_COLUMNS,
)


_PUBLISHED = TableSpec(
    "Published correlations of activation with the human network (gender; released tables of "
    "Abramski et al. 2025): Spearman’s, over 25 targets × 10 primes each.",
    (
        head("targets"),
        TableColumn("Networks", "network", "{} and Humans".format, "head"),
        "correlation",
        TableColumn("p", "p", p_value),
    ),
    PAGE_COLUMNS,
)
