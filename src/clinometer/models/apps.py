"""Systems of users' own, asked as models are: ``app/MODULE:FUNCTION`` and ``app/FILE.yaml``.

A function of one text gives a text, at once or when awaited; it is called by its name, from the
current folder as Python itself would import it. Of a prompt that is a chat it has the messages, a
list of ``{"role": …, "content": …}``. It may give an object, which is kept as JSON: a ``text`` and
what else it did, as ``{"text": …, "tools": [{"name": …, "arguments": …}]}``. A solver of inspect is
asked as one, and gives such an object (`solvers`). A file says where an endpoint is::

    url: https://localhost:8080/answer
    headers: {Authorization: "Bearer ${APP_KEY}"}
    body: {message: "{prompt}"}
    answer: reply.0.text

``${NAME}`` is read from the environment, and kept secret. ``{prompt}`` stands for what is asked,
anywhere in the body, and ``"{messages}"`` for all messages of a chat. `answer` leads to the text,
or to such an object, through names and numbers; without it the text is the whole reply.

A system is asked as it stands: what `GenerateConfig` says of temperature, length and seeds is its
own affair, and changes nothing. Its answers are journalled, limited and tried again like those of
models; a call that fails is an error of its own.
"""

from __future__ import annotations

import asyncio
import importlib
import inspect
import json
import os
import re
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from clinometer.errors import ModelError
from clinometer.models.bodies import LARGEST, TooLarge
from clinometer.models.solvers import Message, as_solver, run_solver
from clinometer.secrets import keep_secret
from clinometer.texts import value_at

#: Messages of a conversation → answer.
Answer = Callable[[Sequence[Message]], Awaitable[str]]

#: Calls at a time, unless a file says otherwise.
CONNECTIONS = 8

#: What stands in a body for all messages of a chat.
MESSAGES = "{messages}"

#: Statuses with which the same request may succeed later.
LATER = (408, 425, 429)

#: The longest passage of a reply that an error shows.
_LONGEST = 200

_VARIABLE = re.compile(r"\$\{(\w+)\}")


class Endpoint(BaseModel):
    """Where a system is asked over HTTP, and where its answer stands; see the module."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    url: str = Field(pattern=r"^https?://\S+$")
    method: str = Field("POST", pattern="^(GET|POST|PUT)$")
    headers: Mapping[str, str] = {}
    params: Mapping[str, str] = {}
    body: Any = {"prompt": "{prompt}"}
    """Sent as JSON; not with GET, which has `params`."""
    answer: str = ""
    timeout_s: float = Field(60.0, gt=0)
    connections: int = Field(CONNECTIONS, ge=1)


class AppFailure(Exception):
    """A call that gave no answer, with its status; 400 is that of a function."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


def as_model(function: Callable[..., Any]) -> str:
    """Name a function of this process as a model; the name serves wherever a model is named.

    Parameters
    ----------
    function
        Takes a prompt and gives a text or an object with one, at once or when awaited; or a solver
        of inspect.

    Returns
    -------
    str
        ``app/MODULE:NAME``.

    Examples
    --------
    >>> def refund(prompt: str) -> str:
    ...     return "Approve."
    >>> as_model(refund).partition(":")[2]
    'refund'
    """
    name = f"{function.__module__}:{function.__qualname__}"
    _FUNCTIONS[name] = function
    return f"app/{name}"


#: Functions of this process that were named by `as_model`.
_FUNCTIONS: dict[str, Callable[..., Any]] = {}


def _find_function(name: str) -> Callable[..., Any]:
    """Find a function by ``MODULE:NAME``; raises ModelError if there is none."""
    if name in _FUNCTIONS:
        return _FUNCTIONS[name]
    module_name, colon, attribute = name.partition(":")
    if not (colon and module_name and attribute):
        raise ModelError(f"app/{name}: expected app/MODULE:FUNCTION or app/FILE.yaml")
    if "" not in sys.path and os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        module = importlib.import_module(module_name)
    except Exception as error:  # a module may raise what it likes
        raise ModelError(f"app/{name}: {type(error).__name__}: {error}") from None
    if not hasattr(module, attribute):
        raise ModelError(f"app/{name}: {module_name} has no {attribute}")
    function = getattr(module, attribute)
    if not callable(function):
        raise ModelError(f"app/{name}: {attribute} is no function")
    return cast("Callable[..., Any]", function)


def open_app(name: str, solver_model: str | None = None) -> tuple[Answer, int]:
    """Return what asks a system, and how many calls it takes at a time.

    `solver_model` answers what a solver of inspect generates. Raises ModelError if there is no such
    function or file, the file is malformed, or a solver has no model.
    """
    if name.endswith((".yaml", ".yml")):
        endpoint = read_endpoint(Path(name))
        return _ask_endpoint(endpoint), endpoint.connections
    function = _find_function(name)
    solver = as_solver(function)
    if solver is None:
        return _call_function(name, function), CONNECTIONS
    return run_solver(name, solver, solver_model), CONNECTIONS


def _call_function(name: str, function: Callable[..., Any]) -> Answer:
    """Return what calls a function."""

    async def answer(messages: Sequence[Message]) -> str:
        """Call the function; one that is not awaited runs in a thread."""
        asked = messages[0]["content"] if len(messages) == 1 else [*messages]
        try:
            if inspect.iscoroutinefunction(function):
                value = await function(asked)
            else:
                value = await asyncio.to_thread(function, asked)
        except Exception as error:  # a function may raise what it likes
            raise AppFailure(400, f"app/{name}: {type(error).__name__}: {error}") from error
        text = _as_text(value)
        if text is None:
            raise AppFailure(400, f"app/{name} gave {type(value).__name__}, and no text")
        return text

    return answer


def _as_text(value: Any) -> str | None:
    """Return a text as it is, and an object as JSON; None of anything else."""
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False) if isinstance(value, dict) else None
    except (TypeError, ValueError, RecursionError):
        return None


def read_endpoint(path: Path) -> Endpoint:
    """Read the file of an endpoint; raises ModelError, which names the file and the field."""
    try:
        content = yaml.safe_load(path.read_text("utf-8"))
        return Endpoint.model_validate(content)
    except OSError as error:
        raise ModelError(f"{path}: {error.strerror}") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ModelError(f"{path}: no YAML: {' '.join(str(error).split())[:_LONGEST]}") from None
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"])) or "file"
        raise ModelError(f"{path}: {field}: {first['msg']}") from None


def _ask_endpoint(endpoint: Endpoint) -> Answer:
    """Return what asks an endpoint, by one client for all calls."""
    import httpx

    headers = {name: _from_environment(value) for name, value in endpoint.headers.items()}
    url = _from_environment(endpoint.url)
    client = httpx.AsyncClient(timeout=endpoint.timeout_s, follow_redirects=False)

    async def answer(messages: Sequence[Message]) -> str:
        """Ask one prompt; raises AppFailure where the reply is no answer."""
        if len(messages) > 1 and MESSAGES not in str(endpoint.body):
            raise ModelError(f"{url}: the body has no {MESSAGES}, which takes a chat")
        params = _filled(dict(endpoint.params), messages)
        body = None if endpoint.method == "GET" else _filled(endpoint.body, messages)
        async with client.stream(
            endpoint.method, url, headers=headers, params=params or None, json=body
        ) as reply:
            data = b""
            async for part in reply.aiter_bytes():
                data += part
                if len(data) > LARGEST:
                    raise TooLarge(f"the answer is larger than {LARGEST:,} bytes")
        text = data.decode("utf-8", "replace")
        if not reply.is_success:
            raise AppFailure(reply.status_code, f"status {reply.status_code}: {text[:_LONGEST]}")
        return _at_path(text, endpoint.answer)

    return answer


def _from_environment(text: str) -> str:
    """Fill in variables of the environment, and keep them secret; raises ModelError if unset."""

    def value_of(match: re.Match[str]) -> str:
        """Return the value of a variable."""
        if (value := os.environ.get(match[1])) is None:
            raise ModelError(f"the environment has no {match[1]}")
        keep_secret(value)
        return value

    return _VARIABLE.sub(value_of, text)


def _filled(template: Any, messages: Sequence[Message]) -> Any:
    """Put a prompt, or the messages of a chat, in its places in a body.

    >>> _filled({"say": "{prompt}", "n": 1}, [{"role": "user", "content": "Hi"}])
    {'say': 'Hi', 'n': 1}
    """
    if template == MESSAGES:
        return [*messages]
    if isinstance(template, str):
        return template.replace("{prompt}", messages[-1]["content"])
    if isinstance(template, Mapping):
        return {name: _filled(value, messages) for name, value in template.items()}
    if isinstance(template, list):
        return [_filled(value, messages) for value in template]
    return template


def _at_path(text: str, path: str) -> str:
    """Return the text at a path of a reply; raises AppFailure if there is none.

    >>> _at_path('{"reply": [{"text": "yes"}]}', "reply.0.text")
    'yes'
    """
    if not path:
        return text
    try:
        value = value_at(json.loads(text), path)
    except (ValueError, LookupError, TypeError, RecursionError):
        raise AppFailure(200, f"the reply has no {path}: {text[:_LONGEST]}") from None
    if isinstance(value, bool | int | float):
        return json.dumps(value)
    answer = _as_text(value)
    if answer is None:
        raise AppFailure(200, f"{path} of the reply is no text: {text[:_LONGEST]}")
    return answer
