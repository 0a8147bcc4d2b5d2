"""What may help where a model gives no answer at all."""

from __future__ import annotations

import os
import re

__all__ = ["hint", "is_lasting"]

_LASTING = re.compile(
    r"\b(?:status|code:?) ?(?:401|403|404)\b|\b(?:Authentication|PermissionDenied|NotFound)Error\b"
)


def is_lasting(error: str) -> bool:
    """Whether an error will be the same for every call: no such address, or a refused key."""
    return _LASTING.search(error) is not None


def hint(model: str, error: str, base_url: str | None = None) -> str:
    """Say what may help where a model gives an error; empty if nothing is known to.

    Examples
    --------
    >>> hint("openai/llama3", "NotFoundError: 404", "http://localhost:11434/v1")[:51]
    'http://localhost:11434/v1 may have OpenAI’s chat co'
    """
    provider, _, name = model.partition("/")
    address = base_url or os.environ.get("OPENAI_BASE_URL")
    if provider == "openai" and address and "404" in error:
        return (
            f"{address} may have OpenAI’s chat completions only: name it openai-api/local/{name}, "
            f"with LOCAL_BASE_URL={address} and LOCAL_API_KEY=none in the environment"
        )
    if provider == "openai-api" and "404" in error:
        return "is the address whole (most end in /v1), and is that the name of a model there?"
    if is_lasting(error) and "404" not in error:
        return "the key was refused: check the variable that holds it, and what it may do"
    return ""
