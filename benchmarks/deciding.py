"""Asking until it is decided, beside asking all.

Question
    How often does a run that looks at its answers again and again, and stops where they show
    something, show what is not there; and what does it save?
Peers
    A run of the same plan without looks, at the number of trials that finds as much; and the same
    looks without a correction.
How
    Scores of known truth (`simulated_scores`) on the trials of five stereotypes, or of one. After
    each part of the answers `next_stage` says what goes on, as in a run. Neutral pages: no
    stereotype leans. Spread pages: leans are drawn around .25 with a standard deviation of .25.
    An error is a verdict of a lean, not restricted to a wording or word, of a neutral mean. All
    intervals of a page are to hold at once, at whatever look each stereotype ended. Cost is in
    trials; the peer's is interpolated between the sizes that were tried. Deterministic.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from multiprocessing import get_context
from typing import Any

from benchmarks.measuring import Result

#: Runs by kind of page, each half as many of one stereotype.
RUNS = {"neutral": 280, "spread": 40}
#: Trials per wording: of the sizes that ask all, the last the most that a run with looks may ask.
SIZES = (2, 4, 6, 8, 12, 16, 24, 32, 40)
#: Of `bai2025`, with several words for each group: what one word does is no error of others.
STEREOTYPES = ("science", "black", "hispanic", "arab", "career")
CENTRE = SPREAD = 0.25
MOST_ERRORS, MOST_COST = 0.05, 0.6
#: Runs of a job, so that two processes share the work.
BATCH = 20

Row = dict[str, Any]


@dataclass(frozen=True)
class Job:
    """Some runs of a condition on a kind of page."""

    condition: str
    page: str
    stereotypes: int
    first: int

    @property
    def name(self) -> str:
        """Of the row."""
        return self.condition if self.stereotypes > 1 else f"{self.condition}, one stereotype"


def run() -> Result:
    """Simulate every condition in two processes."""
    os.environ |= {"POLARS_MAX_THREADS": "1", "OMP_NUM_THREADS": "1"}
    jobs = list(_jobs())
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        done = [row for rows in pool.map(do, jobs) for row in rows]
    rows = [_set_out(name, done) for name in dict.fromkeys(job.name for job in jobs)]
    errors = {row[0]: row[1] for row in rows}
    costs = {row[0]: row[-1] for row in rows if row[-1] is not None}
    n_neutral = sum(row["page"] == "neutral" for row in done)
    all_errors = sum(row["error"] for row in done if row["page"] == "neutral") / n_neutral
    return Result(
        "Asking until it is decided, on scores of known truth",
        (
            *("scores", "errors", "errors, looks not corrected", "intervals hold", "found"),
            *("trials a wording, median", "of those that find as much", "ratio"),
        ),
        rows,
        {
            f"errors on at most {MOST_ERRORS:.0%} of pages": all_errors <= MOST_ERRORS,
            f"median cost at most {MOST_COST} of the plan that finds as much, by condition": max(
                costs.values()
            )
            <= MOST_COST,
        },
        [
            f"errors on {all_errors:.3f} of {n_neutral:,} neutral pages; by condition "
            + ", ".join(f"{name} {share:.3f}" for name, share in errors.items()),
        ],
    )


def _jobs() -> Iterator[Job]:
    for condition in _conditions():
        for stereotypes in (len(STEREOTYPES), 1):
            for page, runs in RUNS.items():
                n = runs if stereotypes > 1 else runs // 2
                for first in range(0, n, BATCH):
                    yield Job(condition, page, stereotypes, first)


def _conditions() -> dict[str, Any]:
    from benchmarks.simulated_scores import CONDITIONS, Condition

    noisy = Condition(0.03, 0.03, 0.15, 0.15, 0.1, attribute=0.0, noise=0.5)
    names = ("all effects", "unequal", "skewed", "whole words")
    chosen = {name: replace(CONDITIONS[name], attribute=0.0) for name in names}
    return {"mostly noise": noisy, **chosen}


def do(job: Job) -> list[Row]:
    """Carry out the runs of a job; a row each."""
    import numpy as np

    from benchmarks.simulated_scores import Simulation
    from clinometer.audits.sizes import PlanOptions, sized_plan

    chosen = ",".join(STEREOTYPES[: job.stereotypes])
    options = PlanOptions(
        ["bai2025"], ["word_association"], chosen, None, SIZES[-1], ["free"], until="decided"
    )
    plan = sized_plan("standard", ["openai/gpt-4o"], options)
    simulation = Simulation(plan.whole().trials())
    condition = replace(_conditions()[job.condition], page=job.page, centre=CENTRE, spread=SPREAD)
    rows = []
    for number in range(job.first, job.first + BATCH):
        rng = np.random.default_rng(zlib.crc32(f"{job.name} {job.page} {number}".encode()))
        scores, truths = simulation.draw(condition, rng)
        rows.append({"name": job.name, "page": job.page, **_until_decided(plan, scores, truths)})
        if job.page == "spread" or number < BATCH:
            rows[-1] |= _peers(scores, truths, job.page, plan.looks)
    return rows


def _until_decided(plan: Any, scores: Any, truths: Any) -> Row:
    """Ask until it is decided; return what was shown, and the trials that it took."""
    from clinometer.audits.deciding import next_stage
    from clinometer.audits.looking import looks_of
    from clinometer.audits.tabulating import estimate_means
    from clinometer.statistics.estimates import Inference

    while True:
        asked = _asked(plan, scores)
        inference = Inference(plan.margin, looks=looks_of(plan.looks, plan.stage))
        estimates = estimate_means(asked, inference)
        plan = replace(plan, stage=next_stage(plan, estimates, asked))
        if plan.ended:
            break
    judged = _judge(estimates, truths)
    return {**judged, "cost": len(asked) / len(scores) * SIZES[-1]}


def _asked(plan: Any, scores: Any) -> Any:
    """Return the scores of what a plan asks at its stage."""
    import polars as pl

    numbers = {key: part.iterations for part in plan.parts() for key in part.stereotypes}
    most = pl.col("stereotype").cast(pl.String).replace_strict(numbers, return_dtype=pl.Int64)
    return scores.filter(pl.col("iteration") < most)


def _judge(estimates: Any, truths: Any) -> Row:
    """Return whether a neutral mean is said to lean, all intervals hold, and what was found."""
    import polars as pl

    from clinometer.results.verdicts import verdict_kind

    keys = ("level", "category", "stereotype")
    true = truths.filter(target="these").select(*keys, "truth")
    rows = estimates.filter(method="clustered").join(true, on=keys, nulls_equal=True)
    leans = verdict_kind(pl.col("verdict")).is_in(["consistent", "reversed"])
    neutral = (pl.col("truth") - pl.col("neutral")).abs() < 1e-9
    holds = pl.col("truth").is_between(pl.col("ci_low") - 1e-9, pl.col("ci_high") + 1e-9)
    right = (pl.col("estimate") > pl.col("neutral")) == (pl.col("truth") > pl.col("neutral"))
    told = rows.with_columns(
        error=leans & neutral & ~pl.col("verdict").str.contains(", for "),
        holds=holds.fill_null(True),
        found=leans & right & ~neutral,
    )
    single = told.filter(level="stereotype")
    return {
        "error": told["error"].any(),
        "holds": told["holds"].all(),
        "found": single["found"].mean(),
    }


def _peers(scores: Any, truths: Any, page: str, looks: Any) -> Row:
    """Return what is found when all are asked, by size; and errors of looks without correction."""
    import polars as pl

    from clinometer.audits.tabulating import estimate_means
    from clinometer.statistics.estimates import Inference

    if page == "neutral":
        at_looks = sorted({max(2, 2 * round(SIZES[-1] * share / 2)) for share in looks})
        return {
            "uncorrected": any(
                _judge(estimate_means(scores.filter(pl.col("iteration") < n), Inference()), truths)[
                    "error"
                ]
                for n in at_looks
            )
        }
    found = {}
    for n in SIZES:
        estimates = estimate_means(scores.filter(pl.col("iteration") < n), Inference())
        found[n] = _judge(estimates, truths)["found"]
    return {"peer": found}


def _set_out(name: str, done: list[Row]) -> list[Any]:
    """Return the row of a condition."""
    import numpy as np

    rows = [row for row in done if row["name"] == name]
    neutral = [row for row in rows if row["page"] == "neutral"]
    spread = [row for row in rows if row["page"] == "spread"]
    found = float(np.mean([row["found"] for row in spread]))
    by_size = [float(np.mean([row["peer"][n] for row in spread])) for n in SIZES]
    cost = float(np.median([row["cost"] for row in spread]))
    # Rising, so that it can be inverted; what none of the sizes finds has no equal.
    rising = np.maximum.accumulate(by_size)
    equal = float(np.interp(found, rising, SIZES)) if found <= rising[-1] else None
    return [
        name,
        float(np.mean([row["error"] for row in neutral])),
        float(np.mean([row["uncorrected"] for row in neutral if "uncorrected" in row])),
        float(np.mean([row["holds"] for row in rows])),
        found,
        cost,
        equal,
        None if equal is None else cost / equal,
    ]
