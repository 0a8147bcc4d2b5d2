"""Ways of asking the same prompts of a loopback server, measured side by side.

Each measurement is a fresh client process, after a warm-up; the order rotates over the
repetitions. CPU is that of the client process, all threads.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks.measuring import Result, Value, fresh, ratio
from benchmarks.server import serving

REPETITIONS = 3
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
    """Of all models."""


def compare(ways: Ways) -> Result:
    """Measure every way after every delay."""
    rows: list[Sequence[Value]] = []
    claims: dict[str, bool | None] = {}
    spread: list[str] = []
    for delay_ms in DELAYS_MS:
        times = _times(ways, delay_ms)
        for way, name in ways.names.items():
            own, base = times[way], times["inspect"]
            wall, cpu = ratio(own["wall_s"], base["wall_s"]), ratio(own["cpu_s"], base["cpu_s"])
            rate, per_call = ways.calls / median(own["wall_s"]), median(own["cpu_s"]) / ways.calls
            busy = f"{median(own['server_share']):.0%}"
            rows.append([name, f"{delay_ms} ms", rate, 1e3 * per_call, wall, cpu, busy])
            if way == "ours":
                each = [a / b for a, b in zip(own["cpu_s"], base["cpu_s"], strict=True)]
                spread.append(
                    f"CPU of tiltmeter ÷ inspect after {delay_ms} ms, each repetition: "
                    + ", ".join(f"{x:.2f}" for x in sorted(each))
                )
                for what, value in (("wall time", wall), ("CPU", cpu)):
                    claim = f"under 10 % on top of inspect, {what}, answers after {delay_ms} ms"
                    claims[claim] = value < TARGET
    columns = ("path", "answer after", "calls/s", "CPU ms/call", "wall ÷ inspect")
    notes = [f"medians of {REPETITIONS}; ratios are medians of ratios within a repetition"]
    return Result(
        ways.title, (*columns, "CPU ÷ inspect", "server busy"), rows, claims, [*notes, *spread]
    )


def _times(ways: Ways, delay_ms: int) -> dict[str, dict[str, list[float]]]:
    """Return what each repetition of each way took."""
    found: dict[str, list[dict[str, float]]] = {way: [] for way in ways.names}
    for repetition in range(REPETITIONS):
        for way in [*ways.names][repetition:] + [*ways.names][:repetition]:
            found[way].append(_measure(ways.module, way, delay_ms))
    return {way: {k: [x[k] for x in xs] for k in xs[0]} for way, xs in found.items()}


def _measure(module: str, way: str, delay_ms: int) -> dict[str, float]:
    with serving(delay_ms / 1e3) as (url, busy):
        # With FORCE_COLOR the bar is drawn although nobody looks on.
        variables = {"LOOP_BASE_URL": url, "LOOP_API_KEY": "none", "FORCE_COLOR": "1"}
        found: dict[str, float] = fresh(module, way, variables=variables)
    return {**found, "server_share": busy[0] / found["wall_s"]}


def spend(way: Way, warm_up: int, calls: int) -> None:
    """Print what a way takes, after a warm-up."""
    with tempfile.TemporaryDirectory() as folder:
        way(warm_up, Path(folder) / "warm")()
        measured = way(calls, Path(folder) / "measured")
        wall, cpu = time.perf_counter(), time.process_time()
        measured()
        spent = {"wall_s": time.perf_counter() - wall, "cpu_s": time.process_time() - cpu}
    print(json.dumps(spent))
