"""Coverage and width of the intervals of simulated pages.

Question
    How often does the 95% interval of a mean contain the truth, and how wide is it: by level, range
    and number of stereotypes, near the ends of the scale, and with controls asked along?
Peer
    The width of an oracle that knows the error of the mean with equal weights (`worlds`).
How
    300 pages a condition. Coverage is that of the interval of each mean alone; the Monte Carlo
    interval of a share follows from its variance between pages. A target is missed where this
    interval excludes it. Four worlds with 1 to 21 stereotypes; others with eight, where nothing
    else is said. Leans are normal, .25 ± .25; near the ends they are as large as the row says.
    ``python -m benchmarks.coverage --runs 60 --only medium`` saves nothing.
"""

from __future__ import annotations

import sys
import time
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np
import polars as pl
from scipy.special import ndtri

from benchmarks.conditions import do_conditions, show_selected
from benchmarks.measuring import Result, Value
from benchmarks.worlds.pages import (
    LEVELS,
    MEASURE,
    Figure,
    covered_and_width,
    estimate_pages,
    simulate_controls,
)
from benchmarks.worlds.planted import FOUR, NUMBERS, WORLDS, World
from benchmarks.worlds.simulation import RANGES, Simulation
from clinometer.statistics.estimates import estimate_measure

RUNS = 300
#: Numbers of stereotypes that are estimated with controls, too.
COMPANY = (1, 3, 5)
ENDS = (0.73, 0.85, 0.95)
#: Answers to each of four wordings: 16, 48 and 96 together.
ANSWERS = (4, 12, 24)
STRICT = 1.0 - 0.05 / 21
#: Of the processor, for a page of 21 stereotypes with 16 answers each.
MOST_MS = 200
#: Largest ratio of standard errors with and without controls.
MOST_BY_COMPANY = 1.15


@dataclass(frozen=True)
class Condition:
    """Pages of one world, and how they are estimated."""

    name: str
    group: str
    """four worlds, others, unequal, ends, or strict, which is of the stricter level."""
    world: World
    controls: bool = False
    confidence: float = 0.95


class Target(NamedTuple):
    """What is asked of the intervals of one row; coverage, and the width by that of the oracle."""

    least: float
    most: float = 1.0
    widest: float = np.inf

    def __str__(self) -> str:
        """Write the target."""
        covered = f"{self.least:g} to {self.most:g}" if self.most < 1 else f"≥ {self.least:g}"
        return covered if self.widest == np.inf else f"{covered}; ≤ {self.widest:g}"


class Row(NamedTuple):
    """The intervals of one condition, level and range."""

    condition: Condition
    level: str
    range: str
    covered: Figure
    width: Figure
    """Mean half width by that of the oracle."""
    by_company: float | None
    """Standard errors with and without controls, the larger by the smaller."""

    @property
    def target(self) -> Target:
        """What is asked of its intervals."""
        return set_target(self.condition, self.level, self.range)


def run() -> Result:
    return measure([*conditions()], RUNS)


def conditions() -> Iterator[Condition]:
    """Yield what is simulated."""
    spread = {name: replace(world, lean=0.25, lean_sd=0.25) for name, world in WORLDS.items()}
    for name in FOUR:
        for number in NUMBERS:
            world = replace(spread[name], stereotypes=number)
            yield Condition(f"{name}, {number}", "four worlds", world, number in COMPANY)
    for name in WORLDS:
        if name not in FOUR:
            world = replace(spread[name], stereotypes=21 if name in ("unequal", "GPT-4o") else 8)
            group = "unequal" if name == "unequal" else "others"
            yield Condition(f"{name}, {world.stereotypes}", group, world)
    for name in ("medium", "±1"):
        for end in ENDS:
            world = replace(WORLDS[name], lean=end)
            yield Condition(f"{name}, lean of {end:g}", "ends", world)
        for answers in ANSWERS:
            world = replace(spread[name], answers=answers)
            label = f"{name}, {answers * world.wordings} answers"
            yield Condition(label, "others", world)
            yield Condition(f"{label}, at .05/21", "strict", world, confidence=STRICT)


def set_target(condition: Condition, level: str, name: str) -> Target:
    """Return what is asked of the intervals of a level and range."""
    if name == "prompts":
        return Target(0.995 if condition.group == "strict" else 0.94)
    if condition.group == "ends":
        return Target(0.92)
    least = 0.93 if level == "stereotype" else 0.92
    if condition.group != "four worlds":
        return Target(least)
    if condition.name.startswith("calm"):
        return Target(least, widest=1.65)
    if level != "stereotype":
        return Target(least, widest=1.5)
    if condition.world.stereotypes == 1:
        return Target(0.94, 0.99, 1.45)
    return Target(0.93, 0.99, 1.35)


def measure(selection: Sequence[Condition], runs: int) -> Result:
    """Do conditions and set out their rows beside the targets."""
    rows = [row for done in do_conditions(partial(cover, runs=runs), selection) for row in done]
    page_ms = time_page()
    return Result(
        f"Intervals of simulated pages of known truth, {runs} pages a condition",
        ("world, stereotypes, level, range", "covered", "width ÷ oracle", "target", "company"),
        [_table_row(row) for row in rows],
        {**_claims(rows), f"a quick page takes at most {MOST_MS} ms": page_ms <= MOST_MS},
        ["[…]: 95% Monte Carlo intervals. company: standard errors with and without controls, the "
         "larger by the smaller", f"a quick page takes {page_ms:.0f} ms of the processor"],
    )  # fmt: skip


def cover(condition: Condition, runs: int) -> list[Row]:
    """Measure the intervals of one condition."""
    simulation, seed = Simulation(condition.world), zlib.crc32(condition.name.encode())
    oracle = simulation.oracle(np.random.default_rng(seed + 2))
    pages = estimate_pages(simulation, runs, seed, confidence=condition.confidence)
    controls = simulate_controls(condition.world) if condition.controls else []
    with_controls = estimate_pages(simulation, runs, seed, controls) if controls else None
    # The stricter level is asked of these prompts alone.
    ranges = RANGES[:1] if condition.group == "strict" else RANGES
    rows = []
    for name in ranges:
        for level in _levels(condition.world):
            part = pages.filter(range=name, level=level)
            if not part.height:
                continue
            half = float(ndtri((1 + condition.confidence) / 2) * oracle[name, level].mean())
            ratio = None if with_controls is None else _ratio(part, with_controls)
            figures = covered_and_width(part, half)
            rows.append(Row(condition, level, name, *figures, ratio))
    return rows


def time_page() -> float:
    """Return processor time in ms of estimating a page of a quick audit, the least of several."""
    simulation = Simulation(replace(WORLDS["GPT-4o"], answers=4))
    rng = np.random.default_rng(0)
    pages = [simulation.page(simulation.draw(rng)[0], f"page {number}") for number in range(5)]
    times = []
    for page in pages:  # the first is the warm-up
        start = time.process_time()
        estimate_measure(page, MEASURE)
        times.append(1e3 * (time.process_time() - start))
    return min(times)


def _levels(world: World) -> list[str]:
    """Return the levels whose means are not those of another level."""
    several = {"category": world.categories > 1, "model": world.stereotypes > 1}
    return [level for level in LEVELS if several.get(level, True)]


def _ratio(part: pl.DataFrame, with_controls: pl.DataFrame) -> float:
    """Return the ratio of the mean standard errors of the same means, at least 1."""
    keys = ["model", "level", "category", "stereotype", "range"]
    pairs = part.join(with_controls.select(*keys, with_controls="se"), on=keys, nulls_equal=True)
    means = pairs.select(pl.col("se", "with_controls").mean()).row(0)
    return float(max(means) / min(means))


def _table_row(row: Row) -> list[Value]:
    name = f"{row.condition.name}, {row.level}, {row.range}"
    return [name, str(row.covered), str(row.width), str(row.target), row.by_company]


def _claims(rows: Iterable[Row]) -> dict[str, bool | None]:
    """Say by group, level and range whether no row misses its target."""
    claims: dict[str, bool | None] = {}
    for row in rows:
        group = f"{row.condition.group}, {row.level}, {row.range}"
        holds = {f"{group}: covered as asked": not row.covered.misses(*row.target[:2])}
        if row.target.widest < np.inf:
            holds[f"{group}: as narrow as asked"] = not row.width.misses(most=row.target.widest)
        if row.by_company is not None:
            claim = f"controls change standard errors by a factor of at most {MOST_BY_COMPANY}"
            holds[claim] = row.by_company <= MOST_BY_COMPANY
        claims |= {claim: bool(claims.get(claim, True)) and met for claim, met in holds.items()}
    return claims


if __name__ == "__main__":
    show_selected(conditions(), measure, RUNS, sys.argv[1:])
