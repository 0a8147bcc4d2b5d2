"""Requests to a server: tried again by inspect alone, counted, and again where no answer came.

A client's own retries would multiply inspect's: they are turned off. A body that is no answer (cut
JSON, a page of HTML, bad UTF-8, no choices) is tried again like an error of the server. It was
received, so its tokens count.
"""

from __future__ import annotations

import functools
import json
import logging
import sys
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from clinometer.models.bodies import (
    LARGEST,
    BodyError,
    TooLarge,
    parse_json,
    read_answer,
    read_usage,
)
from clinometer.models.outputs import (
    TokenCounts,
    UsageCheck,
    count_reply,
    count_tokens,
    estimated_beyond,
)
from clinometer.models.providers import find_provider
from clinometer.models.reaching import FirstContact, Unreachable, locate_sender
from clinometer.secrets import redacted

#: What reading a body that is no answer raises, in one client or another.
_UNREADABLE = (ValueError, TypeError, AttributeError, LookupError)

#: The longest text of an error that is shown while it is tried again.
_LONGEST = 200

#: Seconds after which the same error is said again.
_AGAIN_S = 60.0

_log = logging.getLogger(__name__)

#: Of a reply whose tokens nobody knows.
_NO_TOKENS = TokenCounts()

_requests: ContextVar[Requests | None] = ContextVar("requests", default=None)


class MalformedAnswer(Exception):
    """A server's body is no answer; `tokens` are those that it states, or that its text has."""

    def __init__(self, reason: str, tokens: TokenCounts = _NO_TOKENS) -> None:
        super().__init__(reason)
        self.tokens = tokens


class LimitReached(Exception):
    """No request may be made any more."""


@dataclass
class Requests:
    """Counts requests to servers, and the tokens of their replies.

    Beyond the requests that are `reserved`, `more` says whether one may be made. `bear` is called
    with the tokens of each reply that was received and cannot be used, and says whether another
    request may be made after it.
    """

    reserved: int
    more: Callable[[], bool] = lambda: True
    bear: Callable[[TokenCounts], bool] = lambda tokens: True
    sent: int = 0
    tokens: TokenCounts = _NO_TOKENS
    """Of all replies, the useless ones among them."""

    def begin(self) -> None:
        """Count a request; raises LimitReached if it may not be made."""
        if self.sent >= self.reserved and not self.more():
            raise LimitReached("the limit of calls was reached while a call was tried again")
        self.sent += 1

    def receive(self, tokens: TokenCounts) -> None:
        """Count the tokens of a reply."""
        self.tokens = self.tokens.plus(tokens)

    def discard(self, tokens: TokenCounts, reason: str) -> None:
        """Count the tokens of a useless reply; raises LimitReached if they reach a limit."""
        self.receive(tokens)
        if not self.bear(tokens):
            raise LimitReached(f"a limit was reached by replies that hold no answer: {reason}")


@contextmanager
def count_requests(
    reserved: int = sys.maxsize,
    more: Callable[[], bool] = lambda: True,
    bear: Callable[[TokenCounts], bool] = lambda tokens: True,
) -> Iterator[Requests]:
    """Count the requests to servers that are made within, and in tasks begun there."""
    requests = Requests(reserved, more, bear)
    token = _requests.set(requests)
    try:
        yield requests
    finally:
        _requests.reset(token)


def spent_beyond(
    requests: Requests, calls: int, lines: Iterable[Mapping[str, Any]]
) -> dict[str, Any]:
    """Return, for the record, what counts beyond the calls and the tokens that its lines state."""
    beyond: dict[str, Any] = estimated_beyond(requests.tokens, lines)
    if requests.sent > calls:
        beyond["retries"] = requests.sent - calls
    return beyond


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
        # Before it is cut: a part of a key is not known by its value any more.
        reason = redacted(f"{type(error).__name__}: {error}")[:_LONGEST]
        raise MalformedAnswer(f"not an answer ({reason})") from error
    except Exception as error:
        # Of `_read_body`; a client takes it for a lost connection.
        if isinstance(error.__cause__, TooLarge | MalformedAnswer | LimitReached):
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
    """Read the body of a response, up to `bodies.LARGEST`; see `_usual` of one of a chat."""
    path = response.request.url.path
    if not path.endswith("/completions"):
        return
    parts: list[bytes] = []
    size = 0
    async for part in response.aiter_bytes():
        size += len(part)
        if size > LARGEST:
            await response.aclose()
            error = TooLarge(f"the answer is larger than {LARGEST:,} bytes")
            _discard(TokenCounts(answer=LARGEST // 4), error)  # four characters to a token
            raise error
        parts.append(part)
    data = b"".join(parts)
    if path.endswith("/chat/completions"):
        response.status_code, data = _usual(response.status_code, data)
    # httpx has no other way to give a body that was read in parts.
    response._content = data


def _usual(status: int, data: bytes) -> tuple[int, bytes]:
    """Return status and body as a client is to read them.

    Raises MalformedAnswer if a body with status 200 holds no answer and no error of its own status.
    """
    body: Any = None
    try:
        body = parse_json(data)
        return 200, json.dumps(read_answer(status, body)).encode()
    except BodyError as error:
        usage = read_usage(body) or {}
        reported = TokenCounts(usage.get("prompt_tokens", 0), usage.get("completion_tokens", 0))
        if status == error.status == 200:
            text = data.decode("utf-8", "replace")
            answer = count_tokens(reported.answer, text)
            raise MalformedAnswer(str(error), TokenCounts(reported.prompt, answer)) from None
        _discard(reported, error)
        if status != 200:
            return status, data  # the client says what is wrong
        return error.status, json.dumps({"error": {"message": str(error)}}).encode()


def _discard(tokens: TokenCounts, error: Exception) -> None:
    """Count the tokens of a reply that holds no answer for whoever counts them."""
    if (requests := _requests.get()) is not None:
        requests.discard(tokens, str(error))


def retry_alike(model: Any, name: str) -> None:
    """Make an inspect model of a server try again as this module says.

    A model in this process stays as it is.
    """
    api = model.api
    client = getattr(api, "client", None)
    if client is None and find_provider(name).local:
        return
    if client is not None and hasattr(client, "max_retries"):
        client.max_retries = 0
        if isinstance(getattr(api, "model_args", None), dict):  # for a client that is made anew
            api.model_args["max_retries"] = 0
    _count_replies(api, UsageCheck(name))
    should_retry = api.should_retry
    notices = Notices(name)
    api.contact = FirstContact(name, api)

    def again(error: Exception) -> Any:
        """Decide as inspect does, but for the errors of this module; a bool, or its decision."""
        if isinstance(error, TooLarge | LimitReached | Unreachable):
            return False
        decision = isinstance(error, MalformedAnswer) or should_retry(error)
        if decision if isinstance(decision, bool) else decision.retry:
            notices.say(error)
        return decision

    api.should_retry = again


def _count_replies(api: Any, check: UsageCheck) -> None:
    """Have each request of an inspect model counted, and the tokens of each reply."""
    generate = api.generate

    @functools.wraps(generate)
    async def counted(input: Sequence[Any], *arguments: Any, **options: Any) -> Any:
        """Count a request and the tokens of its reply; a reply without an answer is an error."""
        await api.contact.make()
        # Outside `count_requests` nothing limits the calls.
        requests = _requests.get() or Requests(sys.maxsize)
        requests.begin()
        read_bodies(getattr(api, "client", None))  # may have been made anew
        prompt = "".join(message.text for message in input)
        try:
            answer = await _await_answer(generate(input, *arguments, **options))
        except MalformedAnswer as error:
            prompt_tokens = count_tokens(error.tokens.prompt, prompt)
            requests.discard(TokenCounts(prompt_tokens, error.tokens.answer), str(error))
            raise
        except Exception as error:
            api.contact.explain(error)
            raise
        api.contact.explain(None)
        output = answer[0] if isinstance(answer, tuple) else answer
        if hasattr(output, "choices"):
            requests.receive(count_reply(prompt, output))
            check.add(prompt, output)
        return answer

    api.generate = counted
