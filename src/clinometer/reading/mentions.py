"""Find the words of a prompt in the lines of an answer, and classify the text between them.

A line becomes *mentions* (``a``: a word to be paired, ``g``: a group) and the *gaps* around them.
Mentions are whole words; the longest match counts.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from clinometer.reading.plaintext import EMOJI_PARTS, normalise, split_joiners


class LineMention(NamedTuple):
    """A word or group of the prompt, with its position in a line."""

    kind: str  # "a" a word to be paired, "g" a group
    term: str
    start: int
    end: int


class Gap(NamedTuple):
    """The text before, between or after mentions."""

    kind: str  # link | list | space | stop | words
    opens: str  # a row may start here, after this text: "" | "," | ":"
    closes: bool  # a row may end here


class Line(NamedTuple):
    """A line with its mentions and the gaps around them."""

    text: str
    mentions: list[LineMention]
    gaps: list[Gap]  # one more than mentions: before, between, after
    kinds: str  # kinds of the mentions: "ag" for a word followed by a group


#: First token → (tokens, kind, term), the longest first.
Lexicon = dict[str, list[tuple[tuple[str, ...], str, str]]]

#: A word and its group.
Pair = tuple[str, str]

_TOKEN = re.compile(r"[^\W_]+|[^\w\s]")
LETTERS = re.compile(r"[^\W\d_]+")
_NON = re.compile(r"\bnon(?=[^\W\d_]{5})")
#: Letters of names that have no accent to leave out.
_PLAIN_LETTERS = str.maketrans("øłđıħŧ", "oldiht")
_NEUTRAL = frozenset(" \t\n\v\f\u3000\"'`*_\\#•·●▪◦‣0123456789")
_UNCLOSING = _NEUTRAL | {")", "]"}  # "julia (home) is here" goes on
_LISTS = frozenset(",;/&+)]}、")
_STOPS = frozenset(".!?。")
_OPENERS = frozenset(":;.!?()[]{}<>|")
_CONJUNCTIONS = frozenset(("and", "or", "nor", "vs"))
_NEGATIONS = frozenset(
    "not no non never neither nor without "
    "cannot cant dont doesnt isnt wont wouldnt shouldnt".split()
)
_PREAMBLE = 6  # words allowed before "julia: home, wedding"
# A JSON key or a column label is not prose. Text after a key such as "reason" is prose, so those
# keys count as words. X and S are labels in the prompts of Li et al. 2025.
_LABEL = re.compile(
    r"""(["'])(?!reason|expla|rational|justif|why|note|comment)[\w -]{1,40}\1\s{0,8}:"""
    r"|\b(?:(?:assigned|associated|chosen|matching|my|selected|your) )?(?:words?|groups?|choice"
    r"|pick|name|answer|category|label|attribute|item|option|identifier|person|assigned)"
    r" {0,2}\d{0,3} {0,2}[:=]"
    r"|(?<![\w'-])[xs](?:_?[ab\d]{1,3})? {0,2}(?:[:=]|-+>)"
)


def spellings(term: str) -> set[tuple[str, ...]]:
    """Return the token sequences that spell a term: ``min-jun kim``, ``minjun kim``, ``minjunkim``.

    Accents may be dropped: ``martin`` matches ``martín``. For a joiner, U+200C or U+200D, there may
    be a space or nothing.
    """
    plain = normalise(term)
    parts = plain.split()
    forms = (
        plain,
        "".join(parts),
        " ".join(re.sub("[-'_]", "", part) for part in parts),
        split_joiners(term),
        _NON.sub("non-", plain),  # gender-nonconforming, gender non-conforming
        unaccented(plain),
    )
    sequences = [_spelling_tokens(form) for form in forms]
    return {*sequences, ("".join(sequences[0]),)} - {(), ("",)}


def _spelling_tokens(form: str) -> tuple[str, ...]:
    return tuple(token for token in _TOKEN.findall(form) if token not in "-'")


def unaccented(text: str) -> str:
    """Return a text in plain form without the accents of Latin and Greek; its length stays."""
    if text.isascii():
        return text
    return "".join(map(_unaccented, text)).translate(_PLAIN_LETTERS)


@lru_cache(maxsize=4096)
def _unaccented(letter: str) -> str:
    base, *marks = list(unicodedata.normalize("NFD", letter))
    return base if marks and base < "\u0400" and all(map(unicodedata.combining, marks)) else letter


def index(words: Iterable[tuple[str, str, str]]) -> Lexicon:
    """Index (word, kind, term) by first token; the first of equal spellings counts."""
    spelled: dict[tuple[str, ...], tuple[str, str]] = {}
    for word, *meaning in words:
        for tokens in spellings(word):
            spelled.setdefault(tokens, (meaning[0], meaning[1]))
    lexicon: Lexicon = {}
    for tokens in sorted(spelled, key=len, reverse=True):
        lexicon.setdefault(tokens[0], []).append((tokens, *spelled[tokens]))
    return lexicon


def find_mentions(line: str, lexicon: Lexicon) -> list[LineMention]:
    """Find terms of the lexicon in a line, from left to right; the longest match counts.

    What a term does not spell may be one with accents that the answer adds: ``garcía``.
    """
    mentions = _find_spelled(line, lexicon)
    # `unaccented` keeps the length, so places in the plain line are places in the line.
    if line.isascii() or (plain := unaccented(line)) == line:
        return mentions
    accented = [
        mention for mention in _find_spelled(plain, lexicon) if not _overlaps(mention, mentions)
    ]
    return sorted([*mentions, *accented], key=lambda mention: mention.start)


def _overlaps(mention: LineMention, mentions: Iterable[LineMention]) -> bool:
    return any(mention.start < rival.end and rival.start < mention.end for rival in mentions)


def _find_spelled(line: str, lexicon: Lexicon) -> list[LineMention]:
    tokens = list(_TOKEN.finditer(line))
    mentions: list[LineMention] = []
    position = 0
    while position < len(tokens):
        for spelling, kind, term in lexicon.get(tokens[position].group(), ()):
            last = _match_spelling(line, tokens, position, spelling)
            if last is not None and not _goes_on(tokens, position, last):
                mentions.append(
                    LineMention(kind, term, tokens[position].start(), tokens[last].end())
                )
                position = last
                break
        position += 1
    return mentions


def _goes_on(tokens: list[re.Match[str]], first: int, last: int) -> bool:
    """Return whether the emoji at an end of a mention is a part of a longer one."""
    follows_joiner = first > 0 and tokens[first - 1].group() == "\u200d"
    return follows_joiner or (last + 1 < len(tokens) and tokens[last + 1].group() in EMOJI_PARTS)


def _match_spelling(
    line: str, tokens: list[re.Match[str]], position: int, spelling: tuple[str, ...]
) -> int | None:
    """Return the index of the last token if `spelling` occurs here without gaps."""
    end = tokens[position].end()
    for part in spelling[1:]:
        position += 1
        if (
            position < len(tokens)
            and tokens[position].group() in "-'"
            and tokens[position].start() == end
        ):
            position += 1
        if position == len(tokens) or tokens[position].group() != part:
            return None
        between = line[end : tokens[position].start()]
        if between.strip() and between not in ("-", "'", "_"):
            return None
        end = tokens[position].end()
    return position


def read_line(text: str, lexicon: Lexicon) -> Line:
    """Find the mentions in a line and classify the gaps."""
    mentions = find_mentions(text, lexicon)
    starts = [*(mention.start for mention in mentions), len(text)]
    ends = [0, *(mention.end for mention in mentions)]
    gaps = [_gap(text[e:s]) for e, s in zip(ends, starts, strict=True)]
    return Line(text, mentions, gaps, "".join(mention.kind for mention in mentions))


#: What stands before a name and is no word of its own.
_TITLE = re.compile(
    r"\b(?:mr|mrs|ms|miss|mister|dr|doctor|prof|professor|sir|madam|sr|sra|senor|senora|señor"
    r"|señora|don|herr|frau|monsieur|madame|mme|mlle)\b\.?(?=\s*\Z)"
)


def _gap(text: str) -> Gap:
    # Short gaps recur; long ones would only fill the cache.
    return _short_gap(text) if len(text) < 32 else _classify(text)


def _classify(text: str) -> Gap:
    """Classify the text between two mentions."""
    if LETTERS.search(text):
        text = _LABEL.sub(":", _TITLE.sub("", text))
    words = LETTERS.findall(text)
    joins = bool(words) and _CONJUNCTIONS.issuperset(words)
    if words and not joins and not (words[0] in ("or", "nor") and len(words) < 4):
        return _prose_gap(text, words)
    marks = set(text) - _NEUTRAL
    if words or marks <= _LISTS:
        return Gap("list" if marks else "space", ":", True)
    stops = marks <= _LISTS | _STOPS and ".." not in text
    return Gap("stop" if stops else "link", ":", True)


def _prose_gap(text: str, words: list[str]) -> Gap:
    """Return the gap of a text with words: a row may start after a colon or comma at its end."""
    head = text[: text.index(words[0])]
    tail = text[text.rindex(words[-1]) + len(words[-1]) :]
    example = words[-2:] in (["e", "g"], ["i", "e"])
    opens = "," if "," in tail else ""
    if not example and _OPENERS.intersection(tail):
        opens = ":"
    return Gap("words", opens, not _UNCLOSING.issuperset(head))


_short_gap = lru_cache(maxsize=4096)(_classify)


def introduces(preamble: str) -> bool:
    """Return whether a text may introduce a list: short and without a negation."""
    words = LETTERS.findall(preamble[:200])
    return len(words) <= _PREAMBLE and _NEGATIONS.isdisjoint(words)
