"""What the models of each provider can do.

Names, choices, log-probabilities and batches are those of inspect-ai (`GenerateConfig`, its
providers); seeds, opened answers and exact choices are how Tiltmeter uses them. Nothing else asks
for a provider by its name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["PROVIDERS", "Provider", "find_provider"]


@dataclass(frozen=True)
class Provider:
    """What the models of a provider can do; of one that is not known, the defaults are assumed."""

    local: bool = False
    """Runs on one's own machine, without charge."""
    embedded: bool = False
    """Comes with Tiltmeter: a small model that writes long answers and follows no instructions."""
    seeded: bool = False
    """A seed fixes the answers; other providers ignore or refuse one."""
    exact: bool = False
    """Gives the log-probability of whole options."""
    opened: bool = False
    """Continues an assistant message that was begun for it."""
    choices: bool = False
    """Gives several answers to a call."""
    top_logprobs: int = 20
    """Alternatives whose log-probability may be asked for; 0: it gives no log-probabilities."""
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
    reasoning_budget: Mapping[str, Any] = field(default_factory=dict)
    """What limits reasoning to a number of tokens in that body, with None for the number; empty:
    nothing does."""
    short_answers: Mapping[str, Any] = field(default_factory=dict)
    """Model arguments with which many short answers are fastest."""
    plain_text: Mapping[str, Any] = field(default_factory=dict)
    """Model arguments with which a text is read as it is, without a chat template."""

    def served(self, model: str) -> str:
        """Return the name by which a server knows a model."""
        return model.split("/", 2 if self.service else 1)[-1]


_CHAT = Provider(top_logprobs=0)
_RAW = {"chat_template": "{% for m in messages %}{{ m['content'] }}{% endfor %}"}

PROVIDERS: Mapping[str, Provider] = {
    "anthropic": Provider(
        top_logprobs=0,
        batch=True,
        batch_discount=0.5,
        refuses_top_p=True,
        reasoning_budget={"thinking": {"type": "enabled", "budget_tokens": None}},
    ),
    "azureai": Provider(),
    "bedrock": _CHAT,
    "cloudflare": _CHAT,
    "deepseek": Provider(),
    "fireworks": Provider(),
    "google": Provider(
        choices=True,
        batch=True,
        batch_discount=0.5,
        reasoning_budget={"extra_body": {"google": {"thinking_config": {"thinking_budget": None}}}},
    ),
    "grok": Provider(choices=True, batch=True),
    "groq": _CHAT,
    "hf": Provider(local=True, seeded=True, states=True, plain_text=_RAW),
    "llama-cpp-python": Provider(local=True),
    "mistral": _CHAT,
    "mockllm": Provider(local=True),
    "ollama": Provider(local=True, seeded=True),
    "openai": Provider(
        choices=True,
        batch=True,
        batch_files=True,
        batch_discount=0.5,
        embeddings=True,
        longest="max_completion_tokens",
    ),
    "openai-api": Provider(choices=True, batch_files=True, embeddings=True, service=True),
    "openrouter": Provider(reasoning_budget={"reasoning": {"max_tokens": None}}),
    "perplexity": _CHAT,
    "sglang": Provider(local=True, seeded=True, choices=True),
    "tiltmeter": Provider(
        local=True,
        embedded=True,
        seeded=True,
        exact=True,
        opened=True,
        choices=True,
        states=True,
        short_answers={"batch_size": 64},
    ),
    "together": Provider(choices=True, batch=True),
    "transformer_lens": Provider(local=True),
    "vllm": Provider(local=True, seeded=True, choices=True),
}


def find_provider(model: str) -> Provider:
    """Look up what a model's provider can do: the defaults where it is not listed.

    Examples
    --------
    >>> find_provider("vllm-completions/m").seeded, find_provider("acme/m").seeded
    (True, False)
    """
    name = model.partition("/")[0].removesuffix("-completions")
    return PROVIDERS.get(name, Provider())
