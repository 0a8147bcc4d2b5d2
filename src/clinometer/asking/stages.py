"""How far a plan has been asked that ends where it is decided.

Such a plan has looks: shares of its trials after which results are judged. At each look some
stereotypes go on and others end (`audits.deciding`). What has ended, and what the looks share,
is the plan's stage. It is stored in ``plan.json``, so that every table follows from plan and
answers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

#: Shares of the trials after which results are looked at.
LOOKS = (1 / 16, 1 / 8, 3 / 16, 1 / 4, 3 / 8, 1 / 2, 3 / 4, 1.0)

#: Why a stereotype is asked no more: its verdicts are there, more answers would hardly bring
#: them, the limits do not pay for more, or the last look is past.
Why = Literal["decided", "hopeless", "unpaid", "last look"]


@dataclass(frozen=True)
class Ended:
    """A stereotype that is asked no more, of a study and instrument."""

    study: str
    instrument: str
    stereotype: str
    iterations: int
    """Trials per wording that were asked."""
    why: Why

    @property
    def part(self) -> tuple[str, str, str]:
        """Study, instrument and stereotype."""
        return self.study, self.instrument, self.stereotype


@dataclass(frozen=True)
class Information:
    """Shares of the information that is there at each look, of a measure (`statistics.looks`)."""

    study: str
    instrument: str
    mode: str
    shares: tuple[float, ...]

    @property
    def run(self) -> tuple[str, str, str]:
        """Study, measure and mode."""
        return self.study, self.instrument, self.mode


@dataclass(frozen=True)
class Stage:
    """How far a plan has been asked."""

    look: int = 0
    """Number of the look that is asked for, from 0."""
    ended: Sequence[Ended] = ()
    information: Sequence[Information] = ()


def iterations_at(share: float, most: int) -> int:
    """Return the trials per wording at a look: whole mirrored pairs, `most` at the last."""
    return min(2 * math.ceil(most * share / 2), most)
