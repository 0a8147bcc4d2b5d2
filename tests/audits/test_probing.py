"""Whether an audit asks in mode forced, at servers on the loopback interface."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import clinometer as cm
from clinometer.asking.budget import Budget
from clinometer.audits.probing import replace_forced
from clinometer.audits.running import Asking
from clinometer.audits.sizes import PlanOptions, sized_plan
from clinometer.errors import ClinometerWarning, ModelError
from clinometer.models.providers import PROVIDERS

MODEL = "openai-api/loop/m"
OPTIONS = PlanOptions(
    instruments=["word_association"], stereotypes="power", iterations=2, modes=["forced"],
    controls=False,
)  # fmt: skip


@pytest.fixture
def starting(serve: Callable[..., Any]) -> Callable[..., Any]:
    """Start a server whose answers begin with a token, and leave the rest to the options."""

    def start(first: str, options: float) -> Any:
        def reply(body: dict[str, Any]) -> Any:
            groups = re.search(r"— (.+?) or (.+?)[.,? ]", body["messages"][-1]["content"])
            if not body.get("logprobs") or groups is None:
                schema = body.get("response_format", {}).get("json_schema", {}).get("schema", {})
                allowed = {name: p["enum"][0] for name, p in schema.get("properties", {}).items()}
                return server.chat(body, json.dumps(allowed))
            shares = [(first, 1 - options), (groups[1], 0.6 * options), (groups[2], 0.4 * options)]
            top = [{"token": text, "logprob": math.log(share)} for text, share in shares]
            return server.chat(body, first, logprobs={"content": [{**top[0], "top_logprobs": top}]})

        server = serve(reply)
        return server

    return start


def plan_for(model: str) -> Any:
    return sized_plan("quick", [model], OPTIONS)


def test_a_model_that_begins_to_reason_is_asked_in_structured(
    starting: Callable[..., Any], tmp_path: Path
) -> None:
    server, budget = starting("<think>", 1e-5), Budget(max_calls=9)
    with pytest.warns(ClinometerWarning, match="'<think>' has 1; mode structured is asked instead"):
        plan = replace_forced(plan_for(MODEL), tmp_path / "out", Asking(budget=budget))
    assert plan.modes == ("structured",)
    assert server.prompts.total() == budget.calls == 1


def test_a_model_that_chooses_is_asked_in_forced(
    starting: Callable[..., Any], tmp_path: Path
) -> None:
    server, plan = starting("The", 0.9), plan_for(MODEL)
    assert replace_forced(plan, tmp_path / "out", Asking()) is plan
    assert server.prompts.total() == 1


def test_a_model_that_can_do_neither_is_refused_before_it_is_asked(
    starting: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    starting("Sorry", 1e-4)
    without_schemas = replace(PROVIDERS["openai-api"], schemas=False)
    monkeypatch.setitem(PROVIDERS, "openai-api", without_schemas)
    with pytest.raises(ModelError, match="cannot be measured in mode forced: .*'Sorry' has 0.9999"):
        replace_forced(plan_for(MODEL), tmp_path / "out", Asking())


def test_an_audit_goes_on_as_it_was_begun_without_a_call(
    starting: Callable[..., Any], tmp_path: Path
) -> None:
    server = starting("<think>", 1e-5)
    with pytest.warns(ClinometerWarning):
        results = cm.audit(MODEL, directory=tmp_path / "out", options=OPTIONS, profile=False)
    calls = server.prompts.total()
    assert results.table("scores")["mode"].unique().to_list() == ["structured"]
    cm.audit(MODEL, directory=tmp_path / "out", options=OPTIONS, profile=False)
    assert server.prompts.total() == calls


@pytest.mark.parametrize("model", ["simulated/leaning", "clinometer/smollm2"])
def test_whole_options_need_no_call(model: str, tmp_path: Path) -> None:
    plan = plan_for(model)
    assert replace_forced(plan, tmp_path, Asking()) is plan
