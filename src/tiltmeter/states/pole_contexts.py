"""Terms in contexts: which kind, from which file, and what a model is given to read."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from tiltmeter.errors import InputError
from tiltmeter.states.contexts import alone, in_templates
from tiltmeter.states.dictionary import Dictionary
from tiltmeter.states.examples import (
    dictionary_examples,
    read_examples,
    read_word_examples,
)

__all__ = ["KINDS", "InContext", "place_terms", "place_words"]

#: Contexts that need no file.
KINDS = ("none", "templates", "dictionary")


@dataclass(frozen=True)
class InContext:
    """Terms in contexts.

    Parameters
    ----------
    kind
        none | templates | dictionary | generated | corpus.
    frame
        Columns CONTEXTS.
    file
        Where they were read.
    """

    kind: str
    frame: pl.DataFrame
    file: Path | None = None

    def describe(self) -> dict[str, Any]:
        """Say what was read, for the record."""
        digest = hashlib.sha256(self.frame.write_json().encode()).hexdigest()
        return {
            "kind": self.kind,
            "file": self.file.name if self.file else None,
            "contexts": self.frame.height,
            "sha256": digest,
        }


def place_terms(dictionary: Dictionary, named: str | None = None, most: int = 5) -> InContext:
    """Place the senses of a dictionary in contexts.

    Parameters
    ----------
    dictionary
        Whose senses are placed.
    named
        ``"none"``: each term alone; ``"templates"``: in the neutral ones; ``"dictionary"``: the
        dictionary's own examples; or the path of a file (`read_examples`). By default the
        dictionary's examples where it has any, else none.
    most
        Contexts per sense.

    Returns
    -------
    InContext

    Raises
    ------
    InputError
        If the file is missing or malformed, or a pole is left without contexts.
    """
    if named is None:
        given = dictionary.senses["examples"].list.len().sum()
        named = "dictionary" if given else "none"
    if named == "none":
        return InContext(named, alone(dictionary.terms))
    if named == "templates":
        return InContext(named, in_templates(dictionary.terms, apart=False))
    if named == "dictionary":
        return InContext(named, dictionary_examples(dictionary, most))
    path = _file(named)
    return InContext(_kind(path), read_examples(path, dictionary, most), path)


def place_words(words: Iterable[str], named: str = "none", most: int = 5) -> InContext:
    """Place the words of association tests in contexts.

    Parameters
    ----------
    words
        Each once.
    named
        ``"none"``, ``"templates"``, or the path of a file; contexts are kept apart, as ``ceat``
        wants them.
    most
        Contexts per word, of a file.

    Returns
    -------
    InContext

    Raises
    ------
    InputError
        If the file is missing or malformed, or a word has no context in it.
    """
    listed = list(dict.fromkeys(words))
    if named == "none":
        return InContext(named, alone(listed))
    if named == "templates":
        return InContext(named, in_templates(listed))
    path = _file(named)
    return InContext(_kind(path), read_word_examples(path, listed, most), path)


def _file(named: str) -> Path:
    path = Path(named)
    if not path.is_file():
        raise InputError(
            f"contexts {named!r}: no such file; allowed are {', '.join(KINDS)} or a file of JSON "
            "lines (tiltmeter profile contexts makes one)"
        )
    return path


def _kind(path: Path) -> str:
    """Tell by its first line what a file of contexts holds."""
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        first = next((line for line in file if line.strip()), "{}")
    try:
        source = json.loads(first).get("example_source")
    except (ValueError, AttributeError, RecursionError):
        return "generated"  # what reads the file will say what is wrong with it
    return source if source in ("corpus", "dictionary") else "generated"
