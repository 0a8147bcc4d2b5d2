from __future__ import annotations

import fcntl
import functools
import gc
import importlib.util
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

# An example takes as long as the machine needs.
settings.register_profile("clinometer", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("clinometer")

HERE = Path(__file__).parent

# Processes that tests start mark answers with the same key, and none is made in anybody's settings.
os.environ["CLINOMETER_KEY"] = "key of the tests, in no folder"

# Lines are folded where the environment has a width; who starts the tests may have one.
os.environ.pop("COLUMNS", None)

# Modules and collected tests are half a million objects that stay: looking through them again and
# again is a seventh of the time.
gc.set_threshold(50_000, 20, 20)


def pytest_collection_finish() -> None:
    """Keep what was imported and collected out of every later collection of garbage."""
    _draw_once()
    gc.collect()
    gc.freeze()


def _draw_once() -> None:
    """Let Vega draw the same specification once: its drawings are half the time of a report."""
    if "vl_convert" in sys.modules:
        import vl_convert

        for name in ("vegalite_to_svg", "svg_to_png"):
            setattr(vl_convert, name, _once(getattr(vl_convert, name)))


def _once(draw: Callable[..., Any]) -> Callable[..., Any]:
    """Keep what is drawn of text; Altair, which draws of objects, is let through."""
    kept = functools.lru_cache(maxsize=512)(draw)

    @functools.wraps(draw)
    def drawn(source: Any, *arguments: Any, **options: Any) -> Any:
        return (kept if isinstance(source, str) else draw)(source, *arguments, **options)

    return drawn


def _load(name: str) -> Any:
    """Import a module of this folder, which is no package."""
    spec = importlib.util.spec_from_file_location(name, HERE / f"{name}.py")
    sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


_load("waiting")
loopback = _load("loopback")
_load("batch_service"), _load("real_servers")
unbroken = _load("sharded_plans").unbroken
message_batches = _load("message_batches").message_batches
commands = _load("forking").commands
_tiny, _plans = _load("tiny_models"), _load("small_plans")

#: Fixtures that several rooms share.
minilm, plain_states, table = _tiny.minilm, _tiny.plain_states, _tiny.table
tiny_folder, tiny_reader = _tiny.tiny_folder, _tiny.tiny_reader
plan, clinometer = _plans.plan, _plans.clinometer

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real answers and tables, which is not part of the repository."""
    if not SHARED.is_dir():
        pytest.skip(f"needs the development data in {SHARED.parent.name}/{SHARED.name}")
    return SHARED


@pytest.fixture(scope="session")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Fill a folder of some name, once for all processes of a run; nothing may change it."""
    of_all = tmp_path_factory.getbasetemp()
    of_all = of_all.parent if "PYTEST_XDIST_WORKER" in os.environ else of_all

    def folder(name: str, fill: Callable[[Path], object]) -> Path:
        path, done = of_all / "once" / name, of_all / "once" / f"{name}.done"
        path.parent.mkdir(exist_ok=True)
        with path.with_name(f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not done.exists():
                shutil.rmtree(path, ignore_errors=True)  # another process failed to fill it
                path.mkdir()
                fill(path)
                done.touch()
        return path

    return folder


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Any]]:
    """Start a loopback server and point the provider ``openai-api/loop`` at it."""
    servers = []

    def start(reply: Any = None, at_once: int | None = None) -> Any:
        server = loopback.Loopback(reply, at_once)
        monkeypatch.setenv("LOOP_BASE_URL", server.url)
        monkeypatch.setenv("LOOP_API_KEY", "none")
        servers.append(server)
        return server

    yield start
    for server in servers:
        server.close()


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let inspect try again at once what failed."""
    from inspect_ai.model import _retry
    from tenacity import wait_none

    monkeypatch.setattr(_retry, "wait_exponential_jitter", lambda **_: wait_none())


@pytest.fixture
def fake_reader() -> Callable[..., Any]:
    """Make a reader whose states follow from the text alone: three layers, 24 wide."""
    import hashlib

    import numpy as np

    from clinometer_measures.states.readers.states import HiddenStates

    class FakeReader:
        def __init__(self, name: str = "fake") -> None:
            self.name, self.fingerprint = name, f"fingerprint of {name}"
            self.layers, self.width, self.last = ("0", "1", "2"), 24, "block"

        def read(self, contexts: Any) -> HiddenStates:
            keys = list(dict.fromkeys(contexts["key"]))
            values = np.zeros((len(keys), 3, 24))
            counts = np.zeros(len(keys), dtype=np.int64)
            for key, term, context in contexts.select("key", "term", "context").iter_rows():
                for weight, text in ((1.0, term.lower()), (0.3, context), (0.1, self.name)):
                    digest = hashlib.sha256(text.encode()).digest()
                    rng = np.random.default_rng(int.from_bytes(digest[:8], "big"))
                    values[keys.index(key)] += weight * rng.normal(size=(3, 24))
                counts[keys.index(key)] += 1
            means = (values / counts[:, None, None]).astype(np.float32)
            return HiddenStates(tuple(keys), self.layers, means, counts)

    return FakeReader
