"""The tables of each family: trials → responses → scores, and the details behind estimates.

Each stage is a function from one of these frames to the next. Factors (model, study, stereotype,
variation, mode, order, iteration) are columns. What is measured in networks and hidden states
stands in `results.ESTIMATES`; humans are a network like the others. Groups of words that are
compared are `first` and `second`; a difference is of first minus second.
"""

from __future__ import annotations

from tiltmeter.results.columns import Schema, columns

__all__ = [
    "ABSENCES",
    "ACTIVATIONS",
    "ASSOCIATION_TESTS",
    "ATTRIBUTIONS",
    "CHAINED",
    "COMPLIANCE",
    "CONTEXTS",
    "DIRECTION_TERMS",
    "FACTORS",
    "FITS",
    "LEVELS",
    "MATCHES",
    "NETWORKS",
    "ORDERS",
    "OUTCOMES",
    "OVERLAPS",
    "PROFILE_TERMS",
    "REASONS",
    "RESPONSES",
    "SCORES",
    "STREAM_EDGES",
    "STREAM_NODES",
    "TRIALS",
    "VERSIONS",
    "WORDS",
    "YES_SHARES",
]

#: Why a response has no score.
REASONS = ("refused", "neither", "both", "unparsed", "truncated", "low_coverage", "error")

#: From the finest level to the coarsest; instrument, mode, intervention and dimension are never
#: pooled.
LEVELS = ("cell", "stereotype", "category", "model", "overall")

#: What an affective attribution calls its description.
OUTCOMES = ("comedy", "tragedy", "neutral")

#: The four versions of an absolute decision: the group and the attribute it is about.
VERSIONS = {
    f"{group}_{attribute}": (group, attribute)
    for group in ("default", "marginalized")
    for attribute in ("tied", "counter")
}

FACTORS: Schema = columns(
    *("model", "study", "instrument", "mode", "intervention", "category", "stereotype"),
    *("dimension", "variation"),
)

#: One row per prompt, the same for every model.
TRIALS: Schema = columns(
    *("trial_id", "study", "instrument", "mode", "intervention", "category", "stereotype"),
    *("dimension", "variation", "word_list", "iteration", "pair_id", "order", "marginalized"),
    *("default", "attributes", "tied", "counter", "attribute_order", "version", "object"),
    *("labels", "system", "prompt", "followup", "schema", "options", "opening", "seed"),
    "source_defect",
)

#: One row per model and trial: the trial as asked, and what came back.
RESPONSES: Schema = {
    **columns("model"),
    **TRIALS,
    **columns("response", "profile", "stop_reason", "input_tokens", "output_tokens", "error"),
}

#: One row per response and number it has: a score, or a reason why there is none.
SCORES: Schema = {
    **FACTORS,
    **columns(
        *("control", "word_list", "trial_id", "iteration", "pair_id", "order", "marginalized"),
        *("default", "tied", "counter", "attribute_order", "version", "object", "outcome"),
        *("score", "reason", "coverage", "one_sided", "first_share", "logit", "scoring"),
        *("read_by", "span", "margin", "conflict"),
    ),
}

#: One row per attribute word and pair of group words: which words carry the association.
WORDS: Schema = {**FACTORS, **columns("marginalized", "default", "attribute", "set", "n", "share")}

_RUN = columns("model", "study", "instrument", "mode", "intervention", "word_list", "scoring")
_ABOUT = columns("category", "stereotype", "dimension", "variation")
_COUNTS = columns("n", "n_scored", *(f"n_{reason}" for reason in REASONS))

#: One row per wording, group pair, order and version: what became of the responses.
COMPLIANCE: Schema = {
    **_RUN,
    **_ABOUT,
    **columns("marginalized", "default", "order", "version"),
    **_COUNTS,
    **columns("one_sided_share", "coverage"),
}

#: One row per level and group of scores: what the order of the groups does.
ORDERS: Schema = {
    **columns("level"),
    **_RUN,
    **_ABOUT,
    **columns("order_effect", "confidence", "ci_low", "ci_high", "n_pairs", "first_share"),
}

#: One row per level and comparison: which trials were asked and scored under both.
MATCHES: Schema = {
    **columns("level", "factor", "baseline", "candidate"),
    **_RUN,
    **_ABOUT,
    **columns(
        *("n", "n_unasked_baseline", "n_unasked_candidate", "n_scored", "n_lost_baseline"),
        *("n_lost_candidate", "n_lost_both"),
    ),
}

#: One row per level, its groups, and the group that an attribution thought of.
ATTRIBUTIONS: Schema = columns(
    *("level", "model", "study", "instrument", "mode", "intervention", "category", "stereotype"),
    *("version", "n", "n_read", "n_refused", "n_comedy", "n_tragedy", "n_neutral", "comedy_share"),
    *("tragedy_share", "neutral_share", "far", "uar", "first_share"),
)

_STEREOTYPE = columns("model", "study", "mode", "intervention", "category", "stereotype")

#: One row per stereotype and version of an absolute decision.
YES_SHARES: Schema = {
    **_STEREOTYPE,
    **columns("instrument", "version", "n", "n_yes", "n_no", "yes_share", "published_share"),
}

#: One row per chained answer with both scores.
CHAINED: Schema = {
    **_STEREOTYPE,
    **columns("variation", "trial_id", "association", "decision"),
}

#: One row per regression and predictor in it: the fit behind an estimate of ``log_odds``.
FITS: Schema = columns(
    *("model", "study", "instrument", "mode", "intervention", "predictor"),
    *("response_variable", "formula", "part"),
    *("method", "removed", "layer", "missing_as", "n", "n_missing", "n_ones", "n_parameters"),
    *("intercept", "intercept_se", "covariance", "odds_ratio", "coefficient_per_sd"),
    *("cluster_sd", "log_likelihood", "ll_null", "pseudo_r2", "llr_p", "aic", "bic"),
    *("delta_aic", "delta_bic", "akaike_weight", "converged", "note"),
)


#: One row per network.
NETWORKS: Schema = columns(
    *("network", "directed", "nodes", "edges", "density", "average_degree", "components"),
    *("diameter", "mean_path_length", "path_sources", "clustering"),
)

#: One row per pair of networks, of their nodes and of their edges: what they share.
OVERLAPS: Schema = columns(
    *("network_a", "network_b", "of", "only_a", "shared", "only_b", "n_a", "n_b", "n_shared"),
)

#: One row per network, identity, prime and target.
ACTIVATIONS: Schema = columns(
    *("network", "study", "identity", "group", "prime", "targets", "target", "activation"),
    "normalised",
)

#: One row per network, identity and set of targets with words that are no nodes; without an
#: identity: words of the priming check.
ABSENCES: Schema = columns("network", "study", "identity", "targets", "absent")

#: One row per word on a shortest path.
STREAM_NODES: Schema = columns(
    *("network", "source", "target", "word", "hop", "valence", "tone", "paths", "shown"),
)

#: One row per edge of a shortest path.
STREAM_EDGES: Schema = columns(
    *("network", "source", "target", "src", "tgt", "weight", "paths", "shown"),
)


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
