"""How the effects of two networks differ, on the targets they share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import polars as pl

from tiltmeter.reference import load_published
from tiltmeter.report.drawing.figures import Figure
from tiltmeter.report.drawing.intervals import around, intervals, mark
from tiltmeter.report.networks.emotions import in_plutchiks_order
from tiltmeter.report.networks.results import ALPHA, PUBLISHED, Networks
from tiltmeter.report.prose import interval, interval_title, number, numbered, p_value
from tiltmeter.report.sections import Section
from tiltmeter.report.tables import Column, Table, count, render_table

__all__ = ["difference_section"]

#: Above this many pairs of networks only those with the first one are drawn.
MOST_PAIRS = 6
#: The width of so many columns, and of a letter above them; else pairs are lines.
_WIDTHS, _LETTER = {1: 620, 2: 400, 3: 286}, 7
#: Room for the names of two networks.
_LABELS = 330

_METHOD = (
    "Two networks are compared on the targets that both have, and both are drawn the same "
    "targets, so that what moves both cancels. p is the bootstrap’s, two-sided; p (Holm) is "
    "adjusted for the pairs of networks. The correlation (Spearman) is over all pairs of prime "
    "and target: whether the two agree on which prime goes with which target, whatever the lean. "
    "An effect that is shown in one network and not in the other is not yet a difference: it is "
    "here that differences are tested."
)


def difference_section(networks: Networks) -> Section | None:
    """Show how the effects of every two networks differ.

    None where no two networks were compared.
    """
    parts = [
        (identity, approach, _turned(in_plutchiks_order(part)))
        for approach in ("stereotypes", "emotions")
        for identity, part in networks.of("network_differences", approach)
    ]
    if not parts:
        return None
    names = numbered("network-differences", len(parts))
    tables = [
        (f"Table of differences: {networks.label(identity)}", _table(part, networks, identity))
        for identity, _, part in parts
    ]
    if networks.replicates:
        tables.append(("Table of published correlations", _published()))
    return Section(
        key="network-differences",
        title="Differences between networks",
        short="Differences",
        text=(_METHOD,),
        figures=tuple(
            figure
            for (identity, approach, part), name in zip(parts, names, strict=True)
            for figure in _figures(part, networks, (identity, approach), name)
        ),
        tables=tuple(tables),
    )


def _turned(part: pl.DataFrame) -> pl.DataFrame:
    """Turn differences so that positive is the more stereotype-consistent, where one is stated."""
    below = (pl.col("direction") == "below").fill_null(False)
    low, high = pl.col("ci_low"), pl.col("ci_high")
    return part.with_columns(
        estimate=pl.when(below).then(-pl.col("estimate")).otherwise("estimate"),
        ci_low=pl.when(below).then(-high).otherwise(low),
        ci_high=pl.when(below).then(-low).otherwise(high),
    )


def _direction(part: pl.DataFrame) -> str:
    if part["direction"].count() == part.height:
        return (
            "Effects turned so that positive is stereotype-consistent: right of the dotted line "
            "the network named first is the more stereotype-consistent one."
        )
    first = part["first"].unique()
    towards = first[0] if len(first) == 1 else "the first prime"
    return f"Right of the dotted line the network named first leans more towards {towards}."


def _figures(
    part: pl.DataFrame, networks: Networks, of: tuple[str, str], name: str
) -> list[Figure]:
    """Draw differences: sets of targets and pairs of networks, the fewer in columns."""
    if part["estimate"].drop_nulls().is_empty():
        return []
    identity, approach = of
    known = part.drop_nulls("estimate").select("candidate", "baseline")
    pairs = list(known.unique(maintain_order=True).iter_rows())
    few = len(pairs) <= MOST_PAIRS
    drawn = pairs if few else [pair for pair in pairs if pairs[0][0] in pair]
    marks = networks.marks
    shown = {pair: f"{marks[pair[0]]} − {marks[pair[1]]}" for pair in drawn}
    in_columns = approach == "emotions" and _fit(list(shown.values()))
    by_pair = {(r["candidate"], r["baseline"], r["targets"]): r for r in part.iter_rows(named=True)}
    targets = list(dict.fromkeys(part["targets"]))
    rows = []
    for each, (one, other) in product(targets, drawn):
        row, pair = by_pair.get((one, other, each)) or {}, shown[one, other]
        block = f"{each} targets" if approach == "stereotypes" else each
        details = {
            "network": f"{one} − {other}",
            "about": f"{networks.label(identity)}, {each}",
            "p": row.get("p_holm"),
            "n": row.get("n_clusters"),
            "color": each if approach == "stereotypes" else "gender",
        }
        ends = (row.get("ci_low"), row.get("ci_high"))
        place = (each, pair, "") if in_columns else (pair, "all", block)
        rows.append(mark(place, row.get("estimate"), ends, details))
    left = f" Drawn: pairs with {pairs[0][0]}." if len(drawn) < len(pairs) else ""
    caption = (
        "Difference of effects between networks, first − second named: "
        f"{networks.label(identity)}. Range −2 to 2, neutral 0. "
        f"{_direction(part)} Dot: difference; line: "
        f"{interval_title(part)}, the shared targets drawn anew (bootstrap).{left}"
    )
    panels = list(dict.fromkeys(row["panel"] for row in rows))
    axis = around("Difference of effects", rows, 0.5)
    drawing = intervals(rows, axis, panels, *([] if in_columns else [_LABELS]))
    return [Figure(name, caption, _summary(part), drawing)]


def _fit(pairs: Sequence[str]) -> bool:
    """Whether pairs of networks can stand side by side, their names above the columns."""
    return len(pairs) in _WIDTHS and max(map(len, pairs)) * _LETTER <= _WIDTHS[len(pairs)]


def _summary(part: pl.DataFrame) -> str:
    """Count the differences that are shown, and name the largest."""
    known = part.drop_nulls("estimate")
    rows = list(known.iter_rows(named=True))
    shown = [row for row in rows if row["p_holm"] is not None and row["p_holm"] <= ALPHA]
    largest = max(rows, key=lambda row: abs(row["estimate"]))
    return (
        f"{len(shown)} of {len(rows)} differences have p (Holm) of .05 or less. The largest: "
        f"{largest['candidate']} − {largest['baseline']}, {largest['targets']}, "
        f"{number(largest['estimate'])} ({interval(largest['ci_low'], largest['ci_high'])})."
    )


def _table(part: pl.DataFrame, networks: Networks, identity: str) -> Table:
    def pair(row: Mapping[str, Any]) -> str:
        return f"{row['candidate']} − {row['baseline']}"

    return render_table(
        part,
        f"{networks.label(identity)}: differences of effects. {_direction(part)}",
        [
            Column("Targets", lambda r: r["targets"], "head"),
            Column("Networks", pair, "head"),
            Column("Difference", lambda r: number(r["estimate"])),
            Column(interval_title(part), lambda r: interval(r["ci_low"], r["ci_high"])),
            Column("p", lambda r: p_value(r["p"])),
            Column("p (Holm)", lambda r: p_value(r["p_holm"])),
            Column("Shared targets", lambda r: count(r["n_clusters"])),
            Column("Correlation", lambda r: number(r["correlation"])),
            Column("Note", lambda r: r["note"] or "", "text"),
        ],
    )


def _published() -> Table:
    return render_table(
        load_published(PUBLISHED, "network_correlations"),
        "Published correlations of activation with the human network (gender, released tables of "
        "Abramski et al. 2025): Spearman’s, over 25 targets × 10 primes each.",
        [
            Column("Targets", lambda r: r["targets"], "head"),
            Column("Networks", lambda r: f"{r['network']} and Humans", "head"),
            Column("Correlation", lambda r: number(r["correlation"])),
            Column("p", lambda r: p_value(r["p"])),
        ],
    )
