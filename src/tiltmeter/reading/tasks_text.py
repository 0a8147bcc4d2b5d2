"""Split an answer: its thoughts, and its tasks by headings as ``Task 1:`` or ``**Task 2**``."""

from __future__ import annotations

import re

__all__ = ["after_thoughts", "split_tasks"]

_THOUGHTS = re.compile(r"</think(?:ing)?>")
_HEADING = re.compile(
    r"^[^\S\n]{0,8}(?:[#>*_\-\[(]{1,8}[^\S\n]{0,4}){0,3}task[^\S\n]{0,3}#?([0-9]{1,2})(?![0-9a-z])"
    r"[*_\])]{0,4}[^\S\n]{0,3}(?:[-:.)\]–—*_][*_ ]{0,4}|(?=\n|\Z))",
    re.IGNORECASE | re.MULTILINE,
)


def split_tasks(text: str) -> dict[int, tuple[int, int]]:
    r"""Find the bodies of numbered tasks.

    Parameters
    ----------
    text
        An answer to a prompt of several tasks.

    Returns
    -------
    dict of int to tuple of int
        Task number to start and end of its body, without the blanks around it; of two headings
        with one number the last counts. Empty where there is no heading at a line start.

    Examples
    --------
    >>> split_tasks("Task 1: a - b\n**Task 2:** Yes")
    {1: (8, 13), 2: (26, 29)}
    """
    headings = list(_HEADING.finditer(text)) if "task" in text.casefold() else []
    ends = [heading.start() for heading in headings[1:]] + [len(text)]
    return {
        int(heading[1]): _stripped(text, heading.end(), end)
        for heading, end in zip(headings, ends, strict=False)
    }


def after_thoughts(text: str) -> int:
    """Tell where a reasoning model ends its thoughts; 0 where it shows none."""
    return max((match.end() for match in _THOUGHTS.finditer(text)), default=0)


def _stripped(text: str, start: int, end: int) -> tuple[int, int]:
    body = text[start:end]
    left = len(body) - len(body.lstrip())
    return start + left, max(start + left, start + len(body.rstrip()))
