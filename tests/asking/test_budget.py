from __future__ import annotations

from pathlib import Path

import pytest

from clinometer.asking.budget import Budget, estimate_costs, price
from clinometer.asking.plan import Plan
from clinometer.errors import InputError


def test_a_budget_of_calls_is_never_passed() -> None:
    budget = Budget(max_calls=20)
    assert [budget.take(14), budget.take(14), budget.take(6), budget.take(1)] == [
        True, False, True, False
    ]  # fmt: skip
    assert budget.calls == 20


def test_tokens_and_dollars_end_a_run_once_used() -> None:
    budget = Budget(max_tokens=100, max_cost=1.0)
    budget.spend({"input_tokens": 60, "output_tokens": 39}, (1e4, 0.0))
    assert (budget.exhausted(), budget.usd) == (None, 0.6)
    budget.spend({"input_tokens": 1, "output_tokens": None}, (1e6, 0.0))
    assert budget.exhausted() == "--max-tokens 100"


def test_a_negative_limit_is_refused() -> None:
    with pytest.raises(InputError, match="max_cost -1"):
        Budget(max_cost=-1)


def test_prices() -> None:
    assert price("clinometer/smollm2") == (0.0, 0.0)
    assert price("openai/gpt-4o-mini") == (0.15, 0.6)
    assert price("openai/gpt-4o-mini-2024-07-18") == (0.15, 0.6)
    assert price("openai/gpt-4o-audio") is None
    assert price("acme/unknown") is None


def test_prices_of_ones_own(tmp_path: Path) -> None:
    (tmp_path / "p.yaml").write_text("acme/x: [1, 2]\n")
    assert price("acme/x", tmp_path / "p.yaml") == (1.0, 2.0)
    (tmp_path / "q.yaml").write_text("acme/x: cheap\n")
    with pytest.raises(InputError, match="expected lines of"):
        price("acme/x", tmp_path / "q.yaml")


def test_the_cost_of_a_plan(plan: Plan) -> None:
    (cost,) = estimate_costs(plan.pieces(), ["openai/gpt-4o"])
    assert (cost.trials, cost.calls) == (8, 8)
    assert cost.usd == pytest.approx((cost.input_tokens * 2.5 + cost.output_tokens * 10) / 1e6)
    assert 300 < cost.output_tokens < 800  # the real answers have about 60 tokens


@pytest.mark.parametrize("rate", [".nan", "-1", ".inf"])
def test_a_price_that_is_none_is_refused(rate: str, tmp_path: Path) -> None:
    path = tmp_path / "prices.yaml"
    path.write_text(f"openai/m: [1, {rate}]\n")
    with pytest.raises(InputError, match="openai/m: .*; a price is a number from 0 on"):
        price("openai/m", path)


@pytest.mark.parametrize("text", ["[" * 5000, "a: {b: 1}", "[1, 2]", "3", "a: null", "a: [1]"])
def test_a_price_file_of_another_kind_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "prices.yaml").write_text(text)
    with pytest.raises(InputError, match="expected lines of"):
        price("openai/m", tmp_path / "prices.yaml")
