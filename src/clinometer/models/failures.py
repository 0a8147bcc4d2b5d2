"""What servers say where there is no answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from clinometer.models.fields import DEEPEST, clean_text, describe_kind, is_list
from clinometer.numbers import as_number

#: What a filter is called in the bodies of errors.
_FILTERS = (
    "content_filter",
    "responsibleaipolicyviolation",
    "contentpolicyviolation",
    "contentmanagementpolicy",
)

#: Fields of a body that say what went wrong, the most telling first.
_ERRORS = ("error", "errors", "message", "detail", "code", "type", "status")


class BodyError(ValueError):
    """A body that holds no answer; says which field is why, or what the server says."""

    def __init__(self, reason: str, status: int = 200) -> None:
        super().__init__(reason)
        self.status = status
        """That of the response; of an error with status 200, the one that its code names."""


def read_status(status: Any) -> int:
    """Return the status of a response; 200 where what is given is none."""
    number = as_number(status)
    if number is None and isinstance(status, str) and status.strip().isdecimal():
        number = float(status)
    return int(number) if number is not None and 100 <= number < 600 else 200


def refuse_error(body: Mapping[str, Any]) -> None:
    """Raise BodyError, in the words of the server, if a body without an answer has an error."""
    error = body.get("error") or body.get("errors")
    if not error and (body.get("object") == "error" or body.get("success") is False):
        error = body
    if not error:
        return
    code = error.get("code") if isinstance(error, Mapping) else None
    status = read_status(code)
    text = f"status {status if status >= 400 else 200}: {describe_failure(body)}"
    raise BodyError(text, status if status >= 400 else 200)


def is_filtered(status: int, body: Mapping[str, Any]) -> bool:
    """Whether a failure says that a filter stopped the prompt, or the answer."""
    error = body.get("error")
    if status not in (200, 400) or not isinstance(error, Mapping):
        return False
    texts = (text.lower().replace(" ", "") for text in _texts(error))
    return any(name in text for text in texts for name in _FILTERS)


def _texts(value: Any, depth: int = 0) -> Iterator[str]:
    """Yield the texts in an object and those of its fields, the names of fields among them."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping) and depth <= DEEPEST:
        for name, field in value.items():
            yield str(name)
            yield from _texts(field, depth + 1)
    elif is_list(value) and depth <= DEEPEST:
        for part in value:
            yield from _texts(part, depth + 1)


def describe_failure(body: Any, depth: int = 0) -> str:
    """Return what a server says of a failure, in one line: of ``{"error": …}`` the message."""
    if is_list(body) and body and depth <= DEEPEST:
        return describe_failure(body[0], depth + 1)
    if isinstance(body, Mapping) and depth <= DEEPEST:
        for name in _ERRORS:
            if body.get(name):
                return describe_failure(body[name], depth + 1)
        return f"no words (fields {clean_text(', '.join(map(str, body)))})" if body else "no words"
    if isinstance(body, Mapping | list):
        return f"no words ({describe_kind(body)})"
    return clean_text(body) or "no words"
