"""Lexicons of valence and emotions, supplied by the user; their licences forbid shipping them.

References: Mohammad 2018, Obtaining Reliable Human Ratings of Valence, Arousal, and Dominance for
20,000 English Words, ACL (NRC VAD Lexicon, v1 and v2.1); Mohammad & Turney 2013, Crowdsourcing a
Word–Emotion Association Lexicon, Computational Intelligence 29(3) (NRC Emotion Lexicon); Warriner,
Kuperman & Brysbaert 2013, Behavior Research Methods 45(4) (ratings from 1 to 9). The eight emotions
are Plutchik's. Words keep their spelling: "null", "nan" and "TRUE" are words.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import polars as pl

from clinometer.errors import InputError, find_scale, shortened
from clinometer.results import check
from clinometer.results.csv_records import read_records
from clinometer.results.tables import read_table

#: Plutchik's eight.
EMOTIONS = ("anger", "anticipation", "disgust", "fear", "joy", "sadness", "surprise", "trust")

#: Sentiments of the NRC Emotion Lexicon; ignored.
_SENTIMENTS = ("negative", "positive")

#: Other names of columns; multilingual lists have "english word".
_NAMES = {
    **dict.fromkeys(("term", "lemma", "english word"), "word"),
    **dict.fromkeys(("v.mean.sum", "v"), "valence"),
    "association": "value",
}

#: Scales of valence that need not be stated: NRC VAD v1, NRC VAD v2.
SCALES = ((0.0, 1.0), (-1.0, 1.0))

#: The scale of Warriner et al., whose file is known by the name of its column.
_WARRINER = ("v.mean.sum", 1.0, 9.0)

#: Columns of files without a header, by their number.
_BARE = {
    2: ["word", "valence"],
    3: ["word", "emotion", "value"],
    4: ["word", "valence", "arousal", "dominance"],
}

#: Spellings of the mark that a word does or does not go with an emotion.
_MARKS = {"0": False, "0.0": False, "false": False, "1": True, "1.0": True, "true": True}


def read_valence(path: str | Path) -> dict[str, float]:
    """Read the valence of words.

    Parameters
    ----------
    path
        ``v.scores`` or ``NRC-VAD-Lexicon.txt`` of the NRC VAD Lexicon v1, the file of v2.1, the
        ratings of Warriner et al., or another table of ``word`` (or ``term``) and ``valence``: text
        separated by tabs or commas, with or without a header, or ``.parquet``. An empty valence
        is none. Another scale than 0…1 or −1…1 is stated in the name of the column:
        ``valence 1 to 7``.

    Returns
    -------
    dict
        Word → valence from 0 (negative) to 1 (positive), brought there from its scale.

    Raises
    ------
    InputError
        If a value is no number, the values do not fit their scale, or theirs is not stated, a
        word has two values, or there are none.
    """
    table = _read_rows(Path(path), "valence")
    ratings: dict[str, float] = {}
    for line, row in table.rows:
        word = row["word"]
        text = row["valence"]
        if not text.strip():
            continue
        rating = _parse_number(text)
        if rating is None:
            raise InputError(f"{path}:{line}: {word!r}: valence {text!r}; expected a number")
        first = ratings.setdefault(word, rating)
        if first != rating:
            raise InputError(
                f"{path}:{line}: {word!r} has valence {first:g} and {rating:g}; keep one"
            )
    if not ratings:
        raise InputError(f"{path}: no word has a valence")
    low, high = _find_ends(ratings, table.scale, path)
    return {word: (rating - low) / (high - low) for word, rating in ratings.items()}


def _find_ends(
    ratings: Mapping[str, float], scale: tuple[float, float] | None, path: str | Path
) -> tuple[float, float]:
    """Return the ends of the scale: those stated, or the first of `SCALES` that holds all."""
    lowest = min(ratings, key=ratings.__getitem__)
    highest = max(ratings, key=ratings.__getitem__)
    # In the order of `SCALES`: values from 0 to 1 fit the second one too.
    for low, high in SCALES if scale is None else (scale,):
        if low <= ratings[lowest] and ratings[highest] <= high:
            return low, high
    span = f"from {ratings[lowest]:g} ({lowest!r}) to {ratings[highest]:g} ({highest!r})"
    if scale is not None:
        raise InputError(f"{path}: valences {span}; its scale is {scale[0]:g} to {scale[1]:g}")
    raise InputError(
        f"{path}: valences {span}; known scales are 0 to 1 and −1 to 1. Name the column by the "
        "ends of its scale: valence 1 to 7"
    )


def read_emotions(path: str | Path) -> dict[str, frozenset[str]]:
    """Read the words of each emotion.

    Parameters
    ----------
    path
        ``NRC-Emotion-Lexicon-Wordlevel-v0.92.txt`` (word, emotion, 0 or 1, tab-separated), or a
        table (``.csv``, ``.tsv``, ``.parquet``, or tab-separated text) with the columns ``word``,
        ``emotion`` and optionally ``value`` (0 or 1), or with ``word`` and a column of 0 and 1 per
        emotion. The sentiments ``positive`` and ``negative`` are ignored.

    Returns
    -------
    dict
        Each of `EMOTIONS` → its words.

    Raises
    ------
    InputError
        If a value is not 0 or 1, a word has both for an emotion, an emotion is unknown, or one of
        the eight has no words.
    """
    columns, rows, _ = _read_rows(Path(path))
    lacking = ", ".join(emotion for emotion in EMOTIONS if emotion not in columns)
    if lacking and "emotion" not in columns:
        has = shortened(columns)
        raise InputError(f"{path}: no column emotion, and none for {lacking}; has {has}")
    marked: dict[str, dict[str, bool]] = {emotion: {} for emotion in EMOTIONS}
    for line, row in rows:
        word = row["word"]
        for emotion, text in _marks(row).items():
            mark = _MARKS.get(text.strip().lower())
            if emotion not in marked:
                emotions = ", ".join(EMOTIONS)
                raise InputError(f"{path}:{line}: emotion {emotion!r}; known are {emotions}")
            if mark is None:
                raise InputError(
                    f"{path}:{line}: {word!r}: {emotion} {text!r}; allowed are 0 and 1"
                )
            if marked[emotion].setdefault(word, mark) != mark:
                raise InputError(f"{path}:{line}: {word!r} has {emotion} 0 and 1; keep one")
    words = {emotion: _marked_words(marks) for emotion, marks in marked.items()}
    empty = ", ".join(emotion for emotion in EMOTIONS if not words[emotion])
    if empty:
        raise InputError(f"{path}: no words for {empty}; each emotion needs some")
    return words


def _marked_words(marks: Mapping[str, bool]) -> frozenset[str]:
    return frozenset(word for word, mark in marks.items() if mark)


def _marks(row: Mapping[str, str]) -> dict[str, str]:
    """Return the mark of each emotion in a row; an emotion without a column `value` is marked."""
    if "emotion" not in row:
        return {emotion: row[emotion] for emotion in EMOTIONS}
    emotion = row["emotion"].strip().lower()
    return {} if emotion in _SENTIMENTS else {emotion: row.get("value", "1")}


def _parse_number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


class _Rows(NamedTuple):
    """A table of words."""

    columns: list[str]
    rows: Iterator[tuple[int, dict[str, str]]]  # line, and fields by column
    scale: tuple[float, float] | None  # of valence, where the header states it


def _read_rows(path: Path, *needed: str) -> _Rows:
    """Read the columns of a table, and its rows; a bare file has no header."""
    rows: Iterator[tuple[int, Sequence[str]]]
    if path.suffix == ".parquet":
        table = read_table(path)
        table = check(table, dict.fromkeys(table.columns, pl.String()), str(path)).fill_null("")
        columns, scale = _column_names(table.columns)
        rows = enumerate(table.iter_rows(), start=1)  # of parquet, rows in place of lines
    else:
        rows = read_records(path, tabs=True)
        line, first = next(rows, (1, []))
        columns, scale = _column_names(first)
        # "term" may also be a rated word: a first line with a number is a row.
        if not first or any(_parse_number(field) is not None for field in first[1:]):
            if len(first) not in _BARE:
                raise InputError(
                    f"{path}:{line}: {len(first)} columns and no header with word or term; "
                    "expected text separated by tabs or commas"
                )
            columns = _BARE[len(first)]
            rows = chain([(line, first)], rows)
    for name in ("word", *needed):
        if name not in columns:
            label = "word or term" if name == "word" else name
            raise InputError(f"{path}: no column {label}; has {shortened(columns)}")
    by_column = ((line, dict(zip(columns, row, strict=True))) for line, row in rows)
    return _Rows(columns, by_column, scale)


def _column_names(columns: Sequence[str]) -> tuple[list[str], tuple[float, float] | None]:
    """Return the names of columns in lower case, those of `_NAMES` by our names; and a scale."""
    names = [name.strip().lower() for name in columns]
    column_scale = find_scale(names, "valence") or (_WARRINER if _WARRINER[0] in names else None)
    scale = None
    if column_scale is not None:
        column, *ends = column_scale
        scale = (ends[0], ends[1])
        names[names.index(column)] = "valence"
    # A table may have both names, as "v" and "valence": then the other one keeps its own.
    ours = [name if _NAMES.get(name) in names else _NAMES.get(name, name) for name in names]
    return ours, scale
