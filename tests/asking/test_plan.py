from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml

from clinometer.asking.claim import _differences, claim
from clinometer.asking.plan import Plan, Selection, load_plan
from clinometer.audits.sizes import PlanOptions, build_plan
from clinometer.errors import InputError, PlanError, StudyError
from clinometer.models.opening import Generation
from clinometer.results.records import read_plan, write_plan
from clinometer.stimuli import load_study, parse_study, shipped_studies


def test_a_directory_belongs_to_one_plan(plan: Plan, tmp_path: Path) -> None:
    claim(tmp_path / "r", plan, "clinometer run")
    claim(tmp_path / "r", plan, "clinometer run")
    changed = dataclasses.replace(plan, seed=7, generation=Generation(temperature=0.0))
    with pytest.raises(PlanError, match="seed is 0 there, 7 here.*--out"):
        claim(tmp_path / "r", changed, "clinometer run")
    assert load_plan(tmp_path / "r").seed == 0


def test_other_files_are_never_overwritten(plan: Plan, tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(PlanError, match="not empty"):
        claim(tmp_path, plan)
    assert [p.name for p in tmp_path.iterdir()] == ["thesis.txt"]


def test_a_plan_on_disk_gives_the_same_trials(plan: Plan, tmp_path: Path) -> None:
    claim(tmp_path / "r", plan)
    assert load_plan(tmp_path / "r").trials().equals(plan.trials())


def test_a_changed_study_file_is_noticed(plan: Plan, tmp_path: Path) -> None:
    claim(tmp_path / "r", plan)
    path = tmp_path / "r" / "studies" / "bai2025.yaml"
    path.write_text(path.read_text().replace("agony", "joyless"))
    with pytest.raises(PlanError, match="changed since the plan was made"):
        load_plan(tmp_path / "r")


@pytest.mark.parametrize("name", shipped_studies())
def test_a_study_kept_with_a_plan_is_the_study(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    study = load_study(name)
    stored_plan = Plan([Selection(study, [], [])], ["simulated/neutral"])
    assert parse_study(stored_plan.attachments()[f"studies/{name}.yaml"], name) == study
    monkeypatch.delattr(yaml, "CSafeDumper")  # PyYAML may come without libyaml
    assert parse_study(stored_plan.attachments()[f"studies/{name}.yaml"], name) == study


def test_the_settings_of_a_run_are_on_record(plan: Plan, tmp_path: Path) -> None:
    described = claim(tmp_path / "r", plan, "clinometer run x")
    assert described["generation"] == {"temperature": 1.0, "top_p": 1.0, "max_tokens": 1024}
    assert described["versions"]["inspect-ai"]
    assert described["stereotypes"]["bai2025"]["age"]["category"] == "health"


@pytest.mark.parametrize("wrong", [{"temperature": 3.0}, {"top_p": 0.0}, {"max_tokens": 0}])
def test_settings_no_provider_takes_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(InputError, match=next(iter(wrong))):
        Generation(**wrong)


def test_a_stopped_run_has_asked_about_every_stereotype(plan: Plan) -> None:
    assert set(plan.trials().head(4)["stereotype"]) == {"age", "power"}


def test_a_claim_that_was_broken_off_can_be_made_again(plan: Plan, tmp_path: Path) -> None:
    (tmp_path / "r" / "studies").mkdir(parents=True)
    (tmp_path / "r" / "plan.json.part").write_text("{")
    claim(tmp_path / "r", plan)
    assert load_plan(tmp_path / "r").trials().equals(plan.trials())


WRONG: tuple[Any, ...] = (None, 7, "x", [1], {"a": 1}, True, [[]], -1)


def test_a_plan_with_other_types_is_refused_or_read(tmp_path: Path) -> None:
    # A short study, which is read again and again.
    part = Selection(load_study("control_nonsense"), ["nonsense"], ["replication"])
    claim(tmp_path, Plan([part], ["openai-api/loop/m"], iterations=4))
    content = read_plan(tmp_path / "plan.json")
    refused = 0
    for name in content:
        for value in WRONG:
            write_plan(tmp_path / "plan.json", {**content, name: value})
            try:
                load_plan(tmp_path)
            except (PlanError, InputError, StudyError) as error:
                refused += 1
                assert len(str(error).splitlines()) == 1
    assert refused > 60


def test_a_plan_that_no_one_can_ask_is_refused_at_once(plan: Plan) -> None:
    with pytest.raises(InputError, match="a plan has at most 20,000,000"):
        dataclasses.replace(plan, iterations=10**9)


def test_pieces_of_a_plan_are_its_trials(plan: Plan) -> None:
    varied = dataclasses.replace(
        plan, efforts=(None, "low"), interventions={"none": None, "a": "b"}
    )
    pieces = [*varied.pieces(rows=30)]
    assert pl.concat(pieces).equals(varied.trials())
    assert 1 < len(pieces) and max(piece.height for piece in pieces) <= 30


def test_models_that_would_share_a_folder_are_refused() -> None:
    with pytest.raises(InputError, match="'a/b-c' and 'a-b/c': their answers would share"):
        build_plan(["a/b-c", "a-b/c"], PlanOptions())


@pytest.mark.parametrize(
    ("before", "now", "says"),
    [
        (["m/a"], ["m/b"], ["models is m/a there, m/b here"]),
        ({"a": "0" * 64, "b": 1}, {"a": "1" * 64, "b": 1},
         ["models a is 00000000… there, 11111111… here"]),
        ({"a": "x"}, {}, ["models a is x there, absent here"]),
        (None, ["a" * 30] * 4, [f"models is absent there, {'a' * 30} and 3 more here"]),
        (0.5, 0.5, []),
    ],
)  # fmt: skip
def test_what_differs_between_two_plans_is_told_whole(
    before: object, now: object, says: list[str]
) -> None:
    assert [*_differences("models", before, now)] == says
