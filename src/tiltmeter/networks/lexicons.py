"""Lexicons of valence and emotions that the user brings along: none may be shipped.

References: Mohammad 2018, Obtaining Reliable Human Ratings of Valence, Arousal, and Dominance for
20,000 English Words, ACL (NRC VAD Lexicon, v1 and v2.1); Mohammad & Turney 2013, Crowdsourcing a
Word–Emotion Association Lexicon, Computational Intelligence 29(3) (NRC Emotion Lexicon); the
eight emotions are Plutchik's. Words are kept as they are spelt: "null", "nan" and "TRUE" are words.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import polars as pl

from tiltmeter.errors import InputError
from tiltmeter.networks.delimited import fields
from tiltmeter.results.tables import read_table

__all__ = ["EMOTIONS", "Lexicons", "Valence", "read_emotions", "read_valence"]

#: Plutchik's eight.
EMOTIONS = ("anger", "anticipation", "disgust", "fear", "joy", "sadness", "surprise", "trust")

#: Of the NRC Emotion Lexicon, but no emotions.
_SENTIMENTS = ("negative", "positive")

#: How the column of words is called; the last by lists of many languages.
_WORD = ("word", "term", "english word")
_MARK = ("value", "association")
_MARKS = {"0": False, "0.0": False, "false": False, "1": True, "1.0": True, "true": True}

#: Columns of files without a header, by how many there are.
_BARE = {
    2: ("word", "valence"),
    3: ("word", "emotion", "value"),
    4: ("word", "valence", "arousal", "dominance"),
}

#: Where a row stands, and its fields.
_Rows = Iterator[tuple[str, Sequence[str]]]


@dataclass(frozen=True)
class Lexicons:
    """What people said about words; brought by the user.

    Parameters
    ----------
    valence
        Word → 0 (negative) to 1 (positive), from `lexicons.read_valence`.
    emotions
        Emotion → its words, from `lexicons.read_emotions`.
    """

    valence: Mapping[str, float] | None = None
    emotions: Mapping[str, Iterable[str]] | None = None

    def serve(self, approach: str) -> bool:
        """Tell whether an approach has the lexicon it needs."""
        return approach == "stereotypes" or getattr(self, approach) is not None


class Valence(dict[str, float]):
    """Word → valence from 0 (negative) to 1 (positive); `scale` has the ends of the file's own."""

    def __init__(self, ratings: Mapping[str, float], scale: tuple[float, float] = (0, 1)) -> None:
        super().__init__(ratings)
        self.scale = scale


def read_valence(path: str | Path) -> Valence:
    """Read how positive words are.

    Parameters
    ----------
    path
        ``v.scores`` or ``NRC-VAD-Lexicon.txt`` of the NRC VAD Lexicon v1, the file of v2.1 (text
        parted by tabs, with or without a header), or a ``.csv``, ``.tsv`` or ``.parquet`` table
        with the columns ``word`` (or ``term``) and ``valence``; an empty valence is none.

    Returns
    -------
    Valence
        On 0…1. A file with a value below 0 is taken to be on −1…1, and v becomes (v + 1) / 2;
        `scale` tells which it was.

    Raises
    ------
    InputError
        If a value is no number from −1 to 1, a word has two values, or there are none.
    """
    path = Path(path)
    columns, rows = _read(path)
    word, value = _column(columns, _WORD, path), _column(columns, ("valence",), path)
    ratings: dict[str, float] = {}
    for where, row in rows:
        if not row[value].strip():
            continue
        rating = _number(row[value])
        if rating is None or not -1 <= rating <= 1:
            raise InputError(
                f"{where}: {row[word]!r}: valence {row[value]!r}; allowed are numbers from "
                "0 to 1, or from −1 to 1"
            )
        if ratings.setdefault(row[word], rating) != rating:
            raise InputError(
                f"{where}: {row[word]!r} has valence {ratings[row[word]]:g} and {rating:g}; "
                "keep one"
            )
    if not ratings:
        raise InputError(f"{path}: no word has a valence")
    if min(ratings.values()) >= 0:
        return Valence(ratings)
    return Valence({word: (rating + 1) / 2 for word, rating in ratings.items()}, (-1, 1))


def read_emotions(path: str | Path) -> dict[str, frozenset[str]]:
    """Read which words go with which emotion.

    Parameters
    ----------
    path
        ``NRC-Emotion-Lexicon-Wordlevel-v0.92.txt`` (word, emotion, 0 or 1, parted by tabs), or a
        table (``.csv``, ``.tsv``, ``.parquet``, or text parted by tabs) with the columns ``word``
        and ``emotion`` and perhaps ``value`` (0 or 1), or with ``word`` and a column of 0 and 1
        for each emotion. The sentiments ``positive`` and ``negative`` are passed over.

    Returns
    -------
    dict
        Each of `EMOTIONS` → its words.

    Raises
    ------
    InputError
        If a value is not 0 or 1, a word has both for an emotion, an emotion is not known, or one
        of the eight has no words.
    """
    path = Path(path)
    columns, rows = _read(path)
    word = _column(columns, _WORD, path)
    marks = _long(columns, rows, path) if "emotion" in columns else _wide(columns, rows, path)
    marked: dict[str, dict[str, bool]] = {emotion: {} for emotion in EMOTIONS}
    for where, row, emotion, value in marks:
        mark = _MARKS.get(value.strip().lower())
        if mark is None:
            raise InputError(f"{where}: {row[word]!r}: {emotion} {value!r}; allowed are 0 and 1")
        if marked[emotion].setdefault(row[word], mark) != mark:
            raise InputError(f"{where}: {row[word]!r} has {emotion} 0 and 1; keep one")
    words = {
        emotion: frozenset(name for name, mark in of.items() if mark)
        for emotion, of in marked.items()
    }
    empty = [emotion for emotion in EMOTIONS if not words[emotion]]
    if empty:
        raise InputError(f"{path}: no words for {', '.join(empty)}; each emotion needs some")
    return words


_Marks = Iterator[tuple[str, Sequence[str], str, str]]


def _long(columns: Sequence[str], rows: _Rows, path: Path) -> _Marks:
    """Give the mark of each row; without a column of values each row is one."""
    place = columns.index("emotion")
    value = next((columns.index(name) for name in _MARK if name in columns), None)
    for where, row in rows:
        emotion = row[place].strip().lower()
        if emotion in _SENTIMENTS:
            continue
        if emotion not in EMOTIONS:
            raise InputError(f"{where}: emotion {row[place]!r}; known are {', '.join(EMOTIONS)}")
        yield where, row, emotion, "1" if value is None else row[value]


def _wide(columns: Sequence[str], rows: _Rows, path: Path) -> _Marks:
    """Give the marks of each row, one for each emotion."""
    lacking = ", ".join(emotion for emotion in EMOTIONS if emotion not in columns)
    if lacking:
        has = ", ".join(columns)
        raise InputError(f"{path}: no column emotion, and none for {lacking}; has {has}")
    for where, row in rows:
        for emotion in EMOTIONS:
            yield where, row, emotion, row[columns.index(emotion)]


def _column(columns: Sequence[str], names: Sequence[str], path: Path) -> int:
    for name in names:
        if name in columns:
            return columns.index(name)
    raise InputError(f"{path}: no column {' or '.join(names)}; has {', '.join(columns)}")


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _read(path: Path) -> tuple[Sequence[str], _Rows]:
    """Give the names of the columns in lower case, and the rows."""
    if path.suffix == ".parquet":
        frame = read_table(path)
        text = frame.select(pl.all().cast(pl.String).fill_null("")).iter_rows()
        columns = [name.strip().lower() for name in frame.columns]
        return columns, ((f"{path}: row {n}", row) for n, row in enumerate(text, start=1))
    rows = ((f"{path}:{line}", record) for line, record in fields(path))
    where, first = next(rows, (f"{path}:1", []))
    columns = [name.strip().lower() for name in first]
    # "term" is a word, too: a first line with a number is a row.
    rated = any(_number(field) is not None for field in first[1:])
    if len(columns) > 1 and not rated and any(name in columns for name in _WORD):
        return columns, rows
    if len(first) not in _BARE:
        raise InputError(
            f"{where}: {len(first)} columns and no header with word or term; expected text parted "
            "by tabs or commas"
        )
    return _BARE[len(first)], chain([(where, first)], rows)
