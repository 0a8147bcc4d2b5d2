"""The tables of answers: trials → responses → scores, and the details behind estimates.

Each stage is a function from one of these frames to the next. Factors (model, study, stereotype,
variation, mode, order, iteration) are columns. Compared groups of words are `first` and `second`; a
difference is first minus second. `directory.results.all_tables` says what a row of each table is.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

import polars as pl

from clinometer.results.columns import CONDITIONS, Column, Schema, columns


class Table(NamedTuple):
    """A table of a results directory."""

    family: str
    schema: Schema
    meaning: str
    own: Mapping[str, Column] = MappingProxyType({})
    """The columns that only its instrument or family has; all others are in `COLUMNS`."""


class Tables(NamedTuple):
    """Estimates, and the detail tables behind them by the names that a directory gives them."""

    estimates: pl.DataFrame
    details: Mapping[str, pl.DataFrame] = MappingProxyType({})


#: Why a response has no score.
REASONS = (
    *("refused", "neither", "both", "unparsed", "truncated", "low_coverage", "error"),
    *("unpaired", "unreasoned", "other_words"),
    *("options_unlikely", "reasoning", "tokens_unreadable"),
)

#: Reasons that are none of the model's: no answer came, or one to other words than the study's.
ABSENT = ("error", "other_words")

#: From the finest level to the coarsest; instrument, mode, intervention and dimension are not
#: pooled.
LEVELS = ("cell", "stereotype", "category", "model", "overall")

#: The four versions of an absolute decision: group and attribute.
VERSIONS = {
    f"{group}_{attribute}": (group, attribute)
    for group in ("default", "marginalized")
    for attribute in ("tied", "counter")
}

#: Versions that say who or what a question is about. What saying yes to everything adds to a mean
#: cancels over them, as the effect of order does over orders.
TOPIC_VERSIONS = (*VERSIONS, "default", "marginalized", "tied", "counter")

FACTORS: Schema = columns(
    *("model", "study", "instrument", "mode", *CONDITIONS, "category", "stereotype"),
    *("dimension", "variation"),
)

#: Trials are the same for every model.
TRIALS: Schema = columns(
    *("trial_id", "study", "instrument", "mode", *CONDITIONS, "category", "stereotype"),
    *("dimension", "variation", "word_list", "iteration", "pair_id", "order", "marginalized"),
    *("default", "attributes", "tied", "counter", "attribute_order", "version", "object"),
    *("labels", "system", "prompt", "followup", "schema", "options", "opening", "seed"),
    *("steps", "script", "source_defect"),
)

RESPONSES: Schema = columns(
    *(
        "model",
        *TRIALS,
        "response",
        "first_tokens",
        "profile",
        "reasoning",
        "stop_reason",
        "input_tokens",
    ),
    *("output_tokens", "reasoning_tokens", "error"),
)

PROGRESS: Schema = columns(
    *("model", "n_trials", "n_answered", "n_error", "n_served", "served_as"),
    *("n_elsewhere", "elsewhere"),
)

FAILURES: Schema = columns("model", "instrument", "failed_function", "failure")

SCORES: Schema = columns(
    *(*FACTORS, "control", "construct", "unnamed", "word_list", "trial_id", "iteration"),
    *("pair_id", "order", "marginalized", "default", "tied", "counter", "attribute_order"),
    *("version", "object", "outcome", "score", "reason", "coverage", "one_sided"),
    *("first_share", "logit", "shares"),
    "option_mass",
    "emotions",
    "reasoning_tokens",
    *("scoring", "read_by", "span", "margin", "conflict"),
)

WORDS: Schema = columns(*FACTORS, "marginalized", "default", "attribute", "set", "n", "share")

#: `n`: scored responses that showed the word.
ITEMS: Schema = columns(
    *("model", "study", "instrument", "mode", *CONDITIONS, "dimension", "word_list", "scoring"),
    *("control", "category", "stereotype", "set", "attribute", "n", "share", "contribution", "se"),
    *("n_clusters", "confidence", "ci_low", "ci_high", "score_without"),
)

_RUN = ("model", "study", "instrument", "mode", *CONDITIONS, "word_list", "scoring")
_TOPIC = ("category", "stereotype", "dimension", "variation")

COMPLIANCE: Schema = columns(
    *(*_RUN, *_TOPIC, "marginalized", "default", "order", "version", "n", "n_scored"),
    *(*(f"n_{reason}" for reason in REASONS), "one_sided_share", "coverage"),
)

ORDERS: Schema = columns(
    *("level", *_RUN, "control", *_TOPIC),
    *("order_effect", "confidence", "ci_low", "ci_high", "n_pairs"),
    "first_share",
)

MATCHES: Schema = columns(
    *("level", "factor", "baseline", "candidate", *_RUN, "control", *_TOPIC),
    *("n", "n_unasked_baseline"),
    *("n_unasked_candidate", "n_scored", "n_lost_baseline", "n_lost_candidate", "n_lost_both"),
    *("matched_by", "pairing_gain"),
)
NO_MATCHES = pl.DataFrame(schema=MATCHES)

#: Answers of two runs to one trial.
ANSWER_PAIRS: Schema = columns(
    *("baseline", "candidate", *FACTORS, "trial_id", "order", "marginalized", "default", "system"),
    *("prompt", "baseline_response", "candidate_response", "baseline_score", "candidate_score"),
)

FITS: Schema = columns(
    *("model", "study", "instrument", "mode", *CONDITIONS, "predictor"),
    *("response_variable", "formula", "component", "part"),
    *("method", "removed", "layer", "missing_as", "n", "n_missing", "n_ones", "n_parameters"),
    *("intercept", "intercept_se", "covariance", "odds_ratio", "coefficient_per_sd"),
    *("cluster_sd", "slope_sd", "log_likelihood", "ll_null", "pseudo_r2", "llr_p", "aic", "bic"),
    *("delta_aic", "delta_bic", "akaike_weight", "converged", "note"),
)

#: Components of variance behind the scores of a run, for planning.
COMPONENTS: Schema = columns(
    *("model", "study", "instrument", "mode", *CONDITIONS, "dimension", "error_source"),
    *("relative_variance", "df", "answers_per_unit", "n_scored"),
)

#: What a design can tell, before it is asked.
POWER: Schema = columns(
    *("study", "instrument", "mode", *CONDITIONS, "dimension", "control", "level", "category"),
    *("stereotype", "range", "n", "n_pairs", "n_tests", "se", "df", "confidence", "half_width"),
    *("smallest_effect", "smallest_beyond", "smallest_change", "tost_margin", "equivalent_power"),
    "planned_from",
)

#: What it takes to find an effect.
TRIALS_NEEDED: Schema = columns(
    *("study", "instrument", "mode", "level", "effect", "n_iterations", "n_trials", "n_calls"),
    "usd",
)

#: Ways to spend a number of calls.
ALLOCATION: Schema = columns(
    *("study", "instrument", "mode", "n_variations", "n_iterations", "n_group_pairs", "n_pairs"),
    *("n_calls", "smallest_effect", "smallest_effect_model", "planned_from"),
)
