"""What models were sent: the messages of every call, and the text a chat template made of them.

Both follow from the trial, its first answer, and what was noted of the model (`Journal.identify`).
The text is known for models in this process; elsewhere the provider applies a template of its own.
Templates are those of the model's files, and are not trusted: they run in jinja's sandbox.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from clinometer.models.providers import find_provider
from clinometer.modes import MODES
from clinometer.modes.mode import Message
from clinometer.results.records import Journal

__all__ = ["render", "sent"]

#: Makes the text of messages, or None where that is not known.
Render = Callable[[Sequence[Message]], str | None]


def sent(responses: pl.DataFrame, directory: Path, model: str) -> Iterator[dict[str, Any]]:
    """Yield what was sent for each response of a model, a row per call.

    `responses`: columns of `results.RESPONSES`. A row has `model, trial_id, call, messages`, and
    where known `schema` and `text`.
    """
    provider = find_provider(model)
    known = Journal(directory, model).identities()
    to_text = render(known[0]) if len(known) == 1 else _unknown
    for trial in responses.filter(pl.col("error").is_null(), model=model).iter_rows(named=True):
        mode = MODES[trial["mode"]]
        calls = mode.sent(trial, trial["profile"], provider)
        for number, messages in enumerate(calls, 1):
            row = {"model": model, "trial_id": trial["trial_id"], "call": number}
            row |= {"messages": messages}
            row |= {"schema": json.loads(trial["schema"])} if trial["schema"] else {}
            text = messages[0]["content"] if mode.sentences else to_text(messages)
            yield row if text is None else {**row, "text": text}


def _unknown(messages: Sequence[Message]) -> None:
    """Stand in for a template that is not known."""


def render(identity: Mapping[str, Any]) -> Render:
    """Return how a model's chat template makes a text of messages.

    `identity` has the `chat_template` and the `marks` it names (`bos_token`, …). A conversation
    that ends with an assistant's message is left open there.
    """
    from jinja2 import TemplateError
    from jinja2.ext import loopcontrols
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    source, marks = identity.get("chat_template"), identity.get("marks")
    if not isinstance(source, str):
        return _unknown
    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols]
    )
    environment.filters["tojson"] = lambda value: json.dumps(value, ensure_ascii=False)
    try:
        template = environment.from_string(source, marks if isinstance(marks, dict) else {})
    except TemplateError:
        return _unknown

    def to_text(messages: Sequence[Message]) -> str | None:
        last = messages[-1]
        continues = last["role"] == "assistant"
        try:
            text = template.render(messages=messages, add_generation_prompt=not continues)
        except (TemplateError, TypeError, ValueError, RecursionError):
            return None  # it refuses these messages, or names what only its library has
        if not continues:
            return text
        said = last["content"].strip()
        return text[: text.rindex(said) + len(said)] if said in text else None

    return to_text
