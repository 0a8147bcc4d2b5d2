"""``tiltmeter regress``: regress decisions on associations."""

from __future__ import annotations

from pathlib import Path

import click

from tiltmeter.cli.options import TABLE

__all__ = ["command"]


@click.command("regress")
@click.argument("answers", type=click.Path(path_type=Path))
@click.option(
    "--predictors",
    default="association",
    show_default=True,
    metavar="A,B",
    help="Columns of numbers, one regression each.",
)
@click.option("--outcome", "response_variable", default="decision", show_default=True,
              help="Column to regress: 1, 0 or empty.")  # fmt: skip
@click.option(
    "--clusters",
    default="stereotype",
    show_default=True,
    metavar="COLUMN",
    help="Rows with the same value are not independent; 'none': only the published method.",
)
@click.option("--by", metavar="COLUMN", help="Also fit each value of this column by itself.")
@click.option(
    "--join",
    "others",
    type=click.Path(path_type=Path),
    help="Table with further predictors, such as embedding scores.",
)
@click.option(
    "--on",
    "keys",
    default="trial_id",
    show_default=True,
    metavar="A,B",
    help="Key columns of --join; a key must identify one row in each table.",
)
@click.option(
    "--out",
    required=True,
    type=TABLE,
    help="Coefficients (log odds), as .csv or .parquet.",
)
@click.option("--comparison", type=TABLE,
              help="Also compare several predictors on the same rows: AIC, BIC.")  # fmt: skip
def command(  # noqa: PLR0913 - one argument an option
    answers: Path,
    predictors: str,
    response_variable: str,
    clusters: str,
    by: str | None,
    others: Path | None,
    keys: str,
    out: Path,
    comparison: Path | None,
) -> None:
    """Regress decisions on scores. ANSWERS is a table, such as chained.parquet of an audit.

    Logistic regression with three methods: published, clustered (robust standard errors) and mixed
    (random intercept). See Bai et al. (2025), SI section K.
    """
    import polars as pl

    from tiltmeter.errors import InputError
    from tiltmeter.results.tables import join_tables, read_numbers, read_table, write_table
    from tiltmeter.statistics.logistic import compare_predictors, regress

    names = [name.strip() for name in predictors.split(",")]
    grouped = None if clusters == "none" else clusters
    if others is None:
        frame = read_numbers(answers, [*names, response_variable])
    else:
        joined = join_tables(read_table(answers), read_table(others), keys.split(","), str(others))
        frame = read_numbers(answers, [*names, response_variable], joined)
    if comparison is not None and len(names) < 2:
        raise InputError("--comparison: name at least two --predictors")
    found = [
        regress(frame, name, response_variable=response_variable, clusters=grouped, by=by)
        for name in names
    ]
    table = pl.concat(one.estimates for one in found)
    fits = pl.concat(one.fits for one in found)
    write_table(table, out)
    shown = table.hstack(fits.select("aic", "bic")).filter(part="all")
    for row in shown.iter_rows(named=True):
        click.echo(_line(row))
    if comparison is not None:
        compared = compare_predictors(
            frame, names, response_variable=response_variable, clusters=grouped, by=by, joint=True
        )
        write_table(compared.fits, comparison)
        click.echo(f"{compared.fits.height:,} rows of comparison: {comparison}")
    click.echo(f"{table.height:,} coefficients: {out}")


def _line(row: dict[str, object]) -> str:
    start = f"{row['predictor']}, {row['method']}, n {row['n_scored']}: "
    if row["estimate"] is None:
        return f"{start}{row['note']}"
    numbers = {name: f"{row[name]:.3f}" for name in ("estimate", "ci_low", "ci_high")}
    fit = "" if row["aic"] is None else f", AIC {row['aic']:.2f}, BIC {row['bic']:.2f}"
    return (
        f"{start}b {numbers['estimate']} [{numbers['ci_low']}, {numbers['ci_high']}], "
        f"p {row['p']:.2g}{fit}"
    )
