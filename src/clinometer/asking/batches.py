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

from clinometer.asking.shards import ANSWERED, FOLDER, MOST_BYTES, MOST_REQUESTS
from clinometer.errors import InputError, ModelError
from clinometer.models.batch_files import BatchFiles
from clinometer.models.batch_lines import read_line
from clinometer.models.bodies import BodyError
from clinometer.results.origins import ShardMarks
from clinometer.results.records import read_lines
from clinometer.secrets import change_texts, redacted
from clinometer.texts import write_bytes

if TYPE_CHECKING:
    from openai.types import Batch

JOURNAL = "batches.jsonl"

#: Seconds after which a batch that was created is in the provider's list.
SETTLE_S = 60.0

#: Longest time between two lines that say how batches stand, in seconds.
SAY_EVERY_S = 60.0

#: How a batch ends at the provider.
_ENDS = frozenset(("completed", "failed", "expired", "cancelled"))

#: Ends of batches that cost nothing; `refused`: it was not created.
_FREE = frozenset(("failed", "refused"))

#: Looks at a completed batch that has no results yet.
_LOOKS = 10

#: Error of a batch that must wait until others have ended.
_QUEUE = "token_limit_exceeded"


@dataclass
class _Batch:
    """A batch of this directory."""

    name: str
    shard: str
    """Path of the shard in the directory."""
    file: str
    sha256: str
    try_time: float
    """When it was last tried to create it, in seconds since 1970."""
    usd: float | None = None
    """What it costs, estimated."""
    id: str | None = None
    """The provider's id of it; None before it is created, or where that is not known."""
    status: str = "creating"
    answered: int = 0
    requests: int = 0
    looks: int = 0
    """How often it was completed without results when it was looked at."""


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
        self.directory = directory
        self.plan = plan
        self.say = say
        self.gained = 0
        self.cancelled = False
        self._open_files = open_files
        self._journal = directory / FOLDER / JOURNAL
        self._batches: dict[str, _Batch] = {}
        """By name, in the order in which they were first created."""
        self._refused: dict[str, str] = {}
        """Shards whose batch gave no results in this process, and why."""
        if self._journal.is_file():
            for line in read_lines(self._journal):
                if line is not None:  # else torn, by a process that was killed
                    self._replay(line)

    def _replay(self, line: dict[str, Any]) -> None:
        """Take an event of the journal; a later one of a batch replaces an earlier one."""
        try:
            event, name = line["event"], line["name"]
            if event == "creating":
                self._batches[name] = _Batch(
                    name=name,
                    shard=line["shard"],
                    file=line["file"],
                    sha256=line["sha256"],
                    try_time=line["at"],
                    usd=line["usd"],
                    requests=line["requests"],
                )
            elif event == "created":
                self._batches[name].id = line["batch"]
                self._batches[name].status = "validating"
            elif event == "ended":
                self._batches[name].status = line["status"]
        except (KeyError, TypeError):
            raise InputError(f"{self._journal}: not readable; restore it") from None

    def _note(self, event: str, name: str, **facts: Any) -> None:
        """Write an event to the disk; a line that a killed process left unfinished is ended."""
        record = change_texts({"event": event, "name": name, **facts}, redacted)
        line = json.dumps(record).encode() + b"\n"
        try:
            with self._journal.open("a+b") as file:
                new = file.tell() == 0
                if not new:
                    file.seek(-1, os.SEEK_END)
                    if file.read() != b"\n":
                        line = b"\n" + line
                file.write(line)
                file.flush()
                os.fsync(file.fileno())
            # The name of a new file is on the disk when its folder is; Windows opens no folders.
            if new and os.name != "nt":
                folder = os.open(self._journal.parent, os.O_RDONLY)
                os.fsync(folder)
                os.close(folder)
        except OSError as error:
            raise InputError(f"{self._journal}: {error.strerror}") from None

    @property
    def running(self) -> list[str]:
        """The shards whose batch has not ended."""
        return [batch.shard for batch in self._running_batches()]

    @property
    def paid(self) -> list[tuple[str, float | None]]:
        """Shard and estimated cost of each batch that costs anything; None: no price was known."""
        costly = (batch for batch in self._batches.values() if batch.status not in _FREE)
        return [(batch.shard, batch.usd) for batch in costly]

    def _running_batches(self) -> list[_Batch]:
        """Return the batches that have not ended, those that are being created among them."""
        end_statuses = _ENDS | _FREE
        return [batch for batch in self._batches.values() if batch.status not in end_statuses]

    def may_submit(self, path: Path) -> bool:
        """Whether a shard has no batch that runs, and none that gave nothing in this process."""
        shard = self._shard(path)
        return shard not in self.running and shard not in self._refused

    def _shard(self, path: Path) -> str:
        """Return the name of a shard: its path in the directory."""
        return path.relative_to(self.directory).as_posix()

    def _provider(self, shard: str) -> BatchFiles:
        """Return the provider of a shard's model, after which its folder is named."""
        return self._open_files(Path(shard).parent.name)

    def submit(self, path: Path, lines: list[bytes], usd: float | None) -> None:
        """Ask some lines of a shard in a batch; `usd`: what they cost, estimated."""
        shard = self._shard(path)
        data = b"".join(lines)
        if len(lines) > MOST_REQUESTS or len(data) > MOST_BYTES:
            raise InputError(
                f"{path}: {len(lines):,} requests, {len(data) >> 20:,} MB; a batch has at most "
                f"{MOST_REQUESTS:,}, {MOST_BYTES >> 20} MB; plan again with more --shards"
            )
        attempt = sum(batch.shard == shard for batch in self._batches.values())
        digest = hashlib.sha256(data).hexdigest()
        # From nothing that differs between processes, so that another one finds the batch.
        parts = "\0".join((self.plan, shard, digest, str(attempt))).encode()
        name = f"clinometer-{hashlib.sha256(parts).hexdigest()[:40]}"
        file = self._provider(shard).upload(path.name, data)
        batch = _Batch(name, shard, file, digest, time.time(), usd, requests=len(lines))
        self._create(batch)

    def resume(self) -> None:
        """Find out whether a batch exists that a killed process was creating; else create it."""
        for batch in self._running_batches():
            if batch.id is None:
                batch.id = self._find(batch)
                self._create(batch)

    def _create(self, batch: _Batch) -> None:
        """Create a batch, unless it is there, and note it."""
        provider = self._provider(batch.shard)
        self._batches[batch.name] = batch
        for _ in provider.waits():  # it limits the tries; `_find` waits between them
            if batch.id is not None:
                break
            batch.try_time = time.time()
            self._note_creating(batch)
            try:
                batch.id = provider.create(batch.file, batch.name, batch.shard)
            except ModelError as error:
                batch.status = "refused"
                self._note("ended", batch.name, status="refused", error=str(error))
                raise
            # Without an id the answer was lost on its way, and the batch may exist.
            batch.id = batch.id or self._find(batch)
        if batch.id is None:
            raise ModelError(f"{batch.shard}: no batch yet; repeat the command later")
        batch.status = "validating"
        self._note("created", batch.name, batch=batch.id)
        self.say(f"{batch.shard}: batch {batch.id}, {batch.requests:,} requests")

    def _note_creating(self, batch: _Batch) -> None:
        """Write what another process needs to find a batch, before it is created."""
        self._note(
            "creating",
            batch.name,
            shard=batch.shard,
            file=batch.file,
            sha256=batch.sha256,
            at=batch.try_time,
            usd=batch.usd,
            requests=batch.requests,
        )

    def _find(self, batch: _Batch) -> str | None:
        """Look for a batch at the provider, and again when it must be in its list."""
        provider = self._provider(batch.shard)
        batch_id = provider.find(batch.file, batch.name)
        if batch_id is not None:
            return batch_id
        # Never longer than `SETTLE_S`: with a clock set back, `try_time` lies in the future.
        wait_s = min(SETTLE_S, batch.try_time + SETTLE_S - time.time())
        if wait_s > 0:
            self.say(
                f"{batch.shard}: its batch may have been created; looking again in {wait_s:.0f} s"
            )
            time.sleep(wait_s)
        return provider.find(batch.file, batch.name)

    def poll(self) -> None:
        """Look at every batch that runs; bring the results of those that have ended."""
        for batch in self._running_batches():
            assert batch.id is not None
            state = self._provider(batch.shard).retrieve(batch.id)
            batch.status = state.status
            if (counts := state.request_counts) is not None:
                batch.answered = counts.completed or 0
                batch.requests = counts.total or batch.requests
            if state.status not in _ENDS:
                continue
            files = list(filter(None, (state.output_file_id, state.error_file_id)))
            batch.looks += 1
            if state.status == "completed" and not files and batch.looks < _LOOKS:
                batch.status = "completed, without results yet"
                continue
            self._end(batch, state, files)

    def _end(self, batch: _Batch, state: Batch, files: list[str]) -> None:
        """Bring the results of a batch, and note its end."""
        has_results = self._bring(batch, files)
        # After the results are on the disk: a batch that is noted as ended is not looked at again.
        self._note("ended", batch.name, status=batch.status)
        self.cancelled |= batch.status == "cancelled"
        if batch.status != "failed":  # there may be room for those that had to wait
            waiting = [shard for shard, error in self._refused.items() if error == _QUEUE]
            for shard in waiting:
                del self._refused[shard]
        if not has_results:
            errors = (state.errors and state.errors.data) or []
            self._refused[batch.shard] = (errors[0].code or "") if errors else batch.status
            reason = f": {errors[0].message or errors[0].code}" if errors else ""
            more = f" ({len(errors):,} errors)" if errors[1:] else ""
            paid = ", nothing is paid" if batch.status == "failed" else ""
            self.say(f"{batch.shard}: batch {batch.id} {batch.status}{reason}{more}{paid}")

    def _bring(self, batch: _Batch, files: list[str]) -> bool:
        """Add the results of a batch to the answers of its shard; return whether there are any."""
        path = self.directory / Path(batch.shard).with_suffix(ANSWERED)
        results: list[bytes] = []
        for file in files:
            lines = self._provider(batch.shard).download(file).splitlines()
            results += [line for line in lines if line.strip()]
        if not results:
            return False
        # What this process brings, nobody else has had in hand.
        marks = ShardMarks(self.directory)
        results = [marks.add(line).rstrip() for line in results]
        before = path.read_bytes().splitlines() if path.is_file() else []
        # Each line once: a process that was killed may have brought them before.
        merged = list(dict.fromkeys([*before, *results]))
        write_bytes(path, b"".join(line + b"\n" for line in merged))
        answers_before = sum(map(_is_answer, before))
        self.gained += sum(map(_is_answer, merged)) - answers_before
        return True

    def states(self) -> str:
        """Say how the batches stand that run."""
        running = self._running_batches()
        counts = Counter(batch.status for batch in running)
        states = ", ".join(f"{n} {state.replace('_', ' ')}" for state, n in counts.items())
        answered = sum(batch.answered for batch in running)
        requests = sum(batch.requests for batch in running)
        noun = "batch" if len(running) == 1 else "batches"
        return f"{len(running)} {noun} ({states}): {answered:,} of {requests:,} requests answered"

    def wait(self, poll_s: float) -> None:
        """Wait until no batch runs; look every `poll_s` seconds."""
        last_text = ""
        last_time = 0.0
        while self.running:
            next_poll = time.monotonic() + poll_s
            while True:
                now = time.monotonic()
                text = self.states()
                if text != last_text or now - last_time >= SAY_EVERY_S:
                    self.say(text)
                    last_text = text
                    last_time = now
                if now >= next_poll:
                    break
                time.sleep(min(next_poll - now, SAY_EVERY_S))
            self.poll()


def _is_answer(line: bytes) -> bool:
    """Whether a line of results holds a chat completion."""
    try:
        return read_line(line).body is not None
    except BodyError:
        return False
