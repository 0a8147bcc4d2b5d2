"""Runs that are killed, and servers that fail: what is lost, asked twice or not explained.

Question
    Is a run that was broken off, or met a faulty server, in the end the run that was not?
Peer
    The tables of one unbroken run with a server that always answers.
How
    A server on the loopback interface answers the trials of a plan by their prompts, the same each
    time. A run is killed (SIGKILL) when the server has seen so many calls, and then continued;
    killed so 20 times in a row; or asks a server of whose bodies a sixth are an error or no answer.
    *Lost*: trials without an answer in the end. *Asked twice*: trials asked again whose answer was
    in the journal. *Unexplained*: tables that differ from the peer's.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from benchmarks.measuring import Result

MODEL = "openai-api/loop/m"
COMMAND = ("run", MODEL, "--stereotypes", "age,power,career", "--iterations", "6")
KILLS = 20
TABLES = ("responses", "scores", "words", "items", "compliance", "estimates")
LONGEST_S = 120.0

#: Bodies that are no answer, by the kind of fault.
FAULTS: dict[str, tuple[int, bytes]] = {
    "error 500": (500, b"oops"),
    "busy 429": (429, b'{"error": {"message": "slow down"}}'),
    "cut JSON": (200, b'{"id": "x", "choices": [{"index"'),
    "HTML": (200, b"<html><body>Bad gateway</body></html>"),
    "bad UTF-8": (200, b'{"id": "\xff"}'),
    "no choices": (200, b'{"id": "x", "object": "chat.completion", "model": "m", "choices": []}'),
}


class Server:
    """Answers by prompt, and counts what was asked."""

    def __init__(self, answers: dict[str, str]) -> None:
        self.answers, self.asked = answers, Counter[str]()
        self.fault: tuple[int, bytes] | None = None
        self.rng, self.lock = random.Random(0), threading.Lock()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                status, content = outer.reply(body["messages"][-1]["content"])
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, format: str, *args: object) -> None:
                pass

        class Threads(ThreadingHTTPServer):
            request_queue_size = 128
            daemon_threads = True

            def handle_error(self, request: Any, client_address: Any) -> None:
                """Say nothing of a client that was killed."""

        self.http = Threads(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}/v1"
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def reply(self, prompt: str) -> tuple[int, bytes]:
        """Return status and body: the answer or, of a sixth, the fault."""
        with self.lock:
            if self.fault is not None and self.rng.random() < 1 / 6:
                return self.fault
            self.asked[prompt] += 1
        message = {"role": "assistant", "content": self.answers[prompt]}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        whole = {"id": "x", "object": "chat.completion", "created": 0, "model": "m"}
        return 200, json.dumps({**whole, "choices": [choice]}).encode()


def run() -> Result:
    answers = _answers()
    server = Server(answers)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        _finish(server, root / "whole")
        peer = _tables(root / "whole")
        counts = [round(1 + n * (len(answers) - 2) / (KILLS - 1)) for n in range(KILLS)]
        broken = [_killed(server, root / f"killed{n}", [n], peer) for n in counts]
        rows = [
            (f"killed at {KILLS} call counts", *map(sum, zip(*broken, strict=True))),
            (f"killed {KILLS} times in a row", *_killed(server, root / "row", [4] * KILLS, peer)),
        ]
        for name, fault in FAULTS.items():
            server.fault = fault
            rows.append((name, *_killed(server, root / name.replace(" ", ""), [], peer)))
            server.fault = None
    return Result(
        f"Runs of {len(answers)} trials that are killed, or meet a faulty server",
        ("what happens", "lost", "asked twice", "unexplained"),
        rows,
        {"nothing is lost, asked twice or unexplained": not any(sum(row[1:]) for row in rows)},
    )


def _answers() -> dict[str, str]:
    """Return an answer to each prompt of the plan, drawn by the prompt alone."""
    from clinometer.audits.sizes import PlanOptions, build_plan

    plan = build_plan([MODEL], PlanOptions(stereotypes="age,power,career", iterations=6))
    answers = {}
    for row in plan.trials().iter_rows(named=True):
        rng, groups = random.Random(row["prompt"]), (row["marginalized"], row["default"])
        answers[row["prompt"]] = "\n".join(f"{w} - {rng.choice(groups)}" for w in row["attributes"])
    return answers


def _start(server: Server, out: Path) -> subprocess.Popen[bytes]:
    code = "from clinometer.cli import main; main()"
    command = [sys.executable, "-c", code, *COMMAND, "--out", str(out)]
    environment = {**os.environ, "LOOP_BASE_URL": server.url, "LOOP_API_KEY": "none"}
    return subprocess.Popen(
        command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


def _finish(server: Server, out: Path) -> None:
    """Run until every trial has an answer, at most five times, each for `LONGEST_S`."""
    for _ in range(5):
        process = _start(server, out)
        try:
            if process.wait(LONGEST_S) == 0:
                return
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _killed(
    server: Server, out: Path, after: list[int], peer: dict[str, Any]
) -> tuple[int, int, int]:
    """Kill a run after so many calls, each time anew, and finish it; count what went wrong."""
    twice = 0
    for calls in after:
        start = server.asked.total()
        process, before = _start(server, out), _answered(out)
        asked = Counter(server.asked)
        until = time.monotonic() + LONGEST_S
        while server.asked.total() < start + calls and time.monotonic() < until:
            if process.poll() is not None:
                break
            time.sleep(0.01)
        process.kill()
        process.wait()
        twice += sum((server.asked - asked)[prompt] > 0 for prompt in before)
    before, asked = _answered(out), Counter(server.asked)
    _finish(server, out)
    twice += sum((server.asked - asked)[prompt] > 0 for prompt in before)
    found = _tables(out)
    lost = len(server.answers) - len(_answered(out))
    return lost, twice, sum(not found[name].equals(peer[name]) for name in TABLES)


def _answered(out: Path) -> set[str]:
    """Return the prompts whose answer is in the journal."""
    from clinometer.asking.plan import load_plan
    from clinometer.results.records import Journal

    if not (out / "plan.json").is_file():
        return set()
    prompts = dict(load_plan(out).trials().select("trial_id", "prompt").iter_rows())
    lines = Journal(out, MODEL)
    return {prompts[line["trial_id"]] for line in lines if line.get("error") is None}


def _tables(out: Path) -> dict[str, Any]:
    import polars as pl

    return {name: pl.read_parquet(out / f"{name}.parquet") for name in TABLES}
