"""``tiltmeter audit``: ask, score, estimate and report in one command."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tiltmeter.audits import SIZES
from tiltmeter.cli.options import asking_options, build_plan, plan_options
from tiltmeter.cli.run import carry_out

if TYPE_CHECKING:
    from tiltmeter.asking.plan import Plan

__all__ = ["command"]


@click.command("audit")
@click.argument("models", nargs=-1, required=True, metavar="MODEL…")
@click.option(
    "--size",
    type=click.Choice(SIZES),
    default="quick",
    show_default=True,
    help="Trials per stereotype and wording. quick: 2 (minutes and cents); standard: 8 to 10, all "
    "instruments; both include the controls. paper: 50, as in Bai et al. and Li et al.",
)
@click.option(
    "--profile/--no-profile",
    default=True,
    show_default=True,
    help="Also measure hidden states, for tiltmeter/smollm2 and hf/… models.",
)
@plan_options
@asking_options
def command(
    models: tuple[str, ...], size: str, profile: bool, out: Path | None, **options: Any
) -> None:
    """Measure the bias of MODEL… and write results/…/report.html.

    Models have inspect's names: openai/gpt-4o-mini, anthropic/…, hf/…, vllm/…, ollama/…. The
    embedded model, tiltmeter/smollm2, needs no key and no network. The same command continues an
    audit that was stopped; nothing is asked twice.
    """
    from tiltmeter.audits.auditing import default_directory
    from tiltmeter.report import write_report

    plan = build_plan(models, options, size)
    directory = out or default_directory(plan.models, size)
    outcome = carry_out(plan, directory, options)
    if profile and outcome.complete:
        _read_states(plan, directory)
    click.echo(f"report: {write_report(directory)}")
    sys.exit(0 if outcome.complete else 1)


def _read_states(plan: Plan, directory: Path) -> None:
    """Add the measures of hidden states; an error here does not fail the audit."""
    from tiltmeter.audits.state_directory import audit_states, readable
    from tiltmeter.errors import ModelError

    if not (models := readable(plan)):
        return
    click.echo(f"hidden states: {', '.join(models)}")
    try:
        audit_states(plan, directory)
    except ModelError as error:
        click.echo(f"tiltmeter: hidden states left out: {error}", err=True)
