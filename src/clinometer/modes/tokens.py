r"""Tokens as bytes, whatever a server writes of a token that is a part of a character.

The first token of a word beyond ASCII is often a part of a character. Servers give it as

    =================  ============================================================
    bytes              the field ``bytes`` beside the token
    escaped text       ``\xe5\xa5``, ``bytes:\xe5\xa5``, ``<0xE5>``
    alphabet of bytes  ``å¥``: a letter for each byte, as GPT-2's vocabulary has it
    nothing            ``U+FFFD`` or an empty text: the token cannot be read
    =================  ============================================================

Both modes that read log-probabilities match tokens here. A token is what it says, where that fits;
only else is it undone, so that a text which truly has ``Ã`` is read as it stands.

Sources
    OpenAI's interface (``bytes``; ``bytes:\xe5`` of its first one), SentencePiece (``<0xE5>``), the
    encoder of GPT-2; ollama issue 13497, vLLM issues 19177 and 27300.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

#: What stands for bytes that are no character.
REPLACEMENT = "\N{REPLACEMENT CHARACTER}"

#: What may stand before an option, marks of spaces and lines in vocabularies included.
_AROUND = " \t\n\"'`*ĠĊ▁"

#: Marks of spaces and lines, in tokens that a server leaves as its vocabulary has them.
_SPACES = str.maketrans("ĠĊ▁", " \n ")

_ESCAPE = re.compile(rb"\\x([0-9a-fA-F]{2})|<0x([0-9a-fA-F]{2})>")

#: Characters of a token that are kept for readers.
_LONGEST = 40


class ListedToken(NamedTuple):
    """A token as a server lists it."""

    text: str
    logprob: float
    """Natural logarithm."""
    field_bytes: Sequence[int] | None = None
    """The field ``bytes``."""


class BegunOptions(NamedTuple):
    """Which options a token begins."""

    numbers: list[int]
    certain: bool = True
    """False: the token cannot be read, and may begin any of these."""


def begun_options(token: ListedToken, options: Sequence[str]) -> BegunOptions:
    """Return the numbers of the options that a token may begin.

    Examples
    --------
    >>> begun_options(ListedToken(" old", -1.0), ["old", "young"])
    BegunOptions(numbers=[0], certain=True)
    >>> begun_options(ListedToken("<0xE5>", -1.0), ["她", "他"])
    BegunOptions(numbers=[0], certain=True)
    >>> begun_options(ListedToken("\N{REPLACEMENT CHARACTER}", -1.0), ["old", "她"])
    BegunOptions(numbers=[1], certain=False)
    """
    readings = _readings(token)
    for reading in readings:
        if numbers := [n for n, option in enumerate(options) if _begins(reading, option)]:
            # Of bytes that begin several options, such as E5 of two words, none is told apart.
            return BegunOptions(numbers, len(numbers) == 1 or _decoded(reading) is not None)
    if readings:
        return BegunOptions([])
    return BegunOptions([n for n, option in enumerate(options) if _may_begin(token, option)], False)


def is_readable(token: ListedToken) -> bool:
    """Whether anything tells what a token is."""
    return bool(_readings(token))


def _readings(token: ListedToken) -> list[bytes]:
    """Return what a token may be, the most literal first; nothing of one that cannot be read."""
    spelled = [spell(token) for spell in SPELLINGS]
    return [reading for reading in dict.fromkeys(spelled) if reading is not None]


def printable(token: ListedToken) -> str:
    r"""Return a token for readers, at most 40 characters: bytes of no character as ``\xe5``."""
    reading = _spell_bytes(token) or token.text.encode("utf-8", "replace")
    return reading.decode("utf-8", "backslashreplace")[:_LONGEST]


def _spell_plainly(token: ListedToken) -> bytes | None:
    """Return the text as it stands; None of one that does not say what the token is."""
    if not token.text or REPLACEMENT in token.text:
        return None
    return token.text.translate(_SPACES).encode("utf-8", "replace")


def _spell_bytes(token: ListedToken) -> bytes | None:
    """Return the bytes that are given; some servers give code points, or what they replaced."""
    if not token.field_bytes or any(not 0 <= number < 256 for number in token.field_bytes):
        return _spell_plainly(token)
    spelling = bytes(token.field_bytes)
    return _spell_plainly(token) if REPLACEMENT.encode() in spelling else spelling


def _spell_escaped(token: ListedToken) -> bytes | None:
    plain = _spell_plainly(token)
    if plain is None or not _ESCAPE.search(plain):
        return _spell_bytes(token)
    return _ESCAPE.sub(_unescape, plain.removeprefix(b"bytes:"))


def _unescape(match: re.Match[bytes]) -> bytes:
    return bytes.fromhex((match[1] or match[2]).decode())


def _spell_alphabet(token: ListedToken) -> bytes | None:
    numbers = [_ALPHABET.get(letter) for letter in token.text]
    complete = [number for number in numbers if number is not None]
    return bytes(complete) if complete and len(complete) == len(numbers) else _spell_bytes(token)


#: The ways to spell a token in bytes, the most literal first; each gives None of a token that it
#: cannot read.
SPELLINGS: tuple[Callable[[ListedToken], bytes | None], ...] = (
    _spell_plainly,
    _spell_bytes,
    _spell_escaped,
    _spell_alphabet,
)


def _alphabet() -> dict[str, int]:
    """Return GPT-2's letter → byte: printable ones are themselves, the others from U+0100 on."""
    themselves = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    letters = {chr(number): number for number in themselves}
    unprintable = (number for number in range(256) if number not in themselves)
    return letters | {chr(0x100 + place): number for place, number in enumerate(unprintable)}


_ALPHABET = _alphabet()


def _decoded(reading: bytes) -> str | None:
    try:
        return reading.decode()
    except UnicodeDecodeError:
        return None


def _begins(reading: bytes, option: str) -> bool:
    """Whether a token and an option begin alike, in any case, marks around them left out."""
    text = _decoded(reading)
    if text is None:  # it ends inside a character
        part = reading.lstrip(_AROUND.encode("ascii", "ignore"))
        spellings = {option, option.lower(), option.upper(), option.capitalize()}
        return bool(part) and any(spelling.encode().startswith(part) for spelling in spellings)
    word, text = option.casefold(), text.strip(_AROUND).casefold()
    if not text:
        return False
    return word.startswith(text) or (text.startswith(word) and not text[len(word)].isalpha())


def _may_begin(token: ListedToken, option: str) -> bool:
    """Whether a token that cannot be read may begin an option: it goes on beyond ASCII there."""
    text = token.text.partition(REPLACEMENT)[0].strip(_AROUND).casefold()
    word = option.casefold()
    return word.startswith(text) and not word[len(text) :].isascii()
