"""Chunked reading of delimited text: commas or tabs, plain or gzip-compressed.

Every field is returned as text; the caller converts numbers and missing values.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import polars as pl

from clinometer.errors import InputError
from clinometer.results import check, tables
from clinometer.results.csv_records import read_records

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
    for _, names in read_records(path, tabs=True):  # the first record alone is read
        repeated = {name for name in names if names.count(name) > 1}
        if repeated:
            raise InputError(f"{path}:1: column {min(repeated)!r} stands twice")
        return names
    raise InputError(f"{path}: empty; expected a line with the names of the columns")


def records(path: Path, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
    """Read some columns of a table (see `header`) in chunks, all as text.

    Yields at least one frame, of at most 100,000 rows, with the columns in the given order. Errors
    are those of `results.csv_records.read_records`.
    """
    schema = dict.fromkeys(columns, pl.String())
    if path.suffix == ".parquet":
        for frame in tables.pieces(path, PIECE):
            yield check(frame, schema, str(path)).fill_null("")
        return
    reader = read_records(path, tabs=True)
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
