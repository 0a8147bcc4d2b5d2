"""``tiltmeter contrast``: paired differences between two conditions."""

from __future__ import annotations

from pathlib import Path

import click

from tiltmeter.cli.options import TABLE

__all__ = ["command"]


@click.command("contrast")
@click.option(
    "--scores",
    required=True,
    type=click.Path(path_type=Path),
    help="Scores written by tiltmeter score or run, .csv or .parquet.",
)
@click.option(
    "--factor",
    default="intervention",
    show_default=True,
    help="Column whose values are compared, such as intervention, model or mode.",
)
@click.option(
    "--baseline",
    default="none",
    show_default=True,
    help="Value that every other value is compared with.",
)
@click.option("--out", required=True, type=TABLE,
              help="Differences, as .csv or .parquet.")  # fmt: skip
def command(scores: Path, factor: str, baseline: str, out: Path) -> None:
    """Estimate differences from a baseline over matched trials, at every level."""
    import polars as pl

    from tiltmeter.instruments.catalogue import MEASURES
    from tiltmeter.results import SCORES
    from tiltmeter.results.tables import scan_table, write_table
    from tiltmeter.results.verdicts import judge
    from tiltmeter.statistics.contrasts import contrast

    frame = scan_table(scores, SCORES).select(list(SCORES)).collect()
    found = [
        contrast(part, MEASURES[str(name)], factor=factor, baseline=baseline).estimates
        for (name,), part in frame.group_by("instrument", maintain_order=True)
    ]
    table = judge(pl.concat(found))
    write_table(table, out)
    click.echo(f"{table.height:,} differences: {out}")
