"""A run that goes on: what a reader sees follows the journal, and disturbs nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from clinometer.results.locks import only_process, writing


def files(directory: Path) -> dict[Path, tuple[int, int]]:
    paths = [path for path in directory.rglob("*") if path.is_file()]
    return {path: (path.stat().st_mtime_ns, path.stat().st_size) for path in paths}


def test_progress_follows_the_journal(half: Path, pages: Any, more: Any) -> None:
    ask = pages(half)
    assert "4 of 8 (50%)" in ask()
    before = json.loads(ask("progress.json"))
    more(half, 4, 6)
    after = json.loads(ask("progress.json"))
    assert [progress["models"][0]["share"] for progress in (before, after)] == [0.5, 0.75]
    assert before["stamp"] == after["stamp"]


def test_a_half_written_line_counts_when_it_ends(half: Path, pages: Any, more: Any) -> None:
    (journal,) = half.glob("answers/*/*.jsonl")
    content = journal.read_bytes()
    journal.write_bytes(content[:-20])
    ask = pages(half)
    assert "3 of 8" in ask()
    journal.write_bytes(content)
    assert "4 of 8" in ask()


def test_an_error_is_no_answer_until_there_is_one(half: Path, pages: Any, more: Any) -> None:
    from clinometer.results.records import Journal

    (model,) = json.loads((half / "plan.json").read_text())["models"]
    trial = json.loads(next(half.glob("answers/*/*.jsonl")).read_text().splitlines()[0])["trial_id"]
    journal = Journal(half, model)
    journal.append({"trial_id": trial, "error": "E"}, {"trial_id": "other", "error": "E"})
    journal.close()
    models = json.loads(pages(half)("progress.json"))["models"]
    assert (models[0]["answered"], models[0]["failed"]) == ("4 of 8 (50%)", "1")


def test_answers_are_browsed_before_there_are_tables(half: Path, pages: Any) -> None:
    ask = pages(half)
    page = ask("answers")
    assert "4 answers" in page and "not scored yet" in page
    path = ask.addresses("answers", "answer?")[0].removeprefix(ask.run)
    html = ask(path)
    assert "The words are" in html and " - " in html


def test_nothing_is_written_and_no_lock_is_taken(half: Path, pages: Any) -> None:
    with only_process(half), writing(half):  # as the run that goes on holds them
        before = files(half)
        ask = pages(half)
        for page in ("", "progress.json", "answers"):
            ask(page)
        assert files(half) == before


def test_when_tables_are_written_the_overview_is_another(
    half: Path, finished: Path, pages: Any, more: Any
) -> None:
    ask = pages(half)
    before = json.loads(ask("progress.json"))["stamp"]
    assert f'data-stamp="{before}"' in ask() and "no findings yet" in ask()
    for path in finished.glob("*.parquet"):
        (half / path.name).write_bytes(path.read_bytes())
    assert json.loads(ask("progress.json"))["stamp"] != before
    assert "In brief" in ask()


def test_answers_that_came_after_the_tables_are_announced(
    finished: Path, pages: Any, more: Any
) -> None:
    import os

    (journal,) = finished.glob("answers/*/*.jsonl")
    ask = pages(finished)
    assert "newer than these scores" not in ask("answers")
    later = (finished / "progress.parquet").stat().st_mtime + 10
    os.utime(journal, (later, later))
    assert "newer than these scores" in ask("answers")
    (raw,) = ask.addresses("answers", "source=journal")
    assert "8 answers" in ask(raw.removeprefix(ask.run))


def test_answers_are_read_again_after_a_rest(
    half: Path, pages: Any, more: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("clinometer.viewing.snapshots.RENEW_EVERY_S", 1e6)
    ask = pages(half)
    assert "4 answers" in ask("answers")
    more(half, 4, 6)
    assert "4 answers" in ask("answers")
    monkeypatch.setattr("clinometer.viewing.snapshots.RENEW_EVERY_S", 0)
    monkeypatch.setattr("clinometer.viewing.snapshots.REST", 0)
    assert "6 answers" in ask("answers")
