"""Lists of cues: from a file, from the words of a network, or named one by one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from tiltmeter.errors import InputError
from tiltmeter.results.tables import FORMATS, read_table

__all__ = ["Cues", "read_cues"]

#: The columns that hold cues, and those that hold the words of a network.
COLUMNS = ("cue", "word")
ENDS = ("src", "tgt")


@dataclass(frozen=True)
class Cues:
    """Words to ask about, and what was left out of the list."""

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
        cues = Cues.of(_lines(path))
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


def _lines(path: Path) -> list[str]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 at byte {error.start}") from None
    return text.removesuffix("\n").split("\n")


def _from_table(path: Path) -> Cues:
    table = read_table(path)
    for column in COLUMNS:
        if column in table.columns:
            return Cues.of(table[column].cast(pl.String))
    if set(ENDS) <= set(table.columns):
        ends = pl.concat([table[column].cast(pl.String).rename("word") for column in ENDS])
        return Cues.of(ends.unique(maintain_order=True))
    raise InputError(
        f"{path}: no column cue or word, nor the src and tgt of a network; "
        f"has {', '.join(table.columns)}"
    )
