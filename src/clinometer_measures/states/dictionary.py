"""A dictionary of stereotype dimensions: words at the high and the low pole of each.

Reference: Nicolas, Bai & Fiske 2021, European J. Social Psychology 51(1), 178–196, whose seed words
Schuster et al. 2024 give senses of WordNet; broad dimensions as there: warmth = sociability +
morality, competence = ability + agency.

Neither dictionary may be shipped; `read_dictionary` reads the released file. Without a file the
poles are those of ``dictionary.csv``: 192 words that were chosen for Clinometer from how the same
theory describes the seven dimensions, 10 to 16 a pole, without senses. They are fewer and were not
rated by anyone: a stand-in for a first look, whose differences are smaller than on the seed words.

A file is a table (.csv or .parquet)::

    dimension, term, direction (high or low), synset, definition, examples

of which the first three are needed; the released name `dir` also serves. `examples` is a list, or
its text as Python writes it, or phrases with " | " between. Terms are told apart by their senses: a
term without one has the key "warm", with one "warm|warm.a.01".
"""

from __future__ import annotations

import ast
import csv
import itertools
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from importlib import resources
from pathlib import Path
from typing import Any

import polars as pl

from clinometer.errors import InputError, unknown
from clinometer.results.tables import need_columns, read_table

__all__ = ["BROAD", "SENSES", "Dictionary", "read_dictionary", "read_pole"]

#: Broad dimensions and the dimensions they are made of.
BROAD = {"Warmth": ("Sociability", "Morality"), "Competence": ("Ability", "Agency")}

#: How files write a direction.
_HIGH = ("high", "1", "1.0")
_LOW = ("low", "-1", "-1.0")
_DIRECTIONS = {**dict.fromkeys(_HIGH, "high"), **dict.fromkeys(_LOW, "low")}

#: One row per sense and dimension.
SENSES: dict[str, pl.DataType] = {
    **dict.fromkeys(("key", "term", "synset", "definition", "dimension"), pl.String()),
    "direction": pl.String(),  # high | low
    "examples": pl.List(pl.String()),
}


@dataclass(frozen=True, eq=False)
class Dictionary:
    """The poles of stereotype dimensions.

    Parameters
    ----------
    name
        As errors and records call it.
    senses
        Columns SENSES.
    broad
        Broad dimensions and those they are made of; none where the dictionary lacks one's parts.
        By default warmth and competence.
    """

    name: str
    senses: pl.DataFrame = field(repr=False)
    broad: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse poles without words, and words in both; find the broad dimensions."""
        if not self.dimensions:
            raise InputError(f"{self.name}: no rows; each dimension needs words high and low")
        if not self.broad:
            object.__setattr__(self, "broad", _broad_dimensions(self.dimensions))
        for part in itertools.chain.from_iterable(self.broad.values()):
            if part not in self.dimensions:
                raise InputError(f"{self.name}: {unknown('dimension', part, self.dimensions)}")
        for dimension in self.dimensions:
            self._check_poles(dimension)

    def _check_poles(self, dimension: str) -> None:
        """Refuse a dimension with an empty pole, or with a word that stands twice."""
        high = self.pole([dimension], "high")
        low = self.pole([dimension], "low")
        if not high or not low:
            raise InputError(
                f"{self.name}: dimension {dimension!r} has no {'low' if high else 'high'} words; "
                "both poles are needed"
            )
        if shared := sorted(set(high) & set(low)):
            raise InputError(
                f"{self.name}: {shared[0]!r} stands at both poles of {dimension!r}; keep one, or "
                "tell its senses apart by their synsets"
            )
        for key, count in Counter(high + low).items():
            if count > 1:
                raise InputError(f"{self.name}: {key!r} stands twice in {dimension!r}")

    @property
    def dimensions(self) -> tuple[str, ...]:
        """The dictionary's own dimensions, in its order."""
        return tuple(self.senses["dimension"].unique(maintain_order=True))

    @property
    def terms(self) -> dict[str, str]:
        """The key of each sense and its term."""
        return dict(self.senses.select("key", "term").iter_rows())

    def pole(self, dimensions: Iterable[str], direction: str) -> list[str]:
        """Give the keys of the words at one pole; one in two dimensions counts twice."""
        is_at_pole = pl.col("dimension").is_in([*dimensions]) & (pl.col("direction") == direction)
        return self.senses.filter(is_at_pole)["key"].to_list()


def read_dictionary(path: str | Path | None = None) -> Dictionary:
    """Read a dictionary of stereotype dimensions.

    Parameters
    ----------
    path
        A .csv or .parquet table; by default the words that come with Clinometer.

    Returns
    -------
    Dictionary

    Raises
    ------
    InputError
        If the file is missing or malformed (file, line and field are named), a pole is empty, or
        a word stands at both poles of a dimension.

    Examples
    --------
    >>> shipped = read_dictionary()
    >>> len(shipped.terms), shipped.dimensions[:2], shipped.broad["Warmth"]
    (192, ('Sociability', 'Morality'), ('Sociability', 'Morality'))
    """
    if path is None:
        with resources.as_file(
            resources.files("clinometer_measures.states") / "dictionary.csv"
        ) as shipped:
            return replace(read_dictionary(shipped), name="clinometer")
    path = Path(path)
    rows = [_read_sense(row, path, number) for number, row in enumerate(_read_rows(path))]
    return Dictionary(str(path), pl.DataFrame(rows, schema=SENSES, orient="row"))


def read_pole(row: Mapping[str, Any], path: Path, number: int) -> tuple[str, str, str]:
    """Read term, dimension and direction (high, low) of a table's row `number`, from 0 on.

    Raises InputError if one of them is missing or not allowed; the line is named.
    """
    for name in ("dimension", "term"):
        if row[name] is None or not str(row[name]).strip():
            raise InputError(f"{_line_of(path, number)}: {name} is empty; some text is needed")
    # Not `or ""`: a direction of 0 is no empty cell, and is refused by its name.
    text = "" if row["direction"] is None else str(row["direction"]).strip()
    direction = _DIRECTIONS.get(text.lower())
    if direction is None:
        raise InputError(
            f"{_line_of(path, number)}: direction {text!r}; allowed are high and low, or 1 and -1"
        )
    return str(row["term"]).strip(), str(row["dimension"]).strip(), direction


def _line_of(path: Path, number: int) -> str:
    """Say where row `number` (from 0) of a table stands: the line of a CSV file, else the row."""
    if path.suffix != ".csv":
        return f"{path}: row {number + 1}"
    # Cells may hold line breaks, and blank lines are no rows: so the file is read again.
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file)
        lines = (reader.line_num for record in reader if record)
        # The header comes before row 0.
        line = next(itertools.islice(lines, number + 1, None))
    return f"{path}:{line}"


def _broad_dimensions(dimensions: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """Make up the broad dimensions: by their own name if it is there, else of their parts."""
    broad: dict[str, tuple[str, ...]] = {}
    for name, parts in BROAD.items():
        if name in dimensions:
            broad[name] = (name,)
        else:
            broad[name] = tuple(part for part in parts if part in dimensions)
    return broad if all(broad.values()) else {}


def _read_rows(path: Path) -> Iterable[Mapping[str, Any]]:
    """Read the rows of a file; `dir` is called `direction`."""
    frame = read_table(path)
    if "direction" not in frame.columns and "dir" in frame.columns:
        frame = frame.rename({"dir": "direction"})
    need_columns(frame, ("dimension", "term", "direction"), str(path))
    return frame.iter_rows(named=True)


def _read_sense(row: Mapping[str, Any], path: Path, number: int) -> tuple[Any, ...]:
    """Make a row of SENSES from a row of a file."""
    term, dimension, direction = read_pole(row, path, number)
    if "|" in term:
        raise InputError(f"{_line_of(path, number)}: term {term!r}: '|' is not allowed")
    examples = _read_phrases(row.get("examples"))
    if examples is None:
        raise InputError(
            f"{_line_of(path, number)}: examples of {term!r}: expected a list of phrases, as "
            "['a warm welcome']"
        )
    synset = str(row.get("synset") or "").strip() or None
    definition = str(row.get("definition") or "").strip() or None
    key = f"{term}|{synset}" if synset else term
    return key, term, synset, definition, dimension, direction, examples


def _read_phrases(value: Any) -> list[str] | None:
    """Read a list of phrases; None where it is not a list. A literal is parsed, never run."""
    if isinstance(value, str) and value.lstrip().startswith("["):
        try:
            value = ast.literal_eval(value.strip())
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return None
    if value is None or isinstance(value, str):
        return [part.strip() for part in (value or "").split(" | ") if part.strip()]
    # Polars gives a list in a cell as a series.
    if isinstance(value, pl.Series):
        value = value.to_list()
    if not isinstance(value, list) or not all(isinstance(phrase, str) for phrase in value):
        return None
    return [phrase.strip() for phrase in value if phrase.strip()]
