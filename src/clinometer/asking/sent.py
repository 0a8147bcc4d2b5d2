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

from clinometer.contracts.catalogue import INSTRUMENTS
from clinometer.contracts.episodes import replay
from clinometer.models.providers import Provider, find_provider
from clinometer.modes import MODES
from clinometer.modes.mode import Message
from clinometer.results.records import Journal

#: Makes the text of messages, or None where that is not known.
Render = Callable[[Sequence[Message]], str | None]


def sent_messages(responses: pl.DataFrame, directory: Path, model: str) -> Iterator[dict[str, Any]]:
    """Yield what was sent for each response of a model, a row per call.

    `responses`: columns of `results.RESPONSES`. A row has `model, trial_id, call, messages`, and
    where known `schema` and `text`.
    """
    provider = find_provider(model)
    identities = Journal(directory, model).identities()
    # With several, nothing tells which of them answered a trial.
    to_text = render(identities[0]) if len(identities) == 1 else _no_text
    for trial in responses.filter(pl.col("error").is_null(), model=model).iter_rows(named=True):
        mode = MODES[trial["mode"]]
        for number, messages in enumerate(_calls(trial, provider), 1):
            row: dict[str, Any] = {"model": model, "trial_id": trial["trial_id"], "call": number}
            row["messages"] = messages
            if trial["schema"]:
                row["schema"] = json.loads(trial["schema"])
            # Sentences are scored as they are, without a template.
            text = messages[0]["content"] if mode.sentences else to_text(messages)
            yield row if text is None else {**row, "text": text}


def _calls(trial: Mapping[str, Any], provider: Provider) -> Iterator[list[Message]]:
    """Yield the messages of each call that a trial made."""
    mode = MODES[trial["mode"]]
    if not trial["steps"]:
        yield from mode.sent(trial, trial["profile"], provider)
        return
    episode = INSTRUMENTS[trial["instrument"]].episode
    for question in replay(episode, trial, trial["response"]).questions:
        yield from mode.sent(question, None, provider)


def _no_text(messages: Sequence[Message]) -> None:
    """Stand in for a template that is not known."""


def render(identity: Mapping[str, Any]) -> Render:
    """Return how a model's chat template makes a text of messages.

    `identity` has the `chat_template` and the `marks` it names (`bos_token`, …). A conversation
    that ends with an assistant's message is left open there.
    """
    from jinja2 import TemplateError
    from jinja2.ext import loopcontrols
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    source = identity.get("chat_template")
    marks = identity.get("marks")
    if not isinstance(source, str):
        return _no_text
    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols]
    )
    # As transformers has it; jinja's own filter escapes for HTML.
    environment.filters["tojson"] = lambda value: json.dumps(value, ensure_ascii=False)
    try:
        template = environment.from_string(source, marks if isinstance(marks, dict) else {})
    except TemplateError:
        return _no_text

    def to_text(messages: Sequence[Message]) -> str | None:
        """Return the text of messages; None if the template refuses them."""
        last = messages[-1]
        continues = last["role"] == "assistant"
        try:
            text = template.render(messages=messages, add_generation_prompt=not continues)
        except (TemplateError, TypeError, ValueError, RecursionError):
            return None  # it refuses these messages, or names what only its library has
        if not continues:
            return text
        # What the template puts after the last message would end it. Templates strip messages.
        beginning = last["content"].strip()
        if beginning not in text:
            return None
        return text[: text.rindex(beginning) + len(beginning)]

    return to_text
