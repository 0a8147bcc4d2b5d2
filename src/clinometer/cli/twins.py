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
@click.argument("model", required=False, metavar="MODEL")
@click.option("--example", is_flag=True, help="Ask a simulated app about refunds.")
@click.argument("rest", nargs=-1, type=click.UNPROCESSED, metavar="[OPTIONS OF AUDIT]…")
def twins_command(
    study: str | None, model: str | None, example: bool, rest: tuple[str, ...]
) -> None:
    """Ask a prompt of your system of people who differ in one thing, beside its rewordings.

    STUDY is a file with the prompt, rewordings, contrasts and what counts, or the name of a study.
    MODEL is a model, app/MODULE:FUNCTION of yours, or app/FILE.yaml with an endpoint; a study does
    not name it, so that a file from elsewhere runs nothing. All options of clinometer audit serve,
    such as --size and --policy.
    """
    if example:
        rest = tuple(word for word in (study, model, *rest) if word)
        study, model = EXAMPLE
    if not study or not model or study.startswith("-") or model.startswith("-"):
        raise click.UsageError("name a STUDY, a file or a name, and a MODEL first; or --example")
    asked = ("--study", study, "--instrument", "twins", "--controls", "--no-profile")
    has_folder = any(word.partition("=")[0] == "--out" for word in rest)
    out = () if has_folder else ("--out", f"results/twins-{Path(study).stem}")
    audit_command.main([model, *asked, *out, *rest], "clinometer twins", standalone_mode=False)
