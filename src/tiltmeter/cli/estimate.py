"""``tiltmeter estimate``: scores to estimates."""

from __future__ import annotations

from pathlib import Path

import click

from tiltmeter.cli.options import TABLE

__all__ = ["command"]


@click.command("estimate")
@click.option(
    "--scores",
    required=True,
    type=click.Path(path_type=Path),
    help="What tiltmeter score wrote, .csv or .parquet.",
)
@click.option(
    "--margin",
    type=float,
    default=0.1,
    show_default=True,
    help="Equivalence margin around the neutral value.",
)
@click.option(
    "--compliance-floor",
    type=float,
    default=0.8,
    show_default=True,
    help="Least share of scored answers for a verdict.",
)
@click.option(
    "--cluster",
    type=click.Choice(["default", "stereotype"]),
    default="default",
    show_default=True,
    help="What the intervals above the stereotype are clustered by.",
)
@click.option("--out", required=True, type=TABLE, help="Estimates, as .csv or .parquet.")
@click.option(
    "--yes-shares",
    type=TABLE,
    help="Also write the shares of yes in each version of absolute decisions.",
)
@click.option(
    "--tables",
    type=click.Path(path_type=Path, file_okay=False),
    help="Also write every other table the scores allow to this folder, as .parquet: shares of "
    "yes, regressions, contrasts, comedy and tragedy, dimensions, ranks.",
)
def command(  # noqa: PLR0913 - one argument an option
    scores: Path,
    margin: float,
    compliance_floor: float,
    cluster: str,
    out: Path,
    yes_shares: Path | None,
    tables: Path | None,
) -> None:
    """Estimate means, intervals and tests at every level, clustered and naive."""
    from tiltmeter.audits import decisions
    from tiltmeter.audits.tabulating import estimate_scores, write_further_tables
    from tiltmeter.results import SCORES
    from tiltmeter.results.tables import scan_table, write_table
    from tiltmeter.statistics import Inference

    inference = Inference(margin=margin, compliance_floor=compliance_floor, cluster=cluster)
    estimates, _ = estimate_scores(scores, inference)
    write_table(estimates, out)
    if yes_shares is not None:
        write_table(decisions.yes_shares(scan_table(scores, SCORES)), yes_shares)
    click.echo(f"{estimates.height:,} estimates: {out}")
    if tables is not None:
        written = write_further_tables(scores, estimates, tables)
        click.echo(f"{', '.join(written) or 'no other table'}: {tables}")
