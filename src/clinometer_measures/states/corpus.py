"""Contexts from a user's own texts: a random sample of sentences for each term.

As the Reddit setting of Schuster et al. (2024), section 3.2, after Guo & Caliskan (2021), AIES
(CEAT): sentences as people write them, cut on both sides around the term.

One pass over files of any size, in memory that depends on the terms alone. The reservoir of each
term holds the `most` sentences with the smallest random keys (a bottom-k sample; Cohen & Kaplan
2007, PODC). The key of a sentence is a hash of seed, term and sentence, not a drawn number: so a
sentence that stands a thousand times in the texts counts once, every distinct sentence has the
same chance, and the order of files and lines makes no difference.

Terms are found by their first word in one dictionary, whatever their number: time is linear in
the length of the texts. A line is a text of its own; its sentences are parted at full stops.

``.txt`` has a text on each line, ``.jsonl`` in a field of each line, both also packed as ``.gz``
or, with the package zstandard, ``.zst``; ``.csv`` and ``.parquet`` in a column. Bytes that are no
UTF-8 become U+FFFD. A longer line of a ``.txt`` file is read in pieces, cut between words.
"""

from __future__ import annotations

import contextlib
import hashlib
import heapq
import io
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TextIO

import polars as pl

from clinometer.errors import InputError, shortened, unknown
from clinometer.packed import LARGEST_STREAM, PACKED, open_packed
from clinometer.results.tables import FORMATS, pieces
from clinometer_measures.states.examples import holds
from clinometer_measures.states.tables import CONTEXTS

__all__ = ["sample_corpus", "texts"]

#: Words of a term; no longer ones are looked for.
LONGEST_TERM = 8

ENDINGS = (".txt", ".jsonl")

#: Columns and fields that hold the text where none is named.
COLUMNS = ("text", "body", "sentence", "content")

#: Characters of a line that are held at a time.
PIECE = 1 << 20
LONGEST_JSON = 1 << 26

_WORD = re.compile(r"\w+(?:[-\u2010\u2011]\w+)*")
_BETWEEN = re.compile(r"(?:(?<=[.!?…])|(?<=[.!?…][\"'”’)\]]))\s+(?=[\"“'‘(\[]?[^\W_a-z])")


def sample_corpus(  # noqa: PLR0913 - what a sample is of, and how it is drawn
    paths: Iterable[str | Path],
    terms: Iterable[str],
    *,
    most: int = 5,
    seed: int = 0,
    column: str | None = None,
    width: int = 40,
) -> pl.DataFrame:
    """Sample sentences that hold a term, for each term.

    Parameters
    ----------
    paths
        Texts: ``.txt``, ``.jsonl`` (both also with ``.gz`` or ``.zst``), ``.csv``, ``.parquet``.
    terms
        Words, or a few words each; found whatever their case.
    most
        Sentences per term, fewer where there are not so many.
    seed
        Of the sample.
    column
        Of tables, or the field of JSON lines, that holds the text; by default ``text`` or
        ``body``.
    width
        Words of a sentence that are kept, as many before the term as after it where it can be.

    Returns
    -------
    polars.DataFrame
        Columns CONTEXTS; the key is the term. In the order of the terms; a term's sentences are
        in the order in which they would be drawn, so that the first three are a sample of three.

    Raises
    ------
    InputError
        If a file is missing or malformed, or no term is found in any.
    """
    if most < 1:
        raise InputError(f"most {most}: at least 1 sentence per term")
    # Terms that differ in white space alone are one.
    terms = list(dict.fromkeys(" ".join(term.split()) for term in terms))
    longest = max((len(term.split()) for term in terms), default=0)
    if not terms or longest > LONGEST_TERM or width < longest:
        raise InputError(
            f"{len(terms)} terms of up to {longest} words, width {width}: at least one term is "
            f"needed, a term has up to {LONGEST_TERM} words, and width holds the longest"
        )
    reservoirs = {term: _Reservoir(term, most, seed) for term in terms}
    finder = _Finder(terms)
    files = [Path(path) for path in paths]
    for path in files:
        for text in texts(path, column):
            for term, context in finder.contexts(text, width):
                reservoirs[term].offer(context)
    rows = []
    for term, reservoir in reservoirs.items():
        rows += [(term, term, text) for text in reservoir.sample()]
    if not rows:
        names = ", ".join(map(str, files)) or "no files"
        raise InputError(f"{names}: none of the {len(terms)} terms stands in the texts")
    return pl.DataFrame(rows, schema=CONTEXTS, orient="row")


class _Finder:
    """Finds the sentences of a text that hold a term."""

    def __init__(self, terms: Iterable[str]) -> None:
        # First word → the words of each term that begins with it, and the term as it is spelt.
        self.by_first: dict[str, list[tuple[list[str], str]]] = {}
        for term in terms:
            words = _WORD.findall(term.lower())
            if words:
                self.by_first.setdefault(words[0], []).append((words, term))

    def contexts(self, text: str, width: int) -> Iterator[tuple[str, str]]:
        """Yield terms and the sentences they stand in, each term once a sentence."""
        # Most texts hold no term: they need not be parted into sentences.
        if self.by_first.keys().isdisjoint(_WORD.findall(text.lower())):
            return
        for sentence in _BETWEEN.split(" ".join(text.split())):
            spans = [match.span() for match in _WORD.finditer(sentence)]
            words = [sentence[start:end].lower() for start, end in spans]
            terms_of_sentence = set()
            for start, word in enumerate(words):
                for term_words, term in self.by_first.get(word, ()):
                    stop = start + len(term_words)
                    if term not in terms_of_sentence and words[start:stop] == term_words:
                        terms_of_sentence.add(term)
                        yield term, _cut(sentence, spans, (start, stop), width)


def _cut(sentence: str, spans: list[tuple[int, int]], term: tuple[int, int], width: int) -> str:
    """Keep `width` words, those around the term; a whole sentence keeps its marks.

    `spans` are the characters of each word, `term` the numbers of its first word and of the word
    after its last.
    """
    if len(spans) <= width:
        return sentence
    term_start, term_stop = term
    first = term_start - (width - (term_stop - term_start)) // 2
    first = max(0, min(first, len(spans) - width))
    # From space to space, so that the marks at a word come with it.
    start = sentence.rfind(" ", 0, spans[first][0] + 1) + 1
    end = sentence.find(" ", spans[first + width - 1][1])
    return sentence[start:] if end < 0 else sentence[start:end]


class _Reservoir:
    """The sentences of one term with the smallest keys, largest key first."""

    def __init__(self, term: str, most: int, seed: int) -> None:
        self.term = term
        self.most = most
        self.salt = hashlib.blake2b(f"{seed}\0{term}".encode(), digest_size=16).digest()
        # Keys are negative: the least of a heap comes first, and the largest key has to go first.
        self.heap: list[tuple[int, str]] = []

    def offer(self, context: str) -> None:
        """Keep a sentence if its key is small, and it is not there yet."""
        # Sentences that differ in case or marks alone have one key.
        folded = " ".join(_WORD.findall(context.lower()))
        encoded = folded.encode("utf-8", "surrogatepass")
        digest = hashlib.blake2b(encoded, key=self.salt, digest_size=8).digest()
        key = -int.from_bytes(digest, "big")
        if len(self.heap) == self.most and key <= self.heap[0][0]:
            return
        # What reads the states must find the term.
        if not holds(self.term, context) or key in [heap_key for heap_key, _ in self.heap]:
            return
        push = heapq.heappush if len(self.heap) < self.most else heapq.heappushpop
        push(self.heap, (key, context))

    def sample(self) -> list[str]:
        """Return the sentences, smallest key first."""
        return [context for _, context in sorted(self.heap, reverse=True)]


def texts(path: Path, column: str | None = None) -> Iterator[str]:
    """Yield the texts of a file; `column` is as of `sample_corpus`."""
    if path.suffix in FORMATS:
        yield from _table_texts(path, column)
        return
    plain = path.with_suffix("") if path.suffix in PACKED else path
    if plain.suffix not in ENDINGS:
        allowed = ", ".join((*ENDINGS, *FORMATS))
        raise InputError(
            f"{path}: ending {path.suffix!r}; allowed are {allowed}, and .txt and .jsonl with "
            f"{' or '.join(PACKED)}"
        )
    with _open(path) as file:
        if plain.suffix == ".txt":
            yield from _line_texts(file)
        else:
            yield from _json_texts(path, file, column)


@contextlib.contextmanager
def _open(path: Path) -> Iterator[TextIO]:
    """Open a file of text, packed or not; what breaks while it is read is one line, too."""
    try:
        with open_packed(path, largest=LARGEST_STREAM) as data:
            yield io.TextIOWrapper(data, encoding="utf-8-sig", errors="replace", newline="\n")
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from None


def _line_texts(file: TextIO) -> Iterator[str]:
    """Yield the lines of a file; of a very long line pieces, cut between words."""
    rest = ""  # the beginning of a word, whose end is in the next piece
    while piece := file.readline(PIECE):
        piece = rest + piece
        rest = ""
        if not piece.endswith("\n") and len(piece) >= PIECE:
            words, space, last_word = piece.rpartition(" ")
            # A word without an end is cut anywhere, so that memory stays bounded.
            if space and len(last_word) < PIECE:
                piece, rest = words, last_word
        yield piece
    if rest:
        yield rest


def _json_texts(path: Path, file: TextIO, column: str | None) -> Iterator[str]:
    """Yield the texts in a field of JSON lines."""
    lines = iter(lambda: file.readline(LONGEST_JSON), "")
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            row = None
        if not isinstance(row, dict):
            raise InputError(f'{path}:{number}: not a line of JSON, such as {{"text": "…"}}')
        # The field is looked for in the first line, and has to be in all.
        if column not in row:
            column = _text_column(column, row, f"{path}:{number}", "field")
        if isinstance(text := row[column], str):  # a comment that was deleted is null
            yield from text.splitlines()


def _table_texts(path: Path, column: str | None) -> Iterator[str]:
    """Yield the texts in a column of a table, read in pieces."""
    for piece in pieces(path):
        if column not in piece.columns:
            column = _text_column(column, piece.columns, str(path), "column")
        for text in piece[column]:
            if isinstance(text, str):
                yield from text.splitlines()


def _text_column(column: str | None, columns: Iterable[str], where: str, kind: str) -> str:
    """Find the column of the text where none is named; refuse one that is not among `columns`."""
    if column is not None:
        raise InputError(f"{where}: {unknown(kind, column, columns)}")
    names = list(columns)
    for name in COLUMNS:
        if name in names:
            return name
    raise InputError(f"{where}: no {kind} {' or '.join(COLUMNS)}; name one of {shortened(names)}")
