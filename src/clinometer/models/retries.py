"""Requests to a server: tried again by inspect alone, counted, and again where no answer came.

A client's own retries would multiply inspect's: they are turned off. A body that is no answer (cut
JSON, a page of HTML, bad UTF-8, no choices) is tried again like an error of the server.
"""

from __future__ import annotations

import functools
import json
import logging
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from clinometer.models.bodies import LARGEST, TooLarge, usual
from clinometer.models.reaching import FirstContact, Unreachable, locate_sender
from clinometer.texts import redacted

__all__ = [
    "LimitReached",
    "MalformedAnswer",
    "Notices",
    "Requests",
    "count_requests",
    "retries",
    "retry_alike",
]

#: What reading a body that is no answer raises, in one client or another.
_UNREADABLE = (ValueError, TypeError, AttributeError, LookupError)

#: The longest text of an error that is shown while it is tried again.
_LONGEST = 200

#: Seconds after which the same error is said again.
_AGAIN_S = 60.0

_log = logging.getLogger(__name__)

_requests: ContextVar[Requests | None] = ContextVar("requests", default=None)


class MalformedAnswer(Exception):
    """A server's body is no answer."""


class LimitReached(Exception):
    """No request may be made any more."""


@dataclass
class Requests:
    """Counts requests to servers; beyond those `reserved`, `more` says whether one may be made."""

    reserved: int
    more: Callable[[], bool]
    sent: int = 0

    def begin(self) -> None:
        """Count a request; raises LimitReached if it may not be made."""
        if self.sent >= self.reserved and not self.more():
            raise LimitReached("the limit of calls was reached while a call was tried again")
        self.sent += 1


@contextmanager
def count_requests(
    reserved: int = sys.maxsize, more: Callable[[], bool] = lambda: True
) -> Iterator[Requests]:
    """Count the requests to servers that are made within, and in tasks begun there."""
    requests = Requests(reserved, more)
    token = _requests.set(requests)
    try:
        yield requests
    finally:
        _requests.reset(token)


def retries(requests: Requests, calls: int) -> dict[str, int]:
    """Return how many requests were made beyond the calls, if any, for the record."""
    return {"retries": requests.sent - calls} if requests.sent > calls else {}


class Notices:
    """Says why there is no answer yet: once for each error, and every minute."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.last = ""
        self.since = 0.0

    def say(self, error: Exception) -> None:
        """Say an error and where it came from, unless it was said within the last minute."""
        text = " ".join(redacted(f"{type(error).__name__}: {error}").split())[:_LONGEST]
        if place := locate_sender(error):
            text = f"{place}, {text}"
        now = time.monotonic()
        if text != self.last or now - self.since >= _AGAIN_S:
            _log.warning("%s: no answer yet (%s)", self.name, text)
            self.last = text
            self.since = now


async def _await_answer(request: Awaitable[Any]) -> Any:
    """Return the answer; raises MalformedAnswer if it is none, and TooLarge if it is too large."""
    try:
        answer = await request
    except _UNREADABLE as error:
        reason = f"{type(error).__name__}: {error}"[:_LONGEST]
        raise MalformedAnswer(f"not an answer ({reason})") from error
    except Exception as error:
        if isinstance(error.__cause__, TooLarge):  # a client takes it for a lost connection
            raise error.__cause__ from None
        raise
    output = answer[0] if isinstance(answer, tuple) else answer
    if not getattr(output, "choices", True):
        raise MalformedAnswer("not an answer: it has no choices")
    return answer


def read_bodies(client: Any) -> None:
    """Have every body of a chat completion put into its usual form before the client reads it."""
    http = getattr(client, "_client", None)
    if http is None or not hasattr(http, "event_hooks"):
        return
    hooks = http.event_hooks
    if _read_body not in hooks["response"]:
        http.event_hooks = {**hooks, "response": [*hooks["response"], _read_body]}


async def _read_body(response: Any) -> None:
    """Read the body of a response, up to `bodies.LARGEST`; see `bodies.usual` of one of a chat."""
    path = response.request.url.path
    if not path.endswith("/completions"):
        return
    parts: list[bytes] = []
    size = 0
    async for part in response.aiter_bytes():
        size += len(part)
        if size > LARGEST:
            await response.aclose()
            raise TooLarge(f"the answer is larger than {LARGEST:,} bytes")
        parts.append(part)
    data = b"".join(parts)
    if path.endswith("/chat/completions"):
        with suppress(ValueError, RecursionError):  # the client says what is wrong with it
            response.status_code, body = usual(response.status_code, json.loads(data))
            data = json.dumps(body).encode()
    # httpx has no other way to give a body that was read in parts.
    response._content = data


def retry_alike(model: Any, name: str) -> None:
    """Make an inspect model of a server try again as this module says.

    A model in this process stays as it is.
    """
    api = model.api
    client = getattr(api, "client", None)
    if client is None:
        return
    if hasattr(client, "max_retries"):
        client.max_retries = 0
        if isinstance(getattr(api, "model_args", None), dict):  # for a client that is made anew
            api.model_args["max_retries"] = 0
    generate = api.generate
    should_retry = api.should_retry
    notices = Notices(name)
    api.contact = FirstContact(name, api)
    read_bodies(client)

    @functools.wraps(generate)
    async def counted(*arguments: Any, **options: Any) -> Any:
        """Count a request to who answers at all, and take what is no answer for an error."""
        await api.contact.make()
        if (requests := _requests.get()) is not None:
            requests.begin()
        read_bodies(api.client)  # may have been made anew
        return await _await_answer(generate(*arguments, **options))

    def again(error: Exception) -> Any:
        """Decide as inspect does, but for the errors of this module; a bool, or its decision."""
        if isinstance(error, TooLarge | LimitReached | Unreachable):
            return False
        decision = isinstance(error, MalformedAnswer) or should_retry(error)
        if decision if isinstance(decision, bool) else decision.retry:
            notices.say(error)
        return decision

    api.generate = counted
    api.should_retry = again
