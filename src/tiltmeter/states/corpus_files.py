"""The texts of a corpus, one after another, from files of any size.

``.txt`` has a text on each line, ``.jsonl`` in a field of each line, both also packed as ``.gz``
or, with the package zstandard, ``.zst``; ``.csv`` and ``.parquet`` in a column. Bytes that are no
UTF-8 become U+FFFD. A longer line of a ``.txt`` file is read in pieces, cut between words.
"""

from __future__ import annotations

import contextlib
import gzip
import importlib
import io
import json
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TextIO

from tiltmeter.errors import InputError, unknown
from tiltmeter.results.tables import FORMATS, pieces

__all__ = ["texts"]

ENDINGS = (".txt", ".jsonl")
PACKED = (".gz", ".zst")

#: Columns and fields that hold the text where none is named.
COLUMNS = ("text", "body", "sentence", "content")

#: Characters of a line that are held at a time.
PIECE = 1 << 20
LONGEST_JSON = 1 << 26

#: Dumps of Reddit are packed with windows of 2 GiB.
WINDOW = 2**31


def texts(path: Path, column: str | None = None) -> Iterator[str]:
    """Yield the texts of a file.

    Parameters
    ----------
    path
        The ending tells what it is.
    column
        Of a table, or the field of JSON lines; by default the first of `COLUMNS` that is there.

    Raises
    ------
    InputError
        If the file is missing, of another kind, or malformed, or has no such column.
    """
    if path.suffix in FORMATS:
        yield from _of_table(path, column)
        return
    plain = path.with_suffix("") if path.suffix in PACKED else path
    if plain.suffix not in ENDINGS:
        allowed = ", ".join((*ENDINGS, *FORMATS))
        raise InputError(
            f"{path}: ending {path.suffix!r}; allowed are {allowed}, and .txt and .jsonl with "
            f"{' or '.join(PACKED)}"
        )
    with _open(path) as file:
        yield from _of_lines(file) if plain.suffix == ".txt" else _of_json(path, file, column)


@contextlib.contextmanager
def _open(path: Path) -> Iterator[TextIO]:
    """Open a file of text, packed or not; what breaks while it is read is one line, too."""
    try:
        if path.suffix == ".zst":
            with path.open("rb") as packed, _unpacked(path, packed) as raw:
                yield io.TextIOWrapper(raw, encoding="utf-8-sig", errors="replace", newline="\n")
        else:
            opener: Any = gzip.open if path.suffix == ".gz" else open
            with opener(path, "rt", encoding="utf-8-sig", errors="replace", newline="\n") as file:
                yield file
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise InputError(f"{path}: broken gzip file: {error}") from None
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from None


@contextlib.contextmanager
def _unpacked(path: Path, packed: Any) -> Iterator[Any]:
    try:
        zstandard: Any = importlib.import_module("zstandard")
    except ImportError:
        raise InputError(
            f"{path}: .zst needs the package zstandard; install it, or unpack the file"
        ) from None
    try:
        with zstandard.ZstdDecompressor(max_window_size=WINDOW).stream_reader(
            packed, read_across_frames=True
        ) as raw:
            yield raw
    except zstandard.ZstdError as error:
        raise InputError(f"{path}: broken zst file: {error}") from None


def _of_lines(file: TextIO) -> Iterator[str]:
    rest = ""
    while piece := file.readline(PIECE):
        piece = rest + piece
        rest = ""
        if not piece.endswith("\n") and len(piece) >= PIECE:
            before, space, after = piece.rpartition(" ")
            piece, rest = (before, after) if space and len(after) < PIECE else (piece, "")
        yield piece
    if rest:
        yield rest


def _of_json(path: Path, file: TextIO, column: str | None) -> Iterator[str]:
    number = 0
    while line := file.readline(LONGEST_JSON):
        number += 1
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            row = None
        if not isinstance(row, dict):
            raise InputError(f'{path}:{number}: not a line of JSON, such as {{"text": "…"}}')
        column = column or _column(row, f"{path}:{number}", "field")
        if column not in row:
            raise InputError(f"{path}:{number}: {unknown('field', column, row)}")
        if isinstance(text := row[column], str):  # a comment that was deleted is null
            yield from text.splitlines()


def _of_table(path: Path, column: str | None) -> Iterator[str]:
    for piece in pieces(path):
        column = column or _column(piece.columns, str(path), "column")
        if column not in piece.columns:
            raise InputError(f"{path}: {unknown('column', column, piece.columns)}")
        for text in piece[column]:
            if isinstance(text, str):
                yield from text.splitlines()


def _column(names: Iterable[str], where: str, kind: str) -> str:
    held = list(names)
    for name in COLUMNS:
        if name in held:
            return name
    raise InputError(f"{where}: no {kind} {' or '.join(COLUMNS)}; name one of {', '.join(held)}")
