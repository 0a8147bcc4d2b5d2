"""``clinometer audit --judge``: always a decision, always its files."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from clinometer.reference import released_answers

Run = Callable[..., tuple[int, str, str]]

AUDIT = ("audit", "simulated/leaning", "--study", "bai2025", "--stereotypes", "age",
         "--instrument", "word_association", "--no-profile", "--out", "r")  # fmt: skip
FILES = ("--judge", "--markdown", "g.md", "--junit", "g.xml", "--sarif", "g.sarif")
RULES = "name: p\ncontrols: ignored\nrules:\n  - {what: WHAT, level: model, at_most: LIMIT}\n"


def write_policy(limit: float, what: str = "mean") -> tuple[str, str]:
    text = RULES.replace("LIMIT", str(limit)).replace("WHAT", what)
    Path("p.yaml").write_text(text + "    \n")
    return "--policy", "p.yaml"


@pytest.mark.parametrize(
    ("limit", "more", "code", "outcome"),
    [
        (0.9, (), 0, "pass"),
        (0.1, (), 3, "inconclusive"),
        (0.9, ("--max-calls", "6"), 3, "inconclusive"),
        (0.9, ("--max-calls", "0"), 3, "inconclusive"),
    ],
)
def test_an_audit_ends_with_a_decision_and_its_files(
    run: Run, limit: float, more: tuple[str, ...], code: int, outcome: str
) -> None:
    done, out, _ = run(*AUDIT, *write_policy(limit), *FILES, "--require-declared", *more)
    assert done == code and f"{outcome}: p, simulated/leaning" in out
    assert f"p: {outcome}" in Path("g.md").read_text("utf-8")
    assert f'"exitCode": {code}' in Path("g.sarif").read_text("utf-8")
    assert Path("g.xml").is_file()


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--judge",), "--judge: by which policy?"),
        (("--markdown", "g.md"), "judged with --policy and --judge"),
        (("--require-declared",), "judged with --policy and --judge"),
    ],
)
def test_what_is_not_judged_takes_no_options_of_a_judgement(
    run: Run, options: tuple[str, ...], says: str
) -> None:
    code, _, err = run(*AUDIT, *options)
    assert code == 2 and says in err and not Path("r").exists()


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ((), "is about a change; give a --baseline"),
        (("--baseline", "p.yaml", "--judged-model", "m/x"), "unknown model 'm/x'"),
        (("--baseline", "p.yaml", "simulated/neutral"), "2 models; name one with --judged-model"),
    ],
)
def test_what_cannot_be_judged_is_refused_before_anything_is_asked(
    run: Run, more: tuple[str, ...], says: str
) -> None:
    code, _, err = run(*AUDIT, *write_policy(0.5, "change"), *FILES, *more)
    assert code == 2 and says in err and not Path("r").exists()
    assert "p.yaml: error" in Path("g.md").read_text("utf-8")


def test_as_json_the_decision_stands_beside_what_was_found(run: Run) -> None:
    code, out, _ = run(*AUDIT, *write_policy(0.9), "--judge", "--json")
    assert code == 0 and json.loads(out)["gate"]["outcome"] == "pass"


def test_a_directory_that_was_rewritten_is_not_continued(run: Run) -> None:
    assert run(*AUDIT, *write_policy(0.9))[0] == 0
    (journal,) = Path("r").glob("answers/*/*.jsonl")
    journal.write_bytes(b"".join(journal.read_bytes().splitlines(keepends=True)[4:]))
    code, _, err = run(*AUDIT, *write_policy(0.9), *FILES)
    assert code == 2 and "missing: 4 lines" in err and "error" in Path("g.md").read_text("utf-8")
    options = ("--continue-from-elsewhere", "--require-declared")
    code, out, _ = run(*AUDIT, *write_policy(0.9), *FILES, *options)
    assert code == 3 and "From elsewhere: simulated-leaning: missing: 4 lines" in out
    code, out, _ = run("gate", "r", "--policy", "p.yaml", "--require-declared")
    assert code == 3 and "from elsewhere: missing: 4 lines" in out
    assert "missing: 4 lines" in Path("r/report.html").read_text("utf-8")


def test_a_gate_takes_the_conditions_of_recorded_answers(run: Run) -> None:
    code, _, err = run("gate", str(released_answers()), *write_policy(0.9), "--condition", "x")
    assert code == 2 and "--condition: unknown column 'x'" in err
