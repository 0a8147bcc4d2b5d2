"""``tiltmeter audit``: the whole way from a model's name to a report."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tiltmeter.cli.options import asking_options, build_plan, plan_options, select_study
from tiltmeter.cli.run import carry_out, default_out

if TYPE_CHECKING:
    from tiltmeter.runs.plan import Plan, Selection

__all__ = ["SIZES", "command", "sized_plan"]

CONTROLS = ("control_insects", "control_nonsense")

#: Size → instrument → trials per stereotype and wording.
SIZES = {
    "quick": {"word_association": 2, "relative_decision": 2},
    "standard": {
        "word_association": 10,
        "relative_decision": 8,
        "absolute_decision": 8,
        "chained_task": 8,
    },
    "paper": {"word_association": 50, "relative_decision": 50},
}

#: The same of controls; without them where a size is not named.
CONTROL_SIZES = {
    "quick": {"word_association": 4, "relative_decision": 8},
    "standard": {"word_association": 10, "relative_decision": 16},
}


#: The wordings of a quick audit, where not all: the seed decisions, in two sets of words.
QUICK = {"relative_decision": "replication,synonym"}


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
    from tiltmeter.stimuli import load_study

    battery, of_controls = SIZES[size], CONTROL_SIZES.get(size, {})
    own, named = options["iterations"], options["instruments"]
    offered = [set(load_study(study).offers()) for study in options["studies"] or ("bai2025",)]
    asked = named or [name for name in battery if all(name in offers for offers in offered)]
    plan = build_plan(models, {**options, "instruments": tuple(asked), "iterations": own})
    brief = size == "quick" and options["variations"] is None
    sized = [
        replace(
            selection,
            iterations=battery.get(selection.instrument, 2) if own is None else own,
            variations=_brief(selection) if brief else selection.variations,
        )
        for selection in plan.selections
    ]
    if options["studies"] or not of_controls:
        return replace(plan, selections=sized)
    controls = [
        select_study(control, iterations=of_controls[name] if own is None else own, instrument=name)
        for name in asked
        for control in CONTROLS
        if name in of_controls and name in load_study(control).offers()
    ]
    return replace(plan, selections=[*sized, *controls])


def _brief(selection: Selection) -> Sequence[str]:
    """Return the wordings a quick audit asks."""
    kept = QUICK.get(selection.instrument, "").split(",")
    return [name for name in selection.variations if name in kept] or selection.variations


@click.command("audit")
@click.argument("models", nargs=-1, required=True, metavar="MODEL…")
@click.option(
    "--size",
    type=click.Choice(list(SIZES)),
    default="quick",
    show_default=True,
    help="Trials per stereotype and wording: quick 2 (minutes and cents), standard 8 to 10 and "
    "all instruments, both with the controls; paper 50, as Bai et al.",
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
