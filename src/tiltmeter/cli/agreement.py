"""``tiltmeter agreement``: what was read, held against labels given by hand."""

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
    help="A .csv or .parquet table with a score and a label a row, as tiltmeter score "
    "writes it: other columns pass through.",
)
@click.option("--label", required=True, metavar="COLUMN", help="Labels: 1, 0 or empty.")
@click.option(
    "--read",
    default="score",
    show_default=True,
    metavar="COLUMN",
    help="What was read: 1, 0 or empty.",
)
@click.option("--by", metavar="COLUMN", help="Also each value of this column by itself.")
@click.option("--out", type=TABLE, help="The table, as .csv or .parquet.")
@click.option("--disagreements", type=TABLE,
              help="Every row where the two differ or nothing was read, to look at.")  # fmt: skip
def command(
    scores: Path, label: str, read: str, by: str | None, out: Path | None,
    disagreements: Path | None,
) -> None:  # fmt: skip
    """Coverage, agreement, Cohen's kappa and the confusion table of readings against labels."""
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
