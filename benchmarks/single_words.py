"""Leans of stereotypes that name a group with one word, beside arbitrary words.

Question
    How often is the lean of a word told as that of its group? How many leans of groups are told?
Peer
    The same answers without arbitrary words, where other words stay open.
How
    Pages of stereotypes with one word a side, in four wordings. A word adds an effect of its own;
    those of arbitrary words, which are asked in the same wordings, vary as much. On neutral pages
    the words are all that leans. Placebos are as an audit asks them: six invented names a side, and
    for each stereotype so many arbitrary words as its answers allow. Simulated by `worlds`, which
    owes nothing to the estimator.
    ``python -m benchmarks.single_words --runs 20 --only "8,"`` saves nothing.
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import polars as pl

from benchmarks.conditions import do_conditions, show_selected
from benchmarks.decisions import detect_leans
from benchmarks.measuring import Result, Value
from benchmarks.worlds.pages import Figure, average, estimate_pages
from benchmarks.worlds.planted import MEDIUM, World
from benchmarks.worlds.prompts import draw_prompts
from benchmarks.worlds.simulation import Simulation

RUNS = 400
#: Pages with leans are fewer by a factor.
FEWER = 4
LEANS = (0.3, 0.5, 0.8)
#: Standard deviation of the mean that a pair of arbitrary words has by itself.
SPREADS = (0.1, 0.25)
NUMBERS = (1, 3, 8)
#: Answers of a stereotype to each of four wordings, by size; those of its placebo.
SIZES = {"quick": 4, "standard": 10}
FEWEST_OF_WORDS, MOST_WORDS = 48, 12
MOST_FALSE, LEAST_FOUND = 0.06, 0.85


@dataclass(frozen=True)
class Condition:
    """What is asked, and how much words lean by themselves."""

    number: int
    size: str
    spread: float

    @property
    def name(self) -> str:
        """Name of the row."""
        return f"{self.number}, {self.size}, words of sd {self.spread:g}"

    def world(self, lean: float = 0.0) -> World:
        """Return a world with the variances of GPT-4o's answers."""
        answer = 0.53**0.5
        word = self.spread / 2.0**0.5 / answer
        asked = replace(MEDIUM, answer=answer, word=word, answers=SIZES[self.size])
        return replace(asked, stereotypes=self.number, words=1, lean=lean)


class Row(NamedTuple):
    """What is told on the pages of a condition."""

    condition: Condition
    false: Figure
    """Share of neutral pages on which a word's lean is told as its group's."""
    open: Figure
    """The same without arbitrary words, where the row says that other words are open."""
    found: dict[float, Figure]
    """Share of the leans of stereotypes that are told, by lean."""


def run() -> Result:
    return measure([*conditions()], RUNS)


def conditions() -> Iterator[Condition]:
    """Yield what is simulated."""
    for number in NUMBERS:
        for size in SIZES:
            for spread in SPREADS:
                yield Condition(number, size, spread)


def measure(selection: Sequence[Condition], runs: int) -> Result:
    """Do conditions and set out what their pages tell."""
    rows = [*do_conditions(partial(judge, runs=runs), selection)]
    return Result(
        f"Stereotypes with one word a side, {runs} neutral pages and {runs // FEWER} with leans",
        ("stereotypes", "any false lean", "without arbitrary words",
         *(f"leans of {lean:g} told" for lean in LEANS)),
        [_table_row(row) for row in rows],
        _claims(rows),
        ["in other prompts; […]: 95% Monte Carlo intervals"],
    )  # fmt: skip


def judge(condition: Condition, runs: int) -> Row:
    """Measure one condition."""
    seed = zlib.crc32(condition.name.encode())
    placebos = [*_placebos(condition)]
    neutral = Simulation(condition.world(), single_words_vary=True)
    found = {}
    for lean in LEANS:
        leaning = Simulation(condition.world(lean), single_words_vary=True)
        pages = _estimate_leans(leaning, max(1, runs // FEWER), seed, placebos)
        found[lean] = average(pages.filter(level="stereotype"), "detected")
    return Row(
        condition,
        _any_false(_estimate_leans(neutral, runs, seed, placebos)),
        _any_false(_estimate_leans(neutral, max(1, runs // FEWER), seed, [])),
        found,
    )


def _placebos(condition: Condition) -> Iterator[Simulation]:
    """Yield what an audit asks beside: invented names, and each stereotype of arbitrary words."""
    world = condition.world()
    answers = max(world.answers, -(-FEWEST_OF_WORDS // condition.number // world.wordings))
    words = min(max(answers * world.wordings // 4, 2), MOST_WORDS)
    asked = (
        ("names", replace(world, stereotypes=1, words=6)),
        ("words", replace(world, words=words, answers=answers)),
    )
    for seed, (name, placebo) in enumerate(asked, start=1):
        prompts = draw_prompts(placebo, seed, control="negative").with_columns(
            study=pl.lit("worlds"), stereotype=pl.format("{} {}", pl.lit(name), "stereotype")
        )
        yield Simulation(placebo, prompts)


def _estimate_leans(
    simulation: Simulation, runs: int, seed: int, placebos: Sequence[Simulation]
) -> pl.DataFrame:
    """Return what pages tell of means in other prompts."""
    pages = estimate_pages(simulation, runs, seed, placebos)
    return detect_leans(pages.filter(range="other_prompts").drop_nulls("verdict"))


def _any_false(rows: pl.DataFrame) -> Figure:
    return average(rows.group_by("model").agg(any_false=pl.col("false").any()), "any_false")


def _table_row(row: Row) -> list[Value]:
    figures = (row.false, row.open, *row.found.values())
    return [row.condition.name, *map(str, figures)]


def _claims(rows: Sequence[Row]) -> dict[str, bool | None]:
    return {
        f"a word's lean is told as its group's on at most {MOST_FALSE:g} of pages": not any(
            row.false.misses(most=MOST_FALSE) for row in rows
        ),
        f"leans of {LEANS[-1]:g} are told in {LEAST_FOUND:g} or more": not any(
            row.found[LEANS[-1]].misses(least=LEAST_FOUND) for row in rows
        ),
    }


if __name__ == "__main__":
    show_selected(conditions(), measure, RUNS, sys.argv[1:])
