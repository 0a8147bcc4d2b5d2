"""``clinometer init``: profile, policy and workflow of a system, to be filled in."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from clinometer.cli.options import FOLDER, command
from clinometer.cli.output import echo
from clinometer.errors import InputError

__all__ = ["init_command"]


@command("init")
@click.option("--system", metavar="TEXT", help="Name of the system.")
@click.option("--model", metavar="NAME", help="The model in it, as inspect names it.")
@click.option("--use", metavar="TEXT", help="What it is used for, and who decides.")
@click.option("--group", "groups", multiple=True, metavar="NAME[=CATEGORY]",
              help="People it affects, and the category or stereotype that measures them, as "
                   "clinometer list has it; may be repeated.")  # fmt: skip
@click.option("--out", type=FOLDER, default=Path("."), help="Folder of the files.")
@click.option("--force", is_flag=True, help="Replace files that are there.")
def init_command(
    system: str | None,
    model: str | None,
    use: str | None,
    groups: tuple[str, ...],
    out: Path,
    force: bool,
) -> None:
    """Write profile.yaml, policy.yaml, baseline.md and a workflow for a system of yours.

    What no option says is asked where there is a terminal. The files are valid but for the fields
    that begin with FILL IN, which clinometer dossier refuses by name.
    """
    from clinometer.dossier.profile import FILL_IN
    from clinometer.dossier.starting import Start, write_start

    system = _stated("--system", "Name of the system", system)
    model = _stated("--model", "The model, as openai/gpt-4o-mini", model)
    use = _stated("--use", "What is it used for, and who decides", use)
    if not groups:
        text = _stated("--group", "Whom does it affect (NAME=CATEGORY, NAME)", None)
        groups = tuple(filter(None, (name.strip() for name in text.split(","))))
    measures: dict[str, str | None] = {}
    for group in groups:
        name, _, measure = group.partition("=")
        if not name.strip():
            raise InputError(f"--group {group!r}: expected NAME or NAME=CATEGORY")
        measures[name.strip()] = measure.strip() or None
    for path in write_start(Start(system, model, use, measures), out, force=force):
        fields = path.read_text(encoding="utf-8").count(f"{FILL_IN}: ")
        echo(f"{path}: {fields} to be filled in" if fields else str(path))


def _stated(option: str, question: str, value: str | None) -> str:
    """Return what an option says or, on a terminal, what a person answers."""
    if value is None and sys.stdin.isatty():
        value = str(click.prompt(question))
    if value is None or not value.strip():
        raise InputError(f"{option}: needed; without a terminal nothing is asked")
    return value.strip()
