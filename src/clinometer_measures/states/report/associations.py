"""Association tests inside models: effects by layer, as curves or, of many tests, as a map.

Reference: Caliskan et al. 2017 (WEAT), May et al. 2019 (SEAT), Guo & Caliskan 2021 (CEAT);
Bai et al. 2025, SI J, for the 21 stereotypes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from clinometer.numbers import bracketed, count, number, p_value, plain_text
from clinometer.pieces.drawing.cells import Grid, cells, map_cell
from clinometer.pieces.drawing.charts import Axis, Row
from clinometer.pieces.drawing.figures import Figure
from clinometer.pieces.drawing.intervals import around
from clinometer.pieces.prose import ALPHA, interval_title
from clinometer.pieces.sections import Section, name_figures, truncation_note
from clinometer.pieces.tables import ReportTable, TableColumn, TableSpec, head
from clinometer_measures.states.report.curves import layer_figure
from clinometer_measures.states.report.results import (
    INTERVAL,
    IS_SINGLE_LAYER,
    PLACEBOS,
    READING,
    READING_COLUMNS,
    States,
    first_reading,
    in_words,
    last_layer,
    layer_name,
    layers,
    split,
)

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
MOST_TESTS = 3
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
_SIGNIFICANT = "p (Holm) below .05 in its layer"
_COMPARABLE = pl.col("measure").is_in(COMPARABLE)


def association_section(states: States) -> Section | None:
    """Show the effects of association tests by layer; None where there are no such tests."""
    parts = states.by_model("associations", "study", where=IS_SINGLE_LAYER)
    if not parts:
        return None
    measures: set[str] = set()
    figures: list[Figure] = []
    tables: list[tuple[str, ReportTable]] = []
    notes: list[str] = []
    for part in map(_with_titles, parts):
        measures |= set(part["measure"])
        figures += _figures(part)
        tables += _tables(part)
        notes += _notes(part)
    methods = " ".join(text for measure, text in _METHODS.items() if measure in measures)
    key, title = "representation-tests", "Association tests"
    text = (_METHOD, methods, _CAUTION)
    # A note that is the same at several layers stands once.
    unique_notes = ("Notes", tuple(dict.fromkeys(notes)))
    return Section(key, title, text, name_figures(key, figures), tuple(tables), unique_notes)


def _with_titles(part: pl.DataFrame) -> pl.DataFrame:
    """Write the names of tests: with what they are about, where their sets have names.

    Adds `about`, the model and study, and `expected`: which targets with which attributes.
    """
    # Names are those of WEAT: MAC turns the sets of its second group round.
    weat = _COMPARABLE & ~pl.col("first").is_in(_ROLES)
    title = pl.format("{} ({}, {})", "stereotype", "first", "toward")
    titles = part.filter(weat).select("stereotype", title=title).drop_nulls().unique("stereotype")
    two_groups = pl.format("{} with {}, {} with {}", "first", "toward", "second", "against")
    single_group = pl.format("{} with {}, not {}", "first", "toward", "against")
    has_one_group = pl.col("second").fill_null("") == ""
    return part.join(titles, on="stereotype", how="left", maintain_order="left").with_columns(
        stereotype=pl.coalesce("title", "stereotype").str.replace_all("_", " ", literal=True),
        expected=pl.when(has_one_group).then(single_group).otherwise(two_groups),
        about=pl.format("{}, {}", "model", "study"),
    )


def _figures(part: pl.DataFrame) -> list[Figure]:
    """Draw the effects that share a scale together, those of other measures each by itself."""
    figures: list[Figure] = []
    families = [part.filter(_COMPARABLE)]
    families += [rows for _, rows in split(part.filter(~_COMPARABLE), "measure")]
    for family in families:
        if family["estimate"].count() == 0:
            continue
        if family["stereotype"].n_unique() <= MOST_CURVES and len(layers(family)) > 1:
            figures.append(_curves(family))
        # The classes of a map are made for −2 to 2.
        elif family["measure"][0] in COMPARABLE:
            figures += _maps(family)
    return figures


def _curves(part: pl.DataFrame) -> Figure:
    """Draw a panel for each test, with a line for each measure and way of reading."""
    lines = split(part, "measure", *READING)
    if len(lines) > MOST_LINES:
        first_readings = [first_reading(rows) for _, rows in split(part, "measure")]
        lines = split(pl.concat(first_readings), "measure", *READING)
    curves = pl.concat([_with_lines(rows, line) for line, rows in lines])
    panels = []
    for rows in curves.partition_by("stereotype", maintain_order=True):
        panels.append(((rows["stereotype"][0], rows["expected"][0]), rows))
    comparable = part["measure"][0] in COMPARABLE
    method = in_words("measure", part["measure"][0])
    scale = "Range −2 to 2, neutral 0" if comparable else f"{method}: unit cosine, neutral 0"
    caption = (
        f"Effects of association tests by layer: {part['about'][0]}. {scale}; above 0: the "
        f"expected direction. Band: {interval_title(part)}; grey: that of the placebos; filled "
        f"points: {_SIGNIFICANT}."
    )

    def axis(rows: Sequence[Row]) -> Axis:
        """Make an axis that fits the rows, no wider than the range of an effect."""
        fitted = around("Effect", rows, 0.5)
        # Intervals may end outside the range; effects cannot.
        return replace(fitted, low=-2, high=2) if comparable and fitted.high > 2 else fitted

    return layer_figure(panels, lambda r: str(r["line"]), axis, caption)


def _with_lines(rows: pl.DataFrame, line: str) -> pl.DataFrame:
    """Name the line of each row; a test of one group at a time has one for each group."""
    first = pl.col("first").first().over("stereotype")
    side = pl.when(pl.col("first") == first).then(pl.lit(_SIDES[0])).otherwise(pl.lit(_SIDES[1]))
    several_groups = pl.col("first").n_unique().over("stereotype") > 1
    # Null where a part of the name says nothing, so that it leaves no comma.
    names = (pl.lit(line or None), pl.when(several_groups).then(side))
    return rows.with_columns(
        line=pl.concat_str(*names, separator=", ", ignore_nulls=True),
        n=pl.sum_horizontal("n_first", "n_second"),
    )


def _maps(part: pl.DataFrame) -> list[Figure]:
    """Draw a map of tests by layers for each measure and way of reading."""
    readings = split(part, "measure", *READING)
    only_first = truncation_note(MOST_MAPS, len(readings), "ways of reading")
    figures = []
    for reading, effects in readings[:MOST_MAPS]:
        order = layers(effects)
        tests = list(effects["stereotype"].unique(maintain_order=True))
        numbered = len(order) <= MOST_NUMBERED
        rows = [_cell(row, numbered) for row in effects.iter_rows(named=True)]
        grid = Grid(
            legend="Effect",
            edges=EDGES,
            across=("Layer", order),
            down=("", tests),
            width=52 if numbered else 25,
            height=22,
            tips=(("Test", "down"), ("Layer", "across"), ("Effect", "shown"),
                  ("Interval", "interval"), ("p", "p"), ("p (Holm)", "p_holm"),
                  ("Expected", "words")),
        )  # fmt: skip
        title = ", ".join(filter(None, (effects["about"][0], reading)))
        caption = (
            f"Effects of {len(tests)} association tests by layer: {title}. Range −2 to 2, neutral "
            "0 (middle class); orange: expected direction, blue: opposite direction. *: "
            f"{_SIGNIFICANT}.{only_first}"
        )
        figures.append(Figure("", caption, _map_summary(effects), cells(rows, grid)))
    return figures


def _cell(row: Mapping[str, Any], numbered: bool) -> Row:
    """Give a cell of a map; without its number a dash still marks a missing effect."""
    effect = "–" if row["estimate"] is None else number(row["estimate"])
    text = effect if numbered or row["estimate"] is None else ""
    place = (row["layer"], row["stereotype"])
    return map_cell(row, EDGES, place, text, shown=effect, words=row["expected"])


def _map_summary(part: pl.DataFrame) -> str:
    """Say how many tests lean which way at the first and last layer, and the extremes."""
    effects = part.drop_nulls("estimate").sort("estimate")
    sentences = []
    # With one layer the first is the last.
    for layer in dict.fromkeys((layers(part)[0], layers(part)[-1])):
        layer_effects = effects.filter(layer=layer)
        above = layer_effects.filter(pl.col("estimate") > 0)
        significant = layer_effects.filter(pl.col("p_claim") < ALPHA)
        sentences.append(
            f"{layer_name(layer)}: {above.height} of {layer_effects.height} effects above 0, "
            f"{significant.height} with p (Holm) below .05"
        )
    for word, position in (("lowest", 0), ("highest", -1)):
        row = effects.row(position, named=True)
        where = f"{row['stereotype']}, {layer_name(row['layer'])}"
        sentences.append(f"{word} {number(row['estimate'])} ({where})")
    return f"{'; '.join(sentences)}."


def _tables(part: pl.DataFrame) -> list[tuple[str, ReportTable]]:
    """Set out the last layer, and for each test the layer with its largest effect."""
    last = last_layer(part)
    title = part["about"][0]
    where = f"the last layer, {last['layer'][0]}"
    summary = f"Table of effects: {title}, {where}" if last.height > MOST_OPEN else ""
    tables = [(summary, _table(last, f"{title}: effects at {where}."))]
    keys = ["stereotype", "measure", "first", *READING]
    size = pl.col("estimate").abs()
    by_size = part.drop_nulls("estimate").sort(size, descending=True, maintain_order=True)
    largest = by_size.unique(keys, keep="first", maintain_order=True)
    # In the order of the first table.
    largest = last.select(keys).join(largest, on=keys, nulls_equal=True, maintain_order="left")
    if len(layers(part)) > 1 and not largest.is_empty():
        caption = (
            f"{title}: each test at the layer where its effect is largest in size. Selecting a "
            "layer is not a test: p is not adjusted for the selection."
        )
        tables.append((f"Table of largest effects: {title}", _table(largest, caption, layer=True)))
    return tables


def _notes(part: pl.DataFrame) -> list[str]:
    """List the notes of effects that have one."""
    return [
        f"{row['about']}, {row['stereotype']}, {in_words('measure', row['measure'])}: {row['note']}"
        for row in part.filter(pl.col("note") != "").iter_rows(named=True)
    ]


def _exact_p(p: float | None, is_exact: bool | None) -> str:
    return p_value(p) + (" exact" if is_exact else "")


def _sizes(*sizes: int | None) -> str:
    """Write the sizes of the four sets; empty for a test that has fewer."""
    if None in sizes:
        return ""
    first, second, toward, against = map(count, sizes)
    return f"{first} + {second}, {toward} + {against}"


_TESTS = TableSpec(
    "{caption} Positive: the expected direction, which the second column states. p: one-sided; an "
    "exact p is over all partitions of the targets. Words: targets, attributes.",
    (
        head("stereotype", "Test"),
        TableColumn("Expected", "expected"),
        TableColumn("Method", "measure", lambda measure: in_words("measure", measure), "text"),
        *READING_COLUMNS,
        # Of tests at different layers.
        TableColumn("Layer", "layer_of_test", plain_text, "number", needs="layer_of_test"),
        TableColumn("Effect", "estimate", number),
        INTERVAL,
        TableColumn("p", "p exact", _exact_p),
        TableColumn("p (two-sided)", "p_two_sided", p_value),
        "p_holm",
        *PLACEBOS,
        TableColumn("Words", "n_first n_second n_toward n_against", _sizes),
    ),
)


def _table(frame: pl.DataFrame, caption: str, *, layer: bool = False) -> ReportTable:
    """Set out tests; with a column of layers where they differ."""
    rows = frame.with_columns(layer_of_test="layer" if layer else pl.lit(None, pl.String))
    return _TESTS.render(rows, interval=interval_title(frame), caption=caption)


def association_finding(part: pl.DataFrame) -> str:
    """Say how many tests lean the stereotypical way at the last layer, and how strongly."""
    texts = []
    for method, rows in split(part.filter(_COMPARABLE), "measure"):
        text = _lean_text(last_layer(first_reading(rows)))
        texts.append(f"{method}: {text}" if method else text)
    return " ".join(texts)


def _lean_text(last: pl.DataFrame) -> str:
    """Say how many effects of the last layer lean which way, and name the largest."""
    where = f"At the last layer ({last['layer'][0]})"
    effects = last.drop_nulls("estimate")
    if effects.is_empty():
        return f"{where} no effect could be measured; see the notes."
    # A claim is one-sided: an effect of the opposite sign is never significant.
    significant = effects.filter(pl.col("p_claim") < ALPHA).height
    opposite = effects.filter(pl.col("estimate") < 0).height
    largest = effects.sort(pl.col("estimate").abs(), descending=True).head(MOST_TESTS)
    texts = []
    for row in largest.iter_rows(named=True):
        name = row["stereotype"].replace("_", " ")
        texts.append(f"{name} {bracketed(row['estimate'], row['ci_low'], row['ci_high'])}")
    lead = "Effects" if effects.height <= MOST_TESTS else "Largest effects"
    return (
        f"{where}: {significant} of {effects.height} significant (p (Holm) below .05) in the "
        f"expected, stereotypical direction, {opposite} with the opposite sign. {lead} (−2 to 2, "
        f"neutral 0): {', '.join(texts)}."
    )
