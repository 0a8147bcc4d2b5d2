"""What a results directory holds about what stands inside models, read with suspicion.

Every text in it is untrusted: names and words are shown with their invisible characters visible
and cut to a length that a page can hold. A table that is absent leaves its section out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from tiltmeter.report.answers.results import read_table
from tiltmeter.report.plan import Plan, read_plan
from tiltmeter.report.prose import cut, shown_names, visible
from tiltmeter.report.tables import Column, Render
from tiltmeter.results.states import REPRESENTATION_TABLES

__all__ = ["ALPHA", "FACTS", "MEAN", "Representation", "at_one_layer", "first_reading",
           "layer_said", "layers", "pairs", "reading_columns", "read_representation", "said",
           "split"]  # fmt: skip

#: The file that says what was read, beside the tables.
FACTS = "representation.json"
#: The layer of rows over all layers.
MEAN = "mean"
#: Above this, p does not show anything.
ALPHA = 0.05

#: Characters shown of a word, and of a model's name in drawings and tables.
_LONGEST = 60
_UNNAMED = "unnamed"
#: Null there says something: a word of no group, what a model says and not one of its layers, a
#: test of one group.
_MAY_BE_NULL = ("group", "layer", "note", "second")
_CONTEXTS = {"none": "no contexts", "templates": "in templates"}
_MISSING = {
    "left_out": "missing left out",
    "zero": "missing as zero",
    "lowest": "missing as lowest",
    "highest": "missing as highest",
}


@dataclass(frozen=True)
class Representation:
    """The tables about representation, fit to be shown and as they were read.

    `directory`: where they stand.
    `facts`: ``representation.json``; empty where there is none.
    `names`: the models, in the order they were given.
    `tables`: name → rows, of every name in REPRESENTATION_TABLES, texts fit to be shown, models in
        order.
    `written`: the same as they were read, those with rows.
    """

    directory: Path
    facts: Plan
    names: tuple[str, ...]
    tables: Mapping[str, pl.DataFrame]
    written: Mapping[str, pl.DataFrame]

    def of_models(self, table: str) -> list[tuple[str, pl.DataFrame]]:
        """Give the rows of each model, in their order."""
        frame = self.tables[f"representation_{table}"]
        return [
            (name, part) for name in self.names if not (part := frame.filter(model=name)).is_empty()
        ]


def read_representation(directory: str | Path) -> Representation | None:
    """Read the tables about representation of a results directory.

    `directory`: may hold any of REPRESENTATION_TABLES as ``.parquet``, and ``representation.json``.
    Raises InputError if a table or ``representation.json`` is malformed.
    None where there is no such table.
    """
    path = Path(directory)
    if not any((path / f"{name}.parquet").is_file() for name in REPRESENTATION_TABLES):
        return None
    facts = read_plan(path / FACTS) if (path / FACTS).is_file() else Plan({}, {}, {}, {})
    read = {
        name: read_table(path / f"{name}.parquet", schema)
        for name, schema in REPRESENTATION_TABLES.items()
    }
    models = [one.text("name") for one in facts.parts("models")]
    models += [m for frame in read.values() for m in _texts(frame, "model")]
    told = shown_names(_plain_first([*models, *_words(read.values())]), _UNNAMED, _LONGEST)
    tables = {name: _shown(frame, told) for name, frame in read.items()}
    known = set().union(*(frame["model"] for frame in tables.values()))
    return Representation(
        directory=path,
        facts=facts,
        names=tuple(name for name in dict.fromkeys(told[m] for m in models) if name in known),
        tables=tables,
        written={name: frame for name, frame in read.items() if not frame.is_empty()},
    )


def split(frame: pl.DataFrame, *columns: str) -> list[tuple[str, pl.DataFrame]]:
    """Split rows by columns.

    `frame`: rows of one of the tables.
    `columns`: what sets the parts apart.
    Result: each part, and in words what sets it apart from the others; empty where there is one.
    """
    varied = [column for column in columns if frame[column].n_unique() > 1]
    return [
        (", ".join(said(c, v) for c, v in zip(columns, key, strict=True) if c in varied), part)
        for key, part in frame.group_by(columns, maintain_order=True)
    ]


def said(column: str, value: Any) -> str:
    """Say the value of a column in words."""
    if column == "removed":
        number = value or 0
        noun = "component" if number == 1 else "components"
        return f"{number} {noun} removed" if number else "nothing removed"
    if column == "contexts":
        return _CONTEXTS.get(value, f"{value} contexts")
    if column == "method":
        return str(value).upper()
    if column == "missing":
        return _MISSING.get(value, str(value))
    return "" if value is None else str(value)


def first_reading(frame: pl.DataFrame) -> pl.DataFrame:
    """Keep one way of reading a model: the first contexts, the fewest components removed."""
    least = frame.filter(pl.col("removed").fill_null(0) == pl.col("removed").fill_null(0).min())
    return least.filter(pl.col("contexts") == pl.col("contexts").first())


def layers(frame: pl.DataFrame) -> list[str]:
    """Give the layers, those that are numbers first and by size; the mean is none."""
    found = set(frame["layer"].drop_nulls()) - {MEAN}
    return sorted(found, key=lambda one: (not _is_number(one), len(one), one))


def at_one_layer(frame: pl.DataFrame) -> pl.DataFrame:
    """Keep the means over layers; where there are none, the last layer."""
    mean = frame.filter(layer=MEAN)
    if not mean.is_empty():
        return mean
    return frame.filter(layer=layers(frame)[-1]) if layers(frame) else frame.clear()


def layer_said(layer: str) -> str:
    """Say which layer rows are of."""
    return "mean over layers" if layer == MEAN else f"layer {layer}"


def pairs(row: Mapping[str, Any]) -> str:
    """Name the groups that are compared."""
    return " − ".join(filter(None, (row["first"], row["second"])))


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit()


def _texts(frame: pl.DataFrame, column: str) -> list[str]:
    return frame[column].fill_null("").unique(maintain_order=True).to_list()


def _words(frames: Iterable[pl.DataFrame]) -> Iterator[str]:
    """Give every text that rows are told apart by."""
    for frame in frames:
        for column, kind in frame.schema.items():
            if kind == pl.String and column not in ("model", "note"):
                yield from _texts(frame, column)


def _plain_first(texts: Iterable[str]) -> list[str]:
    """Sort texts that are shown as they stand to the front, so that none of them is renamed."""
    return sorted(texts, key=lambda text: " ".join(visible(text).split()) != text)


def _shown(frame: pl.DataFrame, told: Mapping[str, str]) -> pl.DataFrame:
    """Make texts fit to be shown; one that rows are grouped by is never null."""
    changed = []
    for column in (name for name, kind in frame.schema.items() if kind == pl.String):
        texts = frame[column]
        if column == "note":
            each = {text: cut(visible(text), 400) for text in texts.unique().drop_nulls()}
        else:
            texts = texts if column in _MAY_BE_NULL else texts.fill_null("")
            each = {text: told[text] for text in texts.unique().drop_nulls()}
        changed.append(texts.replace_strict(each, default=None, return_dtype=pl.String))
    return frame.with_columns(changed)


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
