"""Cells: the trials of a stereotype with one wording, and how they become tables.

An instrument says what differs between the trials of a cell; columns that these share, ids and
sampling seeds are filled in here, for all instruments alike. Trials are drawn one at a time and
become tables of limited size, so that a plan of millions takes no more memory than a small one.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import merge
from itertools import chain, groupby, islice
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

#: Columns of single trials.
_OWN = [name for name in TRIALS if name not in (*_SHARED, "trial_id", "pair_id")]

#: The place of a cell in the table of shared columns, and a trial of it.
_Placed = tuple[int, Mapping[str, Any]]


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


def by_cell(asked: Asked) -> Iterator[_Placed]:
    """Yield all trials of the first cell, then of the next; of one design."""
    return chain.from_iterable(_placed(asked.cells))


def by_draw(parts: Sequence[Asked]) -> Iterator[_Placed]:
    """Yield trials by ``iteration // 2``, within it by part, design and cell.

    Cells are drawn side by side, so that no more than two trials of each are held.
    """
    starts = [0]
    for part in parts:
        starts.append(starts[-1] + len(part.cells) * len(part.designs))
    streams = (_under_each(part, start) for part, start in zip(parts, starts, strict=False))
    return merge(*streams, key=_draw)


def _under_each(part: Asked, start: int) -> Iterator[_Placed]:
    """Yield the trials of a part by draw, under each design in turn."""
    size = len(part.cells)
    for _, drawn in groupby(merge(*_placed(part.cells), key=_draw), key=_draw):
        held = list(drawn)
        for at in range(start, start + size * len(part.designs), size):
            for place, trial in held:
                yield at + place, trial


def _draw(placed: _Placed) -> int:
    number: int = placed[1]["iteration"]
    return number // 2


def _placed(cells: Sequence[Cell]) -> list[Iterator[_Placed]]:
    rng = random.Random()
    return [_with_seeds(place, cell, rng.seed, rng) for place, cell in enumerate(cells)]


def _with_seeds(
    place: int, cell: Cell, seed: Callable[[str], None], rng: random.Random
) -> Iterator[_Placed]:
    """Yield the trials of a cell with their sampling seeds."""
    for trial in cell.trials:
        seed(f"{cell.seeded}/{trial['iteration']}/sampling")
        yield place, {**trial, "seed": rng.getrandbits(31)}


def in_tables(
    parts: Sequence[Asked], trials: Iterator[_Placed], rows: int = ROWS
) -> Iterator[pl.DataFrame]:
    """Yield the trials as tables of `rows` rows (`results.TRIALS`), at least one."""
    known = {name: TRIALS[name] for name in _SHARED} | {"run": pl.String()}
    shared = pl.DataFrame([row for part in parts for row in part.shared()], schema=known)
    taken = list(islice(trials, rows))
    yield _table(shared, taken)
    while taken := list(islice(trials, rows)):
        yield _table(shared, taken)


def _table(shared: pl.DataFrame, taken: Sequence[_Placed]) -> pl.DataFrame:
    places = pl.Series([place for place, _ in taken], dtype=pl.UInt32)
    own = [_column(name, [trial.get(name) for _, trial in taken]) for name in _OWN]
    pair = pl.Series("pair", [trial["pair"] for _, trial in taken], dtype=pl.Int64)
    numbers = {
        name: pl.col(name).cast(pl.String).str.zfill(5) for name in ("iteration", "pair")
    }
    table = shared[places].with_columns(*own, pair)
    return table.select(
        pl.format("{}.{}", "run", numbers["iteration"]).alias("trial_id"),
        pl.format("{}.p{}", "run", numbers["pair"]).alias("pair_id"),
        pl.exclude("run", "pair"),
    ).select(*TRIALS)


def _column(name: str, values: Sequence[Any]) -> pl.Series:
    """Make a column; of lists by grouping words, which takes a third of the time."""
    kind = TRIALS[name]
    if kind != pl.List(pl.String) or not values or not all(values):
        return pl.Series(name, values, dtype=kind)
    rows = pl.Series([row for row, words in enumerate(values) for _ in words], dtype=pl.UInt32)
    words = pl.Series(name, list(chain.from_iterable(values)), dtype=pl.String)
    grouped = pl.DataFrame({"row": rows, name: words}).group_by("row", maintain_order=True)
    return grouped.agg(name)[name]
