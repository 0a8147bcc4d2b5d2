"""Files of a run: its plan, and a journal of answers, written as they arrive.

The plan is one JSON file, written atomically. Answers are JSON lines, appended in
``answers/<model>/00000.jsonl`` and so on. If a process is killed, an incomplete line is ignored and
its question is asked again. (inspect's own log is written in batches; a killed process loses
answers that are not yet written.)

Plan and lines end in a hash of what stands before it. It shows that they were changed since, by a
hand or a failing disk; whoever means to deceive can make it anew, but not the mark of the user's
key before it (`origins`).
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from functools import cached_property, partial
from pathlib import Path
from typing import Any, BinaryIO

from clinometer.errors import InputError, PlanError
from clinometer.results.origins import (
    UNKNOWN,
    MarkKey,
    Origins,
    count_text,
    find_key,
    line_mark,
    make_key,
    mark_id,
    read_count,
    run_scope,
)
from clinometer.secrets import change_texts, describe_repetition, holds_secret, withhold
from clinometer.texts import write_text

#: Version of the layout; increased when older directories can no longer be read.
FORMAT = 3

#: The file of what is known of a model, in the folder of its answers.
IDENTITY = "model.json"

#: How the file is called that counts the lines that a key marked, after the key's id.
COUNT = ".count"

#: Answers per file.
SHARD = 50_000

Line = dict[str, Any]

#: Where a line of a journal stands: the number of its file, times `_FILE`, and its first byte.
Place = int
_FILE = 1 << 40

#: What stands around the hash of a line.
_SUM, _END = b', "sum": "', b'"}\n'


def read_plan(path: Path) -> dict[str, Any]:
    """Read a plan.

    Raises PlanError if the file is missing, not a plan, or has another layout.
    """
    try:
        plan = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise PlanError(f"{path.parent}: no {path.name}; not a results directory") from None
    except (ValueError, RecursionError, OSError) as error:
        raise PlanError(f"{path}: not readable as a plan: {error}") from None
    if not isinstance(plan, dict):
        raise PlanError(f"{path}: not a plan")
    sealed = plan.pop("seal", None)
    plan.pop("mark", None)
    if plan.get("format") == FORMAT and sealed != _seal(plan):
        raise PlanError(f"{path}: changed since it was written; restore it, or measure again")
    if plan.get("format") != FORMAT:
        writer = plan.get("clinometer")
        raise PlanError(
            f"{path}: written{f' by clinometer {writer}' if writer else ''} in a layout that this "
            "version does not read; measure again in another directory, or use the version that "
            "wrote it"
        )
    return plan


def write_plan(path: Path, plan: Mapping[str, Any], key: MarkKey | None = None) -> None:
    """Write a plan atomically, without secrets, with the mark of a key if there is one.

    Raises InputError if it cannot be written.
    """
    # Sealed as it is read back: JSON has no tuples, and all its keys are texts.
    content = json.loads(json.dumps(change_texts({**plan, "format": FORMAT}, withhold)))
    for earlier in ("seal", "mark"):  # of what the plan was before
        content.pop(earlier, None)
    seal = _seal(content)
    mark = {} if key is None else {"mark": key.mark(b"plan", seal.encode())}
    write_text(path, json.dumps({**content, **mark, "seal": seal}, indent=1))


def plan_origin(path: Path) -> str:
    """Return the id of the key that a plan says it was marked with; `UNKNOWN` if it says none."""
    return _plan_mark(path).partition(" ")[0] or UNKNOWN


def plan_key(path: Path) -> MarkKey | None:
    """Return the user's key if it marked the plan; whoever changes the plan marks it again."""
    key = find_key()
    if key is not None and key.issued(_plan_mark(path), b"plan", _seal(read_plan(path)).encode()):
        return key
    return None


def _plan_mark(path: Path) -> str:
    """Return the mark of a plan that can be read, or a text that is none."""
    read_plan(path)  # which raises an error that says what is wrong
    return str(json.loads(path.read_bytes()).get("mark", ""))


def _seal(plan: Mapping[str, Any]) -> str:
    """Return the hash of a plan, whatever the order of its entries."""
    return text_hash(json.dumps(plan, sort_keys=True))


def text_hash(text: str) -> str:
    """Return the SHA-256 of a text, 64 hexadecimal digits."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def slug(model: str) -> str:
    """Name the folder of a model's answers."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", model).strip("-.")


def refuse_shared_folders(models: Iterable[str]) -> None:
    """Raise InputError if the answers of two models would stand in one folder."""
    folders: dict[str, str] = {}
    for model in models:
        first = folders.setdefault(slug(model), model)
        if first != model:
            raise InputError(
                f"models {first!r} and {model!r}: their answers would share the folder "
                f"{slug(model)}; ask them in directories of their own"
            )


class Journal:
    """The answers of one model.

    Parameters
    ----------
    directory
        The results directory; answers are in its folder ``answers``.
    model
        The model's inspect name.
    """

    def __init__(self, directory: Path, model: str) -> None:
        self.folder = directory / "answers" / slug(model)
        self.model = model
        #: Where the lines come from, as the latest reading of all of them found.
        self.origins = Origins(None, b"")
        self._file: BinaryIO | None = None
        self._counter: BinaryIO | None = None
        self._lines = 0
        #: The number of the next line with a mark; None before the first file is open.
        self._number: int | None = None

    def append(self, *answers: Line) -> None:
        """Append answers immediately, without secrets; the file stays open until `close`.

        Raises OSError if the disk is full or the file was removed; earlier answers remain intact.
        """
        if self._file is None or self._lines >= SHARD:
            self._file = self._open()
        data = b"".join(map(self.line_of, answers))
        try:
            # A removed file can be written to, but nobody could read it.
            if os.fstat(self._file.fileno()).st_nlink == 0:
                raise FileNotFoundError(errno.ENOENT, "the directory was removed")
            if self._file.write(data) < len(data):
                raise OSError(errno.ENOSPC, "No space left on device")
            self._count_lines()
        except OSError:
            self.close()  # a reopened file continues on a new line
            raise
        self._lines += len(answers)

    def line_of(self, answer: Line) -> bytes:
        """Return the next line, with an answer."""
        assert self._number is not None  # it was opened
        self._number += 1
        mark = partial(line_mark, self._key, self._scope, self._number - 1)
        return _signed_line({**answer, "model": self.model}, mark)

    def identify(self, facts: Line) -> None:
        """Note what is known of the model, beside the answers; what was noted before is kept.

        Raises InputError if it cannot be written.
        """
        identities = self.identities()
        if facts and facts not in identities:
            text = json.dumps([*identities, facts], indent=1, ensure_ascii=False)
            write_text(self.folder / IDENTITY, f"{text}\n")

    def identities(self) -> list[Line]:
        """Return what was noted of the model: one entry, or more if it changed between sessions."""
        try:
            identities = json.loads((self.folder / IDENTITY).read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            return []
        if not isinstance(identities, list):
            return []
        return [identity for identity in identities if isinstance(identity, dict)]

    def close(self) -> None:
        """Close the files that are being written."""
        for file in (self._file, self._counter):
            if file is not None:
                file.close()
        self._file = self._counter = self._number = None

    @cached_property
    def _key(self) -> MarkKey:
        return make_key()

    @property
    def _scope(self) -> bytes:
        return run_scope(self.folder)

    def _count_path(self, key: MarkKey) -> Path:
        return self.folder / f"{key.id}{COUNT}"

    def _open_counter(self) -> None:
        """Open the file that counts the lines of the key; find the number of the next line."""
        path = self._count_path(self._key)
        count = read_count(path, self._key, self._scope)
        is_torn = ends_torn(self.folder)
        numbers = [max(0, (count or 0) - is_torn)]
        # Lines that a killed process had no time to count stand in the last file.
        for file in self.files() if count is None or is_torn else self.files()[-1:]:
            with file.open("rb") as lines:
                for text in lines:
                    before, is_intact = split_sum(text)
                    mark = mark_id(before) if is_intact else None  # torn: it is written anew
                    if mark is not None and mark[0] == self._key.id:
                        numbers.append(mark[1] + 1)
        # Without the count lines may be missing: the gap of one says so for as long as they stay.
        self._number = max(numbers) + (count is None and len(numbers) > 1)
        path.touch()
        self._counter = path.open("r+b", buffering=0)
        self._count_lines()

    def _count_lines(self) -> None:
        """Note how many lines there are, after they are written: never more than there are."""
        if self._counter is not None and self._number is not None:
            self._counter.seek(0)
            self._counter.write(count_text(self._key, self._scope, self._number))

    def _open(self) -> BinaryIO:
        """Open the last file, or a new one if it is full."""
        if self._file is not None:
            self._file.close()
        self.folder.mkdir(parents=True, exist_ok=True)
        if self._counter is None:
            self._open_counter()
        number = 0
        torn = False
        self._lines = 0
        for path in self.files()[-1:]:
            number = int(path.stem)
            with path.open("rb") as last:
                for line in last:
                    self._lines += 1
                    torn = not line.endswith(b"\n")
        if self._lines >= SHARD:
            number += 1
            torn = False
            self._lines = 0
        # Unbuffered: what is written is with the system at once, also if the process is killed.
        file = (self.folder / f"{number:05d}.jsonl").open("ab", buffering=0)
        if torn:  # by a process that was killed; its line is ended, and ignored
            file.write(b"\n")
        return file

    def lines(self) -> Iterator[Line]:
        """Yield every complete line, in the order written.

        Raises InputError if a line was changed since.
        """
        for _, line in self._lines_with_places():
            yield line

    def lines_with_origins(self) -> Iterator[tuple[Line, str]]:
        """Yield every complete line and its origin (`Origins.take`), in the order written.

        Raises InputError if a line was changed since.
        """
        for _, line, origin in self._lines_with_origins():
            yield line, origin

    def __iter__(self) -> Iterator[Line]:
        """Yield the last answer to each trial; an error only if the trial has no answer."""
        yield from self.read(sorted(self.places().values()))

    def places(self) -> dict[str, Place]:
        """Return where the last answer to each trial stands; an error only if it has no answer.

        Raises InputError if a line was changed since.
        """
        last: dict[str, Place] = {}
        for place, line in self._lines_with_places():
            trial = line.get("trial_id")
            if isinstance(trial, str) and (trial not in last or line.get("error") is None):
                last[trial] = place
        return last

    def errors(self) -> dict[str, str | None]:
        """Return the error of each trial that has no answer, and None for each that has one.

        Raises InputError if a line was changed since.
        """
        errors: dict[str, str | None] = {}
        for line in self.lines():
            trial, error = line.get("trial_id"), line.get("error")
            # An answer stays, whatever comes after it.
            answered = isinstance(trial, str) and errors.get(trial, "") is None
            if isinstance(trial, str) and (error is None or not answered):
                errors[trial] = error
        return errors

    def read(self, places: Iterable[Place]) -> Iterator[Line]:
        """Yield the lines at some places, of `places`."""
        with ExitStack() as opened:
            files = [opened.enter_context(path.open("rb")) for path in self.files()]
            for place in places:
                number, start = divmod(place, _FILE)
                files[number].seek(start)
                if (line := parse_line(files[number].readline())) is not None:
                    yield line

    def _lines_with_places(self) -> Iterator[tuple[Place, Line]]:
        """Yield every complete line and its place."""
        for place, line, _ in self._lines_with_origins():
            yield place, line

    def _lines_with_origins(self) -> Iterator[tuple[Place, Line, str]]:
        """Yield every complete line with its place and its origin; sets `origins` at the end."""
        key = find_key()
        origins = Origins(key, self._scope)
        # Before the lines: another process may add some meanwhile.
        count = read_count(self._count_path(key), key, origins.scope) if key else 0
        is_torn = ends_torn(self.folder)
        for number, path in enumerate(self.files()):
            for start, text, line in _lines_with_starts(path, signed=True):
                if line is not None and line.get("model", self.model) == self.model:
                    yield number * _FILE + start, line, origins.take(text, line)
        origins.end(count, is_torn)
        self.origins = origins

    def files(self) -> list[Path]:
        """Return the files, in the order written."""
        return journal_files(self.folder)


def journal_files(folder: Path) -> list[Path]:
    """Return the files of the journal in a folder, in the order written."""
    paths = [path for path in folder.glob("*.jsonl") if path.stem.isdecimal()]
    return sorted(paths, key=lambda path: int(path.stem))


def ends_torn(folder: Path) -> bool:
    """Whether the last line of the journal in a folder was not written to its end."""
    for path in journal_files(folder)[-1:]:
        with path.open("rb") as file:
            if file.seek(0, os.SEEK_END):
                file.seek(-1, os.SEEK_END)
                return file.read() != b"\n"
    return False


def journals(directory: Path) -> list[Journal]:
    """Return the journals of a directory, in the order of their models' names."""
    models = set()
    for path in directory.glob("answers/*/*.jsonl"):
        for line in read_lines(path):
            # Folders are no names of models: those are in the lines.
            if line and isinstance(line.get("model"), str):
                models.add(line["model"])
    return [Journal(directory, model) for model in sorted(models)]


def read_lines(path: Path, *, signed: bool = False) -> Iterator[Line | None]:
    """Yield the object in each line of a file of answers; None for a malformed line.

    Raises InputError if the file cannot be read or, where lines are `signed`, one was changed.
    """
    for _, _, line in _lines_with_starts(path, signed=signed):
        yield line


def _lines_with_starts(path: Path, *, signed: bool) -> Iterator[tuple[int, bytes, Line | None]]:
    """Yield where each line starts, its text before the hash, and its object; see `read_lines`."""
    start = end = 0
    try:
        with path.open("rb") as file:
            for number, text in enumerate(file, 1):
                start = end
                end += len(text)
                if not text.strip():
                    continue
                line = parse_line(text)
                before, is_intact = split_sum(text)
                if line is not None and signed and not is_intact:
                    raise InputError(
                        f"{path}:{number}: changed since it was written; restore the line, or "
                        "delete it and have its question asked again (--continue-from-elsewhere)"
                    )
                yield start, before, line
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from None


def parse_line(text: bytes) -> Line | None:
    """Return the object in a line, without mark and hash; None if it is malformed."""
    try:
        line = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(line, dict):
        return None
    line.pop("sum", None)
    line.pop("mark", None)
    return line


def _signed_line(line: Line, mark: Callable[[bytes], bytes]) -> bytes:
    """Write a line without secrets, with the mark of its text at its end, and the hash of both."""
    text = json.dumps(line)
    if holds_secret(text):
        text = json.dumps(_set_aside(line))
    before = text.encode()[:-1]  # open: without its last brace
    before += mark(before)
    return before + _SUM + _line_hash(before) + _END


def _set_aside(line: Line) -> Line:
    """Return a line that holds a secret without it; an answer becomes an error with its hash."""
    if line.get("error") is not None:
        without: Line = change_texts(line, withhold)
        return without
    # Lists go whole: tokens are pieces of the answer, and each may hold a piece of the secret.
    clean_fields: Line = {}
    answer: list[Any] = []
    for name, value in line.items():
        if isinstance(value, list | dict) or holds_secret(json.dumps({name: value})):
            answer.append(value)
        else:
            clean_fields[name] = value
    return {**clean_fields, "error": describe_repetition(json.dumps(answer))}


def split_sum(text: bytes) -> tuple[bytes, bool]:
    """Return what stands before the hash of a line, and whether it is what the hash is of."""
    before, _, end = text.rstrip(b"\r\n").rpartition(_SUM)
    return before, end == _line_hash(before) + _END.rstrip()


def _line_hash(text: bytes) -> bytes:
    return hashlib.blake2b(text, digest_size=8).hexdigest().encode()


def find_fault(line: Line | None) -> str | None:
    """Return why a line has no associations: ``malformed``, or ``failed`` with an error."""
    if line is None or not isinstance(line.get("cue"), str) or not line["cue"].strip():
        return "malformed"
    # Not `isinstance`: True is no number of a repetition.
    if type(line.get("repetition")) is not int or line["repetition"] < 0:
        return "malformed"
    if line.get("error") is not None:
        return "failed"
    responses = line.get("responses")
    are_words = isinstance(responses, list) and all(isinstance(word, str) for word in responses)
    return None if are_words else "malformed"
