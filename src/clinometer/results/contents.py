"""All that files hold, packed or not: what is searched before anything is handed on."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

import polars.selectors as cs

from clinometer.errors import InputError
from clinometer.packed import (
    ARCHIVES,
    LARGEST_ARCHIVE,
    PACKED,
    STEP,
    Meter,
    open_archive,
    open_packed,
)
from clinometer.results.parquet import read_pieces
from clinometer.secrets import holds_secret, keep_environment

#: Packed files within packed files that are opened: a bundle, a log in it, what the log holds.
DEEPEST = 3

#: Bytes of a piece of a member, and those that the next piece repeats.
PIECE, OVERLAP = 16 << 20, 64 << 10

#: Rows of a table that are in memory at a time.
_ROWS = 10_000


def packed_members(path: Path, name: str | None = None) -> Iterator[tuple[str, bytes]]:
    """Yield all that a file holds, packed or not: archives and logs in it are opened, too.

    Parameters
    ----------
    path
        Any file.
    name
        What it is called in the names that are yielded; by default its path.

    Yields
    ------
    tuple of str and bytes
        Name, such as ``run.zip/logs/a.eval/header.json``, and bytes. What is larger than `PIECE`
        comes in several pieces, each with the last `OVERLAP` bytes of the one before, so that
        nothing shorter is cut. A parquet table comes as JSON lines of what is no number.

    Raises
    ------
    InputError
        If a packed file is damaged or unpacks to more than is allowed, see `open_archive`, or
        packed files lie more than `DEEPEST` deep in each other.
    """
    name = name or str(path)
    yield from _members(path, name, Meter(name, path.stat().st_size, LARGEST_ARCHIVE), DEEPEST)


def refuse_secrets(files: Mapping[str, Path]) -> None:
    """Refuse to hand on files that hold a key or a password; see `secrets.holds_secret`.

    `files`: path of each file by the name that it is handed on by. Raises InputError, which names
    the file, or the member of a packed one.
    """
    keep_environment()
    for name, path in files.items():
        for member, data in packed_members(path, name):
            if holds_secret(data):
                raise InputError(
                    f"{member}: holds a key or password of this machine; nothing was written. "
                    "Remove what holds it, or measure again"
                )


def _members(path: Path, name: str, meter: Meter, depth: int) -> Iterator[tuple[str, bytes]]:
    """Yield what a file holds, by its ending; `meter` counts what is unpacked on all levels."""
    if path.suffix == ".parquet":
        for frame in read_pieces(path, _ROWS):
            yield name, frame.select(~cs.numeric()).write_ndjson().encode()
    elif path.suffix in ARCHIVES:
        with open_archive(path, name) as archive:
            for entry in archive.entries:
                data = _counted(archive.chunks(entry), meter)
                yield from _content(data, f"{name}/{entry.filename}", meter, depth - 1)
    else:
        with open_packed(path) as file:
            data = iter(lambda: file.read(STEP), b"")
            if path.suffix in PACKED:
                name = name.removesuffix(path.suffix)
                data = _counted(data, meter)
            yield from _content(data, name, meter, depth - 1)


def _content(
    data: Iterator[bytes], name: str, meter: Meter, depth: int
) -> Iterator[tuple[str, bytes]]:
    """Yield what a member holds, which may be packed itself."""
    suffix = PurePosixPath(name).suffix
    if suffix not in (*ARCHIVES, *PACKED, ".parquet"):
        yield from ((name, piece) for piece in _pieces(data))
        return
    if depth == 0:
        raise InputError(f"{name}: packed files lie more than {DEEPEST} deep in each other")
    with tempfile.TemporaryDirectory(prefix="clinometer-") as folder:
        copied = Path(folder) / f"member{suffix}"
        with copied.open("wb") as file:
            file.writelines(data)
        yield from _members(copied, name, meter, depth)


def _counted(data: Iterator[bytes], meter: Meter) -> Iterator[bytes]:
    for chunk in data:
        meter.add(len(chunk))
        yield chunk


def _pieces(data: Iterator[bytes]) -> Iterator[bytes]:
    """Join chunks to pieces that overlap; of an empty member there is one, empty."""
    piece = bytearray()
    for chunk in data:
        piece += chunk
        if len(piece) >= PIECE:
            yield bytes(piece)
            del piece[:-OVERLAP]
    yield bytes(piece)
