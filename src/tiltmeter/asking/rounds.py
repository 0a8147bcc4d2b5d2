"""Which answer is asked for next: round by round, every cue once before any twice."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

__all__ = ["Call", "Rounds"]


@dataclass(frozen=True)
class Call:
    """Repetitions `first`, `first` + 1, … of one cue, to be asked at once."""

    cue: int
    first: int
    count: int


class Rounds:
    """Hands out what is missing, each answer once.

    Parameters
    ----------
    done
        A number per cue whose bits are the repetitions that are there.
    repetitions
        How many there should be of each cue.
    """

    def __init__(self, done: Sequence[int], repetitions: int) -> None:
        self._full = (1 << repetitions) - 1
        self._taken = [bits & self._full for bits in done]
        self._left = len(done) * repetitions - sum(bits.bit_count() for bits in self._taken)
        self._place = 0

    def take(self, most: int) -> Call | None:
        """Take at most `most` repetitions in a row of the next cue; None if all are taken."""
        if not self._left:
            return None
        while not (free := self._full & ~self._taken[self._place]):
            self._step()
        first = (free & -free).bit_length() - 1
        free >>= first
        in_a_row = (~free & free + 1).bit_length() - 1
        call = Call(self._place, first, min(most, in_a_row))
        self._taken[self._place] |= ((1 << call.count) - 1) << first
        self._left -= call.count
        self._step()
        return call

    def give_back(self, call: Call, numbers: Iterable[int]) -> None:
        """Hand in repetitions of a call, counted from its first, that were not answered."""
        for number in numbers:
            self._taken[call.cue] &= ~(1 << call.first + number)
            self._left += 1

    def _step(self) -> None:
        self._place = (self._place + 1) % len(self._taken)
