"""What the models of each provider can do.

Names, choices, log-probabilities, schemas and batches are those of inspect-ai (`GenerateConfig`,
the source of its providers): what a provider does not send or read there, its models cannot do.
What it passes on follows the documentation of the service; None where models or versions differ, or
nothing is stated. Seeds, opened answers and exact choices are how Clinometer uses them. Nothing
else asks for a provider by its name.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from clinometer.errors import ModelError


@dataclass(frozen=True)
class Provider:
    """What the models of a provider can do; of one that is not known, the defaults are assumed."""

    local: bool = False
    """Runs on one's own machine, without charge."""
    embedded: bool = False
    """Comes with Clinometer: a small model that writes long answers and follows no instructions."""
    simulated: bool = False
    """Asks no model: answers with planted leans; see `clinometer.simulated`."""
    seeded: bool = False
    """A seed fixes the answers; other providers ignore or refuse one."""
    own: bool = False
    """A system of its user's own, whose name says what code is run: no file may name it."""
    exact: bool = False
    """Gives the log-probability of whole options."""
    opened: bool = False
    """Continues an assistant message that was begun for it."""
    choices: bool | None = None
    """Gives several answers to a call; None: not known."""
    logprobs: bool | None = None
    """Gives log-probabilities of alternatives; None: not known."""
    top_logprobs: int = 20
    """Alternatives whose log-probability is asked for."""
    texts: bool | None = False
    """Gives the log-probabilities of a text that it is given, as it is; None: not known."""
    many_ends: bool = False
    """Gives those of many ends of a text in one call."""
    schemas: bool | None = None
    """Closes answers to a JSON schema; None: not known."""
    batch: bool = False
    """inspect asks it in batches; see `batched`."""
    batch_files: bool = False
    """Has OpenAI's interface of files and batches."""
    batch_discount: float = 0.0
    """The share that batches cost less, by the provider's price list; 0: none, or not one share,
    is stated."""
    states: bool = False
    """The hidden states of its models can be read at every layer."""
    embeddings: bool = False
    """A service of embeddings, of one layer."""
    refuses_top_p: bool = False
    """Refuses `top_p` beside a temperature."""
    service: bool = False
    """The first part of a model's name is that of a service."""
    longest: str = "max_tokens"
    """Name of the longest answer in the body of a chat completion."""
    reasons: bool = True
    """Some of its models may reason before they answer."""
    reasoning_tokens: bool = False
    """Its reasoning can be limited to a number of tokens."""
    reasoning_budget: Mapping[str, Any] = field(default_factory=dict)
    """What does so in that body, with None for the number; empty: nothing."""
    short_answers: Mapping[str, Any] = field(default_factory=dict)
    """Model arguments with which many short answers are fastest."""
    plain_text: Mapping[str, Any] = field(default_factory=dict)
    """Model arguments with which a text is read as it is, without a chat template."""
    start: str = ""
    """The command that starts its server on one's own machine."""

    def served(self, model: str) -> str:
        """Return the name by which a server knows a model."""
        return model.split("/", 2 if self.service else 1)[-1]


#: Services whose log-probabilities inspect does not read; the last also have one answer to a call.
_CHAT = Provider(logprobs=False)
_TEXT = Provider(logprobs=False, schemas=False, choices=False)

#: A chat template that leaves texts as they are.
PLAIN = "{% for m in messages %}{{ m['content'] }}{% endfor %}"

#: Ends the name of a provider that is sent texts as they are, at ``/v1/completions``.
COMPLETIONS = "-completions"

#: Providers that inspect has under such a name, too.
RAW = ("vllm", "openai-api")

PROVIDERS: Mapping[str, Provider] = {
    "anthropic": Provider(
        logprobs=False,
        schemas=True,
        choices=False,
        batch=True,
        batch_discount=0.5,
        refuses_top_p=True,
        reasoning_tokens=True,
        reasoning_budget={"thinking": {"type": "enabled", "budget_tokens": None}},
    ),
    # A system of the user's own (`models.apps`), asked as it stands.
    "app": Provider(own=True, logprobs=False, schemas=False, choices=False, reasons=False),
    "azureai": _TEXT,
    # Schemas: of Claude alone.
    "bedrock": Provider(logprobs=False, choices=False, reasoning_tokens=True),
    "clinometer": Provider(
        local=True,
        embedded=True,
        seeded=True,
        exact=True,
        opened=True,
        reasons=False,
        logprobs=True,
        texts=True,
        many_ends=True,
        schemas=True,
        choices=True,
        states=True,
        short_answers={"batch_size": 64},
    ),
    "cloudflare": _CHAT,
    "deepseek": Provider(schemas=False),  # JSON, but no schema
    "fireworks": Provider(),
    "google": Provider(
        logprobs=True,
        schemas=True,
        choices=True,
        batch=True,
        batch_discount=0.5,
        reasoning_tokens=True,
        reasoning_budget={"extra_body": {"google": {"thinking_config": {"thinking_budget": None}}}},
    ),
    "grok": Provider(logprobs=True, schemas=True, choices=True, batch=True),
    "groq": Provider(logprobs=False, choices=False),  # schemas: of some models
    "hf": Provider(
        local=True,
        seeded=True,
        logprobs=True,
        texts=True,
        many_ends=True,
        schemas=False,
        choices=False,
        states=True,
        plain_text={"chat_template": PLAIN},
    ),
    # Of its own server, logits_all=True and no schemas of this form; llama.cpp's does both.
    "llama-cpp-python": Provider(local=True, start="python -m llama_cpp.server --model FILE"),
    "mistral": Provider(logprobs=False, schemas=True, choices=False),
    "mockllm": Provider(local=True, logprobs=True, schemas=True),
    "ollama": Provider(
        local=True, seeded=True, logprobs=True, schemas=True, choices=False, start="ollama serve"
    ),
    "openai": Provider(
        logprobs=True,
        schemas=True,
        choices=True,
        batch=True,
        batch_files=True,
        batch_discount=0.5,
        embeddings=True,
        longest="max_completion_tokens",
    ),
    "openai-api": Provider(choices=True, batch_files=True, embeddings=True, service=True),
    "openrouter": Provider(
        reasoning_tokens=True, reasoning_budget={"reasoning": {"max_tokens": None}}
    ),
    "perplexity": _CHAT,
    "simulated": Provider(
        local=True,
        simulated=True,
        seeded=True,
        exact=True,
        logprobs=True,
        texts=True,
        many_ends=True,
        schemas=True,
        choices=True,
    ),
    "sglang": Provider(
        local=True,
        seeded=True,
        logprobs=True,
        schemas=True,
        choices=True,
        start="python -m sglang.launch_server --model-path MODEL",
    ),
    # Gives the log-probability of the token it chose, but of no other.
    "together": Provider(logprobs=False, choices=True, batch=True),
    "transformer_lens": Provider(local=True, logprobs=False, schemas=False, choices=False),
    "vllm": Provider(
        local=True,
        seeded=True,
        logprobs=True,
        schemas=True,
        choices=True,
        start="vllm serve MODEL",
    ),
}


#: The packages whose entry points add providers that are listed above.
OURS = {"clinometer"}


def find_provider(model: str) -> Provider:
    """Look up what a model's provider can do: the defaults where it is not listed.

    Examples
    --------
    >>> find_provider("vllm-completions/m").seeded, find_provider("acme/m").seeded
    (True, False)
    """
    name = model.partition("/")[0]
    provider = PROVIDERS.get(name.removesuffix(COMPLETIONS), Provider())
    if not name.endswith(COMPLETIONS):
        return provider
    return replace(provider, texts=True if provider.local else None, batch=False, batch_files=False)


def check_model_name(model: str) -> str:
    """Return the name of a model; raises ModelError where it names no provider, or nothing else."""
    if not all(model.partition("/")):
        raise ModelError(f"model {model!r}: expected PROVIDER/NAME, such as openai/gpt-4o-mini")
    return model


def check_provider(model: str) -> str:
    """Return the name of a model that is to be asked, without importing what asks it.

    Raises ModelError as `check_model_name` does, and where nothing installed has the provider.
    """
    provider = check_model_name(model).partition("/")[0]
    registered = _inspect_providers()
    providers = registered | PROVIDERS.keys()
    if not registered or provider in providers:
        return model
    near = difflib.get_close_matches(provider, providers, n=2)
    hint = f"; did you mean {' or '.join(near)}?" if near else f": {', '.join(sorted(providers))}"
    raise ModelError(f"model {model!r}: no provider {provider!r} is known{hint}")


def _inspect_providers() -> set[str]:
    """Return the providers that inspect registers, as its source says: an import takes seconds.

    Empty where another package may register more.
    """
    package = find_spec("inspect_ai")
    if package is None or package.origin is None:
        return set()
    if {point.dist and point.dist.name for point in entry_points(group="inspect_ai")} - OURS:
        return set()
    source = Path(package.origin).parent / "model" / "_providers" / "providers.py"
    text = source.read_text(encoding="utf-8") if source.is_file() else ""
    return set(re.findall(r'^@modelapi\(name="([^"]+)"\)', text, re.MULTILINE))
