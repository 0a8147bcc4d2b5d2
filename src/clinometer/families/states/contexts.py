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
from clinometer.families.states.dictionary import Dictionary
from clinometer.families.states.examples import (
    dictionary_examples,
    read_examples,
    read_word_examples,
)
from clinometer.families.states.readers.states import HiddenStates
from clinometer.families.states.tables import CONTEXTS

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
OF_TESTS = ("none", "templates", "prompt")

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
    rows = [(key, term, term) for key, term in _keyed(terms).items()]
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
    for key, term in _keyed(terms).items():
        before = _article(term) if article is None else article.strip()
        phrase = f"{before} {term}" if before else term
        within = re.compile(rf"(?<!\w){re.escape(term)}(?!\w)", re.I)
        for number, template in enumerate(TEMPLATES, start=1):
            if within.search(template.format("")) or (template.startswith("{}") and not leading):
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
    halves = zip(PROMPT, (groups, attributes), strict=True)
    rows = [
        (word, word, half.format(word)) for half, words in halves for word in dict.fromkeys(words)
    ]
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

    No term stands twice. Gives rows of `states` and for each the place of its term in `terms`, both
    of shape (rows,). Raises InputError if a term has no state.
    """
    place = {term: at for at, term in enumerate(terms)}
    pairs = [
        (row, place[term])
        for row, key in enumerate(states.keys)
        if (term := key if key in place else term_of(key)) in place
    ]
    rows, of = np.array(pairs, dtype=np.intp).reshape(-1, 2).T
    seen = set(of.tolist())
    if absent := [term for term, at in place.items() if at not in seen]:
        raise InputError(
            f"no states of {len(absent)} terms: {', '.join(map(repr, absent[:5]))}; give each a "
            "context"
        )
    return rows, of


def average_contexts(states: HiddenStates, terms: Iterable[str]) -> HiddenStates:
    """Average the states of each term over its contexts, where these stand apart (``Mary|3``).

    Each row weighs as many contexts as it is of; `terms`, none twice, give the order. States that
    have a row for each term are handed back as they are. Raises InputError if a term has no state.
    """
    listed = tuple(terms)
    if set(listed) <= set(states.keys):
        return states
    rows, of = rows_of(states, listed)
    counts = np.bincount(of, weights=states.counts[rows]).astype(np.int64)
    values = np.empty((len(listed), *states.values.shape[1:]), dtype=np.float32)
    for at in range(len(listed)):
        own = rows[of == at]
        weighed = states.values[own] * states.counts[own, None, None]
        values[at] = weighed.sum(axis=0, dtype=np.float64) / counts[at]
    return HiddenStates(listed, states.layers, values, counts)


def _article(term: str) -> str:
    bare = term.casefold() in PRONOUNS or term[:1].isupper() or _DETERMINED.match(term)
    return "" if bare else "the"


def _keyed(terms: Iterable[str] | Mapping[str, str]) -> dict[str, str]:
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


def place_terms(dictionary: Dictionary, named: str | None = None, most: int = 5) -> InContext:
    """Place the senses of a dictionary in contexts, at most `most` of a file for each.

    `named`: ``"none"``, each term alone; ``"templates"``, the neutral ones; ``"dictionary"``, the
    dictionary's own examples; or the path of a file (`read_examples`). By default the dictionary's
    examples where it has any, else none. Raises InputError if the file is missing or malformed, or
    a pole is left without contexts.
    """
    if named is None:
        named = "dictionary" if dictionary.senses["examples"].list.len().sum() else "none"
    if named == "dictionary":
        return InContext(named, dictionary_examples(dictionary, most))
    terms = dictionary.terms
    if named == "none":
        return InContext(named, alone(terms))
    if named == "templates":
        return InContext(named, in_templates(terms, apart=False))
    return _from_file(named, lambda path: read_examples(path, dictionary, most), KINDS)


def place_words(words: Iterable[str], named: str = "none", most: int = 5) -> InContext:
    """Place the words of association tests in contexts, at most `most` of a file for each.

    `named`: ``"none"``, ``"templates"``, or the path of a file; contexts are kept apart, as
    ``ceat`` needs them. Raises InputError if the file is missing or malformed, or a word has no
    context in it.
    """
    listed = list(dict.fromkeys(words))
    if named == "none":
        return InContext(named, alone(listed))
    if named == "templates":
        return InContext(named, in_templates(listed))
    return _from_file(named, lambda path: read_word_examples(path, listed, most), OF_TESTS)


def _from_file(named: str, read: Callable[[Path], pl.DataFrame], kinds: Iterable[str]) -> InContext:
    """Read a file of contexts; its first line tells what it holds."""
    path = Path(named)
    if not path.is_file():
        raise InputError(
            f"contexts {named!r}: no such file; allowed are {', '.join(kinds)} or a file of JSON "
            "lines (clinometer profile contexts makes one)"
        )
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        first = next((line for line in file if line.strip()), "{}")
    try:
        source = json.loads(first).get("example_source")
    except (ValueError, AttributeError, RecursionError):
        source = None  # what reads the file will say what is wrong with it
    kind = source if source in ("corpus", "dictionary") else "generated"
    return InContext(kind, read(path), path)
