"""What a study says of the RM-IAT (`reasoning_cost`), and how recorded trials of it are read.

Recorded trials have the columns of Lee & Lai (2025), github.com/lee-messi/RM-IAT: `model, test,
word, condition, attribute, tokens, prompt`. Case and spaces of names do not matter, and whole
numbers may be written as ``64.0``.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from functools import cache
from typing import Any, Literal

from clinometer.authoring import (
    VERSIONS,
    InputError,
    MaybeWords,
    Name,
    Recorded,
    StereotypeWords,
    Strict,
    Study,
    Word,
    Wordings,
    word_key,
)

__all__ = ["COMPATIBLE", "RECORDED", "ReasoningPart", "Task", "part_of"]

#: The instrument, and its part of a study.
_NAME = "reasoning_cost"

#: Versions of a trial that are compatible with the stereotype, by the group of the word.
COMPATIBLE = {"marginalized": "marginalized_tied", "default": "default_counter"}

#: Names of the conditions in recorded trials; case, spaces and marks do not matter.
_CONDITIONS = {
    **dict.fromkeys(("compatible", "Association Compatible", "Stereotype-Consistent"), True),
    **dict.fromkeys(("incompatible", "Association Incompatible", "Stereotype-Inconsistent"), False),
}

#: More words than a list of a study can have.
MOST_WORDS = 1000

#: How tables write that there is no number.
_NO_NUMBER = ("", "na", "nan", "none", "null")


class RecordedWords(Strict):
    """Words that recorded trials showed in place of those of the stereotype."""

    marginalized: MaybeWords = []
    default: MaybeWords = []


class Task(Strict):
    """The instruction of a stereotype and the labels of its categories."""

    instruction: str
    """With places for {category_1}, where the first group belongs, and {category_2}."""
    first: Literal["marginalized", "default"]
    """The group that the instruction names first."""
    tied: Word
    counter: Word
    also: RecordedWords = RecordedWords()


class ReasoningPart(Wordings[str]):
    """What a study says of the instrument; wordings have {word}, {category_1}, {category_2}."""

    tests: dict[Name, Task]


def part_of(study: Study) -> ReasoningPart | None:
    """Return what a study says of the instrument; None where it says nothing."""
    return study.instruments.read(_NAME, ReasoningPart)


def _needed_columns(_: Study, columns: Collection[str]) -> tuple[str, ...]:
    """Require the columns of the source's trials, unless Clinometer asked the trials."""
    if {"version", "pair_id"} <= {*columns}:
        return ("variation",)
    return ("variation", "word", "condition", "reasoning_tokens")


def _complete(trial: Mapping[str, Any], study: Study, words: StereotypeWords) -> dict[str, Any]:
    """Count the tokens of a trial, and find the words and the version of a recorded one.

    Without a count the whole output counts if it has reasoning. Of a trial that was asked here, no
    count and no reasoning are 0 tokens, as providers leave 0 out.
    """
    tokens = _read_count(trial.get("reasoning_tokens"))
    if tokens is None and trial.get("reasoning"):
        tokens = _read_count(trial.get("output_tokens"))
    if trial.get("version") in VERSIONS:  # the trial was asked here
        return {"reasoning_tokens": tokens or 0}
    return {"reasoning_tokens": tokens, **_find_word(trial, study, words)}


def _read_count(tokens: object) -> int | None:
    """Read a number of tokens; None where there is none."""
    text = "" if tokens is None else str(tokens).strip()
    if text.casefold() in _NO_NUMBER:
        return None
    if not re.fullmatch(r"[0-9]{1,15}(\.0*)?", text):
        raise InputError(
            f"responses: tokens {text[:80]!r}; allowed is a whole number from 0 on, or nothing"
        )
    return int(text.partition(".")[0])


def _find_word(trial: Mapping[str, Any], study: Study, words: StereotypeWords) -> dict[str, Any]:
    """Find group, partner and version of a recorded word."""
    part = part_of(study)
    key = str(trial["stereotype"])
    name = str(trial.get("word"))
    if part is None or key not in part.tests:
        raise InputError(f"responses: stereotype {key!r} has no {_NAME} in {study.name}")
    compatible = _is_compatible(str(trial.get("condition")))
    for source in (words, part.tests[key].also):
        lists = {"marginalized": source.marginalized, "default": source.default}
        for group, group_words in lists.items():
            keys = [word_key(word) for word in group_words]
            if word_key(name) not in keys:
                continue
            place = keys.index(word_key(name))
            # The partner is the word at the same place of the other list, if that is so long.
            pair = {
                side: side_words[place] if place < len(side_words) else None
                for side, side_words in lists.items()
            }
            versions = [version for version in VERSIONS if version.startswith(group)]
            version = next(v for v in versions if (v == COMPATIBLE[group]) == compatible)
            return {**pair, **_ids(trial, part, version, place), "version": version}
    raise InputError(f"responses: word {name[:80]!r} is none of {key} in {study.name}")


def _is_compatible(condition: str) -> bool:
    """Whether the name of a condition is one of the compatible mapping."""
    if (compatible := _conditions_by_letters().get(_letters(condition))) is None:
        raise InputError(
            f"responses: condition {condition[:80]!r}; allowed are {', '.join(_CONDITIONS)}"
        )
    return compatible


@cache
def _conditions_by_letters() -> dict[str, bool]:
    return {_letters(name): compatible for name, compatible in _CONDITIONS.items()}


def _letters(name: str) -> str:
    """Return the letters and digits of a name, in lower case."""
    return "".join(filter(str.isalnum, name.casefold()))


def _ids(trial: Mapping[str, Any], part: ReasoningPart, version: str, place: int) -> dict[str, Any]:
    """Return ids and number of a recorded trial, the same for every model."""
    pair = list(part.variations).index(str(trial["variation"])) * MOST_WORDS + place
    cell = f"{trial['study']}.recorded.{trial['stereotype']}.{trial['variation']}"
    return {
        "trial_id": f"{cell}.{version}.{place:05d}",
        "pair_id": f"{cell}.p{place:05d}",
        "iteration": pair * len(VERSIONS) + list(VERSIONS).index(version),
    }


#: How tables of trials are read.
RECORDED = Recorded(
    columns={
        "test": "stereotype",
        "attribute": "response",
        "prompt": "variation",
        "tokens": "reasoning_tokens",
    },
    asked=lambda _: ("word", "group", "condition"),
    needs=_needed_columns,
    complete=_complete,
)
