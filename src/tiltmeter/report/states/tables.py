"""The tables of a report about representation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from tiltmeter.report.prose import interval, number, p_value
from tiltmeter.report.states.results import interval_said, layer_said, pairs, said
from tiltmeter.report.tables import Column, Render, Table, count, render_table

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


def reading_columns(frame: pl.DataFrame) -> list[Column]:
    """Give columns for the contexts and the number of removed components, where these vary."""

    def cell(key: str) -> Render:
        return lambda r: "" if r[key] is None else str(r[key])

    titles = {"Contexts": "contexts", "Removed": "removed"}
    return [
        Column(title, cell(key), "text")
        for title, key in titles.items()
        if frame[key].n_unique() > 1
    ]


def difference_table(frame: pl.DataFrame, about: str) -> Table:
    """Set out differences of groups, at one layer."""
    told = interval_said(frame)
    layer = layer_said(frame["layer"][0])
    return render_table(
        frame.head(MOST_ROWS),
        f"{about}, {layer}: differences of means in standard deviations of the compared words, "
        f"neutral 0, with their {told} (Welch). t: Student’s, equal variances, as published. p "
        "(Holm), p (BH): adjusted for all dimensions and pairs. p (shuffled): groups of words "
        "shuffled. d: Cohen’s."
        + (f" The first {MOST_ROWS} of {frame.height} rows." if frame.height > MOST_ROWS else ""),
        [
            Column("Dimension", lambda r: r["dimension"], "head"),
            Column("Compared", pairs, "head"),
            *reading_columns(frame),
            Column("Difference", lambda r: number(r["estimate"])),
            Column(told, lambda r: interval(r["ci_low"], r["ci_high"])),
            Column("t", lambda r: number(r["statistic"])),
            Column("df", lambda r: "" if r["df"] is None else f"{r['df']:g}"),
            Column("p", lambda r: p_value(r["p"])),
            Column("p (Holm)", lambda r: p_value(r["p_holm"])),
            Column("p (BH)", lambda r: p_value(r["p_bh"])),
            Column("p (shuffled)", lambda r: p_value(r["p_permutation"])),
            Column("d", lambda r: number(r["effect_size"])),
            Column("Words", lambda r: f"{count(r['n_first'])}, {count(r['n_second'])}"),
        ],
    )


def word_table(frame: pl.DataFrame, about: str) -> Table:
    """Set out words that stand for themselves, at one layer."""
    told = interval_said(frame)
    return render_table(
        frame.head(MOST_ROWS),
        f"{about}, {layer_said(frame['layer'][0])}: words that stand for themselves, in standard "
        f"deviations of the compared words; neutral 0. Their {told} is over contexts; there is "
        "none with fewer than two."
        + (f" The first {MOST_ROWS} of {frame.height} rows." if frame.height > MOST_ROWS else ""),
        [
            Column("Word", lambda r: r["term"], "head"),
            Column("Dimension", lambda r: r["dimension"], "head"),
            *reading_columns(frame),
            Column("Value", lambda r: number(r["coordinate"])),
            Column(told, lambda r: interval(r["ci_low"], r["ci_high"])),
            Column("Contexts of the word", lambda r: count(r["n_contexts"])),
        ],
    )


def association_table(frame: pl.DataFrame, caption: str) -> Table:
    """Set out tests."""
    told = interval_said(frame)
    several = frame["layer"].n_unique() > 1 or "place" in frame.columns

    def size(row: Mapping[str, Any]) -> str:
        sizes = [row[key] for key in ("n_first", "n_second", "n_toward", "n_against")]
        return "" if None in sizes else "{} + {}, {} + {}".format(*map(count, sizes))

    return render_table(
        frame,
        f"{caption} Positive: the expected way, as the second column has it. p: one-sided; an "
        "exact p is over all partitions of the targets. Words: targets, attributes.",
        [
            Column("Test", lambda r: titled(r["stereotype"]), "head"),
            Column("Expected", words_said, "text"),
            Column("Method", lambda r: said("measure", r["measure"]), "text"),
            *reading_columns(frame),
            Column("Layer", lambda r: r["layer"] if several else ""),
            Column("Effect", lambda r: number(r["estimate"])),
            Column(
                told, lambda r: "" if r["ci_low"] is None else interval(r["ci_low"], r["ci_high"])
            ),
            Column("p", lambda r: p_value(r["p"]) + (" exact" if r["exact"] else "")),
            Column("p (two-sided)", lambda r: p_value(r["p_two_sided"])),
            Column("p (Holm)", lambda r: p_value(r["p_holm"])),
            Column("Words", size),
        ],
    )
