"""``tiltmeter run``: ask, and make the tables."""

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

__all__ = ["carry_out", "command", "default_out"]


@click.command("run")
@click.argument("models", nargs=-1, required=True, metavar="MODEL…")
@plan_options
@asking_options
def command(models: tuple[str, ...], out: Path | None, **options: Any) -> None:
    """Ask MODEL… the trials of a plan; write responses, scores and estimates.

    Models are named as inspect names them: openai/gpt-4o-mini, anthropic/…, hf/…, vllm/…,
    ollama/…, or tiltmeter/smollm2 for the embedded one. The same command again continues a
    run that was stopped; nothing is asked twice.
    """
    plan = build_plan(models, options)
    directory = out or default_out(plan, "run")
    outcome = carry_out(plan, directory, options)
    click.echo(f"tables: {directory}")
    sys.exit(0 if outcome.complete else 1)


def default_out(plan: Plan, what: str) -> Path:
    """Name the results directory after the first model and `what`."""
    slug = plan.models[0].replace("/", "-").replace(":", "-")
    more = f"-and-{len(plan.models) - 1}-more" if len(plan.models) > 1 else ""
    return Path("results") / f"{slug}{more}-{what}"


def carry_out(plan: Plan, directory: Path, options: dict[str, Any]) -> Outcome:
    """Print the cost, ask what is still to be asked, make the tables, say how it went."""
    from datetime import UTC, datetime

    from tiltmeter.asking.budget import estimate_cost
    from tiltmeter.asking.claim import claim
    from tiltmeter.asking.directory import read_sizes, record_sizes
    from tiltmeter.asking.sessions import ask_models
    from tiltmeter.audits.tabulating import tabulate
    from tiltmeter.cli.progress import progress_bar, say_cost, say_unfinished
    from tiltmeter.models.opening import open_models

    budget, connection = build_budget(options, plan), build_connection(options)
    trials = plan.trials()
    say_cost([estimate_cost(trials, model, options["prices"]) for model in plan.models])
    words = " ".join(["tiltmeter", *sys.argv[1:]])
    models = open_models(plan.models, plan.generation, connection)
    # What would fail at the end fails now, before anything is spent.
    grader = open_grader(options["grader"], options) if options["grader"] else None
    if options["sizes"] is not None:
        read_sizes(options["sizes"])
    claim(directory, plan, words, datetime.now(UTC).isoformat(timespec="seconds"))
    with progress_bar(trials.height * len(plan.models)) as advance:
        outcome = ask_models(
            trials, models, directory, budget, on_progress=advance, prices=options["prices"]
        )
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
    """Ask the judge about the decisions that the rules leave open."""
    from tiltmeter.asking.judge import JUDGE, ask_judge
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
