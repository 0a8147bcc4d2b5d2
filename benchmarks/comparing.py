"""What `compare` and `gate` say of two versions whose true difference is known.

Question
    How often does the interval of a difference contain the truth in these prompts, and how wide is
    it? What is decided about an unchanged model, a rise in all stereotypes or in one category, and
    a category that turns to the other side?
Peer
    The width of an oracle that knows the error of the difference: 1.96 × its root mean square.
How
    300 pairs of runs a condition, on pages of 21 stereotypes with the variances of GPT-4o's
    released word associations (answers .53), or with answers of .3. Both versions have the same
    effects of wordings, words and cells. Paired, they answer the same prompts; unpaired, prompts of
    two seeds. The gate has one rule: in the mean and every category a change within a limit that an
    unchanged model keeps to in nine of ten runs.
    ``python -m benchmarks.comparing --runs 20 --only unchanged`` saves nothing.
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from benchmarks.conditions import do_conditions, show_selected
from benchmarks.measuring import Result, Value
from benchmarks.worlds.pages import (
    Figure,
    average,
    covered_and_width,
    means_of_pages,
    truth_rows,
    with_truths,
)
from benchmarks.worlds.planted import WORLDS, World
from benchmarks.worlds.prompts import draw_prompts
from benchmarks.worlds.simulation import Simulation
from clinometer import compare
from clinometer.asking.policy import Policy
from clinometer.comparing.gating import Gated, judge_run

Array = NDArray[np.float64]

RUNS, ORACLE_RUNS = 300, 1000
#: Answers of a stereotype to each of four wordings, by size.
SIZES = {"quick": 4, "standard": 10}
LEVELS = ("category", "model")
DECISIONS = ("worse", "turned", "cannot tell", "not worse", "better")
OUTCOMES = ("fail", "inconclusive", "pass")
#: A limit is this often the standard error of a difference in the smallest category.
LIMIT = 3.35
#: Targets; of width by whether runs are paired.
COVERED, WIDEST = 0.94, {True: 1.25, False: 1.4}
LEAST_RIGHT, MOST_WRONG = 0.9, 0.05
RISE = "rise of .2 in all"


@dataclass(frozen=True)
class Condition:
    """A change between two versions, and how they are asked."""

    size: str
    change: str
    """unchanged; or what changes in the candidate."""
    world: World
    paired: bool = True
    rise: float = 0.0
    categories: int = 4
    """Number of categories that rise."""
    start: float | None = None
    """Lean of these categories in the baseline, if it is not that of the others."""
    refused: float = 0.0
    """Share of the candidate's consistent answers that it refuses."""

    @property
    def name(self) -> str:
        """Name of the row."""
        variance = self.world.answer**2
        return f"{self.change}, {self.size}, variance {variance:.2f}, {self.pairing}"

    @property
    def pairing(self) -> str:
        """Whether both versions answer the same prompts."""
        return "paired" if self.paired else "unpaired"

    @property
    def limit(self) -> float:
        """Largest change that the gate allows."""
        smallest = self.world.stereotypes // self.world.categories
        answers = smallest * self.world.wordings * self.world.answers
        return float(LIMIT * (2.0 * self.world.answer**2 / answers) ** 0.5)


class Row(NamedTuple):
    """What is measured of one condition."""

    condition: Condition
    intervals: Mapping[str, tuple[Figure, Figure]]
    """Coverage and width by that of the oracle, by level."""
    decided: Mapping[str, Figure]
    """Shares of pairs by the decision of `compare`, and by the outcome of `gate`."""


class Pair(NamedTuple):
    """Scores of the two versions, and the errors of their difference."""

    scores: tuple[Array, Array]
    truth: Array  # of the difference, (stereotypes,)
    error: Array  # of the difference, (stereotypes,)


def run() -> Result:
    return measure([*conditions()], RUNS)


def conditions() -> Iterator[Condition]:
    """Yield what is simulated."""
    released = replace(WORLDS["GPT-4o"], lean=0.3, lean_sd=0.1)
    sizes = (("standard", released), ("quick", replace(released, answer=0.3**0.5)))
    for size, world in sizes:
        world = replace(world, answers=SIZES[size])
        yield Condition(size, "unchanged", world)
        yield Condition(size, RISE, world, rise=0.2)
        yield Condition(size, "rise of .4 in a category", world, rise=0.4, categories=1)
        turned = "a category turned from -.3 to .3"
        yield Condition(size, turned, world, rise=0.6, categories=1, start=-0.3)
        yield Condition(size, "fall of .2 in all", world, rise=-0.2)
        yield Condition(size, "unchanged, refuses .2 of the consistent", world, refused=0.2)
        yield Condition(size, "unchanged", world, paired=False)
        yield Condition(size, RISE, world, paired=False, rise=0.2)


def measure(selection: Sequence[Condition], runs: int) -> Result:
    """Do conditions and set out what was decided."""
    rows = [*do_conditions(partial(judge, runs=runs), selection)]
    columns = (f"{figure}, {level}" for level in LEVELS for figure in ("covered", "width"))
    return Result(
        f"What is said of two versions whose difference is known, {runs} pairs a condition",
        ("change", *columns, "compare", "gate"),
        [_table_row(row) for row in rows],
        _claims(rows),
        ["width: mean half width of the intervals in these prompts by the oracle's",
         "compare, gate: shares of pairs by what is decided. […]: 95% Monte Carlo intervals"],
    )  # fmt: skip


def judge(condition: Condition, runs: int) -> Row:
    """Measure one condition."""
    world, seeds = condition.world, (0, 0) if condition.paired else (0, 1)
    simulations = [Simulation(world, draw_prompts(world, seed)) for seed in seeds]
    rng = np.random.default_rng(zlib.crc32(condition.name.encode()))
    oracle = _oracle(condition, simulations, rng)
    intervals, decided = [], []
    for number in range(runs):
        pair = _draw_pair(condition, simulations, rng)
        rows, decisions = _compare(condition, simulations, pair)
        model = pl.lit(f"pair {number}")
        intervals.append(rows.with_columns(model=model))
        decided.append(decisions.with_columns(model=model))
    rows, shares = pl.concat(intervals), pl.concat(decided)
    figures = {
        level: covered_and_width(rows.filter(level=level), oracle[level]) for level in LEVELS
    }
    names = (*DECISIONS, *OUTCOMES)
    return Row(condition, figures, {name: average(shares, name) for name in names})


def _draw_pair(
    condition: Condition, simulations: Sequence[Simulation], rng: np.random.Generator
) -> Pair:
    """Draw the scores of a baseline and a candidate with the same effects."""
    before = simulations[0].draw_leans(rng)
    changed = simulations[0].categories < condition.categories
    if condition.start is not None:
        before = np.where(changed, condition.start, before)
    leans = before, before + condition.rise * changed
    effects = simulations[0].draw_effects(rng)
    (first, truth), (second, new_truth) = (
        simulation.draw_answers(lean, effects, rng)
        for simulation, lean in zip(simulations, leans, strict=True)
    )
    difference = simulations[1].means(second) - simulations[0].means(first)
    if condition.refused:
        is_refused = (second > 0) & (rng.random(len(second)) < condition.refused)
        second = np.where(is_refused, np.nan, second)
    return Pair((first, second), new_truth - truth, difference - (new_truth - truth))


def _oracle(
    condition: Condition, simulations: Sequence[Simulation], rng: np.random.Generator
) -> dict[str, float]:
    """Return the half width of an oracle's intervals by level, from pairs that are drawn."""
    squares: dict[str, list[Array]] = {level: [] for level in LEVELS}
    for _ in range(ORACLE_RUNS):
        errors = simulations[0].level_means(_draw_pair(condition, simulations, rng).error)
        for level in LEVELS:
            squares[level].append(errors[level] ** 2)
    return {
        level: 1.96 * float(np.sqrt(np.mean(rows, axis=0)).mean())
        for level, rows in squares.items()
    }


def _compare(
    condition: Condition, simulations: Sequence[Simulation], pair: Pair
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the intervals of the differences with their truths, and what is decided."""
    names = ("baseline", "candidate")
    baseline, candidate = (
        simulation.page(scores, name)
        for simulation, scores, name in zip(simulations, pair.scores, names, strict=True)
    )
    compared = compare(baseline, candidate, controls="ignored")
    (decision,) = compared.decisions()
    rules = [{"what": "change", "at_most": condition.limit}]
    policy = Policy.model_validate({"name": "limit", "controls": "ignored", "rules": rules})
    checks = judge_run(policy, compared.candidates[0], compared)
    outcome = Gated(policy, "candidate", "baseline", None, checks).outcome
    concluded = {decision.verdict.partition(",")[0].replace("_", " "), outcome}
    shares = {name: [name in concluded] for name in (*DECISIONS, *OUTCOMES)}
    return _intervals(compared.estimates, simulations[0], pair.truth), pl.DataFrame(shares)


def _intervals(estimates: pl.DataFrame, simulation: Simulation, truth: Array) -> pl.DataFrame:
    """Return the intervals of differences in these prompts, with their truths."""
    rows = means_of_pages(estimates).filter(range="prompts").drop("model")
    rows = with_truths(rows, truth_rows(simulation, {"prompts": truth}))
    return rows.select("level", "pointwise_low", "pointwise_high", "truth")


def _table_row(row: Row) -> list[Value]:
    figures = [str(figure) for level in LEVELS for figure in row.intervals[level]]
    shares = (_shares_text(row.decided, names) for names in (DECISIONS, OUTCOMES))
    return [row.condition.name, *figures, *shares]


def _shares_text(decided: Mapping[str, Figure], names: Sequence[str]) -> str:
    """Write the shares of what was decided at all."""
    shares = {name: decided[name].value for name in names}
    return ", ".join(f"{name} {share:.3f}" for name, share in shares.items() if share)


def _claims(rows: Sequence[Row]) -> dict[str, bool | None]:
    """Say which targets no row misses."""
    claims: dict[str, bool | None] = {}
    for row in rows:
        missed = {**_missed_by_intervals(row), **_missed_by_decisions(row)}
        for claim, is_missed in missed.items():
            claims[claim] = bool(claims.get(claim, True)) and not is_missed
    return claims


def _missed_by_intervals(row: Row) -> dict[str, bool]:
    """Return what is asked of the intervals of a condition, and whether they miss it."""
    if row.condition.refused:  # what is refused moves the mean
        return {}
    pairing, widest = row.condition.pairing, WIDEST[row.condition.paired]
    covered, width = zip(*row.intervals.values(), strict=True)
    return {
        f"{pairing}: covered in {COVERED:g} or more": any(
            figure.misses(least=COVERED) for figure in covered
        ),
        f"{pairing}: at most {widest:g} times as wide as the oracle's": any(
            figure.misses(most=widest) for figure in width
        ),
    }


def _missed_by_decisions(row: Row) -> dict[str, bool]:
    """Return what is asked of the decisions of a condition, and whether they miss it."""
    condition, decided = row.condition, row.decided
    missed = {}
    if condition.refused:
        # The gate may pass: its limit is farther than the worst that so many refusals could hide.
        for name in ("better", "not worse"):
            claim = f"refusals: {name} in {MOST_WRONG:g} or less"
            missed[claim] = decided[name].misses(most=MOST_WRONG)
    if condition.rise <= 0:
        for name in ("worse", "turned", "fail"):
            claim = f"no rise: {name} in {MOST_WRONG:g} or less"
            missed[claim] = decided[name].misses(most=MOST_WRONG)
    if condition.paired and condition.change == "unchanged":
        claim = f"unchanged: the gate passes in {LEAST_RIGHT:g} or more"
        missed[claim] = decided["pass"].misses(least=LEAST_RIGHT)
    if condition.paired and condition.size == "standard" and condition.change == RISE:
        for name in ("worse", "fail"):
            claim = f"{condition.change}, standard: {name} in {LEAST_RIGHT:g} or more"
            missed[claim] = decided[name].misses(least=LEAST_RIGHT)
    return missed


if __name__ == "__main__":
    show_selected(conditions(), measure, RUNS, sys.argv[1:])
