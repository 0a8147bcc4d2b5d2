"""The hub, reached and not reached."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from clinometer.models.libraries import use_cache_if_offline

constants = pytest.importorskip("huggingface_hub.constants")

NOBODY = "http://127.0.0.1:1"


@pytest.fixture
def online(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    return monkeypatch


def test_a_hub_that_does_not_answer_is_asked_once(online: pytest.MonkeyPatch) -> None:
    online.setattr(constants, "ENDPOINT", NOBODY)
    use_cache_if_offline("lab/name")
    assert constants.HF_HUB_OFFLINE


def test_a_hub_that_answers_is_used(online: pytest.MonkeyPatch, serve: Callable[..., Any]) -> None:
    online.setattr(constants, "ENDPOINT", serve().url)  # which refuses what is asked of a hub
    use_cache_if_offline("lab/name")
    assert not constants.HF_HUB_OFFLINE


def test_of_a_folder_no_hub_is_asked(online: pytest.MonkeyPatch, tmp_path: Path) -> None:
    online.setattr(constants, "ENDPOINT", NOBODY)
    use_cache_if_offline(str(tmp_path))
    assert not constants.HF_HUB_OFFLINE
