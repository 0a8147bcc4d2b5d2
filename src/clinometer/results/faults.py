"""Rows of a table that are set aside: counted, and named with file and line; the rest goes on.

A table most of whose rows are wrong is refused: it is another table than the one expected.
"""

from __future__ import annotations

import warnings

import polars as pl

from clinometer.errors import ClinometerError, ClinometerWarning, InputError, one_line

#: Begins the names of columns that tables have while they are read, and no file has.
_ADDED = "clinometer:"

#: Column with the file and line of each row, ``answers.csv:17``; never written.
PLACE = f"{_ADDED}place"

#: Places that are named of each reason, and reasons, at most.
_MOST = 4


def is_added(column: str) -> bool:
    """Whether a column was added while its table was read."""
    return column.startswith(_ADDED)


class Faults:
    """Rows that are set aside, by the reason why."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.places: dict[str, list[str]] = {}
        self.empty: list[str] = []
        self._kind: type[ClinometerError] = InputError

    def __len__(self) -> int:
        """Return how many rows are set aside; empty ones are not counted."""
        return sum(map(len, self.places.values()))

    def add(self, place: str, reason: str | ClinometerError) -> None:
        """Set a row aside."""
        if isinstance(reason, ClinometerError) and not self.places:
            self._kind = type(reason)
        self.places.setdefault(one_line(reason), []).append(place)

    def refuse(self, frame: pl.DataFrame, wrong: pl.Series, column: str, rule: str) -> pl.DataFrame:
        """Set the rows aside whose value in a column is wrong, and return the others.

        `wrong`: whether it is, a value per row, without nulls. `rule`: what is allowed.
        """
        if not wrong.any():
            return frame
        places = row_places(frame).filter(wrong)
        for place, value in zip(places, frame[column].filter(wrong), strict=True):
            self.add(place, f"{column} {_value_text(value)}: {rule}")
        return frame.filter(~wrong)

    def report(self, n_complete: int) -> None:
        """Warn of the rows that are set aside.

        `n_complete` rows are not. If these are fewer, raises the first error that set one aside,
        by default InputError.
        """
        if self.empty:
            skipped = f"{self.source}: {_count(len(self.empty), 'empty row')} skipped"
            warnings.warn(f"{skipped} ({_list(self.empty)})", ClinometerWarning, stacklevel=2)
        if not self.places:
            return
        n_rows = n_complete + len(self)
        if len(self) > n_complete:
            reason, places = next(iter(self.places.items()))
            share = "" if n_rows == 1 else f" ({len(self):,} of {n_rows:,} rows are wrong)"
            raise self._kind(f"{places[0]}: {reason}{share}")
        # Of an error, what is wrong: what would be right is long, and not needed here.
        texts = [f"{_list(p)}: {reason.partition(';')[0]}" for reason, p in self.places.items()]
        more = "; …" if texts[_MOST:] else ""
        count = f"{self.source}: {len(self):,} of {n_rows:,} rows set aside"
        text = f"{count}: {'; '.join(texts[:_MOST])}{more}"
        warnings.warn(text, ClinometerWarning, stacklevel=2)


def row_places(frame: pl.DataFrame) -> pl.Series:
    """Return where each row of a table stands: file and line if they are known, else its number."""
    if PLACE in frame.columns:
        return frame[PLACE]
    return frame.select(pl.format("row {}", pl.int_range(1, pl.len() + 1))).to_series()


def _value_text(value: object) -> str:
    return "is empty" if value in (None, "") else repr(value)[:80]


def _count(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def _list(places: list[str]) -> str:
    more = f", … ({len(places):,})" if places[_MOST:] else ""
    return ", ".join(places[:_MOST]) + more
