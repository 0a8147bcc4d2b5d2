"""Estimating from many scores.

Question
    How much memory and time do the estimates of ten million scores take?
Peer
    The same table read whole by polars, which any statistic on it needs that does not work in
    pieces.
How
    Simulated scores of the word association, with the shares of 16 words each, of one model; the
    others have the same under other names. Each table in a process of its own, which imports
    Clinometer. Memory is the most that the process ever held.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl

from benchmarks.measuring import Result, Value, fresh, peak_mb

#: Models, and scores of each, about.
CASES = ((100, 100_000), (10, 1_000_000))
MOST_MB = 2_000
MOST_S = 1e-3
WAYS = {"estimate": "clinometer estimate", "read": "read whole by polars"}


def run() -> Result:
    """Estimate from each table, and read it whole."""
    rows: list[list[Value]] = []
    claims: dict[str, bool] = {}
    for models, scores in CASES:
        with tempfile.TemporaryDirectory() as folder:
            table = Path(folder) / "scores.parquet"
            _write(table, models, scores)
            for way, title in WAYS.items():
                took = fresh("benchmarks.many_scores", table, way)
                each = 1e6 * took["cpu_s"] / took["scores"]
                rows.append([title, models, took["scores"], took["wall_s"], each, took["mb"]])
                if way == "estimate":
                    claims[f"{models} models, memory under {MOST_MB} MB"] = took["mb"] < MOST_MB
                    claims[f"{models} models, under 1 ms a score"] = each < 1e6 * MOST_S
    return Result(
        "Estimates of ten million scores",
        ("way", "models", "scores", "s", "processor µs a score", "peak MB"),
        rows,
        claims,
    )


def _write(path: Path, models: int, scores: int) -> None:
    from clinometer.results.tables import write_pieces

    one = pl.concat(_simulated(scores))

    def parts() -> Iterator[pl.DataFrame]:
        for model in range(models):
            yield from one.with_columns(model=pl.lit(f"model/{model:03d}")).iter_slices(20_000)

    write_pieces(parts(), path)


def _simulated(scores: int) -> Iterator[pl.DataFrame]:
    """Yield simulated scores of one model, with shares of words."""
    from benchmarks.trials import as_scores
    from benchmarks.worlds.planted import WORLDS
    from benchmarks.worlds.simulation import Simulation
    from clinometer.audits.sizes import PlanOptions, sized_plan
    from clinometer.results import SCORES, check
    from clinometer.results.shares import as_shares
    from clinometer.stimuli import load_study

    options = PlanOptions(
        studies=["bai2025"], instruments=["word_association"], iterations=scores // 84
    )
    rng, study = np.random.default_rng(0), load_study("bai2025")
    for trials in sized_plan("paper", ["simulated"], options).pieces():
        shares = []
        for key, words in trials.select("stereotype", "attributes").iter_rows():
            tied = set(study.stereotypes[key].tied)
            found = dict(zip(words, map(float, rng.integers(0, 2, len(words))), strict=True))
            shares.append(as_shares(found, ["tied" if w in tied else "counter" for w in words]))
        simulation = Simulation(WORLDS["medium"], as_scores(trials))
        answers, _ = simulation.draw(rng)
        page = simulation.page(answers, "simulated")
        page = page.with_columns(shares=pl.Series(shares, dtype=pl.String))
        yield check(page, SCORES, "scores")


def take(table: Path, way: str) -> dict[str, float]:
    """Work on a table in one way."""
    from clinometer.audits.tabulating import estimate_scores

    start, cpu = time.perf_counter(), time.process_time()
    if way == "read":
        pl.read_parquet(table)
    else:
        estimate_scores(table)
    times = {"wall_s": time.perf_counter() - start, "cpu_s": time.process_time() - cpu}
    scores = pl.scan_parquet(table).select(pl.len()).collect().item()
    return {"scores": scores, **times, "mb": peak_mb()}


if __name__ == "__main__":
    print(json.dumps(take(Path(sys.argv[1]), sys.argv[2])))
