"""Association tests inside models: effects by layer, as curves or, of many tests, as a map.

Reference: Caliskan et al. 2017 (WEAT), May et al. 2019 (SEAT), Guo & Caliskan 2021 (CEAT);
Bai et al. 2025, SI J, for the 21 stereotypes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from tiltmeter.report.drawing.cells import Grid, cells, classed
from tiltmeter.report.drawing.charts import Axis, Row
from tiltmeter.report.drawing.curves import layer_curves, point, spread_text
from tiltmeter.report.drawing.figures import Figure
from tiltmeter.report.drawing.intervals import around
from tiltmeter.report.prose import interval, interval_title, number, numbered, p_value
from tiltmeter.report.sections import Section
from tiltmeter.report.states.results import (
    ALPHA,
    MEAN,
    Representation,
    first_reading,
    in_words,
    layer_name,
    layers,
    reading_columns,
    split,
)
from tiltmeter.report.tables import Column, Table, count, render_table

__all__ = ["COMPARABLE", "association_section", "at_the_end", "titled"]

#: Methods whose effects are on one scale, −2 to 2.
COMPARABLE = ("weat", "seat", "ceat", "ripa")
#: What sets are called that have no names of their own.
_ROLES = ("marginalized", "default", "tied", "counter", "first", "second")
#: Up to this many tests each has a panel with its curve.
MOST_CURVES = 6
#: Lines of a panel; beyond, only the first way of reading is drawn.
MOST_LINES = 4
#: Maps of a model and study.
MOST_MAPS = 4
#: Up to this many layers the cells of a map hold their number.
MOST_NUMBERED = 16
#: Between the classes of a map.
EDGES = (-1.0, -0.5, -0.2, 0.2, 0.5, 1.0)

_METHOD = (
    "Are the words of one target group (male names) closer, by cosine, to one set of attributes "
    "(career), and those of the other group (female names) to the other set (family)? The effect "
    "is the difference of the two groups’ mean associations over the standard deviation of all "
    "targets’ associations: −2 to 2, neutral 0; positive: the first targets with the first "
    "attributes, which for groups of people is the stereotypical way."
)
_SAID = {
    "weat": "WEAT: one state per word.",
    "seat": "SEAT: the same, of words in sentence templates.",
    "ceat": "CEAT: combined over draws of contexts with random effects.",
    "ripa": "RIPA: attributes laid on the line between the two groups; for groups of few words.",
    "mac": "MAC: one group at a time, its mean cosine distance to the other side’s attributes "
    "minus that to its own, in units of cosine, so that its values are smaller.",
}
_CAUTION = (
    "p (Holm) is adjusted for the tests of a study within one layer. Picking the layer with the "
    "largest effect is not a test: among many layers one is always the largest, and its p is "
    "not adjusted for that choice. Effects of few words have wide intervals."
)
_SIDES = ("first group alone", "second group alone")
_SURE = "p (Holm) below .05 in its layer"


def association_section(inside: Representation) -> Section | None:
    """Show the effects of association tests by layer; None where there are no such tests."""
    parts = [
        (f"{model}, {study}", mine)
        for model, frame in inside.of_models("associations")
        for (study,), mine in frame.filter(pl.col("layer") != MEAN).group_by(
            "study", maintain_order=True
        )
    ]
    if not parts:
        return None
    made: list[Figure] = []
    tables: list[tuple[str, Table]] = []
    parts = [(about, _named(part)) for about, part in parts]
    for about, part in parts:
        made += _figures(part, about)
        tables += _tables(part, about)
    methods = dict.fromkeys(m for _, part in parts for m in part["measure"].unique().sort())
    figures = [
        Figure(name, one.caption, one.summary, one.spec)
        for one, name in zip(made, numbered("representation-tests", len(made)), strict=True)
    ]
    return Section(
        key="representation-tests",
        title="Association tests",
        short="Association tests",
        text=(_METHOD, " ".join(_SAID[m] for m in _SAID if m in methods), _CAUTION),
        figures=tuple(figures),
        tables=tuple(tables),
        notes=("Notes", _notes(parts)),
    )


def _named(part: pl.DataFrame) -> pl.DataFrame:
    """Add to a test's number what it is about, where its sets have names of their own."""
    about = pl.format("{} ({}, {})", "stereotype", "first", "toward")
    weat = pl.col("measure").is_in(COMPARABLE) & ~pl.col("first").is_in(_ROLES)
    names = part.filter(weat).select("stereotype", about.alias("named")).drop_nulls()
    return (
        part.join(names.unique("stereotype"), on="stereotype", how="left", maintain_order="left")
        .with_columns(stereotype=pl.coalesce("named", "stereotype"))
        .drop("named")
    )


def at_the_end(part: pl.DataFrame) -> pl.DataFrame:
    """Keep the last layer."""
    return part.filter(layer=layers(part)[-1])


def _figures(part: pl.DataFrame, about: str) -> list[Figure]:
    figures: list[Figure] = []
    comparable = pl.col("measure").is_in(COMPARABLE)
    others = [own for _, own in split(part.filter(~comparable), "measure") if own.height]
    for family in (part.filter(comparable), *others):
        if family["estimate"].drop_nulls().is_empty():
            continue
        if family["stereotype"].n_unique() <= MOST_CURVES and len(layers(family)) > 1:
            figures.append(_curves(family, about))
        elif family["measure"][0] in COMPARABLE:
            figures += _maps(family, about)
    return figures


def _curves(part: pl.DataFrame, about: str) -> Figure:
    lines = split(part, "measure", "contexts", "removed")
    if len(lines) > MOST_LINES:
        each = [first_reading(own) for _, own in split(part, "measure")]
        lines = split(pl.concat(each), "measure", "contexts", "removed")
    order = layers(part)
    places = {layer: place for place, layer in enumerate(order)}
    by = pl.col("layer").replace_strict(places)
    rows: list[Row] = []
    for test in part["stereotype"].unique(maintain_order=True):
        for series, own in lines:
            mine = own.filter(stereotype=test).sort(by, maintain_order=True)
            rows += [point(titled(test), line, r, "estimate") for line, r in _lines(mine, series)]
    method = part["measure"][0]
    scale = (
        "Range −2 to 2, neutral 0; above: the expected way."
        if method in COMPARABLE
        else f"{in_words('measure', method)}: in units of cosine, neutral 0; above: as expected."
    )
    caption = (
        f"Effects of association tests by layer: {about}. {scale} Band: "
        f"{interval_title(part)}; filled points: {_SURE}."
    )
    first = part.unique("stereotype", keep="first", maintain_order=True)
    titles = {
        titled(row["stereotype"]): (titled(row["stereotype"]), _words_text(row))
        for row in first.iter_rows(named=True)
    }
    axis = around("Effect", rows, 0.5)
    if method in COMPARABLE and axis.high > 2:
        axis = Axis("Effect", -2, 2, 0)
    return Figure("", caption, spread_text(rows), layer_curves(rows, axis, order, titles))


def _lines(frame: pl.DataFrame, series: str) -> list[tuple[str, dict[str, Any]]]:
    """Name the line of each row; a test of one group at a time has one for each."""
    sides = list(frame["first"].unique(maintain_order=True))
    counted = frame.with_columns(n=pl.sum_horizontal("n_first", "n_second"))
    return [
        (", ".join(filter(None, (series, _SIDES[sides.index(row["first"])] if sides[1:] else ""))),
         row)
        for row in counted.iter_rows(named=True)
    ]  # fmt: skip


def _maps(part: pl.DataFrame, about: str) -> list[Figure]:
    readings = split(part, "measure", "contexts", "removed")
    figures = []
    for reading, own in readings[:MOST_MAPS]:
        order = layers(own)
        tests = [titled(test) for test in own["stereotype"].unique(maintain_order=True)]
        full = len(order) <= MOST_NUMBERED
        rows = [_cell(row, full) for row in own.iter_rows(named=True)]
        grid = Grid(
            legend="Effect",
            edges=EDGES,
            across=("Layer", order),
            down=("", tests),
            width=52 if full else 25,
            height=22,
            tips=(("Test", "down"), ("Layer", "across"), ("Effect", "shown"),
                  ("Interval", "interval"), ("p", "p"), ("p (Holm)", "p_holm"),
                  ("Expected", "words")),
        )  # fmt: skip
        left = (
            f" Drawn are the first {MOST_MAPS} of {len(readings)} ways of reading."
            if len(readings) > MOST_MAPS
            else ""
        )
        caption = (
            f"Effects of {len(tests)} association tests by layer: "
            f"{', '.join(filter(None, (about, reading)))}. −2 to 2, neutral 0 in the middle class; "
            f"orange: the expected way, blue: the other. *: {_SURE}.{left}"
        )
        figures.append(Figure("", caption, _map_summary(own), cells(rows, grid)))
    return figures


def _cell(row: Mapping[str, Any], full: bool) -> Row:
    sure = row["p_holm"] is not None and row["p_holm"] < ALPHA
    shown = number(row["estimate"]) if row["estimate"] is not None else "–"
    return {
        "across": row["layer"],
        "down": titled(row["stereotype"]),
        "step": classed(row["estimate"], EDGES),
        "text": (shown if full or row["estimate"] is None else "") + "*" * sure,
        "strong": sure,
        "shown": shown,
        "interval": interval(row["ci_low"], row["ci_high"]) if row["ci_low"] is not None else None,
        "p": p_value(row["p"]),
        "p_holm": p_value(row["p_holm"]),
        "words": _words_text(row),
    }


def _map_summary(part: pl.DataFrame) -> str:
    """Say how many tests lean which way at the first and last layer, and the extremes."""
    sentences = []
    for layer in dict.fromkeys((layers(part)[0], layers(part)[-1])):
        own = part.filter(layer=layer).drop_nulls("estimate")
        with_it = own.filter(pl.col("estimate") > 0).height
        sure = own.filter(pl.col("p_holm") < ALPHA).height
        sentences.append(
            f"{layer_name(layer)}: {with_it} of {own.height} effects above 0, {sure} with p (Holm) "
            "below .05"
        )
    known = part.drop_nulls("estimate").sort("estimate")
    ends = [
        f"{word} {number(row['estimate'])} "
        f"({titled(row['stereotype'])}, {layer_name(row['layer'])})"
        for word, row in (
            ("lowest", known.row(0, named=True)),
            ("highest", known.row(-1, named=True)),
        )
    ]
    return f"{'; '.join([*sentences, *ends])}."


def _tables(part: pl.DataFrame, about: str) -> list[tuple[str, Table]]:
    """Set out the last layer, and for each test the layer with its largest effect."""
    last = at_the_end(part)
    keys = ["stereotype", "measure", "first", "contexts", "removed"]
    largest = (
        part.drop_nulls("estimate")
        .sort(pl.col("estimate").abs(), descending=True, maintain_order=True)
        .unique(keys, keep="first", maintain_order=True)
    )
    order = last.select(keys).with_row_index("place")
    largest = largest.join(order, on=keys, how="left").sort("place", maintain_order=True)
    where = f"the last layer, {last['layer'][0]}"
    tables = [("" if last.height <= 12 else f"Table of effects: {about}, {where}",
               _association_table(last, f"{about}: effects at {where}."))]  # fmt: skip
    if len(layers(part)) > 1 and not largest.is_empty():
        caption = (
            f"{about}: each test at the layer where its effect is largest in size. Picking a layer "
            "is not a test: these p do not know of it."
        )
        tables.append((f"Table of largest effects: {about}", _association_table(largest, caption)))
    return tables


def _notes(parts: list[tuple[str, pl.DataFrame]]) -> tuple[str, ...]:
    return tuple(
        dict.fromkeys(
            f"{about}, {titled(row['stereotype'])}, {in_words('measure', row['measure'])}: "
            f"{row['note']}"
            for about, part in parts
            for row in part.filter(pl.col("note").fill_null("") != "").iter_rows(named=True)
        )
    )


def _association_table(frame: pl.DataFrame, caption: str) -> Table:
    """Set out tests."""
    title = interval_title(frame)
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
            Column("Expected", _words_text, "text"),
            Column("Method", lambda r: in_words("measure", r["measure"]), "text"),
            *reading_columns(frame),
            Column("Layer", lambda r: r["layer"] if several else ""),
            Column("Effect", lambda r: number(r["estimate"])),
            Column(
                title,
                lambda r: "" if r["ci_low"] is None else interval(r["ci_low"], r["ci_high"]),
            ),
            Column("p", lambda r: p_value(r["p"]) + (" exact" if r["exact"] else "")),
            Column("p (two-sided)", lambda r: p_value(r["p_two_sided"])),
            Column("p (Holm)", lambda r: p_value(r["p_holm"])),
            Column("Words", size),
        ],
    )


def titled(name: str) -> str:
    """Write the name of a test."""
    return name.replace("_", " ")


def _words_text(row: Mapping[str, Any]) -> str:
    """Say which targets are expected with which attributes."""
    if not row["second"]:
        return f"{row['first']} with {row['toward']}, not {row['against']}"
    return f"{row['first']} with {row['toward']}, {row['second']} with {row['against']}"
