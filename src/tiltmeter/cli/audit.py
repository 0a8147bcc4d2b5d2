"""``tiltmeter audit``: the whole way from a model's name to a report."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tiltmeter.cli.options import (
    EMBEDDED,
    asking_options,
    build_plan,
    plan_options,
    select_study,
)
from tiltmeter.cli.run import carry_out, default_out

if TYPE_CHECKING:
    from tiltmeter.asking.plan import Plan, Selection
    from tiltmeter.stimuli import Study

__all__ = ["SIZES", "command", "sized_plan"]

#: What is asked where no study is named.
STUDIES = ("bai2025", "mist2025")

#: Size → instrument → trials per stereotype, dimension and wording.
SIZES = {
    "quick": {"word_association": 2, "affective_attribution": 2, "relative_decision": 2},
    "standard": {
        "word_association": 10,
        "affective_attribution": 8,
        "relative_decision": 8,
        "absolute_decision": 8,
        "chained_task": 8,
    },
    "paper": {"word_association": 50, "affective_attribution": 50, "relative_decision": 50},
}

#: Size → control and instrument → trials per wording; without controls where a size is not named.
#: As many as a small but real lean needs to show: docs/decisions.md has what was measured.
CONTROL_SIZES = {
    "quick": {
        ("control_insects", "word_association"): 4,
        ("control_nonsense", "word_association"): 4,
        ("control_occasions", "affective_attribution"): 16,
        ("control_nonsense", "affective_attribution"): 8,
        ("control_insects", "relative_decision"): 8,
        ("control_nonsense", "relative_decision"): 8,
    },
    "standard": {
        ("control_insects", "word_association"): 10,
        ("control_nonsense", "word_association"): 10,
        ("control_occasions", "affective_attribution"): 32,
        ("control_nonsense", "affective_attribution"): 32,
        ("control_insects", "relative_decision"): 16,
        ("control_nonsense", "relative_decision"): 16,
    },
}

#: The wordings of a quick audit, where not all: the seed decisions, in two sets of words.
QUICK = {("bai2025", "relative_decision"): ("replication", "synonym")}

#: The same for the embedded model, which runs on this machine's processor.
QUICK_EMBEDDED = {
    **QUICK,
    ("mist2025", "word_association"): ("template1", "template2"),
    ("mist2025", "affective_attribution"): ("template1", "template2"),
}


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
    battery, of_controls = SIZES[size], CONTROL_SIZES.get(size, {})
    own = options["iterations"]
    if size == "quick" and not options["modes"] and _embedded(models):
        options = {**options, "modes": ("forced",)}
    plan = build_plan(models, options, _asked(battery, options))
    sized = [
        replace(part, iterations=battery.get(part.instrument, 2) if own is None else own)
        for part in plan.selections
    ]
    names = {part.instrument for part in sized}
    sized += [
        select_study(control, iterations=n if own is None else own, instrument=name)
        for (control, name), n in of_controls.items()
        if name in names and not options["studies"]
    ]
    if size == "quick":
        sized = [_brief(part, plan, options) for part in sized]
    return replace(plan, selections=sized)


def _asked(battery: Iterable[str], options: dict[str, Any]) -> list[tuple[str, str]] | None:
    """Say which instruments are asked of which study; None for just what the options name."""
    from tiltmeter.stimuli import load_study

    studies, named = options["studies"] or STUDIES, options["instruments"]
    if options["studies"] and named:
        return None
    found = [
        (study, name)
        for study in dict.fromkeys(studies)
        for name in dict.fromkeys(named or battery)
        if name in (loaded := load_study(study)).offers()
        and (options["studies"] or _has(loaded, name, options))
    ]
    return found or [(study, name) for study in studies for name in named or ("word_association",)]


def _has(study: Study, instrument: str, options: dict[str, Any]) -> bool:
    """Whether a study that was not named has what was named of it."""
    stereotypes, variations = (
        {name.strip() for name in (options[key] or "").split(",")} - {""}
        for key in ("stereotypes", "variations")
    )
    wordings = study.variations(instrument)
    return stereotypes <= {*study.stereotypes} and (
        not variations or not variations.isdisjoint(wordings)
    )


def _embedded(models: Iterable[str]) -> bool:
    return all(model.startswith(EMBEDDED) for model in models)


def _brief(part: Selection, plan: Plan, options: dict[str, Any]) -> Selection:
    """Leave out wordings that a quick audit has no time for, unless some were named."""
    known = QUICK_EMBEDDED if _embedded(plan.models) else QUICK
    wordings = known.get((part.study.name, part.instrument))
    if wordings and options["variations"] is None:
        return replace(part, variations=wordings)
    return part


@click.command("audit")
@click.argument("models", nargs=-1, required=True, metavar="MODEL…")
@click.option(
    "--size",
    type=click.Choice(list(SIZES)),
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
    from tiltmeter.report import write_report

    plan = sized_plan(size, models, options)
    directory = out or default_out(plan, size)
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
