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
    def from_words(cls, words: Iterable[str | None]) -> Cues:
        """Keep each word once, in its first place; spaces around and within it are made one.

        "null", "nan", "none" and "true" are words; None and empty text are blank.
        """
        cues: dict[str, None] = {}
        blank = repeated = 0
        for word in words:
            text = " ".join((word or "").split())
            if not text:
                blank += 1
            elif text in cues:
                repeated += 1
            else:
                cues[text] = None
        return cls(tuple(cues), blank, repeated)

    def __str__(self) -> str:
        """Say how many there are, and how many lines were left out."""
        omissions = []
        if self.blank:
            omissions.append(f"{self.blank:,} blank")
        if self.repeated:
            omissions.append(f"{self.repeated:,} repeated")
        return f"{len(self.words):,} cues" + (f" ({', '.join(omissions)})" if omissions else "")


def read_cues(text: str, what: str = "cues") -> Cues:
    """Read cues.

    Parameters
    ----------
    text
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
    path = Path(text)
    if path.suffix in FORMATS:
        cues = _read_table_cues(path)
    elif path.suffix == ".txt":
        # Without the end of the last line, which would count as a blank one.
        cues = Cues.from_words(read_text(path).removesuffix("\n").split("\n"))
    elif _is_file(path):
        raise InputError(
            f"{path}: ending {path.suffix!r}; allowed are .txt, {', '.join(FORMATS)}, "
            f"or {what} parted by commas"
        )
    else:
        cues = Cues.from_words(text.split(","))
    if not cues.words:
        raise InputError(f"{what} {text!r}: none; give a file or words, such as old,young")
    return cues


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # a long list of words is no path
        return False


def _read_table_cues(path: Path) -> Cues:
    table = read_table(path)
    for column in COLUMNS:
        if column in table.columns:
            return Cues.from_words(check(table, {column: pl.String()}, str(path))[column])
    if set(ENDS) <= set(table.columns):
        text = check(table, dict.fromkeys(ENDS, pl.String()), str(path))
        ends = pl.concat([text[column].rename("word") for column in ENDS])
        return Cues.from_words(ends.unique(maintain_order=True))
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
        self.answered = 0
        self.readable = 0
        self.associates = 0
        self._places = {cue: place for place, cue in enumerate(cues)}

    @property
    def expected(self) -> int:
        """How many answers there will be."""
        return len(self.done) * self.repetitions

    @property
    def missing(self) -> int:
        """How many answers are still to be asked for."""
        return self.expected - self.answered

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
        self._all_bits = (1 << repetitions) - 1
        # Per cue, the bits of the repetitions that are answered or handed out.
        self._taken_bits = [bits & self._all_bits for bits in done]
        n_reserved = sum(bits.bit_count() for bits in self._taken_bits)
        self._remaining = len(done) * repetitions - n_reserved
        self._place = 0

    def take(self, most: int) -> Call | None:
        """Take at most `most` repetitions in a row of the next cue; None if all are taken.

        Calls end at multiples of `most`, so that they are the same whatever is answered first.
        """
        if not self._remaining:
            return None
        while not (open_bits := self._all_bits & ~self._taken_bits[self._place]):
            self._step()
        first = (open_bits & -open_bits).bit_length() - 1  # position of the lowest 1
        open_bits >>= first
        run_length = (~open_bits & open_bits + 1).bit_length() - 1  # position of the lowest 0
        call = Call(self._place, first, min(most - first % most, run_length))
        self._taken_bits[self._place] |= ((1 << call.count) - 1) << first
        self._remaining -= call.count
        self._step()
        return call

    def give_back(self, call: Call, numbers: Iterable[int]) -> None:
        """Return unanswered repetitions of a call, counted from its first, to be asked again."""
        for number in numbers:
            self._taken_bits[call.cue] &= ~(1 << call.first + number)
            self._remaining += 1

    def _step(self) -> None:
        self._place = (self._place + 1) % len(self._taken_bits)
