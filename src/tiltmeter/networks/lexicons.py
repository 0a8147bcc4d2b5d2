"""Lexicons of valence and emotions that the user brings along: none may be shipped.

References: Mohammad 2018, Obtaining Reliable Human Ratings of Valence, Arousal, and Dominance for
20,000 English Words, ACL (NRC VAD Lexicon, v1 and v2.1); Mohammad & Turney 2013, Crowdsourcing a
Word–Emotion Association Lexicon, Computational Intelligence 29(3) (NRC Emotion Lexicon); the
eight emotions are Plutchik's. Words are kept as they are spelt: "null", "nan" and "TRUE" are words.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from tiltmeter.errors import InputError
from tiltmeter.results.tables import read_table

__all__ = ["EMOTIONS", "Valence", "read_emotions", "read_valence"]

#: Plutchik's eight.
EMOTIONS = ("anger", "anticipation", "disgust", "fear", "joy", "sadness", "surprise", "trust")

#: Of the NRC Emotion Lexicon, but no emotions.
_SENTIMENTS = ("negative", "positive")

#: How the column of words is called; the last by lists of many languages.
_WORD = ("word", "term", "english word")
_MARK = ("value", "association")

#: Columns of files without a header, by how many there are.
_BARE = {
    2: ("word", "valence"),
    3: ("word", "emotion", "value"),
    4: ("word", "valence", "arousal", "dominance"),
}

#: Where a row stands, and its fields.
_Rows = Iterator[tuple[str, Sequence[str]]]


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
    for where, fields in rows:
        if not fields[value].strip():
            continue
        rating = _number(fields[value])
        if rating is None or not -1 <= rating <= 1:
            raise InputError(
                f"{where}: {fields[word]!r}: valence {fields[value]!r}; allowed are numbers from "
                "0 to 1, or from −1 to 1"
            )
        if ratings.setdefault(fields[word], rating) != rating:
            raise InputError(
                f"{where}: {fields[word]!r} has valence {ratings[fields[word]]:g} and {rating:g}; "
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
    seen: dict[tuple[str, str], bool] = {}
    for where, fields, emotion, value in marks:
        if value.strip() not in ("0", "1"):
            raise InputError(f"{where}: {fields[word]!r}: {emotion} {value!r}; allowed are 0 and 1")
        marked = value.strip() == "1"
        if seen.setdefault((emotion, fields[word]), marked) != marked:
            raise InputError(f"{where}: {fields[word]!r} has {emotion} 0 and 1; keep one")
    words: dict[str, set[str]] = {emotion: set() for emotion in EMOTIONS}
    for (emotion, name), marked in seen.items():
        if marked:
            words[emotion].add(name)
    empty = [emotion for emotion, found in words.items() if not found]
    if empty:
        raise InputError(f"{path}: no words for {', '.join(empty)}; each emotion needs some")
    return {emotion: frozenset(found) for emotion, found in words.items()}


_Marks = Iterator[tuple[str, Sequence[str], str, str]]


def _long(columns: Sequence[str], rows: _Rows, path: Path) -> _Marks:
    """Give the mark of each row; without a column of values each row is one."""
    named = columns.index("emotion")
    value = next((columns.index(name) for name in _MARK if name in columns), None)
    for where, fields in rows:
        emotion = fields[named].strip().lower()
        if emotion in _SENTIMENTS:
            continue
        if emotion not in EMOTIONS:
            raise InputError(f"{where}: emotion {fields[named]!r}; known are {', '.join(EMOTIONS)}")
        yield where, fields, emotion, "1" if value is None else fields[value]


def _wide(columns: Sequence[str], rows: _Rows, path: Path) -> _Marks:
    """Give the marks of each row, one for each emotion."""
    lacking = [emotion for emotion in EMOTIONS if emotion not in columns]
    if lacking:
        raise InputError(
            f"{path}: no column emotion, and none for {', '.join(lacking)}; has "
            f"{', '.join(columns)}"
        )
    places = [(emotion, columns.index(emotion)) for emotion in EMOTIONS]
    for where, fields in rows:
        for emotion, place in places:
            yield where, fields, emotion, fields[place]


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


def _read(path: Path) -> tuple[list[str], _Rows]:
    """Give the names of the columns in lower case, and the rows."""
    if path.suffix in (".csv", ".parquet"):
        frame = read_table(path)
        columns = [name.strip().lower() for name in frame.columns]
        text = ([_text(value) for value in row] for row in frame.iter_rows())
        return columns, ((f"{path}: row {n}", row) for n, row in enumerate(text, start=1))
    lines = _lines(path)
    first = lines[0].split("\t") if lines else []
    columns = [name.strip().lower() for name in first]
    header = any(name in columns for name in _WORD) and len(columns) > 1 and not _rated(first)
    if not header:
        if len(first) not in _BARE:
            raise InputError(
                f"{path}:1: {len(first)} columns and no header with word or term; expected text "
                "parted by tabs"
            )
        columns = list(_BARE[len(first)])
    return columns, _rows(path, lines, len(columns), start=1 if header else 0)


def _rated(fields: Sequence[str]) -> bool:
    """Tell whether a first line is a row: "term" is a word, too."""
    return any(_number(field) is not None for field in fields[1:])


def _lines(path: Path) -> list[str]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 at byte {error.start}") from None
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    return text.split("\n")


def _rows(path: Path, lines: Sequence[str], width: int, start: int) -> _Rows:
    for number, line in enumerate(lines[start:], start=start + 1):
        if not line.strip():
            continue
        fields = line.rstrip("\r").split("\t")
        if len(fields) != width:
            raise InputError(f"{path}:{number}: {len(fields)} fields; expected {width}")
        yield f"{path}:{number}", fields


def _text(value: object) -> str:
    """Write a value of a table as text: whole numbers and truth without a fraction."""
    if value is None:
        return ""
    if isinstance(value, bool | int) or (isinstance(value, float) and value.is_integer()):
        return str(int(value))
    return str(value)
