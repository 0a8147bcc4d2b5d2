"""Comparisons of two runs whose true difference is known.

Question
    How often does `compare` tell a difference between two runs of one model? How often a planted
    change, and how often does its interval contain it where each run has effects of its own?
Peer
    The width of an oracle that knows the error of the difference: 2 × 1.96 × its root mean square.
How
    Scores are drawn on the trials of an audit (`simulated_scores`, all effects) of GPT-4o, free
    word associations. Two runs of one model share the effects of wordings and words and differ by
    noise; paired, they are the same trials, unpaired, draws of another seed, with effects of their
    own. Own effects: each run also has those of wordings and words of its own (sd .1). The planted
    change is what `clinometer power` promises to find in a mean of the model. Deterministic.
"""

from __future__ import annotations

import os
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from multiprocessing import get_context
from typing import Any

from benchmarks.measuring import Result

RUNS, FEWER = 400, 100
#: The model's smallest mean that quick finds with probability .8, by `clinometer power`.
PROMISED = 0.24
TOLD, LEAST = (0.03, 0.07), 0.8


@dataclass(frozen=True)
class Case:
    """Two runs of one size, of the same trials or not."""

    size: str
    paired: bool
    own: float = 0.0  # sd of each run's own effects
    change: float = 0.0
    runs: int = RUNS

    @property
    def name(self) -> str:
        """Of the row."""
        parts = [self.size, "paired" if self.paired else "unpaired"]
        parts += ["own effects"] if self.own else []
        parts += [f"change of {self.change}"] if self.change else []
        return ", ".join(parts)


CASES = (
    Case("quick", True),
    Case("quick", False),
    Case("standard", True, runs=2 * FEWER),
    Case("standard", False, runs=2 * FEWER),
    Case("quick", True, own=0.1, runs=2 * FEWER),
    Case("quick", False, own=0.1, runs=2 * FEWER),
    Case("quick", True, change=PROMISED, runs=FEWER),
    Case("quick", False, change=PROMISED, runs=FEWER),
)


def run() -> Result:
    os.environ |= {"POLARS_MAX_THREADS": "1", "OMP_NUM_THREADS": "1"}
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        found = dict(zip(CASES, pool.map(do, CASES), strict=True))
    null = {case: row for case, row in found.items() if not case.own and not case.change}
    planted = [row for case, row in found.items() if case.change]
    return Result(
        "Comparisons of two runs whose true difference is known, mean of the model",
        ("runs", "told (p < .05)", "covered", "width ÷ oracle", "number"),
        [
            (case.name, row["told"], row["covered"], row["width"], case.runs)
            for case, row in found.items()
        ],
        {
            f"two runs of one model: a difference in {TOLD[0]:.0%} to {TOLD[1]:.0%}": all(
                TOLD[0] <= row["told"] <= TOLD[1] for row in null.values()
            ),
            f"the same in at most {TOLD[1]:.0%}": all(
                row["told"] <= TOLD[1] for row in null.values()
            ),
            f"a change of the promised size is told in at least {LEAST}": all(
                row["told"] >= LEAST for row in planted
            ),
        },
        [f"promised size: {PROMISED}, by clinometer power openai/gpt-4o --size quick"],
    )


def do(case: Case) -> dict[str, float]:
    """Simulate one case: shares over runs, of the mean of the model."""
    import numpy as np

    from benchmarks.simulated_scores import CONDITIONS, Simulation

    trials, size = _trials(case)
    simulation, rng = Simulation(trials), np.random.default_rng(7)
    condition = replace(CONDITIONS["all effects"], centre=0.0)
    rows = []
    for _ in range(case.runs):
        start, effects, _ = simulation._effects(condition, rng)
        second = np.arange(len(trials)) >= size
        effects = effects + _own(trials, second, case.own, rng)
        scores = simulation._scores(condition, start + case.change * second, effects, rng)
        rows.append(_compared(simulation.frame, scores, size))
    told, low, high, error = (
        np.array([row[k] for row in rows]) - (case.change if k else 0.0) for k in range(4)
    )
    oracle = 2 * 1.96 * float((error**2).mean()) ** 0.5
    return {
        "told": float((told < 0.05).mean()),
        "covered": float(((low <= 0.0) & (high >= 0.0)).mean()),
        "width": float((high - low).mean()) / oracle,
    }


def _trials(case: Case) -> tuple[Any, int]:
    """Return the trials of both runs, and the number of those of the first."""
    import polars as pl

    from clinometer.audits.sizes import PlanOptions, sized_plan

    parts = []
    for number, seed in enumerate((0, 0 if case.paired else 1)):
        options = PlanOptions(
            studies=["bai2025"], instruments=["word_association"], modes=["free"], seed=seed
        )
        trials = sized_plan(case.size, ["openai/gpt-4o"], options).trials()
        named = trials.with_columns(trial_id=pl.format("{}.{}", "trial_id", pl.lit(number)))
        if number and not case.paired:  # draws of its own
            pair = pl.col("pair_id").str.replace(r"\.p(\d+)$", ".p9${1}")
            named = named.with_columns(pair_id=pair)
        parts.append(named)
    return pl.concat(parts), len(parts[0])


def _own(trials: Any, second: Any, sd: float, rng: Any) -> Any:
    """Draw effects of wordings and words that each run has for itself."""
    import numpy as np
    import polars as pl

    from benchmarks.crossed import CONTRAST, codes

    runs = trials.with_columns(run=pl.Series(second).cast(pl.String))
    effects = np.zeros(len(trials))
    if not sd:
        return effects
    for columns in (
        ("run", "variation"),
        ("run", *CONTRAST, "variation"),
        ("run", *CONTRAST, "marginalized"),
        ("run", *CONTRAST, "default"),
    ):
        of = codes(runs, *columns)
        effects += rng.normal(0, sd, of.max() + 1)[of]
    return effects


def _compared(frame: Any, scores: Any, size: int) -> tuple[float, float, float, float]:
    """Compare two runs; return p, interval and estimate of the mean of the model."""
    import polars as pl

    import clinometer

    scored = frame.with_columns(score=pl.Series(scores))
    first, second = (
        part.with_columns(model=pl.lit(name))
        for part, name in ((scored[:size], "a"), (scored[size:], "b"))
    )
    row = clinometer.compare(first, second).means("b").row(0, named=True)
    return row["p"], row["ci_low"], row["ci_high"], row["estimate"]
