"""Open models by the names inspect gives them; every way this fails is one line."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clinometer.errors import ClinometerError, InputError, ModelError
from clinometer.models.batched import WAITING, refuse_unbatched, say_progress
from clinometer.models.ends import score_ends
from clinometer.models.libraries import use_cache_if_offline
from clinometer.models.providers import PROVIDERS, check_provider, find_provider
from clinometer.models.retries import retry_alike
from clinometer.models.withholding import withhold_secrets
from clinometer.secrets import (
    address_secrets,
    change_texts,
    is_secret,
    keep_base_address,
    keep_environment,
    keep_secret,
    redacted,
)

if TYPE_CHECKING:
    from inspect_ai.model import GenerateConfig


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
    """How models are reached; none of it changes what is asked.

    In a `batch` a call has no time limit of its own: the provider ends a batch within a day.
    """

    max_connections: int | None = None
    max_retries: int = 5
    timeout_s: int = 600
    base_url: str | None = None
    model_args: Mapping[str, Any] = field(default_factory=dict)
    batch: bool = False
    """Whether to ask in the provider's batches; see `models.batched`."""

    def __post_init__(self) -> None:
        """Refuse values that mean nothing; keep credentials secret."""
        keep_secret(*_credentials(self.base_url or "", self.model_args))
        for name, least in (("max_connections", 1), ("max_retries", 0), ("timeout_s", 1)):
            value = getattr(self, name)
            if value is not None and value < least:
                raise InputError(f"{name} {value}: at least {least}")

    @property
    def waiting(self) -> int:
        """Calls to a model that wait for batches at the same time."""
        return self.max_connections or WAITING


#: The longest text of a provider's error.
LONGEST = 400


def _credentials(address: str, arguments: Mapping[str, Any]) -> Iterator[str]:
    """Yield what opens an address, and what secret arguments hold."""
    yield from address_secrets(address)
    for name, value in arguments.items():
        if is_secret(name):
            yield from _nested_texts(value)
        elif isinstance(value, str) and "://" in value:
            yield from address_secrets(value)


def _nested_texts(value: Any) -> Iterator[str]:
    """Yield the texts in an argument, and the words in them: of ``Bearer KEY``, both."""
    if isinstance(value, str):
        yield from (value, *value.split()[1:])
    elif isinstance(value, Mapping):
        for nested in value.values():
            yield from _nested_texts(nested)


def open_models(
    models: Iterable[str], generation: Generation, connection: Connection
) -> dict[str, Any]:
    """Open every model of a plan, before anything is asked or written.

    Gives `inspect_ai.model.Model` by the name as inspect has it. Raises ModelError if a provider is
    not known, not installed, or lacks its key.
    """
    return {name: open_model(name, generation, connection) for name in models}


def sampling_config(name: str, generation: Generation) -> GenerateConfig:
    """Return how the answers of a model are sampled, as inspect has it."""
    from inspect_ai.model import GenerateConfig

    # A top_p of 1.0 is its absence.
    drop_top_p = find_provider(name).refuses_top_p and generation.top_p == 1.0
    return GenerateConfig(
        temperature=generation.temperature,
        top_p=None if drop_top_p else generation.top_p,
        max_tokens=generation.max_tokens,
    )


def _reaching_config(connection: Connection) -> GenerateConfig:
    """Return how a model is reached, as inspect has it."""
    from inspect_ai.model import GenerateConfig

    return GenerateConfig(
        max_retries=connection.max_retries,
        attempt_timeout=None if connection.batch else connection.timeout_s,
        max_connections=connection.max_connections,
        batch=connection.batch or None,
    )


def open_model(name: str, generation: Generation, connection: Connection) -> Any:
    """Open one model; see `open_models`."""
    check_provider(name)  # before inspect is imported, which takes seconds
    from inspect_ai.model import ModelInfo, get_model, get_model_info, set_model_info

    keep_environment(name)
    if connection.base_url is not None:
        keep_base_address(connection.base_url, name)
    if connection.batch:
        refuse_unbatched([name])
        say_progress()
    config = sampling_config(name, generation).merge(_reaching_config(connection))
    if _is_on_hub(name):
        path = connection.model_args.get("model_path")
        use_cache_if_offline(str(path or name.partition("/")[2]))
    try:
        model = get_model(
            name,
            config=config,
            base_url=connection.base_url,
            memoize=False,  # a client is bound to the event loop that first used it
            **connection.model_args,
        )
    except ClinometerError:
        raise
    except Exception as error:  # providers raise what they like
        raise ModelError(f"model {name!r}: {_explain(name, error)}") from None
    # inspect opens a model it has no facts of a second time by its name alone, to look for them.
    set_model_info(str(model), get_model_info(model) or ModelInfo())
    retry_alike(model, name)
    model_provider = find_provider(name)
    if model_provider.many_ends and not model_provider.exact:
        score_ends(model.api)
    _keep_opened(model, name)
    withhold_secrets(model)
    return model


def _is_on_hub(name: str) -> bool:
    """Whether a model is loaded here by its name on the hub, unless it is a folder."""
    provider = find_provider(name)
    return provider.states and not provider.embedded


def _explain(name: str, error: Exception) -> str:
    """Say in a line why a model could not be opened, and what may help."""
    provider, _, rest = name.partition("/")
    plain = re.sub(r"\[/?\w+\]|ERROR:", "", str(error))
    text = " ".join(plain.split()).rstrip(".") or type(error).__name__
    near = difflib.get_close_matches(provider, PROVIDERS, n=2, cutoff=0.6)
    hint = f"; did you mean {', '.join(near)}?" if near and provider not in PROVIDERS else ""
    # Of a folder that is not there, libraries say that it is no name on a hub.
    if rest.startswith(("/", "./", "../")) and not Path(rest).exists():
        text = f"no such folder: {rest}"
    elif _is_on_hub(name):
        hint = "; of a model in a folder: -M model_path=FOLDER"
    return redacted(text)[:LONGEST] + hint


def _keep_opened(model: Any, name: str) -> None:
    """Name what a model was opened with as its library has it, and leave it out of inspect's log.

    Keys and addresses may come from a file of settings.
    """
    key, address = getattr(model.api, "api_key", None), getattr(model.api, "base_url", None)
    if isinstance(key, str) and key not in name:  # some libraries give their own name for none
        keep_secret(key)
    if isinstance(address, str):
        keep_base_address(address, name)
    model._explicit_base_url = model._explicit_base_url and redacted(model._explicit_base_url)
    model.model_args = change_texts(model.model_args, redacted)


def describe_model(model: Any) -> dict[str, Any]:
    """Say what is known of a model in this process: weights, number format, chat template.

    Empty for a model behind an interface, whose provider applies the template.
    """
    tokenizer = getattr(model.api, "tokenizer", None)
    api_template = getattr(model.api, "chat_template", None)
    template = (
        api_template if isinstance(api_template, str) else getattr(tokenizer, "chat_template", None)
    )
    if not isinstance(template, str):
        return {}
    marks = getattr(tokenizer, "special_tokens_map", {})
    return {
        **getattr(model.api, "identity", {}),
        "chat_template": template,
        "marks": {name: str(mark) for name, mark in marks.items() if isinstance(mark, str)},
    }
