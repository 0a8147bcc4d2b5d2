"""Functions for all readers of answers: plain form, numbered tasks, JSON.

The plain form normalises case; Unicode form; dashes, quotes and spaces, also as mojibake;
zero-width characters, of which U+200D between emoji stays; HTML tags and line breaks; apostrophes
inside words (``didn't`` → ``didnt``, but ``ben's`` stays). Words are not respelled. Time is linear
in the length of the text.
"""

from __future__ import annotations

import json
import re
import unicodedata
from itertools import zip_longest
from typing import Any, NamedTuple


class Choice(NamedTuple):
    """The choice of an answer, or the reason why there is none."""

    outcome: str | None
    reason: str | None
    """One of `results.REASONS` if there is no outcome."""
    span: tuple[int, int] | None
    """Start and end of the choice in the original text."""


# UTF-8 read as Windows-1252, as Latin-1 and as MacRoman, in this order.
_MISREAD = {
    "-": ("â€“", "â€”", "â€‘", "â€\x93", "â€\x94", "â\x80\x93", "â\x80\x94", "‚Äì", "‚Äî"),
    "'": ("â€™", "â€˜", "â\x80\x99", "â\x80\x98", "‚Äô", "‚Äò"),
    '"': ("â€œ", "â€\x9d", "â\x80\x9c", "â\x80\x9d", "‚Äú", "‚Äù"),
    ">": ("â†’", "â\x86\x92", "‚Üí"),
    " ": ("\u00c2\u00a0", "¬†"),
}
_UNMISREAD = {wrong: right for right, wrongs in _MISREAD.items() for wrong in wrongs}
_MOJIBAKE = re.compile("|".join(map(re.escape, _UNMISREAD)))

_PLAIN = str.maketrans(
    dict.fromkeys("‐‑‒–—―−﹘﹣－", "-")
    | dict.fromkeys("’‘‛´ʼʹ＇′", "'")
    | dict.fromkeys("“”„‟«»″＂", '"')
    | dict.fromkeys("\u0085\u2028\u2029\u001c\u001d\u001e", "\n")
    | dict.fromkeys("\u00ad\u200b\u200c\u200e\u200f\u2060\ufeff\ufe0e\ufe0f")
    | dict.fromkeys(map(chr, [*range(0x202A, 0x202F), *range(0x2066, 0x206A)]))
)
#: Tones of skin and U+200D: what follows an emoji and makes it another.
EMOJI_PARTS = frozenset("🏻🏼🏽🏾🏿\u200d")
_EMOJI = r"[\u2190-\u2bff\U0001f000-\U0001faff]"
# U+200D outside emoji. U+FE0F, which may stand before it, is left out first.
_LETTER_JOINER = re.compile(rf"(?<!{_EMOJI})\u200d|\u200d(?!{_EMOJI})")
_SPACED = str.maketrans(dict.fromkeys("\u200c\u200d", " "))
# Unicode normalisation is quadratic in the length of a run of combining marks; keep runs short.
_LONG_RUN = re.compile(r"([^\w\s]{48})[^\w\s]+")
_TAG = re.compile(r"<(/?)([a-z][\w-]{0,20})(?: [^<>\n]{0,80})? ?/?>")
_MARKUP = {
    **dict.fromkeys("br tr li p div h1 h2 h3 h4 h5 h6 ul ol table thead tbody".split(), "\n"),
    **dict.fromkeys("b i u em strong span code pre".split(), " "),
}
_APOSTROPHE = re.compile(r"(?<=[^\W_])'(?!s\b)(?=[^\W_])")


def normalise(text: str) -> str:
    r"""Convert a text to plain form.

    It is case-folded NFKC with ``\n`` line breaks, ``-`` dashes, straight quotes and no HTML tags.
    The plain form of a word is the same alone and inside a text.
    """
    if not text.isascii():
        text = _MOJIBAKE.sub(lambda match: _UNMISREAD[match.group()], text)
        text = _LETTER_JOINER.sub("", text.translate(_PLAIN))
        text = _LONG_RUN.sub(r"\1", text)
        text = unicodedata.normalize("NFKC", text)
    text = text.casefold()
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if "\\" in text:
        text = text.replace("\\r", "").replace("\\n", "\n").replace("\\t", "\t").replace("\\'", "'")
    if "<" in text:
        text = _without_tags(text)
    if "'" in text:
        text = _APOSTROPHE.sub("", text)
    return text


def split_joiners(word: str) -> str:
    """Return a word with a space for each joiner, as U+200C is often typed; in plain form."""
    return normalise(word.translate(_SPACED))


def _without_tags(text: str) -> str:
    """Replace tags that have a closing tag; ``<home> - <julia>`` has none and stays."""
    closed = {match[2] for match in _TAG.finditer(text) if match[1]}
    plain = dict.fromkeys(closed, " | ") | _MARKUP
    return _TAG.sub(lambda match: plain.get(match[2], match[0]), text)


_HEADING = re.compile(
    r"^[^\S\n]{0,8}(?:[#>*_\-\[(]{1,8}[^\S\n]{0,4}){0,3}task[^\S\n]{0,3}#?([0-9]{1,2})(?![0-9a-z])"
    r"[*_\])]{0,4}[^\S\n]{0,3}(?:[-:.)\]–—*_][*_ ]{0,4}|(?=\n|\Z))",
    re.IGNORECASE | re.MULTILINE,
)


def split_tasks(text: str) -> dict[int, tuple[int, int]]:
    r"""Find the bodies of numbered tasks: number → start and end, without surrounding spaces.

    The last heading of a number counts. A heading is at the start of a line.

    Examples
    --------
    >>> split_tasks("Task 1: a - b\n**Task 2:** Yes")
    {1: (8, 13), 2: (26, 29)}
    """
    bodies: dict[int, tuple[int, int]] = {}
    headings = list(_HEADING.finditer(text)) if "task" in text.casefold() else []
    for heading, following in zip_longest(headings, headings[1:]):
        body = text[heading.end() : following.start() if following else None]
        start = heading.end() + len(body) - len(body.lstrip())
        bodies[int(heading[1])] = start, start + len(body.strip())
    return bodies


def json_values(text: str) -> list[Any] | None:
    """Return the values of a JSON list, or of an object of texts and lists; else None."""
    if text[:1] not in ("[", "{"):
        return None
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        return None
    values = list(content.values()) if isinstance(content, dict) else content
    return [v for value in values for v in (value if isinstance(value, list) else [value])]
