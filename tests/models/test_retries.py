"""Requests to a server on the loopback interface that gives no answers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from clinometer.asking.requests import read_output
from clinometer.asking.trials import describe_error
from clinometer.models.bodies import LARGEST, read_answer
from clinometer.models.opening import Connection, Generation, open_model
from clinometer.models.retries import MalformedAnswer, count_requests

CHOICE = {"index": 0, "message": {"role": "assistant", "content": "hi"}, "finish_reason": "stop"}
GOOD = {"id": "x", "object": "chat.completion", "created": 0, "model": "m", "choices": [CHOICE]}
BODIES: dict[str, Any] = {
    "cut": (200, json.dumps(GOOD)[:60].encode()),
    "html": (200, b"<html><body>Bad gateway</body></html>"),
    "utf8": (200, b'{"id": "\xff\xfe", "choices": 3}'),
    "no choices": (200, {**GOOD, "choices": []}),
    "null": (200, {**GOOD, "choices": None}),
    "no message": (200, {**GOOD, "choices": [{**CHOICE, "message": None}]}),
    "nothing": (200, b""),
    "list": (200, b"[1]"),
    "500": (500, b"oops"),
}


async def ask(model: Any) -> tuple[int, Any]:
    with count_requests() as requests:
        try:
            answer = await model.generate("hello")
        except Exception as error:
            answer = error
    return requests.sent, answer


def test_what_is_no_answer_is_tried_again_once_for_each_retry(
    serve: Callable[..., Any], impatient: None, caplog: pytest.LogCaptureFixture
) -> None:
    servers = {name: serve(lambda _, answer=answer: answer) for name, answer in BODIES.items()}

    async def everything() -> dict[str, tuple[int, Any]]:
        connections = (
            Connection(max_retries=1, base_url=server.url) for server in servers.values()
        )
        models = [
            open_model("openai-api/loop/m", Generation(), connection) for connection in connections
        ]
        return dict(zip(servers, await asyncio.gather(*map(ask, models)), strict=True))

    with caplog.at_level("WARNING", "clinometer"):
        outcomes = asyncio.run(everything())
    for name, server in servers.items():
        n_requests, error = outcomes[name]
        assert (server.prompts.total(), n_requests) == (2, 2), name
        assert isinstance(error, Exception), name
    error_names = [describe_error(error).partition(":")[0] for _, error in outcomes.values()]
    assert error_names.count(MalformedAnswer.__name__) >= 5 and "RetryError" not in error_names
    log_lines = [
        record.getMessage() for record in caplog.records if record.name.startswith("clinometer")
    ]
    assert len(log_lines) == len(servers) and all(
        ": no answer yet (" in record for record in log_lines
    )


@pytest.mark.parametrize("name", ["cut", "500"])
def test_without_retries_there_is_one_request(serve: Callable[..., Any], name: str) -> None:
    server = serve(lambda _: BODIES[name])
    connection = Connection(max_retries=0, base_url=server.url)
    n_requests, error = asyncio.run(ask(open_model("openai-api/loop/m", Generation(), connection)))
    assert (server.prompts.total(), n_requests) == (1, 1) and isinstance(error, Exception)


LIVE = {
    "parts": (200, {**GOOD, "choices": [{**CHOICE, "message": {"content": [{"text": "hi"}]}}]}),
    "eos": (200, {**GOOD, "choices": [{**CHOICE, "finish_reason": "eos"}], "created": 1.5}),
    "partial usage": (200, {**GOOD, "usage": {"prompt_tokens": 3, "total_tokens": 5}}),
    "below 0": (200, {**GOOD, "usage": {"prompt_tokens": -3, "completion_tokens": 1}}),
}


@pytest.mark.parametrize("name", LIVE)
def test_odd_bodies_are_read_live_as_they_are_when_collected(
    serve: Callable[..., Any], name: str
) -> None:
    server = serve(lambda _: LIVE[name])
    connection = Connection(max_retries=0, base_url=server.url)
    model = open_model("openai-api/loop/m", Generation(), connection)
    n_requests, answer = asyncio.run(ask(model))
    collected = read_output(read_answer(200, LIVE[name][1]))
    assert n_requests == 1
    assert answer.completion == collected.completion == "hi"
    assert answer.stop_reason == collected.stop_reason == "stop"
    assert answer.usage == collected.usage


def test_a_filtered_prompt_is_a_refusal_at_once(serve: Callable[..., Any]) -> None:
    error = {"message": "The response was filtered", "code": "content_filter"}
    server = serve(lambda _: (400, {"error": error}))
    connection = Connection(max_retries=3, base_url=server.url)
    n_requests, answer = asyncio.run(ask(open_model("openai-api/loop/m", Generation(), connection)))
    assert (n_requests, answer.stop_reason) == (1, "content_filter")


def test_an_error_with_status_200_has_its_own_words(serve: Callable[..., Any]) -> None:
    server = serve(lambda _: (200, {"error": {"message": "no credit left", "code": "x"}}))
    connection = Connection(max_retries=0, base_url=server.url)
    _, error = asyncio.run(ask(open_model("openai-api/loop/m", Generation(), connection)))
    assert describe_error(error) == "MalformedAnswer: status 200: no credit left"


def test_an_error_whose_code_is_a_status_is_one_of_that_status(serve: Callable[..., Any]) -> None:
    server = serve(lambda _: (200, {"error": {"message": "wrong key", "code": 401}}))
    connection = Connection(max_retries=3, base_url=server.url)
    n_requests, error = asyncio.run(ask(open_model("openai-api/loop/m", Generation(), connection)))
    assert n_requests == 1 and "AuthenticationError" in describe_error(error)
    assert "wrong key" in describe_error(error)


def test_an_answer_that_is_too_large_is_an_error_at_once(serve: Callable[..., Any]) -> None:
    huge = {**CHOICE, "message": {"role": "assistant", "content": "x" * LARGEST}}
    server = serve(lambda _: (200, {**GOOD, "choices": [huge]}))
    connection = Connection(max_retries=3, base_url=server.url)
    n_requests, error = asyncio.run(ask(open_model("openai-api/loop/m", Generation(), connection)))
    assert n_requests == 1
    assert describe_error(error) == "TooLarge: the answer is larger than 4,194,304 bytes"
