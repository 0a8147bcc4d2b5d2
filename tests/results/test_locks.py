"""Processes that write one directory at once, and directories that are removed meanwhile."""

from __future__ import annotations

import errno
import shutil
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from clinometer.errors import InputError, PlanError
from clinometer.results import locks
from clinometer.results.locks import only_process, writing
from clinometer.results.tables import write_table
from waiting import HANGS_S

fcntl = pytest.importorskip("fcntl")

COUNT = """
import sys
from pathlib import Path
from clinometer.results.locks import writing
folder = Path(sys.argv[1])
for _ in range(200):
    with writing(folder), writing(folder):
        number = folder / "number"
        number.write_text(str(int(number.read_text()) + 1))
"""


def test_processes_write_one_after_another(tmp_path: Path) -> None:
    (tmp_path / "number").write_text("0")
    command = [sys.executable, "-c", COUNT, str(tmp_path)]
    writers = [subprocess.Popen(command) for _ in range(3)]
    assert [writer.wait(HANGS_S) for writer in writers] == [0, 0, 0]
    assert (tmp_path / "number").read_text() == "600"


@pytest.mark.parametrize("lock", [writing, only_process])
@pytest.mark.parametrize("again", [False, True])
def test_a_directory_that_is_removed_is_named(tmp_path: Path, lock: object, again: bool) -> None:
    folder = tmp_path / "r"
    folder.mkdir()
    with pytest.raises(InputError, match=f"^{folder}: removed while it was written"):  # noqa: SIM117
        with lock(folder):  # type: ignore[operator]
            shutil.rmtree(folder)
            if again:
                write_table(pl.DataFrame({"x": [1]}), folder / "t.parquet")
            else:
                (folder / "t").write_text("")


@pytest.mark.parametrize("lock", [writing, only_process])
def test_a_directory_that_is_renamed_can_be_continued(tmp_path: Path, lock: object) -> None:
    folder, renamed = tmp_path / "r", tmp_path / "other"
    folder.mkdir()
    message = f"^{folder}: renamed while it was written; its answers are in {renamed}"
    with pytest.raises(InputError, match=message):  # noqa: SIM117
        with lock(folder):  # type: ignore[operator]
            folder.rename(renamed)
    with only_process(renamed):
        pass


def test_a_file_system_without_locks_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    warnings: list[str] = []
    monkeypatch.setattr(fcntl, "flock", none)
    monkeypatch.setattr("clinometer.results.locks._log.warning", warnings.append)
    locks._say_no_locks.cache_clear()
    with only_process(tmp_path), writing(tmp_path):
        assert len(warnings) == 1 and "no locks" in warnings[0]


def test_other_errors_stay(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="^x$"), writing(tmp_path):
        raise InputError("x")
    with writing(tmp_path):
        pass


def test_a_directory_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    with writing(tmp_path / "none"):
        assert not (tmp_path / "none").exists()
    with (
        pytest.raises(InputError, match="is the directory there"),
        only_process(tmp_path / "none"),
    ):
        pass


HOLD = """
import sys, time
from pathlib import Path
from clinometer.results.locks import only_process, writing
folder = Path(sys.argv[1])
with only_process(folder), writing(folder):
    print("held", flush=True)
    time.sleep(float(sys.argv[2]))
"""


def test_a_killed_process_holds_nothing(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLD, str(tmp_path), str(HANGS_S)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stdout.readline() == "held\n"
        with pytest.raises(PlanError, match="another process"), only_process(tmp_path):
            pass
        process.kill()
    with only_process(tmp_path), writing(tmp_path):
        pass


def test_a_second_process_does_not_ask(tmp_path: Path) -> None:
    with (tmp_path / ".lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(PlanError, match="another process"), only_process(tmp_path):
            pass
    with only_process(tmp_path):
        pass
