"""What was not made with the user's key is continued only on request, and said for good."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

import pytest

from clinometer.asking.claim import Claimant, claim
from clinometer.errors import PlanError
from clinometer.results.evidence import run_notes
from clinometer.results.origins import KEY_VARIABLE, make_key
from clinometer.results.records import Journal, plan_key, plan_origin, read_plan, write_plan


class Plan(Claimant):
    """A plan of one setting."""

    def file(self, out: Path) -> Path:
        return out / "plan.json"

    def identity(self) -> dict[str, Any]:
        return {"seed": 1}


def ask(directory: Path, *trials: str) -> Path:
    with contextlib.closing(Journal(directory, "m/m")) as journal:
        for trial in trials:
            journal.append({"trial_id": trial, "response": "yes"})
    return journal.folder / "00000.jsonl"


def texts(directory: Path) -> list[str]:
    return [note.text for note in run_notes(directory).values()]


def test_a_run_is_continued_as_long_as_nobody_changed_it(tmp_path: Path) -> None:
    first = claim(tmp_path / "r", Plan())
    for session in range(3):
        ask(tmp_path / "r", f"t{session}")
        assert claim(tmp_path / "r", Plan())["run"] == first["run"]
    assert claim(tmp_path / "other", Plan())["run"] != first["run"]
    assert texts(tmp_path / "r") == []


def test_lost_answers_are_continued_on_request_and_said_for_good(tmp_path: Path) -> None:
    claim(tmp_path / "r", Plan())
    path = ask(tmp_path / "r", "t0", "t1", "t2")
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:2]))
    with pytest.raises(PlanError, match="missing: 1 line .* --continue-from-elsewhere"):
        claim(tmp_path / "r", Plan())
    plan = claim(tmp_path / "r", Plan(), from_elsewhere=True)
    assert "missing: 1 line" in plan["elsewhere"]["m-m"]
    ask(tmp_path / "r", "t2")
    assert "missing: 1 line" in texts(tmp_path / "r")[0]


def test_the_plan_of_another_key_becomes_ours_on_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    claim(tmp_path / "r", Plan())
    ask(tmp_path / "r", "t0")
    foreign_key = plan_origin(tmp_path / "r" / "plan.json")
    monkeypatch.setenv(KEY_VARIABLE, "a key of somebody else")
    with pytest.raises(PlanError, match=f"plan was not made here: key {foreign_key}"):
        claim(tmp_path / "r", Plan())
    claim(tmp_path / "r", Plan(), from_elsewhere=True)
    assert plan_origin(tmp_path / "r" / "plan.json") == make_key().id
    ask(tmp_path / "r", "t1")
    assert texts(tmp_path / "r") == [
        f"the plan was not made here: key {foreign_key}",
        f"1 of 2 answers were not asked here: key {foreign_key}",
    ]


def test_a_plan_without_a_mark_stays_without_until_it_is_continued(tmp_path: Path) -> None:
    path = tmp_path / "r" / "plan.json"
    write_plan(path, {"seed": 1})
    assert plan_key(path) is None and "mark" not in json.loads(path.read_text())
    with pytest.raises(PlanError, match="not made here: origin unknown"):
        claim(tmp_path / "r", Plan())
    claim(tmp_path / "r", Plan(), from_elsewhere=True)
    assert plan_key(path) is not None and read_plan(path)["run"]


@pytest.mark.parametrize("elsewhere", ["text", ["a"], {"plan.json": {"a": 1}}])
def test_what_a_strange_plan_says_of_itself_breaks_nothing(elsewhere: Any, tmp_path: Path) -> None:
    write_plan(tmp_path / "r" / "plan.json", {"seed": 1, "elsewhere": elsewhere})
    claim(tmp_path / "r", Plan(), from_elsewhere=True)
    assert texts(tmp_path / "r") == ["the plan was not made here: origin unknown"]
