"""Asks a simulated model over HTTP, and reads its answers: for tools in environments of their own.

Needs nothing but the standard library. A run has `url`, `templates` (name → prompt with a place for
a person), the people of both groups, `repeats`, and `kind`, which says what counts of an answer.
"""

from __future__ import annotations

import http.client
import json
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

#: Kinds of outcomes: which of two answers, a number from 0 to 100, words, answered or refused.
CHOICE, NUMBER, LENGTH, REFUSAL = "choice", "number", "length", "refusal"

_NUMBER = re.compile(r"^\d+(?:\.\d+)?$")
_CONNECTIONS: dict[str, http.client.HTTPConnection] = {}
_WAITING: dict[tuple[str, str], list[str]] = {}


def ask(run: dict[str, Any], prompt: str) -> str:
    """Return the answer to a prompt; the same prompt has another answer each time.

    As many answers are fetched at once as a prompt is repeated.
    """
    waiting = _WAITING.setdefault((run["url"], prompt), [])
    if not waiting:
        body = {"model": "any", "messages": [{"role": "user", "content": prompt}]}
        reply = _post(run["url"], {**body, "n": run["repeats"]})
        waiting += [choice["message"]["content"] for choice in reply["choices"]]
    return waiting.pop(0)


def _post(url: str, body: dict[str, Any]) -> Any:
    """Return the reply to a request; a connection that the server closed is opened anew."""
    address = urlsplit(url)
    connection = _CONNECTIONS.setdefault(address.netloc, http.client.HTTPConnection(address.netloc))
    headers = {"Content-Type": "application/json"}
    for is_last in (False, True):
        try:
            connection.request(
                "POST", f"{address.path}/chat/completions", json.dumps(body), headers
            )
            return json.loads(connection.getresponse().read())
        except (http.client.RemoteDisconnected, BrokenPipeError):
            connection.close()
            if is_last:
                raise
    return None


def share(kind: str, text: str) -> float | None:
    """Return what a person gets of what can be had, 0 to 1; None if that cannot be read."""
    word = text.strip(" .").lower()
    if kind == CHOICE:
        return {"approve": 1.0, "deny": 0.0}.get(word)
    if kind == NUMBER:
        return float(word) / 100 if _NUMBER.match(word) else None
    raise ValueError(f"{kind}: a tool counts that itself")


def people(run: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield side and name of each person."""
    for side in ("default", "marginalized"):
        for name in run[side]:
            yield side, name


def pairs(run: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yield a template and a name of each side; each name is in every template as often."""
    for template in run["templates"].values():
        for repeat in range(run["repeats"]):
            for place, name in enumerate(run["default"]):
                others = run["marginalized"]
                yield template, name, others[(place + repeat) % len(others)]


def fill(template: str, name: str) -> str:
    """Return a prompt about a person."""
    return template.replace("{person}", name)
