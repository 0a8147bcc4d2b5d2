"""Reading parquet tables, which may be damaged or hostile: whatever is wrong is an InputError.

polars reports most damage as an error, which may come only when values are read, and some as a
panic: an exception that is no `Exception`, printed to the standard error of the process. Here every
read runs within `reading`; a table that is scanned is read through when it is opened.
"""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import IO

import polars as pl
from polars.exceptions import PanicException

from clinometer.errors import InputError, one_line
from clinometer.results.columns import check

#: Rows that are in memory at a time while a table is read through.
PIECE = 32_768


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Convert errors and panics of polars when reading a file to InputError."""
    try:
        with _standard_error_filter:
            yield
    except PanicException:
        raise InputError(f"{path}: not a parquet table: damaged; restore the file") from None
    except (pl.exceptions.PolarsError, OSError) as error:
        raise InputError(f"{path}: not a parquet table: {one_line(error)}") from None


class _StandardErrorFilter:
    """Keeps what is printed to the process's standard error, and drops it after a panic.

    Threads that read at the same time share it. The last one passes on what was printed, or the
    first that fails: the others may still be reading when the error is shown.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._depth = 0
        self._real: int | None = None  # a copy of the standard error, while it is diverted
        self._diverted: IO[bytes] | None = None

    def __enter__(self) -> None:
        with self._lock:
            self._depth += 1
            if self._depth == 1:
                self._divert()

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        with self._lock:
            # After a failure the others are over too; their own ends must not count below 0.
            self._depth = 0 if kind is not None else max(0, self._depth - 1)
            if self._depth == 0:
                self._restore(drop=kind is not None and issubclass(kind, PanicException))

    def _divert(self) -> None:
        try:
            self._real = os.dup(2)
        except OSError:  # there is no standard error
            return
        # A file and no pipe, which would be full after some thousand characters.
        self._diverted = tempfile.TemporaryFile()  # noqa: SIM115 - closed when the last read ends
        os.dup2(self._diverted.fileno(), 2)

    def _restore(self, *, drop: bool) -> None:
        if self._real is None or self._diverted is None:
            return
        os.dup2(self._real, 2)
        os.close(self._real)
        with self._diverted as file:
            file.seek(0)
            if not drop and (printed := file.read()):
                os.write(2, printed)
        self._real = None
        self._diverted = None


_standard_error_filter = _StandardErrorFilter()


def read_parquet(path: Path) -> pl.DataFrame:
    """Read a whole table."""
    with reading(path):
        return pl.read_parquet(path)


def read_pieces(path: Path, rows: int) -> Iterator[pl.DataFrame]:
    """Yield a table in chunks of at most `rows` rows; an empty table gives one empty chunk."""
    with reading(path):
        scan = pl.scan_parquet(path)
        height = scan.select(pl.len()).collect().item()
    for offset in range(0, max(height, 1), rows):
        with reading(path):
            piece = scan.slice(offset, rows).collect()
        yield piece


def scan_parquet(path: Path, schema: Mapping[str, pl.DataType]) -> pl.LazyFrame:
    """Scan a table whose columns are known, and cast types that other programs write.

    Raises InputError if a column is missing or of another type, or values are damaged or do not
    fit: all are read here once, a part at a time, so that collecting the scan does not fail.
    """
    with reading(path):
        file = path.stat()
    state = (file.st_dev, file.st_ino, file.st_mtime_ns, file.st_size)
    return _check_and_scan(path, tuple(schema.items()), state)


@lru_cache(maxsize=64)
def _check_and_scan(
    path: Path, columns: tuple[tuple[str, pl.DataType], ...], _: tuple[int, ...]
) -> pl.LazyFrame:
    """Scan a file in one state of it, and read it through; the last argument is that state."""
    schema = dict(columns)
    with reading(path):
        scan = pl.scan_parquet(path)
        kinds = scan.collect_schema()
        check(kinds.to_frame().clear(), schema, str(path))
        for name, kind in schema.items():
            if name not in kinds:
                continue
            castable = kinds[name].is_numeric() or kinds[name] in (pl.Null, pl.Categorical, pl.Enum)
            if kinds[name] != kind and not castable:
                raise InputError(f"{path}: {name} holds {kinds[name]}; expected {kind}")
        scan = scan.with_columns(pl.lit(None).alias(name) for name in schema if name not in kinds)
        scan = scan.with_columns(pl.col(name).cast(kind) for name, kind in schema.items())
        height = scan.select(pl.len()).collect().item()
        for start in range(0, height, PIECE):
            scan.slice(start, PIECE).select(pl.all().null_count()).collect()
    return scan
