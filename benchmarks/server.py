"""An OpenAI-compatible chat server on the loopback interface, in a process of its own.

It reads no more of a request than it must and always gives the same prepared answer, so that
the client is the bottleneck. It ends when its input closes, or after `LIFE_S`.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import subprocess
import sys
import time
from collections.abc import Iterator

LIFE_S = 600
MOST_CALLS = 20_000
WORDS = ("awful", "agony", "happy", "glorious", "pleasure", "evil", "hurt", "joy")
CONTENT = json.dumps(
    {
        "id": "loopback",
        "object": "chat.completion",
        "created": 0,
        "model": "m",
        "choices": [
            {
                "index": 0,
                "finish_reason": "stop",
                "message": {
                    "role": "assistant",
                    "content": "\n".join(f"{word} - {g}" for word in WORDS for g in ("a", "b")),
                },
            }
        ],
        "usage": {"prompt_tokens": 100, "completion_tokens": 60, "total_tokens": 160},
    }
).encode()
HEAD = b"HTTP/1.1 %d OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
ANSWER = HEAD % (200, len(CONTENT)) + CONTENT
ENOUGH = HEAD % (429, 2) + b"{}"


class Connection(asyncio.Protocol):
    """One client connection: requests one after another."""

    calls = 0

    def __init__(self, delay_s: float) -> None:
        self.delay_s = delay_s
        self.received = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the way back to the client."""
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        """Answer every request that is whole by now, after the delay."""
        self.received += data
        while (end := self.received.find(b"\r\n\r\n")) >= 0:
            head = self.received[:end].lower()
            start = head.index(b"content-length:") + len(b"content-length:")
            size = int(head[start:].split(b"\r\n", 1)[0])
            if len(self.received) < end + 4 + size:
                return
            self.received = self.received[end + 4 + size :]
            Connection.calls += 1
            answer = ANSWER if Connection.calls <= MOST_CALLS else ENOUGH
            asyncio.get_running_loop().call_later(self.delay_s, self._reply, answer)

    def _reply(self, answer: bytes) -> None:
        if not self.transport.is_closing():
            self.transport.write(answer)


async def _serve(delay_s: float) -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Connection(delay_s), "127.0.0.1", 0, backlog=256)
    print(server.sockets[0].getsockname()[1], flush=True)
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(loop.run_in_executor(None, sys.stdin.read), LIFE_S)
    server.close()
    print(time.process_time(), flush=True)


@contextlib.contextmanager
def serving(delay_s: float) -> Iterator[tuple[str, list[float]]]:
    """Start the server; yield its address and, once it has ended, its CPU seconds."""
    command = [sys.executable, "-m", "benchmarks.server", str(delay_s)]
    busy: list[float] = []
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        try:
            yield f"http://127.0.0.1:{int(process.stdout.readline())}/v1", busy
        finally:
            process.stdin.close()
            busy.append(float(process.stdout.readline() or "nan"))


if __name__ == "__main__":
    asyncio.run(_serve(float(sys.argv[1])))
