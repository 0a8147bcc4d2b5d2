"""Names from outside, made fit to be shown: short, visible, and no two alike."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence

from tiltmeter.report.prose import visible

__all__ = ["cut", "first_few", "shown_names"]

#: Characters shown of a name.
LONGEST = 48


def shown_names(names: Iterable[str], unnamed: str, longest: int = LONGEST) -> dict[str, str]:
    """Give each name the one it is shown by; no two share one.

    `unnamed`: shown for a name without letters.
    `longest`: characters of a name, without the number that tells two apart.
    Result: in the order given.
    """
    told: dict[str, str] = {}
    for name in dict.fromkeys(names):
        text = cut(" ".join(visible(name).split()) or unnamed, longest)
        each = itertools.chain([text], (f"{text} ({place})" for place in itertools.count(2)))
        told[name] = next(one for one in each if one not in told.values())
    return told


def cut(text: str, longest: int) -> str:
    """Cut a text to so many characters, the last an ellipsis."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def first_few(names: Sequence[str], most: int = 3) -> str:
    """List the first few names, and say how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
