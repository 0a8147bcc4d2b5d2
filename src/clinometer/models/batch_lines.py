"""Lines of batch results, as OpenAI's interface and others write them.

Sources
    OpenAI, Batch API: `custom_id` and `response` (`status_code`, `body`), or `error`. vLLM,
    Together, Mistral and others write the same; some leave the body bare, in `response` or in the
    line.
    Anthropic, Message Batches: `custom_id` and `result`, whose `type` is ``succeeded`` (with
    `message`), ``errored``, ``expired`` or ``canceled``.
    Google, Gemini batches: `key` and `response`, or `error`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from clinometer.models.bodies import parse_json, read_answer
from clinometer.models.failures import BodyError, describe_failure
from clinometer.models.fields import clean_text
from clinometer.models.interfaces import CHAT, interface_of

#: Why a batch ended before a request was sent: OpenAI's codes, Anthropic's types.
_UNSENT = ("batch_expired", "batch_cancelled", "expired", "canceled")


@dataclass(frozen=True)
class BatchLine:
    """The answer to a request, or why there is none."""

    name: str
    """The request's `custom_id`."""
    body: dict[str, Any] | None = None
    """The chat completion, from `read_answer`."""
    failure: str | None = None
    """Why there is no answer."""
    unsent: bool = False
    """Whether the batch ended before the request was sent, so that its failure means nothing."""
    interface: str = CHAT
    """Whose form the answer has; see `interface_of`."""


def read_line(text: bytes | str) -> BatchLine:
    """Read a line of results; raises BodyError if it belongs to no request."""
    line = parse_json(text)
    if not isinstance(line, Mapping):
        raise BodyError("not an object of JSON")
    name = line.get("custom_id", line.get("key"))
    if not isinstance(name, str):
        fields = clean_text(", ".join(map(str, line)))
        raise BodyError(f"no custom_id; the fields are {fields or 'none'}")
    try:
        status, body = _find_response(line)
        answer = read_answer(status, body)
    except BodyError as error:
        return BatchLine(name, failure=str(error), unsent=_is_unsent(line))
    return BatchLine(name, answer, interface=interface_of(body))


def _find_response(line: Mapping[str, Any]) -> tuple[Any, Any]:
    """Return the status and the body in a line, wherever they stand."""
    result = line.get("result")
    if isinstance(result, Mapping):
        if "message" in result:
            return 200, result["message"]
        words = describe_failure(result.get("error") or result.get("type"))
        raise BodyError(f"failed: {words}")
    if line.get("error"):
        raise BodyError(f"failed: {describe_failure(line['error'])}")
    response = line.get("response")
    if not isinstance(response, Mapping):
        return 200, line  # a bare body, or a line that says what is missing
    if "body" in response:
        return response.get("status_code"), response["body"]
    return 200, response


def _is_unsent(line: Mapping[str, Any]) -> bool:
    """Whether a line says that the batch ended before the request was sent."""
    for failure, field in ((line.get("error"), "code"), (line.get("result"), "type")):
        if isinstance(failure, Mapping) and failure.get(field) in _UNSENT:
            return True
    return False
