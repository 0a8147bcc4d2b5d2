from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

_spec = importlib.util.spec_from_file_location("loopback", Path(__file__).parent / "loopback.py")
loopback = importlib.util.module_from_spec(_spec)
sys.modules["loopback"] = loopback
_spec.loader.exec_module(loopback)

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real answers and tables, which is not part of the repository."""
    if not SHARED.is_dir():
        pytest.skip(f"needs the development data in {SHARED.parent.name}/{SHARED.name}")
    return SHARED


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Any]]:
    """Start a loopback server and point the provider ``openai-api/loop`` at it."""
    servers = []

    def start(reply: Any = None, delay_s: float = 0.0) -> Any:
        server = loopback.Loopback(reply, delay_s)
        monkeypatch.setenv("LOOP_BASE_URL", server.url)
        monkeypatch.setenv("LOOP_API_KEY", "none")
        servers.append(server)
        return server

    yield start
    for server in servers:
        server.close()
