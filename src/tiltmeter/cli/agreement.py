"""``tiltmeter agreement``: compare readings with human labels."""

from __future__ import annotations

from pathlib import Path

import click

from tiltmeter.cli.options import TABLE

__all__ = ["command"]


@click.command("agreement")
@click.option(
    "--scores",
    required=True,
    type=click.Path(path_type=Path),
    help="A .csv or .parquet table with a reading and a label in each row. tiltmeter score "
    "copies a column of labels to its output.",
)
@click.option("--label", required=True, metavar="COLUMN", help="Column of labels: 1, 0 or empty.")
@click.option(
    "--read",
    default="score",
    show_default=True,
    metavar="COLUMN",
    help="Column of readings: 1, 0 or empty.",
)
@click.option(
    "--by", metavar="COLUMN", help="Also compute agreement for each value of this column."
)
@click.option("--out", type=TABLE, help="Table of agreement, as .csv or .parquet.")
@click.option("--disagreements", type=TABLE,
              help="Write the rows where the two differ or nothing was read.")  # fmt: skip
def command(
    scores: Path, label: str, read: str, by: str | None, out: Path | None,
    disagreements: Path | None,
) -> None:  # fmt: skip
    """Compare readings with human labels: coverage, agreement, Cohen's kappa, confusion table."""
    import polars as pl

    from tiltmeter.results.tables import read_numbers, write_table
    from tiltmeter.statistics.kappa import agreement

    frame = read_numbers(scores, [read, label])
    estimates, confusion = agreement(frame, read, label, by=by)
    of_all = estimates.filter(part="all")
    value = dict(of_all.select("measure", "estimate").iter_rows())
    low, high = of_all.filter(measure="agreement").select("ci_low", "ci_high").row(0)
    counts = confusion.row(0, named=True)
    click.echo(
        f"{counts['n']:,} labels, {_shown(value['read_share'])} read; of these "
        f"{_shown(value['agreement'])} agree ({_shown(low)} to {_shown(high)}), kappa "
        f"{_shown(value['kappa'])}"
    )
    click.echo("            label 1  label 0")
    for name, code in (("read 1", "1"), ("read 0", "0"), ("not read", "missing_")):
        keys = (f"n_{code}1", f"n_{code}0")
        click.echo(f"  {name:9}" + "".join(f"{counts[key]:>9,}" for key in keys))
    if out is not None:
        write_table(estimates, out)
    if disagreements is not None:
        differ = pl.col(label).is_not_null() & ~pl.col(read).eq_missing(pl.col(label))
        rows = frame.filter(differ)
        write_table(rows, disagreements)
        click.echo(f"{rows.height:,} disagreements: {disagreements}")


def _shown(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
