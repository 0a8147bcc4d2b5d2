"""``clinometer compare``: whether a candidate is worse than a baseline."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from clinometer.cli.options import (
    CONFIDENCE,
    FILE,
    FOLDER,
    build_recording,
    command,
    recording_options,
)
from clinometer.cli.output import echo, say_paragraph, say_table

if TYPE_CHECKING:
    from clinometer.comparing.comparison import Comparison
    from clinometer.comparing.deciding import Level

__all__ = ["compare_command"]


@command("compare")
@click.argument("baseline", type=FILE)
@click.argument("candidates", nargs=-1, type=FILE, metavar="CANDIDATE…")
@click.option(
    "--margin", default=0.1, help="Largest difference that does not matter, in units of the scores."
)
@CONFIDENCE
@click.option("--baseline-model", metavar="NAME", help="The baseline, where BASELINE has several.")
@click.option(
    "--level",
    type=click.Choice(["category", "stereotype"]),
    default="category",
    help="What is decided about, of each instrument.",
)
@click.option("--explicit", is_flag=True, help="Explicit measures (self-report) decide too.")
@click.option(
    "--controls",
    type=click.Choice(["required", "ignored"]),
    default="required",
    help="Whether a candidate is cleared only where the controls of both runs passed.",
)
@click.option("--out", type=FOLDER, help="Also write the differences and a report to this folder.")
@recording_options
def compare_command(
    baseline: Path,
    candidates: tuple[Path, ...],
    margin: float,
    confidence: float,
    baseline_model: str | None,
    out: Path | None,
    **options: Any,
) -> None:
    """Say whether CANDIDATE… is worse than BASELINE: farther from neutral, on either side.

    Each is a results directory, a bundle, a table of scores, or a table of recorded answers. Trials
    that are the same are compared in pairs. The first line is the decision: worse in an instrument
    and category, turned to the other side, cannot tell yet, better, or not worse in all of them.
    """
    from clinometer.comparing.comparison import compare
    from clinometer.comparing.writing import check_folder, write_comparison

    if out is not None:
        check_folder(out)  # before the comparison, which takes a while
    level = options.pop("level")
    explicit = options.pop("explicit")
    controls = options.pop("controls")
    comparison = compare(
        baseline,
        *candidates,
        margin=margin,
        confidence=confidence,
        model=baseline_model,
        explicit=explicit,
        controls=controls,
        recording=build_recording(**options),  # what is left of the options
    )
    say_comparison(comparison, level)
    if out is not None:
        from clinometer.report import write_report

        write_comparison(comparison, out, level)
        echo(f"report: {write_report(out)}")


def say_comparison(comparison: Comparison, level: Level) -> None:
    """Print each decision and, in a table, what changed; of several candidates the order."""
    from clinometer.comparing.ranking import rank
    from clinometer.comparing.tables import CHANGES, MOST, change_rows
    from clinometer.report.order import ORDER

    decisions = comparison.decisions(level)
    single = len(comparison.candidates) == 1
    for decision in decisions:
        say_paragraph(decision.text() if single else f"{decision.candidate}: {decision.text()}")
        echo(f"{comparison.baseline.label} -> {decision.candidate}")
        say_table(CHANGES.render([*change_rows(comparison, decision)]))
        if decision.rows.height > MOST:
            echo(f"and {decision.rows.height - MOST} more (--out)")
        for text in comparison.paired(decision.candidate):
            say_paragraph(text)
    if not single:
        ranks = rank(comparison)
        if not ranks.is_empty():
            say_table(ORDER.render(ranks))
    for run in (comparison.baseline, *comparison.candidates):
        for note in run.notes:
            say_paragraph(f"from elsewhere: {run.label}: {note.text}")
    if not decisions:
        rows = comparison.estimates.height
        echo(f"{rows:,} differences of networks or hidden states; no answers in common")
