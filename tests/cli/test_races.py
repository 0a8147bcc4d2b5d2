"""Several processes in one results directory, started at once."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from forking import Forked
from waiting import until

Start = Callable[..., Forked]
RUN = ("run", "openai-api/loop/m", "--stereotypes", "age", "--variations", "replication",
       "--iterations", "8", "--out", "r", "--max-connections", "1")  # fmt: skip


def outcome(process: Forked) -> tuple[int, list[str]]:
    _, err = process.communicate()
    return process.returncode, err.splitlines()


def answers(place: Path) -> int:
    """Return how many answers a run has written."""
    return sum(path.read_bytes().count(b"\n") for path in place.glob("answers/*/*.jsonl"))


def recorded(path: Path, answers: int) -> None:
    pl.DataFrame(
        {"model": "m", "stereotype": "age", "variation": "replication", "iteration": range(answers),
         "response": ["agony - old\njoy - young"] * answers}
    ).write_csv(path)  # fmt: skip


def test_two_audits_of_different_answers_do_not_share_a_directory(
    clinometer: Start, tmp_path: Path
) -> None:
    for name, answers in (("a", 4), ("b", 6)):
        recorded(tmp_path / f"{name}.csv", answers)
    audits = [clinometer("audit", "--responses", f"{n}.csv", "--out", "r") for n in "ab"]
    (won, _), (lost, lines) = sorted(map(outcome, audits))
    assert (won, lost) == (0, 2)
    assert len(lines) == 1 and lines[0].startswith("clinometer: r holds another plan: ")
    assert pl.read_parquet(tmp_path / "r" / "scores.parquet").height in (4, 6)


def test_processes_that_write_the_same_tables_wait_for_each_other(
    clinometer: Start, tmp_path: Path
) -> None:
    recorded(tmp_path / "a.csv", 4)
    same = [clinometer("audit", "--responses", "a.csv", "--out", "r") for _ in range(3)]
    assert [outcome(process) for process in same] == [(0, [])] * 3


def test_a_run_that_goes_on_is_reported_and_not_run_twice(
    clinometer: Start, tmp_path: Path, serve: Callable[..., Any]
) -> None:
    serve(at_once=1)  # it goes on until it is stopped
    run = clinometer(*RUN)
    until(lambda: answers(tmp_path / "r"), run)
    second, report = clinometer(*RUN), clinometer("report", "r")
    code, lines = outcome(second)
    assert code == 2 and lines[-1].startswith("clinometer: r: another process is running this plan")
    code, lines = outcome(report)
    assert code in (0, 3) and all("incomplete" in line for line in lines)
    assert run.poll() is None
    run.kill()
    run.communicate()


@pytest.mark.parametrize("answered", [1, 4])
def test_a_directory_removed_during_a_run_is_named(
    clinometer: Start, tmp_path: Path, serve: Callable[..., Any], answered: int
) -> None:
    server = serve(at_once=answered)
    run = clinometer(*RUN)
    until(lambda: answers(tmp_path / "r") == answered and server.prompts.total() > answered, run)
    shutil.rmtree(tmp_path / "r", ignore_errors=True)
    server.go.set()
    code, lines = outcome(run)
    assert code == 2
    assert lines[-1].startswith("clinometer: r: removed while it was written"), lines
    assert not any("No such file" in line for line in lines), lines
    assert server.prompts.total() < 8
