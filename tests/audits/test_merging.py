"""Runs of one plan that are put together, against a loopback server."""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from clinometer.asking.budget import Budget
from clinometer.asking.claim import claim
from clinometer.asking.plan import Plan
from clinometer.asking.sessions import Outcome, ask_models
from clinometer.audits.merging import merge
from clinometer.audits.tabulating import tabulate
from clinometer.errors import InputError, PlanError
from clinometer.models.opening import Connection, open_models
from clinometer.results.records import Journal
from clinometer_measures.networks.associating import collect_associations
from clinometer_measures.networks.association_plan import AssociationPlan
from clinometer_measures.networks.loading import read_associations

Serve = Callable[..., Any]
MODEL = "openai-api/loop/m"


def ask(plan: Plan, directory: Path, budget: Budget | None = None) -> Outcome:
    claim(directory, plan)
    models = open_models(plan.models, plan.generation, Connection(max_retries=0))
    return ask_models(plan.pieces, models, directory, budget or Budget())


@pytest.fixture
def halves(plan: Plan, serve: Serve, made_once: Callable[..., Path], tmp_path: Path) -> list[Path]:
    """Two runs that answered five of eight trials each, two of them both."""

    def fill(folder: Path) -> None:
        serve()
        ask(plan, folder / "whole")
        tabulate(folder / "whole")
        lines = list(Journal(folder / "whole", MODEL).lines())
        for name, part_lines in (("one", lines[:5]), ("two", lines[3:])):
            ask(plan, folder / name, Budget(max_calls=0))
            journal = Journal(folder / name, MODEL)
            journal.append(*part_lines)
            journal.close()

    shutil.copytree(made_once("halves", fill), tmp_path, dirs_exist_ok=True)
    return [tmp_path / "one", tmp_path / "two"]


def test_two_halves_give_the_tables_of_an_unbroken_run(halves: list[Path], tmp_path: Path) -> None:
    merged_rows = merge(halves, tmp_path / "both")
    assert [row.copied for row in merged_rows] == [5, 3] and [
        row.repeated for row in merged_rows
    ] == [0, 2]
    for name in ("responses", "scores", "words", "compliance", "estimates"):
        merged, unbroken = (
            pl.read_parquet(tmp_path / folder / f"{name}.parquet") for folder in ("both", "whole")
        )
        assert merged.equals(unbroken)


def test_merging_again_changes_nothing(halves: list[Path], tmp_path: Path) -> None:
    merge(halves, tmp_path / "both")
    before = [path.read_bytes() for path in Journal(tmp_path / "both", MODEL).files()]
    assert [row.copied for row in merge(halves, tmp_path / "both")] == [0, 0]
    assert [path.read_bytes() for path in Journal(tmp_path / "both", MODEL).files()] == before


def test_one_of_the_directories_takes_the_others(halves: list[Path], tmp_path: Path) -> None:
    (row,) = merge(halves, halves[0])
    assert row.source == str(halves[1]) and row.copied == 3
    assert len(pl.read_parquet(halves[0] / "scores.parquet")) == 8


def test_a_merged_run_is_continued(
    plan: Plan, halves: list[Path], serve: Serve, tmp_path: Path
) -> None:
    server = serve()
    merge(halves, tmp_path / "both")
    assert ask(plan, tmp_path / "both").complete and not server.prompts.total()


def test_an_answer_takes_the_place_of_an_error(halves: list[Path], tmp_path: Path) -> None:
    first = next(iter(Journal(halves[0], MODEL).lines()))["trial_id"]
    failing = Journal(tmp_path / "two", MODEL)
    failing.append({"trial_id": first, "error": "TimeoutError"})
    failing.close()
    merge([halves[1], halves[0]], tmp_path / "both")
    assert set(Journal(tmp_path / "both", MODEL).errors().values()) == {None}


def test_another_plan_is_refused(
    plan: Plan, halves: list[Path], serve: Serve, tmp_path: Path
) -> None:
    serve()
    ask(dataclasses.replace(plan, seed=1), tmp_path / "other", Budget(max_calls=1))
    with pytest.raises(PlanError, match="another plan than that of .*one: seed differ"):
        merge([halves[0], tmp_path / "other"], tmp_path / "both")
    assert not (tmp_path / "both").exists()


def test_what_cannot_be_merged_is_named(halves: list[Path], tmp_path: Path) -> None:
    with pytest.raises(InputError, match="two results directories"):
        merge([halves[0]], halves[0])
    (tmp_path / "else").mkdir()
    (tmp_path / "else" / "note.txt").write_text("mine")
    with pytest.raises(PlanError, match="not empty"):
        merge(halves, tmp_path / "else")
    with pytest.raises(PlanError, match=r"no plan\.json"):
        merge([halves[0], tmp_path / "absent"], tmp_path / "both")


def test_associations_are_merged(serve: Serve, tmp_path: Path) -> None:
    server = serve(lambda body: server.chat(body, "alpha, beta, gamma"))
    for name, repetitions in (("one", 2), ("two", 3)):
        plan = AssociationPlan([MODEL], ["sun", "moon"], repetitions=repetitions)
        collect_associations(plan, tmp_path / name)
    merged_rows = merge([tmp_path / "one", tmp_path / "two"], tmp_path / "both")
    assert [row.copied for row in merged_rows] == [4, 2] and merged_rows[1].repeated == 4
    merged, two = (read_associations(tmp_path / name) for name in ("both", "two"))
    assert merged.sort(merged.columns).equals(two.sort(two.columns))
