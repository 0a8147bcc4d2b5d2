"""Intervals of means over these prompts, on answers of known truth.

Question
    How often do intervals contain the truth of these prompts (`statistics.prompts`), at .95 and at
    the level of the least p of 21 stereotypes, .05 / 21? How wide are they? How often does a
    neutral page tell something?
Peer
    The width of an oracle that knows the error of the estimate: 2 × 1.96 × its standard deviation
    over the runs.
How
    2,000 runs a condition. Units are mirrored pairs, or single answers where it says two values. No
    generator is the beta distribution that the interval takes (`prompt_answers`). A row is of one
    kind of units and one design, over several truths: the worst coverage, and the width at the
    first truth. Wordings have the same truth or lie apart; cells (group words) may differ, and the
    truth is then the mean of the cells drawn. Changes are from one truth to another, in pairs over
    the same draws or not. Pages are judged by weighted Benjamini–Hochberg: stereotypes half of the
    weight, categories and the mean a quarter each. Two processes. Deterministic: each condition
    seeds itself by its name. ``python -m benchmarks.prompts quick`` does 200 runs and saves
    nothing.
"""

from __future__ import annotations

import os
import sys
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context

import numpy as np
from scipy.special import ndtri

from benchmarks.measuring import Result, Value
from benchmarks.prompt_answers import (
    CHANGES,
    KINDS,
    Change,
    Design,
    Draw,
    Generator,
    draw_cells,
    draw_neutral_page,
)
from clinometer.statistics.clustered import benjamini_hochberg
from clinometer.statistics.prompts import (
    BoundedMean,
    bounded_mean,
    paired_difference,
    unpaired_difference,
)

RUNS, FEW_RUNS, PAGES = 2_000, 200, 500
LEVELS = (0.05, 0.05 / 21)
SCALE = (-1.0, 1.0)
ROUNDING = 1e-9

TRUTHS = (0.0, 0.5, 0.95)
#: A quick audit has two pairs of each wording, a standard one five.
QUICK, STANDARD = Design(1, 4, 2), Design(1, 4, 5)
#: Of one stereotype, from 16 units to 100; the last are answers to twenty wordings.
DESIGNS = tuple(Design(1, *size) for size in ((1, 16), (4, 4), (4, 12), (4, 25), (20, 2)))
SEVERAL = (Design(3, 4, 2), Design(21, 4, 5))

#: Means of four wordings that lie apart.
APART = {
    ".3, −.3": (0.3, -0.3, 0.3, -0.3),
    ".95, .2": (0.95, 0.2, 0.95, 0.2),
    ".95 × 3, .2": (0.95, 0.95, 0.95, 0.2),
    ".99 × 3, −.5": (0.99, 0.99, 0.99, -0.5),
}

#: Means of the baseline and the candidate; the first is what widths are taken at.
RISES = {
    "0 to 0": (0.0, 0.0),
    "0 to .2": (0.0, 0.2),
    ".5 to .7": (0.5, 0.7),
    ".95 to .9": (0.95, 0.9),
}

#: Weights of the stereotypes, the categories and the mean of a page, by their number; as many in
#: total as there are rows.
PAGE_WEIGHTS = {21: 13.0, 4: 6.5, 1: 6.5}

#: Least coverage at `LEVELS`, widest intervals of changes (× an oracle's), most neutral pages.
LEAST, WIDEST, MOST = (0.94, 0.995), {"paired": 1.25, "unpaired": 1.4}, 0.06


@dataclass(frozen=True)
class Condition:
    """A row of the table at one truth; `estimate` draws an estimate and gives its truth."""

    row: str
    truth: str
    estimate: Callable[[Generator], tuple[BoundedMean, float]]


@dataclass(frozen=True)
class Coverage:
    """What the intervals of a condition did."""

    row: str
    truth: str
    shares: tuple[float, ...]  # that contain the truth, at `LEVELS`
    width: float | None  # of the 95% interval, × the oracle's; None where estimates do not vary


def run() -> Result:
    return measure(RUNS, PAGES)


def measure(runs: int, n_pages: int) -> Result:
    """Measure all conditions and pages with so many runs each, in two processes."""
    os.environ |= {"POLARS_MAX_THREADS": "1", "OMP_NUM_THREADS": "1"}
    conditions = [*_single_means(), *_means_of_several(), *_uneven_means(), *_changes()]
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        measured = list(pool.map(partial(measure_coverage, runs=runs), conditions, chunksize=8))
        shares = list(pool.map(partial(measure_pages, n_pages=n_pages), KINDS))
    pages = dict(zip(KINDS, shares, strict=True))
    by_row: dict[str, list[Coverage]] = {}
    for coverage in measured:
        by_row.setdefault(coverage.row, []).append(coverage)
    rows = sorted(map(_row, by_row.values()), key=lambda row: row[1:4])
    return Result(
        f"Intervals of means over these prompts, {runs} runs a condition, the worst first",
        ("units, stereotypes × wordings × units", "at .95", "truth", "at .05 / 21", "width"),
        rows,
        _claims(measured, pages, runs),
        [
            "shares of intervals that contain the truth, at the worst of the truths of a row; "
            "width: of the 95% interval at its first truth, as a multiple of an oracle's",
            *(f"neutral pages of {name} that tell anything: {pages[name]:.3f}" for name in pages),
        ],
    )


def measure_coverage(condition: Condition, runs: int) -> Coverage:
    """Estimate so many times, and count the intervals that contain the truth."""
    rng = np.random.default_rng(zlib.crc32(f"{condition.row} {condition.truth}".encode()))
    errors, intervals = [], []  # from the truth
    for _ in range(runs):
        mean, truth = condition.estimate(rng)
        errors.append(mean.mean - truth)
        intervals.append([np.subtract(mean.interval(1 - level), truth) for level in LEVELS])
    low, high = np.moveaxis(np.array(intervals), 2, 0)  # each (runs, levels)
    shares = ((low <= ROUNDING) & (high >= -ROUNDING)).mean(axis=0)
    oracle = -2 * ndtri(LEVELS[0] / 2) * np.std(errors)
    width = float((high - low)[:, 0].mean() / oracle) if oracle > ROUNDING else None
    return Coverage(condition.row, condition.truth, tuple(shares.tolist()), width)


def measure_pages(kind: str, n_pages: int) -> float:
    """Return the share of neutral pages of 21 stereotypes in four categories that tell anything."""
    rng = np.random.default_rng(zlib.crc32(kind.encode()))
    return float(np.mean([_tells_anything(KINDS[kind], rng) for _ in range(n_pages)]))


def _tells_anything(draw: Draw, rng: Generator) -> bool:
    values, stereotypes, wordings = draw_neutral_page(draw, rng)
    weighted_p = []
    for number, weight in PAGE_WEIGHTS.items():
        groups = stereotypes % number  # each stereotype, four categories, or all in one
        for group in range(number):
            rows = groups == group
            labels = stereotypes[rows], wordings[rows]
            mean = bounded_mean(values[rows], np.ones(rows.sum()), *labels, bounds=SCALE)
            weighted_p.append(mean.p() * number / weight)
    return bool(benjamini_hochberg(np.array(weighted_p)).min() <= LEVELS[0])


def _single_means() -> Iterator[Condition]:
    """Yield means of one stereotype whose wordings have the same truth, or lie apart."""
    for kind, draw in KINDS.items():
        for design in (QUICK, *DESIGNS):
            for truth in TRUTHS:
                estimate = partial(estimate_mean, draw, design, (truth,))
                yield Condition(f"{kind}, {design}", f"{truth:g}", estimate)
        for design in (STANDARD, Design(1, 4, 12)):
            for name, means in APART.items():
                estimate = partial(estimate_mean, draw, design, means)
                yield Condition(f"{kind}, wordings apart, {design}", name, estimate)


def _means_of_several() -> Iterator[Condition]:
    """Yield means of several stereotypes, whose truths reach from one number to 1."""
    for kind, draw in KINDS.items():
        for design in SEVERAL:
            for name, least in {"−.1 to 1": -0.1, "−1 to 1": -1.0}.items():
                means = np.repeat(np.linspace(least, 1.0, design.stereotypes), design.wordings)
                estimate = partial(estimate_mean, draw, design, means.tolist())
                yield Condition(f"{kind}, {design}", name, estimate)


def _uneven_means() -> Iterator[Condition]:
    """Yield means of pairs of which a third lacks an answer, and of cells that differ."""
    for kind, draw in KINDS.items():
        for truth in TRUTHS:
            lacking = partial(estimate_mean, draw, STANDARD, (truth,), answers=(2.0, 2.0, 1.0))
            yield Condition(f"{kind}, answers lacking, {STANDARD}", f"{truth:g}", lacking)
            cells = partial(estimate_cells, draw, truth)
            yield Condition(f"{kind}, cells differ, {STANDARD}", f"{truth:g}", cells)


def _changes() -> Iterator[Condition]:
    """Yield differences of two versions, over the same prompts and over others."""
    for design in (QUICK, STANDARD, *SEVERAL):
        for kind, change in CHANGES.items():
            for name, means in RISES.items():
                for pairing in WIDEST:
                    estimate = partial(estimate_change, change, design, means, pairing)
                    yield Condition(f"{pairing}, {kind}, {design}", name, estimate)


def estimate_mean(
    draw: Draw,
    design: Design,
    means: Sequence[float],
    rng: Generator,
    answers: Sequence[float] = (1.0,),
) -> tuple[BoundedMean, float]:
    """Draw units around the means of their wordings, each of a number of answers."""
    expected = design.expand(means)
    weights = rng.choice(answers, len(expected))
    mean = bounded_mean(draw(expected, rng), weights, *design.labels, bounds=SCALE)
    return mean, float(expected.mean())


def estimate_cells(draw: Draw, truth: float, rng: Generator) -> tuple[BoundedMean, float]:
    """Draw pairs of cells; the truth is the mean of the cells that were drawn."""
    cells = draw_cells(STANDARD, truth, rng)
    mean = bounded_mean(draw(cells, rng), np.ones(len(cells)), *STANDARD.labels, bounds=SCALE)
    return mean, float(cells.mean())


def estimate_change(
    change: Change, design: Design, means: tuple[float, float], pairing: str, rng: Generator
) -> tuple[BoundedMean, float]:
    """Draw the units of two versions, over the same draws or, unpaired, over others."""
    expected = [design.expand([mean]) for mean in means]
    baseline, candidate = change(expected[0], expected[1], rng)
    counts = np.ones(len(baseline)), *design.labels
    rise = means[1] - means[0]
    if pairing == "paired":
        return paired_difference(baseline, candidate, *counts, bounds=SCALE), rise
    _, candidate = change(expected[0], expected[1], rng)
    before, after = (bounded_mean(run, *counts, bounds=SCALE) for run in (baseline, candidate))
    return unpaired_difference(before, after), rise


def _row(coverages: Sequence[Coverage]) -> list[Value]:
    """Set out the conditions of a row: the worst coverage at each level, the first width."""
    worst = min(coverages, key=lambda coverage: coverage.shares[0])
    strictest = min(coverage.shares[1] for coverage in coverages)
    return [worst.row, worst.shares[0], worst.truth, strictest, coverages[0].width]


def _claims(
    measured: Sequence[Coverage], pages: Mapping[str, float], runs: int
) -> dict[str, bool | None]:
    """Compare with what was asked for; missed is what the Monte Carlo interval excludes."""
    claims: dict[str, bool | None] = {}
    for place, least in enumerate(LEAST):
        shares = np.array([coverage.shares[place] for coverage in measured])
        highest = shares + 2 * (shares * (1 - shares) / runs) ** 0.5
        name = f"intervals at {LEVELS[place]:.2g} contain the truth in {least} or more"
        claims[name] = bool((highest >= least).all())
    for pairing, widest in WIDEST.items():
        row = f"{pairing}, answers of variance .53, {STANDARD}"
        # Nearer to the end the variance of these answers is less.
        widths = [c.width for c in measured if c.row == row and c.truth in ("0 to 0", "0 to .2")]
        claims[f"{pairing}, standard size: {widest} × as wide as an oracle's at most"] = all(
            width is not None and width <= widest for width in widths
        )
    claims[f"neutral pages tell anything in {MOST} or less"] = max(pages.values()) <= MOST
    return claims


if __name__ == "__main__":
    from rich.console import Console

    from benchmarks.measuring import show

    few = sys.argv[1:] == ["quick"]
    result = measure(*((FEW_RUNS, FEW_RUNS) if few else (RUNS, PAGES)))
    show(result, Console(width=None if sys.stdout.isatty() else 120, highlight=False))
