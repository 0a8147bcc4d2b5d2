"""Locks of a results directory: one process asks, and one writes tables and report, at a time.

The system releases a lock when its process ends, however it ends. Windows has no such locks: there
a second process, or a directory that is removed, is not noticed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from tiltmeter.errors import InputError, PlanError, TiltmeterError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

__all__ = ["LOCKS", "only_process", "writing"]

_ASKING, _WRITING = ".lock", ".writing"
#: The files that are locked.
LOCKS = (_ASKING, _WRITING)

#: Directories that this process writes: what it calls meanwhile does not wait for itself.
_written: set[Path] = set()


@contextmanager
def only_process(directory: Path) -> Iterator[None]:
    """Hold the right to ask in a directory.

    Raises PlanError if another process has it, InputError if the directory was removed meanwhile.
    """
    with _file(directory / _ASKING) as file:
        try:
            _lock(file, wait=False)
        except BlockingIOError:
            raise PlanError(
                f"{directory}: another process is running this plan; wait until it has ended, or "
                "name another directory"
            ) from None
        with _not_removed(directory, file):
            yield


@contextmanager
def writing(directory: Path) -> Iterator[None]:
    """Hold the right to write tables and report, if the directory exists; waits for it.

    Raises InputError if the directory was removed meanwhile.
    """
    place = directory.absolute()
    if place in _written or not directory.is_dir():
        yield
        return
    with _file(directory / _WRITING) as file:
        _lock(file, wait=True)
        _written.add(place)
        try:
            with _not_removed(directory, file):
                yield
        finally:
            _written.discard(place)


@contextmanager
def _file(path: Path) -> Iterator[IO[str]]:
    """Open the file of a lock, which stays."""
    try:
        file = path.open("w")
    except OSError as error:
        raise InputError(f"{path.parent}: cannot be written ({error.strerror})") from None
    with file:
        yield file


def _lock(file: IO[str], *, wait: bool) -> None:
    """Lock a file; raises BlockingIOError if another process has locked it and `wait` is False."""
    if fcntl is None:
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        raise
    except OSError:  # a file system without locks
        return


@contextmanager
def _not_removed(directory: Path, file: IO[str]) -> Iterator[None]:
    """Name the directory in the error if it was removed, with the file of its lock."""
    try:
        yield
    except (TiltmeterError, OSError):
        _refuse_removed(directory, file)
        raise
    _refuse_removed(directory, file)


def _refuse_removed(directory: Path, file: IO[str]) -> None:
    if fcntl is None:
        return
    with suppress(FileNotFoundError):
        if os.path.samestat(os.stat(directory / Path(file.name).name), os.fstat(file.fileno())):
            return
    raise InputError(
        f"{directory}: removed while it was written; remove what is left, and start again"
    ) from None
