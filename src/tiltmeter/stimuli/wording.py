"""Words into wordings."""

from __future__ import annotations

import re
from collections.abc import Mapping

__all__ = ["fill"]


def fill(template: str, values: Mapping[str, str]) -> str:
    """Put values where their placeholders stand; {a_NAME} puts an indefinite article in front.

    Nothing that is put in is searched again, so braces in a word or an answer stay braces.

    Examples
    --------
    >>> fill("{a_group0} and {a_group1} student", {"group0": "Asian", "group1": "White"})
    'an Asian and a White student'
    """

    def value(match: re.Match[str]) -> str:
        name = match[1]
        if name not in values and name.removeprefix("a_") in values:
            word = values[name.removeprefix("a_")]
            return f"{'an' if word[:1].lower() in 'aeiou' else 'a'} {word}"
        return values.get(name, match[0])

    return re.sub(r"\{(\w+)\}", value, template)
