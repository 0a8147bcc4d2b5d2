"""A prompt that is a chat: several messages, kept as one text, the JSON of the list of them."""

from __future__ import annotations

import json

__all__ = ["ROLES", "read_chat"]

#: Who may speak in a chat.
ROLES = ("system", "user", "assistant")


def read_chat(prompt: str) -> list[dict[str, str]] | None:
    """Return the messages of a chat, each with its role and content; None of any other prompt.

    >>> read_chat('[{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}]')
    [{'role': 'system', 'content': 'Be brief.'}, {'role': 'user', 'content': 'Hi'}]
    >>> read_chat("Hi"), read_chat('[{"role": "king", "content": "Hi"}]')
    (None, None)
    """
    if not prompt.startswith('[{"role": "'):
        return None
    try:
        messages = json.loads(prompt)
    except (ValueError, RecursionError):
        return None
    return messages if all(map(_is_message, messages)) else None


def _is_message(value: object) -> bool:
    return (
        isinstance(value, dict)
        and value.keys() == {"role", "content"}
        and value["role"] in ROLES
        and isinstance(value["content"], str)
    )
