from __future__ import annotations

import dataclasses

import pytest

from tiltmeter.runs.models import Connection, open_models
from tiltmeter.runs.plan import Generation, Plan


@pytest.mark.parametrize(("top_p", "sent"), [(1.0, None), (0.9, 0.9)])
def test_anthropic_gets_no_top_p_that_says_nothing(
    plan: Plan, monkeypatch: pytest.MonkeyPatch, top_p: float, sent: float | None
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "none")
    name = "anthropic/claude-3-5-haiku-latest"
    asked = dataclasses.replace(plan, models=[name], generation=Generation(top_p=top_p))
    model = open_models(asked, Connection())[name]
    assert (model.config.temperature, model.config.top_p) == (1.0, sent)
