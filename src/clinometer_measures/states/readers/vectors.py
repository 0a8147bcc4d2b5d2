"""Static word vectors, such as FastText's, read as a model with one layer.

Reference: Fraser, Nejadgholi & Kiritchenko 2021, ACL, whose FastText vectors are the baseline of
Schuster et al. 2024, section 4.1. Files: the text format of FastText and word2vec, with or without
its first line (number of words, width); then a word and its numbers in each line, set apart by
spaces. The ending is ``.vec`` or ``.vec.gz``. FastText's binary format, which makes vectors of
words that it never saw, is not read.

A word has one vector, whatever its context, so contexts do not matter. It is looked up as it is
spelt, else in lower case. A phrase, or a word with a hyphen, that has no vector gets the mean of
those of its parts if all have one. Terms without a vector are left out, with a warning.
"""

from __future__ import annotations

import hashlib
import re
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from clinometer.errors import ClinometerWarning, ModelError, shortened
from clinometer.packed import LARGEST_STREAM, open_packed
from clinometer_measures.states.readers.states import HiddenStates, find_terms

__all__ = ["ENDINGS", "WordVectors"]

Vector = NDArray[np.float32]

#: Endings of files of vectors.
ENDINGS = (".vec", ".vec.gz")

#: Bytes of the longest line: 20,000 numbers of 50 characters.
LONGEST_LINE = 1_000_000


class WordVectors:
    """A file of word vectors; `width`: numbers per word."""

    layers: tuple[str, ...] = ("0",)
    last = "static"

    def __init__(self, name: str) -> None:
        self.name = name
        self._path = Path(name).expanduser()
        digest = hashlib.sha256()
        try:
            with self._path.open("rb") as file:
                while part := file.read(2**20):
                    digest.update(part)
        except OSError as error:
            raise ModelError(f"model {name!r}: {error.strerror or error}") from None
        self.fingerprint = digest.hexdigest()
        first = next(self._lines(), None)
        if first is None:
            raise ModelError(
                f"model {name!r}: no vectors; expected a word and its numbers in lines"
            )
        self.width = len(first[2].split())

    def read(self, contexts: pl.DataFrame) -> HiddenStates:
        """Give the vector of the term of each key of contexts (columns CONTEXTS).

        Keys whose term has no vector are left out, with a warning. Raises InputError if a term does
        not stand in its context, and ModelError if a line is malformed or no term has a vector.
        """
        find_terms(contexts)
        table = contexts.group_by("key", maintain_order=True).agg(
            pl.col("term").first(), n=pl.len()
        )
        terms = table["term"].unique(maintain_order=True).to_list()
        forms = {form for term in terms for form in _forms(term)}
        by_form = self._find(forms)
        vectors = {term: _vector(term, by_form) for term in terms}
        lacking = [term for term, vector in vectors.items() if vector is None]
        if len(lacking) == len(terms):
            raise ModelError(f"model {self.name!r}: none of {len(terms)} terms has a vector")
        if lacking:
            warnings.warn(
                f"{self.name}: no vector of {len(lacking)} of {len(terms)} terms, which are left "
                f"out: {shortened(lacking)}",
                ClinometerWarning,
                stacklevel=2,
            )
        keys: list[str] = []
        rows: list[Vector] = []
        counts: list[int] = []
        for key, term, n in table.iter_rows():
            vector = vectors[term]
            if vector is not None:
                keys.append(key)
                rows.append(vector)
                counts.append(n)
        values = np.stack(rows)[:, None]  # (keys, 1 layer, width)
        return HiddenStates(tuple(keys), self.layers, values, np.array(counts, dtype=np.int64))

    def _find(self, words: set[str]) -> dict[str, Vector]:
        """Read the vectors of some words; of a word that stands twice, the first."""
        # The lines are bytes, so the words are encoded, not every line decoded.
        names = {word.encode(): word for word in words}
        vectors: dict[str, Vector] = {}
        for number, word, rest in self._lines():
            if word in names and names[word] not in vectors:
                vectors[names[word]] = self._numbers(number, word, rest)
        return vectors

    def _numbers(self, number: int, word: bytes, rest: bytes) -> Vector:
        """Read the numbers of a line; `number` and `word` are for errors."""
        numbers = rest.split()
        where = f"model {self.name!r}: line {number}: {shortened([word.decode(errors='replace')])}"
        if len(numbers) != self.width:
            raise ModelError(f"{where}: {len(numbers)} numbers; {self.width} are expected")
        try:
            vector = np.array(numbers, dtype=np.float32)
        except ValueError:
            raise ModelError(f"{where}: expected numbers, as in -0.0341 0.1275") from None
        if not np.isfinite(vector).all():
            raise ModelError(f"{where}: a number is not finite")
        return vector

    def _lines(self) -> Iterator[tuple[int, bytes, bytes]]:
        """Yield the number of each line, its word, and its numbers as text."""
        try:
            with open_packed(self._path, largest=LARGEST_STREAM, error=ModelError) as file:
                for number, line in enumerate(iter(lambda: file.readline(LONGEST_LINE), b""), 1):
                    word, _, rest = line.rstrip().partition(b" ")
                    if number == 1 and word.isdigit() and rest.isdigit():
                        continue
                    if not rest or len(line) == LONGEST_LINE:
                        raise ModelError(
                            f"model {self.name!r}: line {number}: expected a word and its numbers, "
                            "set apart by spaces"
                        )
                    yield number, word, rest
        except OSError as error:
            raise ModelError(f"model {self.name!r}: {error}") from None


def _forms(term: str) -> Iterable[str]:
    """List the words whose vectors may serve for a term."""
    forms = []
    for word in (term, *_parts(term)):
        forms += [word, word.lower()]
    return forms


def _parts(term: str) -> list[str]:
    """Part a phrase, or a word with hyphens, into its words."""
    return [part for part in re.split(r"[\s-]+", term) if part]


def _vector(term: str, by_form: dict[str, Vector]) -> Vector | None:
    """Give the vector of a term, or the mean of those of its parts; None if one is unknown."""
    vector = by_form.get(term, by_form.get(term.lower()))
    if vector is not None:
        return vector
    parts: list[Vector] = []
    for part in _parts(term):
        vector = by_form.get(part, by_form.get(part.lower()))
        if vector is None:
            return None
        parts.append(vector)
    return np.asarray(np.mean(parts, axis=0), dtype=np.float32) if parts else None
