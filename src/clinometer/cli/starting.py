"""``clinometer init``: profile, policy and workflow of a system, to be filled in."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from clinometer.audits import SIZES
from clinometer.cli.gating import baseline_scores, say_limits
from clinometer.cli.options import FILE, FOLDER, command
from clinometer.cli.output import echo
from clinometer.cli.twins import write_twins
from clinometer.errors import InputError


@command("init")
@click.option("--prompt", type=FILE, metavar="FILE",
              help="A prompt of the system, with a place for a person: begin with its twins. Asked "
                   "about first.")  # fmt: skip
@click.option("--outcome", metavar="TEXT", help="What counts of its answers: see clinometer twins.")
@click.option("--system", metavar="TEXT", help="Name of the system.")
@click.option("--model", metavar="NAME", help="The model in it, as inspect names it.")
@click.option("--use", metavar="TEXT", help="What it is used for, and who decides.")
@click.option("--group", "groups", multiple=True, metavar="NAME[=CATEGORY]",
              help="People it affects, and the category or stereotype that measures them, as "
                   "clinometer list has it; may be repeated.")  # fmt: skip
@click.option(
    "--size",
    type=click.Choice(SIZES),
    default="standard",
    help="Of the runs that are judged; limits are such that it decides them.",
)
@click.option(
    "--baseline",
    type=FILE,
    help="What changes are counted from; its variance decides what limits can be.",
)
@click.option("--out", type=FOLDER, default=Path("."), help="Folder of the files.")
@click.option("--force", is_flag=True, help="Replace files that are there.")
def init_command(groups: tuple[str, ...], out: Path, force: bool, **options: Any) -> None:
    """Write profile.yaml, policy.yaml, baseline.md and a workflow for a system of yours.

    First, of a --prompt, the study of its twins: does this prompt treat people alike?
    What no option says is asked where there is a terminal. The files are valid but for the fields
    that begin with FILL IN, which clinometer dossier refuses by name.
    """
    from clinometer.dossier.profile import PLACEHOLDER
    from clinometer.dossier.starting import Start, write_start

    prompt = options["prompt"]
    if prompt is None and options["system"] is None:
        prompt = _ask_prompt()
    _start_twins(prompt, options["outcome"], out)
    system = _ask_option("--system", "Name of the system", options["system"])
    model = _ask_option("--model", "The model, as openai/gpt-4o-mini", options["model"])
    use = _ask_option("--use", "What is it used for, and who decides", options["use"])
    if not groups:
        text = _ask_option("--group", "Whom does it affect (NAME=CATEGORY, NAME)", None)
        groups = tuple(filter(None, (name.strip() for name in text.split(","))))
    measures: dict[str, str | None] = {}
    for group in groups:
        name, _, measure = group.partition("=")
        if not name.strip():
            raise InputError(f"--group {group!r}: expected NAME or NAME=CATEGORY")
        measures[name.strip()] = measure.strip() or None
    baseline = options["baseline"]
    start = Start(system, model, use, measures, options["size"], baseline)
    scores = None if baseline is None else baseline_scores(baseline, None)
    paths, limits = write_start(start, out, scores=scores, force=force)
    for path in paths:
        fields = path.read_text(encoding="utf-8").count(f"{PLACEHOLDER}: ")
        echo(f"{path}: {fields} to be filled in" if fields else str(path))
    say_limits(limits)


def _ask_prompt() -> Path | None:
    """Return the file with a prompt that a person names on a terminal, if any."""
    if not sys.stdin.isatty():
        return None
    question = "A file with a prompt of the system, which has a {place} for a person (or none)"
    name = str(click.prompt(question, default="", show_default=False)).strip()
    return Path(name) if name else None


def _start_twins(prompt: Path | None, outcome: str | None, out: Path) -> None:
    """Write the study of a prompt's twins, if there is a prompt."""
    if prompt is None:
        if outcome is not None:
            raise InputError("--outcome: of a --prompt")
        return
    outcome = _ask_option("--outcome", "What counts of its answers, as approve/deny", outcome)
    study = out / f"{prompt.stem}.twins.yaml"
    write_twins(prompt, study, outcome)
    echo(f"{study}: read its rewordings, then: clinometer twins {study} MODEL")


def _ask_option(option: str, question: str, value: str | None) -> str:
    """Return what an option says or, on a terminal, what a person answers."""
    if value is None and sys.stdin.isatty():
        value = str(click.prompt(question))
    if value is None or not value.strip():
        raise InputError(f"{option}: needed; without a terminal nothing is asked")
    return value.strip()
