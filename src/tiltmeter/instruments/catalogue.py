"""Every instrument by name: its measures, its trials, and how a response to it is scored.

The only place that lists instruments; the run, the scoring and the command line take them from
here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from tiltmeter.errors import InputError, unknown
from tiltmeter.instruments import (
    absolute_decision,
    affective_attribution,
    chained_task,
    relative_decision,
)
from tiltmeter.instruments import word_association as association
from tiltmeter.instruments.scored import Scored
from tiltmeter.results import Measure
from tiltmeter.stimuli import SHARED, AffectiveAttribution, Answers, Study, Words

__all__ = ["INSTRUMENTS", "MEASURES", "Instrument", "Key", "instrument"]

Scores = Mapping[str, Scored]


@dataclass(frozen=True)
class Key:
    """What answers to one cell of a study are scored with."""

    words: Words
    """Those the instrument draws from."""
    association: Words
    """Those of the stereotype's word association."""
    answers: Answers
    outcomes: AffectiveAttribution
    scoring: str = "exact"


@dataclass(frozen=True)
class Instrument:
    """One way to measure."""

    name: str
    measures: tuple[Measure, ...]
    """One for each number it gives for a response."""
    trials: Callable[..., pl.DataFrame]
    score: Callable[[str, Mapping[str, Any], Key], Scores]
    """Response, trial, key → by measure."""
    modes: tuple[str, ...] = ("free", "structured", "forced")

    def key(
        self,
        study: Study,
        stereotype: str,
        variation: str,
        dimension: str | None = None,
        scoring: str = "exact",
    ) -> Key:
        """Return what answers to one cell are scored with."""
        if self.name == "word_association":
            words = study.words(stereotype, variation, dimension)
        elif self.name in SHARED:
            words = study.words(stereotype)
        else:
            words = study.stereotypes[stereotype].decision_words(self.name, variation)
        outcomes = study.instruments.affective_attribution
        return Key(words, study.words(stereotype), study.answers, outcomes, scoring)


def _associated(response: str, trial: Mapping[str, Any], key: Key) -> Scores:
    refusals = key.answers.refusals
    scored = association.score(response, trial, key.words, key.scoring, refusals=refusals)
    return {association.MEASURE.name: scored}


def _attributed(response: str, trial: Mapping[str, Any], key: Key) -> Scores:
    scored = affective_attribution.score(response, trial, key.outcomes, key.answers)
    return {affective_attribution.MEASURE.name: scored}


def _relative(response: str, trial: Mapping[str, Any], key: Key) -> Scores:
    scored = relative_decision.score(response, trial, key.words)
    return {relative_decision.MEASURE.name: scored}


def _absolute(response: str, trial: Mapping[str, Any], _: Key) -> Scores:
    return {absolute_decision.MEASURE.name: absolute_decision.score(response, trial)}


def _chained(response: str, trial: Mapping[str, Any], key: Key) -> Scores:
    return chained_task.score(response, trial, key.words, key.association)


INSTRUMENTS = {
    one.name: one
    for one in (
        Instrument("word_association", (association.MEASURE,), association.trials, _associated),
        Instrument(
            "affective_attribution",
            (affective_attribution.MEASURE,),
            affective_attribution.trials,
            _attributed,
        ),
        Instrument(
            "relative_decision", (relative_decision.MEASURE,), relative_decision.trials, _relative
        ),
        Instrument(
            "absolute_decision", (absolute_decision.MEASURE,), absolute_decision.trials, _absolute
        ),
        Instrument(
            "chained_task",
            (chained_task.ASSOCIATION, chained_task.DECISION),
            chained_task.trials,
            _chained,
            modes=("free", "structured"),
        ),
    )
}

#: What the number of each `instrument` in a table of scores means.
MEASURES = {m.name: m for one in INSTRUMENTS.values() for m in one.measures}


def instrument(name: str) -> Instrument:
    """Return an instrument by name.

    Raises
    ------
    InputError
        If there is none; near names are given.
    """
    if name not in INSTRUMENTS:
        raise InputError(unknown("instrument", name, INSTRUMENTS))
    return INSTRUMENTS[name]
