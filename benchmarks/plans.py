"""Drawing a plan.

Question
    How long does it take to draw the trials of a plan, and how much memory?
Peer
    All trials as one table (`Plan.trials`), beside the same trials in pieces, one held at a time
    (`Plan.pieces`), as they are written for a cluster.
How
    The word association and relative decisions of all stereotypes of `bai2025`, asked more often.
    Each plan in a process of its own, which imports Clinometer. Memory is the most that the process
    ever held.
"""

from __future__ import annotations

import json
import sys
import time

from benchmarks.measuring import Result, Value, fresh, peak_mb

#: Of each of the 168 pairs of stereotype and wording: 268,800 and 1,200,024 trials.
ITERATIONS = (1_600, 7_143)
MOST_CPU_S = 60
MOST_MB = 500
WAYS = {"whole": "one table", "pieces": "pieces"}


def run() -> Result:
    """Draw each plan whole and in pieces."""
    rows: list[list[Value]] = []
    for iterations in ITERATIONS:
        for way, title in WAYS.items():
            drawn = fresh("benchmarks.plans", iterations, way)
            per_trial = 1e6 * drawn["cpu_s"] / drawn["trials"]
            rows.append(
                [title, drawn["trials"], drawn["wall_s"], drawn["cpu_s"], per_trial, drawn["mb"]]
            )
    _, _, _, cpu_s, _, mb = rows[-1]
    return Result(
        "Trials of a plan",
        ("as", "trials", "s", "processor s", "processor µs a trial", "peak MB"),
        rows,
        {
            f"1.2 million trials in pieces take under {MOST_CPU_S} s of a processor": cpu_s
            < MOST_CPU_S,
            f"1.2 million trials in pieces take under {MOST_MB} MB": mb < MOST_MB,
        },
    )


def draw(iterations: int, way: str) -> dict[str, float]:
    """Draw a plan in one way."""
    from clinometer.audits.sizes import PlanOptions, sized_plan

    named = ["word_association", "relative_decision"]
    options = PlanOptions(studies=["bai2025"], instruments=named, iterations=iterations)
    plan = sized_plan("paper", ["openai/gpt-4o"], options)
    start, cpu = time.perf_counter(), time.process_time()
    pieces = [plan.trials()] if way == "whole" else plan.pieces()
    trials = sum(piece.height for piece in pieces)
    times = {"wall_s": time.perf_counter() - start, "cpu_s": time.process_time() - cpu}
    return {"trials": trials, **times, "mb": peak_mb()}


if __name__ == "__main__":
    print(json.dumps(draw(int(sys.argv[1]), sys.argv[2])))
