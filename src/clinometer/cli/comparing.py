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
from clinometer.cli.output import echo

if TYPE_CHECKING:
    from clinometer.comparing.comparison import Comparison

__all__ = ["compare_command"]

#: Rows of changes that are printed.
MOST = 8


@command("compare")
@click.argument("baseline", type=FILE)
@click.argument("candidates", nargs=-1, type=FILE, metavar="CANDIDATE…")
@click.option(
    "--margin", default=0.1, help="Largest difference that does not matter, in units of the scores."
)
@CONFIDENCE
@click.option("--baseline-model", metavar="NAME", help="The baseline, where BASELINE has several.")
@click.option("--out", type=FOLDER, help="Also write the differences and a report to this folder.")
@recording_options
def compare_command(
    baseline: Path,
    candidates: tuple[Path, ...],
    margin: float,
    confidence: float,
    baseline_model: str | None,
    out: Path | None,
    **recording: Any,
) -> None:
    """Say whether CANDIDATE… is worse than BASELINE: more stereotype-consistent.

    Each is a results directory, a table of scores, or a table of recorded answers. Trials that are
    the same are compared in pairs. The first line is the verdict: worse, not worse within the
    margin, better, or cannot tell.
    """
    from clinometer.comparing.comparison import compare
    from clinometer.comparing.writing import check_folder, write_comparison

    if out is not None:
        check_folder(out)
    comparison = compare(
        baseline,
        *candidates,
        margin=margin,
        confidence=confidence,
        model=baseline_model,
        recording=build_recording(**recording),
    )
    say_comparison(comparison)
    if out is not None:
        from clinometer.report import write_report

        write_comparison(comparison, out)
        echo(f"report: {write_report(out)}")


def say_comparison(comparison: Comparison) -> None:
    """Print the verdicts, what was matched, and what changed."""
    for headline in comparison.headlines():
        several = len(comparison.candidates) > 1
        echo(f"{headline.candidate}: {headline.text()}" if several else headline.text())
        echo(f"  {comparison.baseline.label} -> {headline.candidate}")
        for line in comparison.matched(headline.candidate):
            echo(f"  {line}")
        changes = comparison.changed(headline.candidate)
        for line in changes[:MOST]:
            echo(f"  {line}")
        if changes[MOST:]:
            echo(f"  and {len(changes) - MOST} more")
        if not changes:
            echo("  no stereotype or category changed (Holm-adjusted)")
    if not comparison.headlines():
        if comparison.matches.is_empty():
            rows = comparison.estimates.height
            echo(f"{rows:,} differences of networks or hidden states; no answers in common")
        else:
            echo("cannot tell: too few trials for an interval; ask more wordings, or more of each")
