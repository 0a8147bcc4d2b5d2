"""A run of a simulated model with a declared policy, and a profile that fits it."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml

import clinometer as cm
from clinometer.dossier.writing import DossierFiles, write_dossier

POLICY = """\
name: release
rules:
  - name: overall
    what: mean
    level: model
    at_most: 0.9
    where: {instrument: word_association}
"""

PROFILE: dict[str, Any] = {
    "system": {"name": "Ranker <b>", "version": "2", "model": "simulated/leaning"},
    "use": "Ranks résumés",
    "groups": [
        {"name": "Women", "measured_by": ["gender", "career"]},
        {"name": "Veterans", "not_measured": "no instrument asks"},
    ],
    "hazard": "Ranked lower",
    "limits": [{"rule": "overall", "reason": "half of people's lean"}],
    "owner": "Head of recruiting",
    "response": "Taken out of use",
    "next_test": {"date": "2027-06-30", "trigger": "a new version"},
    "retention": "four years",
}

TODAY = date(2026, 12, 1)


@pytest.fixture(scope="session")
def audited(made_once: Callable[..., Path]) -> Path:
    """Results of a quick audit over two stereotypes."""

    def audit(path: Path) -> None:
        policy = path.parent / "policy-of-dossier.yaml"
        policy.write_text(POLICY, encoding="utf-8")
        options = cm.PlanOptions(
            studies=["bai2025"],
            instruments=["word_association"],
            stereotypes="career,age",
            policy=str(policy),
        )
        cm.audit(["simulated/leaning", "simulated/neutral"], directory=path, options=options)

    return made_once("audited-for-dossier", audit)


@pytest.fixture
def profile(tmp_path: Path) -> Callable[..., Path]:
    """Write a profile, with fields changed by `change`, in a folder of its own."""

    def write(change: Callable[[dict[str, Any]], object] = lambda fields: None) -> Path:
        fields = deepcopy(PROFILE)
        change(fields)
        path = tmp_path / "profile.yaml"
        path.write_text(yaml.safe_dump(fields, allow_unicode=True, sort_keys=False), "utf-8")
        return path

    return write


@pytest.fixture(scope="session")
def files(audited: Path, made_once: Callable[..., Path]) -> DossierFiles:
    """The dossier of the run."""
    folder = made_once("profile-of-dossier", lambda path: None)
    path = folder / "profile.yaml"
    path.write_text(yaml.safe_dump(PROFILE, allow_unicode=True), "utf-8")
    return write_dossier(audited, path, folder / "dossier", today=TODAY)
