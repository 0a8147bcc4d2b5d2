"""Which results directories are shown, and whether a file of theirs has changed.

Addresses hold keys, not paths: a key is looked up among the directories that are there, so that no
request names a file.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from clinometer.errors import InputError
from clinometer.families import families
from clinometer.results.records import slug, text_hash

#: Files of which a results directory has at least one.
MARKS = (
    "plan.json",
    "estimates.parquet",
    *(family.record for family in families().values()),
    "report.html",
)

#: Inode, time of the last change in nanoseconds, and bytes of a file; None where there is none.
Stamp = tuple[int, int, int] | None


@dataclass(frozen=True)
class ListedRun:
    """A results directory, and the key that stands for it in addresses."""

    key: str
    path: Path

    @property
    def name(self) -> str:
        """Return the name of the directory."""
        return self.path.resolve().name

    def has(self, *names: str) -> bool:
        """Return whether the directory has all of some files."""
        return all((self.path / name).is_file() for name in names)


def find_runs(directory: Path) -> list[ListedRun]:
    """Find what is shown of a directory: itself, or the results directories right inside it.

    Raises InputError if it cannot be read.
    """
    if _is_results(directory):
        return [_run(directory)]
    try:
        inside = sorted(directory.iterdir())
    except OSError as error:
        raise InputError(f"{directory}: {error.strerror}") from None
    return [_run(path) for path in inside if _is_results(path)]


def _is_results(path: Path) -> bool:
    return any((path / name).is_file() for name in MARKS)


def _run(path: Path) -> ListedRun:
    name = path.resolve().name
    return ListedRun(f"{slug(name)[:60]}-{text_hash(name)[:8]}", path)


def stamps(*paths: Path) -> tuple[Stamp, ...]:
    """Return what changes when one of some files is written or replaced."""
    return tuple(map(_stamp, paths))


def _stamp(path: Path) -> Stamp:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns, status.st_size
