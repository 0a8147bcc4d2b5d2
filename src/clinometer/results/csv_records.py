"""The records of a table in text: commas or tabs, plain or packed, in the encodings people have.

UTF-8 is read, with or without its mark, and UTF-16 with its mark. Another encoding is named, with
what to do. A record with other fields than the header, or malformed, is set aside.
"""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from clinometer.errors import InputError
from clinometer.packed import open_packed
from clinometer.results.faults import Faults

#: Largest field, in characters.
_LARGEST_FIELD = 1 << 30

#: Bytes from which the encoding is read.
_HEAD = 1024

_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",  # begins with the mark of UTF-16, and stands before it
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}

_SAVE = "save the table as UTF-8 (in Excel: CSV UTF-8)"


def read_records(path: Path, *, tabs: bool = False) -> Iterator[tuple[int, list[str]]]:
    """Yield the records of a text table, the header first, each with the line it begins in.

    Blank lines and rows of empty fields are skipped. `tabs`: fields are separated by tabs if the
    first line has one; in such a table whose first line has no quotation marks, these are text.

    Raises InputError, naming the line, if the file is missing, broken or in another encoding, a
    quotation mark is not closed, or most records are set aside.
    """
    if not path.is_file():
        raise InputError(f"{path}: no such file")
    csv.field_size_limit(_LARGEST_FIELD)
    try:
        with open_packed(path) as head:
            encoding = _encoding(head.read(_HEAD), path)
        with (
            open_packed(path) as data,
            io.TextIOWrapper(data, encoding=encoding, newline="") as file,
        ):
            first = file.readline()
            lines = chain([first], file) if first else file
            reader = csv.reader(lines, **_dialect(first if tabs else ""))
            yield from _complete_records(reader, path)
    except UnicodeError as error:
        raise InputError(f"{path}: {_describe_encoding(error)}; {_SAVE}") from None


def _encoding(head: bytes, path: Path) -> str:
    """Return the encoding by its mark, UTF-8 without one; InputError for UTF-16 without one."""
    for mark, encoding in _MARKS.items():
        if head.startswith(mark):
            return encoding
    # Of texts in UTF-16 that are mostly Latin, every second byte is zero; no text has such bytes.
    if b"\0" in head:
        raise InputError(f"{path}: UTF-16 without a byte order mark, or no text; {_SAVE}")
    return "utf-8-sig"


def _describe_encoding(error: UnicodeError) -> str:
    """Say where a text is not in the expected encoding, and how Windows would read it."""
    if not isinstance(error, UnicodeDecodeError) or error.encoding != "utf-8":
        return f"broken UTF-16 or UTF-32: {error}"
    around = error.object[max(error.start - 10, 0) : error.start + 10]
    text = " ".join(around.decode("cp1252", "replace").split())
    return f"not UTF-8 at byte {error.start}; in Windows-1252 it reads {text!r} there"


def _dialect(first: str) -> dict[str, Any]:
    """Return how fields are separated and quoted, by the first line of a table with tabs."""
    if "\t" not in first:
        return {"strict": True}
    quoting = csv.QUOTE_MINIMAL if '"' in first else csv.QUOTE_NONE
    return {"strict": True, "delimiter": "\t", "quoting": quoting}


def _complete_records(reader: Any, path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield the header and the records that have its fields; set the others aside."""
    faults = Faults(str(path))
    first_line = width = n_records = 0
    for line, record in _numbered_records(reader, path):
        place = f"{path.name}:{line}"
        if isinstance(record, csv.Error):
            faults.add(place, f"malformed CSV: {record}")
            continue
        # A single empty field is a value; a blank line gives no field.
        if len(record) > 1 and not any(map(str.strip, record)):
            faults.empty.append(place)
        elif record and not width:
            first_line, width = line, len(record)
            yield line, record
        elif record and (len(record) == width or _is_padded(record, width)):
            n_records += 1
            yield line, record[:width]
        elif record:
            faults.add(place, f"{len(record)} fields where line {first_line} has {width}")
    faults.report(n_records)


def _is_padded(record: list[str], width: int) -> bool:
    """Whether all that a record has more than the header is empty: commas at the end of a line."""
    return len(record) > width and not any(map(str.strip, record[width:]))


def _numbered_records(reader: Any, path: Path) -> Iterator[tuple[int, list[str] | csv.Error]]:
    """Yield each record, or why it is malformed, with the line it begins in."""
    end = 0
    while True:
        try:
            for record in reader:
                yield end + 1, record
                end = reader.line_num
            return
        except csv.Error as error:  # after which the reader goes on with the next line
            if "end of data" in str(error):
                reason = "malformed CSV: a quotation mark that is not closed"
                raise InputError(f"{path}:{end + 1}: {reason}") from None
            yield end + 1, error
            end = reader.line_num
