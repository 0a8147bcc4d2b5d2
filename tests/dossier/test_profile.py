"""A profile that is not whole, or not about the run, is named by file and field."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml

from clinometer.dossier.profile import load_profile
from clinometer.dossier.writing import write_dossier
from clinometer.errors import InputError

TODAY = date(2026, 12, 1)

REQUIRED = ("system", "use", "groups", "hazard", "limits", "owner", "response", "next_test",
            "retention")  # fmt: skip


def message(audited: Path, path: Path) -> str:
    """Return what is said of a profile; nothing may be written."""
    out = path.parent / "dossier"
    with pytest.raises(InputError) as error:
        write_dossier(audited, path, out, today=TODAY)
    assert not out.exists()
    return str(error.value)


@pytest.mark.parametrize("field", REQUIRED)
def test_a_missing_field_is_named(audited: Path, profile: Callable[..., Path], field: str) -> None:
    path = profile(lambda fields: fields.pop(field))
    said = message(audited, path)
    assert said.startswith(f"{path}:") and f": {field}: " in said and "\n" not in said


@pytest.mark.parametrize("text", ["", "  ", "FILL IN: who answers", "fill in"])
@pytest.mark.parametrize("field", ["use", "hazard", "owner", "response", "retention"])
def test_an_empty_field_is_named(
    audited: Path, profile: Callable[..., Path], field: str, text: str
) -> None:
    said = message(audited, profile(lambda fields: fields.update({field: text})))
    assert re.search(rf"profile.yaml:\d+: {field}: empty; fill it in$", said)


def change(path: str, value: Any) -> Callable[[dict[str, Any]], None]:
    """Return a change of one field, as ``groups.0.name``; None takes it out."""

    def apply(fields: Any) -> None:
        *parents, last = path.split(".")
        for name in parents:
            fields = fields[int(name) if name.isdigit() else name]
        if value is None:
            del fields[last]
        else:
            fields[int(last) if last.isdigit() else last] = value

    return apply


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        ("next_test.date", "2026-11-30", "next_test.date: 2026-11-30 is in the past"),
        ("next_test.date", "next year", "next_test.date: 'next year': expected a date"),
        ("next_test.trigger", None, "next_test.trigger: "),
        ("system.version", "", "system.version: empty"),
        ("system.model", "openai/gpt-4o", "system.model: unknown model 'openai/gpt-4o'"),
        ("groups.0.measured_by", ["religion"], "groups.0.measured_by.0: the run did not ask it"),
        ("groups.0.measured_by", [], "either measured_by, or not_measured"),
        ("groups.1.not_measured", " ", "groups.1.not_measured: empty"),
        ("groups", [], "groups: "),
        ("limits.0.reason", "", "limits.0.reason: empty"),
        ("limits.0.reason", None, "limits.0.reason: "),
        ("limits.0.rule", "gender", "limits.0.rule: unknown rule 'gender'"),
        ("limits", [], "limits: "),
        ("owners", "somebody", "unknown field 'owners'; did you mean owner"),
        ("statements", {"auditors": "A"}, "statements.auditors: unknown statement"),
        ("statements", {"auditor": ""}, "statements.auditor: empty"),
        ("not_applicable", {"ll145": "no"}, "not_applicable.ll145: unknown checklist or entry"),
        ("not_applicable", {"ll144": ""}, "not_applicable.ll144: empty"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(
    audited: Path, profile: Callable[..., Path], path: str, value: Any, said: str
) -> None:
    text = message(audited, profile(change(path, value)))
    assert said in text and "\n" not in text


def test_a_limit_without_a_reason_is_named_by_its_rule(
    audited: Path, profile: Callable[..., Path], tmp_path: Path
) -> None:
    rule = {"what": "mean", "level": "category", "at_most": 0.9}
    rules = [{"name": "overall", **rule}, {"name": "by category", **rule}]
    policy = tmp_path / "policy.yaml"
    policy.write_text(yaml.safe_dump({"name": "p", "rules": rules}))
    with pytest.raises(InputError, match="limits: no reason for the limit 'by category'"):
        write_dossier(audited, profile(), tmp_path / "out", policy=policy, today=TODAY)


def test_a_file_that_is_no_profile_is_named(tmp_path: Path) -> None:
    (tmp_path / "p.yaml").write_text("- a list")
    with pytest.raises(InputError, match="p.yaml:1: expected a mapping"):
        load_profile(tmp_path / "p.yaml")
    with pytest.raises(InputError, match="no such file"):
        load_profile(tmp_path / "none.yaml")
