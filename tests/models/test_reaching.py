"""Servers that are not there, and servers that are slow."""

from __future__ import annotations

import asyncio
import json
import logging
import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from clinometer.asking.trials import describe_error
from clinometer.models import reaching
from clinometer.models.opening import Connection, Generation, open_model
from clinometer.models.reaching import Unreachable, find_unreachable

Listen = Callable[[Callable[[socket.socket], object]], int]


@pytest.fixture
def listen(monkeypatch: pytest.MonkeyPatch) -> Iterator[Listen]:
    """Listen on a port of this machine; each connection is given to a function."""
    monkeypatch.setenv("LOOP_API_KEY", "none")
    listeners = []

    def start(behave: Callable[[socket.socket], object]) -> int:
        listener = socket.create_server(("127.0.0.1", 0))
        listeners.append(listener)

        def serve() -> None:
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:  # closed
                    return
                with connection:
                    behave(connection)

        threading.Thread(target=serve, daemon=True).start()
        return int(listener.getsockname()[1])

    yield start
    for listener in listeners:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()


def opened(address: str) -> Any:
    return open_model("openai-api/loop/m", Generation(), Connection(base_url=address))


def refuse(connection: socket.socket) -> None:
    connection.recv(4096)
    connection.sendall(b"HTTP/1.1 503 Loading\r\nContent-Length: 0\r\n\r\n")


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("http://127.0.0.1:{free}/v1", "nothing listens there"),
        ("http://nowhere.invalid/v1", "there is no such host"),
        ("https://127.0.0.1:{plain}/v1", "what listens there speaks no TLS"),
    ],
)
def test_nobody_there_is_said_with_place_reason_and_remedy(
    listen: Listen, address: str, reason: str
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        free = listener.getsockname()[1]
    address = address.format(free=free, plain=listen(refuse))
    scheme, _, host = address.removesuffix("/v1").partition("://")
    (problem,) = find_unreachable({"it": opened(f"{scheme}://me:sesame@{host}/v1/sesame?k=sesame")})
    assert problem.startswith(f"it: {scheme}://{host}: {reason}")
    assert problem.endswith("is it running, and is that its address (--model-base-url, "
                            "LOOP_BASE_URL)?")  # fmt: skip
    assert "sesame" not in problem


def test_the_command_that_starts_a_server_is_said() -> None:
    (problem,) = find_unreachable(
        {"it": open_model("ollama/m", Generation(), Connection(base_url="http://127.0.0.1:1/v1"))}
    )
    assert "is it running (ollama serve), and" in problem and "OLLAMA_BASE_URL" in problem


def test_who_closes_every_connection_is_given_up_with_the_first_calls(listen: Listen) -> None:
    requests: list[object] = []
    model = opened(f"http://127.0.0.1:{listen(requests.append)}/v1")

    async def ask() -> list[BaseException | Any]:
        calls = (model.generate("x") for _ in range(3))
        return await asyncio.gather(*calls, return_exceptions=True)

    assert find_unreachable({"it": model}) == []
    for error in asyncio.run(ask()):
        assert describe_error(error).startswith("Unreachable: http://127.0.0.1:")
        assert ": it closes the connection" in str(error) and "; is it running" in str(error)
    before = len(requests)
    assert before <= 4 and all(asyncio.run(ask())) and len(requests) == before


def test_who_closes_what_it_does_not_know_may_answer_calls(listen: Listen) -> None:
    body = json.dumps({"choices": [{"message": {"content": "yes"}}]}).encode()
    head = (
        f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )

    def answer_calls(connection: socket.socket) -> None:
        if connection.recv(1 << 16).startswith(b"POST"):
            connection.sendall(head.encode() + body)

    model = opened(f"http://127.0.0.1:{listen(answer_calls)}/v1")
    assert asyncio.run(model.generate("x")).completion == "yes"


def test_whatever_a_server_says_is_an_answer(listen: Listen) -> None:
    assert find_unreachable({"it": opened(f"http://127.0.0.1:{listen(refuse)}/v1")}) == []


def test_a_server_that_says_nothing_for_long_is_named_and_waited_for(
    listen: Listen, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(reaching, "NOTICE_S", 0)
    noticed = threading.Event()
    handler = logging.Handler()
    handler.emit = lambda record: noticed.set()  # type: ignore[method-assign]
    log = logging.getLogger("clinometer.models.reaching")
    monkeypatch.setattr(log, "handlers", [handler])
    monkeypatch.setattr(log, "disabled", False)  # as libraries of other tests leave it
    caplog.set_level(logging.WARNING, log.name)  # whatever commands of other tests have set

    def answer_late(connection: socket.socket) -> None:
        noticed.wait()
        refuse(connection)

    assert find_unreachable({"it": opened(f"http://127.0.0.1:{listen(answer_late)}/v1")}) == []


def test_silence_without_end_is_given_up(listen: Listen, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reaching, "SILENT_S", 0.05)
    finished = threading.Event()
    model = opened(f"http://127.0.0.1:{listen(lambda connection: finished.wait())}/v1")
    with pytest.raises(Unreachable, match="no answer within"):
        asyncio.run(model.api.contact.make())
    finished.set()


def test_who_has_answered_once_is_not_tried_again(serve: Callable[..., Any]) -> None:
    server = serve()
    model = open_model("openai-api/loop/m", Generation(), Connection(max_retries=0))
    # Each in an event loop of its own, as the parts of a run are asked.
    assert find_unreachable({"it": model}) == []
    answer = asyncio.run(model.generate("x"))
    assert answer.completion == "I do not understand."
    server.close()
    error = asyncio.run(_error_of(model))
    assert not isinstance(error, Unreachable) and server.url.removesuffix("/v1") in describe_error(
        error
    )


async def _error_of(model: Any) -> BaseException:
    with pytest.raises(Exception) as raised:  # noqa: B017 - a client's
        await model.generate("y")
    return raised.value
