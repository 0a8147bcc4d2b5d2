"""Answers recorded elsewhere: what their tables call things, and the words they do not name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from tiltmeter.errors import InputError
from tiltmeter.reading.mentions import LETTERS
from tiltmeter.reading.parsing import infer_groups
from tiltmeter.reading.plaintext import normalise
from tiltmeter.results import RESPONSES, VERSIONS
from tiltmeter.stimuli import DECISIONS, Stereotype, Study, Words, word_key

__all__ = [
    "any_words",
    "complete",
    "dimension_keys",
    "folded",
    "most_named",
    "named",
    "stereotype_keys",
    "words_differ",
]

ROLES = ("marginalized", "default", "tied", "counter")


#: Column names of released answers, and what they are here.
_ALSO = {"llm": "model", "dataset": "stereotype"}

#: Bai et al. call the tied tasks negative and the counter ones positive.
_VERSIONS = {
    "default_negative": "default_tied",
    "default_positive": "default_counter",
    "stigma_negative": "marginalized_tied",
    "stigma_positive": "marginalized_counter",
}

#: What the MIST paper and others call the groups of an affective attribution.
_GROUPS = {
    **dict.fromkeys(("default", "s_a", "sa", "advantaged"), "default"),
    **dict.fromkeys(("marginalized", "s_b", "sb", "disadvantaged"), "marginalized"),
}

#: Columns that are read, and what they may hold where that is not any text.
_TEXT = (
    *(name for name, kind in RESPONSES.items() if kind == pl.String),
    *("decision", "iat", "group"),
)
_VALUES = {
    "mode": ("free", "structured", "forced"),
    "order": ("marginalized_first", "default_first"),
    "attribute_order": ("tied_first", "counter_first"),
}

#: What an answer out of a closed list needs to be read.
_OFFERED = {
    "relative_decision": (*ROLES, "order", "attribute_order"),
    "chained_task": (*ROLES, "order", "attribute_order"),
    "absolute_decision": ("tied", "counter"),
    "affective_attribution": ("object",),
}


def named(responses: pl.DataFrame, instrument: str, study: Study) -> pl.DataFrame:
    """Give columns their names here; a decision of its own is the response.

    Parameters
    ----------
    responses
        See `scoring.score`.
    instrument
        Of responses that do not say theirs.
    study
        May know further names of columns.

    Raises
    ------
    InputError
        If a column or value that is needed is missing, or means nothing.
    """
    found = ", ".join(responses.columns)
    responses = _as_text(responses)
    columns = set(responses.columns)
    asked = pl.col("instrument").replace("", None) if "instrument" in columns else None
    responses = responses.with_columns(instrument=pl.coalesce(asked, pl.lit(instrument)))
    instruments = set(responses["instrument"])
    also = _ALSO | study.columns
    also |= {"type": "version"} if "absolute_decision" in instruments else {}
    renamed = {old: new for old, new in also.items() if old in columns and new not in columns}
    responses = responses.rename(renamed)
    if "version" in responses.columns:
        responses = responses.with_columns(pl.col("version").replace(_VERSIONS))
    needed = ["model", "stereotype", "response"]
    worded = "word_association" in instruments and words_differ(study, "word_association")
    needed += ["variation"] if worded else []
    needed += ["version"] if "absolute_decision" in instruments else []
    thinks = "affective_attribution" in instruments and "group" not in responses.columns
    needed += ["version"] if thinks else []
    responses = _apart(responses)
    missing = [name for name in needed if name not in responses.columns]
    if missing:
        raise InputError(
            f"responses: missing column {', '.join(missing)}; needed are {', '.join(needed)}, "
            f"found {found}{'; --model says who answered' if 'model' in missing else ''}"
        )
    _check_values(responses)
    return responses


def _as_text(responses: pl.DataFrame) -> pl.DataFrame:
    """Read numbers in columns of text as text, and iterations as numbers."""
    kinds = {**dict.fromkeys(_TEXT, pl.String()), "iteration": pl.Int64()}
    for name, kind in kinds.items():
        if (held := responses.schema.get(name, kind)) == kind:
            continue
        try:
            responses = responses.with_columns(pl.col(name).cast(kind))
        except pl.exceptions.PolarsError:
            expected = "text" if kind == pl.String else "whole numbers"
            raise InputError(f"responses: {name} holds {held}; expected {expected}") from None
    return responses


def _apart(responses: pl.DataFrame) -> pl.DataFrame:
    """Take decision and profile for the response; a chained answer is taken whole, where it is."""
    if "decision" not in responses.columns:
        return responses
    given = {name: pl.lit(None, pl.String) for name in ("response", "profile")}
    given |= {name: pl.col(name) for name in given.keys() & {*responses.columns}}
    only = given["response"].replace("", None).is_null()
    decides = pl.col("instrument").is_in(["relative_decision", "absolute_decision"])
    taken = decides | (only & (pl.col("instrument") == "chained_task"))
    taken &= pl.col("decision").replace("", None).is_not_null()
    return responses.with_columns(
        response=pl.when(taken).then("decision").otherwise(given["response"]),
        profile=pl.when(taken).then(given["profile"]),
    )


def _check_values(responses: pl.DataFrame) -> None:
    """Refuse values that would be read as something else, and closed answers without choices."""
    for name in {*_VALUES} & set(responses.columns):
        _refuse(responses.filter(~pl.col(name).is_in(["", *_VALUES[name]])), name, _VALUES[name])
    absolute = responses.filter(pl.col("instrument") == "absolute_decision")
    if not absolute.is_empty():
        wrong = absolute.filter(~pl.col("version").is_in(list(VERSIONS)).fill_null(False))
        _refuse(wrong, "version", (*VERSIONS, *_VERSIONS))
    if "mode" not in responses.columns:
        return
    closed = responses.filter(pl.col("mode").is_in(["structured", "forced"]))
    for name, roles in _OFFERED.items():
        of = closed.filter(pl.col("instrument") == name)
        for role in roles if not of.is_empty() else ():
            if role not in of.columns or of[role].replace("", None).null_count():
                raise InputError(f"responses: {role} is missing; {name} is read with it, not free")


def _refuse(wrong: pl.DataFrame, name: str, allowed: Sequence[str]) -> None:
    if not wrong.is_empty():
        value = repr(wrong[name][0])[:80]
        raise InputError(f"responses: {name} {value}; allowed are {', '.join(allowed)}")


def words_differ(study: Study, instrument: str) -> bool:
    """Tell whether an answer can be read only if its wording is known."""
    wordings = study.instruments.word_association.variations.values()
    return instrument == "word_association" and any(one.own_words for one in wordings)


def folded(name: str) -> str:
    """Fold what does not tell names apart: ``Template 1`` is ``template1``."""
    return "".join(c for c in name.casefold() if c.isalnum())


def stereotype_keys(study: Study) -> dict[str, str]:
    """Map every name of a stereotype in recorded answers, folded, to its key."""
    labels = {word_key(s.label): key for key, s in study.stereotypes.items() if s.label}
    also = {word_key(name): key for key, s in study.stereotypes.items() for name in s.also}
    return {**labels, **also, **{key: key for key in study.stereotypes}}


def dimension_keys(study: Study) -> dict[str, str]:
    """Map every name of a dimension in recorded answers, folded, to its key."""
    labels = {word_key(d.label): key for key, d in study.dimensions.items() if d.label}
    return {**labels, **{key: key for key in study.dimensions}}


def most_named(response: str, lists: Mapping[str, Words]) -> str:
    """Tell which dimension an answer is about: the one most of whose words it holds."""
    text = f" {' '.join(LETTERS.findall(normalise(response)))} "

    def held(name: str) -> int:
        words = lists[name].tied + lists[name].counter
        return sum(f" {' '.join(LETTERS.findall(normalise(w)))} " in text for w in words)

    return max(lists, key=held)


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
    told = {
        role: [
            word
            for key, word in sides[role].items()
            if not any(key in sides[other] for other in ROLES if other != role)
        ]
        for role in ROLES
    }
    # Not checked again: together, lists may be longer than one may be.
    shown: dict[str, Any] = {role: told[role] or getattr(lists[0], role) for role in ROLES}
    return Words.model_construct(**shown, extra=[])


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
    if isinstance(shown := trial.get("attributes"), str):
        trial["attributes"] = shown.split(" | ")  # as a CSV table holds them
    per_set = study.instruments.word_association.words_per_set
    if instrument == "word_association" and per_set and not trial.get("attributes"):
        trial["words_asked"] = 2 * per_set
    if instrument == "affective_attribution":
        trial["version"] = _thought_of(trial, words)
    paired = instrument in ("word_association", "chained_task")
    if paired and trial.keys() & {"marginalized", "default"} != {"marginalized", "default"}:
        answer = row.get("iat") or row["response"] or ""
        seen = infer_groups(answer, words.marginalized, words.default)
        marginalized, default = seen or (words.marginalized[0], words.default[0])
        trial.update(marginalized=marginalized, default=default, inferred=True)
    cell = [study.name, "recorded", row["stereotype"], trial["variation"], trial.get("version")]
    identity = ".".join(str(part) for part in (*cell, trial["iteration"]) if part is not None)
    trial.setdefault("trial_id", identity)
    return trial


def _thought_of(trial: Mapping[str, Any], words: Words) -> str:
    """Tell which group an affective attribution was asked for.

    Raises
    ------
    InputError
        If the group is neither named nor one of the group's words.
    """
    said = str(trial.get("version") or trial.get("group") or "")
    if (named := _GROUPS.get(word_key(said))) is not None:
        return named
    for role in ("default", "marginalized"):
        if word_key(said) in map(word_key, getattr(words, role)):
            return role
    raise InputError(
        f"responses: group {said[:80]!r} of {trial['stereotype']}; allowed are default, "
        f"marginalized, or one of {', '.join(words.default + words.marginalized)}"
    )
