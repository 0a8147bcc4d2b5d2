"""``clinometer twins``: a prompt of one's own, asked of people who differ in one thing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from clinometer.cli.auditing import audit_command
from clinometer.cli.options import command
from clinometer.cli.output import echo

#: What `--example` asks: a study, and a simulated app that treats groups differently.
EXAMPLE = ("refunds", "simulated/leaning")

#: How files with a prompt end: a text, or a chat.
PROMPT_FILES = (".txt", ".md", ".json")


@command("twins", context_settings={"ignore_unknown_options": True})
@click.argument("study", required=False, metavar="STUDY|PROMPT.txt")
@click.argument("model", required=False, metavar="[MODEL]")
@click.option("--example", is_flag=True, help="Ask a simulated app about refunds.")
@click.option(
    "--outcome",
    metavar="TEXT",
    help="Of a prompt file, what counts: approve/deny, "
    "'0..5000 dollars', 'refund=1 voucher=0 deny=-1', refusal, length, reading_ease.",
)
@click.option(
    "--contrast",
    "contrasts",
    multiple=True,
    metavar="NAME",
    help="Of a prompt file, who is compared; may be repeated. A wrong name lists them.",
)
@click.option(
    "--cross",
    "crossed",
    multiple=True,
    metavar="A,B",
    help="Of a prompt file, two contrasts at once: both against neither, and whether the "
    "one depends on the other.",
)
@click.option(
    "--entitled",
    default="",
    metavar="WHO/WHO NOT",
    help="Of a prompt file, who should be treated otherwise, as 'with a receipt/without "
    "one': a control.",
)
@click.argument("rest", nargs=-1, type=click.UNPROCESSED, metavar="[OPTIONS OF AUDIT]…")
def twins_command(
    study: str | None, model: str | None, example: bool, rest: tuple[str, ...], **options: Any
) -> None:
    """Ask a prompt of your system of people who differ in one thing, beside its rewordings.

    STUDY is a file with the prompt, rewordings, contrasts and what counts, or the name of a study;
    MODEL is a model, app/MODULE:FUNCTION of yours, or app/FILE.yaml with an endpoint; a study does
    not name it, so that a file from elsewhere runs nothing. All options of clinometer audit serve,
    such as --size and --policy.

    PROMPT.txt is the prompt as it stands, with one place for a person, such as {name}; a chat is a
    .json of its messages. The study is written beside it, PROMPT.twins.yaml, with rewordings for
    you to read; with a MODEL it is asked at once.
    """
    if example:
        rest = tuple(word for word in (study, model, *rest) if word)
        study, model = EXAMPLE
    if not study or study.startswith("-"):
        raise click.UsageError("name a STUDY, or a file with a prompt, first; or --example")
    has_model = bool(model) and not str(model).startswith("-")
    if study.endswith(PROMPT_FILES):
        study = _write_study(study, options, then_asked=has_model)
    elif any(options.values()):
        raise click.UsageError(f"{study} says itself what counts, and who is compared")
    elif not has_model:
        raise click.UsageError(f"name a MODEL: clinometer twins {study} MODEL")
    if not model or not has_model:
        return
    from clinometer.audits.twins import twins_directory  # takes long to import

    asked = ("--study", study, "--instrument", "twins", "--controls", "--no-profile")
    has_folder = any(word.partition("=")[0] == "--out" for word in rest)
    out = () if has_folder else ("--out", str(twins_directory(study)))
    audit_command.main([model, *asked, *out, *rest], "clinometer twins", standalone_mode=False)


def _write_study(prompt: str, options: dict[str, Any], *, then_asked: bool) -> str:
    """Write the study of a prompt file beside it, say so, and return its name.

    Raises click.UsageError where nothing says what counts.
    """
    if options["outcome"] is None:
        raise click.UsageError("--outcome: say what counts, such as approve/deny")
    path = Path(prompt)
    file = path.with_name(f"{path.stem}.twins.yaml")
    write_twins(path, file, options.pop("outcome"), **options)
    then = "" if then_asked else f", then: clinometer twins {file} MODEL"
    echo(f"{file}: written; read its rewordings{then}")
    return str(file)


def write_twins(prompt: Path, study: Path, outcome: str, **options: Any) -> None:
    """Write the study of a prompt's twins; raises InputError as `Instrument.write_study` does."""
    from clinometer.contracts.catalogue import INSTRUMENTS

    write_study = INSTRUMENTS["twins"].write_study
    assert write_study is not None  # as it is the one that has it
    write_study(prompt, study, outcome, **options)
