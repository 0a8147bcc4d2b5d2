"""Where answers come from: marks that only the holder of a key can make.

A plan, and every line of a journal, carries a mark: an HMAC-SHA-256 under a key of the user, which
is in the folder of their settings, or in ``CLINOMETER_KEY`` for machines and jobs that share it.
That of a line covers its run, its number in the journal and its text; a file beside the journal
counts the lines. So whoever has the key notices lines that were changed, added, left out, moved or
taken from another run. Everybody sees the id of the key, a hash, which names the origin.

Reference
    Krawczyk, Bellare & Canetti (1997), RFC 2104: HMAC.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import re
import secrets
import tempfile
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import platformdirs

from clinometer.errors import InputError
from clinometer.secrets import keep_secret

#: The variable of the environment with the key, where it is not the one in the user's settings.
KEY_VARIABLE = "CLINOMETER_KEY"

#: The folder of a judge's answers, inside a results directory.
JUDGE = "judge"

#: A shorter key could be guessed.
_SHORTEST = 16

#: Origins that are no id of a key: lines without a mark; answers read from files that anybody may
#: have written; lines that claim a key which did not mark them.
UNKNOWN, COLLECTED, ALTERED = "unknown", "collected", "altered"

#: Origin that is no id of a key → what is said of it.
_TEXTS = {
    UNKNOWN: "origin unknown",
    COLLECTED: "collected from files",
    ALTERED: "changed, moved or taken from another run",
}

#: The mark at the end of the text of a line, before what is added after it.
_MARK = re.compile(rb', "mark": "([0-9a-f]{8}) (\d{1,15}) ([0-9a-f]{32})"$')


@dataclass(frozen=True)
class MarkKey:
    """A key of the user, and the id that names it."""

    secret: bytes = field(repr=False)
    id: str

    def digest(self, *parts: bytes) -> bytes:
        """Return the mark of some parts, none of which holds a zero byte: 32 hexadecimal digits."""
        return hmac.digest(self.secret, b"\0".join(parts), "sha256")[:16].hex().encode()

    def issued(self, mark: str, *parts: bytes) -> bool:
        """Whether this key made the mark ``ID DIGEST`` of some parts."""
        return hmac.compare_digest(mark.encode(), self.mark(*parts).encode())

    def mark(self, *parts: bytes) -> str:
        """Return the mark of some parts with the key's id: ``ID DIGEST``."""
        return f"{self.id} {self.digest(*parts).decode()}"


def find_key() -> MarkKey | None:
    """Return the user's key: from the environment, else from their settings; None if there is none.

    Raises InputError if it is too short.
    """
    text, source = os.environ.get(KEY_VARIABLE, "").strip(), KEY_VARIABLE
    if not text:
        path = _key_file()
        try:
            text, source = path.read_text(encoding="ascii").strip(), str(path)
        except (OSError, UnicodeDecodeError):  # without a key nothing can be checked
            return None
    if len(text) < _SHORTEST:
        raise InputError(
            f"{source}: a key has at least {_SHORTEST} characters; make one with "
            "openssl rand -hex 32"
        )
    keep_secret(text)
    key_id = hashlib.sha256(b"clinometer key\0" + text.encode()).hexdigest()[:8]
    return MarkKey(text.encode(), key_id)


def make_key() -> MarkKey:
    """Return the user's key, which is made if there is none.

    Raises InputError if it cannot be kept.
    """
    if (key := find_key()) is not None:
        return key
    path = _key_file()
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Only the user may read a temporary file of this kind.
        descriptor, part = tempfile.mkstemp(dir=path.parent)
        with os.fdopen(descriptor, "w") as file:
            file.write(f"{secrets.token_hex(32)}\n")
        # A link appears whole or not at all; where another process was first, its key counts.
        with suppress(FileExistsError):
            os.link(part, path)
        os.unlink(part)
    except OSError as error:
        raise InputError(
            f"{path}: {error.strerror}; the key that marks answers is kept there: give one in "
            f"{KEY_VARIABLE} instead"
        ) from None
    key = find_key()
    if key is None:
        raise InputError(f"{path}: not readable as a key; remove it, or give one in {KEY_VARIABLE}")
    return key


def _key_file() -> Path:
    return platformdirs.user_config_path("clinometer") / "key"


def run_scope(folder: Path) -> bytes:
    """Return what tells the journal in a folder ``answers/MODEL`` from those of other runs.

    It is the id of the run in its plan, if there is one, and the folder's name; a judge's answers
    are in a folder of the run.
    """
    directory = folder.parent.parent
    place = directory.parent if directory.name == JUDGE else directory
    return f"{_run_id(place)} {folder.relative_to(place).as_posix()}".encode()


def _run_id(directory: Path) -> str:
    with suppress(OSError, ValueError, KeyError, TypeError, RecursionError):
        return str(json.loads((directory / "plan.json").read_bytes())["run"])
    return ""


class ShardMarks:
    """Marks of answers to the shards of a directory, which stand in files of any order.

    Without a key no answer gets one, and none has one.
    """

    def __init__(self, directory: Path) -> None:
        self._key = find_key()
        self._scope = f"{_run_id(directory)} shards".encode()

    def add(self, line: bytes) -> bytes:
        """Mark a line that is an object, and end it."""
        text = line.rstrip()
        if self._key is None or not text.endswith(b"}"):
            return text + b"\n"
        before = text[:-1]
        return before + line_mark(self._key, self._scope, 0, before) + b"}\n"

    def holds(self, line: bytes) -> bool:
        """Whether a line was marked with the user's key."""
        before = line.rstrip()[:-1]
        mark = _MARK.search(before)
        if self._key is None or mark is None:
            return False
        return before[mark.start() :] == line_mark(
            self._key, self._scope, int(mark[2]), before[: mark.start()]
        )


def line_mark(key: MarkKey, scope: bytes, number: int, text: bytes) -> bytes:
    """Return what is added to the text of a line as its mark."""
    digits = b"%d" % number
    digest = key.digest(scope, digits, text)
    return b', "mark": "%s %s %s"' % (key.id.encode(), digits, digest)


def mark_id(text: bytes) -> tuple[str, int] | None:
    """Return the key's id and the number that the mark of a line names; None without a mark."""
    mark = _MARK.search(text)
    return None if mark is None else (mark[1].decode(), int(mark[2]))


def count_text(key: MarkKey, scope: bytes, count: int) -> bytes:
    """Return the content of the file that counts the lines of a key, always of the same length."""
    digits = b"%015d" % count
    return b"%s %s\n" % (digits, key.digest(scope, b"count", digits))


def read_count(path: Path, key: MarkKey, scope: bytes) -> int | None:
    """Read how many lines of a key there were; None if the file is not as the key left it."""
    try:
        content = path.read_bytes()
        count = int(content[:15])
    except (OSError, ValueError):
        return None
    return count if content == count_text(key, scope, count) else None


@dataclass
class Origins:
    """Where the lines of a journal come from, counted while it is read.

    Parameters
    ----------
    key
        That of the reader, who can check its marks and no other; None: they have none.
    scope
        From `run_scope`.
    """

    key: MarkKey | None
    scope: bytes
    answers: Counter[str] = field(default_factory=Counter)
    """Id of a key, or another origin → lines that hold an answer."""
    claims: Counter[str] = field(default_factory=Counter)
    """The same as the lines say it, whatever the key says: the same for every reader."""
    missing: int = 0
    """Lines that the key marked and that are not there any more."""
    _next: int = 0
    _present: int = 0

    def take(self, text: bytes, line: Mapping[str, object]) -> str:
        """Count a line, and return its origin; `text` is its text up to the end of its mark."""
        mark = _MARK.search(text)
        claim = origin = UNKNOWN if mark is None else mark[1].decode()
        line_origin = line.get("origin")
        if mark is not None and isinstance(line_origin, str):
            claim = line_origin
        if self.key is not None and mark is not None and origin == self.key.id:
            # A line that was merged or collected says whose answer it is; only where this key
            # marked it is that to be believed.
            origin = claim if self._holds(self.key, mark, text) else ALTERED
        is_answer = line.get("error") is None
        self.claims[claim] += is_answer
        # An error answers nothing; but where it was changed, it may have been an answer.
        self.answers[origin] += is_answer or origin == ALTERED
        return origin

    def _holds(self, key: MarkKey, mark: re.Match[bytes], text: bytes) -> bool:
        """Whether a mark with the id of the reader's key holds."""
        number = int(mark[2])
        digest = key.digest(self.scope, mark[2], text[: mark.start()])
        self._present += 1
        # Numbers rise: a line that stands twice, or was moved, is no evidence either.
        if not hmac.compare_digest(digest, mark[3]) or number < self._next:
            return False
        self._next = number + 1
        return True

    def end(self, count: int | None, is_torn: bool) -> None:
        """Compare the lines with their `count`, which is None if its file is not as it was left.

        A process that was killed may have written lines that it had no time to count. A last line
        that is torn stands for a line.
        """
        if count is None and self._present:
            self.missing = max(1, self._next - self._present)
        else:
            self.missing = max(0, max((count or 0) - is_torn, self._next) - self._present)


def origin_name(origin: str) -> str:
    """Return what an origin is called: the id of a key, or one of the others."""
    return _TEXTS.get(origin, f"key {origin}")


def elsewhere_counts(answers: Mapping[str, int], key_id: str) -> dict[str, int]:
    """Return the number of answers of each origin that is not the key with an id."""
    return {name: n for name, n in answers.items() if n and (name in _TEXTS or name != key_id)}


def elsewhere_text(answers: Mapping[str, int], missing: int, key_id: str) -> str:
    """Say which answers are not of the key with an id, and which are missing; empty if all are.

    `answers`, `missing`: as of `Origins`.
    """
    counts = elsewhere_counts(answers, key_id)
    sentences = []
    if counts:
        names = [*map(origin_name, counts)]
        if len(names) > 1:
            names = [f"{n:,} {name}" for n, name in zip(counts.values(), names, strict=True)]
        total, count = sum(answers.values()), sum(counts.values())
        sentences.append(f"{count:,} of {total:,} answers were not asked here: {', '.join(names)}")
    if missing:
        lines = "1 line" if missing == 1 else f"{missing:,} lines"
        sentences.append(f"missing: {lines} marked here, or the file that counts them")
    return "; ".join(sentences)
