"""How trials become tables: in the order of their draws, a few at a time."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from clinometer.contracts.catalogue import INSTRUMENTS
from clinometer.contracts.cells import Cell, DesignedCells, by_cell, by_draw
from clinometer.contracts.design import Design
from clinometer.results import TRIALS
from clinometer.stimuli import load_study

BAI = load_study("bai2025")


def design_cells(name: str, mode: str, *conditions: str, iterations: int = 9) -> DesignedCells:
    designs = [Design(mode, iterations, reasoning_effort=effort) for effort in conditions]
    instrument = INSTRUMENTS[name]
    return instrument.cells(BAI, designs or [Design(mode, iterations)], stereotypes="age,power")


def numbered(*iterations: int) -> DesignedCells:
    """A cell whose trials count how many of them were drawn."""
    trials: Iterator[dict[str, Any]] = (
        {"iteration": k, "pair": k // 2, "prompt": str(k)} for k in iterations
    )
    return DesignedCells(BAI, "x", [Cell("age", "replication", "x", trials)], [Design()])


CASES = [
    [("word_association", "free"), ("relative_decision", "free")],
    [("relative_decision", "forced"), ("word_association", "forced")],
    [("self_moderation", "structured", "low", "high"), ("absolute_decision", "forced", "1", "2")],
]


@pytest.mark.parametrize("rows", [1, 50, 10_000])
@pytest.mark.parametrize("parts", CASES)
def test_draws_come_in_the_order_of_pairs_then_parts_designs_and_cells(
    parts: list[tuple[str, ...]], rows: int
) -> None:
    tables = [
        by_cell(design_cells(name, mode, effort))
        for name, mode, *efforts in parts
        for effort in efforts
    ]
    tables = tables or [by_cell(design_cells(*part)) for part in parts]
    expected = pl.concat(tables).sort(pl.col("iteration") // 2, maintain_order=True)
    pieces = [*by_draw([design_cells(*part) for part in parts], rows)]
    assert_frame_equal(pl.concat(pieces), expected)
    assert max(piece.height for piece in pieces) <= rows
    assert len(pieces) > 1 or rows > expected.height


def test_trials_that_a_cell_leaves_out_leave_no_gap() -> None:
    parts = [numbered(0, 1, 8, 9), numbered(2, 8), numbered()]
    table = pl.concat(by_draw(parts, rows=2))
    assert table["prompt"].to_list() == ["0", "1", "2", "8", "9", "8"]


def test_nothing_is_drawn_before_it_is_needed() -> None:
    part = numbered(*range(1000))
    pieces = by_draw([part], rows=10)
    next(pieces)
    (cell,) = part.cells
    assert next(iter(cell.trials))["iteration"] < 20


def test_no_cells_have_no_trials() -> None:
    none = DesignedCells(BAI, "x", [], [Design()])
    assert [*by_draw([none])] == [*by_draw([])] == []
    assert by_cell(none).schema == pl.Schema(TRIALS)


def test_drawing_more_takes_no_more_memory() -> None:
    peaks = []
    for iterations in (200, 200, 2000):  # the first also imports and caches
        part = design_cells("word_association", "free", iterations=iterations)
        tracemalloc.start()
        n_rows = sum(table.height for table in by_draw([part], rows=500))
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert n_rows == 2000 * len(part.cells) and peaks[2] < 1.5 * peaks[1]
