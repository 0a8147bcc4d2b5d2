"""Association tests inside models: effects by layer, as curves or, of many tests, as a map.

Reference: Caliskan et al. 2017 (WEAT), May et al. 2019 (SEAT), Guo & Caliskan 2021 (CEAT);
Bai et al. 2025, SI J, for the 21 stereotypes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from clinometer.families.states.report.curves import layer_figure
from clinometer.families.states.report.results import (
    ONE_LAYER,
    READING,
    States,
    first_reading,
    in_words,
    interval_column,
    layer_name,
    layers,
    placebo_columns,
    reading_columns,
    split,
)
from clinometer.report.drawing.cells import Grid, cells, map_cell
from clinometer.report.drawing.charts import Axis, Row
from clinometer.report.drawing.figures import Figure
from clinometer.report.drawing.intervals import around
from clinometer.report.prose import ALPHA, bracketed, interval_title, number, p_value
from clinometer.report.sections import Section, first_drawn, named
from clinometer.report.tables import Column, Table, alike, count, render_table

__all__ = ["association_finding", "association_section"]

#: Methods whose effects are on one scale, −2 to 2.
COMPARABLE = ("weat", "seat", "ceat", "ripa")
#: What sets are called that have no names of their own.
_ROLES = ("marginalized", "default", "tied", "counter", "first", "second")
#: Up to this many tests each has a panel with its curve.
MOST_CURVES = 6
#: Lines of a panel; beyond, only the first way of reading is drawn.
MOST_LINES = 4
#: Tests that a finding names, those of the largest effects.
MOST_NAMED = 3
#: Maps of a model and study.
MOST_MAPS = 4
#: Up to this many layers the cells of a map hold their number.
MOST_NUMBERED = 16
#: Tables of up to this many tests stand open.
MOST_OPEN = 12
#: Between the classes of a map.
EDGES = (-1.0, -0.5, -0.2, 0.2, 0.5, 1.0)

_METHOD = (
    "Are the words of one target group (male names) closer, by cosine, to one set of attributes "
    "(career), and those of the other group (female names) to the other set (family)? The effect "
    "is the difference of the two groups’ mean associations over the standard deviation of all "
    "targets’ associations: −2 to 2, neutral 0; positive: the first targets with the first "
    "attributes, which for groups of people is the stereotypical direction."
)
_METHODS = {
    "weat": "WEAT: one state per word.",
    "seat": "SEAT: the same, with words in sentence templates.",
    "ceat": "CEAT: combined over draws of contexts with random effects.",
    "ripa": "RIPA: attributes projected on the line between the two groups; for groups of few "
    "words.",
    "mac": "MAC: one group at a time; its mean cosine distance to the other side’s attributes "
    "minus that to its own. The unit is a cosine, so values are smaller.",
}
_CAUTION = (
    "Targets differ in many ways, also in their association with attributes without meaning: "
    "placebos are the same effects with the attribute words shuffled between the two sets (RIPA: "
    "with the words of the two groups; MAC: with words of both groups in place of one), and p "
    "(placebo) is the rank of an effect among them. An effect is called significant if p (Holm) "
    "is below .05 both in the test and beside its placebos. Where too few words are shuffled there "
    "are no placebos, and the effect rests on the test alone. "
    "p (Holm) is adjusted for the tests of a study within one layer. Selecting the layer with the "
    "largest effect is not a test: among many layers one is always the largest, and its p is not "
    "adjusted for the selection. Effects of few words have wide intervals."
)
_SIDES = ("first group alone", "second group alone")
_SURE = "p (Holm) below .05 in its layer"
_COMPARABLE = pl.col("measure").is_in(COMPARABLE)


def association_section(states: States) -> Section | None:
    """Show the effects of association tests by layer; None where there are no such tests."""
    parts = [_titled(part) for part in states.of("associations", "study", where=ONE_LAYER)]
    if not parts:
        return None
    key, title = "representation-tests", "Association tests"
    measures = {measure for part in parts for measure in part["measure"]}
    methods = " ".join(text for measure, text in _METHODS.items() if measure in measures)
    figures = named(key, (figure for part in parts for figure in _figures(part)))
    tables = tuple(table for part in parts for table in _tables(part))
    notes = tuple(dict.fromkeys(note for part in parts for note in _notes(part)))
    text = (_METHOD, methods, _CAUTION)
    return Section(key, title, text, figures, tables, ("Notes", notes))


def _titled(part: pl.DataFrame) -> pl.DataFrame:
    """Write the names of tests: with what they are about, where their sets have names.

    Adds `about`, the model and study, and `expected`: which targets with which attributes.
    """
    about = pl.format("{} ({}, {})", "stereotype", "first", "toward")
    weat = _COMPARABLE & ~pl.col("first").is_in(_ROLES)
    names = part.filter(weat).select("stereotype", named=about).drop_nulls().unique("stereotype")
    both = pl.format("{} with {}, {} with {}", "first", "toward", "second", "against")
    alone = pl.format("{} with {}, not {}", "first", "toward", "against")
    return part.join(names, on="stereotype", how="left", maintain_order="left").with_columns(
        stereotype=pl.coalesce("named", "stereotype").str.replace_all("_", " ", literal=True),
        expected=pl.when(pl.col("second").fill_null("") == "").then(alone).otherwise(both),
        about=pl.format("{}, {}", "model", "study"),
    )


def _at_the_end(part: pl.DataFrame) -> pl.DataFrame:
    """Keep the last layer."""
    return part.filter(layer=layers(part)[-1])


def _figures(part: pl.DataFrame) -> list[Figure]:
    figures: list[Figure] = []
    others = [own for _, own in split(part.filter(~_COMPARABLE), "measure")]
    for family in (part.filter(_COMPARABLE), *others):
        if family["estimate"].count() == 0:
            continue
        if family["stereotype"].n_unique() <= MOST_CURVES and len(layers(family)) > 1:
            figures.append(_curves(family))
        elif family["measure"][0] in COMPARABLE:
            figures += _maps(family)
    return figures


def _curves(part: pl.DataFrame) -> Figure:
    lines = split(part, "measure", *READING)
    if len(lines) > MOST_LINES:
        each = [first_reading(own) for _, own in split(part, "measure")]
        lines = split(pl.concat(each), "measure", *READING)
    drawn = pl.concat([_with_lines(own, line) for line, own in lines])
    panels = [
        ((mine["stereotype"][0], mine["expected"][0]), mine)
        for mine in drawn.partition_by("stereotype", maintain_order=True)
    ]
    comparable, method = part["measure"][0] in COMPARABLE, in_words("measure", part["measure"][0])
    scale = "Range −2 to 2, neutral 0" if comparable else f"{method}: unit cosine, neutral 0"
    caption = (
        f"Effects of association tests by layer: {part['about'][0]}. {scale}; above 0: the "
        f"expected direction. Band: {interval_title(part)}; grey: that of the placebos; filled "
        f"points: {_SURE}."
    )

    def axis(rows: Sequence[Row]) -> Axis:
        wide = around("Effect", rows, 0.5)
        return replace(wide, low=-2, high=2) if comparable and wide.high > 2 else wide

    return layer_figure(panels, lambda r: str(r["line"]), axis, caption)


def _with_lines(own: pl.DataFrame, line: str) -> pl.DataFrame:
    """Name the line of each row; a test of one group at a time has one for each group."""
    first = pl.col("first").first().over("stereotype")
    side = pl.when(pl.col("first") == first).then(pl.lit(_SIDES[0])).otherwise(pl.lit(_SIDES[1]))
    several = pl.col("first").n_unique().over("stereotype") > 1
    return own.with_columns(
        line=pl.concat_str(pl.lit(line or None), pl.when(several).then(side), separator=", ",
                           ignore_nulls=True),
        n=pl.sum_horizontal("n_first", "n_second"),
    )  # fmt: skip


def _maps(part: pl.DataFrame) -> list[Figure]:
    readings = split(part, "measure", *READING)
    left = first_drawn(MOST_MAPS, len(readings), "ways of reading")
    figures = []
    for reading, own in readings[:MOST_MAPS]:
        order, tests = layers(own), list(own["stereotype"].unique(maintain_order=True))
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
        about = ", ".join(filter(None, (own["about"][0], reading)))
        caption = (
            f"Effects of {len(tests)} association tests by layer: {about}. Range −2 to 2, neutral "
            "0 (middle class); orange: expected direction, blue: opposite direction. *: "
            f"{_SURE}.{left}"
        )
        figures.append(Figure("", caption, _map_summary(own), cells(rows, grid)))
    return figures


def _cell(row: Mapping[str, Any], full: bool) -> Row:
    shown = "–" if row["estimate"] is None else number(row["estimate"])
    text = shown if full or row["estimate"] is None else ""
    place = (row["layer"], row["stereotype"])
    return map_cell(row, EDGES, place, text, shown=shown, words=row["expected"])


def _map_summary(part: pl.DataFrame) -> str:
    """Say how many tests lean which way at the first and last layer, and the extremes."""
    known = part.drop_nulls("estimate").sort("estimate")
    sentences = []
    for layer in dict.fromkeys((layers(part)[0], layers(part)[-1])):
        own = known.filter(layer=layer)
        above, sure = own.filter(pl.col("estimate") > 0), own.filter(pl.col("p_claim") < ALPHA)
        sentences.append(
            f"{layer_name(layer)}: {above.height} of {own.height} effects above 0, {sure.height} "
            "with p (Holm) below .05"
        )
    for word, place in (("lowest", 0), ("highest", -1)):
        row = known.row(place, named=True)
        where = f"{row['stereotype']}, {layer_name(row['layer'])}"
        sentences.append(f"{word} {number(row['estimate'])} ({where})")
    return f"{'; '.join(sentences)}."


def _tables(part: pl.DataFrame) -> list[tuple[str, Table]]:
    """Set out the last layer, and for each test the layer with its largest effect."""
    last, about = _at_the_end(part), part["about"][0]
    where = f"the last layer, {last['layer'][0]}"
    summary = f"Table of effects: {about}, {where}" if last.height > MOST_OPEN else ""
    tables = [(summary, _table(last, f"{about}: effects at {where}."))]
    keys = ["stereotype", "measure", "first", *READING]
    size = pl.col("estimate").abs()
    largest = last.select(keys).join(
        part.drop_nulls("estimate")
        .sort(size, descending=True, maintain_order=True)
        .unique(keys, keep="first", maintain_order=True),
        on=keys,
        nulls_equal=True,
        maintain_order="left",
    )
    if len(layers(part)) > 1 and not largest.is_empty():
        caption = (
            f"{about}: each test at the layer where its effect is largest in size. Selecting a "
            "layer is not a test: p is not adjusted for the selection."
        )
        tables.append((f"Table of largest effects: {about}", _table(largest, caption, layer=True)))
    return tables


def _notes(part: pl.DataFrame) -> list[str]:
    noted = part.filter(pl.col("note") != "")
    return [
        f"{row['about']}, {row['stereotype']}, {in_words('measure', row['measure'])}: {row['note']}"
        for row in noted.iter_rows(named=True)
    ]


def _table(frame: pl.DataFrame, caption: str, *, layer: bool = False) -> Table:
    """Set out tests; with a column of layers where they differ."""

    def size(row: Mapping[str, Any]) -> str:
        sizes = [row[key] for key in ("n_first", "n_second", "n_toward", "n_against")]
        return "" if None in sizes else "{} + {}, {} + {}".format(*map(count, sizes))

    return render_table(
        frame,
        f"{caption} Positive: the expected direction, which the second column states. p: "
        "one-sided; an exact p is over all partitions of the targets. Words: targets, attributes.",
        [
            Column("Test", lambda r: r["stereotype"], "head"),
            Column("Expected", lambda r: r["expected"], "text"),
            Column("Method", lambda r: in_words("measure", r["measure"]), "text"),
            *reading_columns(frame),
            *([Column("Layer", lambda r: r["layer"])] if layer else []),
            Column("Effect", lambda r: number(r["estimate"])),
            interval_column(frame),
            Column("p", lambda r: p_value(r["p"]) + (" exact" if r["exact"] else "")),
            *alike(p_value, {"p (two-sided)": "p_two_sided", "p (Holm)": "p_holm"}),
            *placebo_columns(frame),
            Column("Words", size),
        ],
    )


def association_finding(part: pl.DataFrame) -> str:
    """Say how many tests lean the stereotypical way at the last layer, and how strongly."""
    texts = []
    for method, own in split(part.filter(_COMPARABLE), "measure"):
        texts.append((f"{method}: " if method else "") + _lean(_at_the_end(first_reading(own))))
    return " ".join(texts)


def _lean(last: pl.DataFrame) -> str:
    where, known = f"At the last layer ({last['layer'][0]})", last.drop_nulls("estimate")
    if known.is_empty():
        return f"{where} no effect could be measured; see the notes."
    sure = known.filter(pl.col("p_claim") < ALPHA).height
    against = known.filter(pl.col("estimate") < 0).height
    effects = ", ".join(
        f"{name.replace('_', ' ')} {bracketed(*values)}"
        for name, *values in known.sort(pl.col("estimate").abs(), descending=True)
        .head(MOST_NAMED)
        .select("stereotype", "estimate", "ci_low", "ci_high")
        .iter_rows()
    )
    lead = "Effects" if known.height <= MOST_NAMED else "Largest effects"
    return (
        f"{where}: {sure} of {known.height} significant (p (Holm) below .05) in the expected, "
        f"stereotypical direction, {against} with the opposite sign. {lead} (−2 to 2, neutral 0): "
        f"{effects}."
    )
