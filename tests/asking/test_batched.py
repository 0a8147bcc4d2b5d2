"""Asking through inspect's batches, of a service like Anthropic's on the loopback interface."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from clinometer.asking.budget import Budget
from clinometer.asking.claim import claim
from clinometer.asking.plan import Plan
from clinometer.asking.sessions import Outcome, ask_models
from clinometer.audits.answering import Answering, answer_shards
from clinometer.audits.sharding import shard_plan
from clinometer.audits.spending import Spending
from clinometer.audits.tabulating import tabulate
from clinometer.errors import BudgetError, ModelError
from clinometer.models.opening import Connection, Generation, open_model, open_models
from clinometer.results.records import Journal
from message_batches import USAGE, MessageBatches
from sharded_plans import plan_of

MODEL = "anthropic/claude-haiku-4-5"
BATCHED = Connection(max_retries=0, batch=True)


def small(models: tuple[str, ...] = (MODEL,)) -> Plan:
    return plan_of("free", 8, ("word_association",), models=models)


def ask(directory: Path, connection: Connection, budget: Budget, **options: Any) -> Outcome:
    plan = small()
    claim(directory, plan)
    models = open_models(plan.models, plan.generation, connection)
    return ask_models(plan.pieces, models, directory, budget, **options)


def test_batches_give_the_tables_of_single_calls(
    message_batches: MessageBatches, tmp_path: Path
) -> None:
    n = small().trials().height
    assert ask(tmp_path / "single", Connection(), Budget()).complete
    assert (message_batches.alone, message_batches.sizes) == (n, [])
    assert ask(tmp_path / "batched", BATCHED, Budget()).complete
    assert (
        message_batches.alone == n
        and sum(message_batches.sizes) == n
        and len(message_batches.sizes) < n / 2
    )
    shard_plan(small(), tmp_path / "shards")
    assert answer_shards(tmp_path / "shards", Answering(BATCHED)).collected[0].complete
    assert message_batches.alone == n and sum(message_batches.sizes) == 2 * n
    tables = []
    for name in ("single", "batched", "shards"):
        tabulate(tmp_path / name)
        tables.append(pl.read_parquet(tmp_path / name / "scores.parquet"))
    assert_frame_equal(tables[0], tables[1])
    assert_frame_equal(tables[0], tables[2])


def test_a_batch_costs_half_of_a_limit_in_dollars(
    message_batches: MessageBatches, tmp_path: Path
) -> None:
    n, prices = small().trials().height, tmp_path / "prices.yaml"
    prices.write_text(f"{MODEL}: [1000, 1000]\n")
    limit = 0.6 * n * sum(USAGE.values()) * 1000 / 1e6
    first = Budget(max_cost=limit)
    assert ask(tmp_path / "r", BATCHED, first, prices=prices).complete
    again = Budget(max_cost=limit)
    assert ask(tmp_path / "r", Connection(), again, prices=prices).complete
    assert first.usd == again.usd == pytest.approx(limit * 0.5 / 0.6)
    assert all(line["batch"] for line in Journal(tmp_path / "r", MODEL).lines())
    shard_plan(small(), tmp_path / "s")
    estimates = []
    for connection in (Connection(), BATCHED):
        with pytest.raises(BudgetError) as refused:
            answer_shards(tmp_path / "s", Answering(connection, spending=Spending(0.01, prices)))
        estimates.append(float(re.search(r"about \$([\d.]+);", str(refused.value))[1]))
    assert estimates[0] == pytest.approx(2 * estimates[1], abs=0.02)
    assert sum(message_batches.sizes) == n and not message_batches.alone


def test_a_call_in_a_batch_has_no_time_limit_of_its_own(message_batches: MessageBatches) -> None:
    config = open_model(MODEL, Generation(), BATCHED).config
    assert (config.batch, config.attempt_timeout) == (True, None)


@pytest.mark.parametrize(
    ("model", "hint"),
    [("openai-api/loop/m", "; clinometer plan and clinometer submit"), ("mistral/m", "together$")],
)
def test_batches_of_other_providers_are_refused(
    serve: Callable[..., Any], tmp_path: Path, model: str, hint: str
) -> None:
    server = serve()
    with pytest.raises(ModelError, match=f"{model}: no batches while .* anthropic, google.*{hint}"):
        open_model(model, Generation(), BATCHED)
    shard_plan(small((model,)), tmp_path)
    with pytest.raises(ModelError, match="no batches while"):
        answer_shards(tmp_path, Answering(BATCHED))
    assert not server.prompts
