"""Answers recorded elsewhere: rename columns and values, and infer missing words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import polars as pl

from clinometer.errors import InputError, shortened
from clinometer.instruments.catalogue import INSTRUMENTS, instrument
from clinometer.instruments.instrument import Instrument, Recorded
from clinometer.modes import MODES
from clinometer.reading.mentions import LETTERS
from clinometer.reading.plaintext import normalise
from clinometer.results import RESPONSES
from clinometer.stimuli import StereotypeWords, Study, word_key

__all__ = ["complete", "folded", "keys_by_name", "most_named", "named", "renamed"]

#: Column names of released answers and of other tools → names here, where those are absent.
_ALSO = {
    **dict.fromkeys(("llm", "model_name", "model_id"), "model"),
    **dict.fromkeys(("dataset", "topic"), "stereotype"),
    **dict.fromkeys(("template", "wording", "prompt_variation"), "variation"),
    **dict.fromkeys(("output", "completion", "answer", "model_response"), "response"),
    **dict.fromkeys(("input", "question"), "prompt"),
}

#: What to do without a column.
_HINTS = {
    "model": "--model says who answered",
    "response": "audit reads another with --column response=NAME",
}

#: Columns that are read, and the allowed values of those with a fixed set.
_TEXT = (
    *(name for name, kind in RESPONSES.items() if kind == pl.String),
    *("decision", "iat", "group"),
)
#: Columns of names; others hold what was asked and said.
_NAMES = (
    *("model", "llm", "study", "instrument", "stereotype", "variation", "dimension", "mode"),
    *("order", "attribute_order", "intervention", "version", "marginalized", "default"),
)
_VALUES = {
    "mode": MODES.keys(),
    "order": ("marginalized_first", "default_first"),
    "attribute_order": ("tied_first", "counter_first"),
}


def named(responses: pl.DataFrame, name: str, study: Study) -> pl.DataFrame:
    """Rename columns to those of Clinometer; a separate decision becomes the response.

    `name` is the instrument of responses without one; `study` may have other names of columns.
    """
    found = shortened(responses.columns)
    responses = renamed(_as_text(responses), name, study)
    ways = _ways(responses)
    for way in ways.values():
        for column in way.values.keys() & {*responses.columns}:
            responses = responses.with_columns(pl.col(column).replace(way.values[column]))
    more = [n for way in ways.values() for n in way.needs(study, responses.columns)]
    needed = list(dict.fromkeys(["model", "stereotype", "response", *more]))
    responses = _apart(responses, ways)
    missing = [name for name in needed if name not in responses.columns]
    if missing:
        hints = "".join(f"; {_HINTS[name]}" for name in missing if name in _HINTS)
        raise InputError(f"responses: missing column {', '.join(missing)}; found {found}{hints}")
    _check_values(responses, ways)
    return responses


def renamed(responses: pl.DataFrame, name: str, study: Study) -> pl.DataFrame:
    """Rename columns to those of Clinometer, and fill in the instrument; see `named`.

    Names of the instruments come before those of the study, and these before those of other tools.
    """
    asked = pl.col("instrument").replace("", None) if "instrument" in responses.columns else None
    responses = responses.with_columns(instrument=pl.coalesce(asked, pl.lit(name)))
    of_ways = [way.columns for way in _ways(responses).values()]
    known: dict[str, str] = {}
    for also in (*of_ways, study.columns, _ALSO):
        for old, new in also.items():
            if old in responses.columns and new not in {*responses.columns, *known.values()}:
                known.setdefault(old, new)
    if "decision" in responses.columns:  # it is the answer
        known = {old: new for old, new in known.items() if new != "response" or old not in _ALSO}
    return responses.rename(known)


def _ways(responses: pl.DataFrame) -> dict[str, Recorded]:
    """Return how answers of the instruments in a table are recorded."""
    present = set(map(instrument, responses["instrument"].unique()))
    return {one.name: one.recorded for one in INSTRUMENTS.values() if one in present}


def _as_text(responses: pl.DataFrame) -> pl.DataFrame:
    """Convert numbers in text columns to text, and iterations to numbers; names have no spaces.

    Spaces around the names of columns, and around names in them, are those of an export.
    """
    spaced = {name: name.strip() for name in responses.columns if name != name.strip()}
    if spaced and len({*map(str.strip, responses.columns)}) == responses.width:
        responses = responses.rename(spaced)
    kinds = {**dict.fromkeys(_TEXT, pl.String()), "iteration": pl.Int64()}
    for name, kind in kinds.items():
        if (actual := responses.schema.get(name, kind)) == kind:
            continue
        try:
            responses = responses.with_columns(pl.col(name).cast(kind))
        except pl.exceptions.PolarsError:
            expected = "text" if kind == pl.String else "whole numbers"
            raise InputError(f"responses: {name} holds {actual}; expected {expected}") from None
    named = [name for name in _NAMES if responses.schema.get(name) == pl.String]
    return responses.with_columns(pl.col(named).str.strip_chars())


def _apart(responses: pl.DataFrame, ways: Mapping[str, Recorded]) -> pl.DataFrame:
    """Use decision and profile as the response, if the instrument says so."""
    if "decision" not in responses.columns:
        return responses
    response, profile = (
        pl.col(name) if name in responses.columns else pl.lit(None, pl.String)
        for name in ("response", "profile")
    )
    always, alone = (
        pl.col("instrument").is_in([n for n, way in ways.items() if way.decision == when])
        for when in ("always", "alone")
    )
    taken = always | (alone & response.replace("", None).is_null())
    taken &= pl.col("decision").replace("", None).is_not_null()
    return responses.with_columns(
        response=pl.when(taken).then("decision").otherwise(response),
        profile=pl.when(taken).then(profile),
    )


#: Columns that a sentence, which names one group, has none of.
_ORDERS = ("order", "attribute_order")


def _check_values(responses: pl.DataFrame, ways: Mapping[str, Recorded]) -> None:
    """Refuse values outside the allowed ones, and closed answers without their choices."""
    for name in {*_VALUES} & set(responses.columns):
        _refuse(responses.filter(~pl.col(name).is_in(["", *_VALUES[name]])), name, _VALUES[name])
    if "iteration" in responses.columns:
        _refuse(responses.filter(pl.col("iteration") < 0), "iteration", ["0 and above"])
    closed = [mode.name for mode in MODES.values() if mode.closed]
    sentences = [mode.name for mode in MODES.values() if mode.sentences]
    for name, way in ways.items():
        of = responses.filter(pl.col("instrument") == name)
        for column, allowed in way.allowed.items():
            wrong = of.filter(~pl.col(column).is_in(allowed).fill_null(False))
            _refuse(wrong, column, (*allowed, *way.values.get(column, ())))
        if "mode" not in of.columns or (of := of.filter(pl.col("mode").is_in(closed))).is_empty():
            continue
        ordered = of.filter(~pl.col("mode").is_in(sentences))
        for role in way.offered:
            read = ordered if role in _ORDERS else of
            if role not in read.columns or read[role].replace("", None).null_count():
                raise InputError(f"responses: {role} is missing; {name} is read with it, not free")


def _refuse(wrong: pl.DataFrame, name: str, allowed: Iterable[str]) -> None:
    if not wrong.is_empty():
        value = repr(wrong[name][0])[:80]
        raise InputError(f"responses: {name} {value}; allowed are {', '.join(allowed)}")


def folded(name: str) -> str:
    """Fold case, spaces and marks of a name: ``Template 1`` becomes ``template1``."""
    return "".join(c for c in name.casefold() if c.isalnum())


def keys_by_name(known: Mapping[str, Any]) -> dict[str, str]:
    """Map every name in recorded answers to a study's stereotypes or dimensions."""
    labels = {word_key(one.label): key for key, one in known.items() if one.label}
    also = {word_key(name): key for key, one in known.items() for name in getattr(one, "also", ())}
    return {**labels, **also, **{key: key for key in known}}


def _spaced(text: str) -> str:
    return f" {' '.join(LETTERS.findall(normalise(text)))} "


def most_named(response: str, lists: Mapping[str, StereotypeWords]) -> str:
    """Return the dimension of an answer: the one with most words in it."""
    text = _spaced(response)
    counts = {
        name: sum(_spaced(word) in text for word in words.tied + words.counter)
        for name, words in lists.items()
    }
    return max(counts, key=counts.__getitem__)


def most_shown(
    shown: str | Sequence[str], lists: Sequence[StereotypeWords]
) -> StereotypeWords | None:
    """Return the list of which a prompt shows most words, the first of equals; None if of none.

    `shown` is the prompt, or the words that it showed.
    """
    if not isinstance(shown, str):
        asked = {word_key(word) for word in shown}
        counts = [len(asked & {word_key(w) for w in one.tied + one.counter}) for one in lists]
    else:
        text = _spaced(shown)
        counts = [sum(_spaced(word) in text for word in one.tied + one.counter) for one in lists]
    most = max(counts)
    return lists[counts.index(most)] if most else None


def complete(
    row: Mapping[str, Any], number: int, study: Study, words: StereotypeWords, asked: Instrument
) -> dict[str, Any]:
    """Fill in columns that a recorded answer lacks."""
    iteration = row.get("iteration")
    trial = {
        "study": study.name,
        "instrument": asked.name,
        "mode": next(iter(MODES)),
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
        trial["attributes"] = shown.split(" | ")  # text from a CSV table
    trial |= asked.recorded.complete(trial, study, words)
    cell = [study.name, "recorded", row["stereotype"], trial["variation"], trial.get("version")]
    identity = ".".join(str(part) for part in (*cell, trial["iteration"]) if part is not None)
    trial.setdefault("trial_id", identity)
    return trial
