"""Reading and writing tables: the file's ending sets the format; long tables are read in chunks.

Text stays text: "null", "nan" and "true" are words. Only columns of numbers are converted. A text
that a spreadsheet would run as a formula (it begins with =, +, -, @, a tab or a line feed, and is
no number) is written to CSV with an apostrophe before it, which is left out when it is read.
"""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path

import polars as pl

from clinometer.errors import InputError, shortened, unknown
from clinometer.results import check
from clinometer.results.csv_records import read_records
from clinometer.results.faults import PLACE, Faults, is_added
from clinometer.results.parquet import read_parquet, read_pieces, scan_parquet

#: Rows in memory at a time.
PIECE = 20_000
#: Endings of tables.
FORMATS = (".csv", ".parquet")
#: Ending of a packed CSV table, which is read and not written.
PACKED = ".csv.gz"
#: Beginning of the names of folders that tables are written in.
_TEMPORARY = ".clinometer-"
#: Seconds after which such a folder belongs to no process any more.
_ABANDONED_S = 3600.0
#: Beginning of a text that a spreadsheet would run, with the apostrophes that mark it as text.
FORMULA = r"^'*[=+\-@\t\r]"
#: A number, which a spreadsheet does not run though it may begin so.
NUMBER = r"^[+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?$"
INTEGERS = ("iteration", "input_tokens", "output_tokens", "reasoning_tokens")


def read_table(path: Path, *, placed: bool = False) -> pl.DataFrame:
    """Read a whole ``.csv`` or ``.parquet`` table; see `pieces`."""
    if path.suffix == ".parquet" and path.is_file():
        return read_parquet(path)
    return pl.concat(list(pieces(path, placed=placed)), how="vertical_relaxed")


def as_frame(table: object, name: str) -> pl.DataFrame:
    """Convert a polars or pandas frame, or the path of a ``.csv`` or ``.parquet`` table, to polars.

    Missing values of pandas become null. Raises InputError, with `name` for the table, for other
    types or if the file cannot be read.
    """
    if isinstance(table, pl.DataFrame | pl.LazyFrame):
        # polars' `format` panics on columns in other pieces than each other (joined frames).
        return table.lazy().collect().rechunk()
    if isinstance(table, str | Path):
        return read_table(Path(table))
    columns = getattr(table, "columns", None)
    if columns is None or not hasattr(table, "to_dict"):
        raise InputError(
            f"{name}: {type(table).__name__}; expected a polars or pandas frame, or the path of a "
            ".csv or .parquet table"
        )
    values: dict[str, list[object]] = table.to_dict(orient="list")
    nullable = {str(label): list(map(_null_if_nan, column)) for label, column in values.items()}
    return pl.DataFrame(nullable, strict=False)


def _null_if_nan(value: object) -> object:
    # Only nan and pandas' NaT differ from themselves.
    return None if value is None or value != value else value


def read_numbers(
    path: Path, columns: Sequence[str], frame: pl.DataFrame | None = None
) -> pl.DataFrame:
    """Read a table, some of whose columns are numbers; an empty field is null.

    `frame` is the table if it was already read. Rows with something else there are set aside.
    Raises InputError if a column is missing, or most rows are set aside.
    """
    if frame is None:
        return read_numbers(path, columns, read_table(path, placed=True)).drop(PLACE, strict=False)
    faults = Faults(str(path))
    for name in columns:
        if name not in frame.columns:
            raise InputError(f"{path}: {unknown('column', name, frame.columns)}")
        text = (
            check(frame, {name: pl.String()}, str(path))[name].str.strip_chars().replace("", None)
        )
        is_number = text.cast(pl.Float64, strict=False).is_finite().fill_null(False)
        wrong = text.is_not_null() & ~is_number
        frame = faults.refuse(frame, wrong, name, "expected a number or nothing")
        frame = frame.with_columns(text.filter(~wrong).cast(pl.Float64).alias(name))
    faults.report(frame.height)
    return frame


def need_columns(frame: pl.DataFrame, columns: Iterable[str], name: str) -> None:
    """Check that a table has some columns.

    Raises InputError, with `name` for the table, if one is missing.
    """
    missing = [column for column in columns if column not in frame.columns]
    if missing:
        has = shortened([name for name in frame.columns if not is_added(name)], 40)
        raise InputError(f"{name}: missing column {', '.join(missing)}; has {has}")


def join_tables(
    first: pl.DataFrame, second: pl.DataFrame, keys: Sequence[str], name: str
) -> pl.DataFrame:
    """Join the columns of a second table to a first.

    `keys` are columns of both; rows of `second` (`name` in errors) must be distinct in them. Raises
    InputError if a key is missing or repeated, or no row matches.
    """
    keys = [key.strip() for key in keys]
    for key in keys:
        for table, label in ((first, "the first table"), (second, name)):
            if key not in table.columns:
                raise InputError(f"{label}: {unknown('column', key, table.columns)}")
    # Keys are compared as texts: 1 in one table and "1" in the other agree.
    texts = dict.fromkeys(keys, pl.String())
    new = [column for column in second.columns if column not in first.columns]
    second = second.with_columns(check(second, texts, name)).select(*keys, *new)
    first = first.with_columns(check(first, texts, "the first table"))
    if second.select(keys).is_duplicated().any():
        raise InputError(f"{name}: several rows agree in {', '.join(keys)}; name more with --on")
    if first.join(second, on=keys, how="semi").is_empty():
        raise InputError(f"{name}: no row agrees with the first table in {', '.join(keys)}")
    return first.join(second, on=keys, how="left", maintain_order="left")


def pieces(path: Path, rows: int = PIECE, *, placed: bool = False) -> Iterator[pl.DataFrame]:
    """Yield a table in chunks of at most `rows` rows; an empty table gives one empty chunk.

    Malformed rows of a CSV table are set aside with a warning. `placed`: its column `PLACE` says
    where each row stands. Raises InputError if the file is missing, has another ending, or is
    malformed as a whole (file and line are named).
    """
    check_ending(path, (*FORMATS, PACKED))
    if not path.is_file():
        raise InputError(f"{path}: no such file")
    if path.suffix == ".parquet":
        yield from read_pieces(path, rows)
        return
    for frame in _csv_pieces(path, rows):
        yield frame if placed else frame.drop(PLACE)


def _csv_pieces(path: Path, rows: int) -> Iterator[pl.DataFrame]:
    """Yield a text table in chunks, which have a column `PLACE` more than the file."""
    records = read_records(path)
    _, header = next(records, (1, []))
    header = _column_names(header, path)
    faults = Faults(str(path))
    n_rows = 0
    while (batch := list(islice(records, rows))) or not n_rows:
        frame = _read_integers(_frame(batch, header, path), faults)
        n_rows += frame.height
        yield frame
        if not batch:  # a table without rows gives one empty chunk
            break
    faults.report(n_rows)


def _column_names(header: Sequence[str], path: Path) -> list[str]:
    """Return the names of columns; a column without one is named by its number.

    A header that is absent, separated by something else, or names a column twice is refused.
    """
    if not header:
        raise InputError(f"{path}:1: no header")
    separators = [character for character in ";\t|" if character in header[0]]
    if len(header) == 1 and separators:
        raise InputError(f"{path}:1: columns are separated by {separators[0]!r}; expected ','")
    names = [name or f"column {number}" for number, name in enumerate(header, 1)]
    repeated = {name for name in names if names.count(name) > 1}
    if repeated:
        raise InputError(f"{path}:1: column {', '.join(sorted(repeated))} stands twice")
    return names


def _frame(batch: list[tuple[int, list[str]]], header: list[str], path: Path) -> pl.DataFrame:
    """Return numbered records as a table of texts, with `PLACE` and without marks of formulas."""
    records = [record for _, record in batch]
    frame = pl.DataFrame(records, schema={name: pl.String for name in header}, orient="row")
    texts = pl.col(pl.String)
    # "'=1+1" was written for "=1+1"; "'tis" was no formula, and keeps its apostrophe.
    marked = texts.str.starts_with("'") & texts.str.contains(FORMULA)
    frame = frame.with_columns(pl.when(marked).then(texts.str.slice(1)).otherwise(texts))
    places = [f"{path.name}:{line}" for line, _ in batch]
    return frame.with_columns(pl.Series(PLACE, places, pl.String))


def _read_integers(frame: pl.DataFrame, faults: Faults) -> pl.DataFrame:
    """Convert the columns of whole numbers; rows with something else are set aside."""
    for name in set(INTEGERS) & set(frame.columns):
        text = frame[name].replace("", None)
        wrong = text.is_not_null() & text.cast(pl.Int64, strict=False).is_null()
        frame = faults.refuse(frame, wrong, name, "expected a whole number")
        frame = frame.with_columns(pl.col(name).replace("", None).cast(pl.Int64))
    return frame


def scan_table(path: Path, schema: Mapping[str, pl.DataType]) -> pl.LazyFrame:
    """Scan a table whose columns are known: lazy for parquet; a CSV table is read whole.

    An empty field of a column of numbers is null.
    """
    if path.suffix == ".parquet" and path.is_file():
        return scan_parquet(path, schema)
    frame = read_table(path)
    frame = frame.with_columns(pl.col(pl.String).replace("", None))
    # Python writes "True", polars "true"; whatever else is false.
    flags = [name for name, kind in schema.items() if kind == pl.Boolean and name in frame.columns]
    frame = frame.with_columns(pl.col(name).str.to_lowercase() == "true" for name in flags)
    return check(frame, schema, str(path)).lazy()


def write_table(frame: pl.DataFrame, path: Path) -> None:
    """Write a table atomically, in the format of the file's ending.

    Raises InputError if the ending is not known or the file cannot be written.
    """
    write_pieces([frame], path)


def write_pieces(frames: Iterable[pl.DataFrame], path: Path) -> None:
    """Write a table chunk by chunk, with one chunk in memory.

    Raises InputError if the ending is not known or the file cannot be written.
    """
    check_ending(path)
    with _convert_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        _remove_abandoned(path.parent)
        # Beside the target: a file is replaced at once only within one file system.
        folder = tempfile.TemporaryDirectory(prefix=_TEMPORARY, dir=path.parent)
    with folder as name:
        parts = []
        # `frames` is drawn outside of the `with`: what goes wrong there is no error of the file.
        for number, frame in enumerate(frames):
            parts.append(Path(name) / f"{number:06d}.parquet")
            with _convert_errors(path):
                frame.write_parquet(parts[-1])
        table = Path(name) / path.name
        with _convert_errors(path):
            if path.suffix == ".parquet":
                pl.scan_parquet(parts).sink_parquet(table)
            else:
                _as_csv(pl.scan_parquet(parts)).sink_csv(table)
            _check_end(table)
            table.replace(path)


@contextmanager
def _convert_errors(path: Path) -> Iterator[None]:
    """Convert errors of writing a file to InputError."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or error
        raise InputError(f"{path}: cannot be written ({reason}); nothing was replaced") from None
    except pl.exceptions.PolarsError:  # it reads back what it wrote, and finds it cut off
        raise InputError(f"{path}: cut off while it was written; is the disk full?") from None


def _check_end(path: Path) -> None:
    """Raise OSError where the end of a table is missing: on a full disk polars does not."""
    if path.suffix == ".parquet":
        pl.read_parquet_schema(path)
        return
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        if file.read(1) != b"\n":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _remove_abandoned(folder: Path) -> None:
    """Remove what processes left that were killed while they wrote, some time ago."""
    for path in folder.glob(f"{_TEMPORARY}*"):
        with suppress(OSError):
            if path.is_dir() and time.time() - path.stat().st_mtime > _ABANDONED_S:
                shutil.rmtree(path)


def check_ending(path: Path, allowed: tuple[str, ...] = FORMATS) -> None:
    """Raise InputError if the file's ending is none of those allowed."""
    if not path.name.endswith(allowed):
        raise InputError(f"{path}: ending {path.suffix!r}; allowed are {', '.join(allowed)}")


def _as_csv(frame: pl.LazyFrame) -> pl.LazyFrame:
    """Join lists, mark formulas, and write whole scores without a fraction."""
    schema = frame.collect_schema()
    lists = [name for name, kind in schema.items() if kind == pl.List(pl.String)]
    frame = frame.with_columns(pl.col(lists).list.join(" | "))
    texts = pl.col(pl.String)
    runs = texts.str.contains(FORMULA) & ~texts.str.contains(NUMBER)
    frame = frame.with_columns(pl.when(runs).then(texts.str.replace("^", "'")).otherwise(texts))
    if schema.get("score") != pl.Float64:
        return frame
    score = pl.col("score")
    integer = score.cast(pl.Int64, strict=False)
    text = pl.when(integer == score).then(integer.cast(pl.String)).otherwise(score.cast(pl.String))
    return frame.with_columns(score=text)
