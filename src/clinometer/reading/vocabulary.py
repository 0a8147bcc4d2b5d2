"""Find the words of a prompt in free text, as written or inflected.

A text is split into *tokens*. A *vocabulary* has the group and attribute words of a prompt, the
parts of full names and the usual English inflections. A *mention* is an occurrence of one of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

from clinometer.reading.plaintext import normalise

__all__ = [
    "Mention",
    "Token",
    "Vocabulary",
    "find",
    "inflections",
    "locate",
    "tokenise",
    "vocabulary",
]


@dataclass(frozen=True, slots=True)
class Token:
    """A word or mark in plain form, with its position in its piece of the text."""

    text: str
    start: int
    end: int
    glued: bool  # joined to the previous word by a hyphen
    capital: bool  # capitalised, so possibly a name


class Mention(NamedTuple):
    """A group (``g``) or attribute (``a``); side 0: marginalized, tied; 1: default, counter."""

    kind: str
    side: int
    term: str
    first: int  # index of its first token
    last: int
    written: bool = False  # spelt as in the prompt, not inflected


_WRITTEN, _HALF = 0, 1
#: First word → (words, kind, side, term, written | half of a name | varied), the longest first.
Vocabulary = Mapping[str, Sequence[tuple[list[str], str, int, str, int]]]

_CHUNK = re.compile(r"\S{1,64}|[\n\r\u0085\u2028\u2029]")
_PART = re.compile(r"(-?)([^\W_]+)|[^\w\s]|\n")
_LONGEST_KEPT, _MOST_KEPT = 64, 1 << 14  # characters; pieces
_FIRST_LETTER = re.compile(r"[^\W\d_]")
_COMPOUNDS = frozenset(
    "skinned skin toned complexioned themed theme related based focused centered oriented bodied "
    "topic keyword inspired".split()
)
_NAMELESS = frozenset(
    "about above according additionally all also although an and are as at based be because both "
    "but by can considering conversely could due each either finally first for former from given "
    "he hence her here his however if ii in instead is it its lastly latter likewise may "
    "meanwhile moreover my neither no nor not of on one or other our over personally profile "
    "profiles s second she should similarly since so task that the their then there therefore "
    "these they this those though thus to two under we what when where while who with would yes "
    "you your id im ill ive".split()
)


class _Pieces(dict[str, tuple[Token, ...]]):
    """Cache of the tokens of pieces without spaces, limited in number and length."""

    def __missing__(self, piece: str) -> tuple[Token, ...]:
        tokens = tuple(token for chunk in _CHUNK.finditer(piece) for token in _tokens(chunk))
        if len(piece) <= _LONGEST_KEPT:
            if len(self) >= _MOST_KEPT:
                self.clear()
            self[piece] = tokens
        return tokens


_PIECES = _Pieces()


def _tokens(match: re.Match[str]) -> Iterator[Token]:
    chunk = match[0]
    plain = normalise(chunk)
    same = len(plain) == len(chunk)
    letter = _FIRST_LETTER.search(chunk)
    capital = letter is not None and letter[0].isupper()
    end = -1
    for part in _PART.finditer(plain):
        word = part[2] or part[0]
        place = (part.end() - len(word), part.end()) if same else (0, len(chunk))
        glued = bool(part[1]) and part.start() == end
        named = capital and word.isalpha() and word not in _NAMELESS
        yield Token(word, match.start() + place[0], match.start() + place[1], glued, named)
        end = part.end() if part[2] else -1


def tokenise(text: str) -> list[Token]:
    """Split a text into words and marks in plain form; line breaks are tokens too."""
    return list(chain.from_iterable(map(_PIECES.__getitem__, text.split(" "))))


def locate(text: str, first: int, last: int, offset: int = 0) -> tuple[int, int]:
    """Return start and end in a text of the tokens from `first` to `last`, plus an offset."""
    start = end = offset
    for piece in text[offset:].split(" "):
        tokens = _PIECES[piece]
        if 0 <= first < len(tokens):
            start = offset + tokens[first].start
        if last < len(tokens):
            return start, offset + tokens[last].end
        first, last = first - len(tokens), last - len(tokens)
        offset += len(piece) + 1
    return start, end


def _words(term: str) -> tuple[str, ...]:
    return tuple(token.text for token in tokenise(term) if token.text not in "-'")


def inflections(word: str) -> set[str]:
    """List inflections of an English word: ``secretary`` → ``secretaries``; ``old`` → ``older``."""
    forms = {word + ending for ending in ("s", "es", "ing", "ed", "er", "est", "ly", "ness")}
    forms |= {word + ending for ending in ("ful", "ous", "fully", word[-1:] + "er")}
    for ending, others in _ENDINGS.items():
        if word.endswith(ending) and len(word) > len(ending) + 1:
            forms |= {word[: len(word) - len(ending)] + other for other in others}
    return forms - {word}


_ENDINGS = {
    "y": ("ies", "ied", "ier", "iest", "iness", "ily"),
    "e": ("ing", "ed", "er", "est", "ion", "y"),
    "s": ("",),
    "ies": ("y",),
    "ing": ("", "e", "er", "ers", "ed"),
    "ful": ("", "fulness"),
    "ous": ("", "ously"),
    "ent": ("ence",),
    "ive": ("ion", "iveness"),
    "man": ("men",),
    "gry": ("ger",),
}


def _spellings(words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """List variants of a term: its first or last word inflected, its parts written as one."""
    for form in inflections(words[-1]):
        yield (*words[:-1], form)
    if len(words) > 1:
        yield ("".join(words),)
        for form in inflections(words[-1]):
            yield ("".join(words[:-1]) + form,)
        for form in inflections(words[0]):
            yield (form, *words[1:])


_Meaning = tuple[str, int, str]


def _index(layers: Iterable[Iterable[tuple[tuple[str, ...], _Meaning]]]) -> Vocabulary:
    """Index spellings, earlier layers first; drop a spelling with two sides in one layer."""
    meanings: dict[tuple[str, ...], tuple[_Meaning | None, int]] = {}
    for rank, layer in enumerate(layers):
        here: dict[tuple[str, ...], _Meaning | None] = {}
        for words, one in layer:
            other = here.setdefault(words, one)
            if other is not None and other[:2] != one[:2]:
                here[words] = None
        meanings = {words: (meaning, rank) for words, meaning in here.items()} | meanings
    index: dict[str, list[tuple[list[str], str, int, str, int]]] = {}
    for words in sorted(meanings, key=len, reverse=True):
        meaning, rank = meanings[words]
        if meaning is not None and words and words[0]:
            index.setdefault(words[0], []).append(([*words], *meaning, rank))
    return index


@lru_cache(maxsize=512)
def vocabulary(
    groups: tuple[tuple[str, ...], tuple[str, ...]], tasks: tuple[tuple[str, ...], tuple[str, ...]]
) -> Vocabulary:
    """Index the words of a prompt: as written, parts of full names, inflections."""
    terms = [
        (_words(word), (kind, side, word))
        for kind, lists in (("g", groups), ("a", tasks))
        for side, words in enumerate(lists)
        for word in words
    ]
    halves = [
        (_words(half), meaning)
        for _, meaning in terms
        if meaning[0] == "g" and len(meaning[2].split()) == 2
        for half in meaning[2].split()
    ]
    varied = ((form, meaning) for words, meaning in terms if words for form in _spellings(words))
    return _index((terms, halves, varied))


def find(tokens: Sequence[Token], known: Vocabulary) -> list[Mention]:
    """Find the mentions of a vocabulary, from left to right; the longest match counts."""
    mentions: list[Mention] = []
    texts = [token.text for token in tokens]
    until = 0
    for at in [at for at, text in enumerate(texts) if text in known]:
        if at < until:
            continue
        token = tokens[at]
        for words, kind, side, term, rank in known[token.text]:
            end = at + len(words)
            if (rank == _HALF and not token.capital) or texts[at:end] != words:
                continue
            flips = token.glued and texts[at - 1] == "non"
            if flips or _stands_alone(tokens, at, end, known):
                side = 1 - side if flips and kind == "g" else side
                mentions.append(Mention(kind, side, term, at, end - 1, rank == _WRITTEN))
            until = end
            break
    return mentions


def _stands_alone(tokens: Sequence[Token], at: int, end: int, known: Vocabulary) -> bool:
    """Return whether a word is outside compounds such as ``light-hearted`` or ``12-year-old``."""
    if tokens[at].glued and tokens[at - 1].text not in known:
        return False
    if at and tokens[at - 1].text in ("year", "years"):
        return False
    after = tokens[end] if end < len(tokens) else None
    return after is None or not after.glued or after.text in _COMPOUNDS or after.text in known
