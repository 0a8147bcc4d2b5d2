"""Cues of free associations: lists, the answers there are, and the order of asking."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from clinometer.errors import InputError, shortened
from clinometer.results import check
from clinometer.results.records import find_fault
from clinometer.results.tables import FORMATS, read_table
from clinometer.texts import read_text

__all__ = ["Call", "Cues", "Rounds", "Tally", "read_cues"]

#: The columns that hold cues, and those that hold the words of a network.
COLUMNS = ("cue", "word")
ENDS = ("src", "tgt")


@dataclass(frozen=True)
class Cues:
    """Cues, and how many blank and repeated entries were dropped."""

    words: tuple[str, ...]
    blank: int = 0
    repeated: int = 0

    @classmethod
    def of(cls, words: Iterable[str | None]) -> Cues:
        """Keep each word once, in its first place; spaces around and within it are made one.

        "null", "nan", "none" and "true" are words; None and empty text are blank.
        """
        kept: dict[str, None] = {}
        blank = repeated = 0
        for word in words:
            cue = " ".join((word or "").split())
            if not cue:
                blank += 1
            elif cue in kept:
                repeated += 1
            else:
                kept[cue] = None
        return cls(tuple(kept), blank, repeated)

    def __str__(self) -> str:
        """Say how many there are, and how many lines were left out."""
        left_out = [
            f"{count:,} {what}"
            for count, what in ((self.blank, "blank"), (self.repeated, "repeated"))
            if count
        ]
        return f"{len(self.words):,} cues" + (f" ({', '.join(left_out)})" if left_out else "")


def read_cues(named: str, what: str = "cues") -> Cues:
    """Read cues.

    Parameters
    ----------
    named
        A ``.txt`` file with one a line; a ``.csv`` or ``.parquet`` table with a column ``cue`` or
        ``word``, or with the columns ``src`` and ``tgt`` of a network, whose words are taken;
        or the cues themselves, parted by commas.
    what
        What to call the words in an error.

    Returns
    -------
    Cues

    Raises
    ------
    InputError
        If the file is missing or has none of these columns, or there is no cue.
    """
    path = Path(named)
    if path.suffix in FORMATS:
        cues = _from_table(path)
    elif path.suffix == ".txt":
        cues = Cues.of(read_text(path).removesuffix("\n").split("\n"))
    elif _is_file(path):
        raise InputError(
            f"{path}: ending {path.suffix!r}; allowed are .txt, {', '.join(FORMATS)}, "
            f"or {what} parted by commas"
        )
    else:
        cues = Cues.of(named.split(","))
    if not cues.words:
        raise InputError(f"{what} {named!r}: none; give a file or words, such as old,young")
    return cues


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # a long list of words is no path
        return False


def _from_table(path: Path) -> Cues:
    table = read_table(path)
    for column in COLUMNS:
        if column in table.columns:
            return Cues.of(check(table, {column: pl.String()}, str(path))[column])
    if set(ENDS) <= set(table.columns):
        text = check(table, dict.fromkeys(ENDS, pl.String()), str(path))
        ends = pl.concat([text[column].rename("word") for column in ENDS])
        return Cues.of(ends.unique(maintain_order=True))
    raise InputError(
        f"{path}: no column cue or word, nor the src and tgt of a network; "
        f"has {shortened(table.columns)}"
    )


class Tally:
    """The answers that a model has given, one bit each: a million take less than 1 MB.

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
        """Count a recorded answer or error; return False where it is not of this plan."""
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
    """Hands out the missing answers, each once, cue by cue.

    `done` has a number per cue whose bits are the repetitions that are there.
    """

    def __init__(self, done: Sequence[int], repetitions: int) -> None:
        self._full = (1 << repetitions) - 1
        self._taken = [bits & self._full for bits in done]
        self._left = len(done) * repetitions - sum(bits.bit_count() for bits in self._taken)
        self._place = 0

    def take(self, most: int) -> Call | None:
        """Take at most `most` repetitions in a row of the next cue; None if all are taken.

        Calls end at multiples of `most`: which there are does not depend on what is answered.
        """
        if not self._left:
            return None
        while not (free := self._full & ~self._taken[self._place]):
            self._step()
        first = (free & -free).bit_length() - 1
        free >>= first
        in_a_row = (~free & free + 1).bit_length() - 1
        call = Call(self._place, first, min(most - first % most, in_a_row))
        self._taken[self._place] |= ((1 << call.count) - 1) << first
        self._left -= call.count
        self._step()
        return call

    def give_back(self, call: Call, numbers: Iterable[int]) -> None:
        """Return unanswered repetitions of a call, counted from its first, to be asked again."""
        for number in numbers:
            self._taken[call.cue] &= ~(1 << call.first + number)
            self._left += 1

    def _step(self) -> None:
        self._place = (self._place + 1) % len(self._taken)
