"""The tables of a report about representation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from tiltmeter.report.networks.results import network_table
from tiltmeter.report.prose import interval, number, p_value
from tiltmeter.report.states.results import interval_said, layer_said, pairs, said
from tiltmeter.report.tables import Table, count

__all__ = ["association_table", "difference_table", "reading_columns", "titled", "word_table",
           "words_said"]  # fmt: skip

#: Rows of a table on the page; the files have all.
MOST_ROWS = 150


def titled(name: str) -> str:
    """Write the name of a test."""
    return name.replace("_", " ")


def words_said(row: Mapping[str, Any]) -> str:
    """Say which targets are expected with which attributes."""
    if not row["second"]:
        return f"{row['first']} with {row['toward']}, not {row['against']}"
    return f"{row['first']} with {row['toward']}, {row['second']} with {row['against']}"


def reading_columns(frame: pl.DataFrame) -> dict[str, Any]:
    """Give columns for the contexts and the number of removed components, where these vary."""
    titles = {"Contexts": "contexts", "Removed": "removed"}
    varied = {title: key for title, key in titles.items() if frame[key].n_unique() > 1}

    def cell(key: str) -> Any:
        return lambda r: "" if r[key] is None else str(r[key])

    return {title: cell(key) for title, key in varied.items()}


def difference_table(frame: pl.DataFrame, about: str) -> Table:
    """Set out differences of groups, at one layer."""
    told = interval_said(frame)
    layer = layer_said(frame["layer"][0])
    return network_table(
        frame.head(MOST_ROWS),
        f"{about}, {layer}: differences of means in standard deviations of the compared words, "
        f"neutral 0, with their {told} (Welch). t: Student’s, equal variances, as published. p "
        "(Holm), p (BH): adjusted for all dimensions and pairs. p (shuffled): groups of words "
        "shuffled. d: Cohen’s."
        + (f" The first {MOST_ROWS} of {frame.height} rows." if frame.height > MOST_ROWS else ""),
        {
            "Dimension": lambda r: r["dimension"],
            "Compared": pairs,
            **reading_columns(frame),
            "Difference": lambda r: number(r["estimate"]),
            told: lambda r: interval(r["ci_low"], r["ci_high"]),
            "t": lambda r: number(r["statistic"]),
            "df": lambda r: "" if r["df"] is None else f"{r['df']:g}",
            "p": lambda r: p_value(r["p"]),
            "p (Holm)": lambda r: p_value(r["p_holm"]),
            "p (BH)": lambda r: p_value(r["p_bh"]),
            "p (shuffled)": lambda r: p_value(r["p_permutation"]),
            "d": lambda r: number(r["effect_size"]),
            "Words": lambda r: f"{count(r['n_first'])}, {count(r['n_second'])}",
        },
        heads=2,
    )


def word_table(frame: pl.DataFrame, about: str) -> Table:
    """Set out words that stand for themselves, at one layer."""
    told = interval_said(frame)
    return network_table(
        frame.head(MOST_ROWS),
        f"{about}, {layer_said(frame['layer'][0])}: words that stand for themselves, in standard "
        f"deviations of the compared words; neutral 0. Their {told} is over contexts; there is "
        "none with fewer than two."
        + (f" The first {MOST_ROWS} of {frame.height} rows." if frame.height > MOST_ROWS else ""),
        {
            "Word": lambda r: r["term"],
            "Dimension": lambda r: r["dimension"],
            **reading_columns(frame),
            "Value": lambda r: number(r["coordinate"]),
            told: lambda r: interval(r["ci_low"], r["ci_high"]),
            "Contexts of the word": lambda r: count(r["n_contexts"]),
        },
        heads=2,
    )


def association_table(frame: pl.DataFrame, caption: str) -> Table:
    """Set out tests."""
    told = interval_said(frame)
    several = frame["layer"].n_unique() > 1 or "place" in frame.columns

    def size(row: Mapping[str, Any]) -> str:
        sizes = [row[key] for key in ("n_first", "n_second", "n_toward", "n_against")]
        return "" if None in sizes else "{} + {}, {} + {}".format(*map(count, sizes))

    return network_table(
        frame,
        f"{caption} Positive: the expected way, as the second column has it. p: one-sided; an "
        "exact p is over all partitions of the targets. Words: targets, attributes.",
        {
            "Test": lambda r: titled(r["stereotype"]),
            "Expected": words_said,
            "Method": lambda r: said("measure", r["measure"]),
            **reading_columns(frame),
            "Layer": lambda r: r["layer"] if several else "",
            "Effect": lambda r: number(r["estimate"]),
            told: lambda r: "" if r["ci_low"] is None else interval(r["ci_low"], r["ci_high"]),
            "p": lambda r: p_value(r["p"]) + (" exact" if r["exact"] else ""),
            "p (two-sided)": lambda r: p_value(r["p_two_sided"]),
            "p (Holm)": lambda r: p_value(r["p_holm"]),
            "Words": size,
        },
    )
