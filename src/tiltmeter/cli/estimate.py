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
    help="Scores written by tiltmeter score, .csv or .parquet.",
)
@click.option(
    "--margin",
    type=float,
    default=0.1,
    show_default=True,
    help="Equivalence margin: largest distance from neutral that counts as no bias.",
)
@click.option(
    "--compliance-floor",
    type=float,
    default=0.8,
    show_default=True,
    help="Smallest share of scored answers that allows a verdict.",
)
@click.option(
    "--cluster",
    type=click.Choice(["default", "stereotype"]),
    default="default",
    show_default=True,
    help="Clusters of the estimates that pool stereotypes. default: stereotype and wording.",
)
@click.option("--out", required=True, type=TABLE, help="Estimates, as .csv or .parquet.")
@click.option(
    "--tables",
    type=click.Path(path_type=Path, file_okay=False),
    help="Also write the detail tables to this folder, as .parquet: order effects, "
    "compliance, shares of yes, comedy and tragedy, fits of regressions.",
)
def command(
    scores: Path,
    margin: float,
    compliance_floor: float,
    cluster: str,
    out: Path,
    tables: Path | None,
) -> None:
    """Estimate means, intervals and tests at every level, clustered and as published."""
    from tiltmeter.audits.tabulating import estimate_scores
    from tiltmeter.results.tables import write_table
    from tiltmeter.statistics.estimates import Inference

    inference = Inference(margin=margin, compliance_floor=compliance_floor, cluster=cluster)
    found = estimate_scores(scores, inference)
    write_table(found.estimates, out)
    click.echo(f"{found.estimates.height:,} estimates: {out}")
    if tables is not None:
        for name, table in found.details.items():
            write_table(table, tables / f"{name}.parquet")
        click.echo(f"{', '.join(found.details)}: {tables}")
