"""Packed input, with a limit on what comes out of it: gzip, zstd, zip, and inspect's logs.

A few kilobytes may unpack to terabytes. Whatever opens a packed file of a user's opens it here. How
much may come out follows from the size of the file alone: nothing that the file states is believed.
Archives whose members share bytes, or say less than they hold, are refused.

Reference
    Fifield, D. (2019). A better zip bomb. WOOT '19: members that overlap.
"""

from __future__ import annotations

import copy
import gzip
import importlib
import io
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from clinometer.errors import ClinometerError, InputError

#: Bytes that may come out of any packed file, however small it is.
SMALL = 16 << 20

#: Above that: bytes that may come out for each byte that goes in. JSON lines that hold the same
#: answer again and again reach 260; gzip cannot exceed 1,032.
RATIO = 500

#: Bytes that may come out of a packed text, or of an archive, that is smaller.
LARGEST, LARGEST_ARCHIVE = 2 << 30, 16 << 30

#: The same of a text that is never in memory as a whole: a month of Reddit has 300 GB and more.
LARGEST_STREAM = 1 << 40

#: Bytes of a member that is read as a whole.
LARGEST_MEMBER = 64 << 20

#: Members of an archive, and bytes of the directory that names them, which is in memory.
MOST_MEMBERS = 250_000
LARGEST_DIRECTORY = 32 << 20

#: Bytes that are read at a time: zstd has no bound on what comes out of one step.
STEP = 4096

_ZSTD = 93
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, _ZSTD)

#: Bytes before the name of a member.
_HEADER = 30

#: Where the record at the end of an archive says how many members there are, and how long the list
#: of their names is. Both are checked: the reader goes by the second.
_COUNT, _SIZE = 4, 5

#: The bit of a member's flags that says that it is encrypted.
_ENCRYPTED = 1

#: Windows of dumps that are packed with ``zstd --long=31``.
_WINDOW = 2**31

#: Endings of archives, and of single packed files.
ARCHIVES, PACKED = (".zip", ".eval"), {".gz": "gzip", ".zst": "zst"}

#: What reading raises that is damaged or encrypted.
_DAMAGED = (
    zipfile.BadZipFile,
    gzip.BadGzipFile,
    zlib.error,
    EOFError,
    OSError,
    ValueError,
    RuntimeError,
    NotImplementedError,
)


class Meter:
    """Counts what comes out of a packed file, and raises an error above its limit."""

    def __init__(self, label: str, packed: int, largest: int) -> None:
        self.label = label
        self.packed = packed
        self.largest = largest
        self.total = 0

    @property
    def limit(self) -> int:
        """Return how many bytes may come out of those that went in."""
        # What is only stored does not grow, and may be of any size.
        return min(max(SMALL, RATIO * self.packed), max(self.largest, self.packed))

    def add(self, count: int, member: str = "") -> None:
        """Count some bytes; raises InputError if they are too many."""
        self.total += count
        if self.total > self.limit:
            where = f"{self.label}: {member}" if member else self.label
            raise InputError(
                f"{where}: {self.packed:,} bytes that unpack to more than the {self.limit:,} that "
                f"are allowed for them (at most {RATIO} times as many, or {SMALL:,}); if you trust "
                "the file, unpack it, and name what was in it"
            )


class _MeteredStream(io.RawIOBase):
    """Bytes as they are unpacked from a file, counted; whatever goes wrong is a ClinometerError."""

    def __init__(
        self, path: Path, file: IO[bytes], largest: int, error: type[ClinometerError]
    ) -> None:
        self._file = file
        self._unpacked, self._damage = _unpack(path, file)
        self._broken = f"{path}: broken {PACKED[path.suffix]} file"
        self._meter = Meter(str(path), 0, largest)
        self._error = error

    def readable(self) -> bool:
        """Return that it can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read some bytes."""
        try:
            data = self._unpacked.read(len(buffer))
            self._meter.packed = self._file.tell()  # what went in until now
            self._meter.add(len(data))
        except InputError as error:
            raise self._error(str(error)) from None
        except self._damage as error:
            raise self._error(f"{self._broken}: {error}") from None
        buffer[: len(data)] = data
        return len(data)


def _open(path: Path, label: str, error: type[ClinometerError]) -> IO[bytes]:
    """Open a file; `label` is what the error calls it."""
    try:
        return path.open("rb")
    except FileNotFoundError:
        raise error(f"{label}: no such file") from None
    except OSError as cause:
        raise error(f"{label}: {cause.strerror or cause}") from None


def _unpack(path: Path, file: IO[bytes]) -> tuple[Any, tuple[type[Exception], ...]]:
    """Return a stream that unpacks a file, and the errors that say that the file is damaged."""
    if path.suffix == ".gz":
        return gzip.GzipFile(fileobj=file), _DAMAGED
    try:
        zstandard = importlib.import_module("zstandard")
    except ImportError:
        raise InputError(
            f"{path}: .zst needs the package zstandard; install it, or unpack the file"
        ) from None
    unpacker = zstandard.ZstdDecompressor(max_window_size=_WINDOW)
    stream = unpacker.stream_reader(file, read_across_frames=True)
    return stream, (*_DAMAGED, zstandard.ZstdError)


@contextmanager
def open_packed(
    path: Path, *, largest: int = LARGEST, error: type[ClinometerError] = InputError
) -> Iterator[IO[bytes]]:
    """Open a file to read its bytes, unpacked where it ends in ``.gz`` or ``.zst``.

    Parameters
    ----------
    path
        The file.
    largest
        Bytes that may come out, at most, of a packed file that is smaller.
    error
        What is raised.

    Yields
    ------
    IO[bytes]
        The bytes; a stream that is unpacked cannot go back.

    Raises
    ------
    ClinometerError
        An `error`, also while it is read: if the file is missing, damaged, or unpacks to more than
        is allowed (`SMALL`, `RATIO`, `largest`).
    """
    with _open(path, str(path), error) as file:
        if path.suffix not in PACKED:
            yield file
            return
        yield io.BufferedReader(_MeteredStream(path, file, largest, error))


class Archive:
    """An archive whose members are opened within a limit; see `open_archive`."""

    def __init__(self, archive: zipfile.ZipFile, meter: Meter) -> None:
        self.entries = archive.infolist()
        self._archive = archive
        self._meter = meter

    @property
    def names(self) -> list[str]:
        """Return the names of the members, in their order; a name may stand twice."""
        return [entry.filename for entry in self.entries]

    def read(self, name: str, largest: int = LARGEST_MEMBER) -> bytes:
        """Return a member of at most `largest` bytes.

        Raises InputError if there is none of this name, it is larger, or damaged.
        """
        try:
            entry = self._archive.getinfo(name)
        except KeyError:
            raise InputError(f"{self._meter.label}: {name}: no such member") from None
        if entry.file_size > largest:
            raise InputError(f"{self._meter.label}: {name}: larger than {largest:,} bytes")
        return b"".join(self.chunks(entry))

    def chunks(self, entry: zipfile.ZipInfo) -> Iterator[bytes]:
        """Yield the bytes of a member; raises InputError if it is not of its size, or damaged."""
        label = f"{self._meter.label}: {entry.filename}"
        # A reader ends at the size that is stated. It is asked for a byte more, to see that there
        # is none: other programs would read on.
        longer = copy.copy(entry)
        longer.file_size += 1
        left = entry.file_size
        try:
            with self._archive.open(longer) as member:
                while chunk := member.read(STEP):
                    left -= len(chunk)
                    if left < 0:
                        raise InputError(f"{label}: holds more than the {entry.file_size:,} bytes "
                                         "that the archive states")  # fmt: skip
                    self._meter.add(len(chunk), entry.filename)
                    yield chunk
        except _DAMAGED as error:
            raise InputError(f"{label}: damaged: {error}") from None
        if left:
            raise InputError(f"{label}: holds {left:,} bytes less than the archive states")


@contextmanager
def open_archive(path: Path, label: str | None = None) -> Iterator[Archive]:
    """Open a zip archive, such as a bundle or a log of inspect's.

    Parameters
    ----------
    path
        The archive.
    label
        What errors call it; by default its path.

    Yields
    ------
    Archive
        Its members.

    Raises
    ------
    InputError
        If the file is missing or damaged; if it has more than `MOST_MEMBERS` members, members that
        overlap, are encrypted, or packed by other methods than deflate and zstd; if a member or all
        of them unpack to more than is allowed (`SMALL`, `RATIO`, `LARGEST_ARCHIVE`).
    """
    label = label or str(path)
    with _open(path, label, InputError) as file:
        meter = Meter(label, path.stat().st_size, LARGEST_ARCHIVE)
        with _open_zip(file, label) as archive:
            _check_entries(archive.infolist(), archive.start_dir, meter)
            yield Archive(archive, meter)


def _open_zip(file: IO[bytes], label: str) -> zipfile.ZipFile:
    try:
        # Looked up before the names are read: in memory they are ten times as large.
        end = zipfile._EndRecData(file) or bytes(10)  # type: ignore[attr-defined]
        if end[_COUNT] > MOST_MEMBERS or end[_SIZE] > LARGEST_DIRECTORY:
            raise InputError(f"{label}: too many members; allowed are {MOST_MEMBERS:,}")
        return zipfile.ZipFile(file)
    except _DAMAGED as error:
        raise InputError(f"{label}: not a zip archive, or damaged: {error}") from None


def _check_entries(entries: Sequence[zipfile.ZipInfo], names_start: int, meter: Meter) -> None:
    """Raise InputError if members are too many or too large, overlap, or cannot be read.

    `names_start` is where in the file the members end and their names begin.
    """
    label = meter.label
    if len(entries) > MOST_MEMBERS:
        raise InputError(f"{label}: {len(entries):,} members; allowed are {MOST_MEMBERS:,}")
    stated = Meter(label, meter.packed, LARGEST_ARCHIVE)
    end = names_start
    for entry in sorted(entries, key=lambda entry: entry.header_offset, reverse=True):
        if entry.flag_bits & _ENCRYPTED or entry.compress_type not in _METHODS:
            raise InputError(
                f"{label}: {entry.filename}: encrypted, or packed by a method that is not read; "
                "allowed are stored, deflate and zstd"
            )
        header = _HEADER + len(entry.filename.encode())
        if entry.header_offset + header + entry.compress_size > end:
            raise InputError(f"{label}: {entry.filename}: overlaps what follows it")
        end = entry.header_offset
        Meter(label, entry.compress_size, LARGEST_ARCHIVE).add(entry.file_size, entry.filename)
        stated.add(entry.file_size, entry.filename)
    if any(entry.compress_type == _ZSTD for entry in entries):
        importlib.import_module("inspect_ai.log")  # teaches zipfile the compression of its logs
