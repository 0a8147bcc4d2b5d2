"""Asking until it is decided, beside asking all.

Question
    How often does a run that looks at its answers again and again, and stops where they show
    something, report a lean that is not there; and what does it save?
Peers
    A run of the same plan without looks: how much it finds with as many trials, and with how many
    it finds as much. The same looks without a correction.
How
    Answers of known truth (`worlds`) to the prompts of five stereotypes, or of one. After each part
    of them `next_stage` says what goes on, as in a run. Neutral pages have no lean; on the others
    leans are normal, .25 ± .25. A false lean is as in `decisions`, in other prompts. The trials are
    those of the median run; what a plan of another size finds is interpolated between the sizes.
    ``python -m benchmarks.deciding --runs 20 --only medium`` saves nothing.
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from benchmarks.conditions import do_conditions, show_selected
from benchmarks.decisions import NEUTRAL, detect_leans
from benchmarks.measuring import Result, Value
from benchmarks.trials import as_scores
from benchmarks.worlds.pages import Figure, average, means_of_pages, truth_rows, with_truths
from benchmarks.worlds.planted import WORLDS, World
from benchmarks.worlds.simulation import Simulation
from clinometer.asking.plan import Plan
from clinometer.audits.deciding import next_stage
from clinometer.audits.looking import looks_of
from clinometer.audits.sizes import PlanOptions, sized_plan
from clinometer.audits.tabulating import estimate_means
from clinometer.statistics.estimates import Inference

#: Neutral pages; pages with leans are fewer by a factor.
RUNS, FEWER = 300, 2
#: Times that pages are drawn again.
RESAMPLES = 500
#: Trials per wording: of the sizes that ask all, the last the most that a run with looks may ask.
SIZES = (2, 4, 8, 16, 24, 40)
#: Of `bai2025`, with several words for each group.
STEREOTYPES = ("science", "black", "hispanic", "arab", "career")
NAMES = ("calm", "medium", "words", "±1", "unequal")
MOST_FALSE = 0.05
#: Of one stereotype: part of the trials of a plan that finds as much. Of five: part of what a plan
#: with as many trials finds.
MOST_TRIALS, LEAST_SHARE = 0.6, 0.9


@dataclass(frozen=True)
class Condition:
    """A world, and how many stereotypes are asked about."""

    name: str
    world: World
    stereotypes: int


class Row(NamedTuple):
    """What runs with looks report, and what they cost."""

    condition: Condition
    false: Figure
    """Share of neutral pages with a false lean."""
    uncorrected: Figure
    """The same of looks without a correction."""
    detected: float
    """Share of leans that are reported."""
    trials: float
    share: Figure
    """Reported leans by those of a plan without looks that has as many trials."""
    ratio: Figure
    """Trials by those of a plan without looks that reports as much."""


class Savings(NamedTuple):
    """What runs with looks report and cost, page by page."""

    detected: NDArray[np.float64]  # (pages,): share of leans that are reported
    trials: NDArray[np.float64]  # (pages,): a wording
    by_size: NDArray[np.float64]  # (pages, sizes): share that a plan without looks reports

    def share(self) -> float:
        """Return reported leans by those of a plan without looks that has as many trials."""
        peer = float(np.interp(np.median(self.trials), SIZES, self.by_size.mean(axis=0)))
        return float(self.detected.mean()) / peer if peer else np.inf

    def ratio(self) -> float:
        """Return trials by those of a plan that reports as much; 0 where none does."""
        rising = np.maximum.accumulate(self.by_size.mean(axis=0))
        detected = float(self.detected.mean())
        if detected > rising[-1]:
            return 0.0
        return float(np.median(self.trials)) / float(np.interp(detected, rising, SIZES))

    def over_draws(self, measure: Callable[[Savings], float], rng: np.random.Generator) -> Figure:
        """Return a measure with the interval of pages that are drawn again."""
        pages = len(self.trials)
        draws = (rng.integers(0, pages, pages) for _ in range(RESAMPLES))
        values = [measure(Savings(*(column[draw] for column in self))) for draw in draws]
        # Ends are values themselves, as some are infinite.
        ends = np.quantile(values, (0.025, 0.975), method="inverted_cdf")
        return Figure(measure(self), *map(float, ends))


def run() -> Result:
    return measure([*conditions()], RUNS)


def conditions() -> Iterator[Condition]:
    """Yield what is simulated."""
    for name in NAMES:
        for number in (len(STEREOTYPES), 1):
            yield Condition(f"{name}, {number}", WORLDS[name], number)


def measure(selection: Sequence[Condition], runs: int) -> Result:
    """Do conditions and set out what runs with looks report and save."""
    rows = [*do_conditions(partial(judge, runs=runs), selection)]
    return Result(
        f"Asking until it is decided: {runs} neutral pages and {max(1, runs // FEWER)} with leans",
        ("world, stereotypes", "any false lean", "looks not corrected", "leans reported",
         "by those of as many trials", "trials a wording", "by those that report as much"),
        [_table_row(row) for row in rows],
        _claims(rows),
        ["[…]: 95% Monte Carlo intervals; 0: no plan without looks reports as much"],
    )  # fmt: skip


def judge(condition: Condition, runs: int) -> Row:
    """Measure one condition."""
    plan = _plan(condition.stereotypes)
    prompts = as_scores(plan.without_looks().trials())
    neutral = Simulation(condition.world, prompts)
    leaning = Simulation(replace(condition.world, lean=0.25, lean_sd=0.25), prompts)
    rng = np.random.default_rng(zlib.crc32(condition.name.encode()))
    fewer = max(1, runs // FEWER)
    pages = [_judge_neutral(plan, *_draw_page(neutral, rng)) for _ in range(runs)]
    # A peer whose errors are many.
    uncorrected = [_false_at_looks(plan, *_draw_page(neutral, rng)) for _ in range(fewer)]
    savings = [_judge_leaning(plan, *_draw_page(leaning, rng)) for _ in range(fewer)]
    saved = Savings(*map(np.array, zip(*savings, strict=True)))
    return Row(
        condition,
        _share(pages),
        _share(uncorrected),
        detected=float(saved.detected.mean()),
        trials=float(np.median(saved.trials)),
        share=saved.over_draws(Savings.share, rng),
        ratio=saved.over_draws(Savings.ratio, rng),
    )


def _judge_neutral(plan: Plan, scores: pl.DataFrame, truths: pl.DataFrame) -> bool:
    """Return whether a run with looks reports a false lean."""
    estimates, _ = _until_decided(plan, scores)
    return bool(_reports(estimates, truths)["false"].any())


def _judge_leaning(
    plan: Plan, scores: pl.DataFrame, truths: pl.DataFrame
) -> tuple[float, float, list[float]]:
    """Return the share of leans that is reported, the trials, and what plans without looks report.

    Trials are a wording; plans without looks are those of `SIZES`.
    """
    estimates, n_trials = _until_decided(plan, scores)
    by_size = [_detected(_estimate(scores, n), truths) for n in SIZES]
    return _detected(estimates, truths), n_trials / scores.height * SIZES[-1], by_size


def _plan(stereotypes: int) -> Plan:
    """Return a plan that is asked until it is decided."""
    keys = ",".join(STEREOTYPES[:stereotypes])
    options = PlanOptions(
        ["bai2025"], ["word_association"], keys, None, SIZES[-1], ["free"], until="decided"
    )
    return sized_plan("standard", ["openai/gpt-4o"], options)


def _draw_page(
    simulation: Simulation, rng: np.random.Generator
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return scores, and true means in other prompts."""
    answers, by_range = simulation.draw(rng)
    truths = {"other_prompts": by_range["other_prompts"]}
    return simulation.page(answers, "simulated"), truth_rows(simulation, truths)


def _until_decided(plan: Plan, scores: pl.DataFrame) -> tuple[pl.DataFrame, int]:
    """Ask until it is decided; return the estimates, and the number of trials."""
    while True:
        answers = _answers(plan, scores)
        inference = Inference(plan.margin, looks=looks_of(plan.looks, plan.stage))
        estimates = estimate_means(answers, inference)
        plan = replace(plan, stage=next_stage(plan, estimates, answers))
        if plan.ended:
            return estimates, answers.height


def _answers(plan: Plan, scores: pl.DataFrame) -> pl.DataFrame:
    """Return the scores of what a plan asks at its stage."""
    numbers = {key: part.iterations for part in plan.parts() for key in part.stereotypes}
    most = pl.col("stereotype").cast(pl.String).replace_strict(numbers, return_dtype=pl.Int64)
    return scores.filter(pl.col("iteration") < most)


def _estimate(scores: pl.DataFrame, iterations: int) -> pl.DataFrame:
    return estimate_means(scores.filter(pl.col("iteration") < iterations), Inference())


def _reports(estimates: pl.DataFrame, truths: pl.DataFrame) -> pl.DataFrame:
    """Say of each mean in other prompts whether a lean is reported, and whether it is false."""
    rows = means_of_pages(estimates).filter(range="other_prompts")
    return detect_leans(with_truths(rows.drop_nulls("verdict"), truths))


def _detected(estimates: pl.DataFrame, truths: pl.DataFrame) -> float:
    """Return the share of the leans of stereotypes that are reported."""
    rows = _reports(estimates, truths).filter(pl.col("truth").abs() > NEUTRAL, level="stereotype")
    return float(rows.select((pl.col("detected") & ~pl.col("false")).mean()).item())


def _false_at_looks(plan: Plan, scores: pl.DataFrame, truths: pl.DataFrame) -> bool:
    """Return whether any look reports a false lean, where looks are not corrected for."""
    sizes = sorted({max(2, 2 * round(SIZES[-1] * share / 2)) for share in plan.looks})
    return any(_reports(_estimate(scores, n), truths)["false"].any() for n in sizes)


def _share(values: Sequence[bool]) -> Figure:
    pages = pl.DataFrame(
        {"model": range(len(values)), "share": pl.Series(values, dtype=pl.Boolean)}
    )
    return average(pages, "share")


def _table_row(row: Row) -> list[Value]:
    shares = (str(row.false), str(row.uncorrected), row.detected)
    return [row.condition.name, *shares, str(row.share), row.trials, str(row.ratio)]


def _claims(rows: Sequence[Row]) -> dict[str, bool | None]:
    single = [row for row in rows if row.condition.stereotypes == 1]
    several = [row for row in rows if row.condition.stereotypes > 1]
    return {
        f"a false lean on at most {MOST_FALSE:g} of neutral pages": not any(
            row.false.misses(most=MOST_FALSE) for row in rows
        ),
        f"one stereotype: at most {MOST_TRIALS:g} of the trials of a plan as good": all(
            not row.ratio.misses(most=MOST_TRIALS) for row in single
        ),
        f"five: at least {LEAST_SHARE:g} of what a plan with as many trials finds": all(
            not row.share.misses(least=LEAST_SHARE) for row in several
        ),
    }


if __name__ == "__main__":
    show_selected(conditions(), measure, RUNS, sys.argv[1:])
