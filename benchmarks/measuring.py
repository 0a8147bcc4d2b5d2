"""What all benchmarks need: a fresh process, a ratio of pairs, a table, facts of the machine."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import resource
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from types import MappingProxyType
from typing import Any

from rich.console import Console
from rich.table import Table

REPOSITORY = Path(__file__).resolve().parents[1]
PACKAGES = ("clinometer", "inspect-ai", "openai", "polars", "numpy", "scipy", "statsmodels")
LOCAL_PACKAGES = ("torch", "transformers")
LONGEST_S = 600

Value = str | int | float | None


@dataclass
class Result:
    """One table, and which of the claims it was made for hold."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Value]]
    claims: Mapping[str, bool | None] = field(default_factory=dict)
    """Claim → whether it holds; None where this run cannot tell."""
    notes: list[str] = field(default_factory=list)


class NotRun(Exception):
    """A benchmark cannot be run here; the message says why, in one line."""


def fresh(
    module: str, *arguments: object, variables: Mapping[str, str] = MappingProxyType({})
) -> Any:
    """Run ``python -m module arguments`` in a process of its own; return the JSON it prints."""
    done = subprocess.run(
        [sys.executable, "-m", module, *map(str, arguments)],
        cwd=REPOSITORY,
        env={**os.environ, **variables},
        capture_output=True,
        timeout=LONGEST_S,
        text=True,
    )
    if done.returncode:
        raise RuntimeError(f"{module} {arguments}: exit code {done.returncode}\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def peak_mb() -> float:
    """Most memory this process ever held, in MB (10⁶ bytes).

    Linux counts the parent's memory into `ru_maxrss` of a child, so its own count is preferred.
    """
    status = Path("/proc/self/status")
    if status.exists():
        line = next(x for x in status.read_text().splitlines() if x.startswith("VmHWM"))
        return int(line.split()[1]) * 1024 / 1e6
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


def ratio(ours: Sequence[float], peer: Sequence[float]) -> float:
    """Return the median over repetitions of ours / peer, each pair measured side by side."""
    return median(a / b for a, b in zip(ours, peer, strict=True))


def machine() -> dict[str, Any]:
    """Describe the machine, with nothing that names it."""
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None,
        "processor": _processor(),
        "system": f"{platform.system()} {platform.machine()}",
        "load_before": round(os.getloadavg()[0], 2),
        "python": platform.python_version(),
        "versions": {name: _version(name) for name in (*PACKAGES, *LOCAL_PACKAGES)},
    }


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor()


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def show(result: Result, console: Console) -> None:
    """Print the table, then a line per claim and note."""
    table = Table(title=result.title, title_justify="left")
    for number, column in enumerate(result.columns):
        table.add_column(column, justify="right" if number else "left")
    for row in result.rows:
        table.add_row(*map(_text, row))
    console.print(table)
    for claim, holds in result.claims.items():
        console.print(f"{'not measured' if holds is None else 'yes' if holds else 'NO'}: {claim}")
    for note in result.notes:
        console.print(f"note: {note}")
    console.print()


def _text(value: Value) -> str:
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    return f"{value:,}" if isinstance(value, int) else value


def save(results: dict[str, Result], path: Path, facts: dict[str, Any]) -> None:
    """Write the results as JSON; benchmarks not run this time keep their last entry."""
    held = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    for name, result in results.items():
        held[name] = {"machine": facts, **asdict(result)}
    path.write_text(json.dumps(held, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
