"""``tiltmeter run``: ask models and write the tables."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tiltmeter.cli.options import (
    asking_options,
    build_budget,
    build_connection,
    build_plan,
    open_grader,
    plan_options,
)

if TYPE_CHECKING:
    from tiltmeter.asking.budget import Budget
    from tiltmeter.asking.plan import Plan
    from tiltmeter.asking.sessions import Outcome

__all__ = ["carry_out", "command"]


@click.command("run")
@click.argument("models", nargs=-1, required=True, metavar="MODEL…")
@plan_options
@asking_options
def command(models: tuple[str, ...], out: Path | None, **options: Any) -> None:
    """Ask MODEL… the trials of a study; write responses, scores and estimates.

    Models have inspect's names: openai/gpt-4o-mini, anthropic/…, hf/…, vllm/…, ollama/…. The
    embedded model, tiltmeter/smollm2, needs no key and no network. The same command continues a
    run that was stopped; nothing is asked twice.
    """
    from tiltmeter.audits.auditing import default_directory

    plan = build_plan(models, options)
    directory = out or default_directory(plan.models, "run")
    outcome = carry_out(plan, directory, options)
    click.echo(f"tables: {directory}")
    sys.exit(0 if outcome.complete else 1)


def carry_out(plan: Plan, directory: Path, options: dict[str, Any]) -> Outcome:
    """Print the cost, ask unanswered trials, write the tables, print the outcome."""
    from tiltmeter.asking.budget import estimate_cost
    from tiltmeter.asking.plan import read_sizes, record_sizes
    from tiltmeter.audits.auditing import Asking, ask_plan
    from tiltmeter.audits.tabulating import tabulate
    from tiltmeter.cli.options import progress_bar, say_cost, say_unfinished

    budget, connection = build_budget(options, plan), build_connection(options)
    trials = plan.trials()
    say_cost([estimate_cost(trials, model, options["prices"]) for model in plan.models])
    # What would fail at the end fails now, before anything is spent.
    grader = open_grader(options["grader"], options) if options["grader"] else None
    if options["sizes"] is not None:
        read_sizes(options["sizes"])
    with progress_bar(trials.height * len(plan.models)) as advance:
        asking = Asking(connection, budget, options["prices"], advance)
        outcome = ask_plan(plan, directory, asking, " ".join(["tiltmeter", *sys.argv[1:]]))
    if outcome.stopped_by == "interrupted" or not outcome.complete:
        failed = f", {outcome.errors} failed" if outcome.errors else ""
        answered = f"{outcome.answered:,} of {outcome.trials:,} trials answered{failed}"
        code = say_unfinished(outcome.stopped_by, outcome.last_error, answered)
        if outcome.stopped_by == "interrupted":
            sys.exit(code)
    if not outcome.answered and not outcome.errors:
        sys.exit(1)
    if grader is not None and outcome.complete:
        _judge(plan, directory, grader, budget, options["prices"])
    if options["sizes"] is not None:
        record_sizes(directory, options["sizes"])
    tabulate(directory)
    return outcome


def _judge(
    plan: Plan, directory: Path, grader: tuple[str, Any], budget: Budget, prices: Path | None
) -> None:
    """Ask the judge about decisions that the rules cannot read."""
    from tiltmeter.asking.sessions import JUDGE, ask_judge
    from tiltmeter.audits.tabulating import collect_responses
    from tiltmeter.results.tables import pieces

    collect_responses(plan, directory)
    studies = {s.study.name: s.study for s in plan.selections}
    judged = ask_judge(
        pieces(directory / "responses.parquet"),
        studies,
        grader,
        directory / JUDGE,
        budget,
        prices=prices,
    )
    click.echo(f"judge {grader[0]}: {judged.answered:,} of {judged.trials:,} open decisions")
