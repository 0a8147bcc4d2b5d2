"""Cells: the trials of a stereotype with one wording, and how they become tables.

An instrument says what differs between the trials of a cell; columns that these share, ids and
sampling seeds are filled in here, for all instruments alike. Cells are drawn side by side, a few
trials of each at a time, so that a plan of millions takes no more memory than a small one.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, groupby, islice, repeat, zip_longest
from typing import Any

import polars as pl

from clinometer.contracts.design import Design
from clinometer.results import TRIALS
from clinometer.stimuli import Study

#: Rows of a table; fewer cost more time per row, more take more memory.
ROWS = 10_000

#: Columns that all trials of a cell share.
_CELL_COLUMNS = (
    "study",
    "instrument",
    "mode",
    "intervention",
    "system",
    "reasoning_effort",
    "temperature",
    "category",
    "stereotype",
    "dimension",
    "variation",
    "word_list",
    "source_defect",
)

#: Columns of single trials.
_TRIAL_COLUMNS = [name for name in TRIALS if name not in (*_CELL_COLUMNS, "trial_id", "pair_id")]

#: Columns that become ids: number of the pair, place of the cell among all cells.
_ID_COLUMNS = ("pair", "place")

#: Values of `_TRIAL_COLUMNS` and `_ID_COLUMNS`.
_Row = tuple[Any, ...]


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
    system: str | None = None
    """System prompt of the wording, which stands before that of a design."""


@dataclass(frozen=True)
class DesignedCells:
    """The cells that an instrument asks of a study, drawn once, under one or more designs.

    Designs differ in what no draw depends on: `results.CONDITIONS`.
    """

    study: Study
    instrument: str
    cells: Sequence[Cell]
    designs: Sequence[Design]

    def shared(self, cell: Cell, design: Design) -> dict[str, str | None]:
        """Return the columns that the trials of a cell share, and what their ids begin with."""
        columns = {
            "study": self.study.name,
            "instrument": self.instrument,
            "mode": design.mode,
            "intervention": design.intervention,
            "system": "\n\n".join(filter(None, (cell.system, design.system))) or None,
            "reasoning_effort": design.reasoning_effort,
            "temperature": design.temperature,
            "category": self.study.stereotypes[cell.stereotype].category,
            "stereotype": cell.stereotype,
            "dimension": cell.dimension,
            "variation": cell.variation,
            "word_list": design.word_list,
            "source_defect": cell.source_defect,
        }
        return {**columns, "run": _run_name(columns, design)}


def _run_name(columns: Mapping[str, str | None], design: Design) -> str:
    """Return what the ids of a cell begin with; they are unique across designs."""
    names = [columns[c] for c in ("study", "instrument", "stereotype", "dimension", "variation")]
    changed = {"plain": design.word_list, "words": design.options, "none": design.intervention}
    # Only what differs from the usual, so that ids of plain runs stay short and as they were.
    names += [name for usual, name in changed.items() if name != usual]
    settings = {"effort": design.reasoning_effort, "temperature": design.temperature}
    names += [f"{name}-{value}" for name, value in settings.items() if value is not None]
    return ".".join(name for name in (*names, design.mode, str(design.seed)) if name)


def by_cell(source: DesignedCells) -> pl.DataFrame:
    """Return all trials under the first design, cell after cell (`results.TRIALS`)."""
    shared = _cell_table([source])
    rows = chain.from_iterable(_row_streams(source.cells))
    tables = [pl.DataFrame(schema=TRIALS)]  # of no cells, the columns alone
    while batch := list(islice(rows, ROWS)):
        tables.append(_with_ids(_trial_table(batch), shared))
    return pl.concat(tables)


def by_draw(parts: Sequence[DesignedCells], rows: int = ROWS) -> Iterator[pl.DataFrame]:
    """Yield all trials as tables of up to `rows` rows (`results.TRIALS`).

    They are in the order of ``iteration // 2``, within it of parts, designs and cells. All parts
    have the same number of designs. Of each cell, two trials or more are held at a time.
    """
    cells = [cell for part in parts for cell in part.cells]
    part_numbers = [number for number, part in enumerate(parts) for _ in part.cells]
    part_of_cell = pl.Series(part_numbers, dtype=pl.UInt32)
    shared = _cell_table(parts)  # a row for each cell under each design
    # An even number of iterations, so that no window parts two trials of one draw.
    width = 2 * max(1, rows // 2 // max(1, shared.height))
    windows = [_windows(stream, width) for stream in _row_streams(cells)]
    # Cells end at different iterations: one that has ended gives empty windows.
    for window in zip_longest(*windows, fillvalue=()):
        trials = _trial_table(list(chain.from_iterable(window)))
        positions = trials.with_row_index("row").select(
            "row", "place", draw=pl.col("iteration") // 2, part=part_of_cell[trials["place"]]
        )
        # The same trials under each design: `place` moves on by all cells, as rows of `shared` do.
        offsets = range(0, shared.height, len(cells))
        designed_positions = pl.concat(
            positions.with_columns(place=pl.col("place") + offset) for offset in offsets
        )
        for piece in designed_positions.sort("draw", "part", maintain_order=True).iter_slices(rows):
            yield _with_ids(trials[piece["row"]].with_columns(piece["place"]), shared)


def _windows(rows: Iterator[_Row], width: int) -> Iterator[Sequence[_Row]]:
    """Yield the trials of each `width` iterations; none where a cell leaves them out."""
    position = _TRIAL_COLUMNS.index("iteration")
    following = 0
    for window, trials in groupby(rows, key=lambda row: row[position] // width):
        yield from repeat((), window - following)
        yield list(trials)
        following = window + 1


def _row_streams(cells: Sequence[Cell]) -> list[Iterator[_Row]]:
    """Return the trials of each cell, in the order of cells."""
    rng = random.Random()  # one for all, which is seeded anew for every trial
    return [_seeded_rows(cell, place, rng) for place, cell in enumerate(cells)]


def _seeded_rows(cell: Cell, place: int, rng: random.Random) -> Iterator[_Row]:
    """Yield the trials of a cell with their sampling seeds."""
    names = (*_TRIAL_COLUMNS, *_ID_COLUMNS)
    for trial in cell.trials:
        rng.seed(f"{cell.seeded}/{trial['iteration']}/sampling")
        yield tuple(map({**trial, "seed": rng.getrandbits(31), "place": place}.get, names))


def _cell_table(parts: Sequence[DesignedCells]) -> pl.DataFrame:
    """Return the columns of `Asked.shared` of all cells under the first design, then the next."""
    schema = {name: TRIALS[name] for name in _CELL_COLUMNS} | {"run": pl.String()}
    rows = []
    for designs in zip(*(part.designs for part in parts), strict=True):
        for part, design in zip(parts, designs, strict=True):
            rows += [part.shared(cell, design) for cell in part.cells]
    return pl.DataFrame(rows, schema=schema)


def _trial_table(rows: Sequence[_Row]) -> pl.DataFrame:
    """Return columns of single trials, with the numbers that become ids."""
    names = (*_TRIAL_COLUMNS, *_ID_COLUMNS)
    columns = zip(*rows, strict=True) if rows else repeat((), len(names))
    return pl.DataFrame([_column(n, values) for n, values in zip(names, columns, strict=True)])


def _with_ids(trials: pl.DataFrame, shared: pl.DataFrame) -> pl.DataFrame:
    """Add shared columns and ids."""
    # Five digits, so that ids of one cell sort as its trials do.
    number = {name: pl.col(name).cast(pl.String).str.zfill(5) for name in ("iteration", "pair")}
    ids = {
        "trial_id": pl.format("{}.{}", "run", number["iteration"]),
        "pair_id": pl.format("{}.p{}", "run", number["pair"]),
    }
    return trials.hstack(shared[trials["place"]]).with_columns(**ids).select(*TRIALS)


def _column(name: str, values: Sequence[Any]) -> pl.Series:
    """Make a column; of lists by grouping words, which takes a third of the time."""
    kind = TRIALS.get(name, pl.Int64())
    # An empty or missing list would have no row after grouping.
    if kind != pl.List(pl.String) or not values or not all(values):
        return pl.Series(name, values, dtype=kind)
    rows = pl.Series([row for row, words in enumerate(values) for _ in words], dtype=pl.UInt32)
    words = pl.Series(name, list(chain.from_iterable(values)), dtype=pl.String)
    grouped = pl.DataFrame({"row": rows, name: words}).group_by("row", maintain_order=True)
    return grouped.agg(name)[name]
