"""Rewordings of a prompt that change no person, by small edits, for a person to approve.

Each is about as large an edit as another name is: a word or a few. Frames put something before or
after the prompt; changes of single words keep the meaning. What a prompt says about somebody stands
in its place, ``{person}``, which no edit touches.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher

__all__ = ["edit_size", "reword"]

#: Name → what stands before the prompt, and after it.
_FRAMES = {
    "greeting": ("Hello. ", ""),
    "thanks": ("", " Thank you."),
    "request": ("A request: ", ""),
    "note": ("Please note: ", ""),
    "case": ("The case: ", ""),
    "end": ("", " That is all."),
    "care": ("", " Please take care."),
    "new": ("New today: ", ""),
    "following": ("The following came in. ", ""),
}

_NAMES_OF_NUMBERS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")

#: Words whose synonyms mean something else elsewhere: *as* of *because*, *start* of *begin*.
_ONE_WAY = ("because", "begin", "costs")

_CONTRACTED = {
    "do not": "don't", "does not": "doesn't", "is not": "isn't", "are not": "aren't",
    "cannot": "can't", "will not": "won't", "it is": "it's", "I am": "I'm", "you are": "you're",
    "have not": "haven't", "did not": "didn't", "was not": "wasn't", "we are": "we're",
}  # fmt: skip
_SYNONYMS = {
    "asks for": "requests", "because": "as", "answer": "reply", "shop": "store",
    "wants": "would like", "begin": "start", "buy": "purchase", "assess": "rate",
    "choose": "pick", "costs": "is priced at",
}  # fmt: skip
_MORE_SYNONYMS = {
    "came": "arrived", "big": "large", "job": "position", "quickly": "fast", "only": "just",
    "money": "funds", "review": "look at",
}  # fmt: skip
_NUMBERS = dict(zip(map(str, range(2, 11)), _NAMES_OF_NUMBERS, strict=True))
_SPELLING = {
    "color": "colour", "favor": "favour", "center": "centre", "organize": "organise",
    "apologize": "apologise", "labor": "labour",
}  # fmt: skip


def _turned(words: Mapping[str, str]) -> dict[str, str]:
    """Return the words that stand for others, with those; of some, only what is safe either way."""
    return {other: word for word, other in words.items() if word not in _ONE_WAY}


#: Name → words, and others that mean the same.
_CHANGES: Mapping[str, Mapping[str, str]] = {
    "contracted": _CONTRACTED,
    "written_out": _turned(_CONTRACTED),
    "synonyms": _SYNONYMS,
    "other_synonyms": {**_turned(_SYNONYMS), **_MORE_SYNONYMS},
    "numbers": {**_NUMBERS, **_turned(_NUMBERS)},
    "spelling": {**_SPELLING, **_turned(_SPELLING)},
}

#: A place for a person, which no edit touches.
_PLACE = re.compile(r"(\{\w+\})")


def reword(prompt: str, size: float, count: int) -> dict[str, str]:
    """Return rewordings of a prompt, nearest in size to the edit that another person is.

    Parameters
    ----------
    prompt
        With a place such as ``{person}``.
    size
        Words in which two people of a contrast differ.
    count
        Rewordings, at most.

    Returns
    -------
    dict
        Name → text. Those that differ from the prompt by as many words as `size` come first.

    Examples
    --------
    >>> for name, text in reword("Decide: does {person} get it?", size=2, count=2).items():
    ...     print(f"{name}: {text}")
    thanks: Decide: does {person} get it? Thank you.
    request: A request: Decide: does {person} get it?
    """
    texts = {name: text for name, text in _rewordings(prompt) if text != prompt}
    nearest = sorted(texts, key=lambda name: abs(edit_size(prompt, texts[name]) - size))
    return {name: texts[name] for name in nearest[:count]}


def edit_size(before: str, after: str) -> int:
    """Return how many words two texts differ in.

    >>> edit_size("Anna Berg asks.", "Jane Roth asks."), edit_size("It is late.", "It's late.")
    (2, 2)
    """
    changes = SequenceMatcher(None, before.split(), after.split(), autojunk=False).get_opcodes()
    return sum(max(end - start, to - at) for kind, start, end, at, to in changes if kind != "equal")


def _rewordings(prompt: str) -> Iterator[tuple[str, str]]:
    """Yield all rewordings by name."""
    for name, (before, after) in _FRAMES.items():
        yield name, f"{before}{prompt}{after}"
    for name, words in _CHANGES.items():
        yield name, _exchange(prompt, words)
    yield "lines", re.sub(r"(?<=[.?!]) +", "\n", prompt)


def _exchange(prompt: str, words: Mapping[str, str]) -> str:
    """Exchange whole words, with the capital that a word has; a word is exchanged once."""
    either = "|".join(map(re.escape, sorted(words, key=len, reverse=True)))
    # No part of another word, of a number such as 2,000 or 9:40, or of a price.
    pattern = re.compile(rf"(?<![\w.,:$€£'’-])(?:{either})(?![\w%'’-]|[.,:]\d)", re.IGNORECASE)
    by_folded = {word.casefold(): text for word, text in words.items()}

    def exchanged(match: re.Match[str]) -> str:
        """Return the word in the place of another."""
        word = by_folded[match[0].casefold()]
        return word[0].upper() + word[1:] if match[0][0].isupper() else word

    parts = _PLACE.split(prompt)  # places stand at odd numbers
    parts[::2] = [pattern.sub(exchanged, part) for part in parts[::2]]
    return "".join(parts)
