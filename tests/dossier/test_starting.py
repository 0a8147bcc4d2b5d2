"""What a dossier begins with can be read by the commands, and its limits can fail."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
import yaml

from clinometer.asking.policy import load_policy, parse_policy
from clinometer.audits.limits import DecidedLimit
from clinometer.audits.planning import planned_scores
from clinometer.comparing import gate
from clinometer.dossier.profile import load_profile
from clinometer.dossier.starting import STARTED, Start, measurable, write_start
from clinometer.errors import InputError
from clinometer.results.tables import read_table

START = Start(
    'Ranker: "v2" #1', "openai/gpt-4o", "Ranks\nrésumés", {"Women": "career", "Veterans": None}
)

Started = tuple[Path, list[DecidedLimit]]


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Started:
    """A folder with what a dossier begins with, and the limits; nothing may change it."""
    folder = tmp_path_factory.mktemp("started")
    paths, limits = write_start(START, folder)
    assert paths == [folder / name for name in STARTED]
    return folder, limits


def test_what_is_written_is_valid_but_for_what_is_to_be_filled_in(
    started: Started, tmp_path: Path
) -> None:
    folder, limits = started
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    assert [limit.rule.title for limit in limits] == ["overall", "gender"]
    policy = load_policy(tmp_path / "policy.yaml")
    assert [rule.title for rule in policy.rules] == ["overall", "gender"]
    with pytest.raises(InputError) as error:
        load_profile(tmp_path / "profile.yaml")
    lines = str(error.value).splitlines()
    assert lines and all(line.endswith("empty; fill it in") for line in lines)
    fields = {line.split(": ")[1] for line in lines}
    assert {"owner", "hazard", "response", "retention", "next_test.date"} <= fields
    assert {"groups.1.not_measured", "limits.0.reason", "limits.1.reason"} <= fields
    text = (tmp_path / "profile.yaml").read_text("utf-8").replace('"FILL IN: ', '"')
    (tmp_path / "profile.yaml").write_text(text, "utf-8")
    file = load_profile(tmp_path / "profile.yaml")
    assert file.profile.system.name == START.system
    file.check_limits(policy)
    file.check_groups(measurable())


def test_the_limits_can_fail(audited: Path, tmp_path: Path) -> None:
    write_start(Start("a", "b", "c", {"Women": "career", "The old": "age"}), tmp_path)
    policy = load_policy(tmp_path / "policy.yaml")
    scores = read_table(audited / "scores.parquet").filter(
        study="bai2025", model="simulated/leaning"
    )
    outcomes = {}
    for mean in (0.0, 0.9):
        # Both signs of what an answer adds, so that the mean is known and has an error.
        noise = pl.int_range(pl.len()).mod(2) * 0.1 - 0.05
        checks = gate(scores.with_columns(score=mean + noise), policy).checks
        outcomes[mean] = {check.outcome for check in checks if check.kind == "rule"}
    assert outcomes[0.9] == {"fail"}
    assert "fail" not in outcomes[0.0]


def test_the_workflow_asks_for_the_key_of_the_provider(started: Started, tmp_path: Path) -> None:
    job = yaml.safe_load((started[0] / STARTED[-1]).read_text("utf-8"))["jobs"]["bias"]
    action = job["steps"][1]
    assert action["env"] == {"OPENAI_API_KEY": "${{ secrets.OPENAI_API_KEY }}"}
    assert action["with"]["model"] == "openai/gpt-4o"
    write_start(Start("a", "simulated/leaning", "b", {"c": None}), tmp_path)
    text = (tmp_path / STARTED[-1]).read_text("utf-8")
    assert "env" not in yaml.safe_load(text)["jobs"]["bias"]["steps"][1]


def test_the_workflow_uses_what_the_action_has(
    started: Started,
) -> None:
    text = (started[0] / STARTED[-1]).read_text("utf-8")
    checkout, action, *_ = yaml.safe_load(text)["jobs"]["bias"]["steps"]
    inputs = yaml.safe_load((Path(__file__).parents[2] / "action.yml").read_text("utf-8"))
    assert action["with"].keys() <= inputs["inputs"].keys()
    outputs = set(re.findall(rf"steps\.{action['id']}\.outputs\.(\w+)", text))
    assert outputs and outputs <= inputs["outputs"].keys()
    # The commit of the base branch has to be there.
    assert checkout["with"] == {"fetch-depth": 0} and re.search("@[0-9a-f]{40}$", checkout["uses"])


def test_what_is_there_is_kept_unless_forced(tmp_path: Path) -> None:
    (tmp_path / "policy.yaml").write_text("mine")
    with pytest.raises(InputError, match=r"policy.yaml: is there already; --force"):
        write_start(START, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["policy.yaml"]
    write_start(START, tmp_path, force=True)
    assert load_policy(tmp_path / "policy.yaml").name == "release"


def test_a_group_that_nothing_measures_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--group Cats=cats: unknown category 'cats'"):
        write_start(Start("a", "b", "c", {"Cats": "cats"}), tmp_path)
    assert not list(tmp_path.iterdir())


def test_limits_are_such_that_the_size_decides_them(
    started: Started,
) -> None:
    folder, limits = started
    assert all(limit.is_decided and limit.rule.worse == "either" for limit in limits)
    text = (folder / "baseline.md").read_text("utf-8")
    rule = text[text.index("       - name") : text.index("   Then give")]
    mean, category = parse_policy(f"name: p\nrules:\n{rule}", "baseline.md").rules
    assert {mean.what, category.what} == {"change"} and mean.fails_above == 0.0
    # With GPT-4o's variance; of one rule .31 and .11, which 3.35 √(2σ² / answers) gives for one
    # direction. Two rules and both directions take a fifth more.
    assert 0.31 < category.at_most < 0.39 and 0.11 < mean.at_most < 0.15


def test_with_a_baseline_changes_are_limited_by_its_variance(tmp_path: Path) -> None:
    planned = next(planned_scores(START.plan)).filter(pl.col("control").is_null())
    side = pl.col("pair_id").rank("dense").over("stereotype", "variation") % 2 * 2.0 - 1.0
    scores = [planned.with_columns(score=spread * side) for spread in (0.1, 0.9)]
    start = replace(START, baseline=Path("released.zip"))
    limits = []
    for name, frame in zip("ab", scores, strict=True):
        write_start(start, tmp_path / name, scores=frame)
        *_, mean, category = load_policy(tmp_path / name / "policy.yaml").rules
        assert mean.at_most <= category.at_most
        limits.append(category.at_most)
    assert limits[0] < 0.3 < 0.5 < limits[1]
    assert "baseline: " in (tmp_path / "a" / STARTED[-1]).read_text("utf-8")
