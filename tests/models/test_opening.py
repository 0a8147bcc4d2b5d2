from __future__ import annotations

from collections.abc import Callable
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


def test_a_model_in_a_folder_has_any_name_and_is_opened_once(
    tiny_folder: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    from inspect_ai.model import get_model_info

    folder = {"model_path": str(tiny_folder("llama"))}
    constants = pytest.importorskip("huggingface_hub.constants")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:1")
    (model,) = open_models(["hf/any"], Generation(), Connection(model_args=folder)).values()
    assert str(model) == "hf/any" and not constants.HF_HUB_OFFLINE  # no hub was tried
    # Opening it again, as inspect did to look for facts, would be an error of its library.
    monkeypatch.setattr("inspect_ai.model._model.get_model", None)
    assert get_model_info("hf/any") is not None
