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
from itertools import chain
from pathlib import Path, PurePosixPath
from types import TracebackType
from typing import Any, NamedTuple, ParamSpec, TypeVar

import platformdirs

from clinometer.errors import InputError, PlanError
from clinometer.results.elsewhere import Elsewhere
from clinometer.results.locks import CLAIMS, LOCK, writing
from clinometer.results.records import COUNT
from clinometer.texts import keep_address, write_text

P = ParamSpec("P")
R = TypeVar("R")

#: Seconds between two times that changes are put back.
PUT_EVERY_S = 60.0

#: The file there that says who is asking, written again with what is put back.
CLAIM = ".claim"

#: Seconds without that, after which the process that asks is taken to have died.
STALE_S = 5 * PUT_EVERY_S

#: An address; as a path it has lost a slash. Drives of Windows have one letter.
_URL = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]+):/{1,3}(.+)", re.DOTALL)

#: Names that stay on this machine.
_LOCAL = re.compile(rf"(?:{re.escape(LOCK)}|{re.escape(CLAIM)})$|\.clinometer-")


def is_elsewhere(place: object) -> bool:
    """Return whether a text or path is an address.

    Examples
    --------
    >>> is_elsewhere("s3://bucket/run"), is_elsewhere(Path("results/run"))
    (True, False)
    """
    return isinstance(place, str | Path) and _URL.fullmatch(str(place)) is not None


@contextmanager
def open_place(place: str | Path, *, folder: bool = True) -> Iterator[Path]:
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
    >>> with open_place("s3://bucket/run") as directory:  # doctest: +SKIP
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
        """Wrap a function that works on paths."""
        signature = inspect.signature(function)

        @functools.wraps(function)
        def on_copies(*args: P.args, **kwargs: P.kwargs) -> R:
            """Call the function with the paths of copies in place of addresses."""
            bound = signature.bind(*args, **kwargs)
            addresses: dict[str, Any] = {}
            for name in arguments:
                value = bound.arguments.get(name)
                if is_elsewhere(value):
                    addresses[name] = value
            if not addresses:
                return function(*args, **kwargs)
            with ExitStack() as places:  # all are put back at the end, also after an error
                for name, address in addresses.items():
                    copy = open_place(address, folder=arguments[name])
                    bound.arguments[name] = places.enter_context(copy)
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
        self._ended = threading.Event()
        self._lock = threading.Lock()
        self._claim: tuple[str, str] | None = None  # the claim's file and its owner

    def __enter__(self) -> Path:
        """Copy what is newer there, and begin to put changes back."""
        if self._files.local is not None:
            return self._files.local
        self.copies.mkdir(parents=True, exist_ok=True)
        self.fetch()
        keep_address(self.path, self.url)
        CLAIMS[self.path.absolute()] = self.hold_claim
        threading.Thread(target=self._put_regularly, daemon=True).start()
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
    def hold_claim(self) -> Iterator[None]:
        """Hold the right to ask at the address, for this machine: its processes have a lock.

        Raises PlanError if another machine has it.
        """
        claim = f"{self.name}/{CLAIM}"
        this_machine = socket.gethostname()
        if not self._files.create(claim, _claim_text(this_machine)):
            owner, _, since = self._files.text(claim).partition(" since ")
            if owner != this_machine and time.time() - _seconds(since) < STALE_S:
                raise PlanError(
                    f"{self.url}: {owner} is running this plan; wait until it has ended, name "
                    f"another address, or remove {CLAIM} there if it has died"
                )
            self._files.replace(claim, _claim_text(this_machine))
        self._claim = claim, this_machine
        try:
            yield
        finally:
            self._claim = None
            self._files.remove(claim)

    def _put_regularly(self) -> None:
        """Put changes back now and then; what fails is tried again, and at last at the end."""
        while not self._ended.wait(PUT_EVERY_S):
            with suppress(InputError):
                if self._claim is not None:
                    claim, owner = self._claim
                    self._files.replace(claim, _claim_text(owner))
                self.put(logs=False)

    def fetch(self) -> None:
        """Copy what is newer there, and remove what was removed there.

        Raises InputError if it cannot be read, or a file was changed here and there.
        """
        with self._lock, writing(self.copies):  # as another process may have the same copy
            agreed = self._read_agreed()
            remote = self._remote_files()
            local = self._local_files()
            changed = [
                name
                for name in {*agreed, *remote}
                if agreed.get(name, _ABSENT).remote != remote.get(name)
            ]
            for name in sorted(changed):
                path = self.copies / name
                is_local_change = name in local and local[name] != agreed.get(name, _ABSENT).local
                # Changed alike here and there is no conflict, as after a put that was cut off.
                if is_local_change and not (name in remote and self._files.same(name, path)):
                    self._refuse(name)
                if name in remote:
                    self._files.get(name, path)
                    agreed[name] = _Agreed(remote[name], _state(path))
                else:
                    path.unlink(missing_ok=True)
                    agreed.pop(name, None)
                # After each file: a process that is killed has noted what it copied.
                self._write_agreed(agreed)

    def put(self, *, logs: bool = True) -> None:
        """Put back what was changed here, and remove there what was removed here.

        Without `logs`, which are written to at any time, those of inspect wait until the end.
        Raises InputError if it cannot be written, or a file was changed here and there.
        """
        with self._lock, writing(self.copies):
            agreed = self._read_agreed()
            # Before the files are copied: what is written meanwhile is put back the next time.
            local = self._local_files()
            changed = []
            for name in {*agreed, *local}:
                waits = PurePosixPath(name).suffix == ".eval" and not logs
                if agreed.get(name, _ABSENT).local != local.get(name) and not waits:
                    changed.append(name)
            if not changed:
                return
            remote = self._remote_files()
            for name in sorted(changed, key=_order):
                if remote.get(name) != agreed.get(name, _ABSENT).remote:
                    self._refuse(name)
                if name not in local:
                    self._files.remove(name)
                    agreed.pop(name)
                elif (mark := self._files.put(self.copies / name, name)) is not None:
                    agreed[name] = _Agreed(mark, local[name])
                self._write_agreed(agreed)

    def _refuse(self, name: str) -> None:
        raise InputError(
            f"{self.url}: {name} was changed there by another process, and here; nothing was "
            f"replaced: move the copy, {self.path}, away, and repeat the command"
        )

    def _remote_files(self) -> dict[str, list[Any]]:
        """Return the mark of each file at the address."""
        return {name: mark for name, mark in self._files.files(self.folder) if not _is_local(name)}

    def _local_files(self) -> dict[str, list[Any]]:
        """Return size and time of each file of the copy."""
        stem = f"{PurePosixPath(self.name).stem}."
        if self.folder:
            tops = [self.path]
        else:
            tops = [path for path in self.copies.iterdir() if path.name.startswith(stem)]
        paths = chain.from_iterable((top, *top.rglob("*")) for top in tops)
        states = {}
        for path in paths:
            name = path.relative_to(self.copies).as_posix()
            with suppress(FileNotFoundError):  # removed since it was listed
                if path.is_file() and not _is_local(name):
                    states[name] = _state(path)
        return states

    def _read_agreed(self) -> dict[str, _Agreed]:
        """Return the states of all files when they were last alike here and there."""
        try:
            states = json.loads(self._state.read_text(encoding="utf-8"))
            return {name: _Agreed(*pair) for name, pair in states.items()}
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, TypeError, AttributeError, RecursionError):
            raise InputError(f"{self._state}: not readable; remove it, and {self.path}") from None

    def _write_agreed(self, agreed: Mapping[str, _Agreed]) -> None:
        write_text(self._state, json.dumps(agreed))


class _Agreed(NamedTuple):
    """The state of a file there and here, when both were alike; None if there was none."""

    remote: list[Any] | None = None
    local: list[Any] | None = None


#: Of a file that never was alike here and there.
_ABSENT = _Agreed()


def _claim_text(owner: str) -> bytes:
    """Return the content of a claim."""
    return f"{owner} since {datetime.now(UTC).isoformat(timespec='seconds')}".encode()


def _seconds(since: str) -> float:
    """Return a time as seconds; 0 if it is none."""
    with suppress(ValueError):  # a claim that another program wrote, or is gone: stale
        return datetime.fromisoformat(since).timestamp()
    return 0.0


def _state(path: Path) -> list[Any]:
    """Return size and time of a file here."""
    stat = path.stat()
    return [stat.st_size, stat.st_mtime_ns]


def _is_local(name: str) -> bool:
    return any(map(_LOCAL.match, PurePosixPath(name).parts))


def _order(name: str) -> tuple[bool, bool, bool, str]:
    """Put answers before the tables that follow from them, and the report last.

    The count of lines goes before the lines, of which there may then be more, never fewer.
    """
    suffix = PurePosixPath(name).suffix
    return suffix == ".html", suffix == ".parquet", suffix != COUNT, name
