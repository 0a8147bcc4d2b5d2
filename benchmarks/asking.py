"""Ways of asking the same prompts of a loopback server, measured side by side.

The ways take turns in one client process, after a warm-up of each, and each round begins with
another: a machine that is slow for some seconds slows neighbours alike, and a ratio is that of two
neighbours. CPU is that of the client process, all threads.
"""

from __future__ import annotations

import gc
import json
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks.measuring import Result, Value, fresh, ratio
from benchmarks.server import serving

ROUNDS = 10
DELAYS_MS = (0, 50)
TARGET = 1.10

#: Takes a number of calls and a folder; returns what is measured.
Way = Callable[[int, Path], Callable[[], None]]


@dataclass(frozen=True)
class Ways:
    """The ways of a benchmark; ``inspect`` and ``ours`` are among them."""

    module: str
    title: str
    names: Mapping[str, str]
    """What each is called in the table."""
    calls: int
    """Of all models in a round."""


def compare(ways: Ways) -> Result:
    """Measure every way after every delay."""
    rows: list[Sequence[Value]] = []
    claims: dict[str, bool | None] = {}
    notes = [f"medians of {ROUNDS} rounds; ratios are medians of ratios within a round"]
    for delay_ms in DELAYS_MS:
        times, busy = _times(ways, delay_ms)
        notes.append(f"the server is busy {busy:.0%} of the time, answers after {delay_ms} ms")
        for way, name in ways.names.items():
            own, base = times[way], times["inspect"]
            wall, cpu = ratio(own["wall_s"], base["wall_s"]), ratio(own["cpu_s"], base["cpu_s"])
            rate, per_call = ways.calls / median(own["wall_s"]), median(own["cpu_s"]) / ways.calls
            rows.append([name, f"{delay_ms} ms", rate, 1e3 * per_call, wall, cpu])
            if way == "ours":
                each = [a / b for a, b in zip(own["cpu_s"], base["cpu_s"], strict=True)]
                notes.append(
                    f"CPU of clinometer ÷ inspect after {delay_ms} ms, each round: "
                    + ", ".join(f"{x:.2f}" for x in sorted(each))
                )
                for what, value in (("wall time", wall), ("CPU", cpu)):
                    claim = f"under 10 % on top of inspect, {what}, answers after {delay_ms} ms"
                    claims[claim] = value < TARGET
    columns = ("path", "answer after", "calls/s", "CPU ms/call", "wall ÷ inspect", "CPU ÷ inspect")
    return Result(ways.title, columns, rows, claims, notes)


def _times(ways: Ways, delay_ms: int) -> tuple[dict[str, dict[str, list[float]]], float]:
    """Return what each round of each way took, and the share of time the server was busy."""
    start = time.perf_counter()
    with serving(delay_ms / 1e3) as (url, busy):
        # With FORCE_COLOR the bar is drawn although nobody looks on.
        variables = {"LOOP_BASE_URL": url, "LOOP_API_KEY": "none", "FORCE_COLOR": "1"}
        found: dict[str, dict[str, list[float]]] = fresh(ways.module, variables=variables)
    return found, busy[0] / (time.perf_counter() - start)


def take_turns(ways: Mapping[str, Way], warm_up: int, calls: int) -> None:
    """Print what each round of each way takes, after a warm-up."""
    found = {way: {"wall_s": list[float](), "cpu_s": list[float]()} for way in ways}
    with tempfile.TemporaryDirectory() as folder:
        for name, way in ways.items():
            way(warm_up, Path(folder) / f"{name} warm")()
        for number in range(ROUNDS):
            first = number % len(ways)
            for name in [*ways][first:] + [*ways][:first]:
                measured = ways[name](calls, Path(folder) / f"{name} {number}")
                gc.collect()
                wall, cpu = time.perf_counter(), time.process_time()
                measured()
                found[name]["wall_s"].append(time.perf_counter() - wall)
                found[name]["cpu_s"].append(time.process_time() - cpu)
    print(json.dumps(found))
