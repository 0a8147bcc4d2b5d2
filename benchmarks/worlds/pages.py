"""Simulated pages with their estimates, verdicts and truths, and figures over many of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from benchmarks.worlds.planted import World
from benchmarks.worlds.prompts import draw_prompts
from benchmarks.worlds.simulation import RANGES, Simulation
from clinometer.contracts.catalogue import measure_of
from clinometer.results.judging import judge
from clinometer.statistics.estimates import Inference, estimate_summaries
from clinometer.statistics.pages import adjust_means
from clinometer.statistics.summaries import summarise

__all__ = [
    "LEVELS",
    "MEASURE",
    "Figure",
    "average",
    "covered_and_width",
    "estimate_pages",
    "means_of_pages",
    "simulate_controls",
    "truth_rows",
    "with_truths",
]

LEVELS = ("stereotype", "category", "model")
MEASURE = measure_of("word_association")
CONTROLS = {"positive": 0.8, "negative": 0.0}
#: Pages in one call; each is a model of its own.
BATCH = 10
#: Of the standard normal distribution, for 95%.
QUANTILE = 1.96


class Figure(NamedTuple):
    """A simulated figure with its 95% Monte Carlo interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        """Write figure and interval with three places."""
        return f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}]"

    def misses(self, least: float = -np.inf, most: float = np.inf) -> bool:
        """Whether the interval excludes all that a target allows."""
        return self.high < least or self.low > most


def average(rows: pl.DataFrame, column: str) -> Figure:
    """Average a column over pages, which are independent of each other.

    The interval of a share is Wilson's, with as many cases as give the variance between pages; that
    of another number is normal.
    """
    by_page = rows.group_by("model").agg(pl.col(column).cast(pl.Float64).mean())[column]
    values = by_page.drop_nulls().to_numpy()
    if not len(values):
        return Figure(np.nan, -np.inf, np.inf)
    mean, variance = float(values.mean()), float(values.var())
    if rows.schema[column] != pl.Boolean:
        half = QUANTILE * (variance / len(values)) ** 0.5
        return Figure(mean, mean - half, mean + half)
    cases = float(len(values))
    if 0.0 < mean < 1.0 and variance > 0.0:
        cases = cases * mean * (1.0 - mean) / variance
    shift = QUANTILE**2 / cases
    half = (shift * (mean * (1.0 - mean) + shift / 4)) ** 0.5
    middle, wider = mean + shift / 2, 1.0 + shift
    return Figure(mean, (middle - half) / wider, (middle + half) / wider)


def simulate_controls(world: World) -> list[Simulation]:
    """Return a positive and a negative control, asked like the stereotypes of a world."""
    alone = replace(world, stereotypes=1, lean_sd=0.0)
    return [
        Simulation(replace(alone, lean=lean), draw_prompts(alone, control=kind))
        for kind, lean in CONTROLS.items()
    ]


def estimate_pages(
    simulation: Simulation,
    runs: int,
    seed: int,
    controls: Sequence[Simulation] = (),
    confidence: float = 0.95,
    leans: NDArray[np.float64] | None = None,
) -> pl.DataFrame:
    """Draw pages and estimate them, with controls that are asked of the same model.

    The pages are the same with and without controls. `leans` take the place of those that the world
    draws.

    Returns
    -------
    polars.DataFrame
        A row per page (`model`), mean and range, with the columns of `results.ESTIMATES`, a
        column `range` and the `truth`.
    """
    rng, control_rng = np.random.default_rng(seed), np.random.default_rng(seed + 1)
    tables = []
    for start in range(0, runs, BATCH):
        scores, truths = [], []
        for number in range(start, min(start + BATCH, runs)):
            model = f"page {number}"
            answers, by_range = simulation.draw(rng, leans)
            scores.append(simulation.page(answers, model))
            truths.append(truth_rows(simulation, by_range).with_columns(model=pl.lit(model)))
            scores += [control.page(control.draw(control_rng)[0], model) for control in controls]
        units = summarise(pl.concat(scores))
        estimates, _ = estimate_summaries(units, MEASURE, Inference(confidence=confidence), LEVELS)
        estimates = judge(adjust_means(estimates, confidence))
        rows = means_of_pages(estimates).filter(pl.col("factor").is_null())
        tables.append(with_truths(rows, pl.concat(truths)))
    return pl.concat(tables)


def covered_and_width(rows: pl.DataFrame, half_width: float) -> tuple[Figure, Figure]:
    """Return how often intervals contain the truth, and their mean width by 2 × `half_width`."""
    low, high = pl.col("pointwise_low"), pl.col("pointwise_high")
    measured = rows.with_columns(
        covered=pl.col("truth").is_between(low, high).fill_null(False),
        width=(high - low) / (2 * half_width),
    )
    return average(measured, "covered"), average(measured, "width")


def truth_rows(simulation: Simulation, by_range: Mapping[str, NDArray[np.float64]]) -> pl.DataFrame:
    """Return the true means of a page: `level`, `category`, `stereotype`, `range` and `truth`."""
    rows = []
    for name, truths in by_range.items():
        for level, means in simulation.level_means(truths).items():
            keys = simulation.keys_of_means(level)
            truth = pl.Series(means)
            rows.append(keys.with_columns(level=pl.lit(level), range=pl.lit(name), truth=truth))
    return pl.concat(rows)


def means_of_pages(estimates: pl.DataFrame) -> pl.DataFrame:
    """Return the means of all ranges that have a truth: no controls, no cells."""
    return estimates.filter(
        pl.col("control").is_null(),
        pl.col("level").is_in(LEVELS),
        pl.col("range").is_in(RANGES),
        measure=MEASURE.name,
    )


def with_truths(rows: pl.DataFrame, truths: pl.DataFrame) -> pl.DataFrame:
    """Add the `truth` to each row.

    Raises RuntimeError if a row has none.
    """
    keys = [name for name in truths.columns if name != "truth"]
    rows = rows.join(truths, on=keys, how="left", nulls_equal=True)
    if rows["truth"].null_count():
        raise RuntimeError(f"rows without a truth: {rows.filter(pl.col('truth').is_null())}")
    return rows
