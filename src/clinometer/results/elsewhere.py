"""Files at an address that fsspec reaches: found, copied from there, put there, removed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import Any

from clinometer.errors import InputError, one_line

#: What tells two states of a file apart, where a file system has it.
_MARKS = ("ETag", "etag", "md5Hash", "mtime", "LastModified", "last_modified", "updated", "created")


class Elsewhere:
    """The files at an address, named from the directory that holds it."""

    def __init__(self, url: str) -> None:
        import fsspec

        self._url = url
        with self._convert_errors():
            self._fs, self.root = fsspec.core.url_to_fs(url)
        self._parent = self.root.rpartition("/")[0]
        # One name of a protocol or several, as each file system has it.
        protocol = self._fs.protocol
        protocols = {protocol} if isinstance(protocol, str) else protocol
        self.local = Path(self.root) if "file" in protocols else None

    @contextmanager
    def _convert_errors(self) -> Iterator[None]:
        """Convert errors, which each kind of file system has of its own, to InputError."""
        try:
            yield
        except Exception as error:
            message = one_line(error) or type(error).__name__
            message = message.removeprefix(f"{self._url}: ")  # some name the address themselves
            raise InputError(f"{self._url}: {message}") from None

    def is_folder(self, *, default: bool) -> bool:
        """Return whether this is a directory; `default` if there is nothing yet."""
        with self._convert_errors():
            self._fs.invalidate_cache()
            if self._fs.isdir(self.root):
                return True
            return default and not self._fs.isfile(self.root)

    def files(self, folder: bool) -> Iterator[tuple[str, list[Any]]]:
        """Yield each file with its mark: those of the directory, or that file and files beside it.

        Files beside it have its name up to the last dot.
        """
        with self._convert_errors():
            self._fs.invalidate_cache()
            if folder:
                facts_by_path = self._fs.find(self.root, detail=True).items()
            else:
                facts_by_path = self._file_and_companions()
            for path, facts in facts_by_path:
                name = path.removeprefix(self._parent).lstrip("/")
                if ".." in name.split("/"):  # a store may have any name for a file
                    raise InputError(f"{path}: leads out of its directory")
                yield name, _mark(facts)

    def _file_and_companions(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the file, and the files and folders with its name up to the last dot."""
        stem = f"{PurePosixPath(self.root).stem}."
        with suppress(FileNotFoundError):
            for entry in self._fs.ls(self._parent, detail=True):
                if PurePosixPath(entry["name"]).name.startswith(stem):
                    yield from self._fs.find(entry["name"], detail=True).items()

    def get(self, name: str, path: Path) -> None:
        """Copy a file from there, whole or not at all."""
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(f".clinometer-{path.name}")
        with self._convert_errors():
            self._fs.get_file(self._full_path(name), str(part))
            part.replace(path)

    def same(self, name: str, path: Path) -> bool:
        """Return whether a file there has the content of one here."""
        with self._convert_errors():
            return bool(self._fs.cat_file(self._full_path(name)) == path.read_bytes())

    def put(self, path: Path, name: str) -> list[Any] | None:
        """Copy a file there; return its mark, or None if it is gone here."""
        with self._convert_errors():
            try:
                self._write(path, name)
            except FileNotFoundError:
                if not path.exists():
                    return None
                # It is the folder there that is missing; stores without folders have no such error.
                self._fs.makedirs(self._full_path(name).rpartition("/")[0], exist_ok=True)
                self._write(path, name)
            self._fs.invalidate_cache()
            return _mark(self._fs.info(self._full_path(name)))

    def create(self, name: str, data: bytes) -> bool:
        """Write a file there unless there is one; return whether it was written.

        Where a file system cannot do both at once, another process may come between.
        """
        with self._convert_errors():
            self._fs.invalidate_cache()
            if self._fs.exists(self._full_path(name)):
                return False
            try:
                self._fs.pipe_file(self._full_path(name), data, mode="create")
            except FileExistsError:
                return False
            except (NotImplementedError, TypeError):
                self._fs.pipe_file(self._full_path(name), data)
            return True

    def replace(self, name: str, data: bytes) -> None:
        """Write a file there, whatever there is."""
        with self._convert_errors():
            self._fs.pipe_file(self._full_path(name), data)

    def text(self, name: str) -> str:
        """Return the text of a small file there; empty if it is gone."""
        with self._convert_errors():
            try:
                return bytes(self._fs.cat_file(self._full_path(name))).decode("utf-8", "replace")
            except FileNotFoundError:
                return ""

    def _write(self, path: Path, name: str) -> None:
        if path.suffix == ".jsonl":  # which may grow meanwhile
            self._fs.pipe_file(self._full_path(name), path.read_bytes())
        else:
            self._fs.put_file(str(path), self._full_path(name))

    def remove(self, name: str) -> None:
        """Remove a file there."""
        with self._convert_errors(), suppress(FileNotFoundError):
            self._fs.rm_file(self._full_path(name))

    def _full_path(self, name: str) -> str:
        return f"{self._parent}/{name}"


def _mark(facts: Mapping[str, Any]) -> list[Any]:
    """Return what tells two states of a file apart."""
    version = next((facts[name] for name in _MARKS if facts.get(name)), "")
    return [facts.get("size"), str(version)]  # as it is read back from JSON
