"""``clinometer twins``: a prompt of one's own, asked of people who differ in one thing."""

from __future__ import annotations

from pathlib import Path

import click

from clinometer.cli.auditing import audit_command
from clinometer.cli.options import command

#: What `--example` asks: a study, and a simulated app that treats groups differently.
EXAMPLE = ("refunds", "simulated/leaning")


@command("twins", context_settings={"ignore_unknown_options": True})
@click.argument("study", required=False, metavar="STUDY")
@click.option("--example", is_flag=True, help="Ask a simulated app about refunds.")
@click.argument("rest", nargs=-1, type=click.UNPROCESSED, metavar="[MODEL] [OPTIONS OF AUDIT]…")
def twins_command(study: str | None, example: bool, rest: tuple[str, ...]) -> None:
    """Ask a prompt of your system of people who differ in one thing, beside its rewordings.

    STUDY is a file with the prompt, rewordings, contrasts and what counts, or the name of a study.
    MODEL, or the `target` of the file, is a model, app/MODULE:FUNCTION of yours, or app/FILE.yaml
    with an endpoint. All options of clinometer audit serve, such as --size and --policy.
    """
    if example:
        rest = tuple(word for word in (study, *rest) if word)
        study, *models = EXAMPLE
    elif study is None:
        raise click.UsageError("name a STUDY, a file or a name, or --example")
    else:
        models = [word for word in rest[:1] if not word.startswith("-")]
        rest = rest[len(models) :]
        models = models or [_target(study)]
    asked = ("--study", study, "--instrument", "twins", "--controls", "--no-profile")
    out = () if "--out" in rest else ("--out", f"results/twins-{Path(study).stem}")
    audit_command.main([*models, *asked, *out, *rest], "clinometer twins", standalone_mode=False)


def _target(study: str) -> str:
    """Return whom a study asks; raises StudyError if it does not say."""
    from clinometer.errors import StudyError
    from clinometer.stimuli import load_study  # imports tables

    part = load_study(study).instruments.raw().get("twins")
    if part is None:
        raise StudyError(f"{study}: it has no twins")
    if not part.get("target"):
        raise StudyError(f"{study}: instruments.twins has no target; name a MODEL after it")
    return str(part["target"])
