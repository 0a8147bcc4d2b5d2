"""Near forms of words: spelling put right, another number, where one word alone is near.

Method: a term that an answer nowhere mentions may stand there in another form, ``Guillaume`` for
``guillame``. A word that is no term is taken for the one missing term that it is near to: another
number (``parent`` for ``parents``), or alike in `NEAR` of its letters (Ratcliff and Obershelp's
measure, `difflib`). Words of fewer than `SHORTEST` letters are near to nothing but another number.
Other names that are not alike (``quran`` for ``koran``) are aliases, data of the study.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from difflib import SequenceMatcher
from functools import lru_cache

from clinometer.reading.mentions import Lexicon, Line, unaccented

__all__ = ["near_forms", "put_right", "respelled"]

NEAR, SHORTEST = 0.85, 5

#: Different words of an answer that are looked at; an answer in lines has fewer.
MOST = 200

_WORD = re.compile(r"[^\W\d_]+(?:['’-](?!s\b)[^\W\d_]+)*")
_NUMBER = {"man": "men", "woman": "women", "person": "people", "child": "children", "wife": "wives",
           "life": "lives"}  # fmt: skip
_OF_NUMBER = {**_NUMBER, **{many: one for one, many in _NUMBER.items()}}


def near_forms(lines: Sequence[Line], lexicon: Lexicon) -> dict[str, str]:
    """Return the spelling of each near form of a term that an answer does not mention.

    A word near to several missing terms, or to one that is mentioned, is a form of none.
    """
    mentioned = {mention.term for line in lines for mention in line.mentions}
    entries = [entry for of_token in lexicon.values() for entry in of_token]
    spelled = {tokens[0]: term for tokens, _, term in entries if len(tokens) == 1}
    if mentioned.issuperset(spelled.values()):
        return {}
    return _forms(_others(lines, spelled), spelled, mentioned)


def respelled(text: str, forms: Mapping[str, str]) -> str:
    """Return a text with each near form as the term spells it."""
    return _WORD.sub(lambda word: forms.get(word[0].casefold(), word[0]), text) if forms else text


def put_right(text: str, known: Collection[str]) -> str:
    """Return a text with near forms of words that it lacks as these are spelled, in lower case.

    Examples
    --------
    >>> put_right("The Mother.", ["monther", "sister"])
    'The monther.'
    """
    words = dict.fromkeys(word.casefold() for word in _WORD.findall(text))
    there = {word for word in known if word in words}
    others = [word for word in words if word not in there][:MOST]
    return respelled(text, _forms(others, {word: word for word in known}, there))


def _forms(
    words: Iterable[str], spelled: Mapping[str, str], mentioned: Collection[str]
) -> dict[str, str]:
    """Return the spelling of a term that is not mentioned, by each word that is near it alone."""
    forms: dict[str, str] = {}
    beginning: dict[str, list[str]] = {}
    for known in spelled:
        beginning.setdefault(unaccented(known)[:1], []).append(known)
    for word in words:
        alike = beginning.get(unaccented(word)[:1], ())
        near = {known: spelled[known] for known in alike if _is_near(word, known)}
        if len({*near.values()}) == 1:
            known, term = next(iter(near.items()))
            if term not in mentioned:
                forms[word] = known
    return forms


def _others(lines: Iterable[Line], spelled: Mapping[str, str]) -> list[str]:
    """Return the words of lines that are no terms."""
    words: dict[str, None] = {}
    for line in lines:
        words.update(
            dict.fromkeys(word for word in _WORD.findall(line.text) if word not in spelled)
        )
        if len(words) > MOST:
            break
    return list(words)[:MOST]


@lru_cache(maxsize=1 << 16)
def _is_near(word: str, known: str) -> bool:
    if _OF_NUMBER.get(word) == known:
        return True
    if not (word.isascii() and known.isascii()):
        word, known = unaccented(word), unaccented(known)
        if word == known:
            return True
    short, long = sorted((len(word), len(known)))
    # What no alignment can make alike is not compared, for speed.
    if short < SHORTEST or word[0] != known[0] or 2 * short < NEAR * (short + long):
        return False
    return SequenceMatcher(None, word, known, autojunk=False).ratio() >= NEAR
