"""Valence in networks: slopes per prime, and how much the primes of an identity differ.

Reference: Abramski, Rossetti & Stella 2025, arXiv:2510.24488, figures 10 and 11.
"""

from __future__ import annotations

import polars as pl

from clinometer.numbers import number, p_value
from clinometer.pieces.drawing.charts import Axis, Row
from clinometer.pieces.drawing.figures import Figure
from clinometer.pieces.drawing.intervals import around, bars, intervals, range_text
from clinometer.pieces.prose import interval_title
from clinometer.pieces.sections import Section
from clinometer.pieces.tables import TableColumn, TableSpec, head
from clinometer_measures.networks.report.effects import PLACEBOS, grey_bars, remarks
from clinometer_measures.networks.report.results import (
    NETWORK,
    PAGE_COLUMNS,
    Networks,
    dot,
    group_rows,
)

__all__ = ["SCALE", "valence_section"]

SCALE = (
    "Slope: change in the log odds of valence per unit of normalised activation; neutral 0, no "
    "bounds; positive: more pleasant associations than the other primes of the identity have."
)
_METHOD = (
    "Each prime is activated. The valence of all rated words (0 to 1) is regressed on their "
    "activation, with one binomial model per prime. Activations are normalised over the primes of "
    "an identity, so slopes are relative: they compare primes with each other, not with an "
    "absolute neutral."
)
_CAUTION = (
    "Intervals use the sandwich estimator. Intervals and p values treat words as independent, but "
    "neighbours in a network are not: intervals are too narrow and p values too small. The paper "
    "gives its values in figures only (10 and 11), so no published values are shown."
)
_PLACEBOS = (
    "Neighbours have like valences, so arbitrary primes have slopes too, and differ in them. So "
    "each prime was replaced {many:,} times by arbitrary words of like degree and strength "
    "(placebos). p (placebo primes): rank of the distance from the median of these, two-sided. "
    "Primes are said to differ if this p is at most .05. Few primes give wide placebos: a "
    "difference that is not beyond them is not shown to be absent."
)
_JOINT = (
    "One model with all primes of an identity, and a Wald test that their slopes are equal, show "
    "whether the primes differ at all. Its χ², which the paper calls the effect size, grows with "
    "the number of rated words (here {sizes}): with the same slopes a larger network has a larger "
    "χ². χ² must therefore not be compared between networks of different size. √(χ² / n), Cohen’s "
    "w, does not grow with the size."
)


def valence_section(networks: Networks) -> Section | None:
    """Show whether primes activate pleasant or unpleasant words.

    None where no valence was measured.
    """
    parts = networks.by_identity("network_coefficients", "valence")
    if not parts:
        return None
    rows = pl.concat(parts)
    slopes = rows.drop_nulls("prime")
    joint = rows.filter(pl.col("prime").is_null())
    sizes = [f"{n:,}" for n in joint["n"].drop_nulls().unique().sort()]
    size_range = " to ".join(dict.fromkeys([*sizes[:1], *sizes[-1:]]))
    tables = (
        ("", _JOINT_TESTS.render(joint)),
        (
            "Table of slopes per prime",
            _SLOPES.render(
                group_rows(slopes, "identity", "prime"), interval=interval_title(slopes)
            ),
        ),
    )
    # The joint test has the missing words of all primes.
    missing = pl.when(pl.col("prime").is_null()).then("missing")
    figures = (_slope_figure(slopes, networks), _joint_figure(joint, networks))
    notes = remarks(
        rows.with_columns(missing=missing),
        lambda r: ", ".join(filter(None, (r["label"], r["prime"], r["network"]))),
    )
    drawings = tuple(figure for figure in figures if figure)
    filled_tables = tuple(table for table in tables if table[1].rows)
    many = rows["n_resamples_placebo"].drop_nulls()
    placebo_text = [_PLACEBOS.format(many=many.max())] if len(many) else []
    text = (_METHOD, _CAUTION, *placebo_text, *([_JOINT.format(sizes=size_range)] if sizes else []))
    return Section("network-valence", "Valence", text, drawings, filled_tables, notes)


def _slope_figure(slopes: pl.DataFrame, networks: Networks) -> Figure | None:
    """Draw the slopes: a column per network, a block per identity, a line per prime."""
    if slopes["estimate"].count() == 0:
        return None
    marks = networks.marks
    dots = []
    for row in networks.cross(slopes, ["identity", "label", "prime"]).iter_rows(named=True):
        position = (row["prime"], marks[row["network"]], row["label"])
        dots.append(dot(row, position, row["label"], "p_robust"))
    caption = (
        f"Slope of valence per prime, one column per network. {SCALE} Dot: slope; line: "
        f"{interval_title(slopes)} (sandwich estimator); dotted line: neutral. Compare primes "
        f"within one identity and one column.{grey_bars(slopes)}"
    )
    blocks: dict[str, list[Row]] = {}
    for slope in dots:
        blocks.setdefault(slope["block"], []).append(slope)
    summary = " ".join(f"{block}. {range_text(members)}" for block, members in blocks.items())
    drawing = intervals(dots, around("Slope of valence", dots, 0.5))
    return Figure("network-valence", caption, summary, drawing)


def _joint_figure(joint: pl.DataFrame, networks: Networks) -> Figure | None:
    """Draw √(χ² / n): a column per identity, a bar per network."""
    measured = joint.drop_nulls("estimate")
    if measured.is_empty():
        return None
    marks = networks.marks
    dots = []
    for row in measured.iter_rows(named=True):
        position = (marks[row["network"]], row["label"], "")
        dots.append(dot(row, position, row["identity"], "p_robust"))
    # The axis ends at the next round number: small bars are to be seen too.
    top = max(max(row["mean"], row["placebo_high"] or 0) for row in dots)
    axis_end = next((end for end in (0.1, 0.2, 0.3, 0.5, 1.0) if top <= end), top)
    caption = (
        "Differences in valence between the primes of an identity: √(χ² / n) of the joint Wald "
        "test. 0: all slopes are equal; no upper bound. Chance alone makes it larger than 0; p "
        "tests whether it is larger than by chance. By convention .1 is small and .3 medium. Bars "
        f"have no interval.{grey_bars(measured)}"
    )
    drawing = bars(dots, Axis("√(χ² / n)", 0, axis_end, None))
    return Figure("network-valence-effects", caption, range_text(dots), drawing)


def _rated(rated: int | None, nodes: int | None) -> str:
    """Write how many nodes have a rating, of how many."""
    return "n/a" if rated is None or nodes is None else f"{rated:,} / {nodes:,}"


_P_VALUES = (TableColumn("p (published)", "p", p_value), "p_robust")
_JOINT_TESTS = TableSpec(
    "Joint Wald test that the slopes of all primes of an identity are equal. p (published): "
    "binomial model; p (robust): sandwich estimator. Rated: nodes with a rating of valence, of all "
    "nodes.",
    (
        head("label", "Identity"),
        NETWORK,
        TableColumn("√(χ² / n)", "estimate", number, digits=3),
        TableColumn("χ²", "statistic", number, digits=1),
        TableColumn("df", "df", number, digits=0),
        *PLACEBOS,
        *_P_VALUES,
        TableColumn("Rated", "n n_nodes", _rated),
    ),
    PAGE_COLUMNS,
)


_SLOPES = TableSpec(
    f"Slopes of valence per prime. {SCALE}",
    (
        head("label", "Identity"),
        head("prime"),
        NETWORK,
        TableColumn("Slope", "estimate", number),
        "interval",
        *PLACEBOS,
        TableColumn("SE (published)", "se", number, digits=3),
        *_P_VALUES,
    ),
    PAGE_COLUMNS,
)
