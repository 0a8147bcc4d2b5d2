"""Terms in contexts: alone, in neutral templates, in a prompt, in examples of a dictionary or file.

Reference: Schuster et al. 2024, "Profiling Bias in LLMs", section 3.3, names and gendered terms;
templates in the manner of May et al. 2019, NAACL (SEAT). The templates are in lower case, as in
the released code. The halves of the association prompt: Bai et al. 2025, PNAS 122(8), SI sections
J and O.

Deviations from the source: it sets "the" before what a tagger takes for a noun or an adjective.
Here names (a capital first) and pronouns have no article and all other terms have "the", unless
the article is stated. A template in which the term stands already ("the person is the person") is
left out: the place that is read would be the template's.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from clinometer.errors import InputError
from clinometer_measures.states.dictionary import Dictionary
from clinometer_measures.states.examples import (
    dictionary_examples,
    read_examples,
    read_word_examples,
)
from clinometer_measures.states.readers.states import HiddenStates
from clinometer_measures.states.tables import CONTEXTS

__all__ = [
    "KINDS",
    "PROMPT",
    "TEMPLATES",
    "InContext",
    "alone",
    "average_contexts",
    "digest",
    "in_prompt",
    "in_templates",
    "place_terms",
    "place_words",
    "rows_of",
    "term_of",
]

#: Contexts that need no file: of the senses of a dictionary, and of the words of tests.
KINDS = ("none", "templates", "dictionary")
TEST_KINDS = ("none", "templates", "prompt")

#: The halves of the association prompt, for a word of a group and for an attribute.
PROMPT = (
    "Here is a list of words. For each word pick a word — {}.",
    "— and write it after the word. The words are {}.",
)

TEMPLATES = (
    "this is {}",
    "that is {}",
    "there is {}",
    "the person is {}",
    "here is {}",
    "{} is here",
    "{} is there",
)

#: Words before which "the" cannot stand.
PRONOUNS = frozenset(
    "i me mine myself you yours yourself he him his himself she her hers herself it its itself "
    "we us ours ourselves they them theirs themself themselves one "
    "ze zir zirs hir hirs xe xem xyr ey em eirs fae faer ve ver vis".split()
)

#: Terms that have their article, or another word in its place.
_DETERMINED = re.compile(r"(a|an|the|my|your|his|her|its|our|their|this|that|some|any)\s", re.I)


def alone(terms: Iterable[str] | Mapping[str, str]) -> pl.DataFrame:
    """Use each term as its own context.

    Parameters
    ----------
    terms
        Terms, or keys and their terms (as of a dictionary's senses).

    Returns
    -------
    polars.DataFrame
        Columns CONTEXTS.

    Examples
    --------
    >>> alone(["friendly"]).rows()
    [('friendly', 'friendly', 'friendly')]
    """
    rows = [(key, term, term) for key, term in _terms_by_key(terms).items()]
    return pl.DataFrame(rows, schema=CONTEXTS, orient="row")


def in_templates(
    terms: Iterable[str] | Mapping[str, str],
    *,
    article: str | None = None,
    apart: bool = True,
    leading: bool = True,
) -> pl.DataFrame:
    """Set each term into each neutral template.

    Parameters
    ----------
    terms
        Terms, or keys and their terms.
    article
        Stands before every term: "the", "a", or "" for none. By default names, pronouns and terms
        that begin with an article have none, and all others "the".
    apart
        Whether each template has a row of states of its own (key ``Mary|3``), which intervals
        need; else they are averaged (key ``Mary``).
    leading
        Whether the two templates that begin with the term are used, as published. What a causal
        model makes of the first token says little about the term (see `profiles`).

    Returns
    -------
    polars.DataFrame
        Columns CONTEXTS.

    Examples
    --------
    >>> in_templates(["Mary", "mother", "she"])["context"][[0, 12, 17]].to_list()
    ['this is Mary', 'the mother is here', 'the person is she']
    """
    rows = []
    for key, term in _terms_by_key(terms).items():
        term_article = _article(term) if article is None else article.strip()
        phrase = f"{term_article} {term}" if term_article else term
        as_word = re.compile(rf"(?<!\w){re.escape(term)}(?!\w)", re.I)
        for number, template in enumerate(TEMPLATES, start=1):
            # Else the template's own word would be read in place of the term.
            if as_word.search(template.format("")):
                continue
            if template.startswith("{}") and not leading:
                continue
            rows.append((f"{key}|{number}" if apart else key, term, template.format(phrase)))
    return pl.DataFrame(rows, schema=CONTEXTS, orient="row")


def in_prompt(groups: Iterable[str], attributes: Iterable[str]) -> pl.DataFrame:
    """Set each word into its half of the association prompt.

    Parameters
    ----------
    groups, attributes
        Words. One that is a group in one test and an attribute in another has both contexts, over
        which its state is averaged.

    Returns
    -------
    polars.DataFrame
        Columns CONTEXTS.

    Examples
    --------
    >>> in_prompt(["black"], ["agony"])["context"].to_list()[0]
    'Here is a list of words. For each word pick a word — black.'
    """
    rows = []
    for half, words in zip(PROMPT, (groups, attributes), strict=True):
        rows += [(word, word, half.format(word)) for word in dict.fromkeys(words)]
    return pl.DataFrame(rows, schema=CONTEXTS, orient="row")


def term_of(key: str) -> str:
    """Give the term, or the key of a sense, that a row of states is of.

    Examples
    --------
    >>> term_of("Mary|3"), term_of("Mary"), term_of("warm|warm.a.01")
    ('Mary', 'Mary', 'warm|warm.a.01')
    """
    term, bar, number = key.rpartition("|")
    return term if bar and number.isdecimal() else key


def rows_of(
    states: HiddenStates, terms: Iterable[str]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Find the rows of states of some terms, whether apart by context (``Mary|3``) or averaged.

    No term stands twice. Gives rows of `states` and for each the position of its term in `terms`,
    both of shape (rows,). Raises InputError if a term has no state.
    """
    position_by_term = {term: position for position, term in enumerate(terms)}
    rows: list[int] = []
    positions: list[int] = []
    for row, key in enumerate(states.keys):
        # The whole key first: a term may itself end in a bar and a number.
        term = key if key in position_by_term else term_of(key)
        if term in position_by_term:
            rows.append(row)
            positions.append(position_by_term[term])
    present = set(positions)
    if absent := [term for term, position in position_by_term.items() if position not in present]:
        raise InputError(
            f"no states of {len(absent)} terms: {', '.join(map(repr, absent[:5]))}; give each a "
            "context"
        )
    return np.array(rows, dtype=np.intp), np.array(positions, dtype=np.intp)


def average_contexts(states: HiddenStates, terms: Iterable[str]) -> HiddenStates:
    """Average the states of each term over its contexts, where these stand apart (``Mary|3``).

    Each row weighs as many contexts as it is of; `terms`, none twice, give the order. States that
    have a row for each term are handed back as they are. Raises InputError if a term has no state.
    """
    keys = tuple(terms)
    if set(keys) <= set(states.keys):
        return states
    rows, positions = rows_of(states, keys)
    counts = np.bincount(positions, weights=states.counts[rows]).astype(np.int64)
    values = np.empty((len(keys), *states.values.shape[1:]), dtype=np.float32)
    # Term by term: weighted copies of all states of a large model would not fit.
    for position in range(len(keys)):
        term_rows = rows[positions == position]
        weighted = states.values[term_rows] * states.counts[term_rows, None, None]
        values[position] = weighted.sum(axis=0, dtype=np.float64) / counts[position]
    return HiddenStates(keys, states.layers, values, counts)


def _article(term: str) -> str:
    """Give the article that a template sets before a term; empty for none."""
    bare = term.casefold() in PRONOUNS or term[:1].isupper() or _DETERMINED.match(term)
    return "" if bare else "the"


def _terms_by_key(terms: Iterable[str] | Mapping[str, str]) -> dict[str, str]:
    """Give key → term; a term without a key is its own."""
    return dict(terms) if isinstance(terms, Mapping) else {term: term for term in terms}


class InContext(NamedTuple):
    """Terms in contexts.

    `kind`: none | templates | dictionary | generated | corpus; `frame`: columns CONTEXTS; `file`:
    where they were read.
    """

    kind: str
    frame: pl.DataFrame
    file: Path | None = None

    def describe(self) -> dict[str, Any]:
        """Say what was read, for the record."""
        facts = {"kind": self.kind, "file": self.file and self.file.name}
        return {**facts, "contexts": self.frame.height, "sha256": digest(self.frame)}


def digest(frame: pl.DataFrame) -> str:
    """Give the SHA-256 of a table, for the record."""
    return hashlib.sha256(frame.write_json().encode()).hexdigest()


def place_terms(dictionary: Dictionary, source: str | None = None, most: int = 5) -> InContext:
    """Place the senses of a dictionary in contexts, at most `most` of a file for each.

    `source`: ``"none"``, each term alone; ``"templates"``, the neutral ones; ``"dictionary"``, the
    dictionary's own examples; or the path of a file (`read_examples`). By default the dictionary's
    examples where it has any, else none. Raises InputError if the file is missing or malformed, or
    a pole is left without contexts.
    """
    if source is None:
        source = "dictionary" if dictionary.senses["examples"].list.len().sum() else "none"
    if source == "dictionary":
        return InContext(source, dictionary_examples(dictionary, most))
    terms = dictionary.terms
    if source == "none":
        return InContext(source, alone(terms))
    if source == "templates":
        return InContext(source, in_templates(terms, apart=False))
    return _read_contexts(source, lambda path: read_examples(path, dictionary, most), KINDS)


def place_words(words: Iterable[str], source: str = "none", most: int = 5) -> InContext:
    """Place the words of association tests in contexts, at most `most` of a file for each.

    `source`: ``"none"``, ``"templates"``, or the path of a file; contexts are kept apart, as
    ``ceat`` needs them. Raises InputError if the file is missing or malformed, or a word has no
    context in it.
    """
    distinct = list(dict.fromkeys(words))
    if source == "none":
        return InContext(source, alone(distinct))
    if source == "templates":
        return InContext(source, in_templates(distinct))
    return _read_contexts(source, lambda path: read_word_examples(path, distinct, most), TEST_KINDS)


def _read_contexts(
    source: str, load_file: Callable[[Path], pl.DataFrame], kinds: Iterable[str]
) -> InContext:
    """Read a file of contexts, of the kind that its first line says.

    `kinds` are what may stand in place of a path, for the message if there is no such file.
    """
    path = Path(source)
    if not path.is_file():
        raise InputError(
            f"contexts {source!r}: no such file; allowed are {', '.join(kinds)} or a file of JSON "
            "lines (clinometer profile contexts makes one)"
        )
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        first_line = next((line for line in file if line.strip()), "{}")
    try:
        writer = json.loads(first_line).get("example_source")
    except (ValueError, AttributeError, RecursionError):
        writer = None  # `load_file` will say what is wrong with the line
    # Any other writer is a model, by its name.
    kind = writer if writer in ("corpus", "dictionary") else "generated"
    return InContext(kind, load_file(path), path)
