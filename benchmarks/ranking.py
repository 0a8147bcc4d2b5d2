"""What is said of the order of four models whose distances from neutral are known.

Question
    How often is a model told to lie farther from neutral than one that does not? How many of the
    pairs that do differ are told apart?
Peer
    None.
How
    60 sets of four runs a condition, on pages of 21 stereotypes with the variances of GPT-4o's
    released word associations. All answer the same prompts, with the same effects of wordings and
    words; the truth is the mean of the expected answers to these. Ranks are those of `compare` and
    `report`.
    ``python -m benchmarks.ranking --runs 20 --only alike`` saves nothing.
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import polars as pl

from benchmarks.conditions import do_conditions, show_selected
from benchmarks.measuring import Result
from benchmarks.worlds.pages import Figure, average
from benchmarks.worlds.planted import WORLDS, World
from benchmarks.worlds.simulation import Simulation
from clinometer import compare
from clinometer.comparing import rank

RUNS = 60
#: Answers of a stereotype to each of four wordings, by size.
SIZES = {"quick": 4, "standard": 10}
#: Name → lean of each of four models.
LEANS = {
    "all alike": (0.2, 0.2, 0.2, 0.2),
    "as far on either side": (-0.2, -0.2, 0.2, 0.2),
    "steps of .1": (0.1, 0.2, 0.3, 0.4),
    "one farther by .2": (0.2, 0.2, 0.2, 0.4),
}
#: What is asked at size quick, too.
AT_QUICK = ("all alike", "steps of .1")
#: Two models whose distances differ by less than this are alike.
ALIKE = 0.01
MOST_WRONG, LEAST_TOLD = 0.05, 0.8


@dataclass(frozen=True)
class Condition:
    """Four models, and how they are asked."""

    size: str
    leans: str
    world: World

    @property
    def name(self) -> str:
        """Name of the row."""
        return f"{self.leans}, {self.size}"


@dataclass(frozen=True)
class Row:
    """What is said of one condition."""

    condition: Condition
    wrong: Figure
    """Share of sets in which the rank of any model is not within its ends."""
    told: Figure | None
    """Share of pairs that differ which are told apart; None where none do."""


def run() -> Result:
    return measure([*conditions()], RUNS)


def conditions() -> Iterator[Condition]:
    """Yield what is simulated."""
    for size, answers in SIZES.items():
        world = replace(WORLDS["GPT-4o"], lean_sd=0.1, answers=answers)
        for name in AT_QUICK if size == "quick" else LEANS:
            yield Condition(size, name, world)


def measure(selection: Sequence[Condition], runs: int) -> Result:
    """Do conditions and set out what was said."""
    rows = [*do_conditions(partial(judge, runs=runs), selection)]
    told = [row for row in rows if row.told is not None and row.condition.size == "standard"]
    claims = {
        f"a rank is wrong in {MOST_WRONG:g} of sets or less": not any(
            row.wrong.misses(most=MOST_WRONG) for row in rows
        ),
        f"standard: {LEAST_TOLD:g} of pairs that differ, or more, are told apart": not any(
            row.told.misses(least=LEAST_TOLD) for row in told if row.told
        ),
    }
    return Result(
        f"What is said of the order of four models, {runs} sets a condition",
        ("leans", "sets with a wrong rank", "pairs that are told apart"),
        [[row.condition.name, str(row.wrong), row.told and str(row.told)] for row in rows],
        {name: claim for name, claim in claims.items() if rows},
        [f"models whose distances differ by less than {ALIKE:g} are alike",
         "[…]: 95% Monte Carlo intervals"],
    )  # fmt: skip


def judge(condition: Condition, runs: int) -> Row:
    """Measure one condition."""
    simulation = Simulation(condition.world)
    rng = np.random.default_rng(zlib.crc32(condition.name.encode()))
    wrong, told = [], []
    for number in range(runs):
        distances, ends = _rank_set(condition, simulation, rng)
        low, high = ends.T
        farther = distances[:, None] - distances[None, :] > ALIKE
        # Whose rank must be larger than so many, and may be as large as so many.
        least, most = 1 + farther.sum(axis=1), len(distances) - farther.sum(axis=0)
        wrong.append({"model": str(number), "wrong": bool(((low > most) | (high < least)).any())})
        told += [
            {"model": str(number), "told": bool(low[one] > high[other])}
            for one, other in zip(*np.nonzero(farther), strict=True)
        ]
    return Row(
        condition,
        average(pl.DataFrame(wrong), "wrong"),
        average(pl.DataFrame(told), "told") if told else None,
    )


def _rank_set(
    condition: Condition, simulation: Simulation, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Return how far four models lie from neutral, (models,), and the ends of their ranks."""
    effects = simulation.draw_effects(rng)
    spread = simulation.draw_leans(rng)
    pages, distances = [], []
    for number, lean in enumerate(LEANS[condition.leans]):
        scores, truth = simulation.draw_answers(lean + spread, effects, rng)
        pages.append(simulation.page(scores, f"model {number}"))
        distances.append(abs(simulation.level_means(truth)["model"]).item())
    ranked = rank(compare(*pages, controls="ignored")).sort("run")
    return np.array(distances), ranked.select("rank_low", "rank_high").to_numpy()


if __name__ == "__main__":
    show_selected(conditions(), measure, RUNS, sys.argv[1:])
