"""``tiltmeter audit``: the whole way from a model's name to a report."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from tiltmeter.cli.options import asking_options, build_plan, plan_options
from tiltmeter.cli.run import carry_out, default_out

__all__ = ["SIZES", "apply_size", "command"]

CONTROLS = ("control_insects", "control_nonsense")

#: Size → trials per stereotype and variation, the variations (None: the study's own), and
#: whether the controls are asked too.
SIZES: dict[str, tuple[int, str | None, bool]] = {
    "quick": (4, "replication", True),
    "standard": (10, None, True),
    "paper": (50, None, False),
}


def apply_size(size: str, options: dict[str, Any]) -> None:
    """Fill in what the user left open; a study of one's own is asked in its own wordings."""
    iterations, variations, controls = SIZES[size]
    if options["iterations"] is None:
        options["iterations"] = iterations
    if options["studies"]:
        return
    options["studies"] = ("bai2025", *(CONTROLS if controls else ()))
    if options["variations"] is None:
        options["variations"] = variations


@click.command("audit")
@click.argument("models", nargs=-1, required=True, metavar="MODEL…")
@click.option(
    "--size",
    type=click.Choice(list(SIZES)),
    default="quick",
    show_default=True,
    help="quick: one wording and the controls, minutes and cents; standard: every wording; "
    "paper: 50 trials a stereotype and wording, as Bai et al.",
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

    apply_size(size, options)
    plan = build_plan(models, options)
    directory = out or default_out(plan, size)
    outcome = carry_out(plan, directory, options)
    click.echo(f"report: {write_report(directory)}")
    sys.exit(0 if outcome.complete else 1)
