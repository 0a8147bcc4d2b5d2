"""What commands print: results, remarks in one line, cost, and progress."""

from __future__ import annotations

import contextlib
import os
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Literal

import click

from clinometer.errors import BudgetError, ClinometerError, ExitCode, NoAnswerError
from clinometer.secrets import redacted, withhold
from clinometer.texts import by_address, visible

if TYPE_CHECKING:
    import polars as pl
    from rich.console import Console
    from rich.progress import Task

    from clinometer.asking.budget import Cost
    from clinometer.pieces.tables import ReportTable, TableCell

#: Paragraphs are folded at so many characters, however wide the terminal is.
WIDTH = 100

#: Longest line of a remark, in characters: of ours all, of what others say the two ends.
LINE = 500

#: Seconds between two lines of progress where there is no terminal.
LINE_EVERY_S = 60.0

#: Over how many seconds the pace is estimated.
PACE_S = 2 * LINE_EVERY_S


def echo(text: str, *, err: bool = False, nl: bool = True) -> None:
    """Print a text without keys, and without what a terminal would act on."""
    click.echo(_terminal_text(text), err=err, nl=nl)


def _terminal_text(text: str) -> str:
    return visible(withhold(by_address(text)))


def say_table(table: ReportTable) -> None:
    """Print a table in columns, numbers to the right, under its caption.

    A terminal that is too narrow folds cells between words, and cuts none; in a file a line is as
    long as its row, unless the environment has ``COLUMNS``.
    """
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False)
    is_wide = console.width >= WIDTH
    grid = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for place, column in enumerate(table.columns):
        is_number = column.style == "num"
        justify: Literal["left", "right"] = "right" if is_number else "left"
        is_verdict = all("verdict" in row[place].style for row in table.rows)
        is_whole = is_number or (is_wide and is_verdict)
        grid.add_column(Text(_terminal_text(column.text)), justify=justify, no_wrap=is_whole)
    for row in table.rows:
        grid.add_row(*(Text(_terminal_text(cell.text), _colour(cell)) for cell in row))
    least, whole = console.measure(grid, options=console.options.update(width=10**6))
    console.width = max(console.width, least) if _is_folded(console) else whole
    with console.capture() as printed:
        console.print(grid)
    if table.caption:
        say_paragraph(table.caption)
    for line in printed.get().splitlines():
        click.echo(line.rstrip())


def _is_folded(console: Console) -> bool:
    """Whether lines have a width that they are folded at."""
    return console.is_terminal or "COLUMNS" in os.environ


def say_paragraph(text: str) -> None:
    """Print a text, folded at the width of the terminal; in a file as `say_table` does."""
    from rich.console import Console

    console = Console(highlight=False)
    if not _is_folded(console):
        echo(text)
        return
    width = min(console.width, WIDTH)
    echo(textwrap.fill(_terminal_text(text), width, subsequent_indent="  "))


#: Verdict of a cell → its colour, beside the sign that the text begins with.
_COLOURS = {
    "consistent": "red",
    "worse": "red",
    "failed": "red",
    "reversed": "magenta",
    "turned": "magenta",
    "inconclusive": "yellow",
    "cannot_tell": "yellow",
    "equivalent": "green",
    "not_worse": "green",
    "better": "green",
    "passed": "green",
}


def _colour(cell: TableCell) -> str:
    """Return the colour of a cell by the verdict that its style names; none for another."""
    return _COLOURS.get(cell.style.removeprefix("verdict").strip(), "")


def remark(text: str) -> None:
    """Print an error, a warning or what is going on, in one line of standard error.

    Of a line of more than `LINE` characters the middle is left out.
    """
    line = visible(redacted(by_address(f"clinometer: {' '.join(text.split())}")))
    if len(line) > LINE:
        line = f"{line[: LINE // 2]} … {line[3 - LINE // 2 :]}"
    click.echo(line, err=True)


def exit_code(error: Exception) -> ExitCode:
    """Return the exit code of an error."""
    if isinstance(error, BudgetError | NoAnswerError):
        return ExitCode.NOT_COMPLETE
    is_input = isinstance(error, click.ClickException | ClinometerError | OSError)
    return ExitCode.INPUT if is_input else ExitCode.UNEXPECTED


def say_cost(costs: list[Cost], unit: str = "trials", *, batches: bool = False) -> None:
    """Print one line per model; `unit` names what is counted.

    Tokens are told where the time is not.
    `batches`: also print what the same costs in batches, where the provider has them at a discount.
    """
    for cost in costs:
        price = _price_text(cost.usd) + _time_text(cost.seconds)
        if batches:
            price += _batch_price_text(cost)
        tokens = f", about {cost.input_tokens:,} tokens in and {cost.output_tokens:,} out"
        asked = f"{cost.trials:,} {unit}, {cost.calls:,} calls"
        echo(f"{cost.model}: {asked}{tokens if cost.seconds is None else ''}: {price}")
    from clinometer.results.subjects import say_simulated  # polars takes a while to load

    note = say_simulated(cost.model for cost in costs)
    if note:
        remark(note)


def say_batches(requests: int) -> None:
    """Say what a process that is killed while it waits for batches may have to pay again."""
    from clinometer.models.providers import PROVIDERS

    names = " and ".join(name for name, provider in PROVIDERS.items() if provider.batch_files)
    remark(
        f"batches: a process killed while it waits may pay again for up to {requests:,} requests; "
        f"clinometer plan and submit never do ({names})"
    )


def _time_text(seconds: float | None) -> str:
    return "" if seconds is None else f", about {max(round(seconds / 60), 1)} min on this machine"


def _batch_price_text(cost: Cost) -> str:
    if not cost.usd or cost.batch_usd == cost.usd:  # not known, no charge, or no discount
        return ""
    return f"; in batches {_price_text(cost.batch_usd)}, within 24 hours"


def _price_text(usd: float | None) -> str:
    if usd is None:
        return "price not known, see --prices"
    if not usd:
        return "no charge"
    return f"about ${usd:.2f}" if usd >= 0.01 else "less than $0.01"


def say_unscored(compliance: pl.DataFrame) -> None:
    """Print on standard error of which models, asked how, no answer has a score, and why.

    `compliance`: columns of `results.COMPLIANCE`.
    """
    import polars as pl

    from clinometer.pieces.prose import MEANINGS
    from clinometer.results import CONDITIONS, REASONS

    keys = ["model", "study", "instrument", "mode", *CONDITIONS]
    # The pattern: `n`, `n_scored`, and a count of each reason.
    counts = compliance.group_by(keys, maintain_order=True).agg(pl.col("^n(_.*)?$").sum())
    for row in counts.filter(pl.col("n") > 0, n_scored=0).iter_rows(named=True):
        run = ", ".join(row[key] for key in keys if row[key] not in (None, "none"))
        reasons = []
        for reason in REASONS:
            count = row[f"n_{reason}"]
            if count:
                reasons.append(f"{count:,} {reason}: {MEANINGS[reason]}")
        remark(f"nothing scored: {run}: {'; '.join(reasons)}")


def say_unfinished(stopped_by: str | None, last_error: str | None, answered: str = "") -> ExitCode:
    """Print on standard error why a run ended early and how to continue; return the exit code.

    `stopped_by` is a limit, or ``"interrupted"``; None if answers are missing for another reason.
    """
    # A person who stops a run knows why; the shell's code for it is 130.
    interrupted = stopped_by == "interrupted"
    reason = f"stopped at {stopped_by}" if stopped_by else "not complete"
    if interrupted:
        reason = "stopped"
    progress = f"{reason}: {answered}" if answered else reason
    failure = f" ({last_error})" if last_error else ""
    stop = ";" if answered else ":"  # no two colons in a line
    remark(f"{progress}{failure}{stop} repeat the command to continue, nothing is asked twice")
    return ExitCode.STOPPED if interrupted else ExitCode.NOT_COMPLETE


@contextlib.contextmanager
def progress_bar(total: int) -> Iterator[Callable[[str, dict[str, Any]], None]]:
    """Show the progress of asking on standard error and yield the callback for each answer.

    `total` is the number of trials of all models, answered ones included.
    """
    counts = (
        "trials · {task.fields[calls]} calls · {task.fields[rate]} a second{task.fields[errors]}"
    )
    calls = errors = 0
    fields = {"calls": 0, "rate": "–", "errors": ""}
    with _progress("asking", total, counts, **fields) as update:
        start = time.monotonic()

        def advance(model: str, answer: dict[str, Any]) -> None:
            """Count an answer, or an error, which leaves its trial to be asked."""
            nonlocal calls, errors
            calls += answer.get("calls", 1)
            failed = answer.get("error") is not None
            errors += failed
            elapsed = time.monotonic() - start
            update(
                advance=0 if failed else answer.get("trials", 1),
                calls=calls,
                # Of the first half second a rate says nothing.
                rate=f"{calls / elapsed:.1f}" if elapsed > 0.5 else "–",
                errors=f" · {errors} errors" if errors else "",
            )

        yield advance


@contextlib.contextmanager
def counting_bar(what: str, total: int) -> Iterator[Callable[[], None]]:
    """Show the progress of `what` on standard error and yield the callback for each step."""
    with _progress(what, total) as update:
        yield lambda: update(advance=1)


@contextlib.contextmanager
def _progress(
    what: str, total: int, counts: str = "", **fields: Any
) -> Iterator[Callable[..., None]]:
    """Show a bar with the time left on a terminal, a line a minute elsewhere; yield its update."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    console = Console(stderr=True)
    columns = (what, BarColumn(), MofNCompleteColumn(), counts, TimeRemainingColumn(), "left")
    with Progress(
        *columns,
        console=console,
        disable=not (console.is_terminal and total),
        speed_estimate_period=PACE_S,
        transient=True,
    ) as bar:
        task = bar.add_task("", total=total, **fields)
        lines = _lines(what, bar.tasks[task]) if total and not console.is_terminal else None
        with lines or contextlib.nullcontext():
            yield lambda **changes: bar.update(task, **changes)


@contextlib.contextmanager
def _lines(what: str, task: Task) -> Iterator[None]:
    """Print a line a minute: how far a task is, and the time it takes at its latest pace."""
    ended = threading.Event()

    def print_lines() -> None:
        """Print lines until the task has ended."""
        while not ended.wait(LINE_EVERY_S):
            seconds = task.time_remaining
            remaining_text = ""
            if seconds is not None:
                remaining_text = f", about {max(round(seconds / 60), 1)} min left"
            remark(f"{what}: {task.completed:,.0f} of {task.total:,.0f}{remaining_text}")

    # A daemon, so that a process that ends does not wait for the next line.
    threading.Thread(target=print_lines, daemon=True).start()
    try:
        yield
    finally:
        ended.set()
