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
from tiltmeter.frames import Measure
from tiltmeter.instruments import absolute_decision, chained_task, relative_decision
from tiltmeter.instruments import word_association as association
from tiltmeter.instruments.scored import Scored
from tiltmeter.stimuli import Study, Words

__all__ = ["INSTRUMENTS", "MEASURES", "Instrument", "instrument"]

Scores = Mapping[str, Scored]


@dataclass(frozen=True)
class Instrument:
    """One way to measure."""

    name: str
    measures: tuple[Measure, ...]
    """One for each number it gives for a response."""
    trials: Callable[..., pl.DataFrame]
    score: Callable[[str, Mapping[str, Any], Words, Words, str], Scores]
    """Response, trial, words of the instrument, words of the association, scoring → by measure."""
    modes: tuple[str, ...] = ("free", "structured", "forced")

    def words(self, study: Study, stereotype: str, variation: str) -> Words:
        """Return the words this instrument draws from."""
        of = study.stereotypes[stereotype]
        if self.name in study.instruments:
            return of.words(variation)
        return of.decision_words(self.name, variation)


def _associated(
    response: str, trial: Mapping[str, Any], words: Words, _: Words, scoring: str
) -> Scores:
    scored = association.score(response, trial, words, scoring)
    return {association.MEASURE.instrument: scored}


def _relative(response: str, trial: Mapping[str, Any], words: Words, _: Words, __: str) -> Scores:
    return {relative_decision.MEASURE.instrument: relative_decision.score(response, trial, words)}


def _absolute(response: str, trial: Mapping[str, Any], _: Words, __: Words, ___: str) -> Scores:
    return {absolute_decision.MEASURE.instrument: absolute_decision.score(response, trial)}


def _chained(
    response: str, trial: Mapping[str, Any], words: Words, associated: Words, _: str
) -> Scores:
    return chained_task.score(response, trial, words, associated)


INSTRUMENTS = {
    one.name: one
    for one in (
        Instrument("word_association", (association.MEASURE,), association.trials, _associated),
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
MEASURES = {m.instrument: m for one in INSTRUMENTS.values() for m in one.measures}


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
