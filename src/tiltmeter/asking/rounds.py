"""Which associations are there, and which is asked for next: every cue once before any twice."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from tiltmeter.results.records import find_fault

__all__ = ["Call", "Rounds", "Tally"]


class Tally:
    """Which answers a model has given; one bit each, so that a million take less than 1 MB.

    `done` has a number per cue whose bits are its repetitions; `readable` counts the answers that
    hold at least one associate.
    """

    def __init__(self, cues: Sequence[str], repetitions: int) -> None:
        self.repetitions = repetitions
        self.done = [0] * len(cues)
        self.answered = self.readable = self.associates = 0
        self._places = {cue: place for place, cue in enumerate(cues)}

    @property
    def wanted(self) -> int:
        """How many answers there will be."""
        return len(self.done) * self.repetitions

    @property
    def missing(self) -> int:
        """How many answers are still to be asked for."""
        return self.wanted - self.answered

    def count(self, line: dict[str, Any]) -> bool:
        """Take note of a recorded answer or error; False where it is about something else."""
        fault = find_fault(line)
        if fault == "malformed" or line["repetition"] >= self.repetitions:
            return False
        place = self._places.get(line["cue"])
        if place is None:
            return False
        bit = 1 << line["repetition"]
        if fault is None and not self.done[place] & bit:
            self.done[place] |= bit
            self.answered += 1
            self.readable += bool(line["responses"])
            self.associates += len(line["responses"])
        return True


@dataclass(frozen=True)
class Call:
    """Repetitions `first`, `first` + 1, … of one cue, to be asked at once."""

    cue: int
    first: int
    count: int


class Rounds:
    """Hands out what is missing, each answer once.

    `done` has a number per cue whose bits are the repetitions that are there.
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
