from __future__ import annotations

from pathlib import Path

import pytest

from clinometer.errors import ModelError
from clinometer.models.opening import Connection, Generation, open_models


@pytest.mark.parametrize(("top_p", "sent"), [(1.0, None), (0.9, 0.9)])
def test_anthropic_gets_no_top_p_that_says_nothing(
    monkeypatch: pytest.MonkeyPatch, top_p: float, sent: float | None
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "none")
    name = "anthropic/claude-3-5-haiku-latest"
    model = open_models([name], Generation(top_p=top_p), Connection())[name]
    assert (model.config.temperature, model.config.top_p) == (1.0, sent)


@pytest.mark.parametrize("rest", ["./nothing", "../nothing", "/nowhere/nothing"])
def test_a_checkpoint_that_is_not_there_is_named_as_a_folder(rest: str) -> None:
    pytest.importorskip("transformers")
    with pytest.raises(ModelError, match=f"^model 'hf/{rest}': no such folder: {rest}$"):
        open_models([f"hf/{rest}"], Generation(), Connection())


def test_a_folder_that_is_no_checkpoint_keeps_the_reason(tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    with pytest.raises(ModelError) as raised:
        open_models([f"hf/{tmp_path}"], Generation(), Connection())
    assert "no such folder" not in str(raised.value)
