"""Twins of apps whose truth is known: what is told that is not there, and what is missed.

Question
    An app treats people by their names, by the wording of a request and by chance, and perhaps by
    their group. How often does `twins` tell a group apart that is not treated otherwise, and how
    often does it find one that is?
Peer
    A mixed model of R on the same answers (lme4 by lmerTest: people, wordings and their pairs
    random), whose p below .05 counts, where R is installed; and the test of independent answers
    that tools without a baseline make (a difference of two means, by its t).
How
    Answers to the prompts of `refunds`, sizes quick and standard. An app is a log odds of approval:
    of the request, of each person, of each wording, of both together, and of the group. Effects are
    drawn anew in each run, normal or skewed (exponential, to one side); a number is the same sum,
    clipped. Told is a contrast that leans in other prompts; false is a page with one, of which the
    truth has none, and of each contrast by itself. ``python -m benchmarks.cries_wolf --runs 20``
    saves nothing.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray
from rich.console import Console
from scipy import stats

from benchmarks.measuring import Result, Value, show
from benchmarks.trials import as_scores, codes
from clinometer.audits.tabulating import estimate_means
from clinometer.contracts.catalogue import INSTRUMENTS
from clinometer.contracts.design import Design
from clinometer.results.ranges import rows_of_range
from clinometer.results.verdicts import CONSISTENT, REVERSED, verdict_kind
from clinometer.statistics.estimates import Inference
from clinometer.stimuli import load_study

RUNS = 60
#: Of which R, which takes longest, sees the first.
MIXED_RUNS = 15
SIZES = ("quick", "standard")
CONTRASTS = ("black_women", "black_men", "age", "disability")
#: A difference of 1.4 in log odds is about 34 of 100 people where half are approved.
EFFECT = 1.4
MOST_FALSE = 0.06

MODEL = """
suppressMessages(library(lmerTest))
rows <- read.csv(commandArgs(TRUE)[1])
told <- function(part) {
  model <- suppressWarnings(suppressMessages(lmer(
    value ~ group + (1 | person) + (1 | wording) + (1 | person:wording), part)))
  anova(model)[["Pr(>F)"]][1] < 0.05
}
parts <- split(rows, list(rows$run, rows$stereotype), drop = TRUE)
cat(sapply(parts, function(part) tryCatch(told(part), error = function(e) FALSE)), sep = "\\n")
"""


@dataclass(frozen=True)
class App:
    """Standard deviations of what moves an app, in log odds, and what it does by group."""

    name: str
    people: float = 0.0
    wordings: float = 0.0
    pairs: float = 0.0
    request: float = 0.0
    """Log odds of approval of anybody."""
    effect: float = 0.0
    number: bool = False
    skewed: bool = False


APPS = tuple(
    app
    for effect in (0.0, EFFECT)
    for app in (
        App("chance alone", effect=effect),
        App("names", people=0.4, effect=effect),
        App("names, much", people=1.0, effect=effect),
        App("wordings", wordings=1.0, effect=effect),
        App("names and wordings", people=0.4, wordings=1.0, effect=effect),
        App("names by wordings", people=0.4, wordings=0.6, pairs=0.8, effect=effect),
        App("skewed names", people=0.8, skewed=True, effect=effect),
        App("skewed wordings", wordings=1.0, skewed=True, effect=effect),
        App("nine of ten approved", people=0.4, wordings=0.6, request=2.2, effect=effect),
        App("one of ten approved", people=0.4, wordings=0.6, request=-2.2, effect=effect),
        App("numbers", people=0.4, wordings=0.6, number=True, effect=effect),
        App("skewed numbers", 0.8, 0.6, number=True, skewed=True, effect=effect),
    )
)


def draw_effects(
    app: App, spread: float, count: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Draw effects of a standard deviation and of mean 0."""
    if app.skewed:
        return spread * (rng.exponential(size=count) - 1)
    return rng.normal(0, spread, count)


def answer(trials: pl.DataFrame, app: App, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return what each person gets, from −1 to 1."""
    is_default = (trials["version"] == "default").to_numpy()
    person = trials.select(pl.when(version="default").then("default").otherwise("marginalized"))
    trials = trials.with_columns(person=person.to_series())
    total = np.full(trials.height, app.request) + app.effect * (is_default - 0.5)
    for spread, columns in (
        (app.people, ["person"]),
        (app.wordings, ["variation"]),
        (app.pairs, ["person", "variation"]),
    ):
        levels = codes(trials.with_columns(level=pl.concat_str(columns, separator="/")), "level")
        total += draw_effects(app, spread, levels.max() + 1, rng)[levels]
    if app.number:
        return np.clip((total + rng.normal(0, 1, trials.height)) / 4, -1, 1)
    return np.where(rng.random(trials.height) < 1 / (1 + np.exp(-total)), 1.0, -1.0)


def told_by_us(trials: pl.DataFrame, values: NDArray[np.float64]) -> set[str]:
    """Return the contrasts that lean in other prompts."""
    sign = np.where((trials["version"] == "default").to_numpy(), 1.0, -1.0)
    scores = as_scores(trials.with_columns(score=sign * values))
    means = estimate_means(scores, Inference())
    rows = rows_of_range(means, "other_prompts").filter(level="stereotype")
    leans = verdict_kind(pl.col("verdict")).is_in([CONSISTENT, REVERSED])
    return {*rows.filter(leans)["stereotype"]}


def told_as_independent(trials: pl.DataFrame, values: NDArray[np.float64]) -> set[str]:
    """Return the contrasts whose answers differ by a t test of independent answers."""
    rows = trials.select("stereotype", "version", value=values)
    told = set()
    for (key,), part in rows.group_by("stereotype"):
        sides = [side["value"].to_numpy() for side in part.partition_by("version")]
        if part["value"].n_unique() > 1 and stats.ttest_ind(*sides).pvalue < 0.05:
            told.add(str(key))
    return told


def told_by_mixed_model(answers: pl.DataFrame) -> float | None:
    """Return the share of contrasts that R's mixed model tells apart; None without R."""
    if shutil.which("Rscript") is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "answers.csv"
        answers.write_csv(path)
        done = subprocess.run(
            ["Rscript", "-e", MODEL, str(path)], capture_output=True, text=True, check=True
        )
    told = done.stdout.split()
    return sum(word == "TRUE" for word in told) / len(told)


def rows(runs: int) -> Iterator[list[Value]]:
    """Yield a row for each app and size."""
    study, instrument = load_study("refunds"), INSTRUMENTS["twins"]
    for size in SIZES:
        iterations = instrument.sizes[size].iterations
        trials = instrument.trials(study, Design(iterations=iterations), stereotypes=CONTRASTS)
        for number, app in enumerate(APPS):
            rng = np.random.default_rng([number, iterations])
            ours, independent, pages, answers = 0, 0, 0, []
            for run in range(runs):
                values = answer(trials, app, rng)
                told = told_by_us(trials, values)
                ours += len(told)
                pages += bool(told)
                independent += len(told_as_independent(trials, values))
                answers.append(_for_r(trials, values, run))
            n = runs * len(CONTRASTS)
            mixed = told_by_mixed_model(pl.concat(answers[:MIXED_RUNS]))
            truth = "alike" if not app.effect else f"{app.effect:g} apart"
            yield [app.name, size, truth, ours / n, pages / runs, mixed, independent / n]


def _for_r(trials: pl.DataFrame, values: NDArray[np.float64], run: int) -> pl.DataFrame:
    """Return the answers of a run as R reads them."""
    return trials.select(
        "stereotype",
        run=run,
        value=values,
        group="version",
        person=pl.when(version="default").then("default").otherwise("marginalized"),
        wording="variation",
    )


def run(runs: int = RUNS) -> Result:
    """Ask all apps."""
    found = [*rows(runs)]
    alike = [row for row in found if row[2] == "alike"]
    return Result(
        "Twins of apps whose truth is known",
        ("app", "size", "groups", "told", "pages that tell one", "mixed model", "independent"),
        found,
        claims={
            "of groups that are treated alike at most .06 are told apart, whatever the app": all(
                float(row[3] or 0) <= MOST_FALSE for row in alike
            )
        },
        notes=[
            f"{runs} runs a row, of four contrasts each, and of these R sees "
            f"{min(runs, MIXED_RUNS)}; shares of contrasts but for pages"
        ],
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cries_wolf")
    parser.add_argument("--runs", type=int, default=RUNS)
    show(run(parser.parse_args().runs), Console(width=120))
