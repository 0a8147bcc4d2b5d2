"""A simulated model as a server on the loopback interface, with OpenAI's chat completions.

For clients and tools other than Clinometer. Of a body, `messages`, `n`, `seed`, `max_tokens` (or
`max_completion_tokens`), `stream`, `logprobs`, `top_logprobs`, `response_format` with a JSON
schema, and vLLM's `structured_outputs` and `guided_choice` are read; everything else is ignored.
Any key and any name of a model will do. A call without a seed that is repeated word for word gets
another answer each time, the same ones in every run of the server.

A prompt of no known study is answered by a sentence that says so (`answering.UNKNOWN`), but by a
model that answers anything.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import uvicorn
from inspect_ai.model import ChatMessage, GenerateConfig
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from clinometer.asking.requests import inspect_settings, write_output
from clinometer.modes.mode import chat_messages
from clinometer.simulated.provider import SimulatedModel
from clinometer.stimuli import Study
from clinometer.viewing.app import HOSTS
from clinometer.viewing.serving import listening

#: Most answers to a call.
MOST_CHOICES = 128

#: What is read of a body, besides what has another name here.
BODY_FIELDS = ("n", "seed", "max_tokens", "logprobs", "top_logprobs", "structured_outputs")


def serve_simulated(
    name: str,
    port: int,
    ready: Callable[[str, str], None],
    studies: Iterable[Study | str] = (),
    plants: Sequence[str] = (),
) -> None:
    """Serve a simulated model on 127.0.0.1 until Ctrl-C, which raises KeyboardInterrupt.

    Parameters
    ----------
    name
        As `load_truth` has it.
    port
        0: any that is free.
    ready
        Called with the model's name and the address when it can be asked.
    studies
        Studies, or their files, that it is to know besides those that come with Clinometer.
    plants
        Fields in place of those of the model, as `load_truth` takes them.

    Raises
    ------
    ModelError, StudyError
        If there is no such model or study, or a file is malformed.
    InputError
        If the port cannot be had.
    """
    model = SimulatedModel(name, studies=list(studies))
    model.plant(plants)
    app = make_simulated_app(model)
    config = uvicorn.Config(app, log_level="critical", access_log=False, lifespan="off", ws="none")
    with listening(port) as listener:
        address = f"http://{HOSTS[0]}:{listener.getsockname()[1]}/v1"
        ready(model.simulation.served_as, address)
        uvicorn.Server(config).run([listener])


def make_simulated_app(model: SimulatedModel) -> Starlette:
    """Make the application that answers for a simulated model."""
    repeated = Counter[str]()

    async def models(_: Request) -> JSONResponse:
        """List the one model."""
        name = model.simulation.served_as
        listed = {"id": name, "object": "model", "created": 0, "owned_by": "clinometer"}
        return JSONResponse({"object": "list", "data": [listed]})

    async def chat(request: Request) -> Response:
        """Answer a chat completion, at once or as events."""
        try:
            body = await request.json()
            messages = _messages(body)
            config = _settings(body)
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
            return _refuse(f"not a chat completion: {type(error).__name__}: {error}")
        if config.seed is None:
            sent = json.dumps([body["messages"], config.model_dump()], sort_keys=True, default=str)
            config.seed = repeated[sent]
            repeated[sent] += config.num_choices or 1
        completion = write_output(model.output(messages, config))
        if body.get("stream"):
            return StreamingResponse(_write_events(completion), media_type="text/event-stream")
        return JSONResponse(completion)

    return Starlette(
        routes=[
            Route("/v1/models", models),
            Route("/v1/chat/completions", chat, methods=["POST"]),
        ]
    )


def _refuse(message: str) -> JSONResponse:
    error = {"message": message[:300], "type": "invalid_request_error", "param": None, "code": None}
    return JSONResponse({"error": error}, status_code=400)


def _messages(body: Mapping[str, Any]) -> list[ChatMessage]:
    """Return the messages of a body; the parts of one are put together."""
    messages = []
    for message in body["messages"]:
        content = message["content"]
        parts = [part.get("text", "") for part in content] if isinstance(content, list) else None
        text = content if parts is None else "".join(parts)
        role = {"developer": "system"}.get(message["role"], message["role"])
        messages.append({"role": role, "content": text})
    if not messages:
        raise ValueError("no messages")
    return chat_messages(messages)


def _settings(body: Mapping[str, Any]) -> GenerateConfig:
    """Return what is read of a body, as inspect has it."""
    fields = {name: body[name] for name in BODY_FIELDS if body.get(name) is not None}
    if (longest := body.get("max_completion_tokens")) is not None:
        fields["max_tokens"] = longest
    if (options := body.get("guided_choice")) is not None:
        fields["structured_outputs"] = {"choice": options}
    if (closed := body.get("response_format") or {}).get("type") == "json_schema":
        fields["response_format"] = closed
    config = GenerateConfig(**inspect_settings("simulated/model", fields))
    if not 1 <= (config.num_choices or 1) <= MOST_CHOICES:
        raise ValueError(f"n {config.num_choices}; allowed are 1 to {MOST_CHOICES}")
    return config


def _write_events(completion: Mapping[str, Any]) -> Iterator[str]:
    """Write a chat completion as events: each answer in one piece, then the usage, then the end."""
    shared = {**completion, "object": "chat.completion.chunk"}
    choices = shared.pop("choices")
    usage = shared.pop("usage")
    chunks = [{"choices": [{**choice, "delta": choice["message"]}]} for choice in choices]
    for chunk in (*chunks, {"choices": [], "usage": usage}):
        yield f"data: {json.dumps({**shared, **chunk})}\n\n"
    yield "data: [DONE]\n\n"
