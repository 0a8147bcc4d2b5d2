"""Bundles where commands take a results directory."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import fsspec
import pytest

from clinometer.asking.claim import claim
from clinometer.asking.plan import Plan, Selection
from clinometer.audits.tabulating import tabulate
from clinometer.comparing.bundling import bundle
from clinometer.directory.results import read_detail
from clinometer.results.records import Journal
from clinometer.stimuli import load_study

POLICY = "name: p\ncontrols: ignored\nrules:\n- {what: change, level: model, at_most: 0.5}\n"

SIDES = ("marginalized", "default")

#: What a user types after the command, with results as `{new}` and `{old}`.
COMMANDS = {
    "show": ("{new}", "age"),
    "gate": ("{new}", "--policy", "policy.yaml", "--baseline", "{old}", "--require-declared"),
    "compare": ("{old}", "{new}"),
}


def answered(directory, plan, sides):
    """Answer a plan as a run does; a tied word is given to the first of two sides."""
    claim(directory, plan)
    journal = Journal(directory, plan.models[0])
    stereotypes = load_study("bai2025").stereotypes
    for row in plan.trials().iter_rows(named=True):
        tied = stereotypes[row["stereotype"]].tied
        lines = [f"{word} - {row[sides[word not in tied]]}" for word in row["attributes"]]
        answer = {"response": "\n".join(lines), "stop_reason": "stop"}
        journal.append({"trial_id": row["trial_id"], **answer})
    journal.close()
    tabulate(directory)


@pytest.fixture(scope="session")
def bundled(made_once):
    """Two runs of a plan with a policy, and their bundles."""

    def fill(folder):
        (folder / "policy.yaml").write_text(POLICY, encoding="utf-8")
        part = Selection(load_study("bai2025"), ["age", "power"], ["replication"])
        plan = Plan([part], ["openai-api/loop/m"], iterations=24, policy=POLICY)
        for name, sides in (("old", SIDES[::-1]), ("new", SIDES)):
            answered(folder / name, plan, sides)
            bundle(folder / name, folder / f"{name}.zip")

    return made_once("bundled-runs", fill)


@pytest.fixture
def results(bundled, tmp_path):
    """Their copies, in the folder of the command line."""
    return shutil.copytree(bundled, tmp_path, dirs_exist_ok=True)


def arguments(command, old, new):
    return [command, *(part.format(old=old, new=new) for part in COMMANDS[command])]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_bundle_gives_what_its_directory_gives(run, results, command):
    code, out, _ = run(*arguments(command, "old", "new"))
    bundled_code, bundled, err = run(*arguments(command, "old.zip", "new.zip"))
    assert (bundled_code, err) == (code, "")
    assert bundled.replace("old.zip", "old").replace("new.zip", "new") == out
    assert out.splitlines()[0]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_changed_bundle_is_refused_in_a_line(run, results, command):
    data = bytearray((results / "new.zip").read_bytes())
    data[len(data) // 2] ^= 1
    (results / "new.zip").write_bytes(data)
    code, out, err = run(*arguments(command, "old.zip", "new.zip"))
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "new.zip: " in err and tempfile.gettempdir() not in err.replace(str(results), "")


@pytest.mark.parametrize("command", COMMANDS)
def test_nothing_is_written_beside_a_bundle_or_left_elsewhere(run, results, command, monkeypatch):
    (results / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(results / "temporary"))
    before = {path: path.stat().st_mtime_ns for path in results.rglob("*")}
    run(*arguments(command, "old.zip", "new.zip"))
    del before[results / "temporary"]
    after = {path: path.stat().st_mtime_ns for path in results.rglob("*")}
    del after[results / "temporary"]
    assert after == before


def test_the_policy_of_a_bundle_was_declared_with_its_plan(run, results):
    _, out, _ = run(*arguments("gate", "old.zip", "new.zip"))
    assert "the policy was declared before the run" in out.splitlines()
    Path("policy.yaml").write_text(f"{POLICY}margin: 0.2\n", encoding="utf-8")
    _, out, _ = run(*arguments("gate", "old.zip", "new.zip"))
    assert "the run declared another policy" in out.splitlines()


def test_a_written_comparison_of_bundles_has_the_answers_behind_changes(run, results):
    for old, new, out in (("old", "new", "a"), ("old.zip", "new.zip", "b")):
        code, _, err = run("compare", old, new, "--out", out)
        assert code == 0, err
    pairs, bundled_pairs = (read_detail(Path(name), "answer_pairs") for name in ("a", "b"))
    texts = ["trial_id", "prompt", "baseline_response", "candidate_response"]
    assert pairs.height and pairs.select(texts).equals(bundled_pairs.select(texts))
    assert '"source": "new.zip"' in Path("b/comparison.json").read_text(encoding="utf-8")


def test_a_missing_bundle_is_a_line(run):
    assert run("show", "absent.zip") == (2, "", "clinometer: absent.zip: no such file\n")


def test_a_bundle_may_lie_elsewhere(run, results, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(results / "caches"))
    memory = fsspec.filesystem("memory")
    memory.pipe("/bucket/new.zip", (results / "new.zip").read_bytes())
    assert run("show", "memory://bucket/new.zip", "age") == run("show", "new", "age")
    memory.pipe("/bucket/new.zip", b"no archive")
    _, _, err = run("show", "memory://bucket/new.zip", "age")
    assert err.startswith("clinometer: memory://bucket/new.zip: not a zip archive")
