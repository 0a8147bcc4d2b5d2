"""The format of a bundle: one archive of a results directory, and how it is read.

Every file is listed in the manifest with its SHA-256, and the hash of the manifest is the seal; a
signature, of the seal, is listed nowhere. An archive may come from anybody. It is unpacked within
the limits of `packed`, only under names that stay inside a folder, and compared with its manifest
before anything in it is read.

Browsers unpack archives, and people, mail gateways and portals pack them again: deflated, in a
folder, with files of their system. Such an archive has the same files and the same seal. It is
read, and said to be packed again; so is the folder that an archive was unpacked to.
"""

from __future__ import annotations

import filecmp
import hashlib
import json
import shutil
import stat
import tempfile
import warnings
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

from clinometer.errors import ClinometerError, ClinometerWarning, InputError, shortened
from clinometer.packed import Archive, open_archive
from clinometer.results.locks import LOCK
from clinometer.texts import by_address, keep_address

ENDING = ".zip"

MANIFEST, SEAL, SIGNATURE = "manifest.json", "SHA256", "SHA256.sig"
PROMPTS = "prompts.jsonl"

#: Files that the manifest cannot list: itself, and what is made of it.
UNLISTED = {MANIFEST, SEAL, SIGNATURE}

#: What numbers are recomputed from, as patterns of paths in a results directory.
EVIDENCE = (
    "plan.json",
    "policy.yaml",
    "studies/*.yaml",
    "answers/*/*.jsonl",
    "answers/*/model.json",
    "answers/*/*.count",
    "judge/*/*/*.jsonl",
    "judge/*/*/*.count",
    "judge/*.json",
)

#: What is bundled. The page of the report is not: it holds nothing that the tables do not, and its
#: drawings differ by fonts and libraries, so that nobody could tell a forged one from another.
BUNDLE_PATTERNS = (*EVIDENCE, "*.json", "*.parquet", "card.html")

#: inspect's logs, which are bundled where that is asked for.
LOGS = "logs/*.eval"

#: Files that systems and readers leave in folders and archives, in lower case; also all in
#: ``__MACOSX``, and all that begin as `_MAC_PREFIX`.
_SYSTEM_FILES = frozenset((".ds_store", "thumbs.db", "ehthumbs.db", "desktop.ini", LOCK))
_MAC_FOLDER, _MAC_PREFIX = "__macosx", "._"

_PACKED_AGAIN = (
    "packed again: the files are those of the manifest; the archive that was published is another"
)

#: The date of every file in the archive: the first that zip knows.
_DATE = (1980, 1, 1, 0, 0, 0)


def is_bundle(path: Path) -> bool:
    """Return whether a path is that of a bundle, which ends in ``.zip``, and of no directory."""
    return path.suffix == ENDING and not path.is_dir()


@contextmanager
def unpacked(place: Path) -> Iterator[Path]:
    """Read a results directory, or a bundle of one.

    Parameters
    ----------
    place
        A results directory, or a bundle.

    Yields
    ------
    Path
        The directory itself or, of a bundle, a temporary one of the same name that lasts as long
        as the context. Errors name the bundle.

    Raises
    ------
    InputError
        If the bundle is missing or damaged, or differs from its manifest.
    """
    if not is_bundle(place):
        yield place
        return
    with tempfile.TemporaryDirectory(prefix="clinometer-") as parent:
        folder = Path(parent) / place.name
        keep_address(folder, by_address(str(place)))
        try:
            bundle = unpack(place, folder)
            differences = alterations(bundle.files)
            if differences:
                raise InputError(f"{place}: changed since it was bundled: {differences[0]}")
            if bundle.packing:
                warnings.warn(f"{place}: {bundle.packing}", ClinometerWarning, stacklevel=3)
            yield folder
        except ClinometerError as error:
            raise type(error)(str(error).replace(str(folder), str(place))) from error


@dataclass(frozen=True)
class UnpackedBundle:
    """The files of a bundle by name, and how they were packed."""

    files: dict[str, Path]
    packing: str
    """In what way it is not the archive that was published; empty if it is. True only where its
    files are those of the manifest."""


def unpack(place: Path, folder: Path) -> UnpackedBundle:
    """Unpack a bundle that is not trusted.

    Parameters
    ----------
    place
        An archive, or the folder that one was unpacked to.
    folder
        Where its files go: a folder that is not there.

    Returns
    -------
    UnpackedBundle
        Its files; nothing is compared with the manifest.

    Raises
    ------
    InputError
        If it is missing or no bundle, see also `open_archive`; if a name leads outside, or stands
        twice, or is that of a link.
    """
    if place.is_dir():
        files, system_files = _write_members(place, _folder_members(place), folder)
        packing = "unpacked: the files are those of the manifest; the archive itself is not here"
    else:
        with open_archive(place) as archive:
            files, system_files = _write_members(place, _archive_members(place, archive), folder)
        packing = "" if _is_first_archive(place, files) else _PACKED_AGAIN
    if not {MANIFEST, SEAL} & files.keys():
        raise InputError(
            f"{place}: not a bundle: it has no {MANIFEST}; clinometer bundle makes one of a "
            "results directory"
        )
    if system_files:
        packing += f"; not looked at: {shortened(system_files, 4)}"
    return UnpackedBundle(files, packing)


def _is_first_archive(place: Path, files: Mapping[str, Path]) -> bool:
    """Whether an archive has the bytes that `write_archive` gives its files."""
    with tempfile.TemporaryDirectory(prefix="clinometer-") as folder:
        rewritten = Path(folder) / place.name
        write_archive(rewritten, files)
        return filecmp.cmp(place, rewritten, shallow=False)


def _archive_members(place: Path, archive: Archive) -> Iterator[tuple[str, Iterable[bytes]]]:
    """Yield name and bytes of each file of an archive; folders are no files."""
    for entry in archive.entries:
        name = entry.filename.replace("\\", "/")  # as archivers of Windows once wrote it
        if stat.S_ISLNK(entry.external_attr >> 16):  # the mode of a file on Unix
            raise InputError(f"{place}: {entry.filename!r}: a link; no bundle has any")
        if not entry.is_dir() or entry.file_size:
            yield name, archive.chunks(entry)


def _folder_members(place: Path) -> Iterator[tuple[str, Iterable[bytes]]]:
    """Yield name and bytes of each file in a folder."""
    for path in sorted(place.rglob("*")):
        if path.is_symlink():
            raise InputError(f"{path}: a link; no bundle has any")
        if path.is_file():
            yield path.relative_to(place).as_posix(), _chunks(path)


def _chunks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while chunk := file.read(1 << 20):
            yield chunk


def _write_members(
    place: Path, members: Iterable[tuple[str, Iterable[bytes]]], folder: Path
) -> tuple[dict[str, Path], list[str]]:
    """Write the files of a bundle to a folder; return them by name, and files of the system."""
    bundled: dict[str, Iterable[bytes]] = {}
    system_files: dict[str, None] = {}  # a set that keeps its order
    for name, data in members:
        if not _is_inside(name):
            raise InputError(f"{place}: {name!r}: leads outside of the archive")
        if name in bundled:
            raise InputError(f"{place}: {name!r}: stands twice")
        if system_file := _system_file(name):
            system_files[system_file] = None
        else:
            bundled[name] = data
    top = _top_folder(bundled)
    files = {}
    try:
        for name, data in bundled.items():
            name = name.removeprefix(top)
            files[name] = folder / name
            files[name].parent.mkdir(parents=True, exist_ok=True)
            # "x": two entries of one name, in any spelling of the file system, are refused.
            with files[name].open("xb") as target:
                target.writelines(data)
    except OSError as error:
        raise InputError(f"{place}: {name!r}: {error.strerror or error}") from None
    return files, list(system_files)


def _is_inside(name: str) -> bool:
    """Whether a name stays inside the folder that it is unpacked to, on any system."""
    path = PurePosixPath(name)
    is_anchored = path.is_absolute() or PureWindowsPath(name).drive != ""
    return not is_anchored and ".." not in path.parts and name[-1:] not in ("", "/")


def _system_file(name: str) -> str:
    """Return the file or folder of a system that a name is or lies in; nothing for other files."""
    *folders, last = PurePosixPath(name).parts
    for depth, folder in enumerate(folders, 1):
        if folder.lower() == _MAC_FOLDER:
            return "/".join(folders[:depth]) + "/"
    is_system_file = last.lower() in _SYSTEM_FILES or last.startswith(_MAC_PREFIX)
    return name if is_system_file else ""


def _top_folder(names: Iterable[str]) -> str:
    """Return the folder that stands around the files of a bundle, with its slash; else nothing."""
    names = list(names)
    manifests = [name for name in names if PurePosixPath(name).name == MANIFEST]
    top = min(manifests, key=len, default="").removesuffix(MANIFEST)
    return top if all(name.startswith(top) for name in names) else ""


def read_manifest(files: Mapping[str, Path]) -> dict[str, Any]:
    """Return the manifest of a bundle that has no `alterations`."""
    manifest: dict[str, Any] = json.loads(files[MANIFEST].read_bytes())
    return manifest


def alterations(files: Mapping[str, Path]) -> list[str]:
    """Say which files of a bundle are not as its manifest has them."""
    missing = [name for name in (MANIFEST, SEAL) if name not in files]
    if missing:
        return [f"{missing[0]}: missing"]
    if files[SEAL].read_bytes() != seal_line(files[MANIFEST]).encode():
        return [f"{MANIFEST}: not the one that {SEAL} names"]
    try:
        entries = read_manifest(files)["files"]
        hashes = {name: entry["sha256"] for name, entry in entries.items()}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return [f"{MANIFEST}: malformed"]
    differences = []
    for name in sorted({*hashes, *files} - UNLISTED):
        if name not in files:
            differences.append(f"{name}: missing")
        elif name not in hashes:
            differences.append(f"{name}: not in the manifest")
        elif file_hash(files[name]) != hashes[name]:
            differences.append(f"{name}: changed")
    return differences


def is_one_of(name: str, patterns: Sequence[str]) -> bool:
    """Whether a file of a bundle has a name of some patterns, such as `BUNDLE_PATTERNS`."""
    path = PurePosixPath(name)
    depth = len(path.parts)
    # `match` compares from the right: "*.json" would fit a file of any folder.
    same_depth = [pattern for pattern in patterns if len(PurePosixPath(pattern).parts) == depth]
    return any(path.match(pattern) for pattern in same_depth)


def write_archive(target: Path, files: Mapping[str, Path]) -> None:
    """Write an archive whose bytes follow from the files alone."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as archive:
        for name, file in sorted(files.items()):
            entry = zipfile.ZipInfo(name, _DATE)
            entry.create_system = 3  # Unix, whatever wrote it
            entry.external_attr = 0o644 << 16
            entry.file_size = file.stat().st_size
            with file.open("rb") as source, archive.open(entry, "w") as member:
                shutil.copyfileobj(source, member)


def file_hash(path: Path) -> str:
    """Return the SHA-256 of a file, 64 hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def seal_line(manifest: Path) -> str:
    """Return the content of `SEAL`."""
    return f"{file_hash(manifest)}  {MANIFEST}\n"
