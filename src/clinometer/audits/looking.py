"""When the results of a plan are looked at, for the tests."""

from __future__ import annotations

from collections.abc import Sequence

from clinometer.asking.stages import Stage
from clinometer.errors import InputError, PlanError
from clinometer.statistics.looks import Looks


def looks_of(shares: Sequence[float], stage: Stage) -> Looks:
    """Return the looks of a plan, from the shares of its trials and how far it has been asked.

    Raises PlanError if they are no looks.
    """
    try:
        return Looks(tuple(shares), {part.run: part.shares for part in stage.information})
    except InputError as error:
        raise PlanError(f"plan.json: not a plan: {error}") from None
