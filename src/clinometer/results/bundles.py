"""The format of a bundle: one archive of a results directory, and how it is read.

Every file is listed in the manifest with its SHA-256, and the hash of the manifest is the seal; a
signature, of the seal, is listed nowhere. An archive may come from anybody. It is unpacked within
its own size, only under names that stay inside a folder, and compared with its manifest before
anything in it is read.
"""

from __future__ import annotations

import filecmp
import hashlib
import json
import shutil
import stat
import tempfile
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from clinometer.errors import ClinometerError, InputError
from clinometer.texts import by_address, keep_address

__all__ = [
    "ENDING",
    "EVIDENCE",
    "HELD",
    "MANIFEST",
    "PROMPTS",
    "SEAL",
    "SIGNATURE",
    "alterations",
    "file_hash",
    "is_bundle",
    "is_one_of",
    "seal_line",
    "unpack",
    "unpacked",
    "write_archive",
]

ENDING = ".zip"

MANIFEST, SEAL, SIGNATURE = "manifest.json", "SHA256", "SHA256.sig"
PROMPTS = "prompts.jsonl"

#: Files that the manifest cannot list: itself, and what is made of it.
_UNLISTED = {MANIFEST, SEAL, SIGNATURE}

#: What numbers are recomputed from, as patterns of paths in a results directory.
EVIDENCE = (
    *("plan.json", "policy.yaml", "studies/*.yaml", "answers/*/*.jsonl", "answers/*/model.json"),
    *("answers/*/*.count", "judge/*/*/*.jsonl", "judge/*/*/*.count", "judge/*.json"),
)

#: What is bundled.
HELD = (*EVIDENCE, "*.json", "*.parquet", "report.html", "card.html", "logs/*.eval")

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
            differences = alterations(place, unpack(place, folder))
            if differences:
                raise InputError(f"{place}: changed since it was bundled: {differences[0]}")
            yield folder
        except ClinometerError as error:
            raise type(error)(str(error).replace(str(folder), str(place))) from error


def unpack(path: Path, folder: Path) -> dict[str, Path]:
    """Unpack an archive that is not trusted; return its files by name."""
    files = {}
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
            # Nothing is compressed, so that entries fit in the archive unless they share bytes.
            if sum(entry.file_size for entry in entries) > path.stat().st_size:
                raise InputError(f"{path}: not a bundle: files in it overlap")
            for entry in entries:
                if entry.compress_type != zipfile.ZIP_STORED or not _is_plain(entry):
                    raise InputError(f"{path}: {entry.filename!r} is not as a bundle has it")
                place = folder / entry.filename
                place.parent.mkdir(parents=True, exist_ok=True)
                # "x": two entries of one name, in any spelling of the file system, are refused.
                with archive.open(entry) as source, place.open("xb") as target:
                    shutil.copyfileobj(source, target)
                files[entry.filename] = place
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except (zipfile.BadZipFile, ValueError, RuntimeError, EOFError, OSError) as error:
        raise InputError(f"{path}: not a bundle, or damaged: {error}") from None
    return files


def _is_plain(entry: zipfile.ZipInfo) -> bool:
    """Whether an entry is a file, and its name stays inside the folder it is unpacked to."""
    name = entry.filename
    path = PurePosixPath(name)
    return (
        not stat.S_ISLNK(entry.external_attr >> 16)  # the mode of a file on Unix
        and not path.is_absolute()
        and ".." not in path.parts
        and "\\" not in name
        and name[-1:] not in ("", "/")
    )


def alterations(archive: Path, files: Mapping[str, Path]) -> list[str]:
    """Say what of an archive, unpacked as `files`, is not as its manifest has it."""
    differences = [*_differences(files)]
    if not differences:
        with tempfile.TemporaryDirectory(prefix="clinometer-") as folder:
            rewritten = Path(folder) / archive.name
            write_archive(rewritten, files)
            if not filecmp.cmp(archive, rewritten, shallow=False):
                differences.append("the archive itself: bytes around the files were changed")
    return differences


def _differences(files: Mapping[str, Path]) -> Iterator[str]:
    """Yield what differs from the manifest, and what no bundle holds."""
    missing = [name for name in (MANIFEST, SEAL) if name not in files]
    if missing:
        yield f"{missing[0]}: missing"
        return
    if files[SEAL].read_bytes() != seal_line(files[MANIFEST]).encode():
        yield f"{MANIFEST}: not the one that {SEAL} names"
        return
    try:
        entries = json.loads(files[MANIFEST].read_bytes())["files"]
        hashes = {name: entry["sha256"] for name, entry in entries.items()}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        yield f"{MANIFEST}: malformed"
        return
    for name in sorted({*hashes, *files} - _UNLISTED):
        if name not in files:
            yield f"{name}: missing"
        elif name not in hashes:
            yield f"{name}: not in the manifest"
        elif file_hash(files[name]) != hashes[name]:
            yield f"{name}: changed"
        elif not is_one_of(name, (*HELD, PROMPTS)):
            yield f"{name}: no file of a bundle"


def is_one_of(name: str, patterns: Sequence[str]) -> bool:
    """Whether a file of a bundle has a name of some patterns, such as `HELD`."""
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
