"""Locks of a results directory: one process asks, and one writes tables and report, at a time.

The system releases a lock when its process ends, however it ends. Windows opens no directory, and
lets nobody read what is locked: there one process asks at a time, but a second one that writes
tables, or answers the same shard, is not noticed.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from functools import cache
from pathlib import Path

from filelock import lock_descriptor

from clinometer.errors import ClinometerError, InputError, PlanError

_log = logging.getLogger(__name__)

#: The file that is locked by the process that asks; the one that writes locks the directory itself.
LOCK = ".lock"

#: Whether a directory, or a file that is read meanwhile, can be locked.
_LOCKS_ANYTHING = os.name != "nt"

#: Copy of a place elsewhere → what holds the right to ask there.
CLAIMS: dict[Path, Callable[[], AbstractContextManager[None]]] = {}

#: Directories that this process writes: what it calls meanwhile does not wait for itself.
_locked_directories: set[Path] = set()


@contextmanager
def only_process(directory: Path) -> Iterator[None]:
    """Hold the right to ask in a directory.

    Raises PlanError if another process has it, here or at the address of which this is a copy, and
    InputError if the directory was removed meanwhile.
    """
    claim_at_address = CLAIMS.get(directory.absolute(), nullcontext)
    # The address first: what another machine holds is refused before this one locks its copy.
    with claim_at_address(), _open_lock(directory / LOCK, os.O_RDWR | os.O_CREAT) as lock:
        if not _hold(lock, wait=False):
            raise PlanError(
                f"{directory}: another process is running this plan; wait until it has ended, or "
                "name another directory"
            )
        with _watch_for_removal(directory / LOCK, lock, directory):
            yield


@contextmanager
def hold_if_free(path: Path) -> Iterator[bool]:
    """Hold a file, unless another process holds it; yields whether this one does.

    Raises InputError if the file cannot be opened.
    """
    with _open_lock(path, os.O_RDWR) as lock:
        yield not _LOCKS_ANYTHING or _hold(lock, wait=False)


@contextmanager
def writing(directory: Path) -> Iterator[None]:
    """Hold the right to write tables and report, if the directory exists; waits for it.

    Raises InputError if the directory was removed meanwhile.
    """
    place = directory.absolute()
    if not _LOCKS_ANYTHING or place in _locked_directories or not directory.is_dir():
        yield
        return
    with _open_lock(directory, os.O_RDONLY) as lock:
        _hold(lock, wait=True)
        _locked_directories.add(place)
        try:
            with _watch_for_removal(directory, lock, directory):
                yield
        finally:
            _locked_directories.discard(place)


@contextmanager
def _open_lock(path: Path, flags: int) -> Iterator[int]:
    """Open the file, or directory, that is locked."""
    try:
        lock = os.open(path, flags, 0o666)  # less the umask, as `open` does
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}; is the directory there?") from None
    try:
        yield lock
    finally:
        os.close(lock)


def _hold(lock: int, *, wait: bool) -> bool:
    """Lock; returns False if another process holds the lock and `wait` is False."""
    try:
        return lock_descriptor(lock, blocking=wait)
    except OSError:  # a file system without locks
        _say_no_locks()
        return True


@cache
def _say_no_locks() -> None:
    """Warn once that nothing is locked."""
    _log.warning("this file system has no locks: see that no other process uses the same directory")


@contextmanager
def _watch_for_removal(path: Path, lock: int, directory: Path) -> Iterator[None]:
    """Name the directory in the error if it was removed meanwhile, with the file at `path`."""
    try:
        yield
    except (ClinometerError, OSError):
        _refuse_removed(path, lock, directory)
        raise
    _refuse_removed(path, lock, directory)


def _refuse_removed(path: Path, lock: int, directory: Path) -> None:
    # Another directory may stand under the same name by now: the same file, not the same path.
    with suppress(FileNotFoundError):
        if os.path.samestat(os.stat(path), os.fstat(lock)):
            return
    if (now := _new_path(lock)) is not None:
        raise InputError(
            f"{directory}: renamed while it was written; its answers are in {now}: name it to "
            "continue, nothing is asked twice, and remove what is left under the old name"
        ) from None
    raise InputError(
        f"{directory}: removed while it was written; remove what is left, and start again"
    ) from None


def _new_path(lock: int) -> Path | None:
    """Return where a directory is whose lock, or itself, is open; None if it was removed."""
    if os.fstat(lock).st_nlink == 0:  # no name leads to it any more
        return None
    with suppress(OSError):  # only Linux tells
        now = Path(os.readlink(f"/proc/self/fd/{lock}"))
        return now.parent if now.name == LOCK else now
    return Path("the renamed directory")  # for the message: its name is not known
