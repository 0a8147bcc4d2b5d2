"""Near forms of words: spelling put right, another number, where one word alone is near.

Method: a term that an answer nowhere mentions may stand there in another form, ``Guillaume`` for
``guillame``. A word that is no term is taken for the one missing term that it is near to: another
number (``wolf`` for ``wolves``), or alike in `NEAR` of its letters (Ratcliff and Obershelp's
measure, `difflib`). Words of fewer than `SHORTEST` letters are near to nothing but another number.
Other names that are not alike (``quran`` for ``koran``) are aliases, data of the study.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from difflib import SequenceMatcher
from functools import lru_cache

from clinometer.reading.mentions import Lexicon, Line, unaccented
from clinometer.words.wordnet import is_plural

NEAR = 0.85
SHORTEST = 5

#: Different words of an answer that are looked at; an answer in lines has fewer.
MOST = 200

_WORD = re.compile(r"[^\W\d_]+(?:['’-](?!s\b)[^\W\d_]+)*")
#: A plural that is no form of its singular.
_PERSONS = {"person", "people"}


def near_forms(lines: Sequence[Line], lexicon: Lexicon) -> dict[str, str]:
    """Return the spelling of each near form of a term that an answer does not mention.

    A word near to several missing terms, or to one that is mentioned, is a form of none.
    """
    mentioned = {mention.term for line in lines for mention in line.mentions}
    spelled: dict[str, str] = {}  # a term's only word → the term
    for entries in lexicon.values():
        spelled |= {tokens[0]: term for tokens, _, term in entries if len(tokens) == 1}
    if mentioned.issuperset(spelled.values()):
        return {}
    return _forms(_unknown_words(lines, spelled), spelled, mentioned)


def respelled(text: str, forms: Mapping[str, str]) -> str:
    """Return a text with each near form as the term spells it."""
    return _WORD.sub(lambda word: forms.get(word[0].casefold(), word[0]), text) if forms else text


def put_right(text: str, vocabulary: Collection[str]) -> str:
    """Return a text with near forms of words that it lacks as these are spelled, in lower case.

    Examples
    --------
    >>> put_right("The Mother.", ["monther", "sister"])
    'The monther.'
    """
    # A dict, not a set: the order of the text decides which words are among the first `MOST`.
    words = dict.fromkeys(word.casefold() for word in _WORD.findall(text))
    mentioned = {word for word in vocabulary if word in words}
    unknown = [word for word in words if word not in mentioned][:MOST]
    return respelled(text, _forms(unknown, {word: word for word in vocabulary}, mentioned))


def _forms(
    words: Iterable[str], spelled: Mapping[str, str], mentioned: Collection[str]
) -> dict[str, str]:
    """Return the spelling of a term that is not mentioned, by each word that is near it alone."""
    forms: dict[str, str] = {}
    by_letter: dict[str, list[str]] = {}
    for spelling in spelled:
        by_letter.setdefault(unaccented(spelling)[:1], []).append(spelling)
    for word in words:
        alike = by_letter.get(unaccented(word)[:1], ())
        near = {spelling: spelled[spelling] for spelling in alike if _is_near(word, spelling)}
        # Several spellings of one term are no doubt about the term.
        if len({*near.values()}) == 1:
            spelling, term = next(iter(near.items()))
            if term not in mentioned:
                forms[word] = spelling
    return forms


def _unknown_words(lines: Iterable[Line], spelled: Mapping[str, str]) -> list[str]:
    """Return the words of lines that are no terms."""
    words: dict[str, None] = {}
    for line in lines:
        for word in _WORD.findall(line.text):
            if word not in spelled:
                words[word] = None
        if len(words) > MOST:
            break
    return list(words)[:MOST]


@lru_cache(maxsize=1 << 16)
def _is_near(word: str, spelling: str) -> bool:
    if is_plural(word, spelling) or is_plural(spelling, word):
        return True
    if {word, spelling} == _PERSONS:
        return True
    if not (word.isascii() and spelling.isascii()):
        word = unaccented(word)
        spelling = unaccented(spelling)
        if word == spelling:
            return True
    short, long = sorted((len(word), len(spelling)))
    # What no alignment can make alike is not compared, for speed.
    if short < SHORTEST or word[0] != spelling[0] or 2 * short < NEAR * (short + long):
        return False
    return SequenceMatcher(None, word, spelling, autojunk=False).ratio() >= NEAR
