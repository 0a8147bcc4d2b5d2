"""Lengths of paths: whether those between stereotype-consistent words are shorter.

Reference: Abramski, Rossetti & Stella 2025, arXiv:2510.24488, figures 8 and 9.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from clinometer.numbers import count, number, p_value, signed
from clinometer.pieces.drawing.figures import Figure
from clinometer.pieces.drawing.intervals import around, intervals, range_text
from clinometer.pieces.frames import add_columns
from clinometer.pieces.prose import ALPHA, interval_title
from clinometer.pieces.sections import Section, name_figures
from clinometer.pieces.tables import ROW, TableColumn, TableSpec
from clinometer_measures.networks.report.effects import PLACEBOS, grey_bars, remarks
from clinometer_measures.networks.report.results import NETWORK, Networks, dot, group_rows, render

__all__ = ["path_finding", "path_section"]

_METHOD = (
    "The paper notes that paths between stereotype-consistent words are typically shorter, and "
    "shows four. Here all pairs are compared: for every target, the hops of the shortest path from "
    "the prime of the other category minus those from the matched prime of its own. Neutral 0, no "
    "bounds; positive: consistent paths are shorter. Edge weights are ignored. In the mean of both "
    "sets a category whose primes are nearer to all words cancels; in the difference of one set "
    "it does not."
)
_CLAIM = (
    "Paths are said to be shorter if the difference is beyond both kinds of placebos: that of "
    "arbitrary primes, and on arbitrary targets, of like degree and strength (p at most .05). The "
    "interval is a bootstrap over targets, with the primes fixed; p (primes swapped) is one-sided."
)

_KEYS = ("network", "study", "identity", "targets")


def path_section(networks: Networks) -> Section | None:
    """Show how long paths are; None where they were not measured."""
    parts = networks.by_identity("network_path_lengths")
    if not parts:
        return None
    hops = _mean_hops(networks.tables["network_paths"])
    tables = []
    for part in parts:
        rows = group_rows(add_columns(part, hops, *_KEYS), "targets")
        tables.append(("", render(_HOPS, rows)))
    figures = name_figures("network-path-lengths", (_figure(part, networks) for part in parts))
    placed = pl.concat(parts)["p_claim"].count() > 0
    noted = pl.concat(parts).with_columns(missing=pl.lit(None, pl.List(pl.String)))
    notes = remarks(noted, lambda r: f"{r['label']}, {_set_label(r)}, {r['network']}")
    text = (_METHOD, *([_CLAIM] if placed else []))
    key = "network-path-lengths"
    title = "Lengths of paths"
    return Section(key, title, text, figures, tuple(tables), notes)


def _mean_hops(lengths: pl.DataFrame) -> pl.DataFrame:
    """Average the hops of consistent and of inconsistent pairs, of each set and of both."""
    hops = pl.col("hops")
    is_consistent = pl.col("group") == pl.col("targets")
    means = {
        "consistent": hops.filter(is_consistent).mean(),
        "inconsistent": hops.filter(~is_consistent).mean(),
    }
    sets = lengths.group_by(_KEYS, maintain_order=True).agg(**means)
    pooled_means = sets.group_by(_KEYS[:-1], maintain_order=True).agg(pl.col(*means).mean())
    # In estimates the rows of both sets have no targets, shown as an empty text.
    return pl.concat([sets, pooled_means.with_columns(targets=pl.lit(""))], how="diagonal")


def _set_label(row: Mapping[str, Any]) -> str:
    return f"{row['targets']} targets" if row["targets"] else "both sets"


def _figure(part: pl.DataFrame, networks: Networks) -> Figure | None:
    """Draw the differences: a column per set of targets, a line per network."""
    if part["estimate"].count() == 0:
        return None
    dots = []
    for row in part.iter_rows(named=True):
        position = (networks.marks[row["network"]], _set_label(row), "")
        dots.append(dot(row, position, row["targets"], "p"))
    caption = (
        f"Hops of inconsistent − consistent paths, per network: {part['label'][0]}. Right of the "
        "dotted line: consistent paths are shorter. Dot: mean difference; line: "
        f"{interval_title(part)} (bootstrap over targets, primes fixed).{grey_bars(part)}"
    )
    axis = around("Hops, inconsistent − consistent", dots, 0.5)
    return Figure("", caption, range_text(dots), intervals(dots, axis))


_HOPS = TableSpec(
    "{label}: mean hops of the shortest paths from the primes of a target’s own category "
    "(consistent) and of the other (inconsistent), and their difference over matched primes.",
    (
        TableColumn("Targets", ROW, _set_label, "head"),
        NETWORK,
        TableColumn("Consistent", "consistent", number),
        TableColumn("Inconsistent", "inconsistent", number),
        TableColumn("Difference", "estimate", number),
        "interval",
        *PLACEBOS,
        TableColumn("p (primes swapped)", "p", p_value),
        TableColumn("Pairs", "n", count),
        TableColumn("Words", "n_clusters_bootstrap", count),
    ),
)


def path_finding(part: pl.DataFrame) -> str:
    """Say whether consistent paths are shorter in the network of `part`; empty where unknown."""
    overall = part.filter(targets="").drop_nulls(["estimate", "p_claim"])
    if overall.is_empty():
        return ""
    row = overall.row(0, named=True)
    beyond = row["p_claim"] <= ALPHA
    distance = row["estimate"] - row["turned_placebo_mean"]
    if not beyond:
        verdict = "not shown to be beyond arbitrary primes and targets"
    elif distance > 0:
        verdict = "shorter than with arbitrary primes and targets"
    else:
        verdict = "longer than with arbitrary primes and targets"
    hops = f"{signed(row['estimate'])} hops, inconsistent − consistent"
    return f"Stereotype-consistent paths: {hops} (p {p_value(row['p_claim'])}): {verdict}."
