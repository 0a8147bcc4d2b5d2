"""Twenty models are asked from one process, side by side and within one budget."""

from __future__ import annotations

import threading
from collections import Counter
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
from clinometer.audits.answering import Answering, answer_numbered, answer_shards
from clinometer.audits.sharding import shard_plan
from clinometer.audits.spending import Spending
from clinometer.audits.tabulating import tabulate
from clinometer.errors import BudgetError
from clinometer.models.opening import Connection, open_models
from sharded_plans import SINGLE, plan_of, reply, requests_in
from waiting import HANGS_S

MODELS = tuple(f"openai-api/loop/m{number}" for number in range(20))
FEW = MODELS[:5]
SEQUENTIAL = Connection(max_retries=0, max_connections=1)
TOKENS_PER_CALL = 500
"""Tokens of a call, as `reply` states them."""


class Asked:
    """A server that counts calls by model; `held` waits until no other model has calls left."""

    def __init__(self, serve: Callable[..., Any], slow_model: str = "", n_before: int = 0) -> None:
        self.calls, self.held, self.left = Counter[str](), slow_model, n_before
        self.in_time = True
        self._lock, self._free = threading.Lock(), threading.Event()
        serve(self.answer)

    def answer(self, body: dict[str, Any]) -> tuple[int, Any]:
        if body["model"] == self.held:
            self.in_time &= self._free.wait(HANGS_S)
        with self._lock:
            self.calls[body["model"]] += 1
            self.left -= body["model"] != self.held
            if not self.left:
                self._free.set()
        return 200, reply(body)


def small(models: tuple[str, ...] = FEW, names: tuple[str, ...] = SINGLE[:1]) -> Plan:
    return plan_of("structured", 2, names, models=models)


def ask(plan: Plan, directory: Path, budget: Budget, prices: Path | None = None) -> Outcome:
    claim(directory, plan)
    models = open_models(plan.models, plan.generation, SEQUENTIAL)
    return ask_models(plan.pieces, models, directory, budget, prices=prices)


def priced(folder: Path, models: tuple[str, ...] = FEW, usd: float = 1000) -> Path:
    path = folder / "prices.yaml"
    path.write_text("".join(f"{model}: [{usd}, {usd}]\n" for model in models))
    return path


def estimated(plan: Plan, model: str, files: list[Path], prices: Path) -> float:
    """Return the estimate for some shards of a model."""
    from clinometer.asking.budget import estimate_requests

    tokens = plan.tokens_of_answer(model, None)
    lines = (line for path in files for line in path.read_bytes().splitlines())
    return estimate_requests(model, lines, tokens, prices).usd or 0.0


def test_several_models_have_the_tables_that_each_has_alone(
    serve: Callable[..., Any], tmp_path: Path
) -> None:
    recorder = Asked(serve)
    plan = small()
    assert ask(plan, tmp_path / "all", Budget()).complete
    assert set(recorder.calls.values()) == {plan.trials().height} and len(recorder.calls) == len(
        FEW
    )
    tabulate(tmp_path / "all")
    all_scores = pl.read_parquet(tmp_path / "all" / "scores.parquet")
    for model in FEW[::4]:
        ask(small((model,)), tmp_path / model[-2:], Budget())
        tabulate(tmp_path / model[-2:])
        alone = pl.read_parquet(tmp_path / model[-2:] / "scores.parquet")
        assert_frame_equal(all_scores.filter(model=model), alone)


def test_calls_of_all_models_count_against_one_limit(
    serve: Callable[..., Any], tmp_path: Path
) -> None:
    recorder = Asked(serve)
    stopped = ask(small(), tmp_path / "r", Budget(max_calls=8))
    assert (stopped.stopped_by, stopped.answered) == ("--max-calls 8", 8)
    assert recorder.calls.total() == 8
    assert ask(small(), tmp_path / "r", Budget()).complete
    assert set(recorder.calls.values()) == {small().trials().height}


def test_dollars_of_all_models_count_against_one_limit(
    serve: Callable[..., Any], tmp_path: Path
) -> None:
    recorder, call_cost = Asked(serve), TOKENS_PER_CALL * 1000 / 1e6
    stopped = ask(small(), tmp_path / "r", Budget(max_cost=8 * call_cost), priced(tmp_path))
    assert (stopped.stopped_by or "").startswith("--max-cost") and not stopped.complete
    # Calls that are under way at the limit are finished: one of each model here.
    assert 8 <= recorder.calls.total() < 8 + len(FEW)


def test_a_slow_model_does_not_hold_the_others(serve: Callable[..., Any], tmp_path: Path) -> None:
    plan = small(MODELS)
    shard_plan(plan, tmp_path, 2)
    recorder = Asked(serve, "m0", 19 * plan.trials().height)
    done = answer_shards(tmp_path, Answering(SEQUENTIAL))
    assert recorder.in_time and all(row.complete for row in done.collected)
    assert set(recorder.calls.values()) == {plan.trials().height} and len(recorder.calls) == 20


def test_a_model_that_is_given_up_does_not_stop_the_others(
    serve: Callable[..., Any], tmp_path: Path
) -> None:
    def fails(body: dict[str, Any]) -> tuple[int, Any]:
        return (400, {"error": {"message": "no"}}) if body["model"] == "m0" else (200, reply(body))

    serve(fails)
    plan = plan_of("structured", 10, ("affective_attribution",), models=MODELS[:3])
    shard_plan(plan, tmp_path)
    (failure,) = answer_shards(tmp_path, Answering(SEQUENTIAL)).failed
    assert "loop/m0: the first 20 calls all failed" in failure
    tables = pl.read_parquet(tmp_path / "scores.parquet")["model"].value_counts()
    assert dict(tables.iter_rows()) == dict.fromkeys(MODELS[1:3], plan.trials().height)


def test_a_limit_in_dollars_is_of_all_models_and_all_shards(
    serve: Callable[..., Any], tmp_path: Path
) -> None:
    recorder, plan = Asked(serve), small(MODELS[:3])
    files = shard_plan(plan, tmp_path / "r", 2)
    prices = priced(tmp_path)
    usd = sum(
        estimated(plan, model, [f for f in files if f.parent.name.endswith(model[-2:])], prices)
        for model in MODELS[:3]
    )
    low, high = (Answering(SEQUENTIAL, spending=Spending(usd * x, prices)) for x in (0.99, 1.01))
    with pytest.raises(BudgetError, match="the shards would cost"):
        answer_shards(tmp_path / "r", low)
    with pytest.raises(BudgetError, match="the shards would cost"):
        answer_numbered(tmp_path / "r", [0], low)
    assert not recorder.calls
    answer_numbered(tmp_path / "r", [0], high)
    assert recorder.calls.total() == len(requests_in(f for f in files if f.stem == "00000"))


def test_a_limit_in_dollars_is_of_all_rounds(serve: Callable[..., Any], tmp_path: Path) -> None:
    recorder, plan = Asked(serve), small(MODELS[:1], ("affective_attribution",))
    files = shard_plan(plan, tmp_path / "r")
    prices = priced(tmp_path)
    first = estimated(plan, MODELS[0], files, prices)
    with pytest.raises(BudgetError, match="the shards would cost"):  # of the second turns
        answer_shards(
            tmp_path / "r", Answering(SEQUENTIAL, spending=Spending(1.01 * first, prices))
        )
    assert recorder.calls.total() == len(requests_in(files))
    with pytest.raises(BudgetError, match="nothing more was asked"):
        answer_shards(
            tmp_path / "r", Answering(SEQUENTIAL, spending=Spending(1.01 * first, prices))
        )
    answer_shards(tmp_path / "r", Answering(SEQUENTIAL, spending=Spending(9 * first, prices)))
    assert recorder.calls.total() == 2 * len(requests_in(files))
