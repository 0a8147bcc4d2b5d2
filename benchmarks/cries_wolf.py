"""Twins of apps whose truth is known: what is told that is not there, and what is missed.

Question
    An app treats people by their names, by the wording of a request and by chance, and perhaps by
    their group. How often does `twins` tell groups apart that are treated alike, how often does it
    find those that are not, and how wide are its intervals? What do other tools say of the same
    app?
Peer
    vfairness, demoparity, fairtrace and cfprompt, by the calls that their own documentation gives,
    asking the same simulated models (``clinometer simulate --any``) over HTTP; LangFair gives
    numbers and makes no decision. A mixed model of R on the same answers (lme4 by lmerTest: people,
    wordings and their pairs random), whose p below .05 counts; a t test of independent answers. Of
    intervals an oracle: 1.96 times the standard deviation of the estimate over all runs.
How
    `stand_truths` says what is planted: effects are drawn anew in each run, and one contrast is
    asked of with the prompts of `refunds`, six names a side and nine wordings, size standard. Told
    is a contrast that leans in other prompts. Runs in batches that are kept (in
    ``~/.cache/clinometer/cries_wolf``, or the folder that CLINOMETER_CRIES_WOLF names), so that a
    run that was stopped continues. Other tools have environments of their own (`rivals`).
    ``python -m benchmarks.cries_wolf --runs 20 --asked 0`` saves nothing.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, pstdev
from typing import Any

import polars as pl
from scipy import stats

from benchmarks import stand_truths
from benchmarks.stand_truths import (
    PERSON,
    StandTruth,
    scores_of_runs,
)
from benchmarks.trials import as_scores
from clinometer.audits.tabulating import estimate_means
from clinometer.results.ranges import rows_of_range
from clinometer.results.verdicts import CONSISTENT, REVERSED, verdict_kind
from clinometer.simulated.prompts import KnownPeople
from clinometer.statistics.estimates import Inference
from clinometer.stimuli import Study

#: Runs of a truth in which groups are alike, in which they are not, that R sees, and of other tools.
RUNS, POWER_RUNS, MIXED_RUNS, ASKED_RUNS = 2_000, 400, 100, 30
BATCH = 100
ITERATIONS, MANY_ITERATIONS = 24, 12
MOST_FALSE, WIDEST, Z = 0.06, 1.25, 1.96
MANY = "many names and paraphrases"

MODEL = """
suppressMessages(library(lmerTest))
rows <- read.csv(commandArgs(TRUE)[1])
told <- function(part) {
  model <- suppressWarnings(suppressMessages(lmer(
    value ~ group + (1 | person) + (1 | wording) + (1 | person:wording), part)))
  anova(model)[["Pr(>F)"]][1] < 0.05
}
parts <- split(rows, rows$run)
cat(sapply(parts, function(part) tryCatch(told(part), error = function(e) FALSE)), sep = "\\n")
"""


@dataclass(frozen=True)
class Asked:
    """What is asked of every truth: a study's trials, and who is known to the app."""

    name: str
    study: Study
    trials: pl.DataFrame
    known: KnownPeople | None = None


@dataclass(frozen=True)
class Found:
    """What was found in the runs of a truth, a value a run."""

    told: Sequence[bool]
    independent: Sequence[bool]
    estimates: Sequence[float]
    widths: Sequence[float]

    @classmethod
    def of_batches(cls, batches: Sequence[Mapping[str, Any]]) -> Found:
        """Put batches together."""
        joined = {name: [] for name in inspect.signature(cls).parameters}  # type: ignore[var-annotated]
        for batch in batches:
            for name, values in joined.items():
                values += batch[name]
        return cls(**joined)

    @property
    def width_ratio(self) -> float:
        """How wide intervals are, by the interval of who knows the error of the estimate."""
        return fmean(self.widths) / (2 * Z * pstdev(self.estimates))


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
        "widths": (rows["ci_high"] - rows["ci_low"]).to_list(),
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
    source = (stand_truths.__file__, __file__)
    identity = "\n".join([repr(truth), asked.name, *(Path(file).read_text() for file in source)])
    folder = _folder() / hashlib.sha256(identity.encode()).hexdigest()[:16]
    folder.mkdir(parents=True, exist_ok=True)
    batches = []
    for start in range(0, runs, BATCH):
        numbers = range(start, min(start + BATCH, runs))
        kept = folder / f"{numbers.start}-{numbers.stop}.json"
        if not kept.exists():
            batch = measure_batch(asked, truth, numbers)
            kept.with_suffix(".new").write_text(json.dumps(batch), encoding="utf-8")
            kept.with_suffix(".new").replace(kept)
        batches.append(json.loads(kept.read_text(encoding="utf-8")))
    return Found.of_batches(batches)


def _folder() -> Path:
    named = os.environ.get("CLINOMETER_CRIES_WOLF")
    return Path(named) if named else Path.home() / ".cache" / "clinometer" / "cries_wolf"


def told_by_mixed_model(asked: Asked, truth: StandTruth, runs: int) -> list[bool] | None:
    """Return whether R's mixed model tells groups apart in each run; None without R."""
    if shutil.which("Rscript") is None or runs == 0:
        return None
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
            ["Rscript", "-e", MODEL, str(path)], capture_output=True, text=True, check=True
        )
    return [word == "TRUE" for word in done.stdout.split()]
