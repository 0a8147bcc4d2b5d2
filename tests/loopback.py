"""An OpenAI-compatible server on the loopback interface, bounded by the test that starts it."""

from __future__ import annotations

import json
import random
import re
import threading
from collections import Counter
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Reply = tuple[int, dict[str, Any] | bytes]


def pair_words(prompt: str) -> str:
    """Answer a word association prompt: a choice per word that depends on the prompt alone."""
    groups = re.search(
        r"(?:— (.+?) or (.+?) —|one of (.+?) or (.+?) to|between (.+?) or (.+?) and)", prompt
    )
    words = re.search(r"The words are (.+?)\.(?: Do not|$)", prompt)
    if not groups or not words:
        return "I do not understand."
    options = [g for g in groups.groups() if g]
    rng = random.Random(prompt)
    return "\n".join(f"{word} - {rng.choice(options)}" for word in words[1].split(", "))


class Loopback:
    """Serves ``/v1/chat/completions``; `reply` turns a request body into status and body.

    Of the calls, `at_once` are answered, and the others when it is let `go`.
    """

    def __init__(
        self,
        reply: Callable[[dict[str, Any]], Reply] | None = None,
        at_once: int | None = None,
    ) -> None:
        self.prompts: Counter[str] = Counter()
        self.reply = reply or self.chat
        self.go = threading.Event()
        self._lock = threading.Lock()
        loopback = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                asked = body.get("messages") or [{"content": ""}]  # of another interface
                with loopback._lock:
                    loopback.prompts[asked[-1]["content"]] += 1
                    answered = at_once is None or loopback.prompts.total() <= at_once
                answered or loopback.go.wait()
                status, answer = loopback.reply(body)
                content = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, format: str, *args: object) -> None:
                pass

        class Server(ThreadingHTTPServer):
            request_queue_size = 128  # of connections that are begun at once

        self._server = Server(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def close(self) -> None:
        self.go.set()
        self._server.shutdown()
        self._server.server_close()

    def chat(self, body: dict[str, Any], text: str | None = None, **choice: Any) -> Reply:
        """Return a chat completion: the pairing of the prompt's words unless `text` is given."""
        prompt = body["messages"][-1]["content"]
        message = {"role": "assistant", "content": pair_words(prompt) if text is None else text}
        return 200, {
            "id": "loopback",
            "object": "chat.completion",
            "created": 0,
            "model": body["model"],
            "choices": [{"index": 0, "message": message, "finish_reason": "stop", **choice}],
            "usage": {"prompt_tokens": 100, "completion_tokens": 60, "total_tokens": 160},
        }
