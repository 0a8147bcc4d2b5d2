"""Properties of contexts: how many a term has, how long they are, and where the term stands.

Reference: Schuster et al. 2024, section 3.2 and figure 2. Three counts, as there: contexts per term
(of a dictionary: per sense), words per context, and the place of the term among the words of its
context, from 1 on. Words are set apart by white space. No term without a context is left out: it
counts as one with 0.
"""

from __future__ import annotations

import polars as pl

from clinometer.results import check
from clinometer_measures.states.contexts import term_of
from clinometer_measures.states.readers.states import find_terms
from clinometer_measures.states.tables import CONTEXT_PROPERTIES

__all__ = ["describe_contexts"]


def describe_contexts(contexts: pl.DataFrame, kind: str, role: str, n_terms: int) -> pl.DataFrame:
    """Count the properties of contexts.

    Parameters
    ----------
    contexts
        Columns CONTEXTS; keys of one term may be apart (``Mary|3``).
    kind
        Kind of the contexts, such as ``"generated"``.
    role
        Whose contexts they are: ``"poles"`` or ``"held-out"``.
    n_terms
        Terms, or senses, that were to have contexts.

    Returns
    -------
    polars.DataFrame
        Columns CONTEXT_PROPERTIES: per property and value how many terms, or contexts, have it.

    Raises
    ------
    InputError
        If a term does not stand in its context; the row is named.

    Examples
    --------
    >>> frame = pl.DataFrame({"key": ["warm", "warm"], "term": ["warm", "warm"],
    ...                       "context": ["a warm coat", "warm"]})
    >>> describe_contexts(frame, "corpus", "poles", 1).select("property", "value", "n").rows()[:3]
    [('contexts per term', 2, 1), ('words', 1, 1), ('words', 3, 1)]
    """
    spans = find_terms(contexts)
    texts = contexts["context"].to_list()
    positions = []
    for text, (begin, _) in zip(texts, spans, strict=True):
        positions.append(1 + len(text[:begin].split()))
    per_term = contexts["key"].map_elements(term_of, pl.String).value_counts()["count"].to_list()
    # Terms without a context have no row here, and count as 0.
    per_term += [0] * (n_terms - len(per_term))
    counts = [
        _count_values("contexts per term", per_term),
        _count_values("words", [len(text.split()) for text in texts]),
        _count_values("position", positions),
    ]
    table = pl.concat(counts).with_columns(contexts=pl.lit(kind), role=pl.lit(role))
    return check(table, CONTEXT_PROPERTIES, "contexts")


def _count_values(name: str, values: list[int]) -> pl.DataFrame:
    """Count how often a property has each value."""
    # The type is stated: an empty list would have none.
    frame = pl.DataFrame({"value": values}, schema={"value": pl.Int64})
    counts = frame.group_by("value").agg(n=pl.len()).sort("value")
    return counts.with_columns(property=pl.lit(name))
