"""What an audit tells that asks the wide study, as it does by default.

Question
    How large must leans be to be told at sizes quick and standard, and how often does a page tell
    one that is not there?
Peer
    What `clinometer power` promises; the nominal 5%.
How
    Answers with the variances of GPT-4o's released word associations (`worlds`) to the prompts of
    `clinometer2026` that an audit draws. The pilot of the promise is a page of that world as large
    as the released one: the 21 stereotypes of `bai2025`, 50 answers to each of three wordings. Of
    each level, the leans are those that are promised to be told with probability .8; controls are
    left out.
    ``python -m benchmarks.wide --runs 20 --only quick`` saves nothing.
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np
import polars as pl

from benchmarks.conditions import do_conditions, show_selected
from benchmarks.decisions import detect_leans
from benchmarks.measuring import Result, Value
from benchmarks.planning import CHANCE, LARGEST_GAP, MODEL, share_found, smallest_leans
from benchmarks.trials import as_scores
from benchmarks.worlds.pages import LEVELS, Figure, average, estimate_pages
from benchmarks.worlds.planted import WORLDS
from benchmarks.worlds.simulation import Simulation
from clinometer.audits.planning import power
from clinometer.audits.sizes import PlanOptions, sized_plan

RUNS = 300
#: Pages with leans are fewer by a factor.
FEWER = 3
WORLD = WORLDS["GPT-4o"]
OPTIONS = PlanOptions(["clinometer2026"], ["word_association"], modes=["free"], controls=False)
MOST_FALSE = 0.06
#: Size, level → the largest lean that may be needed.
ASKED = {("quick", "category"): 0.4, ("standard", "stereotype"): 0.5}


class Condition(NamedTuple):
    """A size of an audit."""

    name: str


class Row(NamedTuple):
    """What the pages of a size tell."""

    size: str
    false: Figure
    """Share of neutral pages on which a lean is told."""
    promised: dict[str, float | None]
    """Level → mean of the leans that are promised to be told."""
    told: dict[str, Figure]
    """Level → the share of these that are."""


def run() -> Result:
    return measure([*conditions()], RUNS)


def conditions() -> Iterator[Condition]:
    """Yield what is simulated."""
    for size in ("quick", "standard"):
        yield Condition(size)


def measure(selection: Sequence[Condition], runs: int) -> Result:
    """Do sizes and set out what their pages tell."""
    rows = [*do_conditions(partial(judge, runs=runs), selection)]
    return Result(
        f"The wide study, {runs} neutral pages a size and {max(1, runs // FEWER)} with leans",
        ("size, level", "any false lean", f"lean told in {CHANCE:g}", "told in"),
        [line for row in rows for line in _table_rows(row)],
        _claims(rows),
        ["in other prompts; […]: 95% Monte Carlo intervals"],
    )


def judge(condition: Condition, runs: int) -> Row:
    """Measure one size."""
    size = condition.name
    prompts = as_scores(sized_plan(size, [MODEL], OPTIONS).trials())
    simulation = Simulation(WORLD, prompts)
    predicted = power(MODEL, size=size, options=OPTIONS, pilot=_pilot(), chance=CHANCE)
    promised: dict[str, float | None] = {}
    told = {}
    for level in LEVELS:
        leans = smallest_leans(predicted, simulation, level)
        promised[level] = None if leans is None else float(leans.mean())
        if leans is not None:
            seed = zlib.crc32(f"{size} {level}".encode())
            told[level] = share_found(simulation, level, leans, seed, max(1, runs // FEWER))
    return Row(size, _share_false(simulation, size, runs), promised, told)


def _pilot() -> pl.DataFrame:
    """Return answers to the prompts of the replication."""
    prompts = as_scores(
        sized_plan("paper", [MODEL], replace(OPTIONS, studies=["bai2025"])).trials()
    )
    simulation = Simulation(WORLD, prompts)
    rng = np.random.default_rng(zlib.crc32(b"pilot"))
    return simulation.page(simulation.draw(rng)[0], "pilot")


def _share_false(simulation: Simulation, size: str, runs: int) -> Figure:
    """Return on which share of neutral pages a lean is told."""
    leans = np.zeros(simulation.keys.height)
    pages = estimate_pages(simulation, runs, zlib.crc32(size.encode()), leans=leans)
    rows = detect_leans(pages.filter(range="other_prompts").drop_nulls("verdict"))
    by_page = rows.group_by("model").agg(any_false=pl.col("false").any())
    return average(by_page, "any_false")


def _table_rows(row: Row) -> Iterator[list[Value]]:
    for level, lean in row.promised.items():
        told = str(row.told[level]) if level in row.told else None
        yield [f"{row.size}, {level}", str(row.false), lean, told]


def _claims(rows: Sequence[Row]) -> dict[str, bool | None]:
    claims: dict[str, bool | None] = {
        f"a false lean on at most {MOST_FALSE:g} of neutral pages": not any(
            row.false.misses(most=MOST_FALSE) for row in rows
        ),
        f"what is promised in {CHANCE:g} is told in at least {LARGEST_GAP:g} less": not any(
            figure.misses(least=CHANCE - LARGEST_GAP)
            for row in rows
            for figure in row.told.values()
        ),
    }
    promised = {(row.size, level): row.promised[level] for row in rows for level in LEVELS}
    for (size, level), most in ASKED.items():
        if (size, level) in promised:
            lean = promised[size, level]
            claims[f"size {size} tells a {level} of {most:g}"] = lean is not None and lean <= most
    return claims


if __name__ == "__main__":
    show_selected(conditions(), measure, RUNS, sys.argv[1:])
