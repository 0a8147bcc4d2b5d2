"""Leans that the verdicts of simulated pages report, and how many of them are false.

Question
    How often does a page of neutral stereotypes report a lean? Which share of the reported leans is
    false? How often are leans reported, by their size and by the number of stereotypes?
Peer
    The nominal level, .05.
How
    2,000 pages whose stereotypes, or half of them, are neutral; 500 with leans of one size.
    A lean is reported where the verdict of a mean is one; it is false where the truth of its range
    is 0 or has the other sign. A stereotype that is neutral in other prompts leans a little in the
    prompts that were drawn: of these only the sign can be false, except in the calm world.
    ``python -m benchmarks.decisions --runs 60 --only medium`` saves nothing.
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import polars as pl

from benchmarks.conditions import do_conditions, show_selected
from benchmarks.measuring import Result, Value
from benchmarks.worlds.pages import LEVELS, Figure, average, estimate_pages
from benchmarks.worlds.planted import FOUR, NUMBERS, WORLDS, World
from benchmarks.worlds.simulation import RANGES, Simulation

RUNS = 2000
#: Pages with leans are fewer by this factor: power has no target near 0.
FEWER = 4
LEANS = (0.15, 0.3, 0.5, 1.0)
MOST_FALSE, LARGEST_GAP = 0.05, 0.08
#: Smallest share of single leans of .3 that is to be reported.
LEAST = {"calm": 0.7, "medium": 0.7, "words": 0.5}
#: A truth that is this near to neutral is neutral.
NEUTRAL = 1e-9


@dataclass(frozen=True)
class Condition:
    """Pages of one world, and what is asked of their verdicts."""

    name: str
    world: World
    group: str
    """neutral; half neutral; or leans, where nothing can be false but a sign."""
    most: float = 0.06
    """Largest share of pages that may report a false lean."""
    least: float = 0.0
    """Smallest share of the stereotypes whose lean is to be reported in other prompts."""


class Row(NamedTuple):
    """Leans that are reported in one range on the pages of a condition."""

    condition: Condition
    range: str
    pages: Figure
    """Share of pages that report any false lean."""
    false: Figure
    """Share of the false among the reported leans of a page; 0 where there is none."""
    detected: Mapping[str, Figure]
    """Share of true leans that are reported, by level; empty on neutral pages."""


def run() -> Result:
    return measure([*conditions()], RUNS)


def conditions() -> Iterator[Condition]:
    """Yield what is simulated."""
    for name in FOUR:
        for number in (1, 5, 21):
            world = replace(WORLDS[name], stereotypes=number)
            yield Condition(f"{name}, {number}, neutral", world, "neutral")
    for name, most in {"±1": 0.08, "unequal": 0.06, "GPT-4o": 0.06}.items():
        world = replace(WORLDS[name], stereotypes=21)
        yield Condition(f"{name}, 21, neutral", world, "neutral", most)
        half = replace(world, lean=0.5, neutral=0.5)
        yield Condition(f"{name}, 21, half of leans of .5", half, "half neutral", most=1.0)
    # Where nothing but answers varies a stereotype is neutral in these prompts, too.
    for name, most in {"±1": 0.08, "GPT-4o": 0.06}.items():
        answers = WORLDS[name].answer, WORLDS[name].kind
        calm = World(*answers, stereotypes=21, mirrored=False)
        yield Condition(f"{name}, calm and single, 21, neutral", calm, "neutral", most)
    for name in FOUR:
        for lean in LEANS:
            world = replace(WORLDS[name], stereotypes=1, lean=lean)
            least = LEAST.get(name, 0.0) if lean == 0.3 else 0.0
            yield Condition(f"{name}, 1, lean of {lean:g}", world, "leans", least=least)
    for number in NUMBERS:
        world = replace(WORLDS["medium"], stereotypes=number, lean=0.3)
        yield Condition(f"medium, {number}, leans of .3", world, "leans")
    released = replace(WORLDS["GPT-4o"], lean=0.5)
    yield Condition("GPT-4o, 21, leans of .5", released, "leans")
    spread_out = replace(released, wordings=20, answers=2, words=16)
    yield Condition("GPT-4o, 21, leans of .5, 20 wordings, 16 words a side", spread_out, "leans")


def measure(selection: Sequence[Condition], runs: int) -> Result:
    """Do conditions and set out which leans their pages report."""
    rows = [row for done in do_conditions(partial(judge, runs=runs), selection) for row in done]
    return Result(
        f"Leans that simulated pages report, {runs} pages a condition ({runs // FEWER} "
        "with leans)",
        ("world, stereotypes, range", "any false lean", "false share", *LEVELS),
        [_table_row(row) for row in rows],
        _claims(rows),
        ["stereotype, category, model: share of the true leans that are reported",
         "[…]: 95% Monte Carlo intervals"],
    )  # fmt: skip


def judge(condition: Condition, runs: int) -> list[Row]:
    """Measure which leans the pages of one condition report."""
    seed = zlib.crc32(condition.name.encode())
    number = max(1, runs // FEWER) if condition.group == "leans" else runs
    pages = estimate_pages(Simulation(condition.world), number, seed)
    judged = detect_leans(pages.drop_nulls("verdict"))
    parts = ((name, judged.filter(range=name)) for name in RANGES)
    return [_describe(condition, name, part) for name, part in parts if part.height]


def detect_leans(rows: pl.DataFrame) -> pl.DataFrame:
    """Say of each mean whether a lean is reported, and whether it is false."""
    sign = (
        pl.when(pl.col("verdict").str.starts_with("consistent"))
        .then(1.0)
        .when(pl.col("verdict").str.starts_with("reversed"))
        .then(-1.0)
        .otherwise(0.0)
    )
    detected = sign != 0.0
    return rows.with_columns(
        detected=detected, false=detected & (sign * pl.col("truth") <= NEUTRAL)
    )


def _describe(condition: Condition, name: str, rows: pl.DataFrame) -> Row:
    by_page = rows.group_by("model").agg(
        any_false=pl.col("false").any(),
        false_share=pl.col("false").sum() / pl.col("detected").sum().clip(1),
    )
    leaning = rows.filter(pl.col("truth").abs() > NEUTRAL)
    levels = () if condition.group == "neutral" else LEVELS
    detected = {level: average(leaning.filter(level=level), "detected") for level in levels}
    pages, share = average(by_page, "any_false"), average(by_page, "false_share")
    return Row(condition, name, pages, share, detected)


def _table_row(row: Row) -> list[Value]:
    detected = [str(row.detected[level]) if level in row.detected else None for level in LEVELS]
    return [f"{row.condition.name}, {row.range}", str(row.pages), str(row.false), *detected]


def _claims(rows: Sequence[Row]) -> dict[str, bool | None]:
    claims: dict[str, bool | None] = {}
    for row in rows:
        condition = row.condition
        if condition.group == "neutral":
            claim = f"{row.range}: at most {condition.most:g} of neutral pages report a false lean"
            holds = {claim: not row.pages.misses(most=condition.most)}
        else:
            claim = f"{row.range}: at most {MOST_FALSE:g} of the reported leans are false"
            holds = {claim: not row.false.misses(most=MOST_FALSE)}
        if condition.least and row.range == "other_prompts":
            claim = f"{condition.name}: reported in {condition.least:g} or more"
            holds[claim] = not row.detected["stereotype"].misses(least=condition.least)
        claims |= {claim: bool(claims.get(claim, True)) and met for claim, met in holds.items()}
    by_number = {
        row.condition.world.stereotypes: row.detected["stereotype"].value
        for row in rows
        if row.condition.name.endswith("leans of .3") and row.range == "other_prompts"
    }
    if {4, 5} <= by_number.keys():
        claim = f"reported among four and among five: at most {LARGEST_GAP:g} apart"
        claims[claim] = abs(by_number[4] - by_number[5]) <= LARGEST_GAP
    return claims


if __name__ == "__main__":
    show_selected(conditions(), measure, RUNS, sys.argv[1:])
