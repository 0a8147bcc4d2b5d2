"""The columns of every table that passes from one room to another, and one check."""

from tiltmeter.results.answers import (
    ESTIMATES,
    FACTORS,
    LATER,
    LEVELS,
    OUTCOMES,
    REASONS,
    RESPONSES,
    SCORES,
    TRIALS,
    VERSIONS,
    WORDS,
    Measure,
    Schema,
    check,
)

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
