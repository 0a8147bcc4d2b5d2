"""The tables about hidden states: what a model reads, and the details behind estimates.

Groups that are compared are `first` and `second`; a difference is of first minus second.
"""

from __future__ import annotations

from tiltmeter.results.columns import Schema, columns

__all__ = ["ASSOCIATION_TESTS", "CONTEXTS", "DIRECTION_TERMS", "PROFILE_TERMS"]

#: One row per term in a context: what a model reads.
CONTEXTS: Schema = columns("key", "term", "context")

_OF = columns("model", "contexts", "removed")

#: One row per layer, dimension and word: of groups, and of words that stand for themselves,
#: standardised by the groups' mean and sd. The interval is over the contexts of the word, and null
#: with fewer than 2.
PROFILE_TERMS: Schema = {
    **_OF,
    **columns("words", "layer", "space", "dimension", "group", "term"),
    **columns("coordinate", "confidence", "ci_low", "ci_high", "raw", "n_contexts"),
}

#: One row per dimension: the terms whose direction is predicted.
DIRECTION_TERMS: Schema = {**_OF, **columns("space", "dimension", "n", "n_high")}

#: One row per association test and layer: how many words it has.
ASSOCIATION_TESTS: Schema = {
    **_OF,
    **columns("study", "measure", "stereotype", "dimension", "layer"),
    **columns("first", "second", "toward", "against"),
    **columns("n_first", "n_second", "n_toward", "n_against", "between_variance"),
}
