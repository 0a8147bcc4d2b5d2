"""Stereotypes in networks: effects with intervals, and the heat maps behind them.

Reference: Abramski, Rossetti & Stella 2025, arXiv:2510.24488, figures 3 to 7.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from tiltmeter.reference import load_published
from tiltmeter.report.drawing.cells import heat_maps
from tiltmeter.report.drawing.charts import Axis
from tiltmeter.report.drawing.figures import Figure
from tiltmeter.report.drawing.intervals import intervals, mark, range_text
from tiltmeter.report.networks.results import PUBLISHED, Networks, remarks
from tiltmeter.report.prose import interval, interval_title, number, numbered, p_value
from tiltmeter.report.sections import Section
from tiltmeter.report.tables import Column, Table, count, render_table

__all__ = ["APPROACH", "SCALE", "in_first_order", "least_p", "pair_counts",
           "stereotype_section", "turned"]  # fmt: skip

APPROACH = "stereotypes"

SCALE = (
    "Range −1 to 1, neutral 0; where all of many pairs lean the same way the effect is ±0.87, so "
    "that larger ones need very few pairs."
)
_METHOD = (
    "Each pair of primes differs in its category and in little else. For every target the "
    "normalised activation by one prime of the pair is set against that by the other; the effect "
    "is Wilcoxon’s z / √n over all pairs of primes and all targets of a set. It says how "
    "consistently activation leans, not by how much."
)
_CAUTION = (
    "The published p takes every pair for an independent observation, which they are not: {pairs}. "
    "It is labelled naive. The interval draws the targets anew and keeps the primes; p (primes "
    "swapped) keeps the targets and asks how often an effect as large arises when the two "
    "categories are swapped within pairs of primes.{least} A lean is supported where the "
    "interval excludes 0 and p (primes swapped) is at most .05."
)


def stereotype_section(networks: Networks) -> Section | None:
    """Show how strongly primes of a category activate the targets that are tied to it.

    None where no stereotype was measured.
    """
    parts = networks.of("network_effects", APPROACH)
    if not parts:
        return None
    every = pl.concat([part for _, part in parts])
    names = numbered("network-stereotypes", len(parts))
    drawn: list[Figure] = []
    tables: list[tuple[str, Table]] = []
    for (identity, part), name in zip(parts, names, strict=True):
        drawn += _figures(part, networks, identity, name)
        tables.append(("", _table(part, networks, identity)))
    if networks.replicates:
        tables.append(("Table of published effects", _published()))
    maps, note = heat_maps(networks)
    return Section(
        key="network-stereotypes",
        title="Stereotypes",
        short="Stereotypes",
        text=(
            _METHOD,
            _CAUTION.format(pairs=pair_counts(every), least=least_p(every)),
            *([note] if note else []),
        ),
        figures=(*drawn, *maps),
        tables=tuple(tables),
        notes=remarks(
            every,
            lambda r: f"{networks.label(r['identity'])}, {r['targets']} targets, {r['network']}",
        ),
    )


def turned(
    row: Mapping[str, Any], ends: tuple[str, str] = ("ci_low", "ci_high")
) -> tuple[float | None, float | None, float | None]:
    """Turn an effect and its interval so that positive is stereotype-consistent.

    `row`: an estimate.
    `ends`: columns of the interval.
    Result: value, low, high; as they stand where no direction is stated.
    """
    low, high = (row[end] for end in ends)
    value = row["estimate"]
    if value is None or row["direction"] != "below":
        return value, low, high
    if low is None or high is None:
        return -value, None, None
    return -value, -high, -low


def pair_counts(frame: pl.DataFrame) -> str:
    """Say how many pairs rest on how many targets, where every row has the same of each."""
    known = frame.filter(pl.col("n") > 0, pl.col("n_clusters") > 0)
    sizes = known.select("n", "n_clusters").unique()
    if sizes.height != 1:
        return "the pairs of a set share their targets and their primes"
    pairs, targets = sizes.row(0)
    return (
        f"the {pairs} pairs of a set share {targets} targets and {pairs // targets} pairs of primes"
    )


def least_p(frame: pl.DataFrame) -> str:
    """State the least p that swapping can give, where every row has the same."""
    permuted = frame.drop_nulls(["p_permutation", "n_resamples_permutation"]).filter(
        pl.col("n_resamples_permutation") > 0
    )
    sizes = permuted["n_resamples_permutation"].unique()
    if len(sizes) != 1 or set(permuted["alternative"]) - {"greater", "less"}:
        return ""
    least = f"1/{sizes[0]} = {p_value(1 / sizes[0])}"
    return f" With {sizes[0]} arrangements the least p possible is {least}."


def _figures(part: pl.DataFrame, networks: Networks, identity: str, name: str) -> list[Figure]:
    """Draw the effects: a column per set of targets, a line per network."""
    if part["estimate"].drop_nulls().is_empty():
        return []
    label = networks.label(identity)
    panels = [f"{targets} targets" for targets in part["targets"].unique(maintain_order=True)]
    rows = []
    for row in part.iter_rows(named=True):
        value, low, high = turned(row)
        about = {"network": row["network"], "about": f"{label}, {row['targets']} targets",
                 "p": row["p_permutation"], "n": row["n"]}  # fmt: skip
        place = (networks.marks[row["network"]], f"{row['targets']} targets", "")
        rows.append(mark(place, value, (low, high), {**about, "color": row["targets"]}))
    caption = (
        f"Effect of primes on the targets tied to them, per network: {label}. {SCALE} Right of the "
        "dotted line: stereotype-consistent, each set of targets is activated more by the primes "
        f"it is tied to. Dot: effect; line: {interval_title(part)}, the targets drawn anew "
        "(bootstrap), the primes kept."
    )
    axis = Axis("Effect, stereotype-consistent positive", -1, 1, 0)
    drawing = intervals(rows, axis, panels)
    return [Figure(name, caption, range_text(rows), drawing)]


def _table(part: pl.DataFrame, networks: Networks, identity: str) -> Table:
    first, second = part.row(0, named=True)["first"], part.row(0, named=True)["second"]
    title = interval_title(part)

    def ends(row: Mapping[str, Any]) -> str:
        return interval(*turned(row)[1:])

    return render_table(
        part.sort(in_first_order(part, "targets"), maintain_order=True),
        f"{networks.label(identity)}: effects. {first} − {second}: the effect as published, "
        f"positive where {first} primes activate more. Turned: the same with positive as "
        f"stereotype-consistent; so is its {title}. p (naive): one-sided, as published. p (Holm): "
        "the same for all sets of a network. Arrangements: of the primes, for p (primes swapped).",
        [
            Column("Targets", lambda r: r["targets"], "head"),
            Column("Network", lambda r: r["network"], "head"),
            Column(f"{first} − {second}", lambda r: number(r["estimate"])),
            Column("Turned", lambda r: number(turned(r)[0])),
            Column(title, ends),
            Column("p (primes swapped)", lambda r: p_value(r["p_permutation"])),
            Column("Arrangements", lambda r: count(r["n_resamples_permutation"])),
            Column("p (naive)", lambda r: p_value(r["p"])),
            Column("p (Holm)", lambda r: p_value(r["p_holm"])),
            Column("Pairs", lambda r: count(r["n"])),
            Column("Words", lambda r: count(r["n_clusters"])),
        ],
    )


def in_first_order(frame: pl.DataFrame, column: str) -> pl.Expr:
    """Give the place of each value in the order in which they first occur, to sort by."""
    listed: Sequence[str] = list(frame[column].unique(maintain_order=True))
    return pl.col(column).replace_strict(
        {value: place for place, value in enumerate(listed)}, return_dtype=pl.Int64
    )


def _published() -> Table:
    return render_table(
        load_published(PUBLISHED, "network_effects"),
        "Published effects (Abramski et al. 2025, figure 3, values of the released tables): "
        "gender, 125 pairs each. Context, not a yardstick: their networks hold three answers per "
        "cue and come from models of their time.",
        [
            Column("Targets", lambda r: r["targets"], "head"),
            Column("Network", lambda r: r["network"], "head"),
            Column("female − male", lambda r: number(r["effect"])),
            Column("Turned", lambda r: number(r["stereotype"])),
            Column("p (naive)", lambda r: p_value(r["p"])),
        ],
    )
