"""Forged journals are noticed by whoever has the key; killed, continued and merged ones are not."""

from __future__ import annotations

import contextlib
import hashlib
import json
import shutil
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from clinometer.errors import InputError, PlanError
from clinometer.results import records
from clinometer.results.evidence import elsewhere_notes, refuse_elsewhere
from clinometer.results.origins import KEY_VARIABLE, find_key, make_key
from clinometer.results.records import Journal, plan_key, read_plan, write_plan

MODEL = "m/m"
SECOND_KEY = "another key, of another user"


def ask(directory: Path, *trials: str, run: str = "r1", model: str = MODEL) -> Path:
    """Append answers to a journal, and write a plan where there is none; return the journal."""
    if not (directory / "plan.json").exists():
        write_plan(directory / "plan.json", {"run": run, "seed": 1}, make_key())
    with contextlib.closing(Journal(directory, model)) as journal:
        for trial in trials:
            journal.append({"trial_id": trial, "response": f"yes {trial}"})
    return journal.folder / "00000.jsonl"


def texts(directory: Path) -> list[str]:
    notes = elsewhere_notes(directory / "plan.json", directory)
    return [f"{place.name}: {note.text}" for place, note in notes.items()]


def unsigned(line: str) -> str:
    """Return a line with a hash that fits, as anybody can make it."""
    text = line.partition(', "sum"')[0]
    digest = hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
    return f'{text}, "sum": "{digest}"}}\n'


def rewrite(lines: list[str]) -> list[str]:
    return [*lines[:2], unsigned(lines[2].replace("yes", "no")), *lines[3:]]


def append_without_mark(lines: list[str]) -> list[str]:
    return [*lines, unsigned('{"trial_id": "t0", "response": "no", "model": "m/m"}')]


def strip_marks(lines: list[str]) -> list[str]:
    return [unsigned(line.partition(', "mark"')[0]) for line in lines]


def turn_into_error(lines: list[str]) -> list[str]:
    return [unsigned(lines[0].replace('"response"', '"error": "e", "x"')), *lines[1:]]


FORGERIES: dict[str, tuple[Callable[[list[str]], list[str]], str]] = {
    "rewritten": (rewrite, "1 of 5 answers were not asked here: changed, moved"),
    "appended": (append_without_mark, "1 of 6 answers were not asked here: origin unknown"),
    "without marks": (strip_marks, "5 of 5 answers were not asked here: origin unknown"),
    "twice": (lambda lines: [*lines, lines[0]], "1 of 6 answers .* changed, moved"),
    "moved": (lambda lines: [lines[1], lines[0], *lines[2:]], "1 of 5 answers .* changed, moved"),
    "dropped": (lambda lines: [lines[0], *lines[3:]], "missing: 2 lines"),
    "dropped at the end": (lambda lines: lines[:-2], "missing: 2 lines"),
    "an answer as an error": (turn_into_error, "1 of 5 answers .* changed, moved"),
    "none left": (lambda lines: [], "missing: 5 lines"),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forged_journal_is_noticed(name: str, tmp_path: Path) -> None:
    path = ask(tmp_path, "t0", "t1", "t2", "t3", "t4")
    assert texts(tmp_path) == []
    forge, says = FORGERIES[name]
    path.write_text("".join(forge(path.read_text().splitlines(keepends=True))))
    with pytest.raises(PlanError, match=rf"m-m: {says}.* --continue-from-elsewhere"):
        refuse_elsewhere(elsewhere_notes(tmp_path / "plan.json", tmp_path))
    # What was lost or changed stays so when the run is continued.
    ask(tmp_path, "t5")
    assert texts(tmp_path)


def test_without_the_count_of_lines_some_may_be_missing(tmp_path: Path) -> None:
    path = ask(tmp_path, "t0", "t1", "t2")
    (count,) = path.parent.glob("*.count")
    count.unlink()
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:2]))
    assert "missing: 1 line marked here, or the file that counts them" in texts(tmp_path)[0]
    ask(tmp_path, "t2")
    assert texts(tmp_path)


@pytest.mark.parametrize("is_same_run", [True, False])
def test_the_journal_of_another_run_is_noticed(is_same_run: bool, tmp_path: Path) -> None:
    ask(tmp_path / "a", "t0", "t1")
    ask(tmp_path / "b", "t0", "t1", run="r2")
    shutil.rmtree(tmp_path / "a" / "answers")
    shutil.copytree(tmp_path / "b" / "answers", tmp_path / "a" / "answers")
    if not is_same_run:  # the id of the other run, and a hash that fits
        plan = {**read_plan(tmp_path / "a" / "plan.json"), "run": "r2"}
        mark = json.loads((tmp_path / "a" / "plan.json").read_text())["mark"]
        write_plan(tmp_path / "a" / "plan.json", plan)
        text = (tmp_path / "a" / "plan.json").read_text()
        (tmp_path / "a" / "plan.json").write_text(f'{{"mark": "{mark}", {text[1:]}')
    says = "answers were not asked here" if is_same_run else "plan.json: the plan was not made here"
    assert says in texts(tmp_path / "a")[0]


def test_the_journal_of_another_model_or_machine_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = ask(tmp_path, "t0")
    second = ask(tmp_path, "t0", model="m/other")
    shutil.copytree(second.parent, path.parent, dirs_exist_ok=True)
    path.write_text(unsigned(path.read_text().replace("m/other", "m/m")))
    assert "changed, moved or taken from another run" in texts(tmp_path)[0]
    monkeypatch.setenv(KEY_VARIABLE, SECOND_KEY)
    assert [text.rpartition(": key ")[0] for text in texts(tmp_path)] == [
        "plan.json: the plan was not made here",
        "m-m: 1 of 1 answers were not asked here",
        "m-other: 1 of 1 answers were not asked here",
    ]


def test_a_line_of_another_key_cannot_call_itself_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key_id = make_key().id
    ask(tmp_path, "t0")
    monkeypatch.setenv(KEY_VARIABLE, SECOND_KEY)
    with contextlib.closing(Journal(tmp_path, MODEL)) as journal:
        journal.append({"trial_id": "t1", "response": "no", "origin": key_id})
    monkeypatch.undo()
    monkeypatch.setenv(KEY_VARIABLE, "key of the tests, in no folder")
    assert "1 of 2 answers were not asked here: key" in texts(tmp_path)[0]


def test_a_process_killed_at_any_byte_raises_no_alarm(tmp_path: Path) -> None:
    path = ask(tmp_path, "t0", "t1")
    (count_path,) = path.parent.glob("*.count")
    original, count = path.read_bytes(), count_path.read_bytes()
    ask(tmp_path, "t2")
    longer = path.read_bytes()
    longer_count = count_path.read_bytes()
    # The count is written after the line; a disk may keep it, and lose the end of the line.
    for end in range(len(original), len(longer) + 1, 7):
        for counted in (count, longer_count) if end > len(original) else (count,):
            path.write_bytes(longer[:end])
            count_path.write_bytes(counted)
            assert texts(tmp_path) == []
            ask(tmp_path, "t3")
            assert texts(tmp_path) == [], end


def test_sessions_and_files_go_on_counting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "SHARD", 2)
    for session in range(3):
        ask(tmp_path, *(f"t{session}{n}" for n in range(3)))
    assert len([*tmp_path.glob("answers/*/*.jsonl")]) == 5
    assert texts(tmp_path) == []


def test_a_changed_plan_is_not_ours_even_with_a_hash_that_fits(tmp_path: Path) -> None:
    ask(tmp_path, "t0")
    path = tmp_path / "plan.json"
    assert plan_key(path) is not None
    write_plan(path, {**read_plan(path), "seed": 2})
    assert plan_key(path) is None
    assert texts(tmp_path) == ["plan.json: the plan was not made here: origin unknown"]


def test_a_key_is_made_once_for_the_user_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(KEY_VARIABLE, "")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert find_key() is None
    key = make_key()
    assert make_key() == key == find_key()
    (path,) = tmp_path.rglob("key")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [*path.parent.iterdir()] == [path]
    assert key.secret.decode() not in repr(key)
    path.write_text("short")
    with pytest.raises(InputError, match="key: a key has at least 16 characters"):
        find_key()


def test_where_no_key_can_be_kept_it_is_said_how_to_give_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(KEY_VARIABLE, "")
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "file"))
    with pytest.raises(InputError, match="give one in CLINOMETER_KEY"):
        make_key()
