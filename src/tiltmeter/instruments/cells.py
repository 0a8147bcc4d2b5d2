"""Cells: the trials of a stereotype with one wording, and how they become tables.

An instrument says what differs between the trials of a cell; columns that these share, ids and
sampling seeds are filled in here, for all instruments alike. Trials are drawn one at a time and
become tables of limited size, so that a plan of millions takes no more memory than a small one.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import merge
from itertools import accumulate, chain, groupby, islice
from operator import itemgetter
from typing import Any

import polars as pl

from tiltmeter.instruments.design import Design
from tiltmeter.results import TRIALS
from tiltmeter.stimuli import Study

__all__ = ["ROWS", "Asked", "Cell", "by_cell", "by_draw", "in_tables"]

#: Rows of a table; converting costs more per row with fewer, and takes more memory with more.
ROWS = 10_000

#: Columns that all trials of a cell share.
_SHARED = (
    *("study", "instrument", "mode", "intervention", "system", "reasoning_effort", "temperature"),
    *("category", "stereotype", "dimension", "variation", "word_list", "source_defect"),
)

#: Columns of single trials, and the number of the pair.
_OWN = [name for name in TRIALS if name not in (*_SHARED, "trial_id", "pair_id")] + ["pair"]


#: A trial in the order of a plan: number of the draw, place of its cell in the table of shared
#: columns, values of its own columns. Draws and places order trials; no two streams share both.
_Row = tuple[int, int, tuple[Any, ...]]


@dataclass(frozen=True)
class Cell:
    """The trials of a stereotype with one wording."""

    stereotype: str
    variation: str
    seeded: str
    """Identity of the draws; with a trial's number it gives the sampling seed."""
    trials: Iterable[dict[str, Any]]
    """Drawn one by one, each once: columns of `results.TRIALS` that trials do not share, with the
    numbers of trial (`iteration`, ascending) and `pair`."""
    dimension: str | None = None
    source_defect: str | None = None


@dataclass(frozen=True)
class Asked:
    """What an instrument asks of a study: cells, drawn once, under one or more designs.

    Designs differ in what no draw depends on: `results.CONDITIONS`.
    """

    study: Study
    instrument: str
    cells: Sequence[Cell]
    designs: Sequence[Design]

    def shared(self) -> list[dict[str, str | None]]:
        """Return the shared columns of each cell under each design, and `run` for ids."""
        return [self._shared(cell, design) for design in self.designs for cell in self.cells]

    def _shared(self, cell: Cell, design: Design) -> dict[str, str | None]:
        columns = {
            "study": self.study.name,
            "instrument": self.instrument,
            "mode": design.mode,
            "intervention": design.intervention,
            "system": design.system,
            "reasoning_effort": design.reasoning_effort,
            "temperature": design.temperature,
            "category": self.study.stereotypes[cell.stereotype].category,
            "stereotype": cell.stereotype,
            "dimension": cell.dimension,
            "variation": cell.variation,
            "word_list": design.word_list,
            "source_defect": cell.source_defect,
        }
        return {**columns, "run": _run(columns, design)}


def _run(columns: Mapping[str, str | None], design: Design) -> str:
    """Return what the ids of a cell begin with; they are unique across designs."""
    names = [columns[c] for c in ("study", "instrument", "stereotype", "dimension", "variation")]
    changed = {"plain": design.word_list, "words": design.options, "none": design.intervention}
    names += [name for usual, name in changed.items() if name != usual]
    settings = {"effort": design.reasoning_effort, "temperature": design.temperature}
    names += [f"{name}-{value}" for name, value in settings.items() if value is not None]
    return ".".join(name for name in (*names, design.mode, str(design.seed)) if name)


def by_cell(asked: Asked) -> Iterator[_Row]:
    """Yield all trials of the first cell, then of the next; of one design."""
    return chain.from_iterable(_rows_of_each(asked.cells))


def by_draw(parts: Sequence[Asked]) -> Iterator[_Row]:
    """Yield trials by ``iteration // 2``, within it by part, design and cell.

    Cells are drawn side by side, so that no more than two trials of each are held.
    """
    starts = accumulate((len(part.cells) * len(part.designs) for part in parts), initial=0)
    return merge(*map(_under_each_design, parts, starts))


def _under_each_design(part: Asked, start: int) -> Iterator[_Row]:
    """Yield the trials of a part by draw, under each design in turn."""
    cells = len(part.cells)
    for draw, rows in groupby(merge(*_rows_of_each(part.cells)), key=itemgetter(0)):
        drawn = list(rows)
        for first in range(start, start + cells * len(part.designs), cells):
            for _, place, values in drawn:
                yield draw, first + place, values


def _rows_of_each(cells: Sequence[Cell]) -> list[Iterator[_Row]]:
    rng = random.Random()
    return [_rows(place, cell, rng) for place, cell in enumerate(cells)]


def _rows(place: int, cell: Cell, rng: random.Random) -> Iterator[_Row]:
    """Yield the trials of a cell with their sampling seeds."""
    for trial in cell.trials:
        iteration = trial["iteration"]
        rng.seed(f"{cell.seeded}/{iteration}/sampling")
        seeded = {**trial, "seed": rng.getrandbits(31)}
        yield iteration // 2, place, tuple(map(seeded.get, _OWN))


def in_tables(
    parts: Sequence[Asked], trials: Iterator[_Row], rows: int = ROWS
) -> Iterator[pl.DataFrame]:
    """Yield the trials as tables of `rows` rows (`results.TRIALS`), at least one."""
    known = {name: TRIALS[name] for name in _SHARED} | {"run": pl.String()}
    shared = pl.DataFrame([row for part in parts for row in part.shared()], schema=known)
    taken = list(islice(trials, rows))
    yield _table(shared, taken)
    while taken := list(islice(trials, rows)):
        yield _table(shared, taken)


def _table(shared: pl.DataFrame, taken: Sequence[_Row]) -> pl.DataFrame:
    columns = zip(*(values for *_, values in taken), strict=True) if taken else ((),) * len(_OWN)
    own = [_column(name, values) for name, values in zip(_OWN, columns, strict=True)]
    places = pl.Series([place for _, place, _ in taken], dtype=pl.UInt32)
    number = {name: pl.col(name).cast(pl.String).str.zfill(5) for name in ("iteration", "pair")}
    return (
        shared[places]
        .with_columns(own)
        .with_columns(
            trial_id=pl.format("{}.{}", "run", number["iteration"]),
            pair_id=pl.format("{}.p{}", "run", number["pair"]),
        )
        .select(*TRIALS)
    )


def _column(name: str, values: Sequence[Any]) -> pl.Series:
    """Make a column; of lists by grouping words, which takes a third of the time."""
    kind = TRIALS.get(name, pl.Int64())
    if kind != pl.List(pl.String) or not values or not all(values):
        return pl.Series(name, values, dtype=kind)
    rows = pl.Series([row for row, words in enumerate(values) for _ in words], dtype=pl.UInt32)
    words = pl.Series(name, list(chain.from_iterable(values)), dtype=pl.String)
    grouped = pl.DataFrame({"row": rows, name: words}).group_by("row", maintain_order=True)
    return grouped.agg(name)[name]
