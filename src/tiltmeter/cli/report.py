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
@click.option("--csv", type=click.Path(path_type=Path, file_okay=False), metavar="FOLDER",
              help="Folder to write every table to as CSV, beside the report.")  # fmt: skip
def command(directory: Path, scoring: str, sizes: Path | None, csv: Path | None) -> None:
    """Score the recorded answers of DIRECTORY again and write its tables and report.

    No model is asked. A directory that holds only tables about association networks or hidden
    states has no answers to score: its tables stay as they are.
    """
    from tiltmeter.asking.directory import record_sizes
    from tiltmeter.audits.tabulating import tabulate
    from tiltmeter.report import write_report
    from tiltmeter.results.directory import TABLES
    from tiltmeter.results.tables import pieces, write_pieces

    if sizes is not None:
        record_sizes(directory, sizes)
    if (directory / "plan.json").is_file() or not (directory / "estimates.parquet").is_file():
        tabulate(directory, scoring)
    click.echo(f"report: {write_report(directory)}")
    if csv is not None:
        names = [name for name in TABLES if (directory / f"{name}.parquet").is_file()]
        for name in names:
            write_pieces(pieces(directory / f"{name}.parquet"), csv / f"{name}.csv")
        click.echo(f"{len(names)} tables: {csv}")
