"""Shards asked as a provider's batches; no request is paid twice, however a process ends.

``shards/batches.jsonl`` is the journal: a line for each event, on the disk before the next step.
``creating`` comes before a batch is created: its shard, the hash and the id of the uploaded file,
and a name that follows from plan, shard, hash and attempt; ``created`` has the batch's id; and
``ended`` its end. A batch with ``creating`` alone may exist or not. It is looked for among the
provider's batches, by file and name, and created only if it is not among them `SETTLE_S` after the
last try.

Results go beside the shard, whole: what was answered of a batch that expired or was cancelled is
kept, and the rest is left for the next round (`shards.collect`).
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clinometer.asking.requests import find_failure
from clinometer.asking.shards import ANSWERED, FOLDER, MOST_BYTES, MOST_REQUESTS
from clinometer.errors import InputError, ModelError
from clinometer.models.batch_files import BatchFiles
from clinometer.results.records import read_lines
from clinometer.texts import redacted_fields, write_bytes

if TYPE_CHECKING:
    from openai.types import Batch

__all__ = ["JOURNAL", "Batches"]

JOURNAL = "batches.jsonl"

#: Seconds after which a batch that was created is in the provider's list.
SETTLE_S = 60.0

#: Longest time between two lines that say how batches stand, in seconds.
EVERY_S = 60.0

#: How a batch ends at the provider.
_ENDS = frozenset(("completed", "failed", "expired", "cancelled"))

#: Ends of batches that cost nothing; `refused`: it was not created.
_FREE = frozenset(("failed", "refused"))

#: Looks at a completed batch that has no results yet.
_LOOKS = 10

#: Error of a batch that must wait until others have ended.
_QUEUE = "token_limit_exceeded"


@dataclass
class _Sent:
    """One batch."""

    name: str
    shard: str
    """Path of the shard in the directory."""
    file: str
    sha256: str
    at: float
    """When it was last tried to create it, in seconds since 1970."""
    usd: float | None = None
    """What it costs, estimated."""
    batch: str | None = None
    status: str = "creating"
    answered: int = 0
    requests: int = 0
    looks: int = 0


class Batches:
    """The batches of a results directory, which one process works on.

    Parameters
    ----------
    directory
        The results directory.
    plan
        The hash of its plan.
    open_files
        Folder of a model's shards → its provider.
    say
        Gets each line about what is going on.

    Attributes
    ----------
    gained
        Answers that came since this was opened.
    cancelled
        Whether a batch was cancelled since then.
    """

    def __init__(
        self,
        directory: Path,
        plan: str,
        open_files: Callable[[str], BatchFiles],
        say: Callable[[str], None],
    ) -> None:
        self.directory, self.plan, self.say = directory, plan, say
        self._open_files, self._journal = open_files, directory / FOLDER / JOURNAL
        self._sent: dict[str, _Sent] = {}
        self.gained, self.cancelled = 0, False
        self._refused: dict[str, str] = {}
        """Shards whose batch gave no results in this process, and why."""
        if self._journal.is_file():
            for line in read_lines(self._journal):
                if line is not None:  # else torn, by a process that was killed
                    self._replay(line)

    def _replay(self, line: dict[str, Any]) -> None:
        try:
            event, name = line["event"], line["name"]
            if event == "creating":
                known = ("name", "shard", "file", "sha256", "at", "usd", "requests")
                self._sent[name] = _Sent(**{key: line[key] for key in known})
            elif event == "created":
                self._sent[name].batch, self._sent[name].status = line["batch"], "validating"
            elif event == "ended":
                self._sent[name].status = line["status"]
        except (KeyError, TypeError):
            raise InputError(f"{self._journal}: not readable; restore it") from None

    def _note(self, event: str, name: str, **facts: Any) -> None:
        """Write an event to the disk; a line that a killed process left unfinished is ended."""
        noted = redacted_fields({"event": event, "name": name, **facts})
        line = json.dumps(noted).encode() + b"\n"
        try:
            with self._journal.open("a+b") as file:
                new = file.tell() == 0
                if not new:
                    file.seek(-1, os.SEEK_END)
                    line = line if file.read() == b"\n" else b"\n" + line
                file.write(line)
                file.flush()
                os.fsync(file.fileno())
            if new and os.name != "nt":
                folder = os.open(self._journal.parent, os.O_RDONLY)
                os.fsync(folder)
                os.close(folder)
        except OSError as error:
            raise InputError(f"{self._journal}: {error.strerror}") from None

    @property
    def running(self) -> list[str]:
        """The shards whose batch has not ended."""
        return [one.shard for one in self._open()]

    @property
    def paid(self) -> list[tuple[str, float | None]]:
        """Shard and estimated cost of each batch that costs anything; None: no price was known."""
        return [(one.shard, one.usd) for one in self._sent.values() if one.status not in _FREE]

    def _open(self) -> list[_Sent]:
        return [one for one in self._sent.values() if one.status not in _ENDS | _FREE]

    def may_submit(self, path: Path) -> bool:
        """Whether a shard has no batch that runs, and none that gave nothing in this process."""
        shard = self._shard(path)
        return shard not in self.running and shard not in self._refused

    def _shard(self, path: Path) -> str:
        return path.relative_to(self.directory).as_posix()

    def _provider(self, shard: str) -> BatchFiles:
        return self._open_files(Path(shard).parent.name)

    def submit(self, path: Path, lines: list[bytes], usd: float | None) -> None:
        """Ask some lines of a shard in a batch; `usd`: what they cost, estimated."""
        shard, data = self._shard(path), b"".join(lines)
        if len(lines) > MOST_REQUESTS or len(data) > MOST_BYTES:
            raise InputError(
                f"{path}: {len(lines):,} requests, {len(data) >> 20:,} MB; a batch has at most "
                f"{MOST_REQUESTS:,}, {MOST_BYTES >> 20} MB; plan again with more --shards"
            )
        attempt = sum(one.shard == shard for one in self._sent.values())
        digest = hashlib.sha256(data).hexdigest()
        known = "\0".join((self.plan, shard, digest, str(attempt))).encode()
        name = f"clinometer-{hashlib.sha256(known).hexdigest()[:40]}"
        file = self._provider(shard).upload(path.name, data)
        one = _Sent(name, shard, file, digest, time.time(), usd, requests=len(lines))
        self._create(one)

    def resume(self) -> None:
        """Find out whether a batch exists that a killed process was creating; else create it."""
        for one in self._open():
            if one.batch is None:
                one.batch = self._find(one)
                self._create(one)

    def _create(self, one: _Sent) -> None:
        """Create a batch, unless it is there, and note it."""
        provider = self._provider(one.shard)
        self._sent[one.name] = one
        for _ in provider.waits():
            if one.batch is not None:
                break
            one.at = time.time()
            what = {key: getattr(one, key) for key in ("shard", "file", "sha256", "at", "usd")}
            self._note("creating", one.name, **what, requests=one.requests)
            try:
                one.batch = provider.create(one.file, one.name, one.shard)
            except ModelError as error:
                one.status = "refused"
                self._note("ended", one.name, status="refused", error=str(error))
                raise
            one.batch = one.batch or self._find(one)
        if one.batch is None:
            raise ModelError(f"{one.shard}: no batch yet; repeat the command later")
        one.status = "validating"
        self._note("created", one.name, batch=one.batch)
        self.say(f"{one.shard}: batch {one.batch}, {one.requests:,} requests")

    def _find(self, one: _Sent) -> str | None:
        """Look for a batch at the provider, and again when it must be in its list."""
        provider = self._provider(one.shard)
        if (found := provider.find(one.file, one.name)) is not None:
            return found
        left = min(SETTLE_S, one.at + SETTLE_S - time.time())
        if left > 0:
            self.say(f"{one.shard}: its batch may have been created; looking again in {left:.0f} s")
            time.sleep(left)
        return provider.find(one.file, one.name)

    def poll(self) -> None:
        """Look at every batch that runs; bring the results of those that have ended."""
        for one in self._open():
            assert one.batch is not None
            state = self._provider(one.shard).retrieve(one.batch)
            one.status = state.status
            if (counts := state.request_counts) is not None:
                one.answered, one.requests = counts.completed or 0, counts.total or one.requests
            if state.status not in _ENDS:
                continue
            files = [id for id in (state.output_file_id, state.error_file_id) if id]
            one.looks += 1
            if state.status == "completed" and not files and one.looks < _LOOKS:
                one.status = "completed, without results yet"
                continue
            self._end(one, state, files)

    def _end(self, one: _Sent, state: Batch, files: list[str]) -> None:
        """Bring the results of a batch, and note its end."""
        path = self.directory / Path(one.shard).with_suffix(ANSWERED)
        came = [self._provider(one.shard).download(file) for file in files]
        lines = [line for data in came for line in data.splitlines() if line.strip()]
        if lines:
            before = path.read_bytes().splitlines() if path.is_file() else []
            lines = list(dict.fromkeys([*before, *lines]))
            write_bytes(path, b"".join(line + b"\n" for line in lines))
            self.gained += sum(map(_is_answer, lines)) - sum(map(_is_answer, before))
        self._note("ended", one.name, status=one.status)
        self.cancelled |= one.status == "cancelled"
        queue = [shard for shard, error in self._refused.items() if error == _QUEUE]
        for shard in queue if one.status != "failed" else ():
            del self._refused[shard]
        if not lines:
            errors = (state.errors and state.errors.data) or []
            self._refused[one.shard] = (errors[0].code or "") if errors else one.status
            said = f": {errors[0].message or errors[0].code}" if errors else ""
            more = f" ({len(errors):,} errors)" if errors[1:] else ""
            paid = ", nothing is paid" if one.status == "failed" else ""
            self.say(f"{one.shard}: batch {one.batch} {one.status}{said}{more}{paid}")

    def states(self) -> str:
        """Say how the batches stand that run."""
        open_ = self._open()
        counted = Counter(one.status for one in open_)
        states = ", ".join(f"{n} {state.replace('_', ' ')}" for state, n in counted.items())
        answered, requests = (sum(getattr(o, c) for o in open_) for c in ("answered", "requests"))
        what = "batch" if len(open_) == 1 else "batches"
        return f"{len(open_)} {what} ({states}): {answered:,} of {requests:,} requests answered"

    def wait(self, poll_s: float) -> None:
        """Wait until no batch runs; look every `poll_s` seconds."""
        said, since = "", 0.0
        while self.running:
            until = time.monotonic() + poll_s
            while True:
                now = time.monotonic()
                if (text := self.states()) != said or now - since >= EVERY_S:
                    self.say(text)
                    said, since = text, now
                if now >= until:
                    break
                time.sleep(min(until - now, EVERY_S))
            self.poll()


def _is_answer(line: bytes) -> bool:
    """Whether a line of results holds a chat completion."""
    try:
        return find_failure(json.loads(line)) is None
    except (ValueError, AttributeError, RecursionError):
        return False
