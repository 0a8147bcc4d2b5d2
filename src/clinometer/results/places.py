"""Directories and files elsewhere, such as ``s3://bucket/run``: any URL that fsspec reaches.

Commands and functions work on a copy on this machine, in the user's folder of caches: a journal is
appended to, locked and replaced whole, which an object store cannot do. What is newer there is
copied first; what was changed here is put back every minute, and at the end. A process that is
killed leaves its copy, and the next one on this machine goes on with it. Whoever asks says so there
(`CLAIM`), and a second machine is refused before it asks. A file that was changed here and there is
an error, and both stay as they are.

Reference
    fsspec, https://filesystem-spec.readthedocs.io: URLs, and the package that each kind needs.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import json
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from types import TracebackType
from typing import Any, NamedTuple, ParamSpec, TypeVar

import platformdirs

from clinometer.errors import InputError, PlanError
from clinometer.results.elsewhere import Elsewhere
from clinometer.results.locks import CLAIMS, LOCK, writing
from clinometer.texts import keep_address, write_text

__all__ = ["Place", "anywhere", "at", "is_elsewhere"]

P = ParamSpec("P")
R = TypeVar("R")

#: Seconds between two times that changes are put back.
EVERY_S = 60.0

#: The file there that says who is asking, written again with what is put back; after so many
#: seconds without that, its process is taken to have died.
CLAIM, STALE_S = ".claim", 5 * EVERY_S

#: An address; as a path it has lost a slash. Drives of Windows have one letter.
_URL = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]+):/{1,3}(.+)", re.DOTALL)

#: Names that stay on this machine.
_OWN = re.compile(rf"(?:{re.escape(LOCK)}|{re.escape(CLAIM)})$|\.clinometer-")


def is_elsewhere(place: object) -> bool:
    """Return whether a text or path is an address.

    Examples
    --------
    >>> is_elsewhere("s3://bucket/run"), is_elsewhere(Path("results/run"))
    (True, False)
    """
    return isinstance(place, str | Path) and _URL.fullmatch(str(place)) is not None


@contextmanager
def at(place: str | Path, *, folder: bool = True) -> Iterator[Path]:
    """Work on a directory, or a file, wherever it is.

    Parameters
    ----------
    place
        A path, or an address such as ``s3://bucket/run``, ``gs://…``, ``memory://run``.
    folder
        Whether a place that does not exist yet is a directory.

    Yields
    ------
    Path
        The path itself, or that of the copy; changes are put back at the end.

    Raises
    ------
    InputError
        If the place cannot be read or written, or a file was changed here and there.

    Examples
    --------
    >>> with at("s3://bucket/run") as directory:  # doctest: +SKIP
    ...     results = audit_recorded("answers.csv", directory)
    """
    if not is_elsewhere(place):
        yield Path(place)
        return
    with Place(str(place), folder=folder) as path:
        yield path


def anywhere(**arguments: bool) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Let arguments of a function be addresses; the value says whether they are directories."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        signature = inspect.signature(function)

        @functools.wraps(function)
        def on_copies(*args: P.args, **kwargs: P.kwargs) -> R:
            bound = signature.bind(*args, **kwargs)
            given = {name: bound.arguments[name] for name in arguments if name in bound.arguments}
            if not any(map(is_elsewhere, given.values())):
                return function(*args, **kwargs)
            with ExitStack() as opened:
                for name, value in given.items():
                    if is_elsewhere(value):
                        copied = at(value, folder=arguments[name])
                        bound.arguments[name] = opened.enter_context(copied)
                return function(*bound.args, **bound.kwargs)

        return on_copies

    return decorate


class Place:
    """A directory or file elsewhere, and its copy; entered, it gives the path of the copy."""

    def __init__(self, url: str, *, folder: bool = True) -> None:
        scheme, rest = _URL.fullmatch(url).groups()  # type: ignore[union-attr]
        self.url = f"{scheme}://{'/' if scheme == 'file' else ''}{rest.strip('/')}"
        self._files = Elsewhere(self.url)
        self.name = PurePosixPath(self._files.root).name
        parent = hashlib.sha256(self.url.removesuffix(self.name).encode()).hexdigest()[:16]
        caches = Path(platformdirs.user_cache_dir("clinometer")).resolve()
        self.copies = caches / "places" / parent
        self.path = self.copies / self.name
        self.folder = self._files.is_folder(default=folder)
        self._state = self.copies / f".{self.name}.json"
        self._ended, self._lock = threading.Event(), threading.Lock()
        self._claim: tuple[str, str] | None = None

    def __enter__(self) -> Path:
        """Copy what is newer there, and begin to put changes back."""
        if self._files.local is not None:
            return self._files.local
        self.copies.mkdir(parents=True, exist_ok=True)
        self.fetch()
        keep_address(self.path, self.url)
        CLAIMS[self.path.absolute()] = self.claimed
        threading.Thread(target=self._keep, daemon=True).start()
        return self.path

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Put changes back."""
        self._ended.set()
        if self._files.local is None:
            CLAIMS.pop(self.path.absolute(), None)
            self.put()

    @contextmanager
    def claimed(self) -> Iterator[None]:
        """Hold the right to ask at the address, for this machine: its processes have a lock.

        Raises PlanError if another machine has it.
        """
        claim = f"{self.name}/{CLAIM}"
        mine = socket.gethostname()
        if not self._files.create(claim, self._stated(mine)):
            held = self._files.text(claim)
            owner, _, since = held.partition(" since ")
            if owner != mine and time.time() - _seconds(since) < STALE_S:
                raise PlanError(
                    f"{self.url}: {owner} is running this plan; wait until it has ended, name "
                    f"another address, or remove {CLAIM} there if it has died"
                )
            self._files.replace(claim, self._stated(mine))
        self._claim = claim, mine
        try:
            yield
        finally:
            self._claim = None
            self._files.remove(claim)

    def _stated(self, owner: str) -> bytes:
        return f"{owner} since {datetime.now(UTC).isoformat(timespec='seconds')}".encode()

    def _keep(self) -> None:
        """Put changes back now and then; what fails is tried again, and at last at the end."""
        while not self._ended.wait(EVERY_S):
            with suppress(InputError):
                if (claim := self._claim) is not None:
                    self._files.replace(claim[0], self._stated(claim[1]))
                self.put(logs=False)

    def fetch(self) -> None:
        """Copy what is newer there, and remove what was removed there.

        Raises InputError if it cannot be read, or a file was changed here and there.
        """
        with self._lock, writing(self.copies):  # as another process may have the same copy
            known, there, here = self._known(), self._there(), self._here()
            changed = {
                name
                for name in {*known, *there}
                if known.get(name, _NEVER).there != there.get(name)
            }
            for name in sorted(changed):
                path = self.copies / name
                own = name in here and here[name] != known.get(name, _NEVER).here
                if own and not (name in there and self._files.same(name, path)):
                    self._refuse(name)
                if name in there:
                    self._files.get(name, path)
                    known[name] = _Both(there[name], _state(path))
                else:
                    path.unlink(missing_ok=True)
                    known.pop(name, None)
                self._note(known)

    def put(self, *, logs: bool = True) -> None:
        """Put back what was changed here, and remove there what was removed here.

        Without `logs`, which are written to at any time, those of inspect wait until the end.
        Raises InputError if it cannot be written, or a file was changed here and there.
        """
        with self._lock, writing(self.copies):
            known, here = self._known(), self._here()
            changed = [
                name
                for name in {*known, *here}
                if known.get(name, _NEVER).here != here.get(name)
                and (logs or PurePosixPath(name).suffix != ".eval")
            ]
            if not changed:
                return
            there = self._there()
            for name in sorted(changed, key=_order):
                if there.get(name) != known.get(name, _NEVER).there:
                    self._refuse(name)
                if name not in here:
                    self._files.remove(name)
                    known.pop(name)
                elif (mark := self._files.put(self.copies / name, name)) is not None:
                    known[name] = _Both(mark, here[name])
                self._note(known)

    def _refuse(self, name: str) -> None:
        raise InputError(
            f"{self.url}: {name} was changed there by another process, and here; nothing was "
            f"replaced: move the copy, {self.path}, away, and repeat the command"
        )

    def _there(self) -> dict[str, list[Any]]:
        return {name: mark for name, mark in self._files.found(self.folder) if not _own(name)}

    def _here(self) -> dict[str, list[Any]]:
        """Return size and time of each file of the copy."""
        stem = f"{PurePosixPath(self.name).stem}."
        chosen = (
            [self.path]
            if self.folder
            else [one for one in self.copies.iterdir() if one.name.startswith(stem)]
        )
        found = {}
        for path in (one for top in chosen for one in (top, *top.rglob("*"))):
            name = path.relative_to(self.copies).as_posix()
            with suppress(FileNotFoundError):
                if path.is_file() and not _own(name):
                    found[name] = _state(path)
        return found

    def _known(self) -> dict[str, _Both]:
        """Return the states of all files when they were last alike here and there."""
        try:
            noted = json.loads(self._state.read_text(encoding="utf-8"))
            return {name: _Both(*both) for name, both in noted.items()}
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, TypeError, AttributeError, RecursionError):
            raise InputError(f"{self._state}: not readable; remove it, and {self.path}") from None

    def _note(self, known: Mapping[str, _Both]) -> None:
        write_text(self._state, json.dumps(known))


class _Both(NamedTuple):
    """The state of a file there and here, when both were alike; None if there was none."""

    there: list[Any] | None = None
    here: list[Any] | None = None


_NEVER = _Both()


def _seconds(since: str) -> float:
    """Return a time as seconds; 0 if it is none."""
    with suppress(ValueError):
        return datetime.fromisoformat(since).timestamp()
    return 0.0


def _state(path: Path) -> list[Any]:
    """Return size and time of a file here."""
    stat = path.stat()
    return [stat.st_size, stat.st_mtime_ns]


def _own(name: str) -> bool:
    return any(map(_OWN.match, PurePosixPath(name).parts))


def _order(name: str) -> tuple[bool, bool, str]:
    """Put answers before the tables that follow from them, and the report last."""
    suffix = PurePosixPath(name).suffix
    return suffix == ".html", suffix == ".parquet", name
