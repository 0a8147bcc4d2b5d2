from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

import pytest

from clinometer.errors import InputError, PlanError
from clinometer.results.records import FORMAT, Journal, journals, read_plan, write_plan


def append(directory: Path, model: str, *answers: dict[str, Any]) -> Journal:
    with contextlib.closing(Journal(directory, model)) as journal:
        for answer in answers:
            journal.append(answer)
    return journal


def test_answers_come_back_as_written(tmp_path: Path) -> None:
    answers = [("a", "tragic - black\n\u2028é"), ("b", "")]
    rows = [{"trial_id": trial, "response": text} for trial, text in answers]
    journal = append(tmp_path, "openai/gpt-4o", *rows)
    assert [(a["trial_id"], a["response"]) for a in journal] == answers


def test_a_torn_line_is_ignored_and_does_not_spoil_the_next(tmp_path: Path) -> None:
    journal = append(tmp_path, "m/m", {"trial_id": "a", "response": "x"})
    with (journal.folder / "00000.jsonl").open("ab") as file:
        file.write(b'{"model": "m/m", "trial_id": "b", "resp')
    append(tmp_path, "m/m", {"trial_id": "c", "response": "z"})
    assert [a["trial_id"] for a in journal] == ["a", "c"]


def test_an_answer_replaces_an_earlier_error(tmp_path: Path) -> None:
    rows = [{"error": "timeout"}, {"response": "x"}, {"error": "late"}]
    journal = append(tmp_path, "m/m", *({"trial_id": "a", **row} for row in rows))
    assert [a.get("response") for a in journal] == ["x"]


def test_two_models_with_like_names_stay_apart(tmp_path: Path) -> None:
    first = append(tmp_path, "hf/a b", {"trial_id": "a", "response": "one"})
    second = append(tmp_path, "hf/a/b", {"trial_id": "a", "response": "other"})
    assert [a["response"] for a in first] == ["one"]
    assert [a["response"] for a in second] == ["other"]
    assert [journal.model for journal in journals(tmp_path)] == ["hf/a b", "hf/a/b"]


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ('{"clinometer": "0.0.9"}', "written by clinometer 0.0.9 in a layout .* measure again"),
        (f'{{"format": {FORMAT + 1}}}', "written in a layout .* the version that wrote it$"),
        ("[]", "not a plan"),
        ("{", "not readable as a plan"),
    ],
)
def test_a_plan_of_another_layout_is_refused(wrong: str, says: str, tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_text(wrong)
    with pytest.raises(PlanError, match=says) as error:
        read_plan(tmp_path / "plan.json")
    assert "\n" not in str(error.value)


def test_a_plan_is_written_whole_with_the_number_of_its_layout(tmp_path: Path) -> None:
    write_plan(tmp_path / "r" / "plan.json", {"seed": 1})
    assert read_plan(tmp_path / "r" / "plan.json") == {"seed": 1, "format": FORMAT}
    assert [path.name for path in (tmp_path / "r").iterdir()] == ["plan.json"]
    assert json.loads((tmp_path / "r" / "plan.json").read_text())["seed"] == 1
    with pytest.raises(InputError, match="plan.json"):
        write_plan(tmp_path / "r" / "plan.json" / "plan.json", {})


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("yes", "no"),
        lambda text: text.replace("0.5", "5.0"),
        lambda text: text.replace('"sum": "', '"sum": "0'),
        lambda text: text.partition(', "sum"')[0] + "}\n",
        lambda text: text.replace("{", '{"more": 1, '),
    ],
)
def test_a_changed_line_is_named(change: Any, tmp_path: Path) -> None:
    rows = [{"trial_id": f"t{n}", "response": "yes", "score": 0.5} for n in range(3)]
    journal = append(tmp_path, "m/m", *rows)
    path = journal.folder / "00000.jsonl"
    first, second, third = path.read_text().splitlines(keepends=True)
    path.write_text(first + change(second) + third)
    with pytest.raises(InputError, match="00000.jsonl:2: changed since it was written"):
        list(journal)
    path.write_text(first + third)
    assert [line["trial_id"] for line in journal] == ["t0", "t2"]


def test_a_changed_plan_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    write_plan(path, {"iterations": 4, "name": "é"})
    for old, new in (("4", "5"), ('"seal"', '"steal"'), ("iterations", "iteration")):
        write_plan(path, {"iterations": 4, "name": "é"})
        path.write_text(path.read_text().replace(old, new, 1))
        with pytest.raises(PlanError, match="plan.json: changed since it was written"):
            read_plan(path)
