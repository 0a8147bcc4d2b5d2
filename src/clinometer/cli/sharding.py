"""``clinometer plan``, ``answer``, ``submit`` and ``collect``: requests in files, and answers."""

from __future__ import annotations

import contextlib
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from clinometer.cli.options import (
    BASE_URL,
    BATCH,
    FILE,
    FOLDER,
    MODEL_NAME,
    POLICY,
    PRICES,
    SIZE,
    build_connection,
    build_plan,
    command,
    plan_options,
    reaching_options,
)
from clinometer.cli.output import counting_bar, echo, remark, say_batches, say_cost
from clinometer.errors import ExitCode

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from clinometer.asking.shards import Answers, Collected

#: Files that are listed by name, and reasons of failures, at most.
_LISTED_FILES = 5


@command("plan")
@click.argument("models", nargs=-1, required=True, type=MODEL_NAME, metavar="MODEL…")
@SIZE
@click.option("--shards", default=1, help="Files of requests for each model, at most.")
@click.option("--out", required=True, type=FOLDER, help="Results directory.")
@POLICY
@plan_options
def plan_command(
    models: tuple[str, ...], size: str, shards: int, out: Path, **options: Any
) -> None:
    """Write the requests of an audit or a run as files that any engine answers; nothing is asked.

    Each line is a request in the batch format of OpenAI's interface, which vllm run-batch and
    other engines read. clinometer collect reads the answers.
    """
    from clinometer.asking.budget import estimate_costs
    from clinometer.audits.sharding import shard_plan
    from clinometer.models.providers import find_provider

    plan = build_plan(models, options, None if size == "run" else size)
    files = shard_plan(plan, out, shards, command=" ".join(["clinometer", *sys.argv[1:]]))
    say_cost(estimate_costs(plan.pieces(), plan.models, options["prices"]), batches=True)
    say_shards(files, f"clinometer collect {out}")
    echo(f"or: clinometer answer {out}")
    if all(find_provider(model).batch_files for model in plan.models):
        echo(f"or: clinometer submit {out}")
    # Without files of requests a provider may still have batches, which a process waits for.
    elif all(find_provider(model).batch for model in plan.models):
        echo(f"or: clinometer answer {out} --batch")


@command("answer")
@click.argument("directory", type=FOLDER)
@click.option("--shard", "shards", type=int, multiple=True,
              help="Answer only shards of this number, and do not collect: for the tasks of an "
                   "array; may be repeated.")  # fmt: skip
@click.option("--max-cost", type=float,
              help="Ask nothing more if all shards of DIRECTORY would cost more than this many "
                   "dollars, estimated.")  # fmt: skip
@PRICES
@BATCH
@reaching_options
def answer_command(directory: Path, shards: tuple[int, ...], **options: Any) -> None:
    """Answer the shards in DIRECTORY with the models of their plan, and collect the answers.

    For any model that inspect opens, the embedded one included. Stopped or killed, the same command
    continues, and asks no answered request again. Exit code 3: answers are missing.
    """
    from clinometer.audits.answering import Answering, answer_numbered, answer_shards
    from clinometer.audits.spending import Spending

    connection = build_connection(options)
    spending = Spending(options["max_cost"], options["prices"])
    answering = Answering(connection, spending)
    with contextlib.ExitStack() as bars:

        def on_round(requests: int) -> Callable[[], None]:
            """Show a bar for a round of requests; return what is called after each answer."""
            bars.close()  # that of the round before
            if connection.batch:
                say_batches(requests)
            return bars.enter_context(counting_bar("answering", requests))

        if shards:
            elsewhere, failed = answer_numbered(directory, shards, answering, on_round)
        else:
            answered = answer_shards(directory, answering, on_round)
            elsewhere, failed = answered.elsewhere, answered.failed
    for error in failed:
        remark(f"left out: {error}")
    if elsewhere:
        remark(f"{elsewhere:,} shards are being answered by another process")
    if shards:
        echo(f"next: clinometer collect {directory}, when all shards are answered")
        sys.exit(ExitCode.NOT_COMPLETE if elsewhere or failed else ExitCode.DONE)
    complete = _report(answered.collected, answered.answers, directory)
    if not complete:
        remark("answers are missing; the same command asks what failed again")
    sys.exit(ExitCode.DONE if complete else ExitCode.NOT_COMPLETE)


@command("collect")
@click.argument("directory", type=FOLDER)
@click.argument("files", nargs=-1, type=FILE, metavar="[ANSWERS…]")
def collect_command(directory: Path, files: tuple[Path, ...]) -> None:
    """Read the answers to the shards in DIRECTORY, and write tables and what is left to ask.

    Answers stand beside their shard, as 00000.answers.jsonl beside 00000.jsonl, or in files that
    are named. They may come in any order, twice or broken. Exit code 3: answers are missing.
    """
    from clinometer.audits.sharding import collect_answers

    collected, answers = collect_answers(directory, files)
    if not _report(collected, answers, directory):
        next_round = [path for row in collected for path in row.files]
        say_shards(next_round, f"clinometer collect {directory}")
        sys.exit(ExitCode.NOT_COMPLETE)


@command("submit")
@click.argument("directory", type=FOLDER)
@click.option("--wait/--no-wait", default=True,
              help="Wait for the batches, and submit the next round, until all is answered; or "
                   "submit, collect what has ended, and say how the batches stand.")  # fmt: skip
@click.option("--poll", "poll_s", default=60.0, help="Seconds between two looks at the batches.")
@click.option("--max-cost", type=float,
              help="Submit nothing more if all batches of DIRECTORY would cost more than this many "
                   "dollars, estimated.")  # fmt: skip
@click.option("--retry-failed", is_flag=True,
              help="Submit also requests that failed twice with the same error.")  # fmt: skip
@PRICES
@BASE_URL
def submit_command(
    directory: Path, max_cost: float | None, prices: Path | None, **options: Any
) -> None:
    """Ask the shards in DIRECTORY as batches of their provider, and collect the answers.

    For openai/… and openai-api/…, with the keys of other commands. OpenAI answers within 24 hours
    and asks half the price. Stopped or killed, the same command continues; nothing is paid twice.
    Exit code 3: answers are missing.
    """
    from clinometer.audits.batching import Submission, submit_shards
    from clinometer.audits.spending import Spending

    submission = Submission(spending=Spending(max_cost, prices), **options)
    try:
        submitted = submit_shards(directory, submission, remark)
    except KeyboardInterrupt:
        remark("stopped; batches go on at the provider, the same command continues")
        sys.exit(ExitCode.STOPPED)
    complete = _report(submitted.collected, submitted.answers, directory)
    if submitted.failing:
        remark(f"{submitted.failing:,} requests failed twice with the same error; they are "
               "submitted again with --retry-failed only")  # fmt: skip
    if not complete:
        missing = sum(row.expected - row.answered for row in submitted.collected)
        count = len(submitted.running)
        batches_go = "1 batch goes" if count == 1 else f"{count:,} batches go"
        running = f"; {batches_go} on at the provider" if count else ""
        remark(f"{missing:,} answers are missing{running}; the same command continues")
    sys.exit(ExitCode.DONE if complete else ExitCode.NOT_COMPLETE)


@command("merge")
@click.argument("directories", nargs=-1, required=True, type=FOLDER, metavar="DIRECTORY…")
@click.option("--out", required=True, type=FOLDER,
              help="Results directory, which may be one of them.")  # fmt: skip
def merge_command(directories: tuple[Path, ...], out: Path) -> None:
    """Put runs of one plan together, asked on several machines, and write the tables.

    Of two answers to the same trial the first directory's is taken. Exit code 3: answers are
    missing.
    """
    from clinometer.audits.merging import merge
    from clinometer.directory.results import read_detail
    from clinometer.results.origins import origin_name
    from clinometer.results.progress import unfinished

    for row in merge(directories, out):
        repeated = f", {row.repeated:,} were there" if row.repeated else ""
        origins = ", ".join(map(origin_name, row.origins))
        repeated += f" ({origins})" if origins else ""
        echo(f"{row.model}: {row.copied:,} taken from {row.source}{repeated}")
    notes = unfinished(read_detail(out, "progress"))
    for model, note in notes.items():
        remark(f"incomplete: {model}: {note}")
    _say_next(out)
    sys.exit(ExitCode.NOT_COMPLETE if notes else ExitCode.DONE)


def say_shards(files: Sequence[Path], then: str) -> None:
    """Print which files are to be answered, and the command that reads their answers."""
    from clinometer.asking.shards import ANSWERED, MOST_BYTES

    for path in files[:_LISTED_FILES]:
        echo(str(path))
    if len(files) > _LISTED_FILES:
        echo(f"… {len(files) - _LISTED_FILES:,} more")
    if any(path.stat().st_size > MOST_BYTES for path in files):
        remark(f"a file is larger than {MOST_BYTES >> 20} MB, more than providers take; use "
               "more --shards")  # fmt: skip
    echo(f"next: put the answers beside each, as 00000{ANSWERED}, then {then}")


def _report(collected: Sequence[Collected], answers: Answers, directory: Path) -> bool:
    """Print how far each model is, and what comes next; return whether all is answered."""
    for row in collected:
        echo(_progress_text(row))
        if row.failure is not None:
            remark(f"left out: {row.failure}")
    for note in _unused_notes(answers):
        remark(note)
    complete = all(row.complete for row in collected)
    if complete:
        _say_next(directory)
    return complete


def _say_next(directory: Path) -> None:
    """Print the command that uses the answers of a directory."""
    from clinometer.families import families

    command = "clinometer report {directory}"
    # The plan of a family has a step of its own, such as building networks.
    for family in families().values():
        if family.load_plan(directory) is not None:
            command = family.next_step
    echo(f"next: {command.format(directory=directory)}")


def _progress_text(row: Collected) -> str:
    remaining = f", {row.next_round:,} requests left" if row.next_round else ""
    waiting = f", {row.waiting:,} in shards without answers" if row.waiting else ""
    return f"{row.model}: {row.answered:,} of {row.expected:,} answered{remaining}{waiting}"


def _unused_notes(answers: Answers) -> list[str]:
    """Return what was not used of the answers."""
    counts = (
        (answers.broken, f"lines are no answer, the first {answers.first_broken}"),
        (answers.repeated, "answers came again and were not used"),
        (len(answers.foreign), "answers belong to no request of these shards"),
    )
    notes = [f"{count:,} {meaning}" for count, meaning in counts if count]
    for interface, count in answers.interfaces.items():
        notes.append(
            f"{count:,} answers in the form of {interface} were read; with which settings they "
            "were asked is not checked (clinometer answer DIRECTORY --batch asks as planned)"
        )
    return [*notes, *_failure_notes(answers)]


def _failure_notes(answers: Answers) -> list[str]:
    """Return how many requests failed, for each of the most common reasons."""
    places = {error: answers.error_places.get(name, "") for name, error in answers.errors.items()}
    notes = []
    for error, count in Counter(answers.errors.values()).most_common(_LISTED_FILES):
        where = f", the last {places[error]}" if places[error] else ""
        notes.append(f"{count:,} requests failed{where}: {error}")
    return notes
