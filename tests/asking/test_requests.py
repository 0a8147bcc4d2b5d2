"""No setting of a call is lost between inspect and the body of a request."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from inspect_ai.model import GenerateConfig

from clinometer.asking.requests import inspect_settings, settings_of
from clinometer.audits.sharding import collect_answers, shard_plan
from clinometer.errors import InputError
from sharded_plans import plan_of

#: All that Clinometer sets; what inspect adds is refused until it has a place.
SET: dict[str, Any] = {
    "temperature": 0.3,
    "top_p": 0.9,
    "max_tokens": 7,
    "seed": 3,
    "num_choices": 2,
    "stop_seqs": ["."],
    "logprobs": True,
    "top_logprobs": 5,
    "reasoning_effort": "low",
    "reasoning_tokens": 1024,
    "response_schema": {"name": "x", "json_schema": {"type": "object", "properties": {}}},
    "extra_body": {"structured_outputs": {"choice": ["a", "b"]}},
}
BUDGETED = ("anthropic/m", "google/m", "openrouter/a/m")


@pytest.mark.parametrize("model", ["openai/m", "vllm/m", *BUDGETED])
def test_every_setting_is_carried_or_refused(model: str) -> None:
    for name in GenerateConfig.model_fields:
        if name in SET and (name != "reasoning_tokens" or model in BUDGETED):
            config = GenerateConfig(**{name: SET[name]})
            assert GenerateConfig(**inspect_settings(model, settings_of(model, config))) == config
        else:
            with pytest.raises(InputError, match=f"{name.split('_')[0]}.* have no place for"):
                settings_of(model, GenerateConfig.model_construct(**{name: 1}))


def test_a_budget_of_reasoning_stands_where_the_provider_has_it() -> None:
    bodies = [settings_of(model, GenerateConfig(reasoning_tokens=1024)) for model in BUDGETED]
    assert bodies == [
        {"thinking": {"type": "enabled", "budget_tokens": 1024}},
        {"extra_body": {"google": {"thinking_config": {"thinking_budget": 1024}}}},
        {"reasoning": {"max_tokens": 1024}},
    ]


def test_a_plan_whose_budget_of_reasoning_has_no_place_is_refused(tmp_path: Path) -> None:
    plan = plan_of("free", efforts=("low", "1024"))
    with pytest.raises(InputError, match=r"reasoning_effort 1024: .*openai-api/loop/m .*a level"):
        shard_plan(plan, tmp_path)
    with pytest.raises(InputError, match="no shards"):
        collect_answers(tmp_path)
    assert shard_plan(plan_of("free", efforts=("low",)), tmp_path)
