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

import gzip
import hashlib
import re
import warnings
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, cast

import numpy as np
import polars as pl
from numpy.typing import NDArray

from clinometer.errors import ClinometerWarning, ModelError, shortened
from clinometer.families.states.readers.states import States, find_terms

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
        self.name, self._path = name, Path(name).expanduser()
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

    def read(self, contexts: pl.DataFrame) -> States:
        """Give the vector of the term of each key of contexts (columns CONTEXTS).

        Keys whose term has no vector are left out, with a warning. Raises InputError if a term does
        not stand in its context, and ModelError if a line is malformed or no term has a vector.
        """
        find_terms(contexts)
        keys = contexts.group_by("key", maintain_order=True).agg(pl.col("term").first(), n=pl.len())
        terms = keys["term"].unique(maintain_order=True).to_list()
        known = self._find({form for term in terms for form in _forms(term)})
        vectors = {term: _vector(term, known) for term in terms}
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
        rows = [(key, vectors[term], n) for key, term, n in keys.iter_rows()]
        kept = [(key, vector, n) for key, vector, n in rows if vector is not None]
        values = np.stack([vector for _, vector, _ in kept])[:, None]
        counts = np.array([n for *_, n in kept], dtype=np.int64)
        return States(tuple(key for key, *_ in kept), self.layers, values, counts)

    def _find(self, wanted: set[str]) -> dict[str, Vector]:
        """Read the vectors of some words; of a word that stands twice, the first."""
        names, found = {word.encode(): word for word in wanted}, dict[str, Vector]()
        for number, word, rest in self._lines():
            if word in names and names[word] not in found:
                found[names[word]] = self._numbers(number, word, rest)
        return found

    def _numbers(self, number: int, word: bytes, rest: bytes) -> Vector:
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
            opened = gzip.open(self._path) if self._path.suffix == ".gz" else self._path.open("rb")
            with cast(IO[bytes], opened) as file:
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
        except (OSError, EOFError, zlib.error) as error:
            raise ModelError(f"model {self.name!r}: {error}") from None


def _forms(term: str) -> Iterable[str]:
    """List the words whose vectors may serve for a term."""
    return [form for word in (term, *_parts(term)) for form in (word, word.lower())]


def _parts(term: str) -> list[str]:
    return [part for part in re.split(r"[\s-]+", term) if part]


def _vector(term: str, known: dict[str, Vector]) -> Vector | None:
    """Give the vector of a term, or the mean of those of its parts; None if one is unknown."""
    whole = known.get(term, known.get(term.lower()))
    if whole is not None:
        return whole
    parts = [known.get(part, known.get(part.lower())) for part in _parts(term)]
    found = [part for part in parts if part is not None]
    if not found or len(found) < len(parts):
        return None
    return np.asarray(np.mean(found, axis=0), dtype=np.float32)
