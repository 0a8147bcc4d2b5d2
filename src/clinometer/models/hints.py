"""What may help where a model gives no answer at all."""

from __future__ import annotations

import os
import re

_REFUSED = re.compile(
    r"\b(?:status|code:?) ?(?:401|403|404)\b|\b(?:Authentication|PermissionDenied|NotFound)Error\b"
)


def is_lasting(error: str) -> bool:
    """Whether an error will be the same for every call: refused, or nobody is there."""
    return is_refused(error) or error.startswith("Unreachable: ")


def is_refused(error: str) -> bool:
    """Whether a server refuses a key, or knows no such page or model."""
    return _REFUSED.search(error) is not None and not error.startswith("Unreachable: ")


def hint(model: str, error: str) -> str:
    """Say what may help where a model gives an error; empty if nothing is known to.

    Examples
    --------
    >>> hint("openai-api/local/llama3", "NotFoundError: Error code: 404")
    'is the address whole (most end in /v1), and is that the name of a model there?'
    """
    if not is_refused(error):  # who is not there was named, with what to do
        return ""
    if "404" not in error:
        return "the key was refused: check the variable that holds it, and what it may do"
    provider, _, name = model.partition("/")
    if provider != "openai":
        return "is the address whole (most end in /v1), and is that the name of a model there?"
    address = os.environ.get("OPENAI_BASE_URL", "its address")
    return (
        f"no such model; a server with OpenAI’s chat completions only is openai-api/local/{name}, "
        f"with LOCAL_BASE_URL={address} and LOCAL_API_KEY=none in the environment"
    )
