"""How far a run is, from its journals, which are read on from where they were read to before.

A reader takes no lock and writes nothing. A last line that is only half written counts when it
ends.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from clinometer.directory.results import read_detail
from clinometer.results.records import Journal


@dataclass(frozen=True)
class Progress:
    """How many trials of a model have an answer.

    `trials` is None where the plan does not say; `since_s` is the time since the last line of the
    journal, None without one.
    """

    model: str
    answered: int
    failed: int
    trials: int | None
    since_s: float | None

    @property
    def complete(self) -> bool:
        """Whether every trial has an answer."""
        return self.trials is not None and self.answered >= self.trials


@dataclass
class Counted:
    """What was read of the journal of one model."""

    offsets: dict[Path, int] = field(default_factory=dict)  # bytes read of each file
    answered: set[str] = field(default_factory=set)
    failed: set[str] = field(default_factory=set)

    def count(self, files: list[Path]) -> None:
        """Read what was appended; everything anew where a file became shorter."""
        if any(_size(path) < done for path, done in self.offsets.items()):
            self.offsets = {}
            self.answered = set()
            self.failed = set()
        for path in files:
            for line in self._new_lines(path):
                self._take_line(line)

    def _new_lines(self, path: Path) -> Iterator[bytes]:
        with path.open("rb") as file:
            file.seek(self.offsets.get(path, 0))
            for line in file:
                if not line.endswith(b"\n"):  # still being written; read when it ends
                    return
                self.offsets[path] = self.offsets.get(path, 0) + len(line)
                yield line

    def _take_line(self, text: bytes) -> None:
        with suppress(ValueError, RecursionError):
            line = json.loads(text)
            trial = line.get("trial_id") if isinstance(line, dict) else None
            if isinstance(trial, str):
                (self.answered if line.get("error") is None else self.failed).add(trial)


class Counter:
    """Counts the answers of models; what was counted before is not read again."""

    def __init__(self) -> None:
        self._counted: dict[tuple[Path, str], Counted] = {}
        self._lock = threading.Lock()

    def count(self, directory: Path, model: str, trials: int | None) -> Progress:
        """Count the answers of a model; a journal that is not there has none.

        Raises OSError if a journal cannot be read.
        """
        files = Journal(directory, model).files()
        with self._lock:
            counted = self._counted.setdefault((directory, model), Counted())
            counted.count(files)
            answered = len(counted.answered)
            failed = len(counted.failed - counted.answered)  # a later try may have succeeded
        last = max((path.stat().st_mtime for path in files), default=None)
        since = None if last is None else max(0.0, time.time() - last)
        return Progress(model, answered, failed, trials, since)


def tables_are_current(directory: Path, models: list[str]) -> dict[str, Progress] | None:
    """Return the progress that the tables state; None where journals were written since.

    Raises InputError if the table of progress is malformed.
    """
    table = directory / "progress.parquet"
    try:
        table_time = table.stat().st_mtime_ns
        files = [path for model in models for path in Journal(directory, model).files()]
        latest = {path: path.stat().st_mtime_ns for path in files}
    except OSError:
        return None
    if any(changed > table_time for changed in latest.values()):
        return None
    last = max(latest.values(), default=None)
    since = None if last is None else max(0.0, time.time() - last / 1e9)
    progress = {}
    for row in read_detail(directory, "progress").iter_rows(named=True):
        model = row["model"]
        progress[model] = Progress(model, row["n_answered"], row["n_error"], row["n_trials"], since)
    return progress


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
