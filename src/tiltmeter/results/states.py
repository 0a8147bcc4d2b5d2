"""The columns of tables about what stands inside a model: states, profiles, associations.

`layer` is a number as text, "0" for the embeddings below the first block, or "mean" for the mean
over all layers. `removed` is how many leading components were taken out of the states. Groups
that are compared are `first` and `second`; a difference is of first minus second.
"""

from __future__ import annotations

import polars as pl

from tiltmeter.results.columns import Schema

__all__ = [
    "ASSOCIATIONS",
    "CONTEXTS",
    "DIRECTIONS",
    "FITS",
    "PROFILES",
    "PROFILE_DIFFERENCES",
    "PROFILE_TERMS",
    "RELATIONS",
    "REPRESENTATION_TABLES",
]

_TEXT, _NUMBER, _COUNT = pl.String(), pl.Float64(), pl.Int64()

#: One row per term in a context: what a model reads.
CONTEXTS: Schema = {
    "key": _TEXT,  # rows of one key are averaged: a term, a sense, a term in one of its contexts
    "term": _TEXT,  # as it stands in the context, but for case
    "context": _TEXT,
}

_OF: Schema = {
    "model": _TEXT,
    "contexts": _TEXT,  # generated | dictionary | corpus | templates | none: of the poles' terms
    "removed": _COUNT,  # leading components taken out of the states
}

_AT: Schema = {
    "words": _TEXT,  # the set of groups that are compared: names, terms
    "layer": _TEXT,
    "space": _TEXT,  # broad (warmth, competence) | fine (the dictionary's own dimensions)
    "dimension": _TEXT,
}

_INTERVAL: Schema = {"ci_low": _NUMBER, "ci_high": _NUMBER, "confidence": _NUMBER}

#: One row per layer, dimension and group of words.
PROFILES: Schema = {
    **_OF,
    **_AT,
    "group": _TEXT,
    "mean": _NUMBER,  # in standard deviations of all compared words; neutral 0
    **_INTERVAL,
    "sd": _NUMBER,  # ddof 0, as published
    "raw": _NUMBER,  # the mean coordinate before standardisation
    "n": _COUNT,  # words
}

#: One row per layer, dimension and pair of groups.
PROFILE_DIFFERENCES: Schema = {
    **_OF,
    **_AT,
    "first": _TEXT,
    "second": _TEXT,
    "difference": _NUMBER,  # of means; neutral 0; close to −2…2
    **_INTERVAL,  # Welch
    "t": _NUMBER,  # Student, equal variances, as published
    "df": _NUMBER,
    "p": _NUMBER,  # of t, two-sided
    "p_holm": _NUMBER,  # of p, over the dimensions of a space in a layer, and pairs
    "p_bh": _NUMBER,
    "p_permutation": _NUMBER,  # which group a word belongs to, shuffled
    "n_permutations": _COUNT,
    "d": _NUMBER,  # Cohen's, pooled sd
    "n_first": _COUNT,
    "n_second": _COUNT,
    "note": _TEXT,
}

#: One row per layer, dimension and word: of groups, and of words that stand for themselves.
PROFILE_TERMS: Schema = {
    **_OF,
    **_AT,
    "group": _TEXT,  # null: a term on its own, standardised by the groups' mean and sd
    "term": _TEXT,
    "value": _NUMBER,  # in standard deviations of the compared words
    **_INTERVAL,  # over its contexts; null with fewer than 2
    "raw": _NUMBER,
    "n_contexts": _COUNT,
}

#: One row per layer, dimension and cut-off: are terms on the side where the dictionary has them?
DIRECTIONS: Schema = {
    **_OF,
    "layer": _TEXT,
    "space": _TEXT,
    "dimension": _TEXT,  # "all": every term on its own dimension
    "cut": _TEXT,  # zero | centred (the mean of the terms' coordinates)
    "accuracy": _NUMBER,
    **_INTERVAL,  # Wilson, of accuracy
    "balanced": _NUMBER,  # mean of the accuracies of high and of low terms; chance is ½
    "majority": _NUMBER,  # accuracy of always naming the more frequent direction
    "n": _COUNT,
    "n_high": _COUNT,
}

#: One row per test, method and layer.
ASSOCIATIONS: Schema = {
    **_OF,
    "study": _TEXT,  # where the words come from
    "test": _TEXT,  # a test or stereotype of the study
    "method": _TEXT,  # weat | seat (in templates) | ceat (random effects) | mac | ripa
    "layer": _TEXT,
    "first": _TEXT,  # positive: the first targets are closer to …
    "second": _TEXT,
    "toward": _TEXT,  # … these attributes, and the second targets …
    "against": _TEXT,  # … to these
    "effect": _NUMBER,  # weat, seat, ceat: −2…2, sd with ddof 0; neutral 0
    **_INTERVAL,
    "se": _NUMBER,  # ceat: of the combined effect
    "statistic": _NUMBER,  # what the permutations compare: difference of summed associations
    "p": _NUMBER,  # one-sided: an effect as large as this
    "p_two_sided": _NUMBER,
    "p_holm": _NUMBER,  # of p, over the tests of a study in a layer
    "exact": pl.Boolean(),  # all partitions, or drawn ones
    "n_partitions": _COUNT,
    "between_variance": _NUMBER,  # ceat: τ²
    "n_first": _COUNT,
    "n_second": _COUNT,
    "n_toward": _COUNT,
    "n_against": _COUNT,
    "n_samples": _COUNT,  # ceat: draws of contexts
    "note": _TEXT,
}

_JOINED: Schema = {
    "model": _TEXT,
    "removed": _COUNT,
    "layer": _TEXT,  # null: what the model says
    "missing": _TEXT,  # answers without a score: left_out | zero | lowest | highest
}

#: One row per layer, level and way with missing answers: what is said with what is inside.
RELATIONS: Schema = {
    **_JOINED,
    "level": _TEXT,  # trial | stereotype
    "r": _NUMBER,  # Pearson
    **_INTERVAL,  # Fisher's z
    "p": _NUMBER,
    "p_holm": _NUMBER,  # over layers
    "rho": _NUMBER,  # Spearman
    "n": _COUNT,
}

#: One row per predictor of decisions: logistic regressions on the same rows.
FITS: Schema = {
    **_JOINED,
    "predictor": _TEXT,  # word_association | representation
    "coefficient": _NUMBER,
    **_INTERVAL,
    "p": _NUMBER,  # as published
    "p_clustered": _NUMBER,  # by stereotype
    "aic": _NUMBER,
    "bic": _NUMBER,
    "delta_aic": _NUMBER,  # from the best of the same rows
    "n": _COUNT,
}

#: The tables of a results directory, by the names of their files.
REPRESENTATION_TABLES = {
    "representation_profiles": PROFILES,
    "representation_differences": PROFILE_DIFFERENCES,
    "representation_terms": PROFILE_TERMS,
    "representation_directions": DIRECTIONS,
    "representation_associations": ASSOCIATIONS,
    "representation_relations": RELATIONS,
    "representation_fits": FITS,
}
