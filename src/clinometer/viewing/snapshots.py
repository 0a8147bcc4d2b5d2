"""The trials of a plan, and the answers of its journals, as tables in a folder of this program.

A results directory has no tables until its run has ended. Until then they are made here, so that
answers are browsed the same way before and after. Nothing is written into the results directory.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from clinometer.asking.plan import load_plan
from clinometer.audits.tabulating import ModelAnswers
from clinometer.results import TRIALS
from clinometer.results.records import Journal
from clinometer.results.tables import pieces, scan_table, write_pieces
from clinometer.viewing.runs import ListedRun, Stamp, stamps

#: Answers are read again at the earliest after so many seconds, and after so many times the
#: seconds that it took: a run on the same machine has the rest.
RENEW_EVERY_S = 3.0
REST = 10.0


@dataclass(frozen=True)
class _Snapshot:
    """What a table was made from, when, and how long that took."""

    versions: tuple[Stamp, ...]
    creation_time: float
    took_s: float


class Snapshots:
    """Tables of runs without tables, in a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._snapshots: dict[Path, _Snapshot] = {}
        self._lock = threading.Lock()

    def trials(self, run: ListedRun) -> Path:
        """Return a table of the plan's trials, columns of `results.TRIALS`.

        Raises PlanError or StudyError if the plan, or a study of it, cannot be read.
        """
        path = self._folder / run.key / "trials.parquet"
        versions = stamps(run.path / "plan.json")
        with self._lock:
            snapshot = self._snapshots.get(path)
            if snapshot is None or snapshot.versions != versions:
                start = time.monotonic()
                write_pieces(load_plan(run.path).pieces(), path)
                self._record(path, versions, start)
        return path

    def count(self, run: ListedRun) -> int:
        """Return the number of trials of each model; raises as `trials`."""
        counted: int = scan_table(self.trials(run), TRIALS).select(pl.len()).collect().item()
        return counted

    def answers(self, run: ListedRun, models: list[str]) -> tuple[Path, float]:
        """Return a table of the answers so far, columns of `results.RESPONSES`, and its age in s.

        Raises InputError if a journal was changed by another hand; else as `trials`.
        """
        trials = self.trials(run)
        path = self._folder / run.key / "responses.parquet"
        files = [file for model in models for file in Journal(run.path, model).files()]
        with self._lock:
            snapshot = self._snapshots.get(path)
            if snapshot is None or (snapshot.versions != stamps(*files) and _may_renew(snapshot)):
                # Before reading: what is appended meanwhile must make the table old.
                start = time.monotonic()
                versions = stamps(*files)
                answers = (ModelAnswers(run.path, model) for model in models)
                parts = (source.join(piece) for source in answers for piece in pieces(trials))
                write_pieces(parts, path)
                self._record(path, versions, start)
            return path, time.monotonic() - self._snapshots[path].creation_time

    def _record(self, path: Path, versions: tuple[Stamp, ...], start: float) -> None:
        now = time.monotonic()
        self._snapshots[path] = _Snapshot(versions, now, now - start)


def _may_renew(snapshot: _Snapshot) -> bool:
    return time.monotonic() - snapshot.creation_time > max(RENEW_EVERY_S, REST * snapshot.took_s)
