"""Items of benchmarks: tables of questions that a study names, too long for a study file.

A part of a study names the file and its SHA-256, so the items count in the study's hash, and items
that were changed are refused. Files that may be passed on come with Clinometer; others are brought
into the folder of the study file or into `items_folder`. ``clinometer items`` lists them, and
brings released files and what is made of them.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from http.client import HTTPException
from importlib import resources
from io import BytesIO
from pathlib import Path
from typing import Annotated
from urllib.request import urlopen

import polars as pl
from pydantic import Field

from clinometer.errors import StudyError, one_line
from clinometer.packed import open_packed
from clinometer.stimuli.folders import shipped_folders
from clinometer.stimuli.words import Strict
from clinometer.texts import write_bytes

#: Environment variable that names the folder of items which do not come with Clinometer.
FOLDER = "CLINOMETER_ITEMS"

#: A larger file of items is refused before it is read.
MAX_BYTES = 100_000_000

#: Seconds that a download waits for the server.
TIMEOUT_S = 60.0


class BenchmarkItems(Strict):
    """A table of items: a CSV file, plain or gzipped, whose every value is text."""

    file: Annotated[str, Field(pattern=r"^[\w.-]+\.csv(\.gz)?$")]
    """Name of the file, without folders."""
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    licence: str = ""
    source: str = ""
    """Where the file can be had, if it does not come with Clinometer."""
    made_of: tuple[Annotated[str, Field(pattern=r"^https?://\S+/[\w.-]+$")], ...] = ()
    """Addresses of the released files that the table is made of, if it can be made."""


class ReleasedFile(Strict):
    """A file as its authors released it in a git repository, which users may bring."""

    address: Annotated[str, Field(pattern=r"^https?://\S+/[\w.-]+$")]
    git_blob: Annotated[str, Field(pattern=r"^[0-9a-f]{40}$")]
    """What git calls the content: a commit tells it of files that its reader does not have."""

    @property
    def file(self) -> str:
        """Name of the file, without folders."""
        return self.address.rpartition("/")[2]

    def check(self, content: bytes) -> bytes:
        """Return a content if it is the released one; raise StudyError if not."""
        header = f"blob {len(content)}\0".encode()
        digest = hashlib.sha1(header + content, usedforsecurity=False).hexdigest()
        if digest != self.git_blob:
            raise StudyError(
                f"items {self.file}: not the released file: git calls its content {digest}, that "
                f"of {self.address} {self.git_blob}"
            )
        return content


def items_folder() -> Path:
    """Return the folder of items that were brought: `CLINOMETER_ITEMS`, or one in the home."""
    return Path(os.environ.get(FOLDER) or Path.home() / ".cache" / "clinometer" / "items")


def find_items(items: BenchmarkItems | ReleasedFile, study: str = "") -> Path | None:
    """Find the file of items: beside the study file, in `items_folder`, or as shipped."""
    shipped = (Path(str(resources.files("clinometer.stimuli"))) / "items", *shipped_folders())
    # Of a shipped study it is no path but a name, and nothing lies beside it.
    is_path = Path(study).is_file() or Path(study).parent != Path()
    study_folders = [Path(study).parent] if is_path else []
    for folder in (*study_folders, items_folder(), *shipped):
        path = folder / items.file
        if path.is_file():
            return path
    return None


def read_items(items: BenchmarkItems, study: str = "", columns: Iterable[str] = ()) -> pl.DataFrame:
    """Read the items that a part of a study names.

    Parameters
    ----------
    items
        Name and hash of the file.
    study
        Path of the study file; a file beside it is found first.
    columns
        What the table must have.

    Returns
    -------
    DataFrame
        A row per item, every column text; an empty field is an empty text, never null.

    Raises
    ------
    StudyError
        If the file is missing, larger than 100 MB, not the one that is named, or not a table, or it
        lacks a column.
    """
    path = find_items(items, study)
    if path is None:
        address = f" It can be had from {items.source}." if items.source else ""
        advice = f"{address} Put it there"
        if items.made_of:
            # A shipped study has no path that a user could give, but its name.
            name = study if Path(study).is_file() else Path(study).stem
            advice = f" Bring it with: clinometer items {name}"
        raise StudyError(
            f"items {items.file}: no such file beside the study or in {items_folder()}.{advice}, "
            f"or name its folder in {FOLDER}"
        )
    # The time of change is part of the cache's key: a file that was put right is read again.
    table = _read_table(path, items.sha256, path.stat().st_mtime_ns)
    if missing := [name for name in columns if name not in table.columns]:
        raise StudyError(f"items {items.file}: missing column {', '.join(missing)}")
    return table


@lru_cache(maxsize=8)
def _read_table(path: Path, sha256: str, _: int) -> pl.DataFrame:
    content = _read_bytes(path)
    if (digest := hashlib.sha256(content).hexdigest()) != sha256:
        raise StudyError(f"items {path}: SHA-256 is {digest}, the study names {sha256}")
    try:
        with open_packed(path, error=StudyError) as file:
            # Decoded here: polars would unpack bytes that are packed once more.
            text = file.read().decode("utf-8-sig")
        return pl.read_csv(BytesIO(text.encode()), infer_schema=False).with_columns(
            pl.all().fill_null("")
        )
    except (UnicodeDecodeError, pl.exceptions.PolarsError) as error:
        raise StudyError(
            f"items {path}: not a table in CSV ({str(error).splitlines()[0]})"
        ) from None


def read_released(released: ReleasedFile, study: str = "") -> bytes | None:
    """Read a released file that was brought; None where it was not.

    Raises
    ------
    StudyError
        If the file is not the released one, or larger than 100 MB.
    """
    path = find_items(released, study)
    return None if path is None else released.check(_read_bytes(path))


def bring_released(released: ReleasedFile, folder: Path | None = None) -> Path | None:
    """Put a released file into `items_folder`, and return it.

    Parameters
    ----------
    released
        What a part of a study names.
    folder
        Where the file may be; None: it is downloaded.

    Returns
    -------
    Path or None
        The file that was written; None where it is not in the folder.

    Raises
    ------
    StudyError
        If the file cannot be had, or is not the released one.
    """
    if folder is None:
        content = _download(released.address)
    elif (folder / released.file).is_file():
        content = _read_bytes(folder / released.file)
    else:
        return None
    path = items_folder() / released.file
    write_bytes(path, released.check(content))
    return path


def bring_items(
    items: BenchmarkItems, make: Callable[[Mapping[str, bytes]], bytes], folder: Path | None = None
) -> Path:
    """Make the table of items of the released files, and put it into `items_folder`.

    Parameters
    ----------
    items
        What a part of a study names.
    make
        Name → content of the released files → the table, as CSV.
    folder
        Where the released files are; None: they are downloaded from `made_of`.

    Returns
    -------
    Path
        The file that was written.

    Raises
    ------
    StudyError
        If a file cannot be had, or the table is not the one that the study names.
    """
    files = {}
    for address in items.made_of:
        name = address.rpartition("/")[2]
        files[name] = _download(address) if folder is None else _read_bytes(folder / name)
    table = make(files)
    if (digest := hashlib.sha256(table).hexdigest()) != items.sha256:
        raise StudyError(
            f"items {items.file}: made of {', '.join(files)}, its SHA-256 is {digest}; the study "
            f"names {items.sha256}"
        )
    path = items_folder() / items.file
    write_bytes(path, table)
    return path


def _read_bytes(path: Path) -> bytes:
    if not path.is_file():
        raise StudyError(f"items {path}: no such file")
    if path.stat().st_size > MAX_BYTES:
        raise StudyError(f"items {path}: larger than {MAX_BYTES // 1_000_000} MB")
    return path.read_bytes()


def _download(address: str) -> bytes:
    try:
        with urlopen(address, timeout=TIMEOUT_S) as answer:
            # One byte more than is allowed tells a file that is too large from one that just fits.
            content: bytes = answer.read(MAX_BYTES + 1)
    except (OSError, ValueError, HTTPException) as error:
        raise StudyError(
            f"items {address}: {one_line(getattr(error, 'reason', error))}; or download it in "
            "another way, and name its folder with --from"
        ) from None
    if len(content) > MAX_BYTES:
        raise StudyError(f"items {address}: larger than {MAX_BYTES // 1_000_000} MB")
    return content
