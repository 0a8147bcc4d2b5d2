"""Stereotype profiles: where groups of words, and single words, stand on each dimension.

Reference: Schuster et al. 2024, arXiv:2411.16527, figure 1; dimensions of Nicolas et al. 2021.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from clinometer.numbers import count, interval, number, p_value, signed
from clinometer.pieces.drawing.charts import Row
from clinometer.pieces.drawing.figures import Figure
from clinometer.pieces.drawing.intervals import STAR, around, profile_rows, shortened
from clinometer.pieces.prose import ALPHA, interval_title
from clinometer.pieces.sections import Section, name_figures
from clinometer.pieces.tables import ROW, ReportTable, TableColumn, TableSpec, head
from clinometer_measures.states.report.results import (
    PLACEBOS,
    READING,
    READING_COLUMNS,
    States,
    keep_summary_layer,
    layer_name,
    pair_label,
    split,
)
from clinometer_measures.states.tables import COLUMNS

__all__ = ["SCALE", "profile_section"]

SCALE = (
    "Unit: standard deviations of all compared words; neutral 0: their mean. Right: nearer to the "
    "high pole."
)

#: Ways of reading a model (contexts, components removed) that stand side by side.
MOST_READINGS = 4
#: Rows of a table on the page; the files have all.
MOST_ROWS = 150
#: A table of up to this many rows stands open.
MOST_OPEN = 12
#: Single words in a drawing; the table has all.
MOST_INDIVIDUALS = 8

_METHOD = (
    "The dictionary has terms for both poles of a dimension (warm and cold). The direction of a "
    "dimension runs from the mean state of the low terms to that of the high terms. The "
    "coordinates of each compared word on these directions are averaged over layers and "
    "standardised over all compared words. A value therefore says where a word stands among the "
    "others, not whether it is warm. Two groups of equal size lie symmetrically around 0."
)
_FINE = (
    "The same with the dictionary’s own dimensions, all at once. In the shipped dictionary and in "
    "that of Nicolas, Bai & Fiske the high pole of politics is conservative and that of religion "
    "religious; neither pole is better."
)
_TESTS = (
    f"{STAR}: a difference between groups with p (Holm) below .05, adjusted for all dimensions of "
    "the figure and all pairs of groups, both in the t test and beside its placebos. The t test "
    "treats words as independent draws. p (shuffled) is a permutation test that shuffles words "
    "between groups."
)
_PLACEBOS = (
    "Groups of words differ on most directions, also on those without meaning. Placebos are the "
    "same differences on directions whose high and low terms were shuffled; p (placebo) is the "
    "rank of a difference among them. A difference that its placebos reach as well says that the "
    "groups differ, not that they differ in this dimension."
)
_GREY = " Grey bar: the same interval of means on directions with shuffled terms (placebos)."
#: Space → the section's key, title and title in the contents, and its first paragraph.
_SPACES = {
    "broad": (
        "representation-profile",
        "Profile: warmth and competence",
        "Warmth and competence",
        _METHOD,
    ),
    "fine": ("representation-profile-fine", "Profile: finer dimensions", "Finer dimensions", _FINE),
}


def profile_section(states: States, space: str) -> Section | None:
    """Show where groups stand on the dimensions of a space.

    `space`: ``broad`` or ``fine``.
    None where no profile was measured in it.
    """
    parts = states.by_model("profiles", "words", where=pl.col("space") == space)
    if not parts:
        return None
    key, title, short, method = _SPACES[space]
    figures: list[Figure | None] = []
    tables: list[tuple[str, ReportTable]] = []
    for part in parts:
        keys = {"model": part["model"][0], "words": part["words"][0], "space": space}
        differences = keep_summary_layer(states.tables["differences"].filter(**keys))
        # Words of no group are those that stand for themselves.
        words = keep_summary_layer(states.tables["terms"].filter(pl.col("group").is_null(), **keys))
        figures.append(_figure(keep_summary_layer(part), differences, words))
        tables += _tables(differences, words, f"{keys['model']}, {keys['words']}")
    paragraphs = [method, _TESTS, _PLACEBOS]
    most = max(len(split(part, *READING)) for part in parts)
    if most > MOST_READINGS:
        paragraphs.append(
            f"Only the first {MOST_READINGS} of {most} ways of reading a model are drawn; "
            "estimates.parquet has all."
        )
    notes = ("Notes", _notes(states.tables["differences"].filter(space=space)))
    return Section(
        key, title, tuple(paragraphs), name_figures(key, figures), tuple(tables), notes, short=short
    )


def _notes(frame: pl.DataFrame) -> tuple[str, ...]:
    """List the notes of differences, each once: those of several readings may be alike."""
    rows_with_note = keep_summary_layer(frame).filter(pl.col("note") != "")
    notes = [
        f"{row['model']}, {row['dimension']}, {pair_label(row)}: {row['note']}"
        for row in rows_with_note.iter_rows(named=True)
    ]
    return tuple(dict.fromkeys(notes))


def _figure(part: pl.DataFrame, differences: pl.DataFrame, words: pl.DataFrame) -> Figure | None:
    """Draw a column per way of reading, in it the groups and the first few single words."""
    first = words["term"].unique(maintain_order=True)[:MOST_INDIVIDUALS]
    words = words.filter(pl.col("term").is_in(first.implode()))
    rows: list[Row] = []
    for panel, groups in split(part, *READING)[:MOST_READINGS]:
        reading = {key: groups[key][0] for key in READING}
        reading_differences = differences.filter(**reading)
        placebos = _placebo_means(reading_differences)
        rows += [_group_mark(row, panel, placebos) for row in groups.iter_rows(named=True)]
        rows += [_word_mark(row, panel) for row in words.filter(**reading).iter_rows(named=True)]
        rows += _stars(reading_differences, panel)
    if all(row["mean"] is None for row in rows):
        return None
    kinds = {row["kind"] for row in rows}
    caption = (
        f"Profile of {part['words'][0]}: {part['model'][0]}, {layer_name(part['layer'][0])}. "
        f"{SCALE} Dot: mean of a group; line: its {interval_title(part)}."
    )
    # Only the marks that are drawn are explained.
    if "individual" in kinds:
        caption += " Diamond: a single word; line: interval over its contexts."
    if "star" in kinds:
        caption += f" {STAR}: groups differ, p (Holm) below .05."
    if any(row.get("placebo_low") is not None for row in rows):
        caption += _GREY
    axis = around("← low · standard deviations · high →", rows, 0.5)
    return Figure("", caption, _summary(rows), profile_rows(rows, axis))


def _mark(row: Mapping[str, Any], kind: str, panel: str, lane: str, value: float | None) -> Row:
    """Give what every mark has: its place, its value and interval, and their texts."""
    has_interval = None not in (value, row["ci_low"], row["ci_high"])
    return {
        "kind": kind,
        "block": "",
        "panel": panel,
        "dimension": row["dimension"],
        "lane": lane,
        "mean": value,
        "low": row["ci_low"] if has_interval else None,
        "high": row["ci_high"] if has_interval else None,
        "shown": number(value),
        "interval": interval(row["ci_low"], row["ci_high"]) if has_interval else None,
    }


#: Dimension and group → the interval of its mean in the placebos.
Placebos = Mapping[tuple[str, str], tuple[float, float]]


def _placebo_means(differences: pl.DataFrame) -> Placebos:
    """Give means on shuffled directions, where two groups only are compared.

    Their means lie around 0 in proportion to the size of the other group.
    """
    ends: dict[tuple[str, str], tuple[float, float]] = {}
    if differences.select("first", "second").n_unique() != 1:
        return ends
    complete = differences.drop_nulls(["placebo_low", "placebo_high", "n_first", "n_second"])
    for row in complete.iter_rows(named=True):
        low, high = row["placebo_low"], row["placebo_high"]
        n = row["n_first"] + row["n_second"]
        # The larger group lies nearer to 0, the mean of all words.
        first_share = row["n_second"] / n
        second_share = row["n_first"] / n
        ends[row["dimension"], row["first"]] = (low * first_share, high * first_share)
        # The second group lies on the other side, so its ends change places.
        ends[row["dimension"], row["second"]] = (-high * second_share, -low * second_share)
    return ends


def _group_mark(row: Mapping[str, Any], panel: str, placebos: Placebos) -> Row:
    """Give the mark of a group's mean."""
    low, high = placebos.get((row["dimension"], row["group"]), (None, None))
    return {
        **_mark(row, "group", panel, f"group {row['group']}", row["estimate"]),
        "placebo_low": low,
        "placebo_high": high,
        "group": row["group"],
        "sd": None if row["sd"] is None else number(row["sd"]),
        "n": count(row["n"]),
    }


def _word_mark(row: Mapping[str, Any], panel: str) -> Row:
    """Give the mark of a single word."""
    mark = _mark(row, "individual", panel, f"word {row['term']}", row["coordinate"])
    return {
        **mark,
        "individual": row["term"],
        "label": shortened(row["term"]),
        # The label stands beside the interval; without one, beside the word itself.
        "end_low": mark["mean"] if mark["low"] is None else mark["low"],
        "end_high": mark["mean"] if mark["high"] is None else mark["high"],
        "contexts": count(row["n_contexts"]),
    }


def _stars(differences: pl.DataFrame, panel: str) -> list[Row]:
    """Give a star for each dimension on which any two groups differ."""
    significant = differences.filter(pl.col("p_claim") < ALPHA)
    stars: list[Row] = []
    for pairs in significant.partition_by("dimension", maintain_order=True):
        texts = [
            f"{pair_label(row)} {signed(row['estimate'])}, p (Holm) {p_value(row['p_claim'])}"
            for row in pairs.iter_rows(named=True)
        ]
        star: Row = {
            **dict.fromkeys(("mean", "low", "high")),
            **{"kind": "star", "block": "", "panel": panel, "lane": "", "label": STAR},
            "dimension": pairs["dimension"][0],
            "about": "; ".join(texts),
        }
        stars.append(star)
    return stars


def _summary(rows: Sequence[Row]) -> str:
    """Say where each group stands in the first column, and in all columns where groups differ."""
    values_by_dimension: dict[str, list[str]] = {}
    stars_by_panel: dict[str, list[str]] = {row["panel"]: [] for row in rows}
    for row in rows:
        if row["kind"] == "star":
            stars_by_panel[row["panel"]].append(row["dimension"])
        elif row["panel"] == rows[0]["panel"]:
            name = row.get("group") or row.get("individual")
            values = values_by_dimension.setdefault(row["dimension"], [])
            values.append(f"{name} {row['shown']}")
    parts = []
    for dimension, values in values_by_dimension.items():
        parts.append(f"{dimension}: {', '.join(values)}")
    for panel, dimensions in stars_by_panel.items():
        differ = f"groups differ ({STAR}) on {', '.join(dimensions)}"
        stars = differ if dimensions else "no significant difference between groups"
        parts.append(f"{panel}: {stars}" if panel else stars)
    return f"{'; '.join(parts)}."


def _tables(
    differences: pl.DataFrame, words: pl.DataFrame, title: str
) -> list[tuple[str, ReportTable]]:
    """Set out differences, and single words; `title`: of which model and set of words."""
    tables = []
    if not differences.is_empty():
        summary = f"Table of differences: {title}" if differences.height > MOST_OPEN else ""
        tables.append((summary, _render(_DIFFERENCES, differences, title)))
    if not words.is_empty():
        tables.append((f"Table of single words: {title}", _render(_WORDS, words, title)))
    return tables


def _rows_note(frame: pl.DataFrame) -> str:
    """Say how many rows are shown, where these are not all."""
    return f" The first {MOST_ROWS} of {frame.height} rows." if frame.height > MOST_ROWS else ""


_DIFFERENCES = TableSpec(
    "{title}, {layer}: differences of means in standard deviations of the compared words, neutral "
    "0, with their {interval} (Welch). t: Student’s, equal variances, as published. p (Holm), p "
    "(BH): adjusted for all dimensions and pairs. p (shuffled): words shuffled between groups. "
    "Placebos: differences on directions whose high and low terms were shuffled. d: "
    "Cohen’s.{rows_note}",
    (
        head("dimension"),
        TableColumn("Compared", ROW, pair_label, "head"),
        *READING_COLUMNS,
        TableColumn("Difference", "estimate", number),
        "interval",
        TableColumn("t", "statistic", number),
        TableColumn("df", "df", lambda value: "" if value is None else f"{value:g}"),
        "p",
        "p_holm",
        "p_bh",
        TableColumn("p (shuffled)", "p_permutation", p_value),
        *PLACEBOS,
        "effect_size",
        TableColumn(
            "Words", "n_first n_second", lambda first, second: f"{count(first)}, {count(second)}"
        ),
    ),
)


def _render(spec: TableSpec, frame: pl.DataFrame, title: str) -> ReportTable:
    """Set out differences of groups, or single words, at one layer."""
    return spec.render(
        frame,
        interval=interval_title(frame),
        most=MOST_ROWS,
        title=title,
        layer=layer_name(frame["layer"][0]),
        rows_note=_rows_note(frame),
    )


_WORDS = TableSpec(
    "{title}, {layer}: single words, in standard deviations of the compared words; neutral 0. The "
    "{interval} is over contexts; it needs at least two.{rows_note}",
    (
        head("term", "Word"),
        head("dimension"),
        *READING_COLUMNS,
        "coordinate",
        "interval",
        "n_contexts",
    ),
    COLUMNS,
)
