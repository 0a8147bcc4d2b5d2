"""The steps of the action, run as GitHub runs them, with a stand-in for the command."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[1]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
STEPS = {step.get("name", step.get("uses")): step for step in ACTION["runs"]["steps"]}

#: Writes its arguments, a line each, and a decision; ends as it is told.
STAND_IN = """#!/bin/sh
for word in "$@"; do printf '%s\\n' "$word"; done > arguments
while [ "$1" != --markdown ]; do shift; done
echo decided > "$2"
exit "$CODE"
"""


def run_step(name: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a step in a folder, with the shell's options of GitHub."""
    for file in ("output", "summary"):
        (folder / file).touch()
    settings = {
        "PATH": f"{folder / 'bin'}:{os.environ['PATH']}",
        "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
        "GITHUB_OUTPUT": str(folder / "output"),
        "GITHUB_STEP_SUMMARY": str(folder / "summary"),
        **environment,
    }
    shell = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", STEPS[name]["run"]]
    return subprocess.run(shell, cwd=folder, env=settings, capture_output=True, text=True)


def measure(folder: Path, options: str = "", code: int = 0, **inputs: str) -> dict[str, Any]:
    """Run the step that asks and judges; return what it did."""
    (folder / "bin").mkdir()
    (folder / "bin" / "clinometer").write_text(STAND_IN)
    (folder / "bin" / "clinometer").chmod(0o755)
    given = {"MODEL": "m/x", "POLICY": "my policy.yaml", "SIZE": "quick", "OPTIONS": options}
    results = str(folder / "results")
    done = run_step("Measure", folder, RESULTS=results, CODE=str(code), **{**given, **inputs})
    arguments = folder / "arguments"
    return {
        "code": done.returncode,
        "said": done.stdout,
        "arguments": arguments.read_text().splitlines() if arguments.exists() else None,
        "decision": (folder / "output").read_text().strip(),
        "summary": (folder / "summary").read_text(),
    }


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("", []),
        ("--study bai2025 --controls", ["--study", "bai2025", "--controls"]),
        ("--study bai2025\n--controls\n", ["--study", "bai2025", "--controls"]),
        ("\n--study bai2025\n\n  --controls", ["--study", "bai2025", "--controls"]),
        ("--study bai2025\r\n--controls\r\n", ["--study", "bai2025", "--controls"]),
        ('--study "my studies/pets.yaml"', ["--study", "my studies/pets.yaml"]),
        ("--study 'a \"b\" $HOME `id`'\n-M x=1", ["--study", 'a "b" $HOME `id`', "-M", "x=1"]),
        ("--study # --controls *", ["--study", "#", "--controls", "*"]),
        ('--system-prompt "" --study été', ["--system-prompt", "", "--study", "été"]),
    ],
)
def test_each_option_reaches_the_command_as_written(
    options: str, words: list[str], tmp_path: Path
) -> None:
    done = measure(tmp_path, options)
    assert done["code"] == 0 and done["arguments"][-len(words) or None :] == (
        words or done["arguments"]
    )
    assert done["arguments"][:6] == [
        "audit",
        "m/x",
        "--size",
        "quick",
        "--policy",
        "my policy.yaml",
    ]
    assert "--judge" in done["arguments"] and "--require-declared" in done["arguments"]


def test_a_quotation_mark_that_is_not_closed_is_an_error_and_nothing_is_asked(
    tmp_path: Path,
) -> None:
    done = measure(tmp_path, '--study "pets')
    assert (done["code"], done["arguments"]) == (2, None)
    assert done["decision"] == "decision=error" and "::error::options" in done["said"]


@pytest.mark.parametrize(
    ("code", "decision"),
    [(0, "pass"), (1, "fail"), (2, "error"), (3, "inconclusive"), (4, "error"), (130, "error")],
)
def test_the_step_ends_as_the_command_does_and_always_says_the_decision(
    code: int, decision: str, tmp_path: Path
) -> None:
    done = measure(tmp_path, code=code)
    assert (done["code"], done["decision"]) == (code, f"decision={decision}")
    assert done["summary"] == "decided\n"


@pytest.mark.parametrize(
    ("at_most", "limit", "code"), [(0.95, "5", 0), (0.02, "5", 1), (0.02, "0", 3)]
)
def test_a_simulated_model_is_measured_and_judged(
    at_most: float, limit: str, code: int, tmp_path: Path
) -> None:
    rule = f"{{what: mean, level: model, at_most: {at_most}}}"
    (tmp_path / "policy.yaml").write_text(f"name: p\ncontrols: ignored\nrules:\n- {rule}")
    (tmp_path / "simulated.yaml").write_text("lean: {default: 0.5}")
    options = "--study bai2025\n--instrument word_association\n--stereotypes age,power\n"
    inputs = {"MODEL": "simulated/simulated.yaml", "POLICY": "policy.yaml", "SIZE": "quick"}
    inputs |= {"MAX_COST": limit, "OPTIONS": options, "CLINOMETER_KEY": "a key of this test"}
    (tmp_path / "bin").symlink_to(Path(sys.executable).parent)
    done = run_step("Measure", tmp_path, RESULTS=str(tmp_path / "o" / "results"), **inputs)
    assert done.returncode == code, done.stderr
    decision = {0: "pass", 1: "fail", 3: "inconclusive"}[code]
    assert (tmp_path / "output").read_text() == f"decision={decision}\n"
    assert (tmp_path / "summary").read_text() == (tmp_path / "o" / "gate.md").read_text()
    assert (tmp_path / "o" / "gate.xml").is_file() and (tmp_path / "o" / "gate.sarif").is_file()


def test_limits_and_baseline_are_given_where_the_inputs_are(tmp_path: Path) -> None:
    done = measure(tmp_path, MAX_COST="", MAX_TOKENS="9", BASELINE="a b.zip")["arguments"]
    assert done[-4:] == ["--baseline", "a b.zip", "--max-tokens", "9"] and "--max-cost" not in done


def git(folder: Path, *words: str) -> str:
    """Run git in a folder; return what it prints."""
    names = {
        f"GIT_{who}_{what}": "x" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
    }
    settings = {**os.environ, **names}
    done = subprocess.run(
        ["git", *words], cwd=folder, env=settings, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def commit(folder: Path, **files: str) -> str:
    """Commit files of some content; return the commit."""
    for name, text in files.items():
        (folder / name).write_text(text)
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "x")
    return git(folder, "rev-parse", "HEAD")


def test_files_come_from_the_commit_of_the_base_branch(tmp_path: Path) -> None:
    checkout, temporary = tmp_path / "checkout", tmp_path / "temporary"
    checkout.mkdir(), temporary.mkdir()
    git(checkout, "init", "-q")
    base = commit(checkout, policy="strict")
    commit(checkout, policy="lax", results="forged", **{".env": "OPENAI_BASE_URL=x"})
    places = {"RUNNER_TEMP": str(temporary), "GITHUB_WORKSPACE": str(checkout)}
    for _ in range(2):
        assert run_step("Prepare", tmp_path, COMMIT=base, **places).returncode == 0
    folders = [*temporary.iterdir()]
    assert len(folders) == 2  # a fresh one each time
    for folder in folders:
        assert [path.name for path in (folder / "files").iterdir()] == ["policy"]
        assert (folder / "files" / "policy").read_text() == "strict"
        assert not (folder / "results").exists()
    done = run_step("Prepare", tmp_path, COMMIT="0" * 40, **places)
    assert done.returncode == 2 and "fetch-depth: 0" in done.stdout


def test_everything_is_pinned_and_no_step_is_in_the_checkout() -> None:
    uses = [step["uses"] for step in ACTION["runs"]["steps"] if "uses" in step]
    assert uses and all(re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", use) for use in uses)
    scripts = [step for step in ACTION["runs"]["steps"] if "run" in step]
    assert all("runner.temp" in step["working-directory"] or "prepare" in step["working-directory"]
               for step in scripts)  # fmt: skip
    assert STEPS["Install"]["env"]["PIP_CONSTRAINT"] == "${{ github.action_path }}/constraints.txt"
    # Inputs reach scripts as variables: in the text of a script they would be run.
    assert not any("${{" in step["run"] for step in scripts)
