"""What a run shows while it runs: cost first, then calls, rate and time left."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from tiltmeter.asking.budget import Cost

__all__ = ["counting_bar", "progress_bar", "say_cost", "say_unfinished"]


def say_cost(costs: list[Cost], asked: str = "trials") -> None:
    """Print one line per model; `asked` names what is counted."""
    for cost in costs:
        dollars = "price not known, see --prices" if cost.usd is None else _dollars(cost)
        click.echo(
            f"{cost.model}: {cost.trials:,} {asked}, {cost.calls:,} calls, about "
            f"{cost.input_tokens:,} tokens in and {cost.output_tokens:,} out: {dollars}"
        )


def _dollars(cost: Cost) -> str:
    if not cost.usd:
        return "no charge"
    return f"about ${cost.usd:.2f}" if cost.usd >= 0.01 else "less than $0.01"


def say_unfinished(stopped_by: str | None, last_error: str | None, answered: str = "") -> int:
    """Say on standard error why a run ended early and how to go on; return the exit code.

    `stopped_by` is a limit, or ``"interrupted"``; None where answers are missing for another
    reason.
    """
    interrupted = stopped_by == "interrupted"
    why = "stopped" if interrupted else f"stopped at {stopped_by}" if stopped_by else "not complete"
    so_far = f"{why}: {answered}" if answered else why
    failed = f" ({last_error})" if last_error else ""
    stop = ";" if answered else ":"
    click.echo(
        f"tiltmeter: {so_far}{failed}{stop} repeat the command to continue, nothing is asked twice",
        err=True,
    )
    return 130 if interrupted else 1


@contextlib.contextmanager
def progress_bar(total: int) -> Iterator[Callable[[str, dict[str, Any]], None]]:
    """Show a bar on standard error and yield what to call for each answer.

    `total` counts the trials of all models, answered ones included.
    """
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("asking"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("trials · {task.fields[calls]} calls · {task.fields[rate]} a second ·"),
        TimeRemainingColumn(),
        TextColumn("left{task.fields[errors]}"),
    )
    calls = errors = 0
    console = Console(stderr=True)
    off = not console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=off) as bar:
        task = bar.add_task("", total=total, calls=0, rate="–", errors="")

        def advance(model: str, answer: dict[str, Any]) -> None:
            nonlocal calls, errors
            calls += answer.get("calls", 1)
            failed = answer.get("error") is not None
            errors += failed
            elapsed = bar.tasks[task].elapsed or 0.0
            bar.update(
                task,
                advance=0 if failed else answer.get("trials", 1),
                calls=calls,
                rate=f"{calls / elapsed:.1f}" if elapsed > 0.5 else "–",
                errors=f" · {errors} errors" if errors else "",
            )

        yield advance


@contextlib.contextmanager
def counting_bar(what: str, total: int) -> Iterator[Callable[[], None]]:
    """Show a bar on standard error and yield what to call for each thing done."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    console = Console(stderr=True)
    columns = (TextColumn(what), BarColumn(), MofNCompleteColumn())
    off = not console.is_terminal or not total
    with Progress(*columns, console=console, transient=True, disable=off) as bar:
        task = bar.add_task("", total=total)
        yield lambda: bar.advance(task)
