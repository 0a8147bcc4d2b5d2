"""Whether anybody answers at the address of a model, before it is asked anything.

Whatever a server says is an answer: that the page does not exist, or that the model is still being
loaded. Who says nothing for a while is named; who cannot be reached is given up, with what to do.
"""

from __future__ import annotations

import asyncio
import logging
import ssl
from collections.abc import Iterator, Mapping
from contextlib import suppress
from socket import gaierror
from typing import Any
from urllib.parse import urlsplit

import anyio

from clinometer.models.providers import COMPLETIONS, find_provider

#: Seconds for a connection, and for the first byte: a server may load its model in between.
CONNECT_S, SILENT_S = 10.0, 60.0

#: Seconds of silence after which the address is named.
NOTICE_S = 5.0

_log = logging.getLogger(__name__)


class Unreachable(Exception):
    """Nobody answers at the address of a model; says where, why, and what to do."""


class FirstContact:
    """Makes sure, once, that anybody answers where a model is.

    `api` is inspect's; one whose client has no address of its own is left alone.
    """

    def __init__(self, name: str, api: Any) -> None:
        self.name = name
        self.api = api
        self._lock = anyio.Lock()
        self._tried = False
        self._reason = ""
        self._doubt = ""

    async def make(self) -> None:
        """Raise Unreachable if nobody answers; the calls that begin meanwhile wait.

        A server may close connections of requests that it does not know, and answer calls. Of such
        a one the first call tells (`explain`).
        """
        async with self._lock:
            if not self._tried:
                self._reason = await _find_reason(self.name, getattr(self.api, "client", None))
                self._tried = True
                if self._reason in _DOUBTFUL:
                    self._reason, self._doubt = "", self._reason
        if self._reason:
            raise self._unreachable(self._reason)

    def explain(self, error: Exception | None) -> None:
        """Take note of how a call ended; raise Unreachable if nobody has answered any yet."""
        if error is not None and self._doubt and _explain(error):
            self._reason = self._doubt
            raise self._unreachable(self._reason) from error
        self._doubt = ""

    def _unreachable(self, reason: str) -> Unreachable:
        place = locate_server(self.api.client.base_url)
        return Unreachable(f"{place}: {reason}; {_remedy(self.name)}")


def find_unreachable(models: Mapping[str, Any]) -> list[str]:
    """Try all models at the same time; return a line for each where nobody answers.

    `models` are inspect's by name; those in this process answer. Within an event loop, as in a
    notebook, none is tried: the first call does.
    """
    contacts = {name: getattr(model.api, "contact", None) for name, model in models.items()}
    if not any(contacts.values()) or _is_in_event_loop():
        return []
    problems: list[str] = []

    async def try_model(name: str, contact: FirstContact) -> None:
        """Note the problem of a model where nobody answers."""
        try:
            await contact.make()
        except Unreachable as error:
            problems.append(f"{name}: {error}")

    async def try_models() -> None:
        """Try the models that are elsewhere."""
        async with anyio.create_task_group() as group:
            for name, contact in contacts.items():
                if contact is not None:
                    group.start_soon(try_model, name, contact)

    asyncio.run(try_models())
    return problems


def _is_in_event_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


async def _find_reason(name: str, client: Any) -> str:
    """Return why nobody answers at the address of a client; empty if somebody does."""
    http = getattr(client, "_client", None)  # knows proxies and certificates, but adds no key
    address = getattr(client, "base_url", None)
    if not hasattr(http, "stream") or address is None:
        return ""
    async with anyio.create_task_group() as group:
        group.start_soon(_notice_silence, name, locate_server(address))
        reason = await _try(http, address)
        group.cancel_scope.cancel()
    return reason


async def _notice_silence(name: str, place: str) -> None:
    """Name an address that has said nothing for a while."""
    await anyio.sleep(NOTICE_S)
    _log.warning("%s: %s says nothing yet; %s", name, place, _remedy(name))


async def _try(http: Any, address: object) -> str:
    """Send a request to an address; return why there was no answer, or nothing."""
    timeouts = (CONNECT_S, SILENT_S, SILENT_S, SILENT_S)  # connect, read, write, wait for a place
    try:
        # Only the head of the answer is read. No connection is kept: the next event loop could not
        # use it.
        async with http.stream(
            "GET",
            address,
            headers={"Connection": "close"},
            timeout=timeouts,
            follow_redirects=False,
        ):
            return ""
    except Exception as error:  # a client's
        return _explain(error)


def _explain(error: Exception) -> str:
    """Say in a few words why there was no answer; empty where somebody answered."""
    chain = list(_causes(error))
    for kind, reason in _REASONS.items():
        if any(isinstance(cause, kind) for cause in chain):
            return reason
    # Clients have several libraries for HTTP, whose errors have the same names.
    names = [base.__name__ for cause in chain for base in type(cause).__mro__]
    return next((reason for name, reason in _REASONS_BY_NAME.items() if name in names), "")


#: Cause of an error → what it says of a server; the first that applies.
_REASONS: dict[type[Exception], str] = {
    ConnectionRefusedError: "nothing listens there",
    gaierror: "there is no such host",
    ssl.SSLCertVerificationError: "its certificate is not trusted here",
    ssl.SSLError: "what listens there speaks no TLS (http:// instead of https://?)",
    ConnectionError: "it closes the connection",
}

#: The same for errors of libraries, by name.
_REASONS_BY_NAME = {
    "UnsupportedProtocol": "the address does not begin with http:// or https://",
    "InvalidURL": "that is no address",
    "ConnectTimeout": f"no connection within {CONNECT_S:.0f} s",
    "ReadTimeout": f"no answer within {SILENT_S:.0f} s",
    "ProtocolError": "it closes the connection, or speaks no HTTP",
    "NetworkError": "it cannot be reached",
    "ProxyError": "the proxy does not reach it",
}


#: Reasons that the first call can prove wrong.
_DOUBTFUL = (_REASONS[ConnectionError], _REASONS_BY_NAME["ProtocolError"])


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error and what caused it."""
    while error is not None:
        yield error
        yield from getattr(error, "exceptions", ())  # one for each address of a host
        error = error.__cause__ or error.__context__


def _remedy(name: str) -> str:
    """Say what to do where nobody answers for a model."""
    provider, _, rest = name.partition("/")
    service = rest.partition("/")[0] if find_provider(name).service else provider
    variable = service.removesuffix(COMPLETIONS).upper().replace("-", "_") + "_BASE_URL"
    start = find_provider(name).start
    running = f"is it running ({start})" if start else "is it running"
    return f"{running}, and is that its address (--model-base-url, {variable})?"


def locate_server(address: object) -> str:
    """Return scheme, host and port of an address, without user, path and query.

    Examples
    --------
    >>> locate_server("http://user:key@localhost:11434/v1?key=x")
    'http://localhost:11434'
    """
    parts = urlsplit(str(address))
    host = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{host}" if host else "the address of the model"


def locate_sender(error: BaseException) -> str:
    """Return where the request went whose error this is; empty if it does not say."""
    with suppress(AttributeError, RuntimeError):  # of some that were made without a request
        return locate_server(error.request.url)  # type: ignore[attr-defined]
    return ""
