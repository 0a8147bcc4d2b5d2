"""``python -m benchmarks.rivals quick``: few runs, printed and not saved."""

from __future__ import annotations

import sys

from rich.console import Console

from benchmarks.measuring import NotRun, show
from benchmarks.rivals import FEW, measure

if sys.argv[1:] != ["quick"]:
    sys.exit("benchmarks.rivals: allowed is quick; python -m benchmarks rivals does all runs")
try:
    show(measure(FEW, FEW), Console(width=None if sys.stdout.isatty() else 200, highlight=False))
except NotRun as reason:
    sys.exit(f"not run: {reason}")
