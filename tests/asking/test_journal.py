from __future__ import annotations

from pathlib import Path

from tiltmeter.asking.journal import Journal


def test_answers_come_back_as_written(tmp_path: Path) -> None:
    journal = Journal(tmp_path, "openai/gpt-4o")
    journal.append({"trial_id": "a", "response": "tragic - black\n\u2028é"})
    journal.append({"trial_id": "b", "response": ""})
    assert [(a["trial_id"], a["response"]) for a in journal] == [
        ("a", "tragic - black\n\u2028é"),
        ("b", ""),
    ]


def test_a_torn_line_is_ignored_and_does_not_spoil_the_next(tmp_path: Path) -> None:
    journal = Journal(tmp_path, "m/m")
    journal.append({"trial_id": "a", "response": "x"})
    with journal.path.open("ab") as file:
        file.write(b'{"model": "m/m", "trial_id": "b", "resp')
    journal.append({"trial_id": "c", "response": "z"})
    assert [a["trial_id"] for a in journal] == ["a", "c"]


def test_an_answer_replaces_an_earlier_error(tmp_path: Path) -> None:
    journal = Journal(tmp_path, "m/m")
    journal.append({"trial_id": "a", "error": "timeout"})
    journal.append({"trial_id": "a", "response": "x"})
    journal.append({"trial_id": "a", "error": "late"})
    assert [a.get("response") for a in journal] == ["x"]


def test_two_models_with_like_names_stay_apart(tmp_path: Path) -> None:
    one, other = Journal(tmp_path, "hf/a b"), Journal(tmp_path, "hf/a/b")
    one.append({"trial_id": "a", "response": "one"})
    other.append({"trial_id": "a", "response": "other"})
    assert [a["response"] for a in one] == ["one"]
    assert [a["response"] for a in other] == ["other"]
