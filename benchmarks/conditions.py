"""How simulated conditions are done: in two processes, all or those that are named."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Protocol, TypeVar

from rich.console import Console

from benchmarks.measuring import Result, show

__all__ = ["do_conditions", "show_selected"]


class Named(Protocol):
    """A condition with a name."""

    @property
    def name(self) -> str:
        """Name of its rows."""
        ...


Condition = TypeVar("Condition", bound=Named)
Done = TypeVar("Done")


def do_conditions(
    do: Callable[[Condition], Done], selection: Sequence[Condition]
) -> Iterator[Done]:
    """Do conditions in two processes of one core each, and yield the results in their order."""
    # Read by the processes when they start.
    os.environ |= {"POLARS_MAX_THREADS": "1", "OMP_NUM_THREADS": "1"}
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        for condition, done in zip(selection, pool.map(do, selection), strict=True):
            print(f"{condition.name} …", file=sys.stderr, flush=True)
            yield done


def show_selected(
    conditions: Iterable[Condition],
    measure: Callable[[Sequence[Condition], int], Result],
    runs: int,
    arguments: Sequence[str],
) -> None:
    """Measure the conditions whose name has a text in it, and show the table without saving it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=runs, help="pages a condition")
    parser.add_argument("--only", default="", metavar="WORLD", help="a part of a condition's name")
    options = parser.parse_args(arguments)
    selected = [condition for condition in conditions if options.only in condition.name]
    if not selected:
        parser.error(f"--only {options.only}: no condition has this in its name")
    width = None if sys.stdout.isatty() else 150
    show(measure(selected, options.runs), Console(width=width, highlight=False))
