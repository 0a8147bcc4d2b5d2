"""The steps of cleaning, applied to the text of a single cue or response.

Each step is a function text → text. `lwow_` versions reproduce the released code of LWOW
(github.com/LLMWorldOfWords/LWOW, ``reproducibility/FA_Functions.py``, April 2025).

WordNet 3.0 gives the known words and the lemma of an inflected noun, as nltk 3.8.1 finds it, with
which the published networks were built (`words.wordnet`).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Mapping
from functools import cache
from pathlib import Path

from clinometer.errors import InputError
from clinometer.results.csv_records import read_records
from clinometer.words.wordnet import in_wordnet, is_lemma, lemma, lemmas

__all__ = ["COUNTRIES", "read_spelling", "rewriter", "without_articles"]

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
#: Other name → name in WordNet.
COUNTRIES = {name: country for country, names in _COUNTRIES.items() for name in names}
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
    rewriters: dict[str, Rewriter] = {
        "lower_case": str.lower,
        "underscores": lambda text: text.replace("_", " "),
        "punctuation": _punctuation,
        "spaces": _spaces,
        "spelling": lambda text: spelling.get(text, text),
        "countries": lambda text: COUNTRIES.get(text, text),
        "lemmas": _noun,
    }
    lwow_rewriters: dict[str, Rewriter] = {
        "spaces": lambda text: _lwow_phrases().get(text, text),
        "lemmas": lambda text: lemma(text).replace("men", "man").replace("hands", "hand"),
    }
    return (rewriters | lwow_rewriters if lwow_compatible else rewriters).get(step, str)


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
        pairs = [record for _, record in read_records(Path(spelling), tabs=True)]
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
    words = []
    for word in text.split():
        inner = _EDGES.sub("", word)
        if _ABBREVIATION.fullmatch(inner):
            words.append(inner)
        else:
            words += [part.strip("-'") for part in _JUNK.sub(" ", inner).split()]
    return " ".join(filter(None, words))


@cache
def _phrases() -> dict[str, str]:
    """Map letters without space and hyphen to their phrase; forms with spaces are preferred."""
    phrases = [word for word in lemmas() if "_" in word or "-" in word]
    # Of several forms with the same letters the last one stays: that with the fewest hyphens.
    phrases.sort(key=lambda phrase: (phrase.count("-"), phrase), reverse=True)
    forms = {word.replace("_", "").replace("-", ""): word.replace("_", " ") for word in phrases}
    # Numbers are left alone: "911" is not "9-11".
    return {letters: phrase for letters, phrase in forms.items() if any(map(str.isalpha, letters))}


def _spaces(text: str) -> str:
    phrase = _phrases().get(text)
    return text if phrase is None or in_wordnet([text]) else phrase


@cache
def _lwow_phrases() -> dict[str, str]:
    spaces = {word.replace("_", ""): word.replace("_", " ") for word in lemmas()}
    hyphens = {word.replace("-", ""): word for word in lemmas()}
    forms = spaces | {letters: word for letters, word in hyphens.items() if letters != word}
    return {letters: phrase for letters, phrase in forms.items() if not is_lemma(letters)}


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
