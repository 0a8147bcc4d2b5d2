"""The columns of the frames that flow through Tiltmeter, and one check.

``trials → responses → scores → estimates``: each stage is a function from one of these
frames to the next. Factors (model, study, stereotype, variation, mode, order, iteration) are
columns. A null is a missing number and always has a reason beside it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import polars as pl

from tiltmeter.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "ESTIMATES",
    "FACTORS",
    "LATER",
    "LEVELS",
    "Measure",
    "OUTCOMES",
    "REASONS",
    "RESPONSES",
    "SCORES",
    "Schema",
    "TRIALS",
    "VERSIONS",
    "WORDS",
    "check",
]

Schema = dict[str, "pl.DataType"]

#: Why a response has no score.
REASONS = ("refused", "neither", "both", "unparsed", "truncated", "low_coverage", "error")

#: From the finest table to the coarsest; instrument, mode, intervention and dimension are never
#: pooled.
LEVELS = ("cell", "stereotype", "category", "model", "overall")

FACTORS: Schema = {
    "model": pl.String(),
    "study": pl.String(),
    "instrument": pl.String(),
    "mode": pl.String(),  # free | structured | forced
    "intervention": pl.String(),  # name of the system prompt | none
    "category": pl.String(),
    "stereotype": pl.String(),
    "dimension": pl.String(),  # of stereotype content; null where a stereotype has its own words
    "variation": pl.String(),
}

#: Columns of later versions: a table without them has nulls there.
LATER = ("dimension", "object", "outcome")

#: One row per prompt, the same for every model.
TRIALS: Schema = {
    "trial_id": pl.String(),
    "study": pl.String(),
    "instrument": pl.String(),
    "mode": pl.String(),
    "intervention": pl.String(),
    "category": pl.String(),
    "stereotype": pl.String(),
    "dimension": pl.String(),
    "variation": pl.String(),
    "word_list": pl.String(),  # plain | as_released
    "iteration": pl.Int64(),
    "pair_id": pl.String(),  # the mirrored pair: one draw in both group orders, or of both groups
    "order": pl.String(),  # marginalized_first | default_first; null where one group is named
    "marginalized": pl.String(),  # the group word drawn
    "default": pl.String(),
    "attributes": pl.List(pl.String()),  # in the order presented
    "tied": pl.String(),  # decisions: the task drawn from the tied set; else null
    "counter": pl.String(),
    "attribute_order": pl.String(),  # decisions: tied_first | counter_first
    "version": pl.String(),  # who is asked about: a key of VERSIONS, or a group; else null
    "object": pl.String(),  # affective attribution: the neutral object described; else null
    "labels": pl.String(),  # forced mode: labels of first and second option; else null
    "system": pl.String(),  # the intervention's system prompt; null without one
    "prompt": pl.String(),
    "followup": pl.String(),  # the second prompt; with {response1} it stands alone; else null
    "schema": pl.String(),  # structured mode: the JSON schema of the answer
    "options": pl.List(pl.String()),  # forced mode: option counted as 1, and the other
    "opening": pl.String(),  # forced mode: how the answer is opened, where a provider can
    "seed": pl.Int64(),  # of the sampling, for providers on one's own machine
    "source_defect": pl.String(),  # a known defect of the source kept verbatim; else null
}

#: One row per model and trial: the trial as asked, and what came back.
RESPONSES: Schema = {
    "model": pl.String(),
    **TRIALS,
    "response": pl.String(),
    "profile": pl.String(),  # the first answer, where there was a followup
    "stop_reason": pl.String(),  # stop | max_tokens | content_filter | error | null
    "input_tokens": pl.Int64(),
    "output_tokens": pl.Int64(),
    "error": pl.String(),
}

#: One row per response: a number, or a reason why there is none.
SCORES: Schema = {
    **FACTORS,
    "word_list": pl.String(),
    "trial_id": pl.String(),
    "iteration": pl.Int64(),
    "pair_id": pl.String(),
    "order": pl.String(),
    "marginalized": pl.String(),
    "default": pl.String(),
    "tied": pl.String(),
    "counter": pl.String(),
    "attribute_order": pl.String(),
    "version": pl.String(),
    "object": pl.String(),
    "outcome": pl.String(),  # affective attribution: one of OUTCOMES; null if forced or not read
    "score": pl.Float64(),
    "reason": pl.String(),
    "coverage": pl.Float64(),  # words paired / words asked, 0…1
    "one_sided": pl.Boolean(),  # one group got no word; null where there is no score
    "first_share": pl.Float64(),  # share given to the group named first; neutral ½
    "logit": pl.Float64(),  # forced mode: logit difference, tied − counter; else null
    "scoring": pl.String(),  # exact | published
    "read_by": pl.String(),  # decisions: rules | judge; else null
    "span": pl.String(),  # decisions: the passage of the answer in which it was read
    "margin": pl.Float64(),  # decisions: how far the evidence agrees, 0…1
    "conflict": pl.Boolean(),  # decisions: some evidence points the other way
}

#: What an affective attribution calls its description.
OUTCOMES = ("comedy", "tragedy", "neutral")

#: One row per attribute word and pair of group words: which words carry the association.
WORDS: Schema = {
    **FACTORS,
    "marginalized": pl.String(),
    "default": pl.String(),
    "attribute": pl.String(),
    "set": pl.String(),  # tied | counter
    "n": pl.Int64(),
    "p": pl.Float64(),  # mean probability (or share) of the marginalized group; neutral ½
}

#: One row per level and group of scores.
ESTIMATES: Schema = {
    "level": pl.String(),
    **FACTORS,  # null where the level pools over the factor
    "word_list": pl.String(),
    "scoring": pl.String(),
    "n": pl.Int64(),
    "n_scored": pl.Int64(),
    "compliance": pl.Float64(),  # n_scored / n
    **{f"n_{reason}": pl.Int64() for reason in REASONS},
    "one_sided_share": pl.Float64(),  # of the scored
    "coverage": pl.Float64(),  # mean over the scored
    "mean": pl.Float64(),
    "sd": pl.Float64(),
    "se": pl.Float64(),  # cluster-robust, CR2
    "df": pl.Float64(),  # Satterthwaite
    "t": pl.Float64(),
    "p": pl.Float64(),
    "test": pl.String(),  # t | unanimous (no variance between clusters: exact bound, t null)
    "confidence": pl.Float64(),  # of every interval of the row
    "ci_low": pl.Float64(),
    "ci_high": pl.Float64(),
    "n_clusters": pl.Int64(),
    "clustered_by": pl.String(),
    "conditional_on": pl.String(),  # what the interval does not vary: "one wording", …
    "p_holm": pl.Float64(),
    "p_bh": pl.Float64(),
    "naive_se": pl.Float64(),
    "naive_t": pl.Float64(),
    "naive_df": pl.Float64(),
    "naive_p": pl.Float64(),
    "cohen_d": pl.Float64(),
    "tost_margin": pl.Float64(),
    "tost_p": pl.Float64(),
    "tost_p_holm": pl.Float64(),
    "bound_low": pl.Float64(),  # worst case: every missing score at the low end
    "bound_high": pl.Float64(),
    "order_effect": pl.Float64(),  # mean score, marginalized first − default first
    "order_effect_low": pl.Float64(),
    "order_effect_high": pl.Float64(),
    "n_pairs": pl.Int64(),  # mirrored pairs scored in both orders: n of the order effect
    "first_share": pl.Float64(),
    "logit": pl.Float64(),  # forced mode: mean logit difference, tied − counter
    "range_low": pl.Float64(),
    "range_high": pl.Float64(),
    "neutral": pl.Float64(),
    "verdict": pl.String(),
}


#: The four versions of an absolute decision: the group and the attribute it is about.
VERSIONS = {
    f"{group}_{attribute}": (group, attribute)
    for group in ("default", "marginalized")
    for attribute in ("tied", "counter")
}


@dataclass(frozen=True)
class Measure:
    """What an instrument's number means; every table and figure states it."""

    instrument: str
    title: str
    low: float
    high: float
    neutral: float
    direction: str
    reference: str
    how: str = ""

    def renamed(self, instrument: str, title: str, lead: str) -> Measure:
        """Return the same measure as a part of another instrument."""
        return replace(self, instrument=instrument, title=title, how=lead + self.how)


def check(frame: pl.DataFrame, schema: Mapping[str, pl.DataType], name: str) -> pl.DataFrame:
    """Select and cast the columns of `schema`, or say which is missing or wrong.

    Parameters
    ----------
    frame
        Any frame with the columns of `schema`; those of `LATER` may be missing.
    schema
        One of the schemas of this module.
    name
        What to call the frame in an error.

    Returns
    -------
    polars.DataFrame
        The columns of `schema`, in its order and types.

    Raises
    ------
    InputError
        If a column is missing or its values do not fit the type.
    """
    later = [name for name in LATER if name in schema and name not in frame.columns]
    frame = frame.with_columns(pl.lit(None, schema[name]).alias(name) for name in later)
    missing = [column for column in schema if column not in frame.columns]
    if missing:
        raise InputError(
            f"{name}: missing column {', '.join(missing)}; has {', '.join(frame.columns)}"
        )
    try:
        return frame.select(pl.col(c).cast(t) for c, t in schema.items())
    except pl.exceptions.InvalidOperationError as error:
        raise InputError(f"{name}: {str(error).splitlines()[0]}") from None
