"""Runs of `stand_truths`: what Clinometer, a t test and a mixed model of R find in each.

Runs go in batches that are kept (`kept`), by a digest of the code that they depend on.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache, partial
from pathlib import Path
from statistics import fmean, pstdev
from typing import Any

import polars as pl
from scipy import stats

from benchmarks import stand_truths
from benchmarks.kept import keep
from benchmarks.stand_truths import PERSON, StandTruth, scores_of_runs
from benchmarks.trials import as_scores
from clinometer import statistics
from clinometer.audits.tabulating import estimate_means
from clinometer.results.ranges import rows_of_range
from clinometer.results.verdicts import CONSISTENT, REVERSED, verdict_kind
from clinometer.simulated import anything, prompts
from clinometer.simulated.prompts import KnownPeople
from clinometer.statistics.estimates import Inference

__all__ = ["WORDINGS_BY_GROUP", "Asked", "Found", "measure_mixed_model", "measure_truth"]

BATCH, Z = 100, 1.96

#: That a wording may change the difference of the groups: without it other wordings are not told.
WORDINGS_BY_GROUP = "(1 | wording:group)"

#: Fits the model; the second argument is what is random beside people, wordings and their pairs.
MODEL = """
suppressMessages(library(lmerTest))
arguments <- commandArgs(TRUE)
rows <- read.csv(arguments[1])
effects <- "value ~ group + (1 | person) + (1 | wording)"
asked_again <- any(duplicated(rows[c("run", "person", "wording")]))
pairs <- if (asked_again) "(1 | person:wording)"  # else they are the single answers
effects <- as.formula(paste(c(effects, pairs, arguments[-1]), collapse = " + "))
told <- function(part) {
  model <- suppressWarnings(suppressMessages(lmer(effects, part)))
  anova(model)[["Pr(>F)"]][1] < 0.05
}
parts <- split(rows, rows$run)
cat(sapply(parts, function(part) tryCatch(told(part), error = function(e) FALSE)), sep = "\\n")
"""


@dataclass(frozen=True)
class Asked:
    """What is asked of a truth: trials, and who is known to the app."""

    name: str
    trials: pl.DataFrame
    known: KnownPeople | None = None


@dataclass(frozen=True)
class Found:
    """What was found in the runs of a truth, a value a run."""

    told: Sequence[bool]
    independent: Sequence[bool]
    estimates: Sequence[float]
    lows: Sequence[float]
    highs: Sequence[float]

    @classmethod
    def from_batches(cls, batches: Sequence[Mapping[str, Any]]) -> Found:
        """Put batches together."""
        joined: dict[str, list[Any]] = {column.name: [] for column in fields(cls)}
        for batch in batches:
            for name, values in joined.items():
                values += batch[name]
        return cls(**joined)

    @property
    def width_ratio(self) -> float:
        """How wide intervals are, by the interval of who knows the error of the estimate."""
        return (fmean(self.highs) - fmean(self.lows)) / (2 * Z * pstdev(self.estimates))

    @property
    def coverage(self) -> float:
        """How many intervals contain the mean of all estimates."""
        truth = fmean(self.estimates)
        return fmean(low <= truth <= high for low, high in zip(self.lows, self.highs, strict=True))


def frame_of_runs(
    asked: Asked, truth: StandTruth, runs: range
) -> tuple[pl.DataFrame, list[list[float | None]]]:
    """Return the scores of runs, each of which is a model, and the same by run."""
    empty = as_scores(asked.trials.with_columns(score=pl.lit(None, pl.Float64)))
    values = [*scores_of_runs(truth, asked.trials, runs, asked.known)]
    reason = pl.when(pl.col("score").is_null()).then(pl.lit("refused"))
    frames = [
        empty.with_columns(
            score=pl.Series(scores, dtype=pl.Float64), model=pl.lit(f"run {run:05}")
        ).with_columns(reason=reason)
        for run, scores in zip(runs, values, strict=True)
    ]
    return pl.concat(frames), values


def measure_batch(asked: Asked, truth: StandTruth, runs: range) -> dict[str, list[Any]]:
    """Return what is found in runs, columns of `Found`."""
    frame, values = frame_of_runs(asked, truth, runs)
    means = estimate_means(frame, Inference())
    rows = rows_of_range(means, "other_prompts").filter(level="stereotype").sort("model")
    leans = verdict_kind(pl.col("verdict")).is_in([CONSISTENT, REVERSED])
    rows = rows.with_columns(told=leans.fill_null(False))
    return {
        "told": rows["told"].to_list(),
        "independent": [differ_independently(asked.trials, scores) for scores in values],
        "estimates": rows["estimate"].to_list(),
        "lows": rows["ci_low"].to_list(),
        "highs": rows["ci_high"].to_list(),
    }


def differ_independently(trials: pl.DataFrame, scores: Sequence[float | None]) -> bool:
    """Whether groups differ by a t test of independent answers."""
    rows = trials.select("version", score=pl.Series(scores, dtype=pl.Float64)).drop_nulls()
    sides = [
        (sign * rows.filter(version=side)["score"]).to_numpy()
        for side, sign in (("default", 1), ("marginalized", -1))
    ]
    return bool(stats.ttest_ind(*sides).pvalue < 0.05)


def measure_truth(asked: Asked, truth: StandTruth, runs: int) -> Found:
    """Return what is found, batch by batch; batches that were kept are not made again."""
    batches = []
    for start in range(0, runs, BATCH):
        numbers = range(start, min(start + BATCH, runs))
        name = f"{numbers.start}-{numbers.stop}"
        batches.append(_keep(asked, truth, name, partial(measure_batch, asked, truth, numbers)))
    return Found.from_batches(batches)


def measure_mixed_model(
    asked: Asked, truth: StandTruth, runs: int, *more: str
) -> list[bool] | None:
    """Return whether R's mixed model tells groups apart in each run; None without R.

    `more`: what is random, too, as terms of a formula.
    """
    if shutil.which("Rscript") is None or runs == 0:
        return None
    fit = partial(told_by_mixed_model, asked, truth, runs, *more)
    told: list[bool] = _keep(asked, truth, f"mixed-{runs}{'-more' * len(more)}", fit)
    return told


def _keep(asked: Asked, truth: StandTruth, name: str, make: Callable[[], Any]) -> Any:
    """Return what was kept of a truth with these prompts and this code, or make it."""
    texts = "\n".join(asked.trials["prompt"])
    return keep(f"{truth}\n{texts}\n{_digest()}", name, make)


@cache
def _digest() -> str:
    """Return a digest of the code that what is found depends on."""
    folder = Path(statistics.__file__).parent
    modules = (anything, prompts, stand_truths)
    files = [*sorted(folder.glob("*.py")), *(Path(str(module.__file__)) for module in modules)]
    texts = [file.read_bytes() for file in (*files, Path(__file__))]
    return hashlib.sha256(b"".join(texts)).hexdigest()


def told_by_mixed_model(asked: Asked, truth: StandTruth, runs: int, *more: str) -> list[bool]:
    """Return whether R's mixed model tells groups apart in each run."""
    columns = asked.trials.select(group="version", person=PERSON, wording="variation")
    sign = pl.when(group="default").then(1.0).otherwise(-1.0)
    frames = []
    for run, scores in enumerate(scores_of_runs(truth, asked.trials, range(runs), asked.known)):
        score = pl.Series(scores, dtype=pl.Float64)
        frames.append(columns.with_columns(value=sign * score, run=run).drop_nulls())
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "answers.csv"
        pl.concat(frames).write_csv(path)
        done = subprocess.run(
            ["Rscript", "-e", MODEL, str(path), *more], capture_output=True, text=True, check=True
        )
    return [word == "TRUE" for word in done.stdout.split()]
