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

from clinometer.reading.plaintext import EMOJI_PARTS, normalise, split_joiners


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
    verbatim: bool = False  # spelt as in the prompt, not inflected


# Ranks of the layers of a vocabulary.
_VERBATIM = 0
_HALF = 1
#: First word → (words, kind, side, term, verbatim | half of a name | varied), the longest first.
Vocabulary = Mapping[str, Sequence[tuple[list[str], str, int, str, int]]]

_CHUNK = re.compile(r"\S{1,64}|[\n\r\u0085\u2028\u2029]")
_PART = re.compile(r"(-?)([^\W_]+)|[^\w\s]|\n")
_LONGEST_CACHED = 64  # characters
_CACHE_SIZE = 1 << 14  # pieces
_FIRST_LETTER = re.compile(r"[^\W\d_]")
_COMPOUNDS = frozenset(
    "skinned skin toned complexioned themed theme related based focused centered oriented bodied "
    "topic keyword inspired".split()
)
_NAMELESS = frozenset(
    "age background education family gender hobbies keywords name occupation personality "
    "recommendation role task "
    "about above according additionally all also although an and are as at based be because both "
    "but by can considering conversely could due each either finally first for former from given "
    "he hence her here his however if ii in instead is it its lastly latter likewise "
    "meanwhile moreover my neither no nor not of on one or other our over personally profile "
    "profiles s second she should similarly since so task that the their then there therefore "
    "these they this those though thus to two under we what when where while who with would yes "
    "you your id im ill ive".split()
)

#: Given names that are also words.
NAME_WORDS = frozenset(
    "amber angel april art ash august autumn bill brook buck chance charity chase clay cliff "
    "crystal daisy dale dawn dean drew earl faith forest frank gene ginger grace grant guy "
    "harry hazel heath holly hope hunter iris ivy jack jade jewel joy june lance lane lily mark "
    "mason max may melody mercy miles nick norm olive pat patience pearl penny pierce prudence "
    "ray reed rich river rob robin rose ruby sage sandy skip sky star sue summer sunny trey "
    "victor violet wade will willow winter".split()
)
_MODALS = frozenset(("may", "will"))
#: After a name no verb is left out, so that these follow a word: "mark my", "may I".
_AFTER_WORDS = frozenset(
    "a all an any both each either every everyone he her him his i it its me my of our she some "
    "that the their them there these they this those under us we you your".split()
)
_ENDS = frozenset(".!?\n")


class _Pieces(dict[str, tuple[Token, ...]]):
    """Cache of the tokens of pieces without spaces, limited in number and length."""

    def __missing__(self, piece: str) -> tuple[Token, ...]:
        tokens = tuple(token for chunk in _CHUNK.finditer(piece) for token in _tokens(chunk))
        if len(piece) <= _LONGEST_CACHED:
            if len(self) >= _CACHE_SIZE:  # cheaper than to find what was used least
                self.clear()
            self[piece] = tokens
        return tokens


_PIECES = _Pieces()


def _tokens(match: re.Match[str]) -> Iterator[Token]:
    chunk = match[0]
    plain = normalise(chunk)
    # Where the plain form is longer or shorter, a word's place is that of its chunk.
    same = len(plain) == len(chunk)
    letter = _FIRST_LETTER.search(chunk)
    capital = letter is not None and letter[0].isupper()
    end = -1
    for part in _PART.finditer(plain):
        word = part[2] or part[0]
        place = (part.end() - len(word), part.end()) if same else (0, len(chunk))
        glued = bool(part[1]) and part.start() == end
        is_name = capital and word.isalpha() and word not in _NAMELESS
        yield Token(word, match.start() + place[0], match.start() + place[1], glued, is_name)
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
        first -= len(tokens)
        last -= len(tokens)
        offset += len(piece) + 1
    return start, end


def _words(term: str) -> tuple[str, ...]:
    return tuple(token.text for token in tokenise(term) if token.text not in "-'")


def inflections(word: str) -> set[str]:
    """List inflections of an English word: ``secretary`` → ``secretaries``; ``old`` → ``older``."""
    forms = {word + ending for ending in ("s", "es", "ing", "ed", "er", "est", "ly", "ness")}
    forms |= {word + ending for ending in ("ful", "ous", "fully", word[-1:] + "er")}
    for ending, replacements in _ENDINGS.items():
        if word.endswith(ending) and len(word) > len(ending) + 1:
            forms |= {word[: len(word) - len(ending)] + replacement for replacement in replacements}
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


def _index_layers(layers: Iterable[Iterable[tuple[tuple[str, ...], _Meaning]]]) -> Vocabulary:
    """Index spellings, earlier layers first; drop a spelling with two sides in one layer."""
    meanings: dict[tuple[str, ...], tuple[_Meaning | None, int]] = {}
    for rank, layer in enumerate(layers):
        layer_meanings: dict[tuple[str, ...], _Meaning | None] = {}
        for words, meaning in layer:
            earlier = layer_meanings.setdefault(words, meaning)
            if earlier is not None and earlier[:2] != meaning[:2]:
                layer_meanings[words] = None
        # The right operand wins: a spelling keeps its meaning in an earlier layer, even if none.
        meanings = {words: (meaning, rank) for words, meaning in layer_meanings.items()} | meanings
    index: dict[str, list[tuple[list[str], str, int, str, int]]] = {}
    for words in sorted(meanings, key=len, reverse=True):
        agreed, rank = meanings[words]
        if agreed is not None and words and words[0]:
            index.setdefault(words[0], []).append(([*words], *agreed, rank))
    return index


@lru_cache(maxsize=512)
def vocabulary(
    groups: tuple[tuple[str, ...], tuple[str, ...]], tasks: tuple[tuple[str, ...], tuple[str, ...]]
) -> Vocabulary:
    """Index the words of a prompt: as written, parts of full names, inflections."""
    terms: list[tuple[tuple[str, ...], _Meaning]] = []
    for kind, lists in (("g", groups), ("a", tasks)):
        for side, words in enumerate(lists):
            terms += [(_words(word), (kind, side, word)) for word in words]
    halves: list[tuple[tuple[str, ...], _Meaning]] = []
    for _, meaning in terms:
        names = meaning[2].split()
        if meaning[0] == "g" and len(names) == 2:  # first and last name
            halves += [(_words(name), meaning) for name in names]
    varied: list[tuple[tuple[str, ...], _Meaning]] = []
    for words, meaning in terms:
        # "Hoped" is not Hope.
        is_name = meaning[2] != meaning[2].lower() and NAME_WORDS.issuperset(words)
        if words and not is_name:
            varied += [(form, meaning) for form in _spellings(words)]
    varied += [(_words(split_joiners(meaning[2])), meaning) for _, meaning in terms]
    return _index_layers((terms, halves, varied))


def opens_sentence(tokens: Sequence[Token], position: int) -> bool:
    """Return whether a name opens a sentence as the word that it also is: ``Mark my words``."""
    text = tokens[position].text
    if text not in NAME_WORDS or (position and tokens[position - 1].text not in _ENDS):
        return False
    after = tokens[position + 1] if position + 1 < len(tokens) else None
    return after is not None and (after.text in _AFTER_WORDS or (text in _MODALS and after.capital))


def find(tokens: Sequence[Token], vocabulary: Vocabulary) -> list[Mention]:
    """Find the mentions of a vocabulary, from left to right; the longest match counts.

    Where a text writes group words with a capital, ``will`` is not Will, nor ``hope`` Hope.
    """
    mentions: list[Mention] = []
    texts = [token.text for token in tokens]
    cased = any(token.capital and _is_group(vocabulary.get(token.text, ())) for token in tokens)
    until = 0
    for position, token in enumerate(tokens):
        if position < until or token.text not in vocabulary:
            continue
        for words, kind, side, term, rank in vocabulary[token.text]:
            end = position + len(words)
            if (rank == _HALF and not token.capital) or texts[position:end] != words:
                continue
            if kind == "g" and end == position + 1 and _is_word(tokens, position, term, cased):
                continue
            flips = token.glued and texts[position - 1] == "non"
            if flips or _stands_alone(tokens, position, end, vocabulary):
                side = 1 - side if flips and kind == "g" else side
                mentions.append(Mention(kind, side, term, position, end - 1, rank == _VERBATIM))
            until = end
            break
    return mentions


def _is_group(entries: Iterable[tuple[list[str], str, int, str, int]]) -> bool:
    return any(entry[1] == "g" for entry in entries)


def _is_word(tokens: Sequence[Token], position: int, term: str, cased: bool) -> bool:
    """Return whether a name stands here as the word that it also is."""
    token = tokens[position]
    if token.capital:
        return opens_sentence(tokens, position)
    # Of terms that the study writes small, such as flowers, only verbs are told apart.
    is_name = term != term.lower() or token.text in _MODALS
    return cased and is_name and token.text in NAME_WORDS


def _stands_alone(tokens: Sequence[Token], position: int, end: int, vocabulary: Vocabulary) -> bool:
    """Return whether a word is outside compounds such as ``light-hearted`` or ``12-year-old``."""
    before = tokens[position - 1] if tokens[position].glued else None
    if before is not None and before.text not in vocabulary:
        # "Harold-grief" gives a task to somebody, but "half-black" is another word.
        if not before.capital or _is_group(vocabulary[tokens[position].text]):
            return False
    if position and tokens[position - 1].text in ("year", "years"):
        return False
    after = tokens[end] if end < len(tokens) else None
    if position and tokens[position - 1].text == "\u200d":  # the emoji before goes on
        return False
    if after is not None and after.text in EMOJI_PARTS:
        return False
    return after is None or not after.glued or after.text in _COMPOUNDS or after.text in vocabulary
