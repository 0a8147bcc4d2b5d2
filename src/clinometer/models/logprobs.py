"""Log-probabilities of tokens as servers list them; where one is none, there are none.

One that is left out in silence would pass for a token that is not listed, or not there.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from clinometer.models.fields import LONGEST, clean_text, is_list
from clinometer.numbers import as_number
from clinometer.texts import encodable

#: What servers list for a token that is never drawn; some say minus infinity, or null.
NEVER = -9999.0

#: A log-probability above 0 by more than this is none; servers round.
_ROUNDING = 1e-3


def read_logprobs(logprobs: Any) -> dict[str, Any] | None:
    """Return the log-probabilities of a text; None where there are none, or one is no number."""
    content = logprobs.get("content") if isinstance(logprobs, Mapping) else None
    positions = [_position(position) for position in content] if is_list(content) else []
    # One that is left out in silence would pass for a token that is not listed, or not there.
    return {"content": positions} if positions and all(positions) else None


def _position(position: Any) -> dict[str, Any] | None:
    """Put a token with its log-probability and alternatives into their usual form, if possible."""
    token = _token(position)
    alternatives = position.get("top_logprobs") if isinstance(position, Mapping) else None
    if token is None or not (alternatives is None or is_list(alternatives)):
        return None
    listed = [_token(alternative) for alternative in alternatives or ()]
    return {**token, "top_logprobs": listed} if all(listed) else None


def _token(token: Any) -> dict[str, Any] | None:
    """Return a token, its bytes and its log-probability, if they can be read."""
    if not isinstance(token, Mapping) or not isinstance(token.get("token"), str):
        return None
    value = _logprob(token.get("logprob"))
    if value is None:
        return None
    # Not `visible`: a token is what the model said, and may be a line break.
    text = encodable(token["token"][:LONGEST])
    return {"token": text, "bytes": _bytes(token.get("bytes")), "logprob": value}


def _logprob(value: Any) -> float | None:
    """Return a log-probability; `NEVER` for null or minus infinity, None for what is none."""
    if value is None or value == -math.inf:
        return NEVER
    number = as_number(value)
    return None if number is None or number > _ROUNDING else min(number, 0.0)


def _bytes(numbers: Any) -> list[int] | None:
    if not is_list(numbers) or len(numbers) > LONGEST:
        return None
    return list(numbers) if all(type(n) is int and 0 <= n < 256 for n in numbers) else None


def read_prompt_logprobs(positions: Any) -> list[Any] | None:
    """Return vLLM's log-probabilities of a prompt: token number → text and value, by position."""
    if not is_list(positions):
        return None
    cleaned: list[dict[str, Any] | None] = []
    for position in positions:
        if position is None:  # before the first token stands nothing
            cleaned.append(None)
            continue
        if not isinstance(position, Mapping) or not position:
            return None
        tokens = {clean_text(number): _prompt_token(token) for number, token in position.items()}
        if not all(tokens.values()):
            return None
        cleaned.append(tokens)
    return cleaned


def _prompt_token(token: Any) -> dict[str, Any] | None:
    if not isinstance(token, Mapping):
        return None
    text = token.get("decoded_token") or ""  # null for a mark such as the beginning
    entry = _token({"token": text, "logprob": token.get("logprob")})
    return entry and {"decoded_token": entry["token"], "logprob": entry["logprob"]}
