"""Tables that the packages exchange: their columns, files and verdicts."""

from clinometer.results.columns import COLUMNS, CONDITIONS, Schema, check, columns
from clinometer.results.estimates import (
    ASSOCIATIONS,
    ATTRIBUTIONS,
    DECISIONS,
    ESTIMATES,
    Measure,
    as_estimates,
    join_methods,
)
from clinometer.results.schemas import (
    ABSENT,
    ASKED_ABOUT,
    COMPLIANCE,
    FACTORS,
    LEVELS,
    ORDERS,
    REASONS,
    RESPONSES,
    SCORES,
    TRIALS,
    VERSIONS,
    WORDS,
)

__all__ = [
    "ASKED_ABOUT",
    "ASSOCIATIONS",
    "ATTRIBUTIONS",
    "COLUMNS",
    "COMPLIANCE",
    "CONDITIONS",
    "DECISIONS",
    "ESTIMATES",
    "FACTORS",
    "LEVELS",
    "Measure",
    "ORDERS",
    "ABSENT",
    "REASONS",
    "RESPONSES",
    "SCORES",
    "Schema",
    "TRIALS",
    "VERSIONS",
    "WORDS",
    "as_estimates",
    "join_methods",
    "check",
    "columns",
]
