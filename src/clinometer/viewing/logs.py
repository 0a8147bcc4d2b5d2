"""inspect's logs in inspect's own viewer.

inspect's command ``inspect view bundle`` makes a folder of static files: its viewer, and a copy of
the logs. Only that folder is served. inspect's own server is not started, as it listens on a port
of its own and can change and delete logs.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from clinometer.errors import InputError, one_line
from clinometer.packed import open_archive
from clinometer.viewing.runs import ListedRun, Stamp, stamps

#: Logs of more bytes are not copied.
MOST_BYTES = 1 << 30
#: A copy takes at most so many seconds.
MOST_S = 300

#: What a log raises that is damaged, or another's.
_UNREADABLE = (InputError, ValueError, TypeError, LookupError)


def log_files(run: ListedRun) -> list[Path]:
    """Return the logs of a run, the newest first."""
    return sorted((run.path / "logs").glob("*.eval"), reverse=True)


def command(run: ListedRun) -> str:
    """Return the command that starts inspect's own server for the logs of a run."""
    return f"inspect view start --log-dir {json.dumps(str(run.path / 'logs'), ensure_ascii=False)}"


class Bundles:
    """inspect's viewer with the logs of runs, in a folder; made anew when logs have changed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._viewers: dict[str, tuple[tuple[Stamp, ...], Path]] = {}
        self._lock = threading.Lock()

    def bundle(self, run: ListedRun) -> Path:
        """Return the folder with the viewer and the logs of a run as they are now.

        Raises InputError if there are no logs, they are too large to copy, or inspect fails.
        """
        files = log_files(run)
        if not files:
            raise InputError(
                "this run has no inspect logs; a bundle has them if it was made with --logs"
            )
        with self._lock:
            versions = stamps(*files)
            viewer = self._viewers.get(run.key)
            if viewer is None or viewer[0] != versions:
                if sum(path.stat().st_size for path in files) > MOST_BYTES:
                    raise InputError(f"the logs are larger than 1 GiB; run: {command(run)}")
                viewer = versions, self._make(run, versions)
                self._viewers[run.key] = viewer
            return viewer[1]

    def current(self, run: ListedRun) -> Path | None:
        """Return the folder as it was made last; None before."""
        viewer = self._viewers.get(run.key)
        return None if viewer is None else viewer[1]

    def _make(self, run: ListedRun, versions: tuple[Stamp, ...]) -> Path:
        parent = self._folder / run.key
        out = parent / f"viewer-{abs(hash(versions)):x}"
        old = list(parent.glob("viewer-*"))
        parent.mkdir(parents=True, exist_ok=True)
        call = [sys.executable, "-m", "inspect_ai", "view", "bundle", "--display", "none",
                "--overwrite", "--log-dir", str((run.path / "logs").resolve()),
                "--output-dir", str(out)]  # fmt: skip
        try:
            done = subprocess.run(call, capture_output=True, timeout=MOST_S, check=False)
        except subprocess.TimeoutExpired:
            raise InputError(
                f"inspect did not copy its logs in time; run: {command(run)}"
            ) from None
        if done.returncode or not (out / "index.html").is_file():
            errors = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
            raise InputError(
                f"inspect could not show its logs ({one_line(' '.join(errors))}); "
                f"run: {command(run)}"
            )
        for folder in old:
            if folder != out:
                shutil.rmtree(folder, ignore_errors=True)
        return out


def find_sample(run: ListedRun, model: str, trial: str) -> str | None:
    """Return where inspect's viewer shows a trial, as the fragment of an address; None: nowhere."""
    member = f"samples/{trial}_epoch_1.json"
    for path in log_files(run):
        if any(member == name for name in _members(path, model)):
            return f"/logs/{quote(path.name, safe='')}/samples/sample/{quote(trial, safe='')}/1/"
    return None


def _members(path: Path, model: str) -> Iterator[str]:
    """Yield the names in a log of a model; none of another's, or of one that cannot be read."""
    try:
        with open_archive(path) as log:
            names = log.names
            head = "header.json" if "header.json" in names else "_journal/start.json"
            if json.loads(log.read(head))["eval"]["model"] == model:
                yield from names
    except _UNREADABLE:
        return
