"""Contexts of a dictionary's senses: sentences of a file, or the dictionary's own examples.

A file has a line of JSON for each sense, as Schuster et al. (2024) released theirs (there with the
ending .txt)::

    {"term": "warm", "synset": "warm.a.02", "definition": …, "examples": ["…", …],
     "example_source": "who wrote them"}

`term` and `examples` are needed; a sense without a synset is its term. The paper takes five
sentences for each sense. Lines about senses that are not in the dictionary are left out.
"""

from __future__ import annotations

import itertools
import json
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from clinometer.errors import ClinometerWarning, InputError
from clinometer.results.tables import need_columns
from clinometer.texts import read_text, write_text
from clinometer_measures.states.dictionary import Dictionary
from clinometer_measures.states.readers.states import locate
from clinometer_measures.states.tables import CONTEXTS

__all__ = [
    "dictionary_examples",
    "for_senses",
    "holds",
    "read_examples",
    "read_word_examples",
    "senses_of",
    "write_examples",
]

#: How many senses a message names.
MOST_NAMES = 5

_SENSE = ("key", "term", "synset", "definition")


def read_examples(path: str | Path, dictionary: Dictionary, most: int = 5) -> pl.DataFrame:
    """Read the sentences of a dictionary's senses.

    Parameters
    ----------
    path
        A file of JSON lines.
    dictionary
        Whose senses are wanted. Those without a sentence are left out, with a warning.
    most
        Sentences per sense, the first ones.

    Returns
    -------
    polars.DataFrame
        Columns CONTEXTS, in the dictionary's order; the key is that of the sense.

    Raises
    ------
    InputError
        If the file is missing, a line is malformed, a sense stands twice with other sentences, a
        sentence does not hold its term, or all senses of a pole are without a sentence.
    """
    sentences = _read_lines(Path(path), dictionary.terms, most)
    _refuse_empty_poles(sentences, dictionary, str(path))
    return _contexts(sentences, dictionary.terms, str(path))


def read_word_examples(path: str | Path, words: Iterable[str], most: int = 5) -> pl.DataFrame:
    """Read the sentences of words that have no senses, such as those of an association test.

    As `read_examples`; the key is the word and the number of its sentence (``sea|2``), so that the
    states of one sentence can be told from those of another. Raises InputError if a word has no
    sentence, too.
    """
    # A word is its own key: it has no senses.
    terms = {word: word for word in words}
    sentences = _read_lines(Path(path), terms, most)
    if bare := [word for word in terms if not sentences.get(word)]:
        raise InputError(
            f"{path}: {len(bare)} of {len(terms)} words have no example: {_list_first(bare)}; add "
            "a line for each"
        )
    rows = []
    for word in terms:
        for number, text in enumerate(sentences[word], start=1):
            rows.append((f"{word}|{number}", word, text))
    return pl.DataFrame(rows, schema=CONTEXTS, orient="row")


def dictionary_examples(dictionary: Dictionary, most: int = 5) -> pl.DataFrame:
    """Take the dictionary's own examples, at most `most` per sense, that hold their term.

    Columns CONTEXTS; senses without such an example are left out, with a warning. Raises InputError
    if all senses of a pole are without one.
    """
    sentences = {}
    for key, term, examples in dictionary.senses.select("key", "term", "examples").iter_rows():
        # A sense without examples has null.
        sentences[key] = [text for text in examples or () if holds(term, text)][:most]
    name = f"examples of {dictionary.name}"
    _refuse_empty_poles(sentences, dictionary, name)
    return _contexts(sentences, dictionary.terms, name)


def for_senses(contexts: pl.DataFrame, senses: pl.DataFrame, name: str) -> pl.DataFrame:
    """Give every sense of a term the contexts of the term: a corpus does not tell senses apart.

    `contexts` have terms for keys, `senses` the columns `key` and `term`; those without a context
    are left out, with a warning that calls the contexts by `name`. In the order of the senses.
    """
    by_term = _sentences_by_key(contexts, name)
    terms = dict(senses.select("key", "term").iter_rows())
    sentences = {key: by_term.get(term, []) for key, term in terms.items()}
    return _contexts(sentences, terms, name)


def senses_of(terms: Iterable[str]) -> pl.DataFrame:
    """List terms, each once, as senses: `key` and `term`, with `synset` and `definition` null."""
    rows = [(term, term, None, None) for term in dict.fromkeys(terms)]
    return pl.DataFrame(rows, schema=dict.fromkeys(_SENSE, pl.String()), orient="row")


def write_examples(
    contexts: pl.DataFrame, senses: pl.DataFrame, path: str | Path, source: str
) -> None:
    """Write contexts as `read_examples` reads them, whole or not at all.

    `contexts` have columns CONTEXTS; `senses` have `key`, `term`, `synset` and `definition`, as of
    a dictionary, and set the order; `source`: who wrote the sentences. An earlier file at `path` is
    replaced. Raises InputError if the file cannot be written.
    """
    sentences = _sentences_by_key(contexts, "contexts")
    # A sense in two dimensions has two rows, and one line.
    first = senses.select(_SENSE).unique("key", keep="first", maintain_order=True)
    lines = []
    for key, *values in first.filter(pl.col("key").is_in([*sentences])).iter_rows():
        row = dict(zip(_SENSE[1:], values, strict=True))
        row |= {"examples": sentences[key], "example_source": source}
        lines.append(json.dumps(row, ensure_ascii=False) + "\n")
    write_text(Path(path), "".join(lines))


def _sentences_by_key(contexts: pl.DataFrame, name: str) -> dict[str, list[str]]:
    """Collect the sentences of each key; `name` is what errors call the contexts."""
    need_columns(contexts, list(CONTEXTS), name)
    by_key = contexts.group_by("key", maintain_order=True).agg("context")
    return dict(by_key.iter_rows())


def _contexts(
    sentences: Mapping[str, Sequence[str]], terms: Mapping[str, str], name: str
) -> pl.DataFrame:
    """Make the table, in the order of `terms` (key → term); warn of senses without a sentence."""
    rows = [(key, term, text) for key, term in terms.items() for text in sentences.get(key, ())]
    if bare := [key for key in terms if not sentences.get(key)]:
        warnings.warn(
            f"{name}: {len(bare)} of {len(terms)} senses have no example and are left out: "
            f"{_list_first(bare)}",
            ClinometerWarning,
            stacklevel=3,
        )
    return pl.DataFrame(rows, schema=CONTEXTS, orient="row")


def _refuse_empty_poles(
    sentences: Mapping[str, Sequence[str]], dictionary: Dictionary, name: str
) -> None:
    """Raise InputError if all senses of a pole are without a sentence."""
    for dimension, direction in itertools.product(dictionary.dimensions, ("high", "low")):
        if not any(sentences.get(key) for key in dictionary.pole([dimension], direction)):
            raise InputError(
                f"{name}: no sense of the {direction} pole of {dimension} has an example; give at "
                "least one"
            )


def _list_first(keys: Sequence[str]) -> str:
    """List the first keys for a message."""
    return ", ".join(keys[:MOST_NAMES]) + (", …" if len(keys) > MOST_NAMES else "")


def _read_lines(path: Path, terms: Mapping[str, str], most: int) -> dict[str, list[str]]:
    """Read the sentences of senses, by key: of those of `terms` (key → term) that the file has."""
    if most < 1:
        raise InputError(f"most {most}: at least 1 example per sense")
    by_key: dict[str, tuple[int, list[str]]] = {}  # key → its line, and all its sentences
    for number, row in _json_lines(path):
        key, sentences = _read_sense(row, f"{path}:{number}")
        if key not in terms:
            continue
        line, earlier = by_key.setdefault(key, (number, sentences))
        # The same sense twice with the same sentences, as in two dimensions, is no fault.
        if earlier != sentences:
            raise InputError(
                f"{path}:{number}: {key!r} has other examples in line {line}; keep one line"
            )
    examples = {}
    for key, (line, sentences) in by_key.items():
        term = terms[key]
        examples[key] = sentences[:most]
        for text in examples[key]:
            if not holds(term, text):
                raise InputError(
                    f"{path}:{line}: {term!r} is no word of the example {text!r}; correct it"
                )
    return examples


def _json_lines(path: Path) -> Iterator[tuple[int, Any]]:
    """Yield the number and the value of each line of a file that is not blank."""
    # Not splitlines: a sentence may hold characters that it takes for the end of a line.
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if line.strip():
            try:
                yield number, json.loads(line)
            except (ValueError, RecursionError):
                raise InputError(
                    f"{path}:{number}: not a line of JSON, such as "
                    '{"term": "warm", "examples": ["…"]}'
                ) from None


def _read_sense(row: Any, where: str) -> tuple[str, list[str]]:
    """Read a line: the key and the examples."""
    if not isinstance(row, dict):
        raise InputError(f"{where}: expected an object with term and examples")
    term = row.get("term")
    synset = row.get("synset")
    examples = row.get("examples")
    if not isinstance(term, str) or not term.strip():
        raise InputError(f"{where}: term {term!r}: expected a word")
    if synset is not None and not isinstance(synset, str):
        raise InputError(f"{where}: synset {synset!r}: expected a text such as warm.a.02, or null")
    if not isinstance(examples, list) or not all(isinstance(text, str) for text in examples):
        raise InputError(f"{where}: examples of {term!r}: expected a list of sentences")
    term = term.strip()
    key = f"{term}|{synset}" if synset else term
    return key, [text for text in examples if text.strip()]


def holds(term: str, text: str) -> bool:
    """Tell whether a term stands in a text as a word of its own."""
    try:
        locate(term, text)
    except InputError:
        return False
    return True
