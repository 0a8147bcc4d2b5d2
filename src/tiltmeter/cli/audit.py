"""``tiltmeter audit``: the whole way from a model's name to a report."""

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
    help="Trials per stereotype and wording: quick 2 (minutes and cents), standard 8 to 10 and "
    "all instruments, both with the controls; paper 50, as Bai et al. and Li et al.",
)
@click.option(
    "--profile/--no-profile",
    default=True,
    help="Also read the hidden states of models that show them: the embedded one and hf/….",
)
@plan_options
@asking_options
def command(
    models: tuple[str, ...], size: str, profile: bool, out: Path | None, **options: Any
) -> None:
    """Measure MODEL… and write results/…/report.html.

    Models are named as inspect names them: openai/gpt-4o-mini, anthropic/…, hf/…, vllm/…,
    ollama/…, or tiltmeter/smollm2 for the embedded one, which needs no key and no network. The
    same command again continues an audit that was stopped; nothing is asked twice.
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
    """Add what stands inside the models; an audit is not worth less where that fails."""
    from tiltmeter.audits.state_directory import audit_states, readable
    from tiltmeter.errors import ModelError

    if not (models := readable(plan)):
        return
    click.echo(f"hidden states: {', '.join(models)}")
    try:
        audit_states(plan, directory)
    except ModelError as error:
        click.echo(f"tiltmeter: hidden states left out: {error}", err=True)
