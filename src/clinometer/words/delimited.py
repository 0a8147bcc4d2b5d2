"""Chunked reading of delimited text: commas or tabs, plain or gzip-compressed.

Every field is returned as text; the caller converts numbers and missing values. Errors name the
line of a malformed record.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

import polars as pl

from clinometer.errors import InputError
from clinometer.packed import open_packed
from clinometer.results import check, tables

__all__ = ["fields", "header", "records"]

#: Rows in memory at a time.
PIECE = 100_000
ENDINGS = (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", ".txt.gz")


def header(path: Path) -> list[str]:
    """Name the columns of a table: ``.csv``, ``.tsv``, ``.txt`` (also ``.gz``) or ``.parquet``.

    Raises InputError if the file is missing, empty, has another ending, or names a column twice.
    """
    if path.suffix == ".parquet":
        return next(tables.pieces(path, 1)).columns
    if not path.name.endswith(ENDINGS):
        allowed = ", ".join((*ENDINGS[:3], ".parquet"))
        raise InputError(f"{path}: ending {path.suffix!r}; allowed are {allowed}, also with .gz")
    for _, names in fields(path):  # the first record alone is read
        repeated = {name for name in names if names.count(name) > 1}
        if repeated:
            raise InputError(f"{path}:1: column {min(repeated)!r} stands twice")
        return names
    raise InputError(f"{path}: empty; expected a line with the names of the columns")


def records(path: Path, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
    """Read some columns of a table (see `header`) in chunks, all as text.

    Yields at least one frame, of at most 100,000 rows, with the columns in the given order. Raises
    InputError, naming the line, if a record is malformed.
    """
    schema = dict.fromkeys(columns, pl.String())
    if path.suffix == ".parquet":
        for frame in tables.pieces(path, PIECE):
            yield check(frame, schema, str(path)).fill_null("")
        return
    reader = fields(path)
    _, names = next(reader)
    piece: dict[str, list[str]] = {column: [] for column in columns}
    # The lists themselves, with the position of their field: looked up once and not per record.
    positions = [(values, names.index(column)) for column, values in piece.items()]
    for number, (_, record) in enumerate(reader, 1):
        for values, position in positions:
            values.append(record[position])
        if number % PIECE == 0:
            yield pl.DataFrame(piece, schema=schema)
            for values in piece.values():
                values.clear()
    yield pl.DataFrame(piece, schema=schema)


def fields(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield the records of a text table, the header first, each with its line number.

    Fields are separated by tabs if the first line has one, else by commas. In a table with tabs
    whose first line has no quotation marks, quotation marks are text.

    Raises InputError, naming the line, if the file is missing, not UTF-8 or broken, or a record has
    more or fewer fields than the first.
    """
    if not path.is_file():
        raise InputError(f"{path}: no such file")
    line = width = 0
    try:
        with (
            open_packed(path) as data,
            io.TextIOWrapper(data, encoding="utf-8-sig", newline="") as file,
        ):
            first = file.readline()
            tabs = "\t" in first
            reader = csv.reader(
                chain([first], file) if first else file,
                delimiter="\t" if tabs else ",",
                quoting=csv.QUOTE_NONE if tabs and '"' not in first else csv.QUOTE_MINIMAL,
                strict=True,
            )
            for record in reader:
                line = reader.line_num  # its last line, where a field has line breaks
                width = width or len(record)
                if len(record) == width:
                    yield line, record
                elif record:  # a blank line gives an empty record, and is skipped
                    fault = f"{len(record)} fields where line 1 has {width}"
                    raise InputError(f"{path}:{line}: {fault}")
    except csv.Error as error:
        raise InputError(f"{path}:{line + 1}: malformed: {error}") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 after line {line}: {error.reason}") from None
