"""Bring model text to one plain form, so that readers need not know every way to write a dash.

What changes: case; Unicode form; dashes, quotes and spaces; mojibake of the same; zero-width
characters; HTML tags and line breaks; apostrophes inside words (``didn't`` → ``didnt``, but
``ben's`` stays). Words are never respelled. Time is linear in the length of the text.
"""

from __future__ import annotations

import re
import unicodedata

__all__ = ["normalise"]

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
    | dict.fromkeys("\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff\ufe0e\ufe0f")
    | dict.fromkeys(map(chr, [*range(0x202A, 0x202F), *range(0x2066, 0x206A)]))
)
# Unicode normalisation sorts a run of combining marks in quadratic time: keep runs short.
_LONG_RUN = re.compile(r"([^\w\s]{48})[^\w\s]+")
_TAG = re.compile(r"<(/?)([a-z][\w-]{0,20})(?: [^<>\n]{0,80})? ?/?>")
_BREAKS = frozenset("br tr li p div h1 h2 h3 h4 h5 h6 ul ol table thead tbody".split())
_STYLES = frozenset("b i u em strong span code pre".split())
_APOSTROPHE = re.compile(r"(?<=[^\W_])'(?!s\b)(?=[^\W_])")


def normalise(text: str) -> str:
    r"""Bring a text to plain form.

    Parameters
    ----------
    text
        Anything a model wrote, or a word of a prompt.

    Returns
    -------
    str
        Case-folded NFKC text with ``\n`` line breaks, ``-`` dashes, straight quotes and no
        HTML tags. The normal form of a word is the same alone and inside a text.
    """
    if not text.isascii():
        text = _MOJIBAKE.sub(lambda match: _UNMISREAD[match.group()], text)
        text = _LONG_RUN.sub(r"\1", text.translate(_PLAIN))
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


def _without_tags(text: str) -> str:
    """Replace tags that are closed somewhere; ``<home> - <julia>`` holds none and stays."""
    closed = {match[2] for match in _TAG.finditer(text) if match[1]}
    thoughts = {"think", "thinking"}

    def plain(match: re.Match[str]) -> str:
        name = match[2]
        if name in _BREAKS:
            return "\n"
        if name in _STYLES:
            return " "
        return " | " if name in closed and name not in thoughts else match[0]

    return _TAG.sub(plain, text)
