"""Anthropic's messages and batches of them on the loopback interface, bounded by its test."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from loopback import pair_words

#: Tokens of an answer.
USAGE = {"input_tokens": 300, "output_tokens": 200}


class MessageBatches:
    """Anthropic's messages, one by one and in batches; a batch ends when it is looked at twice."""

    def __init__(self) -> None:
        self.sizes: list[int] = []
        self.alone = 0
        self.batches: dict[str, list[Any]] = {}
        self.looks: dict[str, int] = {}
        service = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                self.send(service.get(self.path))

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                self.send(json.dumps(service.post(self.path, body)).encode())

            def send(self, content: bytes) -> None:
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, format: str, *args: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        if path.endswith("/messages/batches"):
            name = f"msgbatch_{len(self.batches)}"
            self.batches[name], self.looks[name] = body["requests"], 0
            self.sizes.append(len(body["requests"]))
            return self.shown(name)
        self.alone += 1
        return message(body)

    def get(self, path: str) -> bytes:
        name = re.search(r"msgbatch_\d+", path)[0]
        if path.endswith("/results"):
            lines = [
                {"custom_id": one["custom_id"],
                 "result": {"type": "succeeded", "message": message(one["params"])}}
                for one in reversed(self.batches[name])
            ]  # fmt: skip
            return "\n".join(map(json.dumps, lines)).encode()
        self.looks[name] += 1
        return json.dumps(self.shown(name)).encode()

    def shown(self, name: str) -> dict[str, Any]:
        ended, n = self.looks[name] >= 2, len(self.batches[name])
        counts = {"processing": 0 if ended else n, "succeeded": n if ended else 0,
                  "errored": 0, "canceled": 0, "expired": 0}  # fmt: skip
        results = f"{self.url}/v1/messages/batches/{name}/results" if ended else None
        return {"id": name, "type": "message_batch", "request_counts": counts,
                "processing_status": "ended" if ended else "in_progress", "results_url": results,
                "created_at": "2025-01-01T00:00:00Z",
                "expires_at": "2025-01-02T00:00:00Z"}  # fmt: skip


def message(params: dict[str, Any]) -> dict[str, Any]:
    """Return the pairing of a prompt's words."""
    content = params["messages"][-1]["content"]
    asked = content if isinstance(content, str) else content[0]["text"]
    return {"id": "msg", "type": "message", "role": "assistant", "model": params["model"],
            "content": [{"type": "text", "text": pair_words(asked)}], "stop_reason": "end_turn",
            "stop_sequence": None, "usage": USAGE}  # fmt: skip


@pytest.fixture
def message_batches(monkeypatch: pytest.MonkeyPatch) -> Iterator[MessageBatches]:
    """Serve batches to ``anthropic/``; inspect looks at them at once."""
    from inspect_ai.model._providers.util import batch

    made = MessageBatches()
    monkeypatch.setenv("ANTHROPIC_BASE_URL", made.url)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "none")
    monkeypatch.setattr(batch, "DEFAULT_BATCH_TICK", 0.05)
    monkeypatch.setattr(batch, "DEFAULT_SEND_DELAY", 0.2)
    yield made
    made.close()
