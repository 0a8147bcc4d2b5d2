"""Stereotype profiles: where groups of words, and single words, stand on each dimension.

Reference: Schuster et al. 2024, arXiv:2411.16527, figure 1; dimensions of Nicolas et al. 2021.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from tiltmeter.report.drawing.charts import Row
from tiltmeter.report.drawing.figures import Figure
from tiltmeter.report.drawing.intervals import STAR, around, profile_rows, shortened
from tiltmeter.report.prose import interval, interval_title, number, numbered, p_value
from tiltmeter.report.sections import Section
from tiltmeter.report.states.results import (
    ALPHA,
    Representation,
    at_one_layer,
    layer_name,
    pairs,
    reading_columns,
    split,
)
from tiltmeter.report.tables import Column, Table, count, render_table

__all__ = ["SCALE", "profile_section"]

SCALE = (
    "In standard deviations of all compared words, neutral 0: their mean. Right: nearer to the "
    "high pole."
)

#: Ways of reading a model (contexts, components removed) that stand side by side.
MOST_READINGS = 4
#: Rows of a table on the page; the files have all.
MOST_ROWS = 150
#: A table of up to this many rows stands open.
MOST_OPEN = 12
#: Words on their own in a drawing; the table has all.
MOST_INDIVIDUALS = 8

_KEYS = {
    "broad": ("profile", "Profile: warmth and competence", "Warmth and competence"),
    "fine": ("profile-fine", "Profile: finer dimensions", "Finer dimensions"),
}
_METHOD = (
    "The dictionary has terms for both poles of a dimension (warm and cold). A dimension is the "
    "direction from the mean state of the low terms to that of the high ones. The state of each "
    "compared word is laid on these directions, averaged over layers, and standardised by all "
    "compared words, so that a number says where a word stands among the others, not whether it "
    "is warm. Two groups of equal size lie mirrored around 0."
)
_FINE = (
    "The same with the dictionary’s own dimensions, all at once. In the shipped dictionary and in "
    "that of Nicolas, Bai & Fiske the high pole of politics is conservative and that of religion "
    "religious; neither is better."
)
_TESTS = (
    f"{STAR}: a difference between groups with p (Holm) below .05, adjusted for all dimensions of "
    "the drawing and all pairs of groups. The t test takes words for independent draws; p "
    "(shuffled) asks instead how often an equal difference arises when words change groups."
)


def profile_section(inside: Representation, space: str) -> Section | None:
    """Show where groups stand on the dimensions of a space.

    `space`: ``broad`` or ``fine``.
    None where no profile was measured in it.
    """
    parts = [
        (model, words, part)
        for model, frame in inside.of_models("profiles")
        for words, part in _by_words(frame.filter(space=space))
    ]
    if not parts:
        return None
    key, title, short = _KEYS[space]
    figures, tables = [], []
    names = numbered(f"representation-{key}", len(parts))
    for (model, words, part), name in zip(parts, names, strict=True):
        mine = {"model": model, "words": words, "space": space}
        shown = split(at_one_layer(part), "contexts", "removed")
        differences = at_one_layer(inside.tables["differences"].filter(**mine))
        terms = at_one_layer(inside.tables["terms"].filter(**mine))
        drawn = _figure(shown, differences, terms, name)
        figures += [drawn] if drawn else []
        tables += _tables(differences, terms, f"{model}, {words}")
    text = (_METHOD if space == "broad" else _FINE, _TESTS, *_left_out(parts))
    return Section(
        key=f"representation-{key}",
        title=title,
        short=short,
        text=text,
        figures=tuple(figures),
        tables=tuple(tables),
        notes=_notes(inside, space),
    )


def _by_words(frame: pl.DataFrame) -> list[tuple[str, pl.DataFrame]]:
    return [(str(k), part) for (k,), part in frame.group_by("words", maintain_order=True)]


def _left_out(parts: list[tuple[str, str, pl.DataFrame]]) -> tuple[str, ...]:
    most = max(len(split(part, "contexts", "removed")) for *_, part in parts)
    if most <= MOST_READINGS:
        return ()
    return (
        f"Drawn are the first {MOST_READINGS} of {most} ways of reading a model; "
        "estimates.parquet has all.",
    )


def _figure(
    shown: list[tuple[str, pl.DataFrame]], differences: pl.DataFrame, terms: pl.DataFrame, name: str
) -> Figure | None:
    rows: list[Row] = []
    kept = shown[:MOST_READINGS]
    for panel, part in kept:
        reading = part.row(0, named=True)
        mine = {key: reading[key] for key in ("contexts", "removed")}
        own = _individuals(terms.filter(**mine))
        rows += [_group(row, panel) for row in part.iter_rows(named=True)]
        rows += [_individual(row, panel) for row in own.iter_rows(named=True)]
        rows += _stars(differences.filter(**mine), panel)
    if all(row["mean"] is None for row in rows):
        return None
    axis = around("← low · standard deviations · high →", [r for r in rows if "low" in r], 0.5)
    part = kept[0][1]
    about = part.row(0, named=True)
    several = any(row["kind"] == "individual" for row in rows)
    caption = (
        f"Profile of {about['words']}: {about['model']}, {layer_name(about['layer'])}. {SCALE} "
        f"Dot: mean of a group; line: its {interval_title(part)}."
        + (" Diamond: a word on its own, its interval over its contexts." if several else "")
        + (f" {STAR}: groups differ, p (Holm) below .05." if _starred(rows) else "")
    )
    drawing = profile_rows(rows, axis, [panel for panel, _ in kept])
    return Figure(name, caption, _summary(rows), drawing)


def _individuals(terms: pl.DataFrame) -> pl.DataFrame:
    """Keep words that stand for themselves, the first few."""
    own = terms.filter(pl.col("group").is_null())
    first = own["term"].unique(maintain_order=True)[:MOST_INDIVIDUALS]
    return own.filter(pl.col("term").is_in(first.implode()))


def _group(row: Mapping[str, Any], panel: str) -> Row:
    known = None not in (row["estimate"], row["ci_low"], row["ci_high"])
    return {
        "kind": "group",
        "block": "",
        "panel": panel,
        "dimension": row["dimension"],
        "lane": f"group {row['group']}",
        "group": row["group"],
        "mean": row["estimate"],
        "low": row["ci_low"] if known else None,
        "high": row["ci_high"] if known else None,
        "shown": number(row["estimate"]),
        "interval": interval(row["ci_low"], row["ci_high"]) if known else None,
        "sd": None if row["sd"] is None else number(row["sd"]),
        "n": count(row["n"]),
    }


def _individual(row: Mapping[str, Any], panel: str) -> Row:
    value, ends = row["coordinate"], (row["ci_low"], row["ci_high"])
    known = value is not None and None not in ends
    low, high = ends if known else (None, None)
    return {
        "kind": "individual",
        "block": "",
        "panel": panel,
        "dimension": row["dimension"],
        "lane": f"word {row['term']}",
        "individual": row["term"],
        "label": shortened(row["term"]),
        "mean": value,
        "low": low,
        "high": high,
        "end_low": low if known else value,
        "end_high": high if known else value,
        "shown": number(value),
        "interval": interval(low, high) if known else None,
        "contexts": count(row["n_contexts"]),
    }


def _stars(differences: pl.DataFrame, panel: str) -> list[Row]:
    """Give a star for each dimension on which any two groups differ."""
    sure = differences.filter(pl.col("p_holm") < ALPHA)
    return [
        {
            "kind": "star",
            "block": "",
            "panel": panel,
            "dimension": dimension,
            "lane": "",
            "label": STAR,
            "mean": None,
            "low": None,
            "high": None,
            "about": "; ".join(
                f"{pairs(row)} {number(row['estimate'], signed=True)}, p (Holm) "
                f"{p_value(row['p_holm'])}"
                for row in part.iter_rows(named=True)
            ),
        }
        for (dimension,), part in sure.group_by("dimension", maintain_order=True)
    ]


def _starred(rows: list[Row]) -> bool:
    return any(row["kind"] == "star" for row in rows)


def _summary(rows: list[Row]) -> str:
    """Say where each group stands in the first column, and in all columns where groups differ."""
    parts = []
    panels = list(dict.fromkeys(row["panel"] for row in rows))
    for panel in panels:
        mine = [row for row in rows if row["panel"] == panel]
        starred = list(dict.fromkeys(row["dimension"] for row in mine if row["kind"] == "star"))
        if panel == panels[0]:
            parts += [_stand(mine, dimension) for dimension in dict.fromkeys(
                row["dimension"] for row in mine)]  # fmt: skip
        stars = f"groups differ ({STAR}) on {', '.join(starred)}" if starred else "no star"
        parts.append(f"{panel}: {stars}" if panel else stars)
    return f"{'; '.join(parts)}."


def _stand(rows: list[Row], dimension: str) -> str:
    placed = [row for row in rows if row["dimension"] == dimension and row["kind"] != "star"]
    values = (f"{row.get('group') or row.get('individual')} {row['shown']}" for row in placed)
    return f"{dimension}: {', '.join(values)}"


def _tables(differences: pl.DataFrame, terms: pl.DataFrame, about: str) -> list[tuple[str, Table]]:
    """Set out differences, and the words that stand for themselves."""
    tables = []
    if not differences.is_empty():
        summary = f"Table of differences: {about}" if differences.height > MOST_OPEN else ""
        tables.append((summary, _difference_table(differences, about)))
    own = terms.filter(pl.col("group").is_null())
    if not own.is_empty():
        tables.append((f"Table of words on their own: {about}", _word_table(own, about)))
    return tables


def _notes(inside: Representation, space: str) -> tuple[str, tuple[str, ...]]:
    frame = inside.tables["differences"].filter(space=space)
    noted = at_one_layer(frame).drop_nulls("note").filter(pl.col("note") != "")
    notes = dict.fromkeys(
        f"{row['model']}, {row['dimension']}, {pairs(row)}: {row['note']}"
        for row in noted.iter_rows(named=True)
    )
    return "Notes", tuple(notes)


def _difference_table(frame: pl.DataFrame, about: str) -> Table:
    """Set out differences of groups, at one layer."""
    title = interval_title(frame)
    layer = layer_name(frame["layer"][0])
    return render_table(
        frame.head(MOST_ROWS),
        f"{about}, {layer}: differences of means in standard deviations of the compared words, "
        f"neutral 0, with their {title} (Welch). t: Student’s, equal variances, as published. p "
        "(Holm), p (BH): adjusted for all dimensions and pairs. p (shuffled): groups of words "
        "shuffled. d: Cohen’s."
        + (f" The first {MOST_ROWS} of {frame.height} rows." if frame.height > MOST_ROWS else ""),
        [
            Column("Dimension", lambda r: r["dimension"], "head"),
            Column("Compared", pairs, "head"),
            *reading_columns(frame),
            Column("Difference", lambda r: number(r["estimate"])),
            Column(title, lambda r: interval(r["ci_low"], r["ci_high"])),
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


def _word_table(frame: pl.DataFrame, about: str) -> Table:
    """Set out words that stand for themselves, at one layer."""
    title = interval_title(frame)
    return render_table(
        frame.head(MOST_ROWS),
        f"{about}, {layer_name(frame['layer'][0])}: words that stand for themselves, in standard "
        f"deviations of the compared words; neutral 0. Their {title} is over contexts; there is "
        "none with fewer than two."
        + (f" The first {MOST_ROWS} of {frame.height} rows." if frame.height > MOST_ROWS else ""),
        [
            Column("Word", lambda r: r["term"], "head"),
            Column("Dimension", lambda r: r["dimension"], "head"),
            *reading_columns(frame),
            Column("Value", lambda r: number(r["coordinate"])),
            Column(title, lambda r: interval(r["ci_low"], r["ci_high"])),
            Column("Contexts of the word", lambda r: count(r["n_contexts"])),
        ],
    )
