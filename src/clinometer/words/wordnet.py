"""WordNet 3.0 as a list of words: which words are known, and the lemma of an inflected noun.

Lookup follows WordNet's *morphy* (morphy(7WN)) as implemented in nltk 3.8.1: first the lists of
exceptions (``noun.exc`` etc.), then suffix rules, repeated until a form is known. Only lemmas are
used, no senses. Data, source and licence: ``wordnet30/README.md``.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterable
from functools import cache
from importlib.resources import files

_WORDNET = files("clinometer.words") / "wordnet30"
#: Part of speech → its letter in the list of lemmas, and its rules: ending → replacement.
RULES = {
    "noun": ("n", (("s", ""), ("ses", "s"), ("ves", "f"), ("xes", "x"), ("zes", "z"),
                   ("ches", "ch"), ("shes", "sh"), ("men", "man"), ("ies", "y"))),
    "verb": ("v", (("s", ""), ("ies", "y"), ("es", "e"), ("es", ""), ("ed", "e"), ("ed", ""),
                   ("ing", "e"), ("ing", ""))),
    "adj": ("a", (("er", ""), ("est", ""), ("er", "e"), ("est", "e"))),
    "adv": ("r", ()),
}  # fmt: skip


@cache
def lemmas() -> dict[str, str]:
    """Read the 147,306 lemmas → letters of their parts of speech."""
    packed = (_WORDNET / "wordnet30_lemmas.tsv.gz").read_bytes()
    # Lines end with a line feed only: splitlines() would also cut at other separators.
    lines = gzip.decompress(packed).decode("utf-8").rstrip("\n").split("\n")
    return dict(line.split("\t") for line in lines)


@cache
def _exceptions(part: str) -> dict[str, list[str]]:
    """Read the irregular forms of a part of speech → their lemmas."""
    lines = (_WORDNET / f"{part}.exc").read_text("utf-8").split("\n")
    rows = [line.split() for line in lines]
    return {row[0]: row[1:] for row in rows if row}


def is_lemma(form: str) -> bool:
    """Return whether a form, lower-cased and with underscores for spaces, is a lemma."""
    return form in lemmas()


def is_plural(plural: str, singular: str) -> bool:
    """Return whether a word, lower-cased, may be the plural of a noun.

    Examples
    --------
    >>> is_plural("wolves", "wolf"), is_plural("women", "woman"), is_plural("wolf", "wolves")
    (True, True, False)
    """
    if singular in _exceptions("noun").get(plural, ()):
        return True
    _, rules = RULES["noun"]
    return any(plural.endswith(end) and plural[: -len(end)] + new == singular for end, new in rules)


def in_wordnet(words: Iterable[str]) -> set[str]:
    """Select the words that WordNet knows, inflected or not, as any part of speech.

    Case is ignored; a space matches WordNet's underscore. Words are returned as spelt.

    Examples
    --------
    >>> sorted(in_wordnet(["ice cream", "Mice", "went", "asdfgh"]))
    ['Mice', 'ice cream', 'went']
    """
    return {word for word in words if _is_listed(word.lower().replace(" ", "_"))}


def _is_listed(form: str) -> bool:
    """Whether a form is a lemma, or an inflected form of one."""
    return is_lemma(form) or any(_morphy(form, part) for part in RULES)


def lemma(word: str) -> str:
    """Return the shortest noun that a word may be a form of, as nltk does, else the word itself.

    The word is lower-cased, words of a phrase are joined by underscores. The shortest noun is not
    always the right one: "boss" gives "bos" (the genus of oxen), "us" gives "u", and "men" stays
    because it is listed as a noun.

    Examples
    --------
    >>> [lemma(word) for word in ("dogs", "women", "hands", "old")]
    ['dog', 'woman', 'hand', 'old']
    """
    return min(_morphy(word, "noun"), key=len, default=word)


def _morphy(form: str, part: str) -> list[str]:
    """List the lemmas of a part of speech that a form may belong to."""
    letter, rules = RULES[part]
    # A form that has an exception is never shortened, as nltk has it: "axes" gives "ax" and "axis".
    if form in _exceptions(part):
        return _select_lemmas([form, *_exceptions(part)[form]], letter)
    forms = _shortened_forms([form], rules)
    matches = _select_lemmas([form, *forms], letter)
    while forms and not matches:
        forms = _shortened_forms(forms, rules)
        matches = _select_lemmas(forms, letter)
    return matches


def _select_lemmas(forms: Iterable[str], letter: str) -> list[str]:
    """Return those forms, each once, that are lemmas of the part of speech with a letter."""
    return [form for form in dict.fromkeys(forms) if letter in lemmas().get(form, "")]


def _shortened_forms(forms: Iterable[str], rules: Iterable[tuple[str, str]]) -> list[str]:
    """Return every form with its ending replaced, by each rule that fits it."""
    shortened = []
    for form in forms:
        for ending, replacement in rules:
            if form.endswith(ending):
                shortened.append(form[: -len(ending)] + replacement)
    # Each form once: otherwise the forms of a word like "seseses…" would double with every rule.
    return list(dict.fromkeys(shortened))
