"""``tiltmeter report``: recompute the tables and the report of a results directory."""

from __future__ import annotations

from pathlib import Path

import click

__all__ = ["command"]


@click.command("report")
@click.argument("directory", type=click.Path(path_type=Path, file_okay=False))
@click.option(
    "--scoring",
    type=click.Choice(["exact", "published"]),
    default="exact",
    show_default=True,
    help="published: the rules of the released code, for replication only.",
)
@click.option("--sizes", type=click.Path(path_type=Path),
              help="YAML file of 'model: billions of parameters'; the report then shows bias by "
                   "model size.")  # fmt: skip
@click.option("--csv", type=click.Path(path_type=Path, file_okay=False), metavar="FOLDER",
              help="Folder in which every table is also written as CSV.")  # fmt: skip
def command(directory: Path, scoring: str, sizes: Path | None, csv: Path | None) -> None:
    """Score the answers in DIRECTORY again and write its tables and report; no model is asked.

    In a directory without answers (only association networks or hidden states) the tables stay
    as they are and only the report is written.
    """
    from tiltmeter.asking.plan import record_sizes
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
