"""The columns of tables about association networks.

Every table names its network in a column; humans are a network like the others. Effects are of
`first` minus `second`; `stereotype` turns them so that positive is stereotype-consistent.
"""

from __future__ import annotations

import polars as pl

from tiltmeter.results.columns import Schema

__all__ = [
    "ACTIVATIONS",
    "CHANCE",
    "COEFFICIENTS",
    "DIFFERENCES",
    "EFFECTS",
    "NETWORKS",
    "NETWORK_TABLES",
    "OVERLAPS",
    "PRIMING",
    "SENSITIVITY",
    "STREAM_EDGES",
    "STREAM_NODES",
]

_TEXT, _NUMBER, _COUNT = pl.String(), pl.Float64(), pl.Int64()

#: One row per network.
NETWORKS: Schema = {
    "network": _TEXT,
    "directed": pl.Boolean(),
    "nodes": _COUNT,
    "edges": _COUNT,
    "density": _NUMBER,
    "average_degree": _NUMBER,
    "components": _COUNT,
    "diameter": _COUNT,  # of the largest component, in hops
    "mean_path_length": _NUMBER,  # over the pairs of the largest component, in hops
    "path_sources": _COUNT,  # nodes whose paths were measured; null where all were
    "clustering": _NUMBER,  # mean local clustering, unweighted
}

#: One row per pair of networks: what they share.
OVERLAPS: Schema = {
    "network_a": _TEXT,
    "network_b": _TEXT,
    "of": _TEXT,  # nodes | edges (between nodes of both)
    "only_a": _NUMBER,  # share of a's that b has not
    "shared": _NUMBER,  # Jaccard: shared / all
    "only_b": _NUMBER,
    "n_a": _COUNT,
    "n_b": _COUNT,
    "n_shared": _COUNT,
}

_OF: Schema = {"network": _TEXT, "study": _TEXT, "identity": _TEXT, "approach": _TEXT}

_SPREAD: Schema = {
    "retention": _NUMBER,
    "time_steps": _COUNT,
    "norm": _TEXT,  # l1 | l2 | none
}

#: One row per network, identity and set of targets (stereotypes) or emotion (emotions).
EFFECTS: Schema = {
    **_OF,
    "targets": _TEXT,
    "first": _TEXT,  # positive: activated more by primes of this category …
    "second": _TEXT,  # … than of this one
    "effect": _NUMBER,  # Wilcoxon z / √n of first − second; many pairs: ±.87 at most
    "stereotype": _NUMBER,  # the effect, positive where stereotype-consistent; null: none stated
    "p": _NUMBER,  # as published: normal approximation, pairs taken for independent
    "alternative": _TEXT,  # greater | less | two-sided, of the published test
    "p_holm": _NUMBER,  # of p, over the rows of a network and identity
    "n": _COUNT,  # pairs
    "n_targets": _COUNT,
    "ci_low": _NUMBER,  # of the effect: bootstrap over targets
    "ci_high": _NUMBER,
    "confidence": _NUMBER,
    "p_permutation": _NUMBER,  # which category a prime belongs to, swapped within pairs
    "n_permutations": _COUNT,
    "missing": pl.List(pl.String()),  # primes and targets that are no nodes
    **_SPREAD,
    "note": _TEXT,
}

#: One row per network, identity and prime; and one per identity with the joint test.
COEFFICIENTS: Schema = {
    **_OF,
    "prime": _TEXT,  # null: the test that all coefficients of the multivariate model are equal
    "coefficient": _NUMBER,  # log odds of valence per unit of normalised activation, a GLM each
    "se": _NUMBER,
    "ci_low": _NUMBER,  # by the sandwich
    "ci_high": _NUMBER,
    "confidence": _NUMBER,
    "p": _NUMBER,  # of the binomial GLM, as published
    "p_robust": _NUMBER,  # by the sandwich
    "wald": _NUMBER,  # χ² of the joint test
    "wald_df": _COUNT,
    "effect": _NUMBER,  # of the joint test: √(χ² / n), Cohen's w
    "n": _COUNT,  # nodes with a rating
    "n_nodes": _COUNT,
    "missing": pl.List(pl.String()),
    **_SPREAD,
    "note": _TEXT,
}

#: One row per network, identity, prime and target.
ACTIVATIONS: Schema = {
    **_OF,
    "category": _TEXT,  # of the prime
    "prime": _TEXT,
    "targets": _TEXT,  # the set of the target
    "target": _TEXT,
    "activation": _NUMBER,  # unnormalised
    "normalised": _NUMBER,
}

#: One row per pair of networks, identity and set of targets: is the effect another?
DIFFERENCES: Schema = {
    "study": _TEXT,
    "identity": _TEXT,
    "approach": _TEXT,
    "targets": _TEXT,
    "network_a": _TEXT,
    "network_b": _TEXT,
    "difference": _NUMBER,  # effect of a − effect of b, on targets of both
    "ci_low": _NUMBER,
    "ci_high": _NUMBER,
    "confidence": _NUMBER,
    "p": _NUMBER,  # two-sided, bootstrap over targets
    "p_holm": _NUMBER,
    "n_targets": _COUNT,
    "correlation": _NUMBER,  # Spearman, of normalised activations over pairs of prime and target
    "note": _TEXT,
}

#: One row per network, identity, set of targets and setting of the spreading.
SENSITIVITY: Schema = {
    **_OF,
    "targets": _TEXT,
    "varied": _TEXT,  # time_steps | norm | weights | retention | nothing (the default)
    **_SPREAD,
    "weighted": pl.Boolean(),
    "effect": _NUMBER,
    "stereotype": _NUMBER,
    "p": _NUMBER,
    "turned": pl.Boolean(),  # whether the sign is another than by default
}

#: One row per network, identity and set of targets: what the same network gives, rewired.
CHANCE: Schema = {
    **_OF,
    "targets": _TEXT,  # valence: the prime; null: its joint test
    "effect": _NUMBER,
    "stereotype": _NUMBER,
    "chance": _NUMBER,  # mean of the rewired networks
    "chance_low": _NUMBER,  # between these lies what rewired networks give, but for …
    "chance_high": _NUMBER,
    "confidence": _NUMBER,  # … 1 − this
    "p_chance": _NUMBER,  # rewired networks with an effect as large: (1 + k) / (1 + n_rewired)
    "alternative": _TEXT,
    "n_rewired": _COUNT,  # networks with an effect
    "p": _NUMBER,  # as published
    "false_alarms": _NUMBER,  # share of the rewired whose published p is at most .05
    **_SPREAD,
}

#: One row per network: does activation follow human reaction times?
PRIMING: Schema = {
    "network": _TEXT,
    "n": _COUNT,  # triplets of target, related prime, unrelated prime
    "spearman": _NUMBER,  # activation with reaction time; negative is expected
    "p": _NUMBER,
    "effect": _NUMBER,  # Wilcoxon z / √n, related − unrelated; positive is expected
    "effect_p": _NUMBER,
    "missing": pl.List(pl.String()),
    "time_steps": _COUNT,
}

_STREAM: Schema = {"network": _TEXT, "source": _TEXT, "target": _TEXT}

#: One row per word on a shortest path.
STREAM_NODES: Schema = {
    **_STREAM,
    "word": _TEXT,
    "layer": _COUNT,  # hops from the source
    "valence": _NUMBER,
    "tone": _TEXT,  # positive | neutral | negative | unknown
    "paths": _TEXT,  # shortest paths through the word, a whole number of any size
    "shown": pl.Boolean(),  # false where the drawing leaves it out
}

#: One row per edge of a shortest path.
STREAM_EDGES: Schema = {
    **_STREAM,
    "src": _TEXT,
    "tgt": _TEXT,
    "weight": _NUMBER,
    "paths": _TEXT,
    "shown": pl.Boolean(),
}

#: The tables of a results directory, by the names of their files.
NETWORK_TABLES = {
    "networks": NETWORKS,
    "network_overlaps": OVERLAPS,
    "network_effects": EFFECTS,
    "network_coefficients": COEFFICIENTS,
    "network_differences": DIFFERENCES,
    "network_chance": CHANCE,
    "network_sensitivity": SENSITIVITY,
    "network_priming": PRIMING,
    "network_activations": ACTIVATIONS,
    "network_stream_nodes": STREAM_NODES,
    "network_stream_edges": STREAM_EDGES,
}
