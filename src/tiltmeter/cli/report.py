"""``tiltmeter report``: tables and report of a results directory, made anew."""

from __future__ import annotations

from pathlib import Path

import click

__all__ = ["command"]


@click.command("report")
@click.argument("directory", type=click.Path(path_type=Path, file_okay=False))
@click.option(
    "--scoring", type=click.Choice(["exact", "published"]), default="exact", show_default=True
)
@click.option("--sizes", type=click.Path(path_type=Path),
              help="YAML file of 'model: billions of parameters', for bias by size.")  # fmt: skip
def command(directory: Path, scoring: str, sizes: Path | None) -> None:
    """Score the recorded answers of DIRECTORY again and write its tables and report.

    No model is asked. A directory that holds only tables about association networks or hidden
    states has no answers to score: its tables stay as they are.
    """
    from tiltmeter.asking.plan import record_sizes
    from tiltmeter.audits.tabulating import tabulate
    from tiltmeter.report import write_report

    if sizes is not None:
        record_sizes(directory, sizes)
    if (directory / "plan.json").is_file() or not (directory / "estimates.parquet").is_file():
        tabulate(directory, scoring)
    click.echo(f"report: {write_report(directory)}")
