"""Tables of hidden states, and the columns that only they have."""

from __future__ import annotations

import polars as pl

from clinometer.results.columns import Meaning, Schema, columns, typed_columns
from clinometer.results.schemas import FITS, Table

__all__ = [
    "ASSOCIATION_TESTS",
    "COLUMNS",
    "CONTEXTS",
    "CONTEXT_PROPERTIES",
    "DIRECTION_TERMS",
    "PROFILE_TERMS",
    "TABLES",
]

#: The columns that only these tables have.
COLUMNS = {
    **typed_columns(
        pl.String(),
        role="whose contexts: terms of the poles, or held-out terms",
        property="what is counted: contexts per term, words of a context, position of the term",
        key="what is averaged: rows with the same key (a term, a sense, or a term in one context)",
        term=Meaning("a term as it is spelt in its context", "Word"),
        context="the text that contains the term",
    ),
    **typed_columns(
        pl.Int64(),
        n_first="words of the first group or set of targets",
        n_second="words of the second group or set of targets",
        n_toward="words of the attributes `toward`",
        n_against="words of the attributes `against`",
        n_contexts=Meaning("contexts of a word", "Contexts of the word"),
        n_high=Meaning("terms that the dictionary has at the high pole", "High"),
        value="number of contexts, number of words, or place of the term among them",
    ),
    **typed_columns(
        pl.Float64(),
        coordinate=Meaning(
            "coordinate of a word, in standard deviations of the compared words", "Value"
        ),
        raw="coordinate of a word before standardisation",
        between_variance="ceat: variance of the effect between draws of contexts (τ²)",
    ),
}

#: Texts for reading hidden states: a row per term in a context.
CONTEXTS: Schema = columns("key", "term", "context", own=COLUMNS)

#: How many terms or contexts have a value of a property; the same for every model.
CONTEXT_PROPERTIES: Schema = columns("contexts", "role", "property", "value", "n", own=COLUMNS)

_KEYS = ("model", "contexts", "removed")

#: Words of groups and single words, standardised by the groups' mean and sd. The interval is over
#: the contexts of the word; null with fewer than 2.
PROFILE_TERMS: Schema = columns(
    *(*_KEYS, "words", "layer", "space", "dimension", "group", "term", "coordinate", "confidence"),
    *("ci_low", "ci_high", "raw", "n_contexts"),
    own=COLUMNS,
)

DIRECTION_TERMS: Schema = columns(*_KEYS, "space", "dimension", "n", "n_high", own=COLUMNS)

ASSOCIATION_TESTS: Schema = columns(
    *(*_KEYS, "study", "measure", "stereotype", "dimension", "layer", "first", "second", "toward"),
    *("against", "n_first", "n_second", "n_toward", "n_against", "between_variance"),
    own=COLUMNS,
)

#: The tables of a results directory.
TABLES = {
    name: Table("states", schema, meaning, COLUMNS)
    for name, schema, meaning in (
        ("state_terms", PROFILE_TERMS, "a row per layer, dimension and word"),
        ("state_directions", DIRECTION_TERMS, "a row per dimension: held-out terms"),
        ("state_contexts", CONTEXT_PROPERTIES, "a row per property of contexts"),
        ("state_tests", ASSOCIATION_TESTS, "a row per test and layer: its words"),
        ("state_fits", FITS, "a row per regression: the fit behind a coefficient"),
    )
}
