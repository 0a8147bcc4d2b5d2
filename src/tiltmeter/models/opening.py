"""Open models by the names inspect gives them; every way this fails is one line."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tiltmeter.errors import InputError, ModelError, TiltmeterError
from tiltmeter.models.providers import PROVIDERS, find_provider

__all__ = ["Connection", "Generation", "describe_model", "open_model", "open_models"]


@dataclass(frozen=True)
class Generation:
    """How answers are sampled; None leaves a setting to the provider."""

    temperature: float | None = 1.0
    top_p: float | None = 1.0
    max_tokens: int | None = 1024

    def __post_init__(self) -> None:
        """Refuse values no provider takes."""
        if self.temperature is not None and not 0 <= self.temperature <= 2:
            raise InputError(f"temperature {self.temperature}: allowed is 0 to 2")
        if self.top_p is not None and not 0 < self.top_p <= 1:
            raise InputError(f"top_p {self.top_p}: allowed is above 0, up to 1")
        if self.max_tokens is not None and self.max_tokens < 1:
            raise InputError(f"max_tokens {self.max_tokens}: at least 1")


@dataclass(frozen=True)
class Connection:
    """How models are reached; none of it changes what is asked."""

    max_connections: int | None = None
    max_retries: int = 5
    timeout_s: int = 600
    base_url: str | None = None
    model_args: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse values that mean nothing."""
        for name, least in (("max_connections", 1), ("max_retries", 0), ("timeout_s", 1)):
            value = getattr(self, name)
            if value is not None and value < least:
                raise InputError(f"{name} {value}: at least {least}")


def open_models(
    models: Iterable[str], generation: Generation, connection: Connection
) -> dict[str, Any]:
    """Open every model of a plan, before anything is asked or written.

    Gives `inspect_ai.model.Model` by the name as inspect has it. Raises ModelError if a provider is
    not known, not installed, or lacks its key.
    """
    return {name: open_model(name, generation, connection) for name in models}


def open_model(name: str, generation: Generation, connection: Connection) -> Any:
    """Open one model; see `open_models`."""
    from inspect_ai.model import GenerateConfig, get_model

    provider, slash, rest = name.partition("/")
    if not slash or not rest:
        raise ModelError(f"model {name!r}: expected PROVIDER/NAME, such as openai/gpt-4o-mini")
    # A top_p of 1.0 is its absence.
    drop_top_p = find_provider(name).refuses_top_p and generation.top_p == 1.0
    config = GenerateConfig(
        temperature=generation.temperature,
        top_p=None if drop_top_p else generation.top_p,
        max_tokens=generation.max_tokens,
        max_retries=connection.max_retries,
        attempt_timeout=connection.timeout_s,
        max_connections=connection.max_connections,
    )
    try:
        return get_model(
            name,
            config=config,
            base_url=connection.base_url,
            memoize=False,  # a client is bound to the event loop that first used it
            **connection.model_args,
        )
    except TiltmeterError:
        raise
    except Exception as error:  # providers raise what they like
        plain = re.sub(r"\[/?\w+\]|ERROR:", "", str(error))
        text = " ".join(plain.split()).rstrip(".") or type(error).__name__
        near = difflib.get_close_matches(provider, PROVIDERS, n=2, cutoff=0.6)
        hint = f"; did you mean {', '.join(near)}?" if near and provider not in PROVIDERS else ""
        raise ModelError(f"model {name!r}: {text}{hint}") from None


def describe_model(model: Any) -> dict[str, Any]:
    """Say what is known of a model in this process: weights, number format, chat template.

    Empty for a model behind an interface, whose provider applies the template.
    """
    tokenizer = getattr(model.api, "tokenizer", None)
    stated = getattr(model.api, "chat_template", None)
    template = stated if isinstance(stated, str) else getattr(tokenizer, "chat_template", None)
    if not isinstance(template, str):
        return {}
    marks = getattr(tokenizer, "special_tokens_map", {})
    return {
        **getattr(model.api, "identity", {}),
        "chat_template": template,
        "marks": {name: str(mark) for name, mark in marks.items() if isinstance(mark, str)},
    }
