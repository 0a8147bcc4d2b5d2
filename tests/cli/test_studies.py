"""``tiltmeter list``, ``validate`` and ``cite``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

Run = Callable[..., tuple[int, str, str]]


def test_list_and_cite(run) -> None:
    assert "control_insects" in run("list")[1]
    assert "mentalill" in run("list", "bai2025")[1]
    assert "@article" in run("cite", "--bibtex")[1]


def test_validate(run) -> None:
    Path("good.yaml").write_text(
        "name: pets\nstereotypes:\n  cats:\n    marginalized: [cat]\n    default: [dog]\n"
        "    tied: [aloof]\n    counter: [loyal]\n"
    )
    assert "good.yaml: valid; study pets, 1 stereotypes" in run("validate", "good.yaml")[1]
    Path("bad.yaml").write_text("name: pets\nstereotypes:\n  cats:\n    tied: [a, a]\n")
    code, _, err = run("validate", "bad.yaml")
    assert code == 2
    assert "bad.yaml:4: stereotypes.cats.tied: word 'a' stands twice" in err


def test_list_says_what_decisions_there_are(run: Run) -> None:
    everything = run("list")[1]
    for name in ("relative_decision", "absolute_decision", "chained_task"):
        assert name in everything
    study = run("list", "bai2025")[1]
    assert "variations of relative_decision" in study
    assert "accents (not by default)" in study
    assert "egalitarian" in study
