"""Predicted and simulated power.

Question
    Is a lean found as often as `clinometer power` says?
Peer
    Simulated answers (`worlds`) to the prompts of the plan that the prediction is about.
How
    The prediction knows the variances of the world, as a pilot. It gives the leans of stereotypes,
    or of all of them, that are found with probability .8; pages with these leans are drawn, and a
    lean is found where the verdict in other prompts is that lean. 300 pages a condition; leans that
    no such design finds are not simulated. Stereotypes of `bai2025`, up to ten with several words a
    side; beyond, those with one word, whose effect the mean is charged with.
    ``python -m benchmarks.planning --runs 60 --only medium`` saves nothing.
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from benchmarks.conditions import do_conditions, show_selected
from benchmarks.decisions import detect_leans
from benchmarks.measuring import Result, Value
from benchmarks.trials import as_scores
from benchmarks.worlds.pages import Figure, average, estimate_pages
from benchmarks.worlds.planted import FOUR, WORLDS, World
from benchmarks.worlds.simulation import Simulation
from clinometer.audits.planning import power
from clinometer.audits.sizes import PlanOptions, sized_plan
from clinometer.reference import load_components
from clinometer.stimuli import load_study

RUNS = 300
MODEL, SIZE = "openai/gpt-4o", "standard"
CHANCE = 0.8
#: By how much the share found may miss it; the second where effects are skewed.
LARGEST_GAP, LARGEST_SKEWED_GAP = 0.07, 0.12
SKEWED = "medium", "words"
#: Of `bai2025`, the first ten with several words for each group; a condition has the first.
SEVERAL_WORDS = (
    *("science", "black", "hispanic", "arab", "career"),
    *("asian", "islam", "eating", "judaism", "buddhism"),
)
STEREOTYPES = tuple(dict.fromkeys((*SEVERAL_WORDS, *load_study("bai2025").stereotypes)))
NUMBERS = (1, 3, 5, 10, 21)
#: Trials per wording.
ITERATIONS = 24
LEVELS = ("stereotype", "model")


@dataclass(frozen=True)
class Condition:
    """A design, and the world that it is asked in."""

    name: str
    world: World
    stereotypes: int

    @property
    def options(self) -> PlanOptions:
        """Options of the plan."""
        return PlanOptions(
            ["bai2025"],
            ["word_association"],
            ",".join(STEREOTYPES[: self.stereotypes]),
            iterations=ITERATIONS,
            modes=["free"],
        )


class Row(NamedTuple):
    """Leans of one level that are predicted to be found in .8."""

    name: str
    lean: float | None
    """Mean of the leans; None where none is large enough."""
    found: Figure | None
    skewed: bool
    """Whether effects are skewed in its world."""


def run() -> Result:
    return measure([*conditions()], RUNS)


def conditions() -> Iterator[Condition]:
    """Yield what is simulated."""
    worlds = {name: WORLDS[name] for name in FOUR}
    for name in SKEWED:
        worlds[f"{name}, skewed effects"] = replace(WORLDS[name], skewed_effects=True)
    for name, world in worlds.items():
        for number in NUMBERS:
            yield Condition(f"{name}, {number}", world, number)


def measure(selection: Sequence[Condition], runs: int) -> Result:
    """Do conditions and set out how often leans are found that are predicted to be."""
    rows = [row for done in do_conditions(partial(judge, runs=runs), selection) for row in done]
    return Result(
        f"Power as predicted and as simulated, {runs} pages a condition",
        ("world, stereotypes, level", f"lean found in {CHANCE:g}", "found in"),
        [_table_row(row) for row in rows],
        {_claim(skewed): _holds(rows, skewed) for skewed in sorted({row.skewed for row in rows})},
        ["[…]: 95% Monte Carlo intervals"],
    )


def judge(condition: Condition, runs: int) -> list[Row]:
    """Predict and simulate one condition."""
    prompts = as_scores(sized_plan(SIZE, [MODEL], condition.options).trials())
    simulation = Simulation(condition.world, prompts, single_words_vary=True)
    pilot = components_of_world(condition.world)
    predicted = power(MODEL, size=SIZE, options=condition.options, pilot=pilot, chance=CHANCE)
    levels = LEVELS if condition.stereotypes > 1 else LEVELS[:1]
    rows = []
    for level in levels:
        leans = smallest_leans(predicted, simulation, level)
        seed = zlib.crc32(f"{condition.name} {level}".encode())
        found = None if leans is None else share_found(simulation, level, leans, seed, runs)
        lean = None if leans is None else float(leans.mean())
        name, skewed = f"{condition.name}, {level}", condition.world.skewed_effects
        rows.append(Row(name, lean, found, skewed))
    return rows


def components_of_world(world: World) -> pl.DataFrame:
    """Return the variances of a world in the form of a pilot."""
    shared, wording = world.shared_wording**2, world.wording**2
    shares = {
        **{"variation": shared + wording, "shared_variation": shared},
        **{"marginalized": world.word**2, "default": world.word**2},
        **{"cell": world.cell**2, "draw": world.pair**2, "response": 1.0},
    }
    variances = {name: share * world.answer**2 for name, share in shares.items()}
    shipped = load_components().filter(model="gpt-4o", instrument="word_association")
    return shipped.with_columns(relative_variance=pl.col("error_source").replace_strict(variances))


def smallest_leans(
    predicted: pl.DataFrame, simulation: Simulation, level: str
) -> NDArray[np.float64] | None:
    """Return the leans of stereotypes whose means of a level are predicted to be found.

    None if one of them has none.
    """
    on = {"stereotype": ["stereotype"], "category": ["category"], "model": []}[level]
    rows = predicted.filter(level=level).select(*on, "smallest_effect")
    how = {"how": "left", "on": on, "maintain_order": "left"} if on else {"how": "cross"}
    leans = simulation.keys.join(rows, **how)["smallest_effect"]
    return None if leans.null_count() else leans.to_numpy()


def share_found(
    simulation: Simulation, level: str, leans: NDArray[np.float64], seed: int, runs: int
) -> Figure:
    """Return which share of the means of a level is told in other prompts."""
    pages = estimate_pages(simulation, runs, seed, leans=leans)
    rows = pages.filter(range="other_prompts", level=level).drop_nulls("verdict")
    return average(detect_leans(rows), "detected")


def _largest_gap(skewed: bool) -> float:
    return LARGEST_SKEWED_GAP if skewed else LARGEST_GAP


def _claim(skewed: bool) -> str:
    effects = "skewed" if skewed else "normal"
    found = (
        f"leans that are predicted to be found in {CHANCE:g} are, within {_largest_gap(skewed):g}"
    )
    return f"{found}, where effects are {effects}"


def _holds(rows: Sequence[Row], skewed: bool) -> bool:
    """Return whether no share is excluded, by its interval, from what is claimed of it."""
    ends = CHANCE - _largest_gap(skewed), CHANCE + _largest_gap(skewed)
    shares = (row.found for row in rows if row.skewed == skewed)
    return not any(share.misses(*ends) for share in shares if share is not None)


def _table_row(row: Row) -> list[Value]:
    return [row.name, row.lean, None if row.found is None else str(row.found)]


if __name__ == "__main__":
    show_selected(conditions(), measure, RUNS, sys.argv[1:])
