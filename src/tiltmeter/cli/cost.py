"""``tiltmeter cost``: estimate calls, tokens and dollars."""

from __future__ import annotations

from typing import Any

import click

from tiltmeter.audits import SIZES
from tiltmeter.cli.options import build_plan, plan_options

__all__ = ["command"]


@click.command("cost")
@click.argument("models", nargs=-1, required=True, metavar="MODEL…")
@click.option(
    "--size", type=click.Choice(SIZES), help="Of an audit of this size; without it, of a run."
)
@plan_options
def command(models: tuple[str, ...], size: str | None, **options: Any) -> None:
    """Estimate the calls, tokens and dollars of a run or an audit; nothing is asked."""
    from tiltmeter.asking.budget import estimate_cost
    from tiltmeter.cli.options import say_cost

    plan = build_plan(models, options, size)
    trials = plan.trials()
    say_cost([estimate_cost(trials, model, options["prices"]) for model in plan.models])
