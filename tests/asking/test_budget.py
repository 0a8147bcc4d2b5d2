from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from clinometer.asking.budget import WAIT_S, Budget, Ledger, estimate_costs, price
from clinometer.asking.plan import Plan
from clinometer.errors import InputError
from clinometer.models.outputs import TokenCounts
from clinometer.models.retries import LimitReached, count_requests
from clinometer.results.records import Journal


def ledger(tmp_path: Path, **limits: float) -> Ledger:
    return Ledger(Journal(tmp_path, "m"), Budget(**limits), (1e6, 0.0))  # a dollar a token


def test_a_budget_of_calls_is_never_passed(tmp_path: Path) -> None:
    first = ledger(tmp_path, max_calls=20)
    assert [asyncio.run(first.may_call(n)) for n in (14, 14)] == [True, False]
    second = ledger(tmp_path, max_calls=20)
    assert [asyncio.run(second.may_call(n)) for n in (14, 6, 1)] == [True, True, False]
    assert (second.budget.calls, second.stopped_by) == (20, "--max-calls 20")


def test_a_retry_is_a_call(tmp_path: Path) -> None:
    account = ledger(tmp_path, max_calls=3)
    assert asyncio.run(account.may_call())
    with count_requests(1, account.may_retry) as requests:
        for _ in range(3):
            requests.begin()
        with pytest.raises(LimitReached):
            requests.begin()
    assert (account.budget.calls, account.stopped_by) == (3, "--max-calls 3")


@pytest.mark.parametrize("limits", [{"max_cost": 100}, {"max_tokens": 100}])
@pytest.mark.parametrize("reported", [(16, None), (None, [16, 0]), (-5, [16, 0]), (6, [10, 0])])
def test_what_is_under_way_is_reserved(
    tmp_path: Path, limits: dict[str, float], reported: tuple[int | None, list[int] | None]
) -> None:
    """Twenty calls at a time, of 16 tokens each: the limit holds whatever a server reports."""
    account = ledger(tmp_path, **limits)
    most = 0

    async def call(number: int) -> None:
        nonlocal most
        while await account.may_call(key=number):
            most = max(most, len(account._reservations))
            await asyncio.sleep(3 * WAIT_S)
            account.record({"trial_id": "t", "response": "", "input_tokens": reported[0],
                        "estimated_tokens": reported[1], "calls": 1}, key=number)  # fmt: skip

    async def spend_all() -> None:
        await asyncio.gather(*map(call, range(20)))

    asyncio.run(spend_all())
    account.journal.close()
    assert 80 < account.budget.tokens <= 100 and account.budget.usd <= 100
    assert account.answers == 6 and 1 < most <= 6
    assert account.stopped_by in ("--max-cost 100", "--max-tokens 100")


@pytest.mark.parametrize("outcome", [{"response": "x", "output_tokens": 10}, {"error": "E: e"}])
def test_tokens_of_answers_and_errors_count_again(tmp_path: Path, outcome: dict[str, Any]) -> None:
    account = ledger(tmp_path, max_tokens=1000)
    account.record({"trial_id": "a", "estimated_tokens": [100, 5], "calls": 1, **outcome})
    account.journal.close()
    (line,) = account.journal.lines()
    again = ledger(tmp_path)
    again.replay(line)
    assert again.budget.tokens == account.budget.tokens == 105 + outcome.get("output_tokens", 0)


def test_all_lines_of_a_call_are_reserved_for_the_next(tmp_path: Path) -> None:
    account = ledger(tmp_path, max_tokens=100)
    asyncio.run(account.may_call(key=1))
    account.record(*({"cue": "sea", "input_tokens": 10, "calls": n} for n in (1, 0, 0)), key=1)
    account.journal.close()
    assert [asyncio.run(account.may_call(key=n)) for n in (2, 3)] == [True, True]
    assert account.budget.reserved["tokens"] == 60


def test_a_useless_reply_is_reserved_until_its_call_ends(tmp_path: Path) -> None:
    account = ledger(tmp_path, max_tokens=100)
    asyncio.run(account.may_call(key="a"))
    assert [account.bear(TokenCounts(30, 15), "a"), account.bear(TokenCounts(30, 15), "a")] == [
        True,
        True,
    ]
    assert not account.bear(TokenCounts(30, 15), "a") and account.stopped_by == "--max-tokens 100"
    account.record({"trial_id": "a", "error": "E: e", "estimated_tokens": [90, 45]}, key="a")
    account.journal.close()
    assert (account.budget.tokens, account.budget.reserved["tokens"]) == (135, 0)


def test_another_model_under_the_name_is_said_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    warnings: list[str] = []
    monkeypatch.setattr(
        "clinometer.asking.budget._log.warning",
        lambda text, *arguments: warnings.append(text % arguments),
    )
    account = ledger(tmp_path)
    for served in ("a-1", None, "a-1", "a-2", "a-2"):
        account.record({"trial_id": "t", "response": "", "served": served, "calls": 1})
    account.journal.close()
    assert len(warnings) == 1 and "m: answers come from a-2 now, and came from a-1" in warnings[0]
    again = ledger(tmp_path)
    for line in account.journal.lines():
        again.replay(line)
    again.record({"trial_id": "u", "response": "", "served": "a-3", "calls": 1})
    again.journal.close()
    assert len(warnings) == 2 and "m: answers come from a-3 now, and came from a-2" in warnings[1]


@pytest.mark.parametrize("limit", [-1, float("nan"), float("inf")])
@pytest.mark.parametrize("name", ["max_calls", "max_tokens", "max_cost"])
def test_a_limit_is_a_number_from_0_on(name: str, limit: float) -> None:
    with pytest.raises(InputError, match=f"{name} "):
        Budget(**{name: limit})


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
