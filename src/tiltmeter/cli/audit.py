"""``tiltmeter audit``: the whole way from a model's name to a report."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tiltmeter.cli.options import asking_options, build_plan, plan_options, select_study
from tiltmeter.cli.run import carry_out, default_out

if TYPE_CHECKING:
    from tiltmeter.runs.plan import Plan

__all__ = ["SIZES", "command", "sized_plan"]

CONTROLS = ("control_insects", "control_nonsense")

#: Size → trials per stereotype and wording, and per control and wording (0: not asked).
SIZES = {"quick": (2, 4), "standard": (10, 10), "paper": (50, 0)}


def sized_plan(size: str, models: tuple[str, ...], options: dict[str, Any]) -> Plan:
    """Make the plan of an audit: what the user left open follows from the size.

    Parameters
    ----------
    size
        A key of `SIZES`.
    models
        As inspect names them.
    options
        The values of `plan_options`; a study named there is asked without the controls.
    """
    iterations, of_controls = SIZES[size]
    own = options["iterations"]
    plan = build_plan(models, {**options, "iterations": iterations if own is None else own})
    if options["studies"] or not of_controls:
        return plan
    controls = [select_study(name, iterations=own or of_controls) for name in CONTROLS]
    return replace(plan, selections=[*plan.selections, *controls])


@click.command("audit")
@click.argument("models", nargs=-1, required=True, metavar="MODEL…")
@click.option(
    "--size",
    type=click.Choice(list(SIZES)),
    default="quick",
    show_default=True,
    help="Trials per stereotype and wording: quick 2 (minutes and cents), standard 10, both with "
    "the controls; paper 50, as Bai et al.",
)
@plan_options
@asking_options
def command(models: tuple[str, ...], size: str, out: Path | None, **options: Any) -> None:
    """Measure MODEL… and write results/…/report.html.

    Models are named as inspect names them: openai/gpt-4o-mini, anthropic/…, hf/…, vllm/…,
    ollama/…, or tiltmeter/smollm2 for the embedded one, which needs no key and no network. The
    same command again continues an audit that was stopped; nothing is asked twice.
    """
    from tiltmeter.report import write_report

    plan = sized_plan(size, models, options)
    directory = out or default_out(plan, size)
    outcome = carry_out(plan, directory, options)
    click.echo(f"report: {write_report(directory)}")
    sys.exit(0 if outcome.complete else 1)
