"""Read associates from answers: comma-separated, one per line, in JSON, or within prose.

Associates are separated from one another and from surrounding text. Lower-casing, lemmatisation and
filtering happen later, when a network is built. Answers may be any text: nothing raises, and time
is linear in their length.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from clinometer.reading.plaintext import json_values
from clinometer.reading.refusals import is_refusal

__all__ = ["ASSOCIATES", "read_associates"]

#: Associates per answer.
ASSOCIATES = 3

#: Maximum words of an associate; more are taken for prose.
LONGEST_WORDS = 4
LONGEST_CHARACTERS = 80

_SPAN = 4000  # characters searched; associates are at the beginning

# Non-text: chat format markers, control characters, direction and zero-width marks.
_MARKS = re.compile(r"<\|[^<>|\n]{0,40}\|?>|</?s>|\[/?INST\]|<(?:end|start)_of_turn>")
_INVISIBLE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff"
    "\ud800-\udfff]"
)
_LINES = re.compile(r"[\r\n\u2028\u2029]+")
_FENCE = re.compile(r"^```\w{0,20}\s*|```")
_SEPARATOR = re.compile(r"[,;|\n\r\uff0c\uff1b\u3001\u060c\u061b\u2022\u00b7]| [/\\] |\s->\s|→")
# Numbers within a line, "1. water 2. beach", and what begins a point of a list.
_NUMBER = re.compile(r"(?:^|\s)[(#]?\d{1,2}[.):]\s+")
_BULLET = re.compile(
    r"^\s*(?:[-*+–—•·>]+\s+|[(#]?\d{1,2}(?:[.):]|\s[-–—])(?!\d)\s*|[(]?[a-c][.)]\s+)"
)
# "Sure!", "Of course."
_PREFACE = re.compile(
    r"^\W{0,9}(?:sure(?: thing)?|certainly|of course|ok(?:ay)?|alright|absolutely|great|yes|"
    r"no problem|got it|here you go)\s{0,3}[!.]+\s*",
    re.IGNORECASE,
)
# "Output", "First word", "2": what stands before a colon and is no associate.
_LABEL = re.compile(
    r"^\W*(?:(?:the |my |your |as)?(?:first|second|third|1st|2nd|3rd|final)?\s?"
    r"(?:output|answer|response|result|associations?|associates?|associated words?|words?)"
    r"\s?#?\d{0,2}|\d{1,2})\W*$",
    re.IGNORECASE,
)
# A line that repeats the question; one after the answer begins another example.
_QUESTION = re.compile(r"^\W*(?:input|cue|input word|cue word|the word|question)\W", re.IGNORECASE)
# A colon that is no part of a time, a ratio or an address.
_COLON = re.compile(r"[:\uff1a](?!\d|//)")
# The end of a first sentence that others follow.
_SENTENCE = re.compile(r"[^\s.!?]{2}[.!?]+[\"'”)]?\s+(?=\S)")
# "The words that come to mind are"
_COME = re.compile(r"^.*\b(?:word|associat|think|mind).*\b(?:are|include|be|is)\b", re.IGNORECASE)
# The writer speaks of itself, as in refusals and not in lists of words.
_PRONOUN = re.compile(r"\b(?:I|i|I['’]m|We|we)\b|\b[Aa]s an AI\b")
# An explanation after a dash or in brackets.
_ASIDE = re.compile(r"\s[-–—]{1,2}\s.*$|(?<=\w)\W{0,9}[(][^()]*[)]?\W{0,9}$")
_JOINT = re.compile(r"^(?:and|or|&)\s+(?=\S)", re.IGNORECASE)
_EDGES = " \t\"'`´‘’“”„«»*_~<>[](){}.!?…:=-–—#\\/\u200c\u200d\ufe0f"


def read_associates(text: str, *, most: int = ASSOCIATES, cue: str | None = None) -> list[str]:
    r"""Read the first associates from an answer, up to a maximum; none from a refusal.

    The answer may list them with commas, in lines, numbered, in JSON, or after a preface. They are
    returned as written, without commas and line breaks; items of more than four words are dropped.
    With a `cue`, its echo in ``cue - a, b, c`` or ``cue, a, b, c`` is dropped.

    Examples
    --------
    >>> read_associates("Sure! Here are three words:\n1. **Water**\n2. Beach\n3. Sun")
    ['Water', 'Beach', 'Sun']
    >>> read_associates("I'm sorry, but I can't help with that.")
    []
    """
    text = text[:_SPAN]
    text = _INVISIBLE.sub("", _LINES.sub("\n", _MARKS.sub("\n", text))).strip()
    text = _PREFACE.sub("", _FENCE.sub("", text).strip())
    if _declines(text):
        return []
    # One more where a cue is known: its echo may stand first.
    associates = list(islice(_find_associates(text, cue), most + (cue is not None)))
    if cue is not None and len(associates) > most and associates[0].casefold() == cue.casefold():
        associates = associates[1:]
    return associates[:most]


def _declines(text: str) -> bool:
    """Return whether the answer begins with a refusal rather than a list such as "sorry, sad"."""
    head = text.split("\n", 1)[0]
    pieces = _SEPARATOR.split(head)
    prose = any(len(piece.split()) > LONGEST_WORDS for piece in pieces)
    return (prose or _PRONOUN.search(head) is not None) and is_refusal(head)


def _find_associates(text: str, cue: str | None) -> Iterator[str]:
    values = [value for value in json_values(text) or () if isinstance(value, str | int | float)]
    for value in values:
        yield from _split_associates(str(value))
    any_associate = False
    for line in () if values else text.split("\n"):
        if not _QUESTION.match(line) or not _COLON.search(line):
            for associate in _line_associates(line, cue):
                any_associate = True
                yield associate
        elif any_associate:
            return


def _line_associates(line: str, cue: str | None) -> Iterator[str]:
    """Yield the associates of a line: of one point of a list, or of several numbered in a line."""
    bullet = _BULLET.match(line)
    numbers = [part for part in _NUMBER.split(line) if part.strip()]
    if bullet is None or len(numbers) > 1:
        for part in numbers if len(numbers) > 1 and bullet else [line]:
            yield from _split_associates(_text_after_label(_drop_echo(part, cue)))
        return
    entry = line[bullet.end() :]
    before, after = _colon_parts(entry)
    follows_label = after is None or _LABEL.match(before) or _is_cue(before, cue)
    yield from _split_associates(_text_after_label(entry) if follows_label else before)


def _drop_echo(line: str, cue: str | None) -> str:
    """Drop the cue before a dash or an arrow."""
    if cue and line.strip(_EDGES)[: len(cue)].casefold() == cue.casefold():
        rest = line.strip(_EDGES)[len(cue) :].lstrip(" \"'*_`")
        arrow = re.match(r"(?:[-–—=]+>?|→|>)\s+", rest)
        return rest[arrow.end() :] if arrow else line
    return line


def _is_cue(text: str, cue: str | None) -> bool:
    return cue is not None and text.strip(_EDGES).casefold() == cue.casefold()


def _colon_parts(line: str) -> tuple[str, str | None]:
    """Split a line at its first colon, if it has one."""
    colon = _COLON.search(line)
    return (line[: colon.start()], line[colon.end() :]) if colon else (line, None)


def _text_after_label(line: str) -> str:
    """Return the text after a label, a preface or an echo; empty if it ends the line."""
    before, after = _colon_parts(line)
    while after is not None:
        *_, last = _SEPARATOR.split(before)
        if last != before and _LABEL.match(last):
            return line  # "first word: water, second word: beach"
        is_explained = not _LABEL.match(before) and len(before.split()) <= LONGEST_WORDS
        if is_explained and after.strip() and not any(_split_associates(after)):
            return before  # "water: what the sea is made of"
        line = after
        before, after = _colon_parts(line)
    return line


def _split_associates(text: str) -> Iterator[str]:
    pieces = _SEPARATOR.split(text)
    # "Water. Beach. Sun."; a single full stop ends a sentence.
    if len(pieces) == 1 and text.count(". ") > 1:
        pieces = text.split(". ")
    for number, piece in enumerate(pieces):
        associate = _clean_associate(piece, first=number == 0)
        if associate:
            yield associate


def _clean_associate(piece: str, first: bool) -> str:
    """Strip a piece of an answer down to the associate; empty if there is none."""
    label, after = _colon_parts(piece)
    piece = after if after is not None and _LABEL.match(label) else piece
    piece = _BULLET.sub("", piece).strip()
    sentence = _SENTENCE.search(piece)
    if sentence and len(piece.split()) > LONGEST_WORDS:
        piece = piece[: sentence.end()]
    if first and len(piece.split()) > LONGEST_WORDS:
        piece = _COME.sub("", piece)
    if not first:
        piece = _JOINT.sub("", piece)
    associate = _strip_edges(_ASIDE.sub("", _strip_edges(piece)))
    is_short = len(associate.split()) <= LONGEST_WORDS and len(associate) <= LONGEST_CHARACTERS
    return associate if is_short and any(map(str.isalnum, associate)) else ""


def _strip_edges(piece: str) -> str:
    """Strip quotes, marks and emoji from both ends."""
    start = 0
    stop = len(piece)
    while start < stop and _is_edge(piece[start]):
        start += 1
    while stop > start and _is_edge(piece[stop - 1]):
        stop -= 1
    return " ".join(piece[start:stop].split())


def _is_edge(letter: str) -> bool:
    # From the arrows on Unicode has symbols, and letters that `isalnum` knows.
    return letter in _EDGES or letter > "\u2190" and not letter.isalnum()
