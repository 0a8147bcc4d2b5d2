"""``clinometer show``: the answers behind a number."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import click

from clinometer.cli.options import FILE, command
from clinometer.cli.output import echo
from clinometer.numbers import number
from clinometer.texts import visible

#: Characters of a text that are printed without --whole.
LONGEST = 400


@command("show")
@click.argument("results", type=FILE)
@click.argument("what", nargs=-1, metavar="WHAT…")
@click.option("--limit", default=5, type=click.IntRange(1), help="Largest number of answers.")
@click.option("--whole", "in_full", is_flag=True, help="Do not shorten prompts and answers.")
def show_command(results: Path, what: tuple[str, ...], limit: int, in_full: bool) -> None:
    """Show the answers behind a number of RESULTS, and the estimates that they enter.

    RESULTS are a results directory, or a bundle of one.

    WHAT… are names that the answers have: a stereotype, category, model, instrument, mode,
    dimension, wording or group word; a reason for having no score, such as refused; a trial.
    The highest scores come first, answers without a score last.
    """
    from clinometer.comparing.findings import mean_key
    from clinometer.comparing.showing import show
    from clinometer.results.logprobs import in_words, readable_prompt

    matches = show(results, what)
    for row in matches.estimates.iter_rows(named=True):
        finding = matches.findings.get(mean_key(row))
        echo(_estimate_line(row) if finding is None else str(finding))
    for sentence in matches.elsewhere:
        echo(f"from elsewhere: {sentence}")
    answers = matches.answers.sort("score", descending=True, nulls_last=True, maintain_order=True)
    echo(f"{answers.height:,} answer{'s' * (answers.height > 1)}")
    for row in answers.head(limit).iter_rows(named=True):
        echo("")
        echo(_heading(row))
        # In the order in which they were asked and answered.
        for name in ("system", "prompt", "profile", "followup", "reasoning", "response", "error"):
            if row[name]:
                echo(f"  {name}:")
                # Modes that read probabilities have numbers as answers, and {option} in prompts.
                write = {"response": in_words, "prompt": readable_prompt}.get(name)
                text = write(row[name], row["options"]) if write else row[name]
                echo(_indent(text, in_full))
    if answers.height > limit:
        echo(f"\nand {answers.height - limit:,} more; --limit shows more")


def _estimate_line(row: dict[str, Any]) -> str:
    """Say what an estimate is of, with its intervals, and whether it leans."""
    from clinometer.contracts.catalogue import measure_of
    from clinometer.pieces.prose import mean_text
    from clinometer.results import CONDITIONS
    from clinometer.results.ranges import lean_text

    everything = f"{row['control']} controls" if row["control"] else "all stereotypes"
    target = row["stereotype"] or row["category"] or everything
    columns = ("instrument", "study", "dimension", "mode", *CONDITIONS, "variation")
    run = ", ".join(row[name] for name in columns if row[name] not in (None, "none"))
    verdicts = row["verdict_bounded"], row["verdict"], row["conditional_on"]
    directed = measure_of(row["instrument"]).directed
    lean = f": {lean_text(*verdicts, directed=directed)}" if row["verdict"] else ""
    model = row["model"] or "all models"
    return f"{row['level']} {target} ({model}; {run}) {mean_text(row)}{lean}"


def _heading(row: dict[str, Any]) -> str:
    """Name a trial, with its score, or why it has none, and its group words."""
    score = row["reason"] if row["score"] is None else number(row["score"], 3)
    words = " / ".join(filter(None, (row["marginalized"], row["default"])))
    names = [row["model"]]
    if f".{row['stereotype']}." not in row["trial_id"]:  # recorded answers are only numbered
        names += [row["stereotype"], row["variation"]]
    return f"{row['trial_id']} ({', '.join(filter(None, names))}): {score}  {words}".rstrip()


def _indent(text: str, in_full: bool) -> str:
    """Indent an untrusted text, without what a terminal would act on."""
    text = visible(text)
    if not in_full and len(text) > LONGEST:
        text = f"{text[:LONGEST]} … ({len(text):,} characters)"
    return textwrap.indent(text, "    ")
