"""Answers recorded elsewhere: what their tables call things, and the words they do not name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from tiltmeter.elicitation.parsing import infer_groups
from tiltmeter.errors import InputError
from tiltmeter.frames import VERSIONS
from tiltmeter.stimuli import DECISIONS, Stereotype, Study, Words, word_key

__all__ = ["any_words", "complete", "named", "stereotype_keys"]

ROLES = ("marginalized", "default", "tied", "counter")


#: Column names of released answers, and what they are here.
_ALSO = {"llm": "model", "dataset": "stereotype", "type": "version"}

#: Bai et al. call the tied tasks negative and the counter ones positive.
_VERSIONS = {
    "default_negative": "default_tied",
    "default_positive": "default_counter",
    "stigma_negative": "marginalized_tied",
    "stigma_positive": "marginalized_counter",
}


def named(responses: pl.DataFrame, instrument: str) -> pl.DataFrame:
    """Give columns their names here; a decision of its own is the response.

    Raises
    ------
    InputError
        If a column that is needed is missing.
    """
    columns = set(responses.columns)
    renamed = {old: new for old, new in _ALSO.items() if old in columns and new not in columns}
    responses = responses.rename(renamed)
    if renamed.get("type") == "version":
        responses = responses.with_columns(pl.col("version").replace(_VERSIONS))
    if instrument in DECISIONS and "decision" in columns:
        apart = pl.col("decision").replace("", None)
        whole = pl.col("response") if "response" in columns else pl.lit(None, pl.String)
        profile = pl.col("profile") if "profile" in columns else pl.lit(None, pl.String)
        responses = responses.with_columns(
            response=pl.coalesce(whole, apart)
            if instrument == "chained_task"
            else pl.coalesce(apart, whole),
            profile=pl.when(apart.is_not_null() & (instrument != "chained_task")).then(profile),
        )
    needed = ["model", "stereotype", "response"]
    needed += ["variation"] if instrument not in DECISIONS else []
    needed += ["version"] if instrument == "absolute_decision" else []
    missing = [name for name in needed if name not in responses.columns]
    if "version" in needed and not missing:
        wrong = responses.filter(~pl.col("version").is_in(list(VERSIONS)).fill_null(False))
        if not wrong.is_empty():
            known = ", ".join((*VERSIONS, *_VERSIONS))
            raise InputError(f"responses: version {wrong['version'][0]!r}; allowed are {known}")
    if missing:
        raise InputError(
            f"responses: missing column {', '.join(missing)}; "
            f"needed are {', '.join(needed)}, found {', '.join(responses.columns)}"
        )
    return responses


def stereotype_keys(study: Study) -> dict[str, str]:
    """Map every name of a stereotype in recorded answers to its key."""
    also = {name: key for key, s in study.stereotypes.items() for name in s.also}
    return {**also, **{key: key for key in study.stereotypes}}


def any_words(stereotype: Stereotype) -> Words:
    """Return every word a decision about a stereotype may have been put with.

    A word that stands on two sides, in different lists, tells nothing and is left out.
    """
    lists = [stereotype.words("")] + [
        stereotype.decision_words(instrument, variation)
        for instrument in DECISIONS
        for variation in getattr(stereotype.decisions, instrument)
    ]
    sides: dict[str, dict[str, str]] = {role: {} for role in ROLES}
    for words in lists:
        for role in ROLES:
            sides[role].update({word_key(word): word for word in getattr(words, role)})
    return Words(
        **{
            role: [
                word
                for key, word in sides[role].items()
                if not any(key in sides[other] for other in ROLES if other != role)
            ]
            for role in ROLES
        }
    )


def complete(
    row: Mapping[str, Any], number: int, study: Study, words: Words, instrument: str
) -> dict[str, Any]:
    """Fill in what a recorded answer does not carry."""
    iteration = row.get("iteration")
    trial = {
        "study": study.name,
        "instrument": instrument,
        "mode": "free",
        "intervention": "none",
        "variation": "recorded",
        "category": study.stereotypes[row["stereotype"]].category,
        "order": None,
        "error": None,
        **{key: value for key, value in row.items() if value not in (None, "")},
        "iteration": number if iteration is None else iteration,
        "response": row["response"],
    }
    paired = instrument in ("word_association", "chained_task")
    if paired and trial.keys() & {"marginalized", "default"} != {"marginalized", "default"}:
        answer = row.get("iat") or row["response"] or ""
        seen = infer_groups(answer, words.marginalized, words.default)
        marginalized, default = seen or (words.marginalized[0], words.default[0])
        trial.update(marginalized=marginalized, default=default, inferred=True)
    identity = f"{study.name}.recorded.{row['stereotype']}.{trial['variation']}"
    trial.setdefault("trial_id", f"{identity}.{trial['iteration']}")
    return trial
