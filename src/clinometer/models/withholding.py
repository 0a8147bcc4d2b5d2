"""Keeps keys and passwords that a server repeats out of everything that reads its answers.

A server may put the key of a request into an error, or an answer. `withhold_secrets` takes it out
of errors before a client's library logs them, and sets an answer with a secret aside as an error:
it is not altered, and not kept. `withhold_in_events` does so for what inspect noted of the calls of
a sample, before its log is written: long texts stand there under ``attachments``.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from clinometer.secrets import (
    change_texts,
    describe_repetition,
    has_secrets,
    holds_secret,
    redacted,
    withhold,
)

#: Stands before the name of a text that an event keeps elsewhere.
_ATTACHED = "attachment://"


class SecretRepeated(Exception):
    """An answer holds a key or a password of this process."""


def withhold_secrets(model: Any) -> None:
    """Have an inspect model raise `SecretRepeated` for an answer that holds a secret.

    Other errors are raised without the secrets in them.
    """
    generate = model.api.generate

    @functools.wraps(generate)
    async def withheld(*arguments: Any, **options: Any) -> Any:
        """Ask, and look at what came."""
        try:
            answer = await generate(*arguments, **options)
        except Exception as error:
            withhold_in_error(error)
            raise
        output = answer[0] if isinstance(answer, tuple) else answer
        if isinstance(output, Exception):  # inspect takes it for a refusal, and raises it
            withhold_in_error(output)
        elif has_secrets():
            refuse_repetition(output)
        return answer

    model.api.generate = withheld


def refuse_repetition(output: Any) -> None:
    """Raise SecretRepeated if an answer holds a secret; what stands beside answers is cleaned.

    `output` is inspect's ModelOutput.
    """
    for choice in output.choices:
        server_fields = {"message": {"id", "model", "metadata"}}  # no part of the answer
        if holds_secret(choice.model_dump_json(exclude=server_fields, warnings=False)):
            raise SecretRepeated(describe_repetition(choice.message.text))
    _change_fields(output, withhold)


def withhold_in_error(error: BaseException) -> None:
    """Leave secrets out of an error, and of those that it came of."""
    cause: BaseException | None = error
    visited: set[int] = set()  # errors may come of each other in a circle
    while cause is not None and id(cause) not in visited:
        visited.add(id(cause))
        cause.args = tuple(change_texts(cause.args, redacted))
        for name, value in vars(cause).items():
            if isinstance(value, str | dict | list | tuple):
                vars(cause)[name] = change_texts(value, redacted)
        cause = cause.__cause__ or cause.__context__


def withhold_in_events() -> None:
    """Leave secrets out of the events that inspect noted of the sample that is running."""
    from inspect_ai.log import transcript

    if not has_secrets():
        return
    attachments = transcript().attachments
    attachments.update(_change_fields(attachments, withhold))

    def clean(text: str) -> str:
        """Clean a text, or the attachment that it names."""
        name = text.removeprefix(_ATTACHED)
        if name == text or name not in attachments:
            return redacted(text)
        attachments[name] = redacted(attachments[name])
        return text

    for event in transcript().events:
        _change_fields(event, withhold)
        # What a failed call got is what a server said, and not an answer.
        if getattr(event, "error", None) is not None:
            for record, name in ((event, "error"), (event, "traceback"), (event, "traceback_ansi"),
                                 (getattr(event, "call", None), "response")):  # fmt: skip
                if name in (fields := getattr(record, "__dict__", {})):
                    fields[name] = _change_fields(fields[name], clean)


def _change_fields(value: Any, change: Callable[[str], str]) -> Any:
    """Return a value with every text in it changed; objects of pydantic keep their identity."""
    from pydantic import BaseModel

    if isinstance(value, BaseModel):
        for record in (vars(value), value.__pydantic_extra__ or {}):
            for name, field in record.items():
                record[name] = _change_fields(field, change)
        return value
    if isinstance(value, list):
        return [_change_fields(entry, change) for entry in value]
    if isinstance(value, dict):
        return {change_texts(name, change): _change_fields(v, change) for name, v in value.items()}
    return change(value) if isinstance(value, str) else value
