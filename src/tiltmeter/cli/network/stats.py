"""``tiltmeter network stats``: describe networks and their overlap."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from tiltmeter.cli.network.options import DIRECTED, open_networks
from tiltmeter.cli.options import TABLE

if TYPE_CHECKING:
    import polars as pl

__all__ = ["stats_command"]


@click.command("stats")
@click.argument("networks", nargs=-1, required=True, metavar="NET…")
@click.option("--out", type=TABLE, help="Also write the table, as .csv or .parquet.")
@click.option("--overlaps", type=TABLE, help="Also write the overlap of each pair of networks.")
@click.option(
    "--priming",
    type=TABLE,
    help="Also compare activation with human reaction times (50 triplets) and write the result.",
)
@DIRECTED
@click.option("--no-paths", is_flag=True, help="Leave out diameter and mean path length.")
def stats_command(  # noqa: PLR0913 - one argument an option
    networks: tuple[str, ...],
    out: Path | None,
    overlaps: Path | None,
    priming: Path | None,
    directed: bool,
    no_paths: bool,
) -> None:
    """Describe each NET, a table of edges given as FILE or NAME=FILE."""
    from itertools import combinations

    import polars as pl

    from tiltmeter.errors import InputError
    from tiltmeter.networks.priming import check_priming
    from tiltmeter.networks.structure import describe, overlap
    from tiltmeter.results.tables import write_table

    read = open_networks(networks, directed=directed)
    if overlaps is not None and len(read) < 2:
        raise InputError("--overlaps: needs at least two networks")
    stats = pl.concat([describe(network, paths=not no_paths) for network in read])
    if out is not None:
        write_table(stats, out)
    click.echo(_aligned(stats))
    if len(read) > 1:
        shared = pl.concat([overlap(a, b) for a, b in combinations(read, 2)])
        if overlaps is not None:
            write_table(shared, overlaps)
        click.echo("\n" + _aligned(shared))
    if priming is not None:
        checked = pl.concat([check_priming(network) for network in read])
        write_table(checked, priming)
        shown = ("subject", "measure", "estimate", "p", "n", "time_steps", "note")
        click.echo("\n" + _aligned(checked.select(shown)))


def _aligned(frame: pl.DataFrame) -> str:
    """Lay out a table in columns, numbers to the right."""
    texts = [frame.columns, *([_text(value) for value in row] for row in frame.iter_rows())]
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
    right = [kind.is_numeric() for kind in frame.dtypes]
    return "\n".join(
        "  ".join(
            text.rjust(width) if number else text.ljust(width)
            for text, width, number in zip(row, widths, right, strict=True)
        ).rstrip()
        for row in texts
    )


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) else "–" if value is None else str(value)
