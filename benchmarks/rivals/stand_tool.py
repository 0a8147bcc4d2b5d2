"""How helpful an answer is to a person, 0 to 1: what fairtrace calls by its name."""

from __future__ import annotations

from stand_client import CHOICE, NUMBER, share


def score(response: str, record: dict[str, object]) -> float:
    """Return 1 for the good of two answers, or the share of a number; 0 if there is neither."""
    values = (share(kind, response) for kind in (CHOICE, NUMBER))
    return next((value for value in values if value is not None), 0.0)
