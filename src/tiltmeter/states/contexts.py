"""Contexts that say nothing about a term: neutral templates, and none at all.

Reference: Schuster et al. 2024, "Profiling Bias in LLMs", section 3.3, names and gendered terms;
templates in the manner of May et al. 2019, NAACL (SEAT). The templates are in lower case, as in
the released code.

Deviations from the source: it sets "the" before what a tagger takes for a noun or an adjective.
Here names (a capital first) and pronouns have no article and all other terms have "the", unless
the article is stated. A template in which the term stands already ("the person is the person") is
left out: the place that is read would be the template's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tiltmeter.errors import InputError
from tiltmeter.models.readers.states import States
from tiltmeter.results.states import CONTEXTS

__all__ = ["TEMPLATES", "alone", "in_templates", "rows_of", "term_of"]

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
    """Make each term its own context: what the model takes it for before any context.

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
    return _frame([(key, term, term) for key, term in _keyed(terms).items()])


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
        for number, template in enumerate(TEMPLATES, start=1):
            if template.startswith("{}") and not leading:
                continue
            if not re.search(rf"(?<!\w){re.escape(term)}(?!\w)", template.format(""), re.I):
                context = template.format(phrase)
                rows.append((f"{key}|{number}" if apart else key, term, context))
    return _frame(rows)


def term_of(key: str) -> str:
    """Give the term, or the key of a sense, that a row of states is of.

    Examples
    --------
    >>> term_of("Mary|3"), term_of("Mary"), term_of("warm|warm.a.01")
    ('Mary', 'Mary', 'warm|warm.a.01')
    """
    term, bar, number = key.rpartition("|")
    return term if bar and number.isdecimal() else key


def rows_of(states: States, terms: Iterable[str]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Find the rows of states of some terms, whether apart by context or averaged.

    Parameters
    ----------
    states
        Keys are terms, or terms and the number of a context (``Mary|3``).
    terms
        No term twice.

    Returns
    -------
    rows : numpy.ndarray
        Rows of `states`.
    of : numpy.ndarray
        For each, the place of its term in `terms`.

    Raises
    ------
    InputError
        If a term has no state.
    """
    place = {term: at for at, term in enumerate(terms)}
    found = [
        (row, place[term])
        for row, key in enumerate(states.keys)
        if (term := key if key in place else term_of(key)) in place
    ]
    rows, of = np.array(found, dtype=np.intp).reshape(-1, 2).T
    seen = set(of.tolist())
    absent = [term for term, at in place.items() if at not in seen]
    if absent:
        raise InputError(
            f"no states of {len(absent)} terms: {', '.join(map(repr, absent[:5]))}; give each a "
            "context"
        )
    return rows, of


def _article(term: str) -> str:
    bare = term.casefold() in PRONOUNS or term[:1].isupper() or _DETERMINED.match(term)
    return "" if bare else "the"


def _keyed(terms: Iterable[str] | Mapping[str, str]) -> dict[str, str]:
    return dict(terms) if isinstance(terms, Mapping) else {term: term for term in terms}


def _frame(rows: list[tuple[str, str, str]]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=CONTEXTS, orient="row")
