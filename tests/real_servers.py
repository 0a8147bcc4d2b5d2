"""Servers that were written elsewhere, with the embedded model's weights, on a free port."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from clinometer.asking.budget import Budget
from clinometer.asking.claim import claim
from clinometer.asking.plan import Plan, Selection
from clinometer.asking.sessions import Outcome, ask_models
from clinometer.models.opening import Connection, Generation, open_models
from clinometer.stimuli import load_study
from waiting import HANGS_S, until


@contextlib.contextmanager
def started(command: Sequence[str], port: int) -> Iterator[str]:
    """Start a server, wait until it is healthy, give its address, and end it."""
    offline = {**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    quiet = subprocess.DEVNULL
    with subprocess.Popen(command, env=offline, stdout=quiet, stderr=quiet) as server:
        try:
            until(lambda: _is_healthy(f"http://127.0.0.1:{port}/health"), server)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            server.kill()


def _is_healthy(health: str) -> bool:
    with contextlib.suppress(OSError), urllib.request.urlopen(health, timeout=HANGS_S):
        return True
    return False


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def post(address: str, body: object) -> dict[str, Any]:
    """Put a JSON object to a server and return its answer."""
    kind = {"Content-Type": "application/json"}
    sent = urllib.request.Request(address, json.dumps(body).encode(), kind)
    with urllib.request.urlopen(sent, timeout=HANGS_S) as got:
        return dict(json.load(got))


def answer(path: Path, address: str) -> None:
    """Put the requests of a shard to a server, as an engine does."""
    lines = []
    for line in path.read_text().splitlines():
        request = json.loads(line)
        body = post(f"{address}/chat/completions", request["body"])
        response = {"status_code": 200, "body": body}
        lines.append(json.dumps({"custom_id": request["custom_id"], "response": response}))
    path.with_suffix(".answers.jsonl").write_text("\n".join(lines))


def plan_of(model: str, mode: str, instrument: str = "absolute_decision", n: int = 2) -> Plan:
    """Return a plan of `n` trials, whose answers follow from the prompts."""
    part = Selection(load_study("bai2025"), ["age"], ["replication"], instrument=instrument)
    greedy = Generation(temperature=0.0, max_tokens=24)
    return Plan([part], [model], modes=[mode], iterations=n, generation=greedy)


def ask(plan: Plan, directory: Path) -> Outcome:
    """Ask one call after the other, so that a server computes each alone."""
    claim(directory, plan)
    alone = Connection(max_retries=1, max_connections=1)
    models = open_models(plan.models, plan.generation, alone)
    return ask_models(plan.pieces, models, directory, Budget())
