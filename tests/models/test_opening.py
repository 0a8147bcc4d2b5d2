from __future__ import annotations

import pytest

from clinometer.models.opening import Connection, Generation, open_models


@pytest.mark.parametrize(("top_p", "sent"), [(1.0, None), (0.9, 0.9)])
def test_anthropic_gets_no_top_p_that_says_nothing(
    monkeypatch: pytest.MonkeyPatch, top_p: float, sent: float | None
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "none")
    name = "anthropic/claude-3-5-haiku-latest"
    model = open_models([name], Generation(top_p=top_p), Connection())[name]
    assert (model.config.temperature, model.config.top_p) == (1.0, sent)
