"""The steps of cleaning, applied to the text of a single cue or response.

Each step is a function text → text. `lwow_` versions reproduce the released code of LWOW
(github.com/LLMWorldOfWords/LWOW, ``reproducibility/FA_Functions.py``, April 2025).

WordNet 3.0 serves as a word list: it gives the known words and the lemma of an inflected noun.
Lookup follows WordNet's *morphy* (morphy(7WN)) as implemented in nltk 3.8.1, with which the
published networks were built: first the lists of exceptions (``noun.exc`` etc.), then suffix rules,
repeated until a form is known. Only lemmas are used, no senses. Data, source and licence:
``wordnet/README.md``.
"""

from __future__ import annotations

import gzip
import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path

from clinometer.errors import InputError
from clinometer.networks.delimited import fields

__all__ = ["COUNTRIES", "in_wordnet", "lemma", "read_spelling", "rewriter", "without_articles"]

Rewriter = Callable[[str], str]

#: Name of a country in WordNet 3.0 → other names that are replaced by it. Ambiguous names are left
#: out: "us" may be the pronoun, "america" the continent, "great britain" and "england" are parts of
#: the kingdom, "holland" of the Netherlands; "Burma" and "Myanmar" differ in connotation.
_COUNTRIES = {
    "usa": ("u.s.", "u.s", "u.s.a.", "u.s.a", "united states", "united states of america",
            "the united states", "the united states of america"),
    "uk": ("u.k.", "u.k", "united kingdom", "the united kingdom"),
    "ussr": ("u.s.s.r.", "u.s.s.r", "soviet union", "the soviet union"),
    "netherlands": ("the netherlands",),
    "czech republic": ("czechia", "the czech republic"),
    "china": ("people's republic of china",),
    "south korea": ("republic of korea",),
    "north korea": ("dprk",),
    "ireland": ("republic of ireland",),
}  # fmt: skip
COUNTRIES = {name: kept for kept, names in _COUNTRIES.items() for name in names}
ARTICLES = ("a ", "an ", "the ", "to ")
#: Plurals that WordNet lists as separate nouns, or knows only outside phrases.
PLURALS = {"men": "man", "hands": "hand"}
#: Words that WordNet's rules wrongly reduce to a noun: "ha", "it", "wa".
NO_NOUNS = frozenset({"has", "its", "was"})

_JUNK = re.compile(r"[^\w '-]|_")
_EDGES = re.compile(r"^[\W_]+|[^\w.]+$|_+$")
_ABBREVIATION = re.compile(r"(?:[^\W\d_]\.)+[^\W\d_]?")


def rewriter(step: str, spelling: Mapping[str, str], lwow_compatible: bool) -> Rewriter:
    """Return the function of a step; for a step that only drops answers, `str` (no change)."""
    ours: dict[str, Rewriter] = {
        "lower_case": str.lower,
        "underscores": lambda text: text.replace("_", " "),
        "punctuation": _punctuation,
        "spaces": _spaces,
        "spelling": lambda text: spelling.get(text, text),
        "countries": lambda text: COUNTRIES.get(text, text),
        "lemmas": _noun,
    }
    theirs: dict[str, Rewriter] = {
        "spaces": lambda text: _lwow_apart().get(text, text),
        "lemmas": lambda text: lemma(text).replace("men", "man").replace("hands", "hand"),
    }
    return (ours | theirs if lwow_compatible else ours).get(step, str)


def read_spelling(spelling: str | Path | Mapping[str, str] | None) -> dict[str, str]:
    """Read misspellings and their corrections, lower-cased as in LWOW.

    A table has two columns (commas or tabs), with or without a header ``wrong, right``. The last of
    several corrections of a word is used. Raises InputError if it does not have two columns.
    """
    if spelling is None:
        return {}
    if isinstance(spelling, Mapping):
        pairs = [[wrong, right] for wrong, right in spelling.items()]
    else:
        pairs = [record for _, record in fields(Path(spelling))]
        if pairs and len(pairs[0]) != 2:
            raise InputError(
                f"{spelling}: {len(pairs[0])} columns; a spelling table has two: wrong, right"
            )
        if pairs and [field.strip().lower() for field in pairs[0]] == ["wrong", "right"]:
            del pairs[0]
    return {wrong.strip().lower(): right.strip().lower() for wrong, right in pairs}


def without_articles(text: str, cues: Collection[str], lwow_compatible: bool) -> str:
    """Drop leading articles and "to", unless the text is itself a cue."""
    if lwow_compatible:
        for article in ARTICLES:
            if text.startswith(article) and text not in cues:
                text = text[len(article) :]
        return text
    while text.startswith(ARTICLES) and text not in cues:
        text = text.partition(" ")[2].lstrip()
    return text


def _punctuation(text: str) -> str:
    """Keep letters, digits, and the hyphens and apostrophes between them.

    Phrases that WordNet spells with a full stop ("st. louis") and abbreviations ("u.s.", "a.m.")
    are kept.
    """
    text = " ".join(unicodedata.normalize("NFC", text).replace("’", "'").split())
    if is_lemma(text.lower().replace(" ", "_")):
        return text
    kept = []
    for word in text.split():
        inner = _EDGES.sub("", word)
        if _ABBREVIATION.fullmatch(inner):
            kept.append(inner)
        else:
            kept += [part.strip("-'") for part in _JUNK.sub(" ", inner).split()]
    return " ".join(filter(None, kept))


@cache
def _apart() -> dict[str, str]:
    """Map letters without space and hyphen to their phrase; forms with spaces are preferred."""
    phrases = [word for word in _lemmas() if "_" in word or "-" in word]
    phrases.sort(key=lambda phrase: (phrase.count("-"), phrase), reverse=True)
    forms = {word.replace("_", "").replace("-", ""): word.replace("_", " ") for word in phrases}
    return {joined: word for joined, word in forms.items() if any(map(str.isalpha, joined))}


def _spaces(text: str) -> str:
    apart = _apart().get(text)
    return text if apart is None or in_wordnet([text]) else apart


@cache
def _lwow_apart() -> dict[str, str]:
    spaces = {word.replace("_", ""): word.replace("_", " ") for word in _lemmas()}
    hyphens = {word.replace("-", ""): word for word in _lemmas()}
    forms = spaces | {joined: word for joined, word in hyphens.items() if joined != word}
    return {joined: word for joined, word in forms.items() if not is_lemma(joined)}


def _noun(text: str) -> str:
    """Return the lemma of a noun, except where WordNet's shortest form is known to be wrong."""
    if text in PLURALS:
        return PLURALS[text]
    phrase = text.replace(" ", "_")
    if text in NO_NOUNS or text.endswith("ss"):  # morphy(7WN) leaves -ss alone; nltk does not
        return text
    noun = lemma(phrase)
    if len(noun) <= 2 and text.endswith("s") and is_lemma(phrase):  # "pus" is not "pu"
        return text
    if noun == phrase and " " in text and not is_lemma(phrase):
        return " ".join(PLURALS.get(word, word) for word in text.split(" "))
    return noun.replace("_", " ")


_WORDNET = files("clinometer.networks") / "wordnet"
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
def _lemmas() -> dict[str, str]:
    """Read the 147,306 lemmas → letters of their parts of speech."""
    packed = (_WORDNET / "wordnet30_lemmas.tsv.gz").read_bytes()
    # Lines end with a line feed only: splitlines() would also cut at other separators.
    lines = gzip.decompress(packed).decode("utf-8").rstrip("\n").split("\n")
    return dict(line.split("\t") for line in lines)


@cache
def _exceptions(part: str) -> dict[str, list[str]]:
    rows = [line.split() for line in (_WORDNET / f"{part}.exc").read_text("utf-8").split("\n")]
    return {row[0]: row[1:] for row in rows if row}


def is_lemma(form: str) -> bool:
    """Return whether a form, lower-cased and with underscores for spaces, is a lemma."""
    return form in _lemmas()


def in_wordnet(words: Iterable[str]) -> set[str]:
    """Select the words that WordNet knows, inflected or not, as any part of speech.

    Case is ignored; a space matches WordNet's underscore. Words are returned as spelt.

    Examples
    --------
    >>> sorted(in_wordnet(["ice cream", "Mice", "went", "asdfgh"]))
    ['Mice', 'ice cream', 'went']
    """
    return {word for word in words if _known(word.lower().replace(" ", "_"))}


def _known(form: str) -> bool:
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

    def found(forms: Iterable[str]) -> list[str]:
        return [form for form in dict.fromkeys(forms) if letter in _lemmas().get(form, "")]

    if form in _exceptions(part):
        return found([form, *_exceptions(part)[form]])
    # Each form once: otherwise the forms of a word like "seseses…" would double with every rule.
    forms = _shortened([form], rules)
    hits = found([form, *forms])
    while forms and not hits:
        forms = _shortened(forms, rules)
        hits = found(forms)
    return hits


def _shortened(forms: Iterable[str], rules: Iterable[tuple[str, str]]) -> list[str]:
    return list(
        dict.fromkeys(
            form[: -len(ending)] + new
            for form in forms
            for ending, new in rules
            if form.endswith(ending)
        )
    )
