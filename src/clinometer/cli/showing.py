"""``clinometer show``: the answers behind a number."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import click

from clinometer.cli.options import FILE, command
from clinometer.cli.output import echo
from clinometer.texts import visible

__all__ = ["show_command"]

#: Characters of a text that are printed without --whole.
LONGEST = 400


@command("show")
@click.argument("results", type=FILE)
@click.argument("what", nargs=-1, metavar="WHAT…")
@click.option("--limit", default=5, type=click.IntRange(1), help="Largest number of answers.")
@click.option("--whole", is_flag=True, help="Do not shorten prompts and answers.")
def show_command(results: Path, what: tuple[str, ...], limit: int, whole: bool) -> None:
    """Show the answers behind a number of RESULTS, and the estimates that they enter.

    RESULTS are a results directory, or a bundle of one.

    WHAT… are names that the answers have: a stereotype, category, model, instrument, mode,
    dimension, wording or group word; a reason for having no score, such as refused; a trial.
    The highest scores come first, answers without a score last.
    """
    from clinometer.comparing.showing import show
    from clinometer.results.logprobs import as_asked, in_words

    shown = show(results, what)
    for row in shown.estimates.iter_rows(named=True):
        echo(_estimate(row))
    answers = shown.answers.sort("score", descending=True, nulls_last=True, maintain_order=True)
    echo(f"{answers.height:,} answer{'s' * (answers.height > 1)}")
    for row in answers.head(limit).iter_rows(named=True):
        echo("")
        echo(_heading(row))
        for name in ("system", "prompt", "profile", "followup", "reasoning", "response", "error"):
            if row[name]:
                echo(f"  {name}:")
                write = {"response": in_words, "prompt": as_asked}.get(name)
                said = write(row[name], row["options"]) if write else row[name]
                echo(_indented(said, whole))
    if answers.height > limit:
        echo(f"\nand {answers.height - limit:,} more; --limit shows more")


def _estimate(row: dict[str, Any]) -> str:
    from clinometer.results import CONDITIONS

    about = row["stereotype"] or row["category"] or "all stereotypes"
    columns = ("instrument", "study", "dimension", "mode", *CONDITIONS, "variation")
    where = ", ".join(row[name] for name in columns if row[name] not in (None, "none"))
    numbers = [row[name] for name in ("estimate", "ci_low", "ci_high")]
    mean, low, high = ("n/a" if one is None else f"{one:.2f}" for one in numbers)
    verdict = f": {row['verdict']}" if row["verdict"] else ""
    who = row["model"] or "all models"
    return f"{row['level']} {about} ({who}; {where}) {mean} [{low}, {high}]{verdict}"


def _heading(row: dict[str, Any]) -> str:
    score = row["reason"] if row["score"] is None else f"{row['score']:.3f}"
    words = " / ".join(filter(None, (row["marginalized"], row["default"])))
    about = [row["model"]]
    if f".{row['stereotype']}." not in row["trial_id"]:  # recorded answers are only numbered
        about += [row["stereotype"], row["variation"]]
    return f"{row['trial_id']} ({', '.join(filter(None, about))}): {score}  {words}".rstrip()


def _indented(text: str, whole: bool) -> str:
    """Indent an untrusted text, without what a terminal would act on."""
    kept = visible(text)
    short = (
        kept if whole or len(kept) <= LONGEST else f"{kept[:LONGEST]} … ({len(kept):,} characters)"
    )
    return textwrap.indent(short, "    ")
