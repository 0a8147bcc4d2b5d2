"""Laws, standards and reporting checklists: their data files, and whether a dossier answers."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from pydantic import ValidationError

from clinometer.dossier.checklists import Entry, answers, checklists, statement_names
from clinometer.dossier.writing import DossierFiles

LISTS = {checklist.id: checklist for checklist in checklists()}


def test_there_are_those_of_the_issue_with_the_items_they_have() -> None:
    assert set(LISTS) == {
        *("stream", "audit_cards", "ll144", "california", "colorado", "connecticut", "m_26_04"),
        *("nist_800_2", "nist_800_3", "ts_12791", "gpai_code", "pren_18283"),
    }
    assert len(LISTS["stream"].entries) == 28
    assert len(LISTS["audit_cards"].entries) == 6


@pytest.mark.parametrize("checklist", LISTS.values(), ids=list(LISTS))
def test_a_checklist_has_source_date_and_entries_of_its_own(checklist: Any) -> None:
    assert checklist.source and checklist.certainty
    assert date.fromisoformat(checklist.retrieved) >= date(2026, 1, 1)
    names = [entry.id for entry in checklist.entries]
    assert len(set(names)) == len(names) >= 4


def test_every_key_that_answers_is_one_of_a_dossier(files: DossierFiles) -> None:
    for checklist in LISTS.values():
        for entry in checklist.entries:
            for key in entry.answered_by:
                content: Any = files.content
                for name in key.removeprefix("profile.statements.").split("."):
                    if key.startswith("profile.statements."):
                        assert name in statement_names()
                        break
                    if content is None:  # tables of an instrument that this run did not ask
                        assert key.startswith("law_tables.")
                        break
                    assert name in content, key
                    content = content[name]


def status(dossier: dict[str, Any], exempt: dict[str, str] | None = None) -> dict[str, str]:
    rows = answers(LISTS["audit_cards"], dossier, exempt or {})
    return {row.entry.id: row.status for row in rows}


def test_an_entry_is_answered_where_all_its_keys_have_content() -> None:
    assert set(status({}).values()) == {"not answered"}
    statements = {"auditor": "A", "independence": "no tie"}
    assert status({"profile": {"statements": statements}})["auditor"] == "answered"
    del statements["independence"]
    assert status({"profile": {"statements": statements}})["auditor"] == "not answered"
    # Nothing departed from the plan: that is an answer, and an empty list is none.
    scope = {"profile": {"use": "x"}, "not_tested": []}
    assert status(scope)["scope"] == "not answered"


def test_a_profile_may_say_that_an_entry_or_a_checklist_does_not_apply() -> None:
    assert set(status({}, {"audit_cards": "no audit"}).values()) == {"not applicable"}
    rows = answers(LISTS["audit_cards"], {}, {"audit_cards.review": "nobody reviews"})
    assert [row.reason for row in rows if row.status == "not applicable"] == ["nobody reviews"]


def test_an_entry_says_what_answers_it_or_why_nothing_does() -> None:
    with pytest.raises(ValidationError, match="one of them"):
        Entry(id="x", text="y")
    with pytest.raises(ValidationError, match="one of them"):
        Entry(id="x", text="y", answered_by=["profile"], not_applicable="z")
