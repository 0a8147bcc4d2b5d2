"""The tables about answers: trials → responses → scores, and the details behind estimates.

Each stage is a function from one of these frames to the next. Factors (model, study, stereotype,
variation, mode, order, iteration) are columns.
"""

from __future__ import annotations

from tiltmeter.results.columns import Schema, columns

__all__ = [
    "ATTRIBUTIONS",
    "CHAINED",
    "COMPLIANCE",
    "FACTORS",
    "FITS",
    "LEVELS",
    "MATCHES",
    "ORDERS",
    "OUTCOMES",
    "REASONS",
    "RESPONSES",
    "SCORES",
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
    *("model", "study", "instrument", "mode", "intervention", "predictor", "outcome", "formula"),
    "part",
    *("method", "removed", "layer", "missing_as", "n", "n_missing", "n_ones", "n_parameters"),
    *("intercept", "intercept_se", "covariance", "odds_ratio", "coefficient_per_sd"),
    *("cluster_sd", "log_likelihood", "ll_null", "pseudo_r2", "llr_p", "aic", "bic"),
    *("delta_aic", "delta_bic", "akaike_weight", "converged", "note"),
)
