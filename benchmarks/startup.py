"""The command line's start.

Question
    How long until it answers?
Peers
    ``python -c pass``, the least any Python program takes, and ``inspect --help`` of the
    framework underneath.
How
    30 rounds; in each, every command once, in a process of its own, in rotating order.
"""

from __future__ import annotations

import subprocess
import sys
import time
from statistics import median

from benchmarks.measuring import Result, Value, ratio

ROUNDS = 30
SLOW_ROUNDS = 5
TARGET = 3.0
MAIN = "from clinometer.cli import main; main()"
PEER = "python -c pass"
COMMANDS = {
    PEER: ("-c", "pass"),
    "clinometer --help": ("-c", MAIN, "--help"),
    "clinometer audit --help": ("-c", MAIN, "audit", "--help"),
    "clinometer list": ("-c", MAIN, "list"),
    "inspect --help": ("-m", "inspect_ai", "--help"),
}
SLOW = ("clinometer list", "inspect --help")


def run() -> Result:
    times: dict[str, list[float]] = {name: [] for name in COMMANDS}
    base: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for _ in range(2):
        for arguments in COMMANDS.values():
            _time(arguments)
    names = list(COMMANDS)
    for number in range(ROUNDS):
        turn = number % len(names)
        took = {
            name: _time(COMMANDS[name])
            for name in names[turn:] + names[:turn]
            if name not in SLOW or number < SLOW_ROUNDS
        }
        for name, wall_s in took.items():
            times[name].append(wall_s)
            base[name].append(took[PEER])
    rows: list[list[Value]] = [
        [name, len(took), 1e3 * median(took), 1e3 * min(took), ratio(took, base[name])]
        for name, took in times.items()
    ]
    help_ratio = ratio(times["clinometer --help"], base["clinometer --help"])
    return Result(
        "From the command to its answer",
        ("command", "runs", "median ms", "fastest ms", "÷ python -c pass"),
        rows,
        {f"clinometer --help takes under {TARGET:.0f} times python -c pass": help_ratio < TARGET},
        ["clinometer starts here as its console script does, by calling clinometer.cli.main"],
    )


def _time(arguments: tuple[str, ...]) -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, *arguments], check=True, capture_output=True, timeout=60)
    return time.perf_counter() - start
