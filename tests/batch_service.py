"""OpenAI's interface of files and batches on the loopback interface, bounded by its test.

A request counts as paid when its batch is created, unless the batch fails, or ends before it.
"""

from __future__ import annotations

import json
import re
import threading
from collections import Counter
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

#: What a fault does to a call: a status instead of it, or what happens around it.
#: `drop`: done, and the connection is cut; `lose`: not done, and it is cut.
Fault = int | str | Callable[[], None] | None


class BatchService:
    """Answers a batch when it has been looked at `looks` times.

    Attributes
    ----------
    reply
        A request's body → its answer, or (status, body) of an error.
    ends
        Batch → (its end, the share that was answered); completed and 1 by default.
    faults
        (method, path) → what goes wrong.
    connections
        How many are open: none when all is done that clients asked for who are gone.
    """

    def __init__(self, reply: Callable[[dict[str, Any]], Any], looks: int = 1) -> None:
        self.reply, self.looks = reply, looks
        self.ends: Callable[[dict[str, Any]], tuple[str, float]] = lambda batch: ("completed", 1.0)
        self.faults: Callable[[str, str], Fault] = lambda method, path: None
        self.paid: Counter[str] = Counter()
        self.calls: Counter[str] = Counter()
        self.connections = 0
        self.files: dict[str, bytes] = {}
        self.batches: dict[str, dict[str, Any]] = {}
        self.page = 2  # of a list, whatever is asked for
        self.key: str | None = None
        self._lock = threading.Lock()
        service = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_GET(self) -> None:
                service._serve(self, "GET")

            def do_POST(self) -> None:
                service._serve(self, "POST")

            def log_message(self, format: str, *args: object) -> None:
                pass

        class Server(ThreadingHTTPServer):
            def process_request(self, request: Any, client_address: Any) -> None:
                with service._lock:
                    service.connections += 1
                super().process_request(request, client_address)

            def shutdown_request(self, request: Any) -> None:
                super().shutdown_request(request)
                with service._lock:
                    service.connections -= 1

            def handle_error(self, request: Any, client_address: Any) -> None:
                """Say nothing of clients that are killed."""

        self._server = Server(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _serve(self, to: BaseHTTPRequestHandler, method: str) -> None:
        data = to.rfile.read(int(to.headers.get("Content-Length") or 0))
        path = to.path.removeprefix("/v1")
        name = f"{method} {re.sub(r'(batch|file)-[0-9]+', 'ID', path.partition('?')[0])}"
        try:
            with self._lock:
                self.calls[name] += 1
                fault = self.faults(method, path)
            if fault == "lose":
                to.close_connection = True
                return
            if callable(fault):
                fault()
            if isinstance(fault, int):
                status, answer = fault, {"error": {"message": f"fault {fault}", "code": "fault"}}
            elif self.key and to.headers["Authorization"] != f"Bearer {self.key}":
                status, answer = 401, {"error": {"message": "Incorrect API key provided"}}
            else:
                with self._lock:
                    status, answer = self._do(name, path, data)
            if fault == "drop":
                to.close_connection = True
                return
            body = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
            to.send_response(status)
            kind = "octet-stream" if isinstance(answer, bytes) else "json"
            to.send_header("Content-Type", f"application/{kind}")
            to.send_header("Content-Length", str(len(body)))
            to.end_headers()
            to.wfile.write(body)
        except OSError:  # the client is gone
            to.close_connection = True

    def _do(self, name: str, path: str, data: bytes) -> tuple[int, Any]:
        if name == "POST /files":
            content = re.search(rb'name="file".*?\r\n\r\n(.*?)\r\n--', data, re.DOTALL)[1]
            assert b'name="purpose"\r\n\r\nbatch\r\n' in data
            return 200, {"id": self._store(content), "object": "file", "purpose": "batch"}
        if name == "GET /files/ID/content":
            return 200, self.files[path.split("/")[2]]
        if name == "POST /batches":
            return 200, self._shown(self._create(json.loads(data)))
        if name == "GET /batches/ID":
            batch = self.batches.get(path.split("/")[2])
            if batch is None:
                return 404, {"error": {"message": "No batch found"}}
            return 200, self._shown(self._look(batch))
        assert name == "GET /batches", name
        newest = [self._shown(one) for one in reversed(self.batches.values())]
        if after := re.search(r"after=([\w-]+)", path):
            newest = newest[[one["id"] for one in newest].index(after[1]) + 1 :]
        page = newest[: self.page]
        return 200, {"object": "list", "data": page, "has_more": len(newest) > len(page),
                     "first_id": None, "last_id": page[-1]["id"] if page else None}  # fmt: skip

    def _store(self, content: bytes) -> str:
        name = f"file-{len(self.files)}"
        self.files[name] = content
        return name

    def _create(self, asked: dict[str, Any]) -> dict[str, Any]:
        assert asked["endpoint"] == "/v1/chat/completions" and asked["completion_window"] == "24h"
        lines = [json.loads(one) for one in self.files[asked["input_file_id"]].splitlines()]
        names = [one["custom_id"] for one in lines]
        assert len(set(names)) == len(names)
        batch = {**asked, "id": f"batch-{len(self.batches)}", "object": "batch", "created_at": 0,
                 "status": "in_progress", "lines": lines, "looks": 0}  # fmt: skip
        self.batches[batch["id"]] = batch
        batch["end"], share = self.ends(batch)
        batch["done"] = 0 if batch["end"] == "failed" else round(share * len(lines))
        self.paid.update(names[: batch["done"]])
        return batch

    def _look(self, batch: dict[str, Any]) -> dict[str, Any]:
        batch["looks"] += 1
        if batch["looks"] < self.looks or batch["status"] != "in_progress":
            return batch
        batch["status"], outputs, errors = batch["end"], [], []
        if batch["end"] == "failed":
            error = {"code": batch.get("code", "invalid"), "message": "line 1 is invalid"}
            batch["errors"] = {"object": "list", "data": [error]}
            return batch
        for number, line in enumerate(batch["lines"]):
            answer = self.reply(line["body"]) if number < batch["done"] else None
            named = {"id": "r", "custom_id": line["custom_id"]}
            if answer is None:
                said = {"code": "batch_expired", "message": "This request could not be executed"}
                errors.append({**named, "response": None, "error": said})
            elif isinstance(answer, tuple):
                response = {"status_code": answer[0], "request_id": "r", "body": answer[1]}
                errors.append({**named, "response": response, "error": None})
            else:
                response = {"status_code": 200, "request_id": "r", "body": answer}
                outputs.append({**named, "response": response, "error": None})
        for key, rows in (("output_file_id", outputs), ("error_file_id", errors)):
            if rows:
                content = "\n".join(json.dumps(row) for row in reversed(rows))
                batch[key] = self._store(content.encode())
        return batch

    def _shown(self, batch: dict[str, Any]) -> dict[str, Any]:
        counts = {"total": len(batch["lines"]), "completed": batch["done"], "failed": 0}
        hidden = ("lines", "looks", "end", "done", "code")
        shown = {key: value for key, value in batch.items() if key not in hidden}
        return {**shown, "request_counts": counts}
