"""A simulated model as a server on the loopback interface, with OpenAI's chat completions.

For clients and tools other than Clinometer: `messages`, `n`, `seed`, `max_tokens` (or
`max_completion_tokens`), `stream`, `logprobs`, `top_logprobs`, `response_format` with a JSON
schema, and vLLM's `structured_outputs` and `guided_choice` are read; everything else is ignored.
Any key and any name of a model will do. A call without a seed that is repeated word for word gets
another answer each time, the same ones in every run of the server.

A prompt of no known study is answered by a sentence that says so (`answering.UNKNOWN`).
"""

from __future__ import annotations

import json
import socket
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from clinometer.errors import InputError
from clinometer.simulated.answering import CHARACTERS, Call, Reply, answer, tokens
from clinometer.simulated.recognising import Recognition
from clinometer.simulated.truth import Simulation
from clinometer.stimuli import Study

__all__ = ["make_app", "serve"]

HOST = "127.0.0.1"

#: Most answers to a call, and alternatives at a position.
MOST_CHOICES, MOST_ALTERNATIVES = 128, 20


def serve(
    simulation: Simulation, port: int, ready: Callable[[str], None], studies: Iterable[Study] = ()
) -> None:
    """Serve a simulated model until Ctrl-C, which raises KeyboardInterrupt.

    Parameters
    ----------
    simulation
        From `load_truth`.
    port
        0: any that is free.
    ready
        Called with the address when it can be asked.
    studies
        Studies that it is to know besides those that come with Clinometer.

    Raises
    ------
    InputError
        If the port cannot be had.
    """
    app = make_app(simulation, studies)
    config = uvicorn.Config(app, log_level="critical", access_log=False, lifespan="off", ws="none")
    with _listening(port) as listener:
        ready(f"http://{HOST}:{listener.getsockname()[1]}/v1")
        uvicorn.Server(config).run([listener])


def _listening(port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((HOST, port))
        listener.listen()
    except OSError as error:
        listener.close()
        raise InputError(f"--port {port}: {error.strerror}; name another, or 0 for any") from None
    return listener


def make_app(simulation: Simulation, studies: Iterable[Study] = ()) -> Starlette:
    """Make the application that answers for a simulated model."""
    recognition, repeated = Recognition(studies), Counter[str]()
    name = simulation.served_as

    async def models(_: Request) -> JSONResponse:
        one = {"id": name, "object": "model", "created": 0, "owned_by": "clinometer"}
        return JSONResponse({"object": "list", "data": [one]})

    async def chat(request: Request) -> Response:
        try:
            body = await request.json()
            calls, longest, top = _calls(body, repeated), _longest(body), _alternatives(body)
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            return _refused(f"not a chat completion: {type(error).__name__}: {error}")
        replies = [answer(simulation, recognition, call) for call in calls]
        choices = [_choice(number, reply, longest, top) for number, reply in enumerate(replies)]
        whole = _completion(name, calls[0], replies, choices)
        if body.get("stream"):
            return StreamingResponse(_streamed(whole), media_type="text/event-stream")
        return JSONResponse(whole)

    return Starlette(
        routes=[
            Route("/v1/models", models),
            Route("/v1/chat/completions", chat, methods=["POST"]),
        ]
    )


def _refused(message: str) -> JSONResponse:
    error = {"message": message[:300], "type": "invalid_request_error", "param": None, "code": None}
    return JSONResponse({"error": error}, status_code=400)


def _calls(body: Mapping[str, Any], repeated: Counter[str]) -> list[Call]:
    """Return a call for each answer that is asked for; seeds follow one another."""
    messages = [(str(one["role"]), _text(one.get("content"))) for one in body["messages"]]
    choices = int(body.get("n") or 1)
    if not messages or not 1 <= choices <= MOST_CHOICES:
        raise ValueError(f"messages {len(messages)}, n {choices}")
    properties, options = _properties(body), _options(body)
    seed = body.get("seed")
    if seed is None:
        sent = json.dumps([messages, properties, options], sort_keys=True)
        first = repeated[sent]
        repeated[sent] += choices
    else:
        first = int(seed)
    logprobs = bool(body.get("logprobs"))
    return [
        Call(messages, properties, options, logprobs, first + number) for number in range(choices)
    ]


def _text(content: Any) -> str:
    """Return the text of a message; its parts are put together."""
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content)
    return str(content or "")


def _properties(body: Mapping[str, Any]) -> Mapping[str, Sequence[str]] | None:
    schema = ((body.get("response_format") or {}).get("json_schema") or {}).get("schema")
    if not schema:
        return None
    properties = schema.get("properties") or {}
    return {name: [str(one) for one in of.get("enum") or [""]] for name, of in properties.items()}


def _options(body: Mapping[str, Any]) -> list[str] | None:
    given = (body.get("structured_outputs") or {}).get("choice") or body.get("guided_choice")
    return [str(option) for option in given] if given else None


def _longest(body: Mapping[str, Any]) -> int | None:
    longest = body.get("max_completion_tokens") or body.get("max_tokens")
    return None if longest is None else int(longest)


def _alternatives(body: Mapping[str, Any]) -> int:
    return min(int(body.get("top_logprobs") or 0), MOST_ALTERNATIVES)


def _streamed(whole: Mapping[str, Any]) -> Iterator[str]:
    """Write a chat completion as events: each answer in one piece, then the usage, then the end."""
    shared = {**whole, "object": "chat.completion.chunk"}
    choices, usage = shared.pop("choices"), shared.pop("usage")
    chunks = [{"choices": [{**one, "delta": one["message"]}]} for one in choices]
    for chunk in (*chunks, {"choices": [], "usage": usage}):
        yield f"data: {json.dumps({**shared, **chunk})}\n\n"
    yield "data: [DONE]\n\n"


def _completion(
    name: str, call: Call, replies: Sequence[Reply], choices: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Write the body of a chat completion."""
    thought = sum(reply.reasoning_tokens or 0 for reply in replies)
    written = sum(tokens(reply.text) for reply in replies) + thought
    read = sum(tokens(text) for _, text in call.messages)
    return {
        "id": "simulated",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": name,
        "choices": list(choices),
        "usage": {
            "prompt_tokens": read,
            "completion_tokens": written,
            "total_tokens": read + written,
            "completion_tokens_details": {"reasoning_tokens": thought},
        },
    }


def _choice(number: int, reply: Reply, longest: int | None, top: int) -> dict[str, Any]:
    text = reply.text if longest is None else reply.text[: longest * CHARACTERS]
    listed = [
        {"token": token, "logprob": value, "bytes": list(token.encode())}
        for token, value in reply.logprobs
    ]
    first = [{**listed[0], "top_logprobs": listed[:top]}] if listed else None
    return {
        "index": number,
        "finish_reason": "length" if text != reply.text else "stop",
        "message": {"role": "assistant", "content": text},
        "logprobs": None if first is None else {"content": first},
    }
